//! `keyplan db delete`: one row, or the rows of a scan.

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use keyplan_plan::dynamic::{Decoded, Decoder};
use keyplan_plan::model::{Family, FamilyKind, Plan, Space};
use keyplan_store::engine::{Batch, Durability, Engine, OwnedKeyRange};
use keyplan_store::structure::{Command, Embedded, Reply, Structures};
use keyplan_store::{Access, Store};

use super::row::typed_key;
use super::structure::is_structured;
use super::{Database, on_engine};
use crate::args::db::Delete;
use crate::command::encode::{assignments, scan_prefix};
use crate::command::{Outcome, find};
use crate::interrupt;
use crate::render::{self, Output, Progress};

/// How many rows of a scan are looked at in one step.
const CHUNK: usize = 10_000;

/// Deletes a row, or the rows of a scan.
pub(super) fn run(args: &Delete, out: &mut Output) -> Result<Outcome> {
    let access = if args.dry_run { Access::ReadOnly } else { Access::ReadWrite };
    let (database, plan) = Database::open(&args.target, access)?;
    let (index, family) = find::family(&plan, &args.family)?;
    let Some(space) = plan.spaces.get(index) else { return Ok(Outcome::Findings) };
    if is_structured(space) {
        return beside_structures(args, &database, &plan, space, family);
    }
    if args.scan {
        let scan = Scan::new(&plan, index, family, &args.values)?;
        let gone = on_engine!(&database, store => scan.delete(store, args.dry_run)?);
        out.line(&render::deleted(&gone, args.dry_run))?;
        return Ok(Outcome::Clean);
    }
    let (key, values) = typed_key(&plan, family, &assignments(&args.values)?)?;
    let found = on_engine!(&database, store => {
        let space = store.space(space.engine_name())?;
        let found = store.snapshot()?.contains(space, &key)?;
        if found && !args.dry_run {
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
    out.line(&render::deleted(&Deleted { rows: 1, ..Deleted::default() }, args.dry_run))?;
    Ok(Outcome::Clean)
}

/// What became of the rows of a scan.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Deleted {
    /// How many were deleted.
    pub(crate) rows: u64,
    /// How many of others were met and kept, by their family.
    pub(crate) kept: BTreeMap<String, u64>,
}

/// A declared scan with its arguments.
struct Scan<'p> {
    decoder: Decoder<'p>,
    space: usize,
    family: &'p Family,
    /// What the plan says of it.
    claim: Option<&'p keyplan_plan::model::Scan>,
    prefix: Vec<u8>,
}

impl<'p> Scan<'p> {
    fn new(plan: &'p Plan, space: usize, family: &'p Family, typed: &[String]) -> Result<Self> {
        let given = assignments(typed)?;
        if given.is_empty() && family.scan_by(0).is_none() {
            bail!("`{}` has no scan of all its rows, so they cannot be deleted as one", family.path);
        }
        let (prefix, _) = scan_prefix(family, &given)?;
        let names: Vec<&str> = given.iter().map(|(name, _)| *name).collect();
        let claim = family.scan_named(&names).or_else(|| family.scan_by(given.len()));
        Ok(Self { decoder: Decoder::new(plan), space, family, claim, prefix })
    }

    /// Deletes the rows that are the family's and have these arguments, however they are read. A flaw that the plan accepts
    /// may bring others into the range: they are counted and kept.
    fn delete<E: Engine>(&self, store: &Store<E>, dry_run: bool) -> Result<Deleted> {
        let name = self.decoder.plan().spaces.get(self.space).map_or("", |space| space.engine_name());
        let space = store.space(name)?;
        let progress = Progress::rows(if dry_run { "counting" } else { "deleting" });
        let mut deleted = Deleted::default();
        let mut rest = OwnedKeyRange::prefix(&self.prefix);
        loop {
            // A snapshot for each step, so that none is held for long and no deleted row is walked over again.
            let snapshot = store.snapshot()?;
            let mut batch = Batch::<E>::new();
            let mut last = None;
            for row in snapshot.range(space, rest.borrow())?.take(CHUNK) {
                let (key, _) = row?;
                match self.stranger(&key) {
                    None => batch.delete(space, &key[..]),
                    Some(of) => *deleted.kept.entry(of).or_default() += 1,
                }
                last = Some(key);
            }
            let Some(last) = last else { break };
            rest = rest.after(&last);
            deleted.rows += u64::try_from(batch.len()).unwrap_or(u64::MAX);
            if !dry_run {
                store.commit(batch, Durability::SyncData)?;
            }
            progress.set(deleted.rows);
            if interrupt::came() {
                bail!("interrupted: {} rows are gone, and the same command deletes the rest", deleted.rows);
            }
        }
        progress.end();
        Ok(deleted)
    }

    /// Whose row a key is, unless every reading of it is a row of this scan.
    fn stranger(&self, key: &[u8]) -> Option<String> {
        let Ok(found) = self.decoder.decode_all(self.space, key, 4) else {
            return Some("keys of no family".to_owned());
        };
        let other = found.readings.iter().find(|read| !self.is_own(read));
        other.map(|read| read.family.path.clone())
    }

    fn is_own(&self, read: &Decoded<'_>) -> bool {
        let Some(claim) = self.claim else { return false };
        let (key, mut bytes) = (&self.family.key, Vec::new());
        read.family.path == self.family.path
            && claim
                .values_of(key, &read.values)
                .is_some_and(|values| claim.write(key, &values, &mut bytes).is_ok() && bytes == self.prefix)
    }
}

/// Deletes a plain key that lies beside structures.
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
