use keyplan_codec::Hash;

/// How many rows there are, and a sum over them that does not depend on their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checksum {
    /// How many rows.
    pub rows: u64,
    /// The sum of a hash of each.
    pub sum: u64,
}

impl Checksum {
    /// Adds a row.
    pub fn add(&mut self, key: &[u8], value: &[u8]) {
        self.rows = self.rows.wrapping_add(1);
        // Both hashes go in at different weights, so that bytes cannot pass from the key to the value.
        self.sum = self
            .sum
            .wrapping_add(hash(key).rotate_left(32) ^ hash(value).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    }
}

fn hash(bytes: &[u8]) -> u64 {
    u64::from_be_bytes(super::first_eight(&Hash::Xxh3_64.digest(bytes)))
}
