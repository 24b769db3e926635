//! Range deletions: which entries of a family they hide.

use std::collections::BTreeMap;

use super::edit::Bound;
use super::key::{MAX_SEQUENCE, RANGE_DELETION, Trailer};

/// A range deletion: it hides entries of the keys from `start` up to but without `end`, if they are older.
///
/// One that a table holds reaches only from the table's first to its last entry: the rest of it is in the tables beside, or
/// was compacted away together with what it hid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tombstone {
    pub(crate) start: Vec<u8>,
    pub(crate) end: Vec<u8>,
    pub(crate) sequence: u64,
    pub(crate) smallest: Option<Bound>,
    pub(crate) largest: Option<Bound>,
}

/// The range deletions of a family, cut so that between two cuts they are the same for every key.
#[derive(Debug, Default)]
pub(crate) struct Tombstones {
    /// From this key on, up to the next one, everything below this sequence number is hidden.
    pieces: Vec<(Vec<u8>, u64)>,
    /// Of single keys, at the end of a table: the sequence number below which, and the trailers between which, is hidden.
    ends: BTreeMap<Vec<u8>, Vec<(u64, Trailer, Trailer)>>,
}

const OLDEST: Trailer = Trailer::new(0, 0);

impl Tombstones {
    pub(crate) fn new(all: &[Tombstone]) -> Self {
        let mut out = Self::default();
        let mut changes: BTreeMap<Vec<u8>, Vec<(u64, bool)>> = BTreeMap::new();
        for tombstone in all {
            if let Some((start, end)) = out.cut(tombstone) {
                changes.entry(start).or_default().push((tombstone.sequence, true));
                changes.entry(end).or_default().push((tombstone.sequence, false));
            }
        }
        let mut active: BTreeMap<u64, usize> = BTreeMap::new();
        for (key, changes) in changes {
            for (sequence, begins) in changes {
                let count = active.entry(sequence).or_default();
                *count = if begins { *count + 1 } else { count.saturating_sub(1) };
            }
            active.retain(|_, count| *count > 0);
            let newest = active.last_key_value().map_or(0, |(&sequence, _)| sequence);
            if out.pieces.last().is_none_or(|&(_, before)| before != newest) {
                out.pieces.push((key, newest));
            }
        }
        out
    }

    /// Cuts a range deletion at the ends of its table, and gives the keys that it covers whole.
    fn cut(&mut self, tombstone: &Tombstone) -> Option<(Vec<u8>, Vec<u8>)> {
        let (mut start, mut end) = (tombstone.start.clone(), tombstone.end.clone());
        let after = |key: &[u8]| [key, &[0]].concat();
        let (mut first, mut last) = (None, None);
        if let Some(smallest) = &tombstone.smallest
            && smallest.key >= start
        {
            first = Some((smallest.key.clone(), smallest.trailer));
            start = after(&smallest.key);
        }
        if let Some(largest) = &tombstone.largest
            && largest.key < end
        {
            // A table that ends with a range deletion ends before this key.
            if largest.trailer != Trailer::new(MAX_SEQUENCE, RANGE_DELETION) {
                last = Some((largest.key.clone(), largest.trailer));
            }
            end.clone_from(&largest.key);
        }
        let sequence = tombstone.sequence;
        match (first, last) {
            (Some((a, newest)), Some((b, oldest))) if a == b => self.end(a, (sequence, oldest, newest)),
            (first, last) => {
                if let Some((key, newest)) = first
                    && key < end
                {
                    self.end(key, (sequence, OLDEST, newest));
                }
                if let Some((key, oldest)) = last
                    && key >= tombstone.start
                {
                    self.end(key, (sequence, oldest, Trailer::NEWEST));
                }
            }
        }
        (start < end).then_some((start, end))
    }

    fn end(&mut self, key: Vec<u8>, hidden: (u64, Trailer, Trailer)) {
        self.ends.entry(key).or_default().push(hidden);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.pieces.is_empty() && self.ends.is_empty()
    }

    /// Whether an entry is hidden.
    pub(crate) fn hide(&self, key: &[u8], trailer: Trailer) -> bool {
        if self.is_empty() {
            return false;
        }
        let after = self.pieces.partition_point(|(start, _)| start.as_slice() <= key);
        let piece = after.checked_sub(1).and_then(|piece| self.pieces.get(piece));
        piece.is_some_and(|&(_, sequence)| trailer.sequence() < sequence)
            || self.ends.get(key).is_some_and(|ends| {
                ends.iter().any(|&(sequence, oldest, newest)| {
                    trailer.sequence() < sequence && oldest <= trailer && trailer <= newest
                })
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(start: &[u8], end: &[u8], sequence: u64) -> Tombstone {
        Tombstone { start: start.to_vec(), end: end.to_vec(), sequence, smallest: None, largest: None }
    }

    fn bound(key: &[u8], sequence: u64, kind: u8) -> Bound {
        Bound { key: key.to_vec(), trailer: Trailer::new(sequence, kind) }
    }

    #[test]
    fn older_entries_in_the_range_are_hidden() {
        let all = Tombstones::new(&[plain(b"b", b"d", 10), plain(b"c", b"f", 5)]);
        let hide = |key: &[u8], sequence| all.hide(key, Trailer::new(sequence, 1));
        assert!(hide(b"b", 9) && hide(b"cz", 9) && hide(b"e", 4));
        assert!(!hide(b"a", 1) && !hide(b"b", 10) && !hide(b"d", 5) && !hide(b"f", 1));
    }

    #[test]
    fn a_tombstone_ends_with_its_table() {
        // The table ends at an entry of `m`: of that key, what comes after it in the order is not hidden.
        let cut = Tombstone {
            largest: Some(bound(b"m", 7, 1)),
            smallest: Some(bound(b"c", 8, 1)),
            ..plain(b"a", b"z", 10)
        };
        let all = Tombstones::new(&[cut]);
        let hide = |key: &[u8], sequence| all.hide(key, Trailer::new(sequence, 1));
        assert!(!hide(b"b", 1) && !hide(b"n", 0) && !hide(b"m", 6) && !hide(b"c", 9));
        assert!(hide(b"c", 8) && hide(b"d", 9) && hide(b"m", 7));
        let sentinel = Tombstone { largest: Some(bound(b"m", MAX_SEQUENCE, 15)), ..plain(b"a", b"z", 10) };
        let all = Tombstones::new(&[sentinel]);
        assert!(all.hide(b"lz", Trailer::new(9, 1)) && !all.hide(b"m", Trailer::new(9, 1)));
    }
}
