//! `keyplan db delete`: one row, or the rows of a scan.

use anyhow::{Result, bail};
use keyplan_database::typed::{assignments, scan_prefix, typed_key};
use keyplan_database::{AnyStore, find, on_engine};
use keyplan_plan::model::{Family, FamilyKind, Plan, Space};
use keyplan_report::structure::is_structured;
use keyplan_store::engine::Durability;
use keyplan_store::structure::{Command, Embedded, Reply, Structures};
use keyplan_store::{Access, DeleteScan, Deleted};

use super::opened;
use crate::args::db::Delete;
use crate::command::Outcome;
use crate::interrupt;
use crate::render::{self, Output, Progress};

/// Deletes a row, or the rows of a scan.
pub(super) fn run(args: &Delete, out: &mut Output) -> Result<Outcome> {
    let access = if args.dry_run { Access::ReadOnly } else { Access::ReadWrite };
    let (database, plan) = opened(&args.target, access)?;
    let (index, family) = find::family(&plan, &args.family)?;
    let Some(space) = plan.spaces.get(index) else { return Ok(Outcome::Findings) };
    if is_structured(space) {
        return beside_structures(args, &database, &plan, space, family);
    }
    if args.scan {
        let gone = scanned(args, &database, &plan, index, family)?;
        out.line(&render::deleted(&gone, args.dry_run))?;
        return Ok(Outcome::Clean);
    }
    let (key, values) = typed_key(&plan, family, &assignments(&args.values)?)?;
    let found = database.get(space.engine_name(), &key)?.is_some();
    if !found {
        render::message(&render::no_row(family, &values, &key));
        return Ok(Outcome::Findings);
    }
    if !args.dry_run {
        on_engine!(&database, store => {
            let mut batch = store.batch()?;
            batch.delete(store.space(space.engine_name())?, key.as_slice());
            batch.commit(Durability::SyncAll)?;
        });
    }
    out.line(&render::deleted(&Deleted { rows: 1, ..Deleted::default() }, args.dry_run))?;
    Ok(Outcome::Clean)
}

/// Deletes the rows of a declared scan.
fn scanned(
    args: &Delete,
    database: &AnyStore,
    plan: &Plan,
    space: usize,
    family: &Family,
) -> Result<Deleted> {
    let given = assignments(&args.values)?;
    if given.is_empty() && family.scan_by(0).is_none() {
        bail!("`{}` has no scan of all its rows, so they cannot be deleted as one", family.path);
    }
    let (prefix, values) = scan_prefix(family, &given)?;
    let scan = DeleteScan::new(plan, space, family, values.len(), prefix);
    let progress = Progress::rows(if args.dry_run { "counting" } else { "deleting" });
    let told = |rows| {
        progress.set(rows);
        interrupt::goes_on()
    };
    let deleted = on_engine!(database, store => scan.run(store, args.dry_run, told)?);
    if deleted.stopped {
        bail!("interrupted: {} rows are gone, and the same command deletes the rest", deleted.rows);
    }
    progress.end();
    Ok(deleted)
}

/// Deletes a plain key that lies beside structures.
fn beside_structures(
    args: &Delete,
    database: &AnyStore,
    plan: &Plan,
    space: &Space,
    family: &Family,
) -> Result<Outcome> {
    if args.scan || family.kind != FamilyKind::Key {
        bail!(
            "`{}` holds structures: a program takes members and fields out of them, one by one",
            space.name
        );
    }
    let (key, values) = typed_key(plan, family, &assignments(&args.values)?)?;
    if args.dry_run {
        bail!("`{}` holds structures: --dry-run is for rows and scans of plain keys", space.name);
    }
    let delete = [Command::Delete { key: &key }];
    let replies = on_engine!(database, store => {
        Embedded::open(store.clone(), space.engine_name())?.apply(&delete, Durability::SyncAll)?
    });
    if replies == [Reply::Changed(true)] {
        return Ok(Outcome::Clean);
    }
    render::message(&render::no_row(family, &values, &key));
    Ok(Outcome::Findings)
}
