//! What is read from disk: plans and the files that they import, within bounds.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use anyhow::{Result, anyhow, bail};
use keyplan_plan::diag::{Code, Diagnostic, FileId, SourceMap, Span};
use keyplan_plan::model::Plan;
use keyplan_plan::syntax::{MAX_SOURCE_BYTES, decode_source};
use keyplan_plan::{Compiled, compile};

use crate::render;

/// A plan file that was compiled, with the path under which a person knows it.
pub(crate) struct Loaded {
    /// As it was typed.
    pub(crate) path: String,
    /// What came of it.
    pub(crate) compiled: Compiled,
}

/// The text of a plan file, or why there is none to be had.
pub(crate) enum PlanText {
    /// The whole text.
    Whole(String),
    /// Bytes that are no plan.
    Broken {
        /// What could be read before the fault.
        readable: String,
        /// What is wrong, in file 0.
        why: Diagnostic,
    },
}

impl PlanText {
    /// Reads a plan from a stream, and no more of it than a plan may have.
    pub(crate) fn read(from: impl Read) -> io::Result<Self> {
        let mut bytes = Vec::new();
        from.take(MAX_SOURCE_BYTES as u64 + 1).read_to_end(&mut bytes)?;
        if bytes.len() > MAX_SOURCE_BYTES {
            let message = format!("the file is too large for a plan: over {} MiB", MAX_SOURCE_BYTES >> 20);
            let why = Diagnostic::new(Code::UnreadableFile, message, Span::default(), "")
                .with_help("split it into files and `import` the types they share");
            return Ok(Self::Broken { readable: String::new(), why });
        }
        if let Err(why) = decode_source(FileId(0), &bytes) {
            let readable = bytes.utf8_chunks().next().map_or(String::new(), |chunk| chunk.valid().to_owned());
            return Ok(Self::Broken { readable, why });
        }
        Ok(Self::Whole(String::from_utf8(bytes).unwrap_or_default()))
    }

    fn open(path: &Path) -> io::Result<Self> {
        Self::read(File::open(path)?)
    }
}

/// Reads and compiles a plan and what it imports.
pub(crate) fn load(path: &str) -> Result<Loaded> {
    Ok(Loaded { path: path.to_owned(), compiled: compiled(path, text(path)?) })
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
    let text =
        committed(revision, path).map_err(|why| anyhow!("cannot read `{path}` at `{revision}`: {why}"))?;
    let name = format!("git:{revision}:{path}");
    let compiled = compile(path, &text, |import| committed(revision, import));
    Ok(Previous { path: name, file: false, compiled })
}

/// A file as it was at a revision of the repository around the current directory.
fn committed(revision: &str, path: &str) -> Result<String, String> {
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
    match PlanText::read(shown.stdout.as_slice()) {
        Ok(PlanText::Whole(text)) => Ok(text),
        Ok(PlanText::Broken { why, .. }) => Err(why.message),
        Err(error) => Err(reason(&error)),
    }
}

/// Reads a plan's text.
pub(crate) fn text(path: &str) -> Result<PlanText> {
    PlanText::open(Path::new(path)).map_err(|error| anyhow!("cannot read `{path}`: {}", reason(&error)))
}

/// Compiles the text of a plan, whose imports are looked for on disk.
pub(crate) fn compiled(name: &str, text: PlanText) -> Compiled {
    match text {
        PlanText::Whole(text) => compile(name, &text, import),
        PlanText::Broken { readable, why } => {
            let mut sources = SourceMap::default();
            sources.add(name, readable);
            Compiled { sources, plan: None, diagnostics: vec![why] }
        }
    }
}

fn import(path: &str) -> Result<String, String> {
    match PlanText::open(Path::new(path)) {
        Ok(PlanText::Whole(text)) => Ok(text),
        Ok(PlanText::Broken { why, .. }) => Err(why.message),
        Err(error) => Err(reason(&error)),
    }
}

/// Why a file could not be read, in the words of its kind: what the system says differs from one to the next.
pub(crate) fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        io::ErrorKind::IsADirectory => "it is a directory".to_owned(),
        _ => error.to_string(),
    }
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
