//! The package for JavaScript: the module of WebAssembly, and functions around it.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use xtask::workspace;

use crate::console;
use crate::job::Job;
use crate::tool::Tool;

const TARGET: &str = "wasm32-unknown-unknown";

/// The most bytes that the module may have before somebody looks into it: a page that loads it should be there at once.
const MOST_BYTES: u64 = 1_600_000;

/// Builds the package into `target/npm/keyplan`.
pub(super) fn build() -> Result<PathBuf> {
    Tool::WebAssembly.need()?;
    Job::cargo("build --quiet --package keyplan-wasm --profile wasm --target").arguments(TARGET).run()?;
    let package = workspace::target()?.join("npm/keyplan");
    super::fresh(&package)?;
    super::copy_folder(&workspace::root().join("crates/wasm/js"), &package)?;
    for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
        std::fs::copy(workspace::root().join(licence), package.join(licence))?;
    }
    let module = workspace::target()?.join(TARGET).join("wasm/keyplan_wasm.wasm");
    let bytes = std::fs::copy(&module, package.join("keyplan.wasm"))
        .with_context(|| format!("cannot copy {}", module.display()))?;
    console::line(format_args!("the module has {bytes} bytes"));
    if bytes > MOST_BYTES {
        bail!("the module has {bytes} bytes; it may have {MOST_BYTES}");
    }
    Ok(package)
}

/// Runs the package's own tests.
pub(super) fn test(package: &Path) -> Result<()> {
    Job::new("node", "--test").argument(package.join("test.mjs").to_string_lossy()).run()
}
