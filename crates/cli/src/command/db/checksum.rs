use anyhow::Result;
use keyplan_database::{hex, open};
use keyplan_plan::dynamic::Decoder;
use keyplan_report::checksum::{ChecksumError, Query, checksum};
use keyplan_report::diff::{pairs_by_name, pairs_of_plan};

use super::{binding, plan_of};
use crate::args::db::RowFormat;
use crate::args::source::Checksum;
use crate::command::Outcome;
use crate::interrupt;
use crate::render::{self, Output, Progress};

/// Sums the rows of a source.
pub(super) fn run(args: &Checksum, out: &mut Output) -> Result<Outcome> {
    let opened = open(&args.source, None)?;
    let plan = plan_of(&args.reading, vec![opened.plan])?;
    let source = &*opened.source;
    let pairs = match &plan {
        Some(plan) => {
            let binding = binding(&args.reading, plan, source)?;
            pairs_of_plan(plan, &binding, &binding)
        }
        None => pairs_by_name(source, None),
    };
    let query = Query { prefix: hex(&args.prefix, "--prefix")?, depth: args.depth };
    let decoder = plan.as_ref().map(Decoder::new);
    let progress = Progress::rows("summing");
    let sums = checksum(source, &pairs, decoder.as_ref(), &query, |rows| {
        progress.set(rows);
        interrupt::goes_on()
    });
    let sums = match sums {
        Err(error @ ChecksumError::Stopped { .. }) => return Err(interrupt::ended(error)),
        done => done?,
    };
    progress.end();
    match args.format {
        RowFormat::Text => out.text(&render::checksums(&sums))?,
        RowFormat::Json => out.json(&render::checksums_json(&sums)?)?,
    }
    Ok(Outcome::Clean)
}
