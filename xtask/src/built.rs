//! What the tests build, for tasks that run some of it.

use std::path::PathBuf;

use anyhow::Result;
use xtask::workspace;

use crate::job::Job;

/// Builds every test and the command, and runs the tests.
pub(crate) const TESTS: &str = "test --quiet --workspace --all-features --lib --bins --tests --no-fail-fast";

/// Builds every program: the command, the chores, examples and what is measured. All that is below them has the features that the tests
/// give it, so that nothing is built a second time: examples bring in what only tests and examples need.
pub(crate) const PROGRAMS: &str = "build --quiet --workspace --all-features --bins --examples";

/// Builds the command, and says where it is.
pub(crate) fn keyplan() -> Result<PathBuf> {
    Job::cargo(PROGRAMS).run()?;
    Ok(workspace::target()?.join("debug/keyplan"))
}
