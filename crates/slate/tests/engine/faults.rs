//! Second writers, storage that fails, servers that end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use keyplan_slate::object_store::memory::InMemory;
use keyplan_slate::{Slate, SlateSettings};
use keyplan_store::engine::{Batch, Durability, Engine as _, Error, Snapshot as _, Space};
use keyplan_store::{Store, StoreError};

use crate::chain::{State, apply, commit, cursor, read, schema};
use crate::faulty::{Fault, Faulty};
use crate::laws;
use crate::place::small;
use crate::server::{Cluster, Which};
use crate::support::rounds;

/// A store in memory of its own, so that several handles can be on it.
fn on(store: &Arc<InMemory>) -> SlateSettings {
    small("memory://given").object_store(store.clone())
}

/// The story of upstream's lost writes: writers take over from each other, and the one before goes on writing until it is
/// told. Whatever any of them was told is durable must be there for the next.
#[test]
fn a_second_writer_takes_over_and_the_first_is_told_before_its_next_durable_commit() {
    for round in 0..rounds(10) {
        let storage = Arc::new(InMemory::new());
        let mut first = Slate::open(on(&storage)).unwrap();
        let space = first.create_space(&Space::map("s")).unwrap();
        let put = |engine: &Slate, key: u64, writer: u8, durability| {
            let mut batch = Batch::new();
            let space = engine.space("s").unwrap();
            batch.put(space, key.to_be_bytes().as_slice(), [writer].as_slice());
            batch.put(space, b"cursor".as_slice(), key.to_be_bytes().as_slice());
            engine.commit(batch, durability)
        };
        let mut acknowledged = Vec::new();
        for key in 0..=round {
            put(&first, key, 1, Durability::SyncAll).unwrap();
            acknowledged.push((key, 1));
        }
        // Visible to the first writer, and promised to nobody.
        put(&first, 1_000, 1, Durability::Buffer).unwrap();
        let second = Slate::open(on(&storage)).unwrap();
        put(&second, 500, 2, Durability::SyncAll).unwrap();
        acknowledged.push((500, 2));
        // The first is told at its next durable commit at the latest; one that is only visible may still pass.
        let mut told = None;
        for key in 2_000..2_010 {
            match put(&first, key, 1, Durability::SyncAll) {
                Ok(()) => panic!("a fenced writer was told that its batch is durable"),
                Err(error) => {
                    told = Some(error);
                    break;
                }
            }
        }
        let told = told.unwrap();
        assert!(matches!(told, Error::Fenced | Error::CommitUnknown { .. }) && told.is_fatal(), "{told:?}");
        assert!(put(&first, 3_000, 1, Durability::SyncAll).unwrap_err().is_fatal());
        drop(first);
        put(&second, 501, 2, Durability::SyncAll).unwrap();
        acknowledged.push((501, 2));
        drop(second);
        let third = Slate::open(on(&storage)).unwrap();
        let snapshot = third.snapshot().unwrap();
        let space_now = third.space("s").unwrap();
        let _ = space;
        for (key, writer) in acknowledged {
            let found = snapshot.get(space_now, &key.to_be_bytes()).unwrap();
            assert_eq!(found.as_deref(), Some(&[writer][..]), "round {round}: {key} was acknowledged");
        }
        for key in [2_000_u64, 3_000] {
            assert!(
                !snapshot.contains(space_now, &key.to_be_bytes()).unwrap(),
                "nothing of the fenced writer"
            );
        }
    }
}

#[test]
fn storage_that_fails_now_and_then_is_tried_again() {
    for (fault, every) in [(Fault::Refused, 7), (Fault::AnswerLost, 5), (Fault::Slow, 4)] {
        let storage = Arc::new(InMemory::new());
        let faulty = Faulty::new(storage.clone(), fault, every);
        let mut state = State::default();
        {
            let settings = small("memory://given").object_store(faulty.clone());
            let store = Store::open_or_create(Slate::open(settings).unwrap(), &schema()).unwrap();
            for number in 1..=25 {
                commit(&store, number, Durability::SyncData)
                    .unwrap_or_else(|error| panic!("{fault:?}: {error:?}"));
                apply(&mut state, number);
            }
            assert!(read(&store).unwrap() == state, "{fault:?}");
            store.shutdown(Duration::from_secs(60)).unwrap();
        }
        assert!(faulty.failed.load(Ordering::Relaxed) > 3, "{fault:?}: too few calls failed");
        let store = Store::open(Slate::open(on(&storage)).unwrap(), &schema()).unwrap();
        assert!(read(&store).unwrap() == state, "{fault:?} after opening again");
    }
}

/// Storage that answers nothing any more: a durable commit ends in time, and its outcome is unknown.
#[test]
fn storage_that_is_gone_is_an_error_in_time() {
    let storage = Arc::new(InMemory::new());
    let mut engine = Slate::open(on(&storage)).unwrap();
    engine.create_space(&Space::map("s")).unwrap();
    drop(engine);
    // Every call fails: opening does not get through.
    let gone = Faulty::new(storage, Fault::Refused, 1);
    let settings = small("memory://given").object_store(gone).limit(Duration::from_millis(300));
    let refused = Slate::open(settings).unwrap_err();
    assert!(matches!(refused, Error::Deadline { .. } | Error::Unavailable { .. }), "{refused:?}");
}

/// The model on a server that speaks S3. Then one part of the cluster after the other is killed while batches are committed:
/// what was acknowledged is there.
#[test]
fn a_cluster_agrees_with_a_map_and_loses_nothing_with_one_of_its_parts() {
    let Some(mut cluster) = Cluster::start() else { return };
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("url"), cluster.url("model")).unwrap();
    laws::agrees_with_a_map_at::<Slate>(9, directory.path(), 1);
    let url = cluster.url("kept");
    let settings = || small(&url).limit(Duration::from_secs(120)).flush_interval(Duration::from_millis(20));
    let store = Store::open_or_create(Slate::open(settings()).unwrap(), &schema()).unwrap();
    let mut parts = vec![Which::Volume(0), Which::Master(0), Which::Filer];
    if rounds(0) > 0 {
        parts.extend([Which::Volume(1), Which::Volume(2), Which::Master(1), Which::Master(2), Which::Filer]);
    }
    let (mut state, mut reached) = (State::default(), 0);
    for part in parts {
        let (stop, acknowledged) = (AtomicBool::new(false), AtomicU64::new(reached));
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                let mut number = reached;
                while !stop.load(Ordering::Relaxed) {
                    match commit(&store, number + 1, Durability::SyncData) {
                        Ok(()) => number += 1,
                        Err(StoreError::Engine(error)) if error.is_retryable() => {}
                        Err(error) => panic!("{part:?}: {error:?}"),
                    }
                    acknowledged.store(number, Ordering::Release);
                }
            });
            let wait = |until: u64| {
                while acknowledged.load(Ordering::Acquire) < until && !writer.is_finished() {
                    std::thread::sleep(Duration::from_millis(5));
                }
            };
            wait(reached + 3);
            cluster.kill(part);
            std::thread::sleep(Duration::from_millis(500));
            cluster.restart(part);
            let now = acknowledged.load(Ordering::Acquire);
            wait(now + 3);
            stop.store(true, Ordering::Relaxed);
            writer.join().unwrap();
        });
        let found = read(&store).unwrap();
        let at = cursor(&found);
        assert_eq!(at, acknowledged.load(Ordering::Acquire), "{part:?}");
        for number in reached + 1..=at {
            apply(&mut state, number);
        }
        reached = at;
        assert!(found == state, "{part:?}: the rows are not those of batch {at}");
    }
    drop(store);
    let store = Store::open(Slate::open(settings()).unwrap(), &schema()).unwrap();
    assert!(read(&store).unwrap() == state, "after opening again");
    println!("{reached} batches, none lost");
}
