//! PostgreSQL as an engine: the suites of all engines on a real server, and what can go wrong with one.
#![cfg(test)]

#[expect(dead_code, reason = "file systems in memory are for the tests of embedded engines")]
#[path = "../../../store/tests/support/chain.rs"]
mod chain;
mod conformance;
mod faults;
#[path = "../../../store/tests/support/kills.rs"]
mod kills;
#[path = "../../../store/tests/support/suite.rs"]
mod laws;
#[path = "../../../store/tests/structures/model.rs"]
mod model;
mod particular;
#[path = "../../../store/tests/support/partition.rs"]
mod partition;
mod place;
mod proxy;
mod server;
mod structures;
#[path = "../../../store/tests/structures/suite.rs"]
mod suite;
#[path = "../../../store/tests/support/mod.rs"]
mod support;

use std::path::Path;

use keyplan_postgres::Postgres;
use keyplan_store::Store;
use support::Opened as _;

/// Not a test by itself: the process that is killed. It commits batch after batch and says so.
#[test]
fn child() {
    let Ok(place) = std::env::var(kills::CHILD) else { return };
    let (_, directory) = place.split_once(':').unwrap();
    kills::import(&Store::open_or_create(Postgres::open_at(Path::new(directory)), &chain::schema()).unwrap());
}
