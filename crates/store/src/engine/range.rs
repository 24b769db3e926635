use std::cmp::Ordering;
use std::ops::{Bound, RangeBounds};

/// A range of keys in the order of their bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyRange<'k> {
    /// Where it starts.
    pub start: Bound<&'k [u8]>,
    /// Where it ends.
    pub end: Bound<&'k [u8]>,
}

impl<'k> KeyRange<'k> {
    /// Every key, `ff…ff` included.
    pub const ALL: Self = Self { start: Bound::Unbounded, end: Bound::Unbounded };

    /// The keys from `start`, up to but without `end`.
    pub const fn half_open(start: &'k [u8], end: &'k [u8]) -> Self {
        Self { start: Bound::Included(start), end: Bound::Excluded(end) }
    }

    /// The keys from `start` on.
    pub const fn from(start: &'k [u8]) -> Self {
        Self { start: Bound::Included(start), end: Bound::Unbounded }
    }

    /// Whether no key can lie in it: its start is after its end, or nothing is between them.
    pub fn is_empty(&self) -> bool {
        match (self.start, self.end) {
            (Bound::Unbounded, Bound::Excluded(end)) => end.is_empty(),
            (Bound::Unbounded, _) | (_, Bound::Unbounded) => false,
            (Bound::Included(start), Bound::Included(end)) => start > end,
            (Bound::Included(start) | Bound::Excluded(start), Bound::Excluded(end))
            | (Bound::Excluded(start), Bound::Included(end)) => start >= end,
        }
    }

    /// Whether `key` lies in it.
    pub fn contains(&self, key: &[u8]) -> bool {
        let after_start = match self.start {
            Bound::Included(start) => key >= start,
            Bound::Excluded(start) => key > start,
            Bound::Unbounded => true,
        };
        after_start
            && match self.end {
                Bound::Included(end) => key <= end,
                Bound::Excluded(end) => key < end,
                Bound::Unbounded => true,
            }
    }

    /// The same range, with bounds of its own.
    pub fn to_owned(&self) -> OwnedKeyRange {
        OwnedKeyRange { start: self.start.map(<[u8]>::to_vec), end: self.end.map(<[u8]>::to_vec) }
    }
}

impl RangeBounds<[u8]> for KeyRange<'_> {
    fn start_bound(&self) -> Bound<&[u8]> {
        self.start
    }

    fn end_bound(&self) -> Bound<&[u8]> {
        self.end
    }
}

/// A range of keys with bounds of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnedKeyRange {
    /// Where it starts.
    pub start: Bound<Vec<u8>>,
    /// Where it ends.
    pub end: Bound<Vec<u8>>,
}

impl OwnedKeyRange {
    /// The keys that begin with `prefix`.
    ///
    /// ```
    /// use keyplan_store::engine::OwnedKeyRange;
    /// use std::ops::Bound;
    ///
    /// // The end is the prefix with its last byte below `ff` raised; a prefix of only `ff` has none.
    /// assert_eq!(OwnedKeyRange::prefix(&[7, 0xff]).end, Bound::Excluded(vec![8]));
    /// assert_eq!(OwnedKeyRange::prefix(&[0xff, 0xff]).end, Bound::Unbounded);
    /// ```
    pub fn prefix(prefix: &[u8]) -> Self {
        let mut end = prefix.to_vec();
        let bound = loop {
            match end.pop() {
                None => break Bound::Unbounded,
                Some(u8::MAX) => {}
                Some(last) => {
                    end.push(last + 1);
                    break Bound::Excluded(end);
                }
            }
        };
        Self { start: Bound::Included(prefix.to_vec()), end: bound }
    }

    /// The range, borrowed.
    pub fn borrow(&self) -> KeyRange<'_> {
        KeyRange { start: self.start.as_ref().map(Vec::as_slice), end: self.end.as_ref().map(Vec::as_slice) }
    }

    /// The part of it after `key`, for going on after a row.
    #[must_use]
    pub fn after(mut self, key: &[u8]) -> Self {
        let behind = match &self.start {
            Bound::Included(start) | Bound::Excluded(start) => key.cmp(start.as_slice()) != Ordering::Less,
            Bound::Unbounded => true,
        };
        if behind {
            self.start = Bound::Excluded(key.to_vec());
        }
        self
    }

    /// The part of it before `key`, for going on after a row from the back.
    #[must_use]
    pub fn before(mut self, key: &[u8]) -> Self {
        let before = match &self.end {
            Bound::Included(end) | Bound::Excluded(end) => key.cmp(end.as_slice()) != Ordering::Greater,
            Bound::Unbounded => true,
        };
        if before {
            self.end = Bound::Excluded(key.to_vec());
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Bound::{Excluded, Included, Unbounded};

    #[test]
    fn a_range_is_empty_exactly_if_no_short_key_lies_in_it() {
        let keys: Vec<Vec<u8>> =
            [&[][..], &[0], &[0, 0], &[1], &[0xff], &[0xff, 0xff]].map(<[u8]>::to_vec).into();
        let mut bounds = vec![Unbounded];
        for key in &keys {
            bounds.extend([Included(key.as_slice()), Excluded(key.as_slice())]);
        }
        for &start in &bounds {
            for &end in &bounds {
                let range = KeyRange { start, end };
                if range.is_empty() {
                    assert!(!keys.iter().any(|key| range.contains(key)), "{range:?}");
                }
            }
        }
        assert!(KeyRange { start: Included(&[2]), end: Included(&[1]) }.is_empty());
        assert!(KeyRange { start: Excluded(&[1]), end: Excluded(&[1]) }.is_empty());
        assert!(!KeyRange { start: Included(&[1]), end: Included(&[1]) }.is_empty());
        assert!(!KeyRange::ALL.is_empty());
    }

    #[test]
    fn a_prefix_holds_the_keys_that_begin_with_it() {
        for prefix in [&[][..], &[0], &[0xff], &[7, 0xff], &[0xff, 0xfe, 0xff]] {
            let range = OwnedKeyRange::prefix(prefix);
            for a in 0..=u8::MAX {
                for key in [vec![a], vec![7, a], vec![7, 0xff, a], vec![0xff, a], vec![0xff, 0xfe, 0xff, a]] {
                    assert_eq!(range.borrow().contains(&key), key.starts_with(prefix), "{prefix:?} {key:?}");
                }
            }
        }
    }

    #[test]
    fn going_on_after_a_row_leaves_out_that_row_alone() {
        let range = OwnedKeyRange::prefix(&[1]);
        assert_eq!(range.clone().after(&[1, 5]).start, Excluded(vec![1, 5]));
        assert_eq!(range.clone().after(&[0]).start, Included(vec![1]));
        assert_eq!(range.clone().before(&[1, 5]).end, Excluded(vec![1, 5]));
        assert_eq!(range.before(&[3]).end, Excluded(vec![2]));
    }
}
