//! Where the project's files are, and what Cargo knows of its crates.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

/// The folder that holds everything.
pub fn root() -> &'static Path {
    let crate_root = Path::new(env!("CARGO_MANIFEST_DIR"));
    crate_root.parent().unwrap_or(crate_root)
}

/// A folder for files that need not outlive the run.
pub fn scratch() -> Result<PathBuf> {
    let folder = target()?.join("xtask");
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    Ok(folder)
}

/// The folder that Cargo builds into.
pub fn target() -> Result<PathBuf> {
    let metadata = metadata()?;
    let folder = metadata.get("target_directory").and_then(Value::as_str);
    Ok(PathBuf::from(folder.context("cargo metadata names no target folder")?))
}

/// The plan files, those of `plans/upstream` after the others, each in the order of their names.
pub fn plans() -> Result<Vec<PathBuf>> {
    let mut all = Vec::new();
    for folder in ["plans", "plans/upstream"] {
        all.extend(files_in(&root().join(folder), "keyplan")?);
    }
    Ok(all)
}

/// The files of a folder whose name ends so, in the order of their names; none if there is no such folder.
pub fn files_in(folder: &Path, extension: &str) -> Result<Vec<PathBuf>> {
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let path = entry?.path();
        if path.is_file() && path.extension().is_some_and(|found| found == extension) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// The path of a file as seen from the root, with `/` between folders.
pub fn relative(path: &Path) -> String {
    let inside = path.strip_prefix(root()).unwrap_or(path);
    let names: Vec<_> = inside.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    names.join("/")
}

/// Every file that belongs to the project: what Git tracks or would track.
pub fn files() -> Result<Vec<PathBuf>> {
    let output = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root())
        .output()
        .context("cannot run git")?;
    if !output.status.success() {
        bail!("git ls-files: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    let names = String::from_utf8(output.stdout).context("a file name that is not UTF-8")?;
    let paths = names.split('\0').filter(|name| !name.is_empty()).map(|name| root().join(name));
    Ok(paths.filter(|path| path.is_file()).collect())
}

/// The crates of the workspace, each with the crates of the workspace that it needs to be built.
pub fn dependencies() -> Result<BTreeMap<String, BTreeSet<String>>> {
    let metadata = metadata()?;
    let packages = list(&metadata, "packages");
    let members: BTreeSet<String> = packages.iter().map(name).collect();
    let needs = |package: &Value| -> BTreeSet<String> {
        // The kind is null for what is needed to build; "dev" and "build" are not about the crate's code.
        let normal = list(package, "dependencies").iter().filter(|one| one.get("kind") == Some(&Value::Null));
        normal.map(name).filter(|one| members.contains(one)).collect()
    };
    Ok(packages.iter().map(|package| (name(package), needs(package))).collect())
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn name(package: &Value) -> String {
    package.get("name").and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn metadata() -> Result<Value> {
    metadata_of(&["--no-deps"])
}

/// What `cargo metadata` says with these arguments.
pub fn metadata_of(arguments: &[&str]) -> Result<Value> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1"])
        .args(arguments)
        .current_dir(root())
        .output()
        .context("cannot run cargo metadata")?;
    if !output.status.success() {
        bail!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    serde_json::from_slice(&output.stdout).context("cargo metadata is not JSON")
}
