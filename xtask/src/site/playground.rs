//! The playground: a page around the package, and the plans to start from.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde_json::json;
use xtask::workspace;

use crate::job::Job;
use crate::tool::browser_packages;

/// Copies the page, the package and the plans.
pub(super) fn copy(package: &Path, to: &Path) -> Result<()> {
    super::copy_folder(&workspace::root().join("site/playground"), to)?;
    for file in ["keyplan.js", "keyplan.wasm"] {
        std::fs::copy(package.join(file), to.join(file))?;
    }
    let plans = to.join("plans");
    std::fs::create_dir_all(&plans)?;
    let mut index = Vec::new();
    for path in shown()? {
        let text = std::fs::read_to_string(&path)?;
        let name = path.strip_prefix(workspace::root().join("plans"))?.to_string_lossy().replace('/', "-");
        std::fs::write(plans.join(&name), &text)?;
        index.push(json!({ "file": name, "title": title(&path, &text) }));
    }
    let index = serde_json::to_vec_pretty(&index)?;
    std::fs::write(plans.join("index.json"), index).context("cannot write the list of plans")
}

/// The plans of one file: the page has no others to import from.
fn shown() -> Result<Vec<PathBuf>> {
    let mut all = workspace::plans()?;
    all.extend(workspace::files_in(&workspace::root().join("plans/gallery"), "keyplan")?);
    let mut alone = Vec::new();
    for path in all {
        let text = std::fs::read_to_string(&path)?;
        if !text.lines().any(|line| line.trim_start().starts_with("import ")) {
            alone.push(path);
        }
    }
    Ok(alone)
}

/// The first sentence of a plan's documentation, or its name.
fn title(path: &Path, text: &str) -> String {
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let first = text.lines().find_map(|line| line.strip_prefix("//!")).unwrap_or_default().trim();
    let sentence = first.split(". ").next().unwrap_or_default().trim_end_matches('.');
    if sentence.is_empty() { name } else { format!("{name}: {sentence}") }
}

/// Opens the playground in a real browser and uses it.
pub(super) fn test(site: &Path) -> Result<()> {
    let tools = browser_packages()?;
    let script = workspace::root().join("site/test/playground.mjs");
    Job::new("node", "")
        .argument(script.to_string_lossy())
        .variable("SITE", &site.to_string_lossy())
        .variable("TOOLS", &tools.to_string_lossy())
        .run()
}
