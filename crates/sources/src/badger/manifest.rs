use std::collections::BTreeMap;
use std::path::Path;

use keyplan_store::source::SourceError;

use super::protobuf::{Field, fields};
use crate::number::u32_be;
use crate::plain_file::PlainFile;

/// What the file begins with.
pub(super) const MAGIC: &[u8; 4] = b"Bdgr";
/// The version that is read: that of Badger 2.
const VERSION: u32 = 7;
/// The manifest itself is read as a whole.
const MAX_MANIFEST: u64 = 256 << 20;

/// A table that counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TableEntry {
    pub(super) id: u64,
    pub(super) level: u64,
    pub(super) compression: Compression,
}

/// How the blocks of a table are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compression {
    None,
    Snappy,
    Zstd,
}

/// The tables that a manifest leaves, in the order of their levels; the newest first in each.
///
/// `Bdgr | version (4)`, then changes: `length (4) | crc32c (4) | ManifestChangeSet {1 repeated ManifestChange {1 id, 2
/// operation (0 adds, 1 removes), 3 level, 4 key, 6 compression}}`, big-endian.
pub(super) fn read(directory: &Path) -> Result<Vec<TableEntry>, SourceError> {
    let path = directory.join("MANIFEST");
    let file = PlainFile::open(&path)?;
    let len = file.len()?;
    if len > MAX_MANIFEST {
        return Err(SourceError::unsupported(&path, format!("a manifest of {len} bytes")));
    }
    let bytes = file.bytes(0, len)?;
    if !bytes.starts_with(MAGIC) {
        return Err(file.damaged(0, "this is not a manifest of Badger"));
    }
    match u32_be(&bytes, 4) {
        Some(VERSION) => {}
        Some(version @ ..VERSION) => {
            return Err(SourceError::unsupported(&path, format!("Badger 1 (manifest version {version})")));
        }
        Some(version) => {
            return Err(SourceError::unsupported(
                &path,
                format!("Badger 3 or later (manifest version {version})"),
            ));
        }
        None => return Err(file.damaged(4, "the manifest is cut off")),
    }
    let mut tables = BTreeMap::new();
    let mut at = 8;
    while let (Some(size), Some(sum)) = (u32_be(&bytes, at), u32_be(&bytes, at + 4)) {
        let offset = at as u64;
        let end = usize::try_from(size).ok().and_then(|size| size.checked_add(at + 8));
        let Some(end) = end.filter(|_| u64::from(size) <= len) else {
            return Err(file.damaged(offset, format!("a change of {size} bytes in a file of {len}")));
        };
        // A change that was being written when the program ended is not one yet.
        let Some(change) = bytes.get(at + 8..end) else { break };
        if crc32c::crc32c(change) != sum {
            return Err(file.damaged(offset, "the check of a change does not match"));
        }
        let malformed = || file.damaged(offset, "a change that is not understood");
        let mut fault = None;
        let read = fields(change, |number, field| {
            if number == 1 {
                fault = fault.take().or(apply(&mut tables, field.bytes()?, &path)?);
            }
            Some(())
        });
        if let Some(error) = fault {
            return Err(error);
        }
        read.ok_or_else(malformed)?;
        at = end;
    }
    let mut tables: Vec<TableEntry> = tables.into_values().collect();
    tables.sort_by(|one, other| one.level.cmp(&other.level).then(other.id.cmp(&one.id)));
    Ok(tables)
}

/// Applies one change; the inner value is what is not supported.
#[expect(
    clippy::option_option,
    reason = "a change may be malformed, and may be of something that is not read"
)]
fn apply(tables: &mut BTreeMap<u64, TableEntry>, change: &[u8], path: &Path) -> Option<Option<SourceError>> {
    let (mut id, mut operation, mut level, mut key, mut compression) = (0, 0, 0, 0, 0);
    fields(change, |number, field| {
        let Field::Number(value) = field else { return Some(()) };
        match number {
            1 => id = value,
            2 => operation = value,
            3 => level = value,
            4 => key = value,
            6 => compression = value,
            _ => {}
        }
        Some(())
    })?;
    if operation == 1 {
        return tables.remove(&id).map(|_| None);
    }
    if key != 0 {
        return Some(Some(SourceError::unsupported(path, "Badger with encryption")));
    }
    let compression = match compression {
        0 => Compression::None,
        1 => Compression::Snappy,
        2 => Compression::Zstd,
        other => return Some(Some(SourceError::unsupported(path, format!("compression number {other}")))),
    };
    let is_new = operation == 0 && tables.insert(id, TableEntry { id, level, compression }).is_none();
    is_new.then_some(None)
}
