//! The command itself, built for a task that runs it.

use std::path::PathBuf;

use anyhow::Result;
use xtask::workspace;

use crate::job::Job;

/// Builds the command, and says where it is.
///
/// The tests build it with the features of the whole workspace. `after_tests`, nothing is built a second time with others;
/// else it is built alone.
pub(crate) fn keyplan(after_tests: bool) -> Result<PathBuf> {
    let build = if after_tests {
        "test --quiet --no-run --workspace --all-features --lib --bins --tests --examples"
    } else {
        "build --quiet --package keyplan-cli"
    };
    Job::cargo(build).run()?;
    Ok(workspace::target()?.join("debug/keyplan"))
}
