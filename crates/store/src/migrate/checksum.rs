use xxhash_rust::xxh3::xxh3_64;

use super::MigrationError;

/// How many rows there are, and a sum over them that does not depend on their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checksum {
    /// How many rows.
    pub rows: u64,
    /// The sum of a hash of each.
    pub sum: u64,
}

impl Checksum {
    /// Refuses another sum than this one for what is in a space.
    pub(super) fn require(self, space: &str, found: Self) -> Result<(), MigrationError> {
        if found == self {
            return Ok(());
        }
        Err(MigrationError::Checksum {
            space: space.to_owned(),
            rows: self.rows,
            sum: self.sum,
            found_rows: found.rows,
            found_sum: found.sum,
        })
    }

    /// The sum of one row.
    #[inline]
    pub fn of(key: &[u8], value: &[u8]) -> Self {
        // Both hashes go in at different weights, so that bytes cannot pass from the key to the value.
        let sum = xxh3_64(key).rotate_left(32) ^ xxh3_64(value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Self { rows: 1, sum }
    }

    /// Adds a row.
    #[inline]
    pub fn add(&mut self, key: &[u8], value: &[u8]) {
        self.join(Self::of(key, value));
    }

    /// Adds the rows of another sum.
    #[inline]
    pub fn join(&mut self, other: Self) {
        self.rows = self.rows.wrapping_add(other.rows);
        self.sum = self.sum.wrapping_add(other.sum);
    }
}

#[cfg(test)]
mod tests {
    use keyplan_codec::Hash;

    use super::*;

    #[test]
    fn the_order_of_rows_does_not_count_and_where_their_bytes_are_does() {
        let sum = |rows: &[(&[u8], &[u8])]| {
            let mut sum = Checksum::default();
            for (key, value) in rows {
                sum.add(key, value);
            }
            sum
        };
        let one = sum(&[(b"a", b"1"), (b"b", b"2")]);
        assert_eq!(one, sum(&[(b"b", b"2"), (b"a", b"1")]));
        assert_ne!(one, sum(&[(b"a", b"2"), (b"b", b"1")]));
        assert_ne!(sum(&[(b"ab", b"c")]), sum(&[(b"a", b"bc")]));
        let mut joined = Checksum::of(b"b", b"2");
        joined.join(Checksum::of(b"a", b"1"));
        assert_eq!(joined, one);
    }

    #[test]
    fn a_hash_is_that_of_the_plan_language() {
        // A migration that an earlier version began is compared with what that one has written down.
        let hash = |bytes: &[u8]| u64::from_be_bytes((*Hash::Xxh3_64.digest(bytes)).try_into().unwrap());
        for (key, value) in [(&b"k"[..], &b""[..]), (&[7; 300], &[9; 40])] {
            let sum = hash(key).rotate_left(32) ^ hash(value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            assert_eq!(Checksum::of(key, value), Checksum { rows: 1, sum });
        }
    }
}
