use std::num::NonZeroU16;

use keyplan::store::collection::{NumberKey, Sequence, ShardedCounter};
use keyplan::store::engine::Durability;
use keyplan::store::{Error, Read as _, Store};

use super::PLAN;
use super::collections::state::{NextPool, NextPoolValue, Visits, VisitsValue};
use crate::support::{Opened, Random, on_every_engine};

impl NumberKey for NextPool {
    fn value_of(id: u64) -> NextPoolValue {
        NextPoolValue { id }
    }
    fn number_of(value: NextPoolValue) -> u64 {
        value.id
    }
}

impl NumberKey for Visits {
    fn value_of(count: u64) -> VisitsValue {
        VisitsValue { count }
    }
    fn number_of(value: VisitsValue) -> u64 {
        value.count
    }
}

fn numbers<E: Opened>() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::create_on(E::open_at(directory.path()), &PLAN).unwrap();
    let sequence = Sequence::new(NextPool).starting_at(1);
    let mut batch = store.batch().unwrap();
    assert_eq!((sequence.take(&mut batch).unwrap(), sequence.take(&mut batch).unwrap()), (1, 2));
    assert_eq!(sequence.take_many(&mut batch, 10).unwrap(), 3..13);
    batch.commit(Durability::Buffer).unwrap();
    let mut batch = store.batch().unwrap();
    assert_eq!(sequence.take(&mut batch).unwrap(), 13);
    drop(batch);
    assert_eq!(sequence.peek(&store.snapshot().unwrap()).unwrap(), 13);
    let mut batch = store.batch().unwrap();
    let refused = sequence.take_many(&mut batch, u64::MAX).unwrap_err();
    assert!(matches!(refused, Error::Exhausted { family: "state.next_pool" }), "{refused}");

    let shards = NonZeroU16::new(8).unwrap();
    let counter =
        |page| ShardedCounter::new(Visits::by_page(page), shards, move |shard| Visits { page, shard });
    let mut random = Random::new(9);
    let mut want = [0_u64; 3];
    for _ in 0..100 {
        let (page, amount) = (random.below(3), random.below(50));
        counter(page).add(&mut batch, random.next(), amount).unwrap();
        want[usize::try_from(page).unwrap()] += amount;
    }
    batch.commit(Durability::Buffer).unwrap();
    let view = store.snapshot().unwrap();
    assert_eq!([0, 1, 2].map(|page| counter(page).total(&view).unwrap()), want);
    // The adds went to all of the keys.
    assert_eq!(view.scan(Visits::by_page(1)).count(), 8);
    let mut batch = store.batch().unwrap();
    counter(1).clear(&mut batch).unwrap();
    assert_eq!([0, 1, 2].map(|page| counter(page).total(&batch).unwrap()), [want[0], 0, want[2]]);
}

on_every_engine! {
    sequences_and_counters_lose_no_number = numbers;
}
