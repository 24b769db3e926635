//! Hashes, sorted sets, sets and queues, read through one interface wherever they are kept.

mod contents;
mod flaws;
mod list;

use anyhow::{Result, bail};
use keyplan_plan::dynamic::{Decoded, Decoder, encode};
use keyplan_plan::model::{Family, Plan, Space};
pub(crate) use keyplan_report::structure::is_structured;
use keyplan_report::structure::{KINDS, kind};
use keyplan_store::structure::StructureRead;

pub(super) use self::flaws::{Queues, verify};

use super::super::encode::{assignments, complete};
use super::super::{Outcome, find};
use super::scan::shared;
use crate::args::db::RowFormat;
use crate::render::{Notation, Output};

/// Refuses to write rows into a space whose rows are made by structures.
pub(super) fn refuse_structured(plan: &Plan, space: usize, family: &Family) -> Result<()> {
    if plan.spaces.get(space).is_some_and(is_structured) {
        bail!(
            "`{}` lies in a space of hashes, sorted sets, sets or queues: rows of it are written by a program, through \
             `keyplan_store::structure`",
            family.path
        );
    }
    Ok(())
}

/// What is asked of a structured space.
#[derive(Clone, Copy)]
pub(super) struct Query<'a> {
    /// Arguments of the family's key.
    pub(super) values: &'a [String],
    /// Show no more than this many.
    pub(super) limit: Option<usize>,
    /// From the last one.
    pub(super) reverse: bool,
    /// How to print.
    pub(super) format: RowFormat,
}

/// Prints what one key holds if all of its arguments are given, and else the keys of a scan with how much each holds.
pub(super) fn scan(
    read: &dyn StructureRead,
    plan: &Plan,
    family: &str,
    query: &Query<'_>,
    out: &mut Output,
) -> Result<Outcome> {
    let (index, family) = find::family(plan, family)?;
    let Some(space) = plan.spaces.get(index) else { return Ok(Outcome::Clean) };
    let given = assignments(query.values)?;
    if given.len() == family.key.argument_count() && !declared(family, given.len()) {
        let key = Key::new(plan, space, family, &given)?;
        return contents::print(read, &key, query, out);
    }
    if query.reverse {
        bail!("keys are listed from the first on; `--rev` is for the members of one sorted set");
    }
    let (prefix, _) = shared(family, query.values)?;
    let keys = list::Keys { decoder: Decoder::new(plan), space: index, read };
    keys.print(&[kind(family.kind)], &prefix, Some(family), query, out)?;
    Ok(Outcome::Clean)
}

/// Prints all keys of a space, or those that no family makes; how many were printed.
pub(super) fn scan_space(
    read: &dyn StructureRead,
    plan: &Plan,
    index: usize,
    unknown: bool,
    query: &Query<'_>,
    out: &mut Output,
) -> Result<usize> {
    let keys = list::Keys { decoder: Decoder::new(plan), space: index, read };
    if unknown { keys.print_unknown(query, out) } else { keys.print(&KINDS, &[], None, query, out) }
}

/// Prints everything in a space, an object for each field, member and item.
pub(super) fn dump(read: &dyn StructureRead, plan: &Plan, index: usize, out: &mut Output) -> Result<Outcome> {
    let keys = list::Keys { decoder: Decoder::new(plan), space: index, read };
    keys.dump(out)
}

/// Prints what one key holds.
pub(super) fn get(
    read: &dyn StructureRead,
    plan: &Plan,
    family: &str,
    values: &[String],
    format: RowFormat,
    out: &mut Output,
) -> Result<Outcome> {
    let (index, family) = find::family(plan, family)?;
    let Some(space) = plan.spaces.get(index) else { return Ok(Outcome::Findings) };
    let key = Key::new(plan, space, family, &assignments(values)?)?;
    contents::print(read, &key, &Query { values, limit: None, reverse: false, format }, out)
}

/// Whether the family claims a scan that binds this many arguments, and has keys with more.
fn declared(family: &Family, bound: usize) -> bool {
    bound < family.key.argument_count() && family.scan_by(bound).is_some()
}

/// A key of a family, as it was typed.
pub(super) struct Key<'p> {
    /// Its family and arguments.
    pub(super) decoded: Decoded<'p>,
    /// Its bytes.
    pub(super) bytes: Vec<u8>,
}

impl<'p> Key<'p> {
    fn new(plan: &Plan, space: &'p Space, family: &'p Family, given: &[(&str, &str)]) -> Result<Self> {
        let values = complete(Notation::of(plan), &family.key, given, &family.path)?;
        let mut bytes = Vec::new();
        encode(&family.key, &values, &mut bytes)?;
        Ok(Self { decoded: Decoded { space, family, values }, bytes })
    }
}
