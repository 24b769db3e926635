//! A queue under several workers, of which some never come back.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use keyplan_store::structure::{Claim, Command, QueueSize, Redis, SetScore, StructureRead as _, Structures};

use crate::server;
use crate::support::Random;

/// Eight workers take items off a queue at the same time. Now and then one forgets what it holds, as if it had crashed.
///
/// Every item is worked off once it is acknowledged, none is lost, and no two workers hold one at a time.
pub(crate) fn crash(redis: &Redis, items: u64) {
    const LEASE: Duration = Duration::from_millis(300);
    // The server counts whole milliseconds by another clock than this does.
    const SLACK: Duration = Duration::from_millis(20);
    let members: Vec<[u8; 8]> = (0..items).map(u64::to_be_bytes).collect();
    let score = SetScore::Number(1.0);
    let pushes = members.iter().map(|member| Command::QueuePush { key: b"q:jobs", member, score });
    redis.apply(&pushes.collect::<Vec<_>>(), keyplan_store::engine::Durability::Buffer).unwrap();

    let held: Mutex<BTreeMap<Vec<u8>, Instant>> = Mutex::default();
    let done: Mutex<BTreeSet<Vec<u8>>> = Mutex::default();
    let worked = |worker: u64| {
        let mut random = Random::new(worker);
        while (done.lock().unwrap().len() as u64) < items {
            let start = Instant::now();
            let claim = Claim::new(1 + usize::try_from(random.below(4)).unwrap(), LEASE);
            let claimed = redis.queue_claim(b"q:jobs", claim).unwrap();
            let now = Instant::now() + SLACK;
            for item in &claimed {
                let until = held.lock().unwrap().insert(item.member.clone(), start + LEASE);
                assert!(until.is_none_or(|until| until <= now), "held twice: {item:?}");
            }
            if claimed.is_empty() {
                std::thread::sleep(Duration::from_millis(10));
            }
            for item in claimed {
                match random.below(10) {
                    // Never heard of again.
                    0 => {}
                    1 => {
                        // Nobody has it once it is given back, even before this hears of that.
                        held.lock().unwrap().remove(&item.member);
                        redis.queue_release(b"q:jobs", &item.member, item.receipt).unwrap();
                    }
                    _ => {
                        if redis.queue_acknowledge(b"q:jobs", &item.member, item.receipt).unwrap() {
                            assert!(done.lock().unwrap().insert(item.member), "done twice");
                        }
                    }
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for worker in 0..8 {
            let worked = &worked;
            scope.spawn(move || worked(worker));
        }
    });
    assert!(done.into_inner().unwrap().into_iter().eq(members));
    assert_eq!(redis.queue_size(b"q:jobs").unwrap(), QueueSize::default());
}

#[test]
fn nothing_is_lost_and_nothing_held_twice() {
    let (_server, settings) = server();
    crash(&Redis::open(settings.clone()).unwrap(), 2_000);
    crash(&Redis::open(settings.shared_queues("q:").connections(3)).unwrap(), 500);
}
