//! `keyplan doc`: a plan's reference.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::Outcome;
use super::fmt::replace;
use crate::args::Doc;
use crate::input;
use crate::render::{self, Output};

/// Writes the reference of a plan.
pub(crate) fn run(args: &Doc, out: &mut Output) -> Result<Outcome> {
    let Some(plan) = input::plan(&args.plan)? else { return Ok(Outcome::Findings) };
    let text = render::document(&plan);
    match &args.output {
        None => out.raw(text.as_bytes())?,
        Some(path) => {
            let written = if Path::new(path).exists() {
                replace(Path::new(path), &text)
            } else {
                fs::write(path, &text).map_err(Into::into)
            };
            written.with_context(|| format!("cannot write `{path}`"))?;
        }
    }
    Ok(Outcome::Clean)
}
