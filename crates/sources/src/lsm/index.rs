//! The index of a table: for each block a key that is not below its last one, and where it lies.

use std::cmp::Ordering;

use super::block::{Block, BlockFault, Entries};
use super::bytes::Bytes;
use super::footer::{BLOCK_TRAILER, Handle};
use super::key;

/// How the entries of an index are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct IndexForm {
    /// Keys have no sequence number.
    pub(crate) user_keys: bool,
    /// Places are told by the size's difference from that of the block before.
    pub(crate) delta: bool,
    /// Pebble writes properties of the block after its place, RocksDB may write its first key.
    pub(crate) more: bool,
}

/// The entries of an index, taken apart.
#[derive(Debug, Default)]
pub(crate) struct Index {
    keys: Vec<u8>,
    entries: Vec<(usize, Handle)>,
}

/// The most bytes of an index's keys.
const MAX_KEYS: usize = 256 * 1024 * 1024;

impl Index {
    pub(crate) fn new(block: &Block, form: IndexForm) -> Result<Self, BlockFault> {
        let mut index = Self::default();
        if form.delta {
            index.fill_delta(block, form)?;
        } else {
            let mut entries = Entries::default();
            while entries.next(block)? {
                let mut value = Bytes::new(block.slice(entries.value.clone()));
                let handle = Handle::read(&mut value).ok_or(BROKEN)?;
                if !form.more && !value.is_empty() {
                    return Err(BROKEN);
                }
                index.push(&entries.key, handle, form)?;
            }
        }
        Ok(index)
    }

    /// RocksDB from format 4 on: no length of the value, and at entries that share something no place either.
    fn fill_delta(&mut self, block: &Block, form: IndexForm) -> Result<(), BlockFault> {
        let mut bytes = Bytes::new(block.all_entries());
        let mut key = Vec::new();
        let mut last: Option<Handle> = None;
        while !bytes.is_empty() {
            let shared = bytes.length().ok_or(BROKEN)?;
            let fresh = bytes.length().ok_or(BROKEN)?;
            let rest = bytes.take(fresh).ok_or(BROKEN)?;
            if shared > key.len() {
                return Err(BROKEN);
            }
            key.truncate(shared);
            key.extend_from_slice(rest);
            let handle = match last.filter(|_| shared != 0) {
                None => Handle::read(&mut bytes).ok_or(BROKEN)?,
                Some(last) => {
                    let delta = bytes.signed().ok_or(BROKEN)?;
                    let size = last.size.checked_add_signed(delta).ok_or(BROKEN)?;
                    let offset =
                        last.offset.checked_add(last.size).and_then(|end| end.checked_add(BLOCK_TRAILER));
                    Handle { offset: offset.ok_or(BROKEN)?, size }
                }
            };
            if form.more {
                bytes.prefixed().ok_or(BROKEN)?;
            }
            last = Some(handle);
            self.push(&key, handle, form)?;
        }
        Ok(())
    }

    fn push(&mut self, key: &[u8], handle: Handle, form: IndexForm) -> Result<(), BlockFault> {
        let user = if form.user_keys { key } else { key::split(key).ok_or(BROKEN)?.0 };
        let last = self.entries.len().checked_sub(1).and_then(|last| self.key(last));
        if last.is_some_and(|last| last > user) {
            return Err(BlockFault::Damaged("an index whose keys do not ascend"));
        }
        if self.keys.len() + user.len() > MAX_KEYS {
            return Err(BlockFault::Damaged("an index with more than 256 MiB of keys"));
        }
        self.keys.extend_from_slice(user);
        self.entries.push((self.keys.len(), handle));
        Ok(())
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The memory that it takes.
    pub(crate) fn weight(&self) -> usize {
        self.keys.len() + self.entries.len() * 24
    }

    /// The key of an entry, without its sequence number.
    pub(crate) fn key(&self, number: usize) -> Option<&[u8]> {
        let start = match number.checked_sub(1) {
            None => 0,
            Some(before) => self.entries.get(before)?.0,
        };
        self.keys.get(start..self.entries.get(number)?.0)
    }

    pub(crate) fn handle(&self, number: usize) -> Option<Handle> {
        self.entries.get(number).map(|&(_, handle)| handle)
    }

    /// The first entry that is not `Less` than what is looked for.
    pub(crate) fn search(&self, order: impl Fn(&[u8]) -> Ordering) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            let less = self.key(middle).is_some_and(|key| order(key) == Ordering::Less);
            if less { low = middle + 1 } else { high = middle }
        }
        low
    }
}

const BROKEN: BlockFault = BlockFault::Damaged("a broken entry of an index");
