//! Version edits: what a manifest's records say.

use std::path::Path;

use keyplan_store::source::SourceError;

use super::bytes::Bytes;
use super::key::{self, Trailer};

/// A table that a version holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TableFile {
    pub(crate) number: u64,
    pub(crate) size: u64,
    pub(crate) smallest: Bound,
    pub(crate) largest: Bound,
    /// Of the entries in it, where the manifest says so.
    pub(crate) sequences: Option<(u64, u64)>,
}

/// The first or the last entry of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bound {
    pub(crate) key: Vec<u8>,
    pub(crate) trailer: Trailer,
}

/// One thing that an edit says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Comparator(Vec<u8>),
    Log(u64),
    NextFile(u64),
    LastSequence(u64),
    Delete {
        level: u32,
        number: u64,
    },
    Add {
        level: u32,
        file: Box<TableFile>,
    },
    /// What follows is about this column family.
    Family(u32),
    FamilyAdd(Vec<u8>),
    FamilyDrop,
    /// This edit is of a group that counts only if it is whole; so many more of it follow.
    Group(u32),
}

/// The most levels that a version has.
pub(crate) const MAX_LEVEL: u32 = 64;

/// Reads the edit in a record that lies at `offset` in the manifest.
pub(crate) fn changes(path: &Path, offset: u64, record: &[u8]) -> Result<Vec<Change>, SourceError> {
    let mut bytes = Bytes::new(record);
    let mut out = Vec::new();
    while !bytes.is_empty() {
        let damaged = |what: &str| SourceError::damaged(path, offset, what);
        let tag = bytes.varint32().ok_or_else(|| damaged("a version edit with a broken tag"))?;
        let read = change(&mut bytes, tag);
        match read {
            Ok(change) => out.extend(change),
            Err(Fault::Damaged) => {
                return Err(damaged(&format!("a version edit whose field {tag} is cut off or broken")));
            }
            Err(Fault::Unsupported(what)) => return Err(SourceError::unsupported(path, what)),
        }
    }
    Ok(out)
}

enum Fault {
    Damaged,
    Unsupported(String),
}

impl From<&str> for Fault {
    fn from(what: &str) -> Self {
        Self::Unsupported(what.to_owned())
    }
}

/// A tag with this bit may be skipped by a reader that does not know it: its field has its length before it.
const SKIPPABLE: u32 = 1 << 13;

fn change(bytes: &mut Bytes<'_>, tag: u32) -> Result<Option<Change>, Fault> {
    let cut = Fault::Damaged;
    let change = match tag {
        1 => Change::Comparator(bytes.prefixed().ok_or(cut)?.to_vec()),
        2 => Change::Log(bytes.varint().ok_or(cut)?),
        3 => Change::NextFile(bytes.varint().ok_or(cut)?),
        4 => Change::LastSequence(bytes.varint().ok_or(cut)?),
        5 => {
            level(bytes)?;
            bytes.prefixed().ok_or(cut)?;
            return Ok(None);
        }
        6 => Change::Delete { level: level(bytes)?, number: bytes.varint().ok_or(cut)? },
        7 | 100 | 102 | 103 => {
            let (level, file) = table(bytes, tag)?;
            Change::Add { level, file: Box::new(file) }
        }
        9 | 10 | 203 => {
            bytes.varint().ok_or(cut)?;
            return Ok(None);
        }
        104 => return Err("a table with range keys".into()),
        105 | 106 => return Err("a virtual table".into()),
        200 => Change::Family(bytes.varint32().ok_or(cut)?),
        201 => Change::FamilyAdd(bytes.prefixed().ok_or(cut)?.to_vec()),
        202 => Change::FamilyDrop,
        300 => Change::Group(bytes.varint32().ok_or(cut)?),
        400 | 401 => return Err("a blob file".into()),
        _ if tag & SKIPPABLE != 0 => {
            bytes.prefixed().ok_or(cut)?;
            return Ok(None);
        }
        _ => return Err(Fault::Unsupported(format!("a version edit with the field {tag}"))),
    };
    Ok(Some(change))
}

fn level(bytes: &mut Bytes<'_>) -> Result<u32, Fault> {
    bytes.varint32().filter(|&level| level < MAX_LEVEL).ok_or(Fault::Damaged)
}

fn table(bytes: &mut Bytes<'_>, tag: u32) -> Result<(u32, TableFile), Fault> {
    let cut = || Fault::Damaged;
    let level = level(bytes)?;
    let number = bytes.varint().ok_or_else(cut)?;
    if tag == 102 && bytes.varint32().ok_or_else(cut)? != 0 {
        return Err("a table in another directory".into());
    }
    let size = bytes.varint().ok_or_else(cut)?;
    let (smallest, largest) = (bound(bytes)?, bound(bytes)?);
    let mut sequences = None;
    if tag != 7 {
        sequences = Some((bytes.varint().ok_or_else(cut)?, bytes.varint().ok_or_else(cut)?));
    }
    if tag == 103 {
        extras(bytes)?;
    }
    Ok((level, TableFile { number, size, smallest, largest, sequences }))
}

fn bound(bytes: &mut Bytes<'_>) -> Result<Bound, Fault> {
    let whole = bytes.prefixed().ok_or(Fault::Damaged)?;
    let (user, trailer) = key::split(whole).ok_or(Fault::Damaged)?;
    Ok(Bound { key: user.to_vec(), trailer })
}

/// The tagged fields of a table, up to the terminator. A tag with bit 6 may not be skipped.
fn extras(bytes: &mut Bytes<'_>) -> Result<(), Fault> {
    loop {
        let tag = bytes.varint32().ok_or(Fault::Damaged)?;
        if tag == 1 {
            return Ok(());
        }
        let field = bytes.prefixed().ok_or(Fault::Damaged)?;
        match tag {
            4 if Bytes::new(field).varint() != Some(0) => return Err("a blob file".into()),
            65 if field != [0] => return Err("a table in another directory".into()),
            65 => {}
            66 => return Err("a virtual table".into()),
            _ if tag & 64 != 0 => {
                return Err(Fault::Unsupported(format!("a table with the field {tag}")));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(record: &[u8]) -> Result<Vec<Change>, String> {
        changes(Path::new("MANIFEST-000001"), 7, record).map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_not_understood_is_refused_by_name() {
        assert_eq!(read(&[104]), Err("MANIFEST-000001: a table with range keys is not supported".to_owned()));
        assert_eq!(read(&[0x90, 0x03]), Err("MANIFEST-000001: a blob file is not supported".to_owned()));
        let unknown = "MANIFEST-000001: a version edit with the field 99 is not supported";
        assert_eq!(read(&[99]), Err(unknown.to_owned()));
        assert_eq!(read(&[0x81, 0x40, 2, b'i', b'd', 2, 5]), Ok(vec![Change::Log(5)]));
    }

    #[test]
    fn a_field_that_is_cut_off_has_an_offset() {
        let broken = "MANIFEST-000001: byte 7: a version edit whose field 6 is cut off or broken";
        assert_eq!(read(&[6, 0]), Err(broken.to_owned()));
        assert_eq!(read(&[6, 0xff, 0xff, 0x03, 1]), Err(broken.to_owned()));
    }
}
