//! `keyplan db backup`: a copy of a database as it is now.

use anyhow::{Context as _, Result};
use keyplan_database::on_engine;
use keyplan_plan::diag::grouped;
use keyplan_store::Access;

use super::opened;
use crate::args::db::Backup;
use crate::command::Outcome;
use crate::render::Output;

/// Copies a database, or brings an earlier copy up to date.
pub(super) fn run(args: &Backup, out: &mut Output) -> Result<Outcome> {
    let (database, _) = opened(&args.target, Access::ReadOnly)?;
    let failed = || format!("cannot back up to `{}`", args.into.display());
    let done = on_engine!(&database, store => store.backup(&args.into).with_context(failed)?);
    out.line(&format!(
        "`{}` has {} rows: {} written, {} deleted",
        args.into.display(),
        grouped(done.rows),
        grouped(done.written),
        grouped(done.deleted)
    ))?;
    Ok(Outcome::Clean)
}
