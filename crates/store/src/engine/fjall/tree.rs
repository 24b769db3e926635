//! Reads the files of one keyspace as the engine writes them, and changes nothing.
//!
//! ```text
//! current  version u64 le | checksum of its file u128 le | 00
//! vN       an archive; its section `tables`: levels u8, and for each runs u8, and for each tables u32 le, and for each
//!          id u64 le | 00 | checksum of its file u128 le | number of an ingestion u64 le, or 0
//! N        an archive; its section `meta` is a block of names and values
//! archive  sections | "TOC!" | count u32 le | (position u64 le | length u64 le | name length u16 le | name)…
//!          | "SFA!" | 01 | 00 | checksum of the contents u128 le | their position u64 le | their length u64 le
//! block    "LSM" 03 | kind u8 | checksum u128 le | length u32 le | length u32 le | checksum of the header u32 le | data
//! ```
//!
//! The engine checks neither the checksum of a version nor that of a table, and takes a keyspace without `current` for
//! one that was never finished: it deletes its tables.

use std::fs::File;
use std::io::{ErrorKind, Read, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use super::journal::{le32, le64};
use crate::engine::Error;

/// The folder with one folder for each keyspace; the engine's own is the first.
pub(super) const KEYSPACES: &str = "keyspaces";
/// The file that names the version of a keyspace.
pub(super) const CURRENT: &str = "current";
/// The folder with the tables of a keyspace.
pub(super) const TABLES: &str = "tables";

/// A keyspace on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tree {
    /// The name of its folder.
    pub(super) id: u64,
    /// The version that is current.
    pub(super) version: u64,
    /// The tables of that version.
    pub(super) tables: Vec<Table>,
}

/// A table on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Table {
    /// The name of its file.
    pub(super) id: u64,
    /// The checksum of its file, as its version says.
    pub(super) checksum: u128,
    /// The checksum of its properties, which no other table has: they hold when it was made, to the nanosecond.
    pub(super) identity: u128,
    /// The highest number of a batch in it.
    pub(super) highest: u64,
    /// Whether it was filled without a journal.
    pub(super) ingested: bool,
}

impl Tree {
    /// The number of the newest batch that is in tables.
    pub(super) fn highest(&self) -> Option<u64> {
        self.tables.iter().map(|table| table.highest).max()
    }

    /// The path of a table inside the database.
    pub(super) fn table_name(&self, table: &Table) -> String {
        format!("{KEYSPACES}/{}/{TABLES}/{}", self.id, table.id)
    }
}

/// What is known of a keyspace's folder.
pub(super) enum Folder {
    /// It has a version.
    Whole(Tree),
    /// It has none, and nothing else that a finished keyspace has: the process ended while it was made.
    Unfinished(u64),
}

impl Folder {
    /// The keyspace, if it has a version.
    pub(super) fn whole(self) -> Option<Tree> {
        match self {
            Self::Whole(tree) => Some(tree),
            Self::Unfinished(_) => None,
        }
    }
}

/// Reads every keyspace of a database, in the order of their numbers.
pub(super) fn read_all(directory: &Path) -> Result<Vec<Folder>, Error> {
    let mut ids = Vec::new();
    for entry in std::fs::read_dir(directory.join(KEYSPACES)).map_err(Error::io("listing the keyspaces"))? {
        let entry = entry.map_err(Error::io("listing the keyspaces"))?;
        let id = entry.file_name().to_str().and_then(|name| name.parse::<u64>().ok());
        match id {
            Some(id) if entry.path().is_dir() => ids.push(id),
            _ if entry.path().is_dir() => {
                let name = entry.file_name();
                return Err(damaged(&format!("{KEYSPACES}/{}", name.display()), "is not a keyspace"));
            }
            // The engine passes over stray files.
            _ => {}
        }
    }
    ids.sort_unstable();
    ids.into_iter().map(|id| read(directory, id)).collect()
}

fn read(directory: &Path, id: u64) -> Result<Folder, Error> {
    let folder = directory.join(KEYSPACES).join(id.to_string());
    let name = |file: &str| format!("{KEYSPACES}/{id}/{file}");
    let Some(current) = bytes(&folder.join(CURRENT))? else {
        return if was_finished(&folder)? {
            Err(damaged(&name(CURRENT), "is missing"))
        } else {
            Ok(Folder::Unfinished(id))
        };
    };
    let mut current = Bytes(&current);
    let (Some(version), Some(checksum)) = (current.u64(), current.u128()) else {
        return Err(damaged(&name(CURRENT), "is cut"));
    };
    let file = format!("v{version}");
    let manifest = bytes(&folder.join(&file))?.ok_or_else(|| damaged(&name(&file), "is missing"))?;
    if xxh3_128(&manifest) != checksum {
        return Err(damaged(&name(&file), "does not have the checksum that `current` says"));
    }
    let listed = section(&manifest, b"tables")
        .and_then(tables)
        .ok_or_else(|| damaged(&name(&file), "is malformed"))?;
    let mut tree = Tree { id, version, tables: Vec::with_capacity(listed.len()) };
    for listed in listed {
        let path = folder.join(TABLES).join(listed.id.to_string());
        let name = name(&format!("{TABLES}/{}", listed.id));
        tree.tables.push(table(&path, &name, &listed)?);
    }
    Ok(Folder::Whole(tree))
}

/// Whether a keyspace without a version was in use: it has a table, or a version that is not the first.
fn was_finished(folder: &Path) -> Result<bool, Error> {
    let in_use = |name: &str| name.strip_prefix('v').is_some_and(|version| version != "0");
    let tables = match std::fs::read_dir(folder.join(TABLES)) {
        Ok(mut tables) => tables.next().is_some(),
        Err(error) if error.kind() == ErrorKind::NotFound => false,
        Err(error) => return Err(Error::io("listing the tables")(error)),
    };
    let versions = std::fs::read_dir(folder).map_err(Error::io("listing the versions"))?;
    let versions = versions.filter_map(Result::ok).any(|entry| in_use(&entry.file_name().to_string_lossy()));
    Ok(tables || versions)
}

/// A table as its version lists it.
struct Listed {
    id: u64,
    checksum: u128,
    ingestion: u64,
}

fn tables(section: &[u8]) -> Option<Vec<Listed>> {
    let mut section = Bytes(section);
    let mut found = Vec::new();
    for _ in 0..section.u8()? {
        for _ in 0..section.u8()? {
            for _ in 0..section.u32()? {
                let id = section.u64()?;
                (section.u8()? == 0).then_some(())?;
                found.push(Listed { id, checksum: section.u128()?, ingestion: section.u64()? });
            }
        }
    }
    Some(found)
}

/// The bytes at the end of an archive, after its list of contents.
const ARCHIVE_END: u64 = 38;
/// The bytes of a block's header.
const BLOCK_HEADER: usize = 33;
/// The most bytes of properties and contents that are believed: keys are in them, of 64 KiB each at most.
const MOST: u64 = 16 * 1024 * 1024;

fn table(path: &Path, name: &str, listed: &Listed) -> Result<Table, Error> {
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Err(damaged(name, "is missing")),
        Err(error) => return Err(Error::io("opening a table")(error)),
    };
    let properties = properties(&mut file).map_err(Error::io("reading a table"))?;
    let malformed = || damaged(name, "is not as it was written");
    let (identity, properties) = properties.ok_or_else(malformed)?;
    let (id, highest) = numbers(&properties).ok_or_else(malformed)?;
    if id != listed.id {
        return Err(damaged(name, &format!("is table {id}")));
    }
    let highest = highest.saturating_add(listed.ingestion);
    let ingested = listed.ingestion > 0;
    Ok(Table { id, checksum: listed.checksum, identity, highest, ingested })
}

/// The properties of a table, with their checksum; nothing if they, or another block that the engine reads when it
/// opens the table, are not as they were written.
fn properties(file: &mut File) -> std::io::Result<Option<(u128, Vec<u8>)>> {
    let length = file.seek(SeekFrom::End(0))?;
    let Some(at) = length.checked_sub(ARCHIVE_END) else { return Ok(None) };
    let end = read_at(file, at, ARCHIVE_END)?;
    let Some((toc_checksum, position)) = archive_end(&end) else { return Ok(None) };
    let Some(toc_length) = at.checked_sub(position).filter(|length| *length <= MOST) else { return Ok(None) };
    let toc = read_at(file, position, toc_length)?;
    if xxh3_128(&toc) != toc_checksum {
        return Ok(None);
    }
    let inside = |name: &[u8]| {
        find(&toc, name)
            .filter(|(position, length)| position.checked_add(*length).is_some_and(|end| end <= at))
    };
    for (name, needed) in ON_OPENING {
        let found = inside(name);
        if found.is_none() && (needed || find(&toc, name).is_some()) {
            return Ok(None);
        }
        if let Some((position, length)) = found
            && !block_is_whole(file, position, length)?
        {
            return Ok(None);
        }
    }
    let Some((position, length)) = inside(b"meta").filter(|(_, length)| *length <= MOST) else {
        return Ok(None);
    };
    let block = read_at(file, position, length)?;
    let checked = || {
        let (header, data) = block.split_at_checked(BLOCK_HEADER)?;
        let (checksum, length) = block_header(header)?;
        let data = data.get(..usize::try_from(length).ok()?)?;
        (xxh3_128(data) == checksum).then(|| (checksum, data.to_vec()))
    };
    Ok(checked())
}

/// The sections of one block each that the engine reads when it opens a table, and whether every table has them. A
/// filter of several blocks has an index of its own, and its blocks are read later.
const ON_OPENING: [(&[u8], bool); 3] = [(b"tli", true), (b"filter_tli", false), (b"filter", false)];

/// The checksum of a block's data, and their length.
fn block_header(header: &[u8]) -> Option<(u128, u32)> {
    let own = header.get(..BLOCK_HEADER - 4)?;
    let mut header = Bytes(header);
    (header.take::<4>()? == *b"LSM\x03").then_some(())?;
    header.u8()?;
    let (checksum, length) = (header.u128()?, header.u32()?);
    header.u32()?;
    // The lower half of the lower half.
    let low = xxh3_128(own) & u128::from(u32::MAX);
    (u128::from(header.u32()?) == low).then_some((checksum, length))
}

/// Whether the block at the beginning of a section has the checksums that it says.
fn block_is_whole(file: &mut File, position: u64, length: u64) -> std::io::Result<bool> {
    let header = read_at(file, position, BLOCK_HEADER as u64)?;
    let Some((checksum, data)) = block_header(&header) else { return Ok(false) };
    if length < BLOCK_HEADER as u64 + u64::from(data) {
        return Ok(false);
    }
    Ok(hashed(&mut file.take(data.into()))? == checksum)
}

/// The checksum of everything that a reader gives.
fn hashed(reader: &mut impl Read) -> std::io::Result<u128> {
    let (mut hash, mut chunk) = (Xxh3::new(), vec![0; 1 << 16]);
    loop {
        let read = reader.read(&mut chunk)?;
        if read == 0 {
            return Ok(hash.digest128());
        }
        hash.update(chunk.get(..read).unwrap_or_default());
    }
}

/// The number of a table, and that of the newest batch in it: each property is `00 | 00 | name | value`, with lengths.
fn numbers(properties: &[u8]) -> Option<(u64, u64)> {
    let mut rest = Bytes(properties);
    let (mut id, mut highest) = (None, None);
    while id.is_none() || highest.is_none() {
        (rest.u8()? == 0 && rest.u8()? == 0).then_some(())?;
        let (name, value) = (rest.counted()?, rest.counted()?);
        match name {
            b"table_id" => id = Some(le64(value.try_into().ok()?)),
            b"seqno#max" => highest = Some(le64(value.try_into().ok()?)),
            _ => {}
        }
    }
    Some((id?, highest?))
}

/// Compares a whole table with the checksum that its version says.
pub(super) fn verify(directory: &Path, tree: &Tree, table: &Table) -> Result<(), Error> {
    let name = tree.table_name(table);
    let reading = || Error::io("reading a table");
    let mut file = File::open(directory.join(&name)).map_err(reading())?;
    if hashed(&mut file).map_err(reading())? == table.checksum {
        Ok(())
    } else {
        Err(damaged(&name, "does not have the checksum that its version says"))
    }
}

/// The contents of a section of an archive.
fn section<'a>(archive: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let (rest, end) =
        archive.split_at_checked(archive.len().checked_sub(usize::try_from(ARCHIVE_END).ok()?)?)?;
    let (_, position) = archive_end(end)?;
    let toc = rest.get(usize::try_from(position).ok()?..)?;
    let (position, length) = find(toc, name)?;
    let begin = usize::try_from(position).ok()?;
    rest.get(begin..begin.checked_add(usize::try_from(length).ok()?)?)
}

/// The checksum of an archive's list of contents, and where it is.
fn archive_end(end: &[u8]) -> Option<(u128, u64)> {
    let mut end = Bytes(end);
    (end.take::<4>()? == *b"SFA!" && end.take::<2>()? == [1, 0]).then_some(())?;
    Some((end.u128()?, end.u64()?))
}

fn find(toc: &[u8], name: &[u8]) -> Option<(u64, u64)> {
    let mut toc = Bytes(toc);
    (toc.take::<4>()? == *b"TOC!").then_some(())?;
    for _ in 0..toc.u32()? {
        let (position, length) = (toc.u64()?, toc.u64()?);
        let [low, high] = toc.take()?;
        if toc.slice(usize::from(low) | usize::from(high) << 8)? == name {
            return Some((position, length));
        }
    }
    None
}

/// All of a small file; `None` if there is none.
fn bytes(path: &PathBuf) -> Result<Option<Vec<u8>>, Error> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::io("reading the version of a keyspace")(error)),
    }
}

fn read_at(file: &mut File, at: u64, length: u64) -> std::io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(at))?;
    let mut bytes = Vec::new();
    file.take(length).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A file of the database that is not what it should be.
pub(super) fn damaged(file: &str, what: &str) -> Error {
    Error::corrupt(format!("`{file}` {what}"))
}

/// Bytes that are read from the front.
struct Bytes<'b>(&'b [u8]);

impl<'b> Bytes<'b> {
    fn slice(&mut self, length: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.slice(N)?.try_into().ok()
    }

    fn u8(&mut self) -> Option<u8> {
        self.take::<1>().map(|[byte]| byte)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take().map(le32)
    }

    fn u64(&mut self) -> Option<u64> {
        self.take().map(le64)
    }

    fn u128(&mut self) -> Option<u128> {
        let (low, high) = (self.u64()?, self.u64()?);
        Some(u128::from(low) | u128::from(high) << 64)
    }

    /// Bytes after their length, seven bits of it in a byte, the lowest first.
    fn counted(&mut self) -> Option<&'b [u8]> {
        let mut length = 0_usize;
        for shift in [0, 7, 14, 21, 28] {
            let byte = self.u8()?;
            length |= usize::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return self.slice(length);
            }
        }
        None
    }
}
