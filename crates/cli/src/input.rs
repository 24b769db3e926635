//! What is read from disk: plans and the files that they import, within bounds.

use std::io::{self, Read};
use std::path::Path;
use std::sync::OnceLock;

use anyhow::{Context, Result, anyhow, bail};
use keyplan_database::{AnyStore, is_own};
use keyplan_plan::Compiled;
use keyplan_plan::load::ENOUGH;
use keyplan_plan::model::Plan;
use keyplan_report::files::{Files, Imports, read, reason};
use keyplan_report::findings::Previous;

use crate::render;

/// A plan file that was compiled, with the path under which a person knows it.
pub(crate) struct Loaded {
    /// As it was typed.
    pub(crate) path: String,
    /// What came of it.
    pub(crate) compiled: Compiled,
}

/// Which files a plan may import, as `--imports` says.
static IMPORTS: OnceLock<Imports> = OnceLock::new();

/// Settles for the whole run which files a plan may import.
pub(crate) fn allow(imports: Imports) {
    // It is settled once, before anything is read.
    let _ = IMPORTS.set(imports);
}

fn files() -> Files {
    Files::new(IMPORTS.get().copied().unwrap_or_default())
}

/// Reads and compiles a plan and what it imports.
///
/// `-` is standard input, whose imports are looked for from the current directory; a directory is a database, which has its
/// plan in it.
pub(crate) fn load(path: &str) -> Result<Loaded> {
    let compiled = if path == "-" {
        files().load_bytes("<stdin>", &bytes(path)?)
    } else if Path::new(path).is_dir() {
        if !is_own(Path::new(path)) {
            bail!("`{path}` is a directory: name a plan file, or the directory of a database of Keyplan");
        }
        AnyStore::recorded_plan(Path::new(path))?
    } else {
        files().load(path)?
    };
    Ok(Loaded { path: path.to_owned(), compiled })
}

/// The bytes of a plan file; `-` is standard input.
pub(crate) fn bytes(path: &str) -> Result<Vec<u8>> {
    if path == "-" {
        let mut bytes = Vec::new();
        io::stdin().lock().take(ENOUGH).read_to_end(&mut bytes).context("cannot read standard input")?;
        return Ok(bytes);
    }
    read(Path::new(path), ENOUGH).map_err(|error| anyhow!("cannot read `{path}`: {}", reason(&error)))
}

/// The earlier version of the plan at `current` that `typed` names: a file, `git:REV:PATH`, `git:REV` for the same path, or a
/// database, which has the plan inside that it was made with.
pub(crate) fn previous(typed: &str, current: &str, alone: bool) -> Result<Previous> {
    let Some(revision) = typed.strip_prefix("git:") else {
        let file = !Path::new(typed).is_dir();
        if file && !alone {
            bail!("`--against {typed}` is one plan and cannot be compared with several; `git:REV` can");
        }
        let Loaded { path, compiled } = load(typed)?;
        return Ok(Previous { path, file, compiled });
    };
    if let (Some((_, path)), false) = (revision.split_once(':'), alone) {
        bail!("`{typed}` names one plan, {path}, and cannot be compared with several");
    }
    Ok(Previous::at(revision, current)?)
}

/// The plan at `path`; if it does not compile, its mistakes are shown on standard error.
pub(crate) fn plan(path: &str) -> Result<Option<Plan>> {
    let loaded = load(path)?;
    if loaded.compiled.plan.is_none() {
        render::message(&render::findings(&loaded.compiled.sources, &loaded.compiled.diagnostics));
    }
    Ok(loaded.compiled.plan)
}

/// The plan at `path`, which must compile.
pub(crate) fn asked(path: &str) -> Result<Plan> {
    plan(path)?.ok_or_else(|| anyhow!("`{path}` does not compile"))
}
