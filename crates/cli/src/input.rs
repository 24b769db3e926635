//! What is read from disk: plans and the files that they import, within bounds.

use std::io::{self, Read};
use std::path::Path;
use std::sync::OnceLock;

use anyhow::{Context, Result, anyhow, bail};
use keyplan_plan::Compiled;
use keyplan_plan::load::ENOUGH;
use keyplan_plan::model::Plan;
pub(crate) use keyplan_report::files::reason;
use keyplan_report::files::{Files, Imports, read};

use crate::command::Database;
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
        Database::recorded_plan(Path::new(path))?
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

/// An earlier version of a plan.
pub(crate) struct Previous {
    /// What a person calls it.
    pub(crate) path: String,
    /// Whether it is a file, so that commands can name it.
    pub(crate) file: bool,
    /// What came of it.
    pub(crate) compiled: Compiled,
}

/// The earlier version of the plan at `current` that `typed` names: a file, `git:REV:PATH`, or `git:REV` for the same path.
pub(crate) fn previous(typed: &str, current: &str, alone: bool) -> Result<Previous> {
    let Some(revision) = typed.strip_prefix("git:") else {
        if !alone {
            bail!("`--against {typed}` is one plan and cannot be compared with several; `git:REV` can");
        }
        let Loaded { path, compiled } = load(typed)?;
        return Ok(Previous { path, file: true, compiled });
    };
    let (revision, path) = match revision.split_once(':') {
        Some((_, path)) if !alone => {
            bail!("`{typed}` names one plan, {path}, and cannot be compared with several")
        }
        Some(both) => both,
        None => (revision, current),
    };
    let compiled = keyplan_plan::load::load(path, |path| committed(revision, path))
        .map_err(|why| anyhow!("cannot read `{path}` at `{revision}`: {why}"))?;
    let name = format!("git:{revision}:{path}");
    Ok(Previous { path: name, file: false, compiled })
}

/// A file as it was at a revision of the repository around the current directory.
fn committed(revision: &str, path: &str) -> Result<Vec<u8>, String> {
    let place = if Path::new(path).is_absolute() { path.to_owned() } else { format!("./{path}") };
    let shown = std::process::Command::new("git")
        .args(["show", "--end-of-options", &format!("{revision}:{place}")])
        .output()
        .map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => "`git` is not installed".to_owned(),
            _ => error.to_string(),
        })?;
    if !shown.status.success() {
        let said = String::from_utf8_lossy(&shown.stderr);
        return Err(said.lines().next().unwrap_or_default().trim_start_matches("fatal: ").to_owned());
    }
    Ok(shown.stdout)
}

/// The plan at `path`; if it has no meaning, its mistakes are shown on standard error.
pub(crate) fn plan(path: &str) -> Result<Option<Plan>> {
    let loaded = load(path)?;
    if loaded.compiled.plan.is_none() {
        render::message(&render::findings(&loaded.compiled.sources, &loaded.compiled.diagnostics));
    }
    Ok(loaded.compiled.plan)
}

/// The index of the space called `name`, by its own name or the engine's.
pub(crate) fn space(plan: &Plan, name: &str) -> Result<usize> {
    let found = plan.spaces.iter().position(|space| space.name == name || space.engine_name() == name);
    let Some(found) = found else {
        let names: Vec<&str> = plan.spaces.iter().map(|space| space.name.as_str()).collect();
        bail!("plan `{}` has no space `{name}`; it has: {}", plan.name, names.join(", "));
    };
    Ok(found)
}
