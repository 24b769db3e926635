//! The chains' own stores on PostgreSQL.
#![cfg(test)]

#[path = "../../../chains/tests/cardano/conformance.rs"]
mod conformance;
#[path = "../../../chains/tests/cardano/model.rs"]
mod model;
mod onesat;
mod paw;
#[expect(dead_code, reason = "replicas are for the tests of the engine")]
#[path = "../engine/server.rs"]
mod server;
mod support;
