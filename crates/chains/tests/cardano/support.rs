//! What these tests have in common: a place that a store can be opened at again and again, on each engine.

use std::collections::BTreeMap;
use std::path::Path;

use keyplan_chains::cardano::{
    ChainPoint, Config, EntityKey, EraCbor, StateEngine, StateSchema, StateStore, TxoRef,
};
use keyplan_store::cache::Cached;
use keyplan_store::engine::{Fjall, Lmdb, Memory, Redb};
use tempfile::TempDir;

/// A way to open a store.
pub(crate) trait Kind {
    type Engine: StateEngine;
    /// Whether every namespace has a table of its own.
    const TABLES: bool;
    /// Whether a key may be empty, and one of several values.
    const EMPTY: bool = true;

    fn open(place: &Place, config: Config) -> StateStore<Self::Engine>;
}

/// Where a store is, on whichever engine.
pub(crate) struct Place {
    directory: TempDir,
    memory: Memory,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { directory: TempDir::new().unwrap(), memory: Memory::new() }
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }
}

pub(crate) struct OnMemory;
pub(crate) struct OnFjall;
pub(crate) struct OnRedb;
pub(crate) struct OnLmdb;
/// On fjall, with a row cache so small that most rows have to give way.
pub(crate) struct OnCached;

impl Kind for OnMemory {
    type Engine = Memory;
    const TABLES: bool = false;

    fn open(place: &Place, config: Config) -> StateStore<Memory> {
        StateStore::with_engine(place.memory.clone(), config).unwrap()
    }
}

impl Kind for OnFjall {
    type Engine = Fjall;
    const TABLES: bool = false;

    fn open(place: &Place, config: Config) -> StateStore<Fjall> {
        // Small memtables, so that tests flush.
        let config = Config { memtable_bytes: Some(1 << 20), cache_bytes: Some(4 << 20), ..config };
        StateStore::open(place.path(), config).unwrap()
    }
}

impl Kind for OnRedb {
    type Engine = Redb;
    const TABLES: bool = true;

    fn open(place: &Place, config: Config) -> StateStore<Redb> {
        StateStore::open_redb(place.path(), &schema(), config).unwrap()
    }
}

impl Kind for OnLmdb {
    type Engine = Lmdb;
    const TABLES: bool = true;
    const EMPTY: bool = false;

    fn open(place: &Place, config: Config) -> StateStore<Lmdb> {
        StateStore::open_lmdb(place.path(), &schema(), config).unwrap()
    }
}

impl Kind for OnCached {
    type Engine = Cached<Fjall>;
    const TABLES: bool = false;

    fn open(place: &Place, config: Config) -> StateStore<Cached<Fjall>> {
        let config = Config {
            memtable_bytes: Some(1 << 20),
            cache_bytes: Some(4 << 20),
            row_cache_bytes: Some(10_000),
            ..config
        };
        StateStore::open_cached(place.path(), config).unwrap()
    }
}

/// The namespaces that tests use on redb.
pub(crate) fn schema() -> StateSchema {
    StateSchema::new().single("accounts").single("pools").single("epochs").multi("pool_delegators")
}

/// Runs a check on every engine, as a test for each.
macro_rules! on_every_engine {
    ($($check:ident)*) => {$(
        mod $check {
            #[test]
            fn in_memory() {
                super::$check::<crate::support::OnMemory>();
            }

            #[test]
            fn on_fjall() {
                super::$check::<crate::support::OnFjall>();
            }

            #[test]
            fn with_a_row_cache() {
                super::$check::<crate::support::OnCached>();
            }

            #[test]
            fn on_redb() {
                super::$check::<crate::support::OnRedb>();
            }

            #[test]
            fn on_lmdb() {
                super::$check::<crate::support::OnLmdb>();
            }
        }
    )*};
}

pub(crate) use on_every_engine;

pub(crate) fn config() -> Config {
    Config::default()
}

pub(crate) fn slot(slot: u64) -> ChainPoint {
    ChainPoint::Slot { slot }
}

pub(crate) fn key(byte: u8) -> EntityKey {
    EntityKey([byte; 32])
}

pub(crate) fn txo(byte: u8, index: u32) -> TxoRef {
    TxoRef { tx_hash: [byte; 32], index }
}

pub(crate) fn output(era: u16, cbor: &[u8]) -> EraCbor {
    EraCbor { era, cbor: cbor.to_vec() }
}

/// The unspent outputs of a store.
pub(crate) fn utxos<E: StateEngine>(store: &StateStore<E>) -> BTreeMap<TxoRef, EraCbor> {
    let rows = store.iter_utxos().unwrap();
    rows.map(|row| row.map(|(txo, output)| (txo, output.to_era_cbor())).unwrap()).collect()
}

/// The entities of a namespace.
pub(crate) fn entities<E: StateEngine>(
    store: &StateStore<E>,
    namespace: &str,
) -> BTreeMap<EntityKey, Vec<u8>> {
    let rows = store.iter_entities(namespace, ..).unwrap();
    rows.map(|row| row.map(|(key, value)| (key, value.to_vec())).unwrap()).collect()
}

pub(crate) use keyplan_testkit::{Random, rounds};
