//! `keyplan db copy`: a database on another engine, or in another place.

use anyhow::Result;
use keyplan_database::{AnyStore, on_engine, shown};
use keyplan_store::{Access, StoreError, compare_copy, copy_rows, refuse_uncopied};

use crate::args::db::Copy;
use crate::command::Outcome;
use crate::render::{self, Output, Progress};

/// Copies, and compares.
pub(super) fn run(args: &Copy, out: &mut Output) -> Result<Outcome> {
    let (source, _) = AnyStore::open(&args.source, Access::ReadOnly)?;
    let meta = source.meta().ok_or(StoreError::NoPlan)?;
    refuse_uncopied(meta)?;
    let target = AnyStore::create(&args.target, args.engine, &meta.schema())?;
    let progress = Progress::rows("copying");
    let copied = on_engine!(&source, from => on_engine!(&target, to => copy_rows(from, to, |rows| progress.set(rows))))?;
    progress.end();
    let progress = Progress::rows("comparing");
    let rows = on_engine!(&source, from => on_engine!(&target, to => compare_copy(from, to, |rows| progress.set(rows))))?;
    progress.end();
    on_engine!(&target, store => store.shutdown(std::time::Duration::from_mins(10)))?;
    out.text(&render::copied(&rows, copied, target.engine_name(), &shown(&args.target)))?;
    Ok(Outcome::Clean)
}
