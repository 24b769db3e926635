//! What is read from disk: plans and the files that they import, within bounds.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use anyhow::{Context, Result, bail};
use keyplan_plan::diag::{Code, Diagnostic, SourceMap, Span};
use keyplan_plan::model::Plan;
use keyplan_plan::{Compiled, compile};

use crate::render;

/// The largest plan file that is read.
const MAX_PLAN: u64 = 4 << 20;

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
    /// Bytes that are no plan: what could be read of them, and where that ends.
    Broken {
        /// The text before the fault.
        readable: String,
        /// What is wrong behind it.
        why: String,
    },
}

impl PlanText {
    /// Reads a plan from a stream.
    pub(crate) fn read(from: impl Read) -> io::Result<Self> {
        let mut bytes = Vec::new();
        from.take(MAX_PLAN + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MAX_PLAN {
            let why = format!("larger than a plan may be: over {} MiB", MAX_PLAN >> 20);
            return Ok(Self::Broken { readable: String::new(), why });
        }
        match String::from_utf8(bytes) {
            Ok(text) => Ok(Self::Whole(text)),
            Err(error) => {
                let offset = error.utf8_error().valid_up_to();
                let mut bytes = error.into_bytes();
                let byte = bytes.get(offset).copied().unwrap_or_default();
                bytes.truncate(offset);
                let why = format!("not UTF-8: byte {offset} is 0x{byte:02x}");
                Ok(Self::Broken { readable: String::from_utf8(bytes).unwrap_or_default(), why })
            }
        }
    }

    fn open(path: &Path) -> io::Result<Self> {
        Self::read(File::open(path)?)
    }
}

/// Reads and compiles a plan and what it imports.
pub(crate) fn load(path: &str) -> Result<Loaded> {
    let text = PlanText::open(Path::new(path)).with_context(|| format!("cannot read `{path}`"))?;
    Ok(Loaded { path: path.to_owned(), compiled: compiled(path, text) })
}

/// Compiles the text of a plan, whose imports are looked for on disk.
pub(crate) fn compiled(name: &str, text: PlanText) -> Compiled {
    match text {
        PlanText::Whole(text) => compile(name, &text, import),
        PlanText::Broken { readable, why } => {
            let mut sources = SourceMap::default();
            let end = u32::try_from(readable.len()).unwrap_or(u32::MAX);
            let file = sources.add(name, readable);
            let finding = Diagnostic::new(
                Code::UnreadableFile,
                format!("this is not a plan: {why}"),
                Span::new(file, end, end),
                "readable up to here",
            );
            Compiled { sources, plan: None, diagnostics: vec![finding] }
        }
    }
}

fn import(path: &str) -> Result<String, String> {
    match PlanText::open(Path::new(path)) {
        Ok(PlanText::Whole(text)) => Ok(text),
        Ok(PlanText::Broken { why, .. }) => Err(why),
        Err(error) => Err(error.to_string()),
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
