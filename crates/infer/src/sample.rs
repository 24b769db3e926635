//! Keys of a space that stand for all of them, within a fixed amount of memory.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use keyplan_store::Direction;
use keyplan_store::engine::{KeyRange, SpaceId};
use keyplan_store::source::View;

use crate::InferError;

/// How many keys of a space are kept by chance, besides those that are rare.
const BY_CHANCE: usize = 20_000;
/// How many keys of each rare kind are kept.
const OF_A_KIND: u32 = 6;
/// How many kinds are told apart.
const KINDS: usize = 4_096;
/// How many bytes of keys are kept of all spaces together.
pub(crate) const BYTES: usize = 48 << 20;
/// The longest key that is looked at.
pub(crate) const LONGEST: usize = 4_096;
/// The longest value that is kept.
const VALUE: usize = 512;
/// How many rows are read between two looks at the progress.
pub(crate) const REPORT_EVERY: u64 = 10_000;

/// Keys of one space, and how many there are.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sample {
    /// Keys with their values, if those were asked for and are short.
    pub(crate) rows: BTreeMap<Vec<u8>, Option<Vec<u8>>>,
    pub(crate) keys: u64,
    pub(crate) bytes: u64,
    /// Keys of more than [`LONGEST`] bytes.
    pub(crate) too_long: u64,
}

impl Sample {
    /// Whether every key is in it.
    pub(crate) fn is_whole(&self) -> bool {
        u64::try_from(self.rows.len()).is_ok_and(|kept| kept == self.keys)
    }

    pub(crate) fn keys(&self) -> Vec<&[u8]> {
        self.rows.keys().map(Vec::as_slice).collect()
    }
}

/// Reads all keys of a space once and keeps some.
pub(crate) fn sample(
    view: &dyn View,
    space: SpaceId,
    most_bytes: usize,
    with_values: bool,
    progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<Sample, InferError> {
    let mut sample = Sample::default();
    let mut kinds: BTreeMap<(Vec<u8>, usize), u32> = BTreeMap::new();
    let mut chosen: Vec<Vec<u8>> = Vec::new();
    let mut rare: BTreeSet<Vec<u8>> = BTreeSet::new();
    let mut kept = 0_usize;
    let mut random = Random(0x6b65_7970_6c61_6e21);
    let mut walk = view.walk(space, KeyRange::ALL, Direction::Ascending)?;
    while let Some(row) = walk.next()? {
        sample.keys += 1;
        sample.bytes += u64::try_from(row.key.len()).unwrap_or(u64::MAX);
        if sample.keys.is_multiple_of(REPORT_EVERY) && progress(sample.keys).is_break() {
            return Err(InferError::Stopped { rows: sample.keys });
        }
        if row.key.len() > LONGEST {
            sample.too_long += 1;
            continue;
        }
        let value = || (with_values && row.value.len() <= VALUE).then(|| row.value.to_vec());
        let size = row.key.len() + if with_values { row.value.len().min(VALUE) } else { 0 };
        let kind = (row.key.iter().take(3).copied().collect(), row.key.len().min(128));
        let full = kinds.len() >= KINDS;
        let seen = match kinds.get_mut(&kind) {
            Some(seen) => Some(seen),
            None if full => None,
            None => Some(kinds.entry(kind).or_default()),
        };
        if let Some(seen) = seen.filter(|seen| **seen < OF_A_KIND)
            && kept + size <= most_bytes
        {
            *seen += 1;
            kept += size;
            rare.insert(row.key.to_vec());
            sample.rows.insert(row.key.to_vec(), value());
            continue;
        }
        if chosen.len() < BY_CHANCE && kept + size <= most_bytes {
            kept += size;
            chosen.push(row.key.to_vec());
            sample.rows.insert(row.key.to_vec(), value());
        } else if let Some(slot) = random
            .below(sample.keys)
            .and_then(|at| chosen.get_mut(at))
            .filter(|slot| slot.len() >= row.key.len())
        {
            let old = std::mem::replace(slot, row.key.to_vec());
            if !rare.contains(&old) {
                sample.rows.remove(&old);
            }
            sample.rows.insert(row.key.to_vec(), value());
        }
    }
    Ok(sample)
}

/// `SplitMix64`: the same numbers on every machine.
struct Random(u64);

impl Random {
    /// A place below `n`.
    fn below(&mut self, n: u64) -> Option<usize> {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((x ^ (x >> 31)) % n.max(1)).ok()
    }
}
