//! `keyplan fmt`: plans in their one form.

use std::path::Path;

use anyhow::Result;
use keyplan_plan::diag::{Diagnostic, FileId, SourceMap};
use keyplan_plan::syntax::{decode_source, format};
use keyplan_report::output_file;

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
            output_file::write(Path::new(path), formatted.as_bytes())?;
            out.line(&render::formatted(path))?;
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
