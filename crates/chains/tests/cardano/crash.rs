//! A process that is killed at any moment leaves exactly one of its commits, and none that it reported less.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use keyplan_chains::cardano::{
    ChainPoint, Config, EntityKey, EraCbor, StateEngine, StateError, StateStore, TxoRef, UtxoSetDelta,
};
use keyplan_store::StoreError;
use keyplan_store::engine::{self, Durability};
use keyplan_testkit::{Writer, again};

use crate::support::{Random, entities, output, rounds, schema, slot, utxos};

const PRODUCED: u32 = 40;
const CONSUMED: u32 = 10;

fn config() -> Config {
    Config { memtable_bytes: Some(1 << 20), cache_bytes: Some(4 << 20), history: 8, ..Config::default() }
}

/// The reference of the output with a number, spread over the key space.
fn numbered(number: u64) -> TxoRef {
    let mut random = Random(number);
    let mut tx_hash = [0; 32];
    tx_hash[..8].copy_from_slice(&random.next().to_be_bytes());
    TxoRef { tx_hash, index: 0 }
}

fn body(number: u64) -> EraCbor {
    output(6, &number.to_be_bytes().repeat(20))
}

/// What batch `batch` does, which depends on nothing but its number.
fn commit<E: StateEngine>(store: &StateStore<E>, batch: u64) {
    let mut writer = store.start_writer().unwrap();
    let of = |batch: u64| batch * u64::from(PRODUCED)..(batch + 1) * u64::from(PRODUCED);
    let consumed = batch.checked_sub(1).into_iter().flat_map(of).take(CONSUMED as usize);
    let delta = UtxoSetDelta {
        produced: of(batch).map(|number| (numbered(number), body(number))).collect(),
        consumed: consumed.map(numbered).collect(),
        ..UtxoSetDelta::default()
    };
    writer.apply_utxoset(&delta).unwrap();
    writer.write_entity("pools", &EntityKey::MIN, &batch.to_be_bytes()).unwrap();
    writer.write_entity("accounts", &account(batch), &batch.to_be_bytes()).unwrap();
    if let Some(gone) = batch.checked_sub(3) {
        writer.delete_entity("accounts", &account(gone)).unwrap();
    }
    writer.set_cursor(slot(batch));
    writer.commit().unwrap();
}

fn account(batch: u64) -> EntityKey {
    EntityKey::padded(&batch.to_be_bytes()).unwrap()
}

/// Checks that a store holds exactly batches 0 to `last`.
fn check<E: StateEngine>(store: &StateStore<E>, last: u64) {
    let mut expected = BTreeMap::new();
    for batch in 0..=last {
        let first = batch * u64::from(PRODUCED);
        let skip = if batch < last { u64::from(CONSUMED) } else { 0 };
        expected.extend(
            (first + skip..first + u64::from(PRODUCED)).map(|number| (numbered(number), body(number))),
        );
    }
    assert_eq!(utxos(store).len(), expected.len());
    assert!(utxos(store) == expected, "outputs of batch {last}");
    assert_eq!(entities(store, "pools"), [(EntityKey::MIN, last.to_be_bytes().to_vec())].into());
    let accounts =
        (last.saturating_sub(2)..=last).map(|batch| (account(batch), batch.to_be_bytes().to_vec()));
    assert_eq!(entities(store, "accounts"), accounts.collect());
}

/// Says to a process of this test that it is to import until it is killed, on which engine and where.
const CHILD: &str = "KEYPLAN_CARDANO_CRASH_CHILD";

/// What the process does that the other tests start and kill; in any other it does nothing.
#[test]
fn import_until_killed() {
    let Ok(child) = std::env::var(CHILD) else { return };
    match child.split_once(':').unwrap() {
        ("fjall", path) => import(&StateStore::open(path, config()).unwrap()),
        ("lmdb", path) => import(&open_lmdb(path.as_ref())),
        (_, path) => import(&open_redb(path.as_ref())),
    }
}

fn open_redb(path: &Path) -> StateStore<keyplan_store::engine::Redb> {
    let config = Config { durability: Durability::SyncData, ..config() };
    opened(path, || StateStore::open_redb(path, &schema(), config.clone()))
}

fn open_lmdb(path: &Path) -> StateStore<keyplan_store::engine::Lmdb> {
    opened(path, || StateStore::open_lmdb(path, &schema(), config()))
}

fn opened<E: StateEngine>(
    path: &Path,
    open: impl Fn() -> Result<StateStore<E>, StateError>,
) -> StateStore<E> {
    // A process that another test is just starting has the files of this one for a moment, and their locks.
    for _ in 0..500 {
        match open() {
            Err(StateError::Store(StoreError::Engine(engine::Error::AlreadyOpen { .. }))) => {
                std::thread::sleep(Duration::from_millis(20));
            }
            opened => return opened.unwrap(),
        }
    }
    panic!("the database in {} stays open", path.display());
}

fn import<E: StateEngine>(store: &StateStore<E>) {
    let next = store.read_cursor().unwrap().map_or(0, |point| point.slot().unwrap() + 1);
    for batch in next.. {
        commit(store, batch);
        println!("acknowledged {batch}");
    }
}

/// Runs the import, kills it after a while, and returns the last batch that it acknowledged.
fn killed(path: &Path, engine: &str, after: Duration) -> Option<u64> {
    let mut command = again("crash::import_until_killed");
    // Batches are counted from 0 on: one more is none.
    let child = Writer::start(command.env(CHILD, format!("{engine}:{}", path.display())), u64::MAX);
    std::thread::sleep(after);
    Some(child.kill()).filter(|last| *last != u64::MAX)
}

fn survives<E: StateEngine>(engine: &str, count: u64, open: impl Fn(&Path) -> StateStore<E>) {
    let directory = tempfile::TempDir::new().unwrap();
    let mut random = Random(7);
    let mut acknowledged = None;
    let mut rolled_back = 0;
    for round in 0..count {
        let after = Duration::from_millis(30 + random.below(270));
        acknowledged = killed(directory.path(), engine, after).or(acknowledged);
        let store = open(directory.path());
        let cursor = store.read_cursor().unwrap().map(|point| point.slot().unwrap());
        assert!(cursor >= acknowledged, "round {round}: at {cursor:?}, acknowledged {acknowledged:?}");
        if let Some(last) = cursor {
            check(&store, last);
        }
        // What is kept for rolling back is of the same commit. A rollback uses it up.
        if let Some(back) = cursor.and_then(|last| last.checked_sub(5))
            && back >= rolled_back
        {
            store.rollback_to(&ChainPoint::Slot { slot: back }).unwrap();
            check(&store, back);
            acknowledged = Some(back);
            rolled_back = back;
        }
    }
    assert!(acknowledged.is_some(), "nothing was committed before any kill");
}

#[test]
fn an_import_on_fjall_survives_being_killed() {
    survives("fjall", rounds(20), |path| StateStore::open(path, config()).unwrap());
}

#[test]
fn an_import_on_lmdb_survives_being_killed() {
    survives("lmdb", rounds(20), open_lmdb);
}

#[test]
fn an_import_on_redb_survives_being_killed() {
    survives("redb", rounds(20), open_redb);
}
