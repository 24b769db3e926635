//! One number for the rows of each family, equal on two nodes with the same state whatever engine they are on.
//!
//! The checksum of some rows is the SHA-256 of `length of the key (8) | key | length of the value (8) | value` of each of
//! them in the order of their keys, lengths big-endian. It depends on nothing else. Where two nodes differ, checksums by
//! the next bytes of the keys show where: [`Query::prefix`] and [`Query::depth`] narrow it down.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use keyplan_plan::dynamic::Decoder;
use keyplan_plan::notation::hex;
use keyplan_store::Direction;
use keyplan_store::engine::OwnedKeyRange;
use keyplan_store::source::{RowRef, Source, SourceError};
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::diff::Pair;

/// How many ranges are kept apart.
pub const MAX_RANGES: usize = 1 << 16;
/// How many rows are read between two looks at the progress.
const REPORT_EVERY: u64 = 10_000;

/// Which rows are summed, and how finely.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// Only keys that begin so.
    pub prefix: Vec<u8>,
    /// By how many bytes after the prefix ranges are told apart; 0 for none.
    pub depth: usize,
}

/// The rows of a family or of a range, in one number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Sum {
    /// How many rows there are.
    pub rows: u64,
    /// Bytes of keys and values.
    pub bytes: u64,
    /// SHA-256, in hex.
    pub checksum: String,
}

/// All checksums of one space.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SpaceSums {
    /// The space, as [`Pair::name`] says.
    pub space: String,
    /// All rows.
    pub all: Sum,
    /// By family; keys of no family under an empty name.
    pub families: BTreeMap<String, Sum>,
    /// By the first bytes of the keys, in hex.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub ranges: BTreeMap<String, Sum>,
}

/// Why there are no checksums.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChecksumError {
    /// The source could not be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// Too fine.
    #[error("there are more than {MAX_RANGES} ranges: use a smaller depth, or a longer prefix")]
    TooManyRanges,
    /// Whoever watched the progress asked for an end.
    #[error("stopped after {rows} rows")]
    Stopped {
        /// How many rows were read.
        rows: u64,
    },
}

#[derive(Default)]
struct Running {
    rows: u64,
    bytes: u64,
    hash: Sha256,
}

impl Running {
    fn add(&mut self, row: RowRef<'_>) {
        let wide = |bytes: &[u8]| u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        self.rows += 1;
        self.bytes += wide(row.key) + wide(row.value);
        for bytes in [row.key, row.value] {
            self.hash.update(wide(bytes).to_be_bytes());
            self.hash.update(bytes);
        }
    }

    fn end(self) -> Sum {
        Sum { rows: self.rows, bytes: self.bytes, checksum: hex(&self.hash.finalize()) }
    }
}

/// Sums the spaces on the first side of `pairs`.
pub fn checksum(
    source: &dyn Source,
    pairs: &[Pair],
    decoder: Option<&Decoder<'_>>,
    query: &Query,
    mut progress: impl FnMut(u64) -> ControlFlow<()>,
) -> Result<Vec<SpaceSums>, ChecksumError> {
    let view = source.view()?;
    let range = OwnedKeyRange::prefix(&query.prefix);
    let mut sums = Vec::new();
    let mut rows = 0_u64;
    for pair in pairs {
        let Some(space) = pair.before else { continue };
        let mut all = Running::default();
        let mut families: BTreeMap<&str, Running> = BTreeMap::new();
        let mut ranges: BTreeMap<Vec<u8>, Running> = BTreeMap::new();
        let mut walk = view.walk(space, range.borrow(), Direction::Ascending)?;
        while let Some(row) = walk.next()? {
            all.add(row);
            if let Some((decoder, index)) = decoder.zip(pair.plan) {
                let family = decoder.decode(index, row.key).map_or("", |decoded| &decoded.family.path);
                families.entry(family).or_default().add(row);
            }
            if query.depth > 0 {
                let end = row.key.len().min(query.prefix.len().saturating_add(query.depth));
                let front = row.key.get(..end).unwrap_or_default();
                if !ranges.contains_key(front) {
                    if ranges.len() >= MAX_RANGES {
                        return Err(ChecksumError::TooManyRanges);
                    }
                    ranges.insert(front.to_vec(), Running::default());
                }
                if let Some(running) = ranges.get_mut(front) {
                    running.add(row);
                }
            }
            rows += 1;
            if rows.is_multiple_of(REPORT_EVERY) && progress(rows).is_break() {
                return Err(ChecksumError::Stopped { rows });
            }
        }
        sums.push(SpaceSums {
            space: pair.name.clone(),
            all: all.end(),
            families: families
                .into_iter()
                .map(|(family, running)| (family.to_owned(), running.end()))
                .collect(),
            ranges: ranges.into_iter().map(|(front, running)| (hex(&front), running.end())).collect(),
        });
    }
    Ok(sums)
}

#[cfg(test)]
mod tests {
    use keyplan_store::engine::{Batch, Durability, Engine as _, Memory, Space};
    use keyplan_store::source::EngineSource;

    use super::*;
    use crate::diff::pairs_by_name;

    fn sums(rows: &[(&[u8], &[u8])], query: &Query) -> SpaceSums {
        let mut engine = Memory::new();
        let space = engine.create_space(&Space::map("s")).expect("made");
        let mut batch: Batch<Memory> = Batch::new();
        for (key, value) in rows {
            batch.put(space, *key, *value);
        }
        engine.commit(batch, Durability::Buffer).expect("committed");
        let source = EngineSource::new(engine);
        let plan = "plan p; space s { key a = 0x01 id: u8; key b = 0x02 id: u8; }";
        let plan = keyplan_plan::compile("p", plan, |_| Err(String::new())).plan.expect("sound");
        let pairs: Vec<Pair> =
            pairs_by_name(&source, None).into_iter().map(|pair| Pair { plan: Some(0), ..pair }).collect();
        let progress = |_| ControlFlow::Continue(());
        checksum(&source, &pairs, Some(&Decoder::new(&plan)), query, progress).expect("summed").remove(0)
    }

    #[test]
    fn the_sum_is_that_of_the_documented_bytes() {
        let found = sums(&[(&[1, 7], b"x")], &Query::default());
        let bytes = [&[0, 0, 0, 0, 0, 0, 0, 2, 1, 7][..], &[0, 0, 0, 0, 0, 0, 0, 1, b'x']].concat();
        let expected = Sum { rows: 1, bytes: 3, checksum: hex(&Sha256::digest(&bytes)) };
        assert_eq!(
            (&found.all, &found.families),
            (&expected, &BTreeMap::from([("s.a".to_owned(), expected.clone())]))
        );
    }

    #[test]
    fn a_difference_is_in_one_family_and_one_range() {
        let query = Query { prefix: vec![], depth: 2 };
        let one = sums(&[(&[1, 7], b"x"), (&[1, 8], b"y"), (&[2, 1], b"z"), (&[9], b"")], &query);
        let other = sums(&[(&[1, 7], b"x"), (&[1, 8], b"Y"), (&[2, 1], b"z"), (&[9], b"")], &query);
        let differing = |one: &BTreeMap<String, Sum>, other: &BTreeMap<String, Sum>| -> Vec<String> {
            one.iter()
                .filter(|(name, sum)| other.get(*name) != Some(*sum))
                .map(|(name, _)| name.clone())
                .collect()
        };
        assert_eq!(differing(&one.families, &other.families), ["s.a"]);
        assert_eq!(differing(&one.ranges, &other.ranges), ["0108"]);
        assert_eq!(one.families.keys().collect::<Vec<_>>(), ["", "s.a", "s.b"]);
        let narrow = sums(&[(&[1, 7], b"x"), (&[2, 1], b"z")], &Query { prefix: vec![2], depth: 0 });
        assert_eq!((narrow.all.rows, narrow.ranges.len()), (1, 0));
    }
}
