//! Databases to be carried over.

use std::collections::BTreeMap;
use std::path::PathBuf;

use keyplan_plan::{Compiled, compile};
use keyplan_prover::{MigrationProof, Options, prove_migration};
use keyplan_store::engine::{Batch, Durability, Engine, KeyRange, Snapshot as _};
use keyplan_store::migrate::{Attached, Migration, Running, Step};
use keyplan_store::{META_SPACE, Schema, Store};

/// Rows by the name of their space and their key.
pub(crate) type Rows = BTreeMap<(String, Vec<u8>), Vec<u8>>;

pub(crate) fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

pub(crate) fn text(plan: &str) -> String {
    std::fs::read_to_string(root().join(plan)).unwrap()
}

pub(crate) fn plan(name: &str, text: &str) -> Compiled {
    let import = |path: &str| std::fs::read_to_string(root().join(path)).map_err(|error| error.to_string());
    let compiled = compile(name, text, import);
    assert_eq!(compiled.errors().count(), 0, "{name}: {:?}", compiled.diagnostics);
    compiled
}

pub(crate) fn prove(old: &Compiled, new: &Compiled) -> MigrationProof {
    let proof = prove_migration(old.plan.as_ref().unwrap(), new.plan.as_ref().unwrap(), &Options::default());
    let blockers: Vec<String> = proof.blockers().map(ToString::to_string).collect();
    assert_eq!(blockers, Vec::<String>::new());
    proof
}

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

pub(crate) fn attach<'m, 'p, E: Engine>(migration: &'m Migration<'p>, engine: E) -> Running<'m, 'p, E> {
    match migration.attach(engine).unwrap() {
        Attached::Ready(running) => *running,
        Attached::Done(_) => panic!("the database has the new plan"),
    }
}

/// Takes steps to the end; gives how many there were.
pub(crate) fn run<E: Engine>(running: &mut Running<'_, '_, E>, step: usize) -> (Step, usize) {
    for count in 1.. {
        let done = running.step(step).unwrap();
        if !matches!(done, Step::More { .. }) {
            return (done, count);
        }
    }
    unreachable!("steps end")
}
