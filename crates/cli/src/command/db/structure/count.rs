//! How much there is of each family.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use anyhow::{Result, bail};
use keyplan_plan::dynamic::Decoder;
use keyplan_plan::model::Plan;
use keyplan_store::structure::{Kind, ScoreRange, StructureError, StructureRead};
use keyplan_store::{Direction, Figures, SpaceFigures};

use super::{KINDS, kind};

/// How many things are counted between two looks at the progress.
const REPORT_EVERY: u64 = 10_000;

/// How many fields, members or items a key holds.
pub(super) fn size(read: &dyn StructureRead, kind: Kind, key: &[u8]) -> Result<u64, StructureError> {
    match kind {
        Kind::Value => Ok(1),
        Kind::Hash => read.hash_count(key),
        Kind::Set => read.set_count(key),
        Kind::Zset => read.zset_count(key),
        Kind::Queue => read.queue_size(key).map(|size| size.waiting + size.claimed + size.dead),
    }
}

/// What a space holds: keys, their members and bytes by family. Scores are not counted as bytes; items that workers hold
/// are counted, and their bytes are not.
pub(in super::super) fn figures(
    read: &dyn StructureRead,
    plan: &Plan,
    index: usize,
    mut progress: impl FnMut(u64) -> ControlFlow<()>,
) -> Result<(SpaceFigures, BTreeMap<String, u64>)> {
    let families = Decoder::new(plan);
    let mut figures = SpaceFigures::default();
    let mut members: BTreeMap<String, u64> = BTreeMap::new();
    let mut done = 0_u64;
    for held in KINDS {
        for key in read.keys(held, &[])? {
            let key = key?;
            let decoded = families.decode(index, &key).ok().filter(|read| kind(read.family.kind) == held);
            let mut counted = Figures { rows: 1, key_bytes: key.len() as u64, value_bytes: 0 };
            let mut inside = 0_u64;
            let mut add = |key: usize, value: usize| {
                inside += 1;
                counted.key_bytes += key as u64;
                counted.value_bytes += value as u64;
                done += 1;
                if done.is_multiple_of(REPORT_EVERY) { progress(done) } else { ControlFlow::Continue(()) }
            };
            if walk(read, held, &key, &mut add)?.is_break() {
                bail!("stopped after {done} rows");
            }
            if held == Kind::Queue {
                inside = size(read, held, &key)?;
            }
            let Some(decoded) = decoded else {
                add_to(&mut figures.unknown, counted);
                if figures.unknown_keys.len() < SpaceFigures::EXAMPLES {
                    figures.unknown_keys.push(key);
                }
                continue;
            };
            let path = &decoded.family.path;
            add_to(figures.families.entry(path.clone()).or_default(), counted);
            if held != Kind::Value {
                *members.entry(path.clone()).or_default() += inside;
            }
        }
    }
    Ok((figures, members))
}

/// Calls `each` with the lengths of everything under a key: a field and its value, or a member.
fn walk(
    read: &dyn StructureRead,
    kind: Kind,
    key: &[u8],
    each: &mut dyn FnMut(usize, usize) -> ControlFlow<()>,
) -> Result<ControlFlow<()>> {
    let lengths: Box<dyn Iterator<Item = Result<(usize, usize), StructureError>>> = match kind {
        Kind::Value => {
            let value = read.get(key)?.unwrap_or_default();
            Box::new(std::iter::once(Ok((0, value.len()))))
        }
        Kind::Hash => {
            Box::new(read.hash_all(key)?.map(|pair| pair.map(|(field, value)| (field.len(), value.len()))))
        }
        Kind::Set => Box::new(read.set_members(key)?.map(|member| member.map(|member| (member.len(), 0)))),
        Kind::Zset => {
            let rows = read.zset_rows(key, &ScoreRange::default(), Direction::Ascending, None)?;
            Box::new(rows.map(|scored| scored.map(|scored| (scored.member.len(), 0))))
        }
        Kind::Queue => {
            let waiting = usize::try_from(read.queue_size(key)?.waiting)?;
            let peeked =
                read.queue_peek(key, waiting)?.into_iter().map(|scored| Ok((scored.member.len(), 0)));
            let dead = read.queue_dead(key)?.map(|item| item.map(|item| (item.member.len(), 0)));
            Box::new(peeked.chain(dead))
        }
    };
    for length in lengths {
        let (key, value) = length?;
        if each(key, value).is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    Ok(ControlFlow::Continue(()))
}

fn add_to(sum: &mut Figures, more: Figures) {
    sum.rows += more.rows;
    sum.key_bytes = sum.key_bytes.saturating_add(more.key_bytes);
    sum.value_bytes = sum.value_bytes.saturating_add(more.value_bytes);
}
