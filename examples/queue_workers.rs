//! Two workers on one queue: what one of them gives up, the other does.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::time::Duration;

use keyplan::store::engine::Memory;
use keyplan::store::structure::Queue;
use keyplan::store::structure::raw::Claim;
use keyplan::store::{Error, Store};

keyplan::plan! {
    plan jobs;

    space jobs {
        /// Blocks to index, the lowest first.
        queue block = "block"
            member hash: bytes(4)
            score height: u64;
    }
}

use jobs::jobs::{Block, BlockMember, BlockScore};

const BLOCKS: u32 = 40;

pub(crate) fn main() -> Result<(), Error> {
    let store = Store::create_on(Memory::new(), &jobs::PLAN)?;
    let structures = store.structures("jobs")?;
    let queue = Queue::<Block, _>::on(&structures)?;
    for height in 0..BLOCKS {
        queue.push(
            &Block,
            &BlockMember { hash: height.to_be_bytes() },
            &BlockScore { height: height.into() },
        )?;
    }

    let done = Mutex::new(BTreeSet::new());
    std::thread::scope(|scope| {
        let workers: Vec<_> =
            ["careful", "clumsy"].map(|name| scope.spawn(|| work(name, &queue, &done))).into();
        workers.into_iter().try_for_each(|worker| worker.join().unwrap_or(Ok(())))
    })?;

    let done = done.into_inner().unwrap_or_default();
    println!("{} blocks are done, each once", done.len());
    assert_eq!(done.len(), 40);
    assert_eq!(queue.size(&Block)?.waiting, 0);
    Ok(())
}

/// Claims blocks until none waits. The clumsy worker gives every third one back.
fn work<R>(name: &str, queue: &Queue<'_, Block, R>, done: &Mutex<BTreeSet<u64>>) -> Result<(), Error>
where
    R: keyplan::store::structure::raw::Structures,
{
    loop {
        let claimed = queue.claim(&Block, Claim::new(3, Duration::from_mins(1)))?;
        if claimed.is_empty() {
            return Ok(());
        }
        for item in claimed {
            let height = item.score()?.height;
            if name == "clumsy" && height % 3 == 0 && item.attempts < 3 {
                queue.release(&Block, &item)?;
                continue;
            }
            if queue.acknowledge(&Block, &item)? {
                let new = done.lock().is_ok_and(|mut done| done.insert(height));
                assert!(new, "block {height} was done twice");
            }
        }
    }
}
