//! `keyplan fmt`: plans in the one format.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, anyhow};
use keyplan_plan::diag::{Diagnostic, FileId, SourceMap};
use keyplan_plan::syntax::{decode_source, format};

use super::Outcome;
use crate::args::Fmt;
use crate::input;
use crate::render::{self, Output};

/// Formats plans, or shows what would change.
pub(crate) fn run(args: &Fmt, out: &mut Output) -> Result<Outcome> {
    let mut outcome = Outcome::Clean;
    for path in &args.plans {
        let bytes = input::bytes(path)?;
        let text = match decode_source(FileId(0), &bytes) {
            Ok(text) => text,
            Err(why) => {
                let readable = bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid());
                refuse(path, readable, &[why]);
                outcome = Outcome::Findings;
                continue;
            }
        };
        let formatted = match format(text) {
            Ok(formatted) => formatted,
            Err(diagnostics) => {
                refuse(path, text, &diagnostics);
                outcome = Outcome::Findings;
                continue;
            }
        };
        if args.check {
            if text != formatted {
                out.text(&render::difference(path, text, &formatted))?;
                outcome = Outcome::Findings;
            }
        } else if path == "-" {
            out.raw(formatted.as_bytes())?;
        } else if text != formatted {
            replace(Path::new(path), &formatted).with_context(|| format!("cannot write `{path}`"))?;
        }
    }
    Ok(outcome)
}

fn refuse(path: &str, text: &str, diagnostics: &[Diagnostic]) {
    let name = if path == "-" { "standard input" } else { path };
    let mut sources = SourceMap::default();
    sources.add(name, text);
    render::message(&render::findings(&sources, diagnostics));
}

/// Writes a file whole, in one step if it is there already.
pub(crate) fn write(path: &str, text: &str) -> Result<()> {
    if Path::new(path).exists() {
        replace(Path::new(path), text)
    } else {
        fs::write(path, text).map_err(Into::into)
    }
}

/// Replaces a file in one step: whoever reads it sees the old text or the new one, whatever happens in between.
pub(crate) fn replace(path: &Path, text: &str) -> Result<()> {
    // Behind a link it is the file itself that changes.
    let target = fs::canonicalize(path)?;
    let name = target.file_name().ok_or_else(|| anyhow!("it has no name"))?.to_string_lossy();
    let temporary = target.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
    let written = write_beside(&temporary, &target, text);
    if written.is_err() {
        // The first error is the one to tell.
        let _ = fs::remove_file(&temporary);
    }
    written
}

fn write_beside(temporary: &Path, target: &Path, text: &str) -> Result<()> {
    let mut file = File::create_new(temporary)?;
    file.set_permissions(fs::metadata(target)?.permissions())?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(temporary, target)?;
    Ok(())
}
