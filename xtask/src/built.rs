//! The command itself, built for a task that runs it.

use std::path::PathBuf;

use anyhow::Result;
use xtask::workspace;

use crate::job::Job;

/// Builds every test and the command, and runs the tests.
pub(crate) const TESTS: &str =
    "test --quiet --workspace --all-features --lib --bins --tests --examples --no-fail-fast";

/// Builds the command, and says where it is.
///
/// The tests build it with the features of the whole workspace. `after_tests`, nothing is built a second time with others;
/// else it is built alone.
pub(crate) fn keyplan(after_tests: bool) -> Result<PathBuf> {
    let build = if after_tests {
        Job::cargo(TESTS).argument("--no-run")
    } else {
        Job::cargo("build --quiet --package keyplan-cli")
    };
    build.run()?;
    Ok(workspace::target()?.join("debug/keyplan"))
}
