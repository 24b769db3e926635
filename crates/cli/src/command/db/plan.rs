//! `keyplan db plan`: the plan that a database was made with.

use anyhow::Result;
use keyplan_database::AnyStore;
use keyplan_plan::notation::visible;
use keyplan_report::plan_files;

use crate::args::db::PlanText;
use crate::command::Outcome;
use crate::render::{Output, message};

/// Prints the text of the plan's own file, or writes it to a folder with those that it imports.
pub(super) fn run(args: &PlanText, out: &mut Output) -> Result<Outcome> {
    let files = AnyStore::recorded_plan(&args.directory)?.sources;
    if let Some(folder) = &args.output {
        out.line(&plan_files::write(folder, &files)?.display().to_string())?;
    } else if let Some((own, imported)) = files.files().split_first() {
        out.raw(visible(&own.text).as_bytes())?;
        if !imported.is_empty() {
            message(&format!("not shown: {} imported files; -o FOLDER writes all of them\n", imported.len()));
        }
    }
    Ok(Outcome::Clean)
}
