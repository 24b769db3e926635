//! The chains' own stores on object storage.
#![cfg(test)]

#[path = "../../../chains/tests/cardano/conformance.rs"]
mod conformance;
#[path = "../../../chains/tests/cardano/model.rs"]
mod model;
mod onesat;
mod support;
