//! Backups: taken from a snapshot, brought up to date, restored, and taken beside a writer.
#![cfg(test)]

#[path = "support/cached.rs"]
mod cached;
#[path = "support/chain.rs"]
#[expect(dead_code, reason = "no file system becomes read-only here")]
mod chain;
mod support;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use chain::{Mounted, State, apply, commit, cursor, ids, read, schema};
use keyplan_store::cache::Cached;
use keyplan_store::engine::{
    Batch, Durability, Engine, Error, Fjall, KeyRange, Lmdb, LmdbSettings, Memory, MultimapEngine,
    MultimapSnapshot as _, Redb, Space,
};
use keyplan_store::{META_SPACE, Schema, Store, StoreError};
use support::{Opened, Random, rounds};

fn state(number: u64) -> State {
    let mut state = State::default();
    (1..=number).for_each(|number| apply(&mut state, number));
    state
}

fn opened<E: Opened>(path: &Path) -> Store<E> {
    Store::open(E::open_at(path), &schema()).unwrap()
}

fn rows(state: &State) -> u64 {
    state.iter().map(|rows| rows.len() as u64).sum()
}

fn is_restored_by_opening_it<E: Opened>() {
    let directory = tempfile::tempdir().unwrap();
    let (data, copy) = (directory.path().join("data"), directory.path().join("copy"));
    let store = Store::create(E::open_at(&data), &schema()).unwrap();
    (1..=30).for_each(|number| commit(&store, number, Durability::Buffer).unwrap());
    let first = store.backup(&copy).unwrap();
    assert_eq!((first.rows, first.written, first.deleted), (rows(&state(30)), rows(&state(30)), 0));
    {
        let restored = opened::<E>(&copy);
        assert!(read(&restored).unwrap() == state(30));
        assert_eq!(restored.meta().unwrap().files, store.meta().unwrap().files);
        // It goes on by itself, and the next backup puts it right again.
        commit(&restored, 31, Durability::SyncAll).unwrap();
        commit(&restored, 32, Durability::SyncAll).unwrap();
    }
    (31..=40).for_each(|number| commit(&store, number, Durability::Buffer).unwrap());
    let second = store.backup(&copy).unwrap();
    assert_eq!(second.rows, rows(&state(40)));
    assert!(second.written > 0 && second.deleted > 0 && second.written < second.rows, "{second:?}");
    assert!(read(&opened::<E>(&copy)).unwrap() == state(40));
    let third = store.backup(&copy).unwrap();
    assert_eq!((third.rows, third.written, third.deleted), (second.rows, 0, 0));
    assert!(read(&opened::<E>(&copy)).unwrap() == read(&store).unwrap());
}

#[test]
fn a_backup_is_restored_by_opening_it() {
    is_restored_by_opening_it::<Fjall>();
    is_restored_by_opening_it::<Redb>();
    is_restored_by_opening_it::<Lmdb>();
    is_restored_by_opening_it::<Cached<Fjall>>();
}

#[test]
fn a_backup_on_lmdb_is_a_compacted_copy() {
    let directory = tempfile::tempdir().unwrap();
    let (data, copy) = (directory.path().join("data"), directory.path().join("copy"));
    let store = Store::create(Lmdb::open_at(&data), &schema()).unwrap();
    let [_, utxos, _] = ids(&store);
    let mut random = Random(3);
    let keys: Vec<[u8; 36]> =
        (0..20_000).map(|_| std::array::from_fn(|_| u8::try_from(random.below(256)).unwrap())).collect();
    for some in keys.chunks(500) {
        let mut batch = Batch::new();
        for key in some {
            batch.put(utxos, &key[..], &[7; 150][..]);
        }
        store.commit(batch, Durability::Buffer).unwrap();
    }
    // Most of it goes again: the file keeps its length.
    for some in keys[..15_000].chunks(500) {
        let mut batch = Batch::new();
        for key in some {
            batch.delete(utxos, &key[..]);
        }
        store.commit(batch, Durability::Buffer).unwrap();
    }
    assert_eq!(store.backup(&copy).unwrap().rows, 5_000);
    let bytes = |path: &Path| std::fs::metadata(path.join("data.mdb")).unwrap().len();
    assert!(bytes(&copy) * 3 < bytes(&data), "{} of {}", bytes(&copy), bytes(&data));
    // A row of 186 bytes with what the engine adds, in pages that are full.
    assert!(bytes(&copy) < 5_000 * 250, "{}", bytes(&copy));
}

/// The writer does not stop; every backup is one batch's state.
fn is_of_one_moment_beside_a_writer<E: Opened>() {
    let directory = tempfile::tempdir().unwrap();
    let (data, copy) = (directory.path().join("data"), directory.path().join("copy"));
    let store = Store::create(E::open_at(&data), &schema()).unwrap();
    (1..=20).for_each(|number| commit(&store, number, Durability::Buffer).unwrap());
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let mut number = 20;
            while !done.load(Ordering::Relaxed) {
                number += 1;
                commit(&store, number, Durability::Buffer).unwrap();
            }
            number
        });
        let mut last = 20;
        for _ in 0..rounds(4) {
            store.backup(&copy).unwrap();
            let found = read(&opened::<E>(&copy)).unwrap();
            let at = cursor(&found);
            assert!(at >= last, "{at} after {last}");
            assert!(found == state(at), "the rows are not those of batch {at}");
            last = at;
        }
        done.store(true, Ordering::Relaxed);
        let written = writer.join().unwrap();
        println!("{}: backups up to batch {last} of {written}", E::NAME);
        assert!(read(&store).unwrap() == state(written));
    });
}

#[test]
fn a_backup_is_of_one_moment_beside_a_writer() {
    is_of_one_moment_beside_a_writer::<Fjall>();
    is_of_one_moment_beside_a_writer::<Redb>();
    is_of_one_moment_beside_a_writer::<Lmdb>();
    is_of_one_moment_beside_a_writer::<Cached<Fjall>>();
    is_of_one_moment_beside_a_writer::<Cached<Lmdb>>();
}

#[test]
fn a_backup_that_was_interrupted_has_no_plan_and_is_gone_on_with() {
    let directory = tempfile::tempdir().unwrap();
    let (data, copy) = (directory.path().join("data"), directory.path().join("copy"));
    let store = Store::create(Lmdb::open_at(&data), &schema()).unwrap();
    (1..=20).for_each(|number| commit(&store, number, Durability::Buffer).unwrap());
    store.backup(&copy).unwrap();
    {
        // As it is after the first step of the next one, with rows missing and rows too many.
        let engine = Lmdb::open_at(&copy);
        let meta = engine.space(META_SPACE).unwrap();
        let mut batch = Batch::<Lmdb>::new();
        batch.put(meta, b"backup".as_slice(), b"".as_slice());
        batch.delete(meta, b"format".as_slice());
        let [_, utxos, _] = ids(&store);
        let utxos = engine
            .space(
                &store
                    .engine()
                    .spaces()
                    .iter()
                    .find(|space| store.space(&space.name).ok() == Some(utxos))
                    .unwrap()
                    .name,
            )
            .unwrap();
        let first = state(20)[1].keys().next().unwrap().clone();
        batch.delete(utxos, first);
        batch.put(utxos, b"other".as_slice(), b"row".as_slice());
        engine.commit(batch, Durability::SyncAll).unwrap();
    }
    assert!(matches!(Store::open(Lmdb::open_at(&copy), &schema()), Err(StoreError::NoPlan)));
    let again = store.backup(&copy).unwrap();
    assert_eq!((again.written, again.deleted), (1, 1));
    assert!(read(&opened::<Lmdb>(&copy)).unwrap() == state(20));
}

#[test]
fn a_backup_does_not_overwrite_what_is_not_one() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let store = Store::create(Redb::open_at(&data), &schema()).unwrap();
    // Rows of somebody.
    let foreign = directory.path().join("foreign");
    {
        let mut engine = Redb::open_at(&foreign);
        let space = engine.create_space(&Space::map("theirs")).unwrap();
        let mut batch = Batch::<Redb>::new();
        batch.put(space, b"k".as_slice(), b"v".as_slice());
        engine.commit(batch, Durability::SyncAll).unwrap();
    }
    assert!(matches!(store.backup(&foreign), Err(StoreError::NoPlan)));
    // A database with another plan, one that is open, the store itself, and an engine without files.
    let other = directory.path().join("other");
    let compiled =
        keyplan_plan::compile("o.keyplan", "plan o; space s { key k = id: u8; }", |_| Err("no".into()));
    let kept = Store::create(Redb::open_at(&other), &Schema::of(&compiled).unwrap()).unwrap();
    assert!(matches!(store.backup(&other), Err(StoreError::Engine(Error::AlreadyOpen { .. }))));
    drop(kept);
    assert!(matches!(store.backup(&other), Err(StoreError::AlreadyCreated { .. })));
    assert!(matches!(store.backup(&data), Err(StoreError::Engine(Error::AlreadyOpen { .. }))));
    let memory = Store::create(Memory::new(), &schema()).unwrap();
    let refused = memory.backup(directory.path().join("memory")).unwrap_err();
    assert_eq!(refused.to_string(), "the engine `memory` has no backup to a directory");
}

/// Fjall took a backup in its folder of keyspaces for one of them, and did not open again.
fn is_not_made_inside_of_the_store<E: Opened>() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let store = Store::create(E::open_at(&data), &schema()).unwrap();
    commit(&store, 1, Durability::SyncAll).unwrap();
    std::os::unix::fs::symlink(&data, directory.path().join("link")).unwrap();
    for inside in ["data/keyspaces", "data/new/copy", "data/new/../copy", "link/copy", "link/keyspaces"] {
        let refused = store.backup(directory.path().join(inside)).unwrap_err();
        assert!(matches!(refused, StoreError::InsideStore { .. }), "{inside}: {refused}");
    }
    // Beside it, and around it, there is room.
    store.backup(directory.path().join("data-copy")).unwrap();
    store.backup(directory.path()).unwrap();
    drop(store);
    assert!(read(&opened::<E>(&data)).unwrap() == state(1));
    assert!(read(&opened::<E>(directory.path())).unwrap() == state(1));
}

#[test]
fn a_backup_is_not_made_inside_of_the_store() {
    is_not_made_inside_of_the_store::<Fjall>();
    is_not_made_inside_of_the_store::<Redb>();
    is_not_made_inside_of_the_store::<Lmdb>();
}

fn leaves_several_values_of_somebody<E: Opened + MultimapEngine>() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::create(E::open_at(&directory.path().join("data")), &schema()).unwrap();
    let foreign = directory.path().join("foreign");
    let rows = |write: bool| {
        let mut engine = E::open_at(&foreign);
        let space = engine.create_space(&Space::multimap("theirs")).unwrap();
        if write {
            let mut batch = Batch::<E>::new();
            batch.put_multi(space, b"k".as_slice(), b"v".as_slice());
            engine.commit(batch, Durability::SyncAll).unwrap();
        }
        (engine.snapshot().unwrap().iter_multi(space, KeyRange::ALL).unwrap().count(), engine.spaces().len())
    };
    assert_eq!(rows(true), (1, 1));
    assert!(matches!(store.backup(&foreign), Err(StoreError::NoPlan)));
    assert_eq!(rows(false), (1, 1));
}

#[test]
fn a_backup_does_not_go_beside_several_values_of_somebody() {
    leaves_several_values_of_somebody::<Redb>();
    leaves_several_values_of_somebody::<Lmdb>();
}

/// Whatever map the store was given: a backup reads its earlier state while it writes, so that its own could not grow.
#[test]
fn a_backup_on_lmdb_has_room_for_what_changed() {
    let directory = tempfile::tempdir().unwrap();
    let copy = directory.path().join("copy");
    let mut settings = LmdbSettings::default();
    settings.map_bytes = 1 << 20;
    let engine = Lmdb::open(directory.path().join("data"), settings).unwrap();
    let store = Store::create(engine, &schema().with_multimap("state-entities")).unwrap();
    let [_, utxos, entities] = ids(&store);
    let mut random = Random::new(8);
    for value in 0..3_u8 {
        for _ in 0..8 {
            let mut batch = Batch::new();
            for _ in 0..500 {
                batch.put(utxos, random.bytes(36), vec![value; 500]);
                batch.put_multi(entities, random.below(50).to_be_bytes().as_slice(), random.bytes(300));
            }
            store.commit(batch, Durability::Buffer).unwrap();
        }
        let done = store.backup(&copy).unwrap();
        assert!(done.rows > 4_000 * u64::from(value), "{done:?}");
    }
}

fn goes_on_after_a_full_disk<E: Opened>(size: &str) {
    let Some(disk) = Mounted::new(size) else {
        assert!(std::env::var_os("CI").is_none(), "mounting a file system is not allowed: run as root");
        println!("not allowed to mount a file system: skipped");
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let store = Store::create(E::open_at(&directory.path().join("data")), &schema()).unwrap();
    (1..=40).for_each(|number| commit(&store, number, Durability::Buffer).unwrap());
    let copy = disk.0.path().join("copy");
    store.backup(&copy).unwrap();
    (41..=400).for_each(|number| commit(&store, number, Durability::Buffer).unwrap());
    // Something else takes the room.
    let other = disk.0.path().join("other");
    let mut file = std::fs::File::create(&other).unwrap();
    while std::io::Write::write_all(&mut file, &vec![7; 1 << 16]).is_ok() {}
    drop(file);
    let refused = store.backup(&copy).unwrap_err();
    println!("{}: {refused}", E::NAME);
    // The store is as it was, and goes on.
    assert!(read(&store).unwrap() == state(400));
    commit(&store, 401, Durability::SyncAll).unwrap();
    std::fs::remove_file(other).unwrap();
    store.backup(&copy).unwrap();
    assert!(read(&opened::<E>(&copy)).unwrap() == state(401));
}

#[test]
fn a_backup_to_a_full_disk_fails_and_is_gone_on_with_once_there_is_room() {
    goes_on_after_a_full_disk::<Redb>("40m");
    goes_on_after_a_full_disk::<Lmdb>("40m");
    goes_on_after_a_full_disk::<Fjall>("160m");
}

fn keeps_several_values<E: Opened + MultimapEngine>() {
    let directory = tempfile::tempdir().unwrap();
    let (data, copy) = (directory.path().join("data"), directory.path().join("copy"));
    let schema = schema().with_multimap("state-entities");
    let store = Store::create(E::open_at(&data), &schema).unwrap();
    let space = store.space("state-entities").unwrap();
    let mut random = Random::new(5);
    for round in 0..3_u64 {
        let mut batch = Batch::<E>::new();
        for _ in 0..200 {
            let (key, value) = (random.below(40).to_be_bytes(), random.below(9).to_be_bytes());
            if *random.pick(&[true, false, false]) {
                batch.remove_multi(space, key.as_slice(), value.as_slice());
            } else {
                batch.put_multi(space, key.as_slice(), value.as_slice());
            }
        }
        batch.delete(space, round.to_be_bytes().as_slice());
        store.commit(batch, Durability::Buffer).unwrap();
        store.backup(&copy).unwrap();
        let restored = Store::open(E::open_at(&copy), &schema).unwrap();
        let all = |store: &Store<E>| -> Vec<(Vec<u8>, Vec<Vec<u8>>)> {
            let space = store.space("state-entities").unwrap();
            let rows = store.engine().snapshot().unwrap().iter_multi(space, KeyRange::ALL).unwrap();
            let values = |values: <E::Snapshot as keyplan_store::engine::MultimapSnapshot>::Values| {
                values.map(|value| value.unwrap().to_vec()).collect()
            };
            rows.map(|row| row.unwrap()).map(|(key, found)| (key.to_vec(), values(found))).collect()
        };
        assert!(all(&store).len() > 10);
        assert_eq!(all(&restored), all(&store));
    }
}

#[test]
fn a_backup_keeps_several_values_for_a_key() {
    keeps_several_values::<Redb>();
    keeps_several_values::<Lmdb>();
}
