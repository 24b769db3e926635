//! The package for JavaScript: the module of WebAssembly, and functions around it.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use xtask::archive::checksum;
use xtask::workspace;

use crate::console;
use crate::job::Job;
use crate::tool::{Tool, wasm_opt};

const TARGET: &str = "wasm32-unknown-unknown";

/// The most bytes that the module may have before somebody looks into it: a page that loads it should be there at once.
const MOST_BYTES: usize = 1_420_000;

/// What engines of WebAssembly have had since 2021, and the compiler takes for granted.
const ENGINE: &str = "--enable-bulk-memory --enable-bulk-memory-opt --enable-sign-ext --enable-mutable-globals \
    --enable-nontrapping-float-to-int --enable-reference-types --enable-multivalue --enable-call-indirect-overlong";

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
    let small = smaller(&module)?;
    let bytes = small.len();
    std::fs::write(package.join("keyplan.wasm"), small)?;
    console::line(format_args!("the module has {bytes} bytes"));
    if bytes > MOST_BYTES {
        bail!("the module has {bytes} bytes; it may have {MOST_BYTES}");
    }
    Ok(package)
}

/// The module as small as Binaryen makes it. That takes half a minute, and is done once for the same bytes.
fn smaller(module: &Path) -> Result<Vec<u8>> {
    let bytes = std::fs::read(module).with_context(|| format!("cannot read {}", module.display()))?;
    let folder = workspace::scratch()?.join("small");
    let kept = folder.join(format!("{}.wasm", checksum(&bytes)));
    if !kept.exists() {
        let optimiser = wasm_opt()?;
        super::fresh(&folder)?;
        let made = folder.join("made.wasm");
        optimiser
            .arguments(ENGINE)
            .arguments("-Oz --strip-producers --strip-target-features")
            .argument(module.to_string_lossy())
            .argument("-o")
            .argument(made.to_string_lossy())
            .run()?;
        std::fs::rename(&made, &kept)?;
    }
    std::fs::read(&kept).with_context(|| format!("cannot read {}", kept.display()))
}

/// Runs the package's own tests.
pub(super) fn test(package: &Path) -> Result<()> {
    Job::new("node", "--test").argument(package.join("test.mjs").to_string_lossy()).run()
}
