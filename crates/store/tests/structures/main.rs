//! Structures: one suite against a model on every implementation, and what is particular to the embedded one.
#![cfg(test)]

#[path = "../support/cached.rs"]
mod cached;
mod checked;
mod embedded;
mod layout;
mod model;
mod search;
mod suite;
#[path = "../support/mod.rs"]
mod support;
mod workers;
