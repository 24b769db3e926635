use std::ops::ControlFlow;

use anyhow::{Result, bail};
use keyplan_plan::model::{Family, FamilyKind, Plan, Space};
use keyplan_store::Access;
use keyplan_store::engine::Durability;
use keyplan_store::structure::{Command, Embedded, Reply, Structures};

use super::row::typed_key;
use super::scan::range;
use super::structure::is_structured;
use super::{Database, on_engine};
use crate::args::db::Delete;
use crate::command::encode::assignments;
use crate::command::{Outcome, find};
use crate::render::{self, Output, Progress};

/// How many rows of a scan go in one step.
const CHUNK: usize = 10_000;

/// Deletes a row, or the rows of a scan.
pub(super) fn run(args: &Delete, out: &mut Output) -> Result<Outcome> {
    let (database, plan) = Database::open(&args.target, Access::ReadWrite)?;
    let (index, family) = find::family(&plan, &args.family)?;
    let Some(space) = plan.spaces.get(index) else { return Ok(Outcome::Findings) };
    if is_structured(space) {
        return beside_structures(args, &database, &plan, space, family);
    }
    let space = space.engine_name();
    if args.scan {
        let (range, whole) = range(family, &args.values)?;
        if !whole {
            bail!("`{}` has no scan of all its rows, so they cannot be deleted as one", family.path);
        }
        let progress = Progress::rows("deleting");
        let gone = on_engine!(&database, store => {
            let told = |done| {
                progress.set(done);
                ControlFlow::Continue(())
            };
            store.delete_range(store.space(space)?, range.borrow(), CHUNK, Durability::SyncData, told)?
        });
        progress.end();
        out.line(&render::deleted(gone))?;
        return Ok(Outcome::Clean);
    }
    let (key, values) = typed_key(&plan, family, &assignments(&args.values)?)?;
    let found = on_engine!(&database, store => {
        let space = store.space(space)?;
        let found = store.snapshot()?.contains(space, &key)?;
        if found {
            let mut batch = store.batch()?;
            batch.delete(space, key.as_slice());
            batch.commit(Durability::SyncAll)?;
        }
        found
    });
    if !found {
        render::message(&render::no_row(family, &values, &key));
        return Ok(Outcome::Findings);
    }
    Ok(Outcome::Clean)
}

/// Deletes a plain key that stands beside structures.
fn beside_structures(
    args: &Delete,
    database: &Database,
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
