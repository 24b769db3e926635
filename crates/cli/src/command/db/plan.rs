//! `keyplan db plan`: the plan that a database was made with.

use anyhow::{Result, bail};
use keyplan_database::{AnyStore, is_own};
use keyplan_plan::notation::visible;

use crate::args::db::PlanText;
use crate::command::Outcome;
use crate::render::Output;

/// Prints the text of the plan, its own file first and then those that it imports.
pub(super) fn run(args: &PlanText, out: &mut Output) -> Result<Outcome> {
    if !is_own(&args.directory) && keyplan_sources::fits(&args.directory) {
        bail!("`{}` has no plan in it: it is another program's", args.directory.display());
    }
    let compiled = AnyStore::recorded_plan(&args.directory)?;
    let files = compiled.sources.files();
    for (index, file) in files.iter().enumerate() {
        if index > 0 {
            out.line(&format!("\n// {}", file.name))?;
        }
        out.raw(visible(&file.text).as_bytes())?;
    }
    Ok(Outcome::Clean)
}
