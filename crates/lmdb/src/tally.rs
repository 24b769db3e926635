//! A checksum of all rows, kept up to date by every commit.
//!
//! LMDB keeps no checksums, and a file that a killed process left has no seal. So the main tree has one row more: the sum of a hash
//! of each row of each named tree. A commit takes away what was there and adds what it writes, in its own transaction, and whoever
//! looks through the file adds up all rows and compares. Only a transaction of this crate keeps the sum: with the sum is the number of its
//! transaction, and where that is not the last one, another program has written since and the sum says nothing.
//!
//! ```text
//! key     00 "keyplan.rows"
//! value   "rows" (4) | transaction (8) | sum (16) | xxh3 of all before (8), integers little-endian
//! ```
//!
//! No name of a tree has a zero byte, and LMDB's own tools pass over keys that have one.

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed, xxh3_128_with_seed};

/// The key of the row in the main tree.
pub(crate) const KEY: &[u8] = b"\0keyplan.rows";

const WORD: &[u8; 4] = b"rows";

/// What a tree adds to the hash of its rows: its name, and the flags that it was made with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seed(u64);

impl Seed {
    /// Of a named tree.
    pub fn new(name: &[u8], flags: u16) -> Self {
        Self(xxh3_64_with_seed(name, u64::from(flags)))
    }

    /// Of the rows of one key.
    pub(crate) fn key(self, key: &[u8]) -> Self {
        Self(xxh3_64_with_seed(key, self.0))
    }

    /// The hash of a row, by its key's seed.
    pub(crate) fn value(self, value: &[u8]) -> u128 {
        xxh3_128_with_seed(value, self.0)
    }
}

/// The sum of a transaction's rows, if it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tally(Option<u128>);

impl Tally {
    pub(crate) const UNKNOWN: Self = Self(None);

    pub(crate) const fn known(sum: u128) -> Self {
        Self(Some(sum))
    }

    pub(crate) fn sum(self) -> Option<u128> {
        self.0
    }

    /// Whether rows are counted: where they are not, nobody needs to know what was there before.
    pub fn counts(self) -> bool {
        self.0.is_some()
    }

    /// A row that was not there.
    pub fn add(&mut self, tree: Seed, key: &[u8], value: &[u8]) {
        if let Some(sum) = &mut self.0 {
            *sum = sum.wrapping_add(tree.key(key).value(value));
        }
    }

    /// A row that is there no longer.
    pub fn take(&mut self, tree: Seed, key: &[u8], value: &[u8]) {
        if let Some(sum) = &mut self.0 {
            *sum = sum.wrapping_sub(tree.key(key).value(value));
        }
    }
}

/// The sum of all rows after a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Recorded {
    pub(crate) transaction: u64,
    pub(crate) sum: u128,
}

const BYTES: usize = 4 + 8 + 16 + 8;

impl Recorded {
    pub(crate) fn to_bytes(self) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        let (written, checksum) = bytes.split_at_mut(BYTES - 8);
        let parts = WORD.iter().copied().chain(self.transaction.to_le_bytes()).chain(self.sum.to_le_bytes());
        written.iter_mut().zip(parts).for_each(|(to, byte)| *to = byte);
        checksum.copy_from_slice(&xxh3_64(written).to_le_bytes());
        bytes
    }

    /// What a row of the main tree says.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let (written, checksum) = bytes.split_last_chunk()?;
        let (word, rest) = written.split_first_chunk()?;
        let (transaction, sum) = rest.split_first_chunk()?;
        let whole = word == WORD && xxh3_64(written) == u64::from_le_bytes(*checksum);
        let sum = u128::from_le_bytes(sum.try_into().ok()?);
        whole.then_some(Self { transaction: u64::from_le_bytes(*transaction), sum })
    }

    /// Whether the bytes are meant to be such a row, be they whole or not.
    pub(crate) fn resembles(key: &[u8], value: &[u8]) -> bool {
        key == KEY || (value.len() == BYTES && value.starts_with(WORD))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_that_was_changed_is_none() {
        let recorded = Recorded { transaction: 77, sum: u128::MAX - 5 };
        let bytes = recorded.to_bytes();
        assert_eq!(Recorded::read(&bytes), Some(recorded));
        for at in 0..bytes.len() * 8 {
            let mut changed = bytes;
            changed[at / 8] ^= 1 << (at % 8);
            assert_eq!(Recorded::read(&changed), None, "bit {at}");
        }
        assert_eq!(Recorded::read(&bytes[1..]), None);
    }

    #[test]
    fn a_sum_is_of_rows_and_not_of_their_order() {
        let (one, other) = (Seed::new(b"one", 0), Seed::new(b"other", 4));
        let mut first = Tally::known(0);
        first.add(one, b"k", b"v");
        first.add(other, b"k", b"v");
        let mut second = Tally::known(0);
        second.add(other, b"k", b"v");
        second.add(one, b"k", b"w");
        assert_ne!(first, second);
        second.take(one, b"k", b"w");
        second.add(one, b"k", b"v");
        assert_eq!(first, second);
        let mut moved = Tally::known(0);
        moved.add(one, b"kv", b"");
        moved.add(other, b"k", b"v");
        assert_ne!(first, moved);
    }
}
