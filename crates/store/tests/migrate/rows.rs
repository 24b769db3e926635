//! Rows of databases to be carried over. The tests of the command take this file as well.

use std::collections::BTreeMap;
use std::path::PathBuf;

use keyplan_plan::Compiled;
use keyplan_store::engine::{Batch, Durability, Engine, KeyRange, Snapshot as _};
use keyplan_store::{META_SPACE, Schema, Store};

/// Rows by the name of their space and their key.
pub(crate) type Rows = BTreeMap<(String, Vec<u8>), Vec<u8>>;

/// A folder of this test's own, which does not exist.
pub(crate) fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("migrate-{name}"));
    if folder.exists() {
        std::fs::remove_dir_all(&folder).unwrap();
    }
    folder
}

/// Makes a database with a plan and rows.
pub(crate) fn fill<E: Engine>(engine: E, plan: &Compiled, rows: &Rows) {
    let store = Store::create(engine, &Schema::of(plan).unwrap()).unwrap();
    let mut batch = Batch::new();
    for ((space, key), value) in rows {
        batch.put(store.space(space).unwrap(), key.as_slice(), value.as_slice());
        if batch.len() == 5_000 {
            store.commit(std::mem::take(&mut batch), Durability::Buffer).unwrap();
        }
    }
    store.commit(batch, Durability::SyncAll).unwrap();
}

/// Every row of a database but those of its metadata, spaces that are empty left out.
pub(crate) fn rows<E: Engine>(engine: &E) -> Rows {
    let snapshot = engine.snapshot().unwrap();
    let mut all = Rows::new();
    for space in engine.spaces() {
        if space.name == META_SPACE {
            continue;
        }
        for row in snapshot.range(engine.space(&space.name).unwrap(), KeyRange::ALL).unwrap() {
            let (key, value) = row.unwrap();
            all.insert((space.name.clone(), key.to_vec()), value.to_vec());
        }
    }
    all
}
