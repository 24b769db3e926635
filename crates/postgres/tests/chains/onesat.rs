//! The 1Sat store.

#[macro_use]
#[path = "../../../chains/tests/onesat/on_engine.rs"]
mod on_engine;
#[path = "../../../chains/tests/onesat/suite.rs"]
mod suite;

use keyplan_chains::onesat::OneSat;
use keyplan_postgres::Postgres;
use keyplan_store::structure::Embedded;
use tempfile::TempDir;

use crate::support::settings;

fn open(directory: &TempDir) -> OneSat<Embedded<Postgres>> {
    OneSat::with_engine(Postgres::open(settings(directory.path())).unwrap()).unwrap()
}

on_engine!(open);
