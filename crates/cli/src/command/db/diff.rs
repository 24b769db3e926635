use std::io;

use anyhow::Result;
use keyplan_database::open;
use keyplan_plan::dynamic::Decoder;
use keyplan_report::diff::{Change, DiffError, diff, pairs_by_name, pairs_of_plan};

use super::{binding, plan_of};
use crate::args::db::RowFormat;
use crate::args::source::Diff;
use crate::command::Outcome;
use crate::interrupt;
use crate::render::{self, Output, Progress};

/// Compares two sources.
pub(super) fn run(args: &Diff, out: &mut Output) -> Result<Outcome> {
    let before = open(&args.before, args.height_a)?;
    let after = open(&args.after, args.height_b)?;
    let plan = plan_of(&args.reading, vec![after.plan, before.plan])?;
    let (before, after) = (&*before.source, &*after.source);
    let pairs = match &plan {
        Some(plan) => {
            pairs_of_plan(plan, &binding(&args.reading, plan, before)?, &binding(&args.reading, plan, after)?)
        }
        None => pairs_by_name(before, Some(after)),
    };
    let decoder = plan.as_ref().map(Decoder::new);
    let progress = Progress::rows("comparing");
    let mut shown = 0_u64;
    let print = |change: &Change<'_, '_>| -> io::Result<()> {
        shown += 1;
        if args.limit.is_some_and(|limit| shown > limit) {
            return Ok(());
        }
        match args.format {
            RowFormat::Text => out.text(&render::change(change)),
            RowFormat::Json => out.json(&render::change_json(change)?),
        }
    };
    let told = |rows| {
        progress.set(rows);
        interrupt::goes_on()
    };
    let summary = match diff(before, after, &pairs, decoder.as_ref(), print, told) {
        Err(DiffError::Taken(error)) => return Err(error.into()),
        Err(error @ DiffError::Stopped { .. }) => {
            out.flush()?;
            return Err(interrupt::ended(error));
        }
        done => done?,
    };
    progress.end();
    match args.format {
        RowFormat::Text => out.text(&render::differences(&summary))?,
        RowFormat::Json => out.json(&render::differences_json(&summary)?)?,
    }
    Ok(if summary.is_same() { Outcome::Clean } else { Outcome::Findings })
}
