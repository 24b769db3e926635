//! The checks after the blocks of tables.

use super::bytes::low32;

/// What a table's blocks are checked with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Checksum {
    /// No check at all.
    None,
    /// CRC-32C, masked.
    Crc32c,
    /// XXH32.
    Xxh32,
    /// The low half of XXH64.
    Xxh64,
    /// The low half of XXH3, with the last byte mixed in afterwards.
    Xxh3,
}

impl Checksum {
    /// The check of that number in a footer.
    pub(crate) const fn of(number: u8) -> Option<Self> {
        match number {
            0 => Some(Self::None),
            1 => Some(Self::Crc32c),
            2 => Some(Self::Xxh32),
            3 => Some(Self::Xxh64),
            4 => Some(Self::Xxh3),
            _ => None,
        }
    }

    /// The check over `bytes`, of which the last is the block's compression.
    pub(crate) fn over(self, bytes: &[u8]) -> u32 {
        match self {
            Self::None => 0,
            Self::Crc32c => masked(crc32c::crc32c(bytes)),
            Self::Xxh32 => xxhash_rust::xxh32::xxh32(bytes, 0),
            Self::Xxh64 => low32(xxhash_rust::xxh64::xxh64(bytes, 0)),
            Self::Xxh3 => match bytes.split_last() {
                None => 0,
                Some((&last, body)) => {
                    low32(xxhash_rust::xxh3::xxh3_64(body)) ^ u32::from(last).wrapping_mul(LAST_BYTE_PRIME)
                }
            },
        }
    }
}

const LAST_BYTE_PRIME: u32 = 0x6b90_83d9;

/// A CRC as it is stored: rotated and moved, so that a CRC over bytes which hold CRCs is not degenerate.
pub(crate) const fn masked(crc: u32) -> u32 {
    crc.rotate_right(15).wrapping_add(0xa282_ead8)
}

/// What a block's place adds to its check, from RocksDB's table format 6 on: nothing if the table has no `base`.
pub(crate) fn of_place(base: u32, offset: u64) -> u32 {
    if base == 0 { 0 } else { base ^ low32(offset).wrapping_add(low32(offset >> 32)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crcs_are_masked_as_leveldb_masks_them() {
        assert_eq!(crc32c::crc32c(b"123456789"), 0xe306_9283);
        assert_eq!(masked(0xe306_9283), 0xe306_9283_u32.rotate_right(15).wrapping_add(0xa282_ead8));
        assert_eq!(Checksum::Xxh32.over(b""), 0x02cc_5d05);
        assert_eq!(Checksum::Xxh64.over(b""), 0x51d8_e999);
        assert_eq!(Checksum::of(5), None);
    }

    #[test]
    fn a_place_counts_only_with_a_base() {
        assert_eq!(of_place(0, 7), 0);
        assert_eq!(of_place(0xff, 0x0000_0001_0000_0002), 0xff ^ 3);
    }
}
