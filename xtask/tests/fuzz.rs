//! The fuzz targets over the kept corpus and a few inputs made from it. `cargo xtask fuzz` makes more.

use std::time::Duration;

use xtask::fuzz::{Budget, TARGETS, run};

#[test]
fn every_target_holds_for_its_corpus_and_for_some_of_what_is_made_of_it() {
    for target in TARGETS {
        // Databases are written to files and read as a whole, and schemas are compiled.
        let inputs = if matches!(target.name, "database" | "schema") { 300 } else { 2_000 };
        let budget = Budget { seed: 7, inputs, time: Duration::from_mins(1) };
        let done = run(*target, budget).unwrap();
        assert!(done.made > 0, "{}: nothing was tried", target.name);
    }
}
