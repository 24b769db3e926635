use std::path::{Path, PathBuf};

use keyplan_store::source::SourceError;

use super::check;
use super::entry::{Entry, VersionedKey};
use super::manifest::{Compression, TableEntry};
use super::protobuf::fields;
use crate::lsm;
use crate::number::{u16_le, u32_be, u32_le};
use crate::plain_file::PlainFile;

/// The most bytes that an index, or a block as it is stored, may have.
const MAX_BLOCK: u64 = 64 << 20;

/// A table: blocks, then `index | its length (4) | check | its length (4)`.
#[derive(Debug)]
pub(super) struct Table {
    file: PlainFile,
    compression: Compression,
    pub(super) blocks: Vec<BlockHandle>,
}

/// Where a block is, and the key that it begins with.
#[derive(Debug)]
pub(super) struct BlockHandle {
    pub(super) first: VersionedKey,
    offset: u64,
    len: u64,
}

/// Where the file of a table is.
pub(super) fn path_of(directory: &Path, id: u64) -> PathBuf {
    directory.join(format!("{id:06}.sst"))
}

impl Table {
    /// Opens a table and reads its index.
    pub(super) fn open(directory: &Path, entry: &TableEntry) -> Result<Self, SourceError> {
        let path = path_of(directory, entry.id);
        let file = PlainFile::open(&path)?;
        let (index, offset) = index(&file)?;
        let mut blocks = Vec::new();
        let read = fields(&index, |number, field| {
            if number == 1 {
                blocks.push(handle(field.bytes()?)?);
            }
            Some(())
        });
        read.ok_or_else(|| file.damaged(offset, "the index of a table is malformed"))?;
        Ok(Self { file, compression: entry.compression, blocks })
    }

    /// Reads a block and checks its sum.
    pub(super) fn block(&self, index: usize) -> Result<Option<Block>, SourceError> {
        let Some(handle) = self.blocks.get(index) else { return Ok(None) };
        let damaged = |what: &str| self.file.damaged(handle.offset, what);
        if handle.len > MAX_BLOCK {
            return Err(damaged("a block of more than 64 MiB"));
        }
        let stored = self.file.bytes(handle.offset, handle.len)?;
        let bytes = match self.compression {
            Compression::None => stored,
            Compression::Snappy => lsm::snappy(&stored).map_err(|fault| damaged(fault.what()))?,
            Compression::Zstd => lsm::zstd(&stored).map_err(|fault| damaged(fault.what()))?,
        };
        Block::read(bytes).map(Some).map_err(damaged)
    }

    /// Something about a block is wrong.
    pub(super) fn damaged(&self, block: usize, what: &str) -> SourceError {
        self.file.damaged(self.blocks.get(block).map_or(0, |handle| handle.offset), what)
    }
}

/// The bytes of the index, and where they begin.
fn index(file: &PlainFile) -> Result<(Vec<u8>, u64), SourceError> {
    let mut end = file.len()?;
    let mut take = |len: u64| {
        end = end.checked_sub(len).ok_or_else(|| file.damaged(0, "the table is too short for its index"))?;
        file.bytes(end, len).map(|bytes| (bytes, end))
    };
    let (len, _) = take(4)?;
    let len = u64::from(u32_be(&len, 0).unwrap_or(0));
    let (checksum, at) = take(len.min(MAX_BLOCK))?;
    let (len, _) = take(4)?;
    let len = u64::from(u32_be(&len, 0).unwrap_or(0));
    if len > MAX_BLOCK {
        return Err(file.damaged(at, "an index of more than 64 MiB"));
    }
    let (index, offset) = take(len)?;
    match check::matches(&index, &checksum) {
        Some(true) => Ok((index, offset)),
        Some(false) => Err(file.damaged(offset, "the check of the index does not match")),
        None => Err(file.damaged(at, "the check of the index is malformed")),
    }
}

fn handle(message: &[u8]) -> Option<BlockHandle> {
    let (mut key, mut offset, mut len) = (&[][..], 0, 0);
    fields(message, |number, field| {
        match number {
            1 => key = field.bytes()?,
            2 => offset = field.number()?,
            3 => len = field.number()?,
            _ => {}
        }
        Some(())
    })?;
    Some(BlockHandle { first: VersionedKey::read(key)?, offset, len })
}

/// Entries, then `their offsets (4 each, little-endian) | how many (4) | check | its length (4)`.
///
/// An entry is `overlap (2) | rest (2) | rest of the key | meta (1) | user meta (1) | expiry | value`: its key begins as the
/// first key of the block does.
#[derive(Debug)]
pub(super) struct Block {
    bytes: Vec<u8>,
    entries: usize,
    pub(super) count: usize,
}

impl Block {
    fn read(mut bytes: Vec<u8>) -> Result<Self, &'static str> {
        let cut = "the block is too short";
        let at = bytes.len().checked_sub(4).ok_or(cut)?;
        let len = u32_be(&bytes, at).and_then(|len| usize::try_from(len).ok()).ok_or(cut)?;
        let start = at.checked_sub(len).ok_or(cut)?;
        let (body, rest) = bytes.split_at_checked(start).ok_or(cut)?;
        match check::matches(body, rest.get(..len).unwrap_or_default()) {
            Some(true) => {}
            Some(false) => return Err("the check of the block does not match"),
            None => return Err("the check of the block is malformed"),
        }
        let at = start.checked_sub(4).ok_or(cut)?;
        let count = u32_be(&bytes, at).and_then(|count| usize::try_from(count).ok()).ok_or(cut)?;
        let entries = count.checked_mul(4).and_then(|len| at.checked_sub(len)).ok_or(cut)?;
        bytes.truncate(at);
        Ok(Self { bytes, entries, count })
    }

    /// The entry at an index; `None` if it is malformed.
    pub(super) fn entry(&self, index: usize) -> Option<Entry> {
        let offset = |index: usize| -> Option<usize> {
            usize::try_from(u32_le(&self.bytes, self.entries + 4 * index)?).ok()
        };
        let end = if index + 1 < self.count { offset(index + 1)? } else { self.entries };
        let entry = self.bytes.get(..self.entries)?.get(offset(index)?..end)?;
        let base_len = usize::from(u16_le(&self.bytes, 2)?);
        let base = self.bytes.get(4..4 + base_len)?;
        let overlap = usize::from(u16_le(entry, 0)?);
        let rest = usize::from(u16_le(entry, 2)?);
        let key = [base.get(..overlap)?, entry.get(4..4 + rest)?].concat();
        Entry::read(&key, entry.get(4 + rest..)?)
    }
}
