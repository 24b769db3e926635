//! The blocks of a table: entries whose keys share their beginnings with the one before.
//!
//! ```text
//! shared | not shared | value's length | rest of the key | value        varints; once per entry
//! restart (4) … | count of restarts (4)                                 entries at restarts share nothing
//! ```

use std::ops::Range;

use super::bytes::{Bytes, u32_le};

/// A block, made whole and checked.
#[derive(Debug)]
pub(crate) struct Block {
    bytes: Vec<u8>,
    /// Where the entries end.
    entries: usize,
    restarts: usize,
}

/// A count of restarts is of 28 bits; bit 31 says that a hash index follows them.
const COUNT: u32 = (1 << 28) - 1;
const HASH_INDEX: u32 = 1 << 31;

/// Why a block is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlockFault {
    /// It is not a block.
    Damaged(&'static str),
    /// It says of itself what is not read here.
    Unsupported(&'static str),
}

impl Block {
    pub(crate) fn new(bytes: Vec<u8>) -> Result<Self, BlockFault> {
        let short = BlockFault::Damaged("a block without restarts");
        let (body, last) = bytes.split_last_chunk::<4>().ok_or(short)?;
        let word = u32_le(*last);
        if word & !(COUNT | HASH_INDEX) != 0 {
            return Err(BlockFault::Unsupported("a block with unknown marks"));
        }
        let mut end = body.len();
        if word & HASH_INDEX != 0 {
            let &[low, high] = body.last_chunk::<2>().ok_or(short)?;
            end = end.checked_sub(2 + (usize::from(low) | usize::from(high) << 8)).ok_or(short)?;
        }
        let restarts = usize::try_from(word & COUNT).map_err(|_| short)?;
        let entries = end.checked_sub(restarts.checked_mul(4).ok_or(short)?).ok_or(short)?;
        Ok(Self { bytes, entries, restarts })
    }

    pub(crate) const fn len(&self) -> usize {
        self.bytes.len()
    }

    #[inline]
    fn entries(&self) -> &[u8] {
        self.bytes.get(..self.entries).unwrap_or_default()
    }

    /// All entries, for what is not written as they usually are.
    pub(crate) fn all_entries(&self) -> &[u8] {
        self.entries()
    }

    #[inline]
    pub(crate) fn slice(&self, range: Range<usize>) -> &[u8] {
        self.bytes.get(range).unwrap_or_default()
    }

    fn restart(&self, number: usize) -> Option<usize> {
        let at = self.entries + number * 4;
        let word = self.bytes.get(at..at + 4)?;
        usize::try_from(u32_le(word.try_into().ok()?)).ok()
    }

    /// The last restart whose key is below `target`, in the order that `below` tells; the first entry if there is none.
    fn search(&self, below: impl Fn(&[u8]) -> Option<bool>) -> Result<usize, BlockFault> {
        let broken = BlockFault::Damaged("a restart that leads to no entry");
        let (mut low, mut high) = (0, self.restarts);
        // Restarts before `low` are below the target; those from `high` on are not.
        while low < high {
            let middle = usize::midpoint(low, high);
            let at = self.restart(middle).ok_or(broken)?;
            let mut bytes = Bytes::new(self.entries().get(at..).ok_or(broken)?);
            let (shared, fresh) = (bytes.varint().ok_or(broken)?, bytes.length().ok_or(broken)?);
            bytes.varint().ok_or(broken)?;
            let key = bytes.take(fresh).filter(|_| shared == 0).ok_or(broken)?;
            if below(key).ok_or(broken)? { low = middle + 1 } else { high = middle }
        }
        match low.checked_sub(1) {
            None => Ok(0),
            Some(number) => self.restart(number).ok_or(broken),
        }
    }
}

/// The entries of a block, one after the other.
#[derive(Debug, Default)]
pub(crate) struct Entries {
    at: usize,
    pub(crate) key: Vec<u8>,
    pub(crate) value: Range<usize>,
}

/// The longest key.
const MAX_KEY: usize = 16 * 1024 * 1024;

impl Entries {
    /// Begins at the block's first entry.
    pub(crate) fn rewind(&mut self) {
        self.at = 0;
        self.key.clear();
        self.value = 0..0;
    }

    /// Begins at the last restart below a target.
    pub(crate) fn seek(
        &mut self,
        block: &Block,
        below: impl Fn(&[u8]) -> Option<bool>,
    ) -> Result<(), BlockFault> {
        self.rewind();
        self.at = block.search(below)?;
        Ok(())
    }

    /// Moves to the next entry; `false` at the end.
    #[inline]
    pub(crate) fn next(&mut self, block: &Block) -> Result<bool, BlockFault> {
        let Some(rest) = block.entries().get(self.at..) else {
            return Err(BlockFault::Damaged("an entry beyond its block"));
        };
        if rest.is_empty() {
            return Ok(false);
        }
        let broken = BlockFault::Damaged("a broken entry");
        let mut bytes = Bytes::new(rest);
        let shared = bytes.length().ok_or(broken)?;
        let fresh = bytes.length().ok_or(broken)?;
        let length = bytes.length().ok_or(broken)?;
        if shared > self.key.len() || shared.saturating_add(fresh) > MAX_KEY {
            return Err(broken);
        }
        let key = bytes.take(fresh).ok_or(broken)?;
        self.key.truncate(shared);
        self.key.extend_from_slice(key);
        let start = self.at + bytes.taken();
        bytes.take(length).ok_or(broken)?;
        self.at = start + length;
        self.value = start..self.at;
        Ok(true)
    }
}

/// The entries of a block from the last to the first: all of them, taken apart at once.
#[derive(Debug, Default)]
pub(crate) struct Backward {
    keys: Vec<u8>,
    entries: Vec<(Range<usize>, Range<usize>)>,
}

impl Backward {
    /// Takes a block apart, up to the first entry for which `keep` is false.
    pub(crate) fn fill(
        &mut self,
        block: &Block,
        mut keep: impl FnMut(&[u8]) -> Option<bool>,
    ) -> Result<(), BlockFault> {
        self.keys.clear();
        self.entries.clear();
        let mut forward = Entries::default();
        while forward.next(block)? {
            if !keep(&forward.key).ok_or(BlockFault::Damaged("a key without a sequence number"))? {
                break;
            }
            let start = self.keys.len();
            // Keys share their beginnings, so that a small block can hold very much of them.
            if start + forward.key.len() > MAX_KEYS {
                return Err(BlockFault::Damaged("more than 256 MiB of keys in one block"));
            }
            self.keys.extend_from_slice(&forward.key);
            self.entries.push((start..self.keys.len(), forward.value.clone()));
        }
        Ok(())
    }

    /// Drops the last entry.
    pub(crate) fn pop(&mut self) {
        self.entries.pop();
    }

    /// The last entry's key and where its value lies.
    pub(crate) fn last(&self) -> Option<(&[u8], Range<usize>)> {
        let (key, value) = self.entries.last()?;
        Some((self.keys.get(key.clone())?, value.clone()))
    }
}

const MAX_KEYS: usize = 256 * 1024 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    fn block(entries: &[u8], restarts: &[u8]) -> Result<Block, BlockFault> {
        let mut bytes = entries.to_vec();
        for &restart in restarts {
            bytes.extend([restart, 0, 0, 0]);
        }
        bytes.extend([u8::try_from(restarts.len()).expect("few"), 0, 0, 0]);
        Block::new(bytes)
    }

    #[test]
    fn keys_share_their_beginnings() {
        let block = block(&[0, 2, 1, b'a', b'b', 1, 1, 1, 0, b'c'], &[0]).expect("a block");
        let mut entries = Entries::default();
        assert_eq!(entries.next(&block), Ok(true));
        assert_eq!((&entries.key[..], block.slice(entries.value.clone())), (&b"ab"[..], &[1][..]));
        assert_eq!(entries.next(&block), Ok(true));
        assert_eq!((&entries.key[..], block.slice(entries.value.clone())), (&b"ac"[..], &[][..]));
        assert_eq!(entries.next(&block), Ok(false));
    }

    #[test]
    fn lengths_beyond_the_block_are_damage() {
        let broken = Err(BlockFault::Damaged("a broken entry"));
        for entries in [&[0, 9, 0, b'a'][..], &[1, 0, 0], &[0, 0, 9], &[0xff; 11]] {
            let block = block(entries, &[0]).expect("a block");
            assert_eq!(Entries::default().next(&block), broken, "{entries:?}");
        }
        assert!(Block::new(vec![0xff, 0xff, 0xff, 0x0f]).is_err());
        assert_eq!(
            Block::new(vec![0, 0, 0, 0x40]).err(),
            Some(BlockFault::Unsupported("a block with unknown marks"))
        );
    }
}
