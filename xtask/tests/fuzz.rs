//! The fuzz targets over the kept corpus and a few inputs made from it. `cargo xtask fuzz` makes more.

use std::time::Duration;

use xtask::fuzz::{Budget, TARGETS, run};

#[test]
fn every_target_holds_for_its_corpus_and_for_some_of_what_is_made_of_it() {
    let budget = Budget { seed: 7, inputs: 2_000, time: Duration::from_secs(60) };
    for target in TARGETS {
        let done = run(*target, budget).unwrap();
        assert!(done.made > 0, "{}: nothing was tried", target.name);
    }
}
