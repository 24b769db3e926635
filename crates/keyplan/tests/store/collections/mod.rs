//! Collections against those of the standard library, by random operations, on every engine.

mod deque;
mod history;
mod indexed_map;
mod map;
mod number;

use keyplan::store::collection::HistoryMap;
use keyplan::store::engine::{Durability, Memory};
use keyplan::store::{Batch, Error, Read as _, Store};

use self::history::Scores;
use self::indexed_map::POOLS;
use crate::support::{Opened, Random};

keyplan::plan! {
    plan collections;

    space state {
        /// An item.
        key config = 0x01 -> version: u32 name: text;

        /// Rows of maps.
        key balance = 0x02 owner: bytes(1..=32).len8 denom: text("a-z", 3..=8) -> amount: u64
            scan all
            scan by owner in order;
        /// How many there are.
        key balances = 0x03 -> count: u64;

        /// Members of a group.
        key member = 0x04 group: u32 name: text(1..=16) -> ""
            scan by group in order;

        /// Pools, by id.
        key pool = 0x05 id: u64 -> owner: u32 name: text(1..=8)
            scan all in order;
        /// The pools of an owner.
        key pool_of_owner = 0x06 owner: u32 id: u64 -> ""
            scan all in order
            scan by owner in order;
        /// The pool of a name.
        key pool_of_name = 0x07 name: text(1..=8) -> id: u64
            scan all in order;

        /// The next pool.
        key next_pool = 0x08 -> id: u64;

        /// Visits of a page, by shard.
        key visits = 0x09 page: u64 shard: u16 -> count: u64
            scan by page in order;

        /// Jobs by place, and where they start and end.
        key job = 0x0A place: u64 -> text
            scan all in order;
        key job_ends = 0x0B -> start: u64 end: u64;
    }

    space history {
        key score = 0x01 player: text(1..=8) -> points: u64
            scan all in order;
        key score_log = 0x02 player: text(1..=8).len8 height: u64
                -> old: (none: 0x00 | some: 0x01 points: u64)
            scan by player in order;
        key score_changed = 0x03 height: u64 player: text(1..=8) -> ""
            scan all in order;
        key score_heights = 0x04 -> floor: u64 tip: u64;
    }
}

use collections::PLAN;
use collections::history::{Score, ScoreValue};
use collections::state::{Pool, PoolValue};

/// Runs random steps in several batches, some of which are dropped: these must leave no trace.
fn in_batches<E: Opened, M: Clone>(
    seed: u64,
    mut model: M,
    mut step: impl FnMut(&mut Batch<'_, E>, &mut M, &mut Random),
    mut check: impl FnMut(&Store<E>, &M),
) {
    let directory = tempfile::tempdir().unwrap();
    let mut store = Store::create_on(E::open_at(directory.path()), &PLAN).unwrap();
    let mut random = Random::new(seed);
    for round in 0..12 {
        let mut attempt = model.clone();
        let mut batch = store.batch().unwrap();
        for _ in 0..25 {
            step(&mut batch, &mut attempt, &mut random);
        }
        if random.below(4) == 0 {
            drop(batch);
        } else {
            batch.commit(Durability::Buffer).unwrap();
            model = attempt;
        }
        check(&store, &model);
        if round % 5 == 4 {
            drop(store);
            store = Store::open_on(E::open_at(directory.path()), &PLAN).unwrap();
        }
    }
}

fn number(random: &mut Random, below: u64) -> u32 {
    u32::try_from(random.below(below)).unwrap()
}

const NAMES: [&str; 6] = ["a", "ab", "abc", "b", "z", "zz"];

fn name(random: &mut Random) -> &'static str {
    NAMES[usize::try_from(random.below(6)).unwrap()]
}

/// All rows of a batch's view of a space, as bytes.
fn dumped(batch: &Batch<'_, Memory>, space: &str) -> Vec<(Vec<u8>, Vec<u8>)> {
    let rows = batch.range_bytes(space, keyplan::store::engine::KeyRange::ALL).unwrap();
    rows.map(|row| row.map(|(key, value)| (key.to_vec(), value.to_vec())).unwrap()).collect()
}

#[test]
fn what_is_refused_leaves_the_batch_as_it_was() {
    let store = Store::create_on(Memory::new(), &PLAN).unwrap();
    let mut batch = store.batch().unwrap();
    let pools = POOLS();
    pools.put(&mut batch, &Pool { id: 1 }, &PoolValue { owner: 2, name: "a" }).unwrap();
    pools.put(&mut batch, &Pool { id: 2 }, &PoolValue { owner: 2, name: "b" }).unwrap();
    let history = HistoryMap::<Scores>::new();
    history.put(&mut batch, &Score { player: "a" }, &ScoreValue { points: 1 }, 3).unwrap();
    let before = (batch.len(), dumped(&batch, "state"), dumped(&batch, "history"));

    // A name that another row has, on a new row and on one that is there.
    for id in [2, 3] {
        let refused = pools.put(&mut batch, &Pool { id }, &PoolValue { owner: 9, name: "a" });
        assert!(matches!(refused, Err(Error::NotUnique { index: "state.pool_of_name", .. })));
    }
    // A value outside of its domain.
    let refused = pools.put(&mut batch, &Pool { id: 1 }, &PoolValue { owner: 9, name: "far too long" });
    assert!(matches!(refused, Err(Error::Refused(_))));
    // A key outside of its domain, at a height that would have moved the tip.
    let refused = history.put(&mut batch, &Score { player: "" }, &ScoreValue { points: 1 }, 9);
    assert!(matches!(refused, Err(Error::Refused(_))));
    assert_eq!((batch.len(), dumped(&batch, "state"), dumped(&batch, "history")), before);
}
