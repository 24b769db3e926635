//! Hashes, sorted sets, sets and queues, read through one interface wherever they are kept.

mod contents;
mod list;

use std::io;

use keyplan_plan::dynamic::{Decoded, Decoder, encode};
use keyplan_plan::model::{Family, Plan, Space};
use keyplan_plan::notation::Notation;
use keyplan_report::structure::{KINDS, Part, is_structured, kind};
use keyplan_store::structure::{Kind, QueueSize, StructureRead};

use crate::error::{Result, bail};
use crate::find;
use crate::scan::shared;
use crate::typed::{assignments, complete};

/// Something that is in a space of structures.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Listed<'a> {
    /// A key and how much it holds.
    Key {
        /// What it stands for.
        key: &'a Decoded<'a>,
        /// What it holds.
        kind: Kind,
        /// How many fields, members or items.
        size: u64,
    },
    /// A key that no family makes, or that holds something else than its family says.
    UnknownKey {
        /// The space.
        space: &'a str,
        /// What it holds.
        kind: Kind,
        /// The key.
        key: &'a [u8],
    },
    /// A field, member or item of a key.
    Part {
        /// What the key stands for.
        key: &'a Decoded<'a>,
        /// The thing.
        part: Part<'a>,
    },
    /// A field, member or item of a key that no family makes.
    UnknownPart {
        /// The space.
        space: &'a str,
        /// What the key holds.
        kind: Kind,
        /// The key.
        key: &'a [u8],
        /// The thing.
        part: Part<'a>,
    },
    /// How many items the queue has whose items follow.
    Queue(&'a QueueSize),
    /// There is more than was asked for.
    More,
    /// There is nothing under a key that was named.
    Nothing {
        /// What the key stands for.
        key: &'a Decoded<'a>,
        /// Its bytes.
        bytes: &'a [u8],
    },
}

/// Takes what is listed.
pub type Take<'a> = &'a mut dyn FnMut(Listed<'_>) -> io::Result<()>;

/// Refuses to write rows into a space whose rows are made by structures.
pub fn refuse_structured(plan: &Plan, space: usize, family: &Family) -> Result<()> {
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
#[derive(Clone, Copy, Debug)]
pub struct StructureQuery<'a> {
    /// Arguments of the family's key.
    pub values: &'a [String],
    /// Show no more than this many.
    pub limit: Option<usize>,
    /// From the last one.
    pub reverse: bool,
}

/// Lists what one key holds if all of its arguments are given, and else the keys of a scan with how much each holds;
/// false if a key was named that holds nothing.
pub fn scan(
    read: &dyn StructureRead,
    plan: &Plan,
    family: &str,
    query: &StructureQuery<'_>,
    take: Take<'_>,
) -> Result<bool> {
    let (index, family) = find::family(plan, family)?;
    let Some(space) = plan.spaces.get(index) else { return Ok(true) };
    let given = assignments(query.values)?;
    if given.len() == family.key.argument_count() && !declared(family, given.len()) {
        let key = Key::new(plan, space, family, &given)?;
        return contents::list(read, &key, query, take);
    }
    if query.reverse {
        bail!("keys are listed from the first on; `--rev` is for the members of one sorted set");
    }
    let (prefix, _) = shared(family, query.values)?;
    let keys = list::Keys { decoder: Decoder::new(plan), space: index, read };
    keys.list(&[kind(family.kind)], &prefix, Some(family), query, take)?;
    Ok(true)
}

/// Lists all keys of a space, or those that no family makes; how many there were.
pub fn scan_space(
    read: &dyn StructureRead,
    plan: &Plan,
    index: usize,
    unknown: bool,
    query: &StructureQuery<'_>,
    take: Take<'_>,
) -> Result<usize> {
    let keys = list::Keys { decoder: Decoder::new(plan), space: index, read };
    if unknown { keys.list_unknown(query, take) } else { keys.list(&KINDS, &[], None, query, take) }
}

/// Lists everything in a space: each field, member and item.
pub fn dump(read: &dyn StructureRead, plan: &Plan, index: usize, take: Take<'_>) -> Result<()> {
    let keys = list::Keys { decoder: Decoder::new(plan), space: index, read };
    keys.dump(take)
}

/// Lists what one key holds; false if it is nothing.
pub fn get(
    read: &dyn StructureRead,
    plan: &Plan,
    family: &str,
    values: &[String],
    take: Take<'_>,
) -> Result<bool> {
    let (index, family) = find::family(plan, family)?;
    let Some(space) = plan.spaces.get(index) else { return Ok(false) };
    let key = Key::new(plan, space, family, &assignments(values)?)?;
    contents::list(read, &key, &StructureQuery { values, limit: None, reverse: false }, take)
}

/// Whether the family claims a scan that binds this many arguments, and has keys with more.
fn declared(family: &Family, bound: usize) -> bool {
    bound < family.key.argument_count() && family.scan_by(bound).is_some()
}

/// A key of a family, as it was typed.
pub(super) struct Key<'p> {
    /// Its family and arguments.
    decoded: Decoded<'p>,
    /// Its bytes.
    bytes: Vec<u8>,
}

impl<'p> Key<'p> {
    fn new(plan: &Plan, space: &'p Space, family: &'p Family, given: &[(&str, &str)]) -> Result<Self> {
        let values = complete(Notation::of(plan), &family.key, given, &family.path)?;
        let mut bytes = Vec::new();
        encode(&family.key, &values, &mut bytes)?;
        Ok(Self { decoded: Decoded { space, family, values }, bytes })
    }
}
