//! Keys as tables hold them: the user's key, then eight bytes with the sequence number and the kind of the entry.

use std::cmp::Ordering;

use super::bytes::u64_le;

/// The largest sequence number.
pub(crate) const MAX_SEQUENCE: u64 = (1 << 56) - 1;

/// What comes after the user's key: sequence number and kind, the newest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Trailer(u64);

impl Trailer {
    /// Before every entry of a key.
    pub(crate) const NEWEST: Self = Self(u64::MAX);

    pub(crate) const fn new(sequence: u64, kind: u8) -> Self {
        Self(sequence << 8 | kind as u64)
    }

    pub(crate) const fn sequence(self) -> u64 {
        self.0 >> 8
    }

    pub(crate) const fn kind(self) -> u8 {
        (self.0 & 0xff) as u8
    }

    /// The same kind with another sequence number.
    pub(crate) const fn at(self, sequence: u64) -> Self {
        Self::new(sequence, self.kind())
    }

    /// Without the mark that Pebble's tables set on entries which another one of the same table hides.
    pub(crate) const fn without_obsolete_mark(self) -> Self {
        Self(self.0 & !0x40)
    }
}

/// The user's key and the trailer of a key in a table.
#[inline]
pub(crate) fn split(key: &[u8]) -> Option<(&[u8], Trailer)> {
    let (user, trailer) = key.split_last_chunk()?;
    Some((user, Trailer(u64_le(*trailer))))
}

/// The order of entries: keys ascending, of one key the newest first.
#[inline]
pub(crate) fn compare(a: (&[u8], Trailer), b: (&[u8], Trailer)) -> Ordering {
    a.0.cmp(b.0).then(b.1.cmp(&a.1))
}

/// What an entry says about its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// It has this value.
    Row,
    /// It is gone.
    Gone,
    /// Something that is not read here, by name.
    Other(&'static str),
}

/// The meaning of a kind, which is not the same number for everything in RocksDB and in Pebble.
pub(crate) const fn entry(kind: u8, pebble: bool) -> Option<Entry> {
    Some(match (kind, pebble) {
        (0 | 7, _) | (23, true) => Entry::Gone,
        (1, _) | (18, true) => Entry::Row,
        (2, _) => Entry::Other("a merge operand"),
        (17, false) => Entry::Other("a value in a blob file"),
        (20, false) => Entry::Other("a deletion with a timestamp"),
        (22, false) => Entry::Other("a wide column"),
        (24, false) => Entry::Other("a value with a preferred time"),
        (19..=21, true) => Entry::Other("a range key"),
        _ => return None,
    })
}

/// The kind of a range deletion.
pub(crate) const RANGE_DELETION: u8 = 15;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_entry_of_a_key_comes_first() {
        let (old, new) = (Trailer::new(4, 1), Trailer::new(5, 0));
        assert_eq!(compare((b"a", new), (b"a", old)), Ordering::Less);
        assert_eq!(compare((b"a", old), (b"b", new)), Ordering::Less);
        assert_eq!((new.sequence(), new.kind()), (5, 0));
        assert_eq!(split(&[b'k', 1, 5, 0, 0, 0, 0, 0, 0]), Some((&b"k"[..], Trailer::new(5, 1))));
        assert_eq!(split(&[0; 7]), None);
    }
}
