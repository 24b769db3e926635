//! Second writers, storage that fails, servers that end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use futures_util::StreamExt as _;
use keyplan_slate::object_store::ObjectStore as _;
use keyplan_slate::object_store::memory::InMemory;
use keyplan_slate::{Slate, SlateSettings};
use keyplan_store::engine::{Batch, Durability, Engine as _, Error, Snapshot as _, Space};
use keyplan_store::{Store, StoreError};
use slatedb::admin::AdminBuilder;
use slatedb::config::{GarbageCollectorDirectoryOptions, GarbageCollectorOptions};

use crate::chain::{State, apply, commit, cursor, read, schema};
use crate::faulty::{Fault, Faulty};
use crate::laws;
use crate::partition::Network;
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
        let told = put(&first, 2_000, 1, Durability::SyncAll)
            .expect_err("a fenced writer was told that its batch is durable");
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
    for (fault, every) in [(Fault::Refused, 7), (Fault::AnswerLost, 5), (Fault::Slow, 4), (Fault::Twice, 3)] {
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
            store.shutdown(Duration::from_mins(1)).unwrap();
        }
        assert!(faulty.failed.load(Ordering::Relaxed) > 3, "{fault:?}: too few calls failed");
        let store = Store::open(Slate::open(on(&storage)).unwrap(), &schema()).unwrap();
        assert!(read(&store).unwrap() == state, "{fault:?} after opening again");
    }
}

/// What upstream reported as slatedb#1622. A writer does not look at the list of states for a while. Meanwhile another takes
/// over, moves everything to tables, and the objects of the log that nobody needs any more are removed, with them the one
/// whose place the first writer would write to next. It must not be told that it wrote.
#[test]
fn a_writer_that_slept_through_a_takeover_and_a_clearance_is_not_told_that_it_wrote() {
    for round in 0..rounds(10) {
        let storage = Arc::new(InMemory::new());
        let view = Faulty::sound(storage.clone());
        let mut first = Slate::open(small("memory://given").object_store(view.clone())).unwrap();
        first.create_space(&Space::map("s")).unwrap();
        put(&first, 1, Durability::SyncAll).unwrap();
        view.set_blind(true);

        let second = Slate::open(on(&storage)).unwrap();
        for key in 2..4 + round {
            put(&second, key, Durability::SyncAll).unwrap();
        }
        second.checkpoint(Duration::from_mins(1)).unwrap();
        put(&second, 100, Durability::SyncAll).unwrap();
        let before = log_objects(&storage);
        clear(&storage);
        assert!(log_objects(&storage) < before, "nothing of the log was removed");

        let told = put(&first, 200, Durability::SyncAll).unwrap_err();
        assert!(matches!(told, Error::Fenced | Error::CommitUnknown { .. }) && told.is_fatal(), "{told:?}");
        view.set_blind(false);
        assert!(put(&first, 201, Durability::SyncAll).unwrap_err().is_fatal());
        drop(first);
        put(&second, 101, Durability::SyncAll).unwrap();
        drop(second);
        let third = Slate::open(on(&storage)).unwrap();
        let acknowledged = [1, 100, 101].into_iter().chain(2..4 + round);
        for key in acknowledged {
            assert!(has(&third, key), "round {round}: {key} was acknowledged");
        }
        assert!(!has(&third, 200) && !has(&third, 201), "round {round}: of the fenced writer");
    }
}

/// What upstream reported as slatedb#1857. Batches are committed while what is in memory is moved to tables, and the process
/// ends at some moment of that: no batch may be neither in a table nor in the part of the log that is read again.
#[test]
fn a_process_that_ends_while_tables_are_made_loses_no_durable_batch() {
    for round in 0..rounds(10) {
        let storage = Arc::new(InMemory::new());
        let view = Faulty::sound(storage.clone());
        let mut engine = Slate::open(small("memory://given").object_store(view.clone())).unwrap();
        engine.create_space(&Space::map("s")).unwrap();
        let (stop, acknowledged) = (AtomicBool::new(false), AtomicU64::new(0));
        let next = std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                for key in 1.. {
                    if put(&engine, key, Durability::SyncAll).is_err() {
                        break;
                    }
                    acknowledged.store(key, Ordering::Release);
                }
            });
            scope.spawn(|| {
                while !stop.load(Ordering::Acquire) {
                    let _ = engine.checkpoint(Duration::from_mins(1));
                }
            });
            while acknowledged.load(Ordering::Acquire) < 5 + round && !writer.is_finished() {
                std::thread::sleep(Duration::from_millis(1));
            }
            view.set_cut(true);
            let next = Slate::open(on(&storage)).unwrap();
            // The one that was cut off comes back, and is told that another has taken over.
            view.set_cut(false);
            stop.store(true, Ordering::Release);
            next
        });
        let acknowledged = acknowledged.load(Ordering::Acquire);
        for key in 1..=acknowledged {
            assert!(has(&next, key), "round {round}: {key} of {acknowledged} was acknowledged");
        }
        assert!(put(&engine, 9_999, Durability::SyncAll).is_err());
        drop(engine);
        assert!(!has(&next, 9_999));
    }
}

/// How long a call waits for storage that does not answer.
const PATIENCE: Duration = Duration::from_secs(2);

/// A request that is never answered: the commit ends in time, its outcome is unknown, and the cursor tells.
#[test]
fn a_request_that_is_never_answered_is_an_error_in_time_and_the_cursor_tells() {
    let storage = Arc::new(InMemory::new());
    let mut state = State::default();
    let mut reached = 0;
    for every in [9, 12, 15] {
        drop(Store::open_or_create(Slate::open(on(&storage)).unwrap(), &schema()).unwrap());
        let deaf = Faulty::new(storage.clone(), Fault::Unanswered, every * 4);
        let settings = small("memory://given").limit(PATIENCE).object_store(deaf);
        let store = Slate::open(settings).map_err(StoreError::from);
        let store = store.and_then(|engine| Store::open(engine, &schema()));
        let mut acknowledged = reached;
        if let Ok(store) = store {
            let refused = loop {
                match commit(&store, acknowledged + 1, Durability::SyncData) {
                    Ok(()) => acknowledged += 1,
                    Err(error) => break error,
                }
            };
            assert!(
                matches!(&refused, StoreError::Engine(Error::CommitUnknown { .. } | Error::Deadline { .. })),
                "{refused:?}"
            );
        }
        let store = Store::open(Slate::open(on(&storage)).unwrap(), &schema()).unwrap();
        let found = read(&store).unwrap();
        let at = cursor(&found);
        assert!(
            at == acknowledged || at == acknowledged + 1,
            "{acknowledged} was acknowledged, and {at} is there"
        );
        for number in reached + 1..=at {
            apply(&mut state, number);
        }
        reached = at;
        assert!(found == state, "the rows are not those of batch {at}");
    }
}

/// Two partitions of the keys, each a database with a writer of its own: what befalls one is nothing to the other.
#[test]
fn two_partitions_have_two_writers_that_do_not_disturb_each_other() {
    let storage = Arc::new(InMemory::new());
    let views = [Faulty::sound(storage.clone()), Faulty::sound(storage.clone())];
    let settings = |number: usize, view: Arc<Faulty>| {
        // A database has the path that its URL names, in whatever store it is given.
        small(&format!("s3://bucket/part-{number}")).object_store(view)
    };
    let mut parts: Vec<Slate> = views
        .iter()
        .enumerate()
        .map(|(number, view)| Slate::open(settings(number, view.clone())).unwrap())
        .collect();
    for part in &mut parts {
        part.create_space(&Space::map("s")).unwrap();
    }
    let part_of = |key: u64| usize::from(key.is_multiple_of(3));
    std::thread::scope(|scope| {
        for (number, part) in parts.iter().enumerate() {
            scope.spawn(move || {
                for key in (1..60).filter(|key| part_of(*key) == number) {
                    put(part, key, Durability::SyncAll).unwrap();
                }
            });
        }
    });
    // One cannot reach its storage for a while: it waits, and the other does not.
    views[0].set_cut(true);
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| put(&parts[0], 1_000, Durability::SyncAll));
        put(&parts[1], 1_002, Durability::SyncAll).unwrap();
        views[0].set_cut(false);
        waits.join().unwrap().unwrap();
    });
    drop(parts);
    for number in 0..2 {
        let part = Slate::open(settings(number, Faulty::sound(storage.clone()))).unwrap();
        for key in 1..60 {
            assert_eq!(has(&part, key), part_of(key) == number, "{key} in {number}");
        }
        assert_eq!((has(&part, 1_000), has(&part, 1_002)), (number == 0, number == 1));
    }
}

fn put(engine: &Slate, key: u64, durability: Durability) -> Result<(), Error> {
    let mut batch = Batch::new();
    let space = engine.space("s").unwrap();
    batch.put(space, key.to_be_bytes().as_slice(), b"v".as_slice());
    batch.put(space, b"cursor".as_slice(), key.to_be_bytes().as_slice());
    engine.commit(batch, durability)
}

fn has(engine: &Slate, key: u64) -> bool {
    engine.snapshot().unwrap().contains(engine.space("s").unwrap(), &key.to_be_bytes()).unwrap()
}

fn wait<T>(asked: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap()
        .block_on(asked)
}

/// How many objects of the log there are.
fn log_objects(storage: &Arc<InMemory>) -> usize {
    let log = keyplan_slate::object_store::path::Path::from("keyplan/wal");
    wait(storage.list(Some(&log)).count())
}

/// Removes what nobody needs any more, however young it is.
fn clear(storage: &Arc<InMemory>) {
    let young = GarbageCollectorDirectoryOptions { interval: None, min_age: Duration::ZERO, dry_run: false };
    let options = GarbageCollectorOptions { wal_options: Some(young), ..GarbageCollectorOptions::default() };
    let admin = AdminBuilder::new("keyplan", storage.clone()).build();
    wait(admin.run_gc_once(options)).unwrap();
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
    let settings = || small(&url).limit(Duration::from_mins(2)).flush_interval(Duration::from_millis(20));
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
    drop(store);
    is_divided_from_its_writer(&cluster);
}

/// The network between a writer and its storage breaks for a while, which costs time. Then for longer, and another takes over: the
/// first is told when it is back, and what it had sent does nothing.
fn is_divided_from_its_writer(cluster: &Cluster) {
    let network = Network::to(cluster.port());
    let settings =
        |url: &str| small(url).limit(Duration::from_mins(2)).flush_interval(Duration::from_millis(20));
    let (far, near) = (Cluster::url_at(network.port, "divided"), cluster.url("divided"));
    let mut first = Slate::open(settings(&far)).unwrap();
    first.create_space(&Space::map("s")).unwrap();
    for key in 1..=3 {
        put(&first, key, Durability::SyncAll).unwrap();
        std::thread::scope(|scope| {
            network.divide();
            let waits = scope.spawn(|| put(&first, 10 + key, Durability::SyncAll));
            std::thread::sleep(Duration::from_millis(300));
            network.heal();
            waits.join().unwrap().unwrap();
        });
    }
    network.divide();
    std::thread::scope(|scope| {
        let cut_off = scope.spawn(|| put(&first, 100, Durability::SyncAll));
        let second = Slate::open(settings(&near)).unwrap();
        put(&second, 200, Durability::SyncAll).unwrap();
        network.heal();
        let told = cut_off.join().unwrap().expect_err("a fenced writer was told that its batch is durable");
        assert!(matches!(told, Error::Fenced | Error::CommitUnknown { .. }) && told.is_fatal(), "{told:?}");
        put(&second, 201, Durability::SyncAll).unwrap();
    });
    drop(first);
    let third = Slate::open(settings(&near)).unwrap();
    for key in [1, 2, 3, 11, 12, 13, 200, 201] {
        assert!(has(&third, key), "{key} was acknowledged");
    }
    assert!(!has(&third, 100), "of the fenced writer");
}
