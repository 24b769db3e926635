//! One row deleted, or the rows of a scan.

use keyplan_plan::dynamic::Value;
use keyplan_plan::model::{Family, FamilyKind, Plan};
use keyplan_report::structure::is_structured;
use keyplan_store::engine::Durability;
use keyplan_store::structure::{Command, Embedded, Reply, Structures};
use keyplan_store::{DeleteScan, Deleted};

use crate::any::AnyStore;
use crate::error::{Result, bail};
use crate::typed::{assignments, scan_of, scan_prefix, typed_key};
use crate::{Told, find};

/// What is to be deleted.
#[derive(Clone, Copy, Debug)]
pub struct DeleteQuery<'a> {
    /// The family.
    pub family: &'a str,
    /// Arguments of its key, `NAME=VALUE`: all of them, or those that the scan binds.
    pub values: &'a [String],
    /// Whether all rows of a scan are meant.
    pub scan: bool,
    /// Whether nothing is deleted.
    pub dry_run: bool,
}

/// What became of it.
#[derive(Clone, Debug, PartialEq)]
pub enum DeleteOutcome<'p> {
    /// Rows were deleted, or would be.
    Rows(Deleted),
    /// A key is gone that lay beside structures.
    BesideStructures,
    /// There is no such row.
    NoRow {
        /// The family.
        family: &'p Family,
        /// The arguments of the key.
        values: Vec<Value>,
        /// The key.
        key: Vec<u8>,
    },
}

/// Deletes a row, or the rows of a scan. `told` hears how many rows of a scan are gone, and may stop it between two steps.
pub fn delete<'p>(
    database: &AnyStore,
    plan: &'p Plan,
    query: &DeleteQuery<'_>,
    told: Told<'_>,
) -> Result<DeleteOutcome<'p>> {
    let (index, family) = find::family(plan, query.family)?;
    let Some(space) = plan.spaces.get(index) else { bail!("there is no such space") };
    let structured = is_structured(space);
    if structured && (query.scan || family.kind != FamilyKind::Key) {
        bail!(
            "`{}` holds structures: a program takes members and fields out of them, one by one",
            space.name
        );
    }
    if query.scan {
        return delete_scan(database, plan, index, family, query, told).map(DeleteOutcome::Rows);
    }
    let (key, values) = typed_key(plan, family, &assignments(query.values)?)?;
    if structured {
        if query.dry_run {
            bail!("`{}` holds structures: --dry-run is for rows and scans of plain keys", space.name);
        }
        let delete = [Command::Delete { key: &key }];
        let replies = on_engine!(database, store => {
            Embedded::open(store.clone(), space.engine_name())?.apply(&delete, Durability::SyncAll)?
        });
        return Ok(match replies.as_slice() {
            [Reply::Changed(true)] => DeleteOutcome::BesideStructures,
            _ => DeleteOutcome::NoRow { family, values, key },
        });
    }
    if database.get(space.engine_name(), &key)?.is_none() {
        return Ok(DeleteOutcome::NoRow { family, values, key });
    }
    if !query.dry_run {
        on_engine!(database, store => {
            let mut batch = store.batch()?;
            batch.delete(store.space(space.engine_name())?, key.as_slice());
            batch.commit(Durability::SyncAll)?;
        });
    }
    Ok(DeleteOutcome::Rows(Deleted { rows: 1, ..Deleted::default() }))
}

/// Deletes the rows of a declared scan.
fn delete_scan(
    database: &AnyStore,
    plan: &Plan,
    space: usize,
    family: &Family,
    query: &DeleteQuery<'_>,
    told: Told<'_>,
) -> Result<Deleted> {
    let given = assignments(query.values)?;
    if given.is_empty() && family.scan_by(0).is_none() {
        bail!("`{}` has no scan of all its rows, so they cannot be deleted as one", family.path);
    }
    let (prefix, _) = scan_prefix(family, &given)?;
    let Some(claim) = scan_of(family, &given) else {
        bail!("`{}` has no scan that binds just these arguments", family.path);
    };
    let scan = DeleteScan::new(plan, space, family, claim, prefix);
    on_engine!(database, store => Ok(scan.run(store, query.dry_run, told)?))
}
