//! `keyplan db delete`: one row, or the rows of a scan.

use anyhow::{Result, bail};
use keyplan_database::{DeleteOutcome, DeleteQuery, delete};
use keyplan_store::Access;

use super::opened;
use crate::args::db::Delete;
use crate::command::Outcome;
use crate::interrupt;
use crate::render::{self, Output, Progress};

/// Deletes a row, or the rows of a scan.
pub(super) fn run(args: &Delete, out: &mut Output) -> Result<Outcome> {
    let access = if args.dry_run { Access::ReadOnly } else { Access::ReadWrite };
    let (database, plan) = opened(&args.target, access)?;
    let (family, values) = (args.family.as_str(), args.values.as_slice());
    let query = DeleteQuery { family, values, scan: args.scan, dry_run: args.dry_run };
    let progress = Progress::rows(if args.dry_run { "counting" } else { "deleting" });
    let mut told = |rows| {
        progress.set(rows);
        interrupt::goes_on()
    };
    match delete(&database, &plan, &query, &mut told)? {
        DeleteOutcome::Rows(gone) if gone.stopped => {
            bail!("interrupted: {} rows are gone, and the same command deletes the rest", gone.rows);
        }
        DeleteOutcome::Rows(gone) => {
            progress.end();
            out.line(&render::deleted(&gone, args.dry_run))?;
        }
        DeleteOutcome::BesideStructures => {}
        DeleteOutcome::NoRow { family, values, key } => {
            progress.end();
            render::message(&render::no_row(family, &values, &key));
            return Ok(Outcome::Findings);
        }
    }
    Ok(Outcome::Clean)
}
