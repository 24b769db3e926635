//! Every domain and encoding: the generated types against the dynamic path, and their laws.

#[cfg(test)]
mod agree;

keyplan::plan!("tests/everything.keyplan");

use agree::{compare, keep_the_laws};

#[test]
fn every_encoding_agrees_with_the_dynamic_path() {
    compare(&everything::TYPES, 300);
}

#[test]
fn every_encoding_keeps_the_laws() {
    keep_the_laws(&everything::TYPES, 60);
}
