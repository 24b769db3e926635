//! `keyplan doc`: a plan's reference.

use std::path::Path;

use anyhow::Result;
use keyplan_plan::notation::visible;
use keyplan_report::output_file;
use keyplan_report::reference::reference;

use super::Outcome;
use crate::args::Doc;
use crate::input;
use crate::render::Output;

/// Writes the reference of a plan.
pub(crate) fn run(args: &Doc, out: &mut Output) -> Result<Outcome> {
    let Some(plan) = input::plan(&args.plan)? else { return Ok(Outcome::Findings) };
    let page = reference(&plan);
    let text = visible(&page);
    match &args.output {
        None => out.raw(text.as_bytes())?,
        Some(path) => output_file::write(Path::new(path), text.as_bytes())?,
    }
    Ok(Outcome::Clean)
}
