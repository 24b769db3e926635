//! Databases to be carried over.

use std::path::PathBuf;

use keyplan_plan::{Compiled, compile};
use keyplan_prover::{MigrationProof, Options, prove_migration};
use keyplan_store::engine::Engine;
use keyplan_store::migrate::{Attached, Migration, Running, Step};

pub(crate) use crate::rows::{Rows, folder, rows};

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
