//! A queue under several workers, of which some never come back.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use keyplan_store::engine::{Fjall, Memory};
use keyplan_store::structure::{Claim, Now, QueueSize, SetScore, Structures};

use crate::embedded::open;
use crate::support::Random;

/// Eight workers take items off a queue. Now and then one forgets what it holds, as if it had crashed.
///
/// Every item is worked off once it is acknowledged, none is lost, and no two workers hold one at a time.
pub(crate) fn crash(structures: &(dyn Structures + Sync), items: u64) {
    const LEASE: u64 = 50;
    for item in 0..items {
        structures.queue_push(b"q:jobs", &item.to_be_bytes(), SetScore::Number(1.0)).unwrap();
    }
    // The time that leases run by, so that the test does not depend on the machine's.
    let clock = AtomicU64::new(1);
    let held: Mutex<BTreeMap<Vec<u8>, u64>> = Mutex::default();
    let done: Mutex<BTreeSet<Vec<u8>>> = Mutex::default();
    std::thread::scope(|scope| {
        for worker in 0..8 {
            let (clock, held, done) = (&clock, &held, &done);
            scope.spawn(move || {
                let mut random = Random::new(worker);
                while (done.lock().unwrap().len() as u64) < items {
                    // Claims are made one at a time by the clock, so that what a worker may hold is known exactly.
                    let mut holding = held.lock().unwrap();
                    let now = clock.fetch_add(1 + random.below(10), Ordering::Relaxed);
                    let count = 1 + usize::try_from(random.below(4)).unwrap();
                    let claim = Claim::new(count, Duration::from_millis(LEASE)).at(Now::Millis(now));
                    let claimed = structures.queue_claim(b"q:jobs", claim).unwrap();
                    for item in &claimed {
                        let until = holding.insert(item.member.clone(), now + LEASE);
                        assert!(until.is_none_or(|until| until <= now), "held twice: {item:?}");
                    }
                    drop(holding);
                    for item in claimed {
                        match random.below(10) {
                            // Never heard of again.
                            0 => {}
                            1 => {
                                let mut holding = held.lock().unwrap();
                                if structures.queue_release(b"q:jobs", &item.member, item.receipt).unwrap() {
                                    holding.remove(&item.member);
                                }
                            }
                            _ => {
                                let mut holding = held.lock().unwrap();
                                if structures
                                    .queue_acknowledge(b"q:jobs", &item.member, item.receipt)
                                    .unwrap()
                                {
                                    holding.remove(&item.member);
                                    assert!(done.lock().unwrap().insert(item.member), "done twice");
                                }
                            }
                        }
                    }
                }
            });
        }
    });
    let done = done.into_inner().unwrap();
    assert!(done.into_iter().eq((0..items).map(|item| item.to_be_bytes().to_vec())));
    assert_eq!(structures.queue_size(b"q:jobs").unwrap(), QueueSize::default());
}

#[test]
fn nothing_is_lost_and_nothing_held_twice_in_memory() {
    let directory = tempfile::tempdir().unwrap();
    crash(&open::<Memory>(&directory.path().join("db")), 500);
}

#[test]
fn nothing_is_lost_and_nothing_held_twice_on_fjall() {
    let directory = tempfile::tempdir().unwrap();
    crash(&open::<Fjall>(&directory.path().join("db")), 2_000);
}
