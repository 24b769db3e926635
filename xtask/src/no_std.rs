//! Whether the codec can be linked where there is no `std`.

use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use xtask::workspace;

use crate::console;
use crate::job::Job;

/// Builds `xtask/no_std_check` with the features that promise to need no `std`, and once with the one that does need
/// it: a check that cannot fail would show nothing.
pub(crate) fn run() -> Result<ExitCode> {
    let folder = workspace::root().join("xtask/no_std_check");
    for features in ["", "hash,bech32"] {
        build(&folder, features)?.run()?;
    }
    let output = build(&folder, "std")?.command().output().context("cannot run cargo")?;
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.success() || !said.contains("duplicate lang item") {
        bail!("the check does not notice `std`: a build with it ended with {}\n{said}", output.status);
    }
    console::line("the codec needs neither `std` nor an allocator; a build with `std` is refused");
    Ok(ExitCode::SUCCESS)
}

fn build(folder: &std::path::Path, features: &str) -> Result<Job> {
    // The crate is outside of the workspace, whose features would be joined with its own; its dependencies are to
    // be the workspace's all the same. Cargo takes out what it does not need, so the copy is made each time.
    std::fs::copy(workspace::root().join("Cargo.lock"), folder.join("Cargo.lock"))
        .context("cannot copy Cargo.lock")?;
    let target = workspace::scratch()?.join("no_std");
    let job = Job::cargo("build --quiet --manifest-path xtask/no_std_check/Cargo.toml");
    Ok(job.argument(format!("--features={features}")).variable("CARGO_TARGET_DIR", &target.to_string_lossy()))
}
