//! What logs say and tables do not yet: the newest write of each key.

use std::collections::BTreeMap;
use std::path::Path;

use keyplan_store::source::SourceError;

use super::batch::{Write, writes};
use super::files::LogFile;
use super::journal::{End, Journal};
use super::key::{RANGE_DELETION, Trailer};
use super::tombstone::Tombstone;
use super::version::Version;

/// The newest write of each key of a family, in the order of the keys.
#[derive(Debug, Default)]
pub(crate) struct Memtable {
    pub(crate) rows: Vec<MemoryRow>,
    pub(crate) tombstones: Vec<Tombstone>,
}

/// A write of a log.
#[derive(Debug)]
pub(crate) struct MemoryRow {
    pub(crate) key: Box<[u8]>,
    pub(crate) trailer: Trailer,
    pub(crate) value: Box<[u8]>,
}

impl Memtable {
    /// The first row that is not below `key`.
    pub(crate) fn at(&self, key: &[u8]) -> usize {
        self.rows.partition_point(|row| *row.key < *key)
    }

    /// The first row above `key`.
    pub(crate) fn after(&self, key: &[u8]) -> usize {
        self.rows.partition_point(|row| *row.key <= *key)
    }

    pub(crate) fn get(&self, key: &[u8]) -> Option<&MemoryRow> {
        self.rows.get(self.at(key)).filter(|row| *row.key == *key)
    }
}

/// Reads logs, the oldest first.
#[derive(Debug)]
pub(crate) struct Replay<'v> {
    version: &'v Version,
    pebble: bool,
    families: BTreeMap<u32, Growing>,
    /// A log that a record was torn off from, and where.
    torn: Option<SourceError>,
}

/// The trailer and the value of a key's newest write.
type Newest = (Trailer, Box<[u8]>);

#[derive(Debug, Default)]
struct Growing {
    rows: BTreeMap<Box<[u8]>, Newest>,
    tombstones: Vec<Tombstone>,
}

impl<'v> Replay<'v> {
    pub(crate) const fn new(version: &'v Version, pebble: bool) -> Self {
        Self { version, pebble, families: BTreeMap::new(), torn: None }
    }

    /// Takes in the log of that number. Returns whether its file may have been used before, and may be used again.
    pub(crate) fn log(&mut self, path: &Path, file: &LogFile, number: u64) -> Result<bool, SourceError> {
        let mut journal = Journal::log(path, file, number);
        let pebble = self.pebble;
        let mut last = 0;
        while let Some((offset, record)) = journal.next()? {
            // Only the last log may be torn: in an older one a record is missing that others came after.
            if let Some(torn) = self.torn.take() {
                return Err(torn);
            }
            last = offset;
            writes(path, offset, record, pebble, |write| self.write(write, number))?;
        }
        if journal.end() == Some(End::Torn) && self.torn.is_none() {
            self.torn = Some(SourceError::damaged(path, last, "the record after this one is torn off"));
        }
        Ok(journal.may_be_used_again())
    }

    fn write(&mut self, write: Write<'_>, log: u64) {
        // What the family has in tables is not applied again: compaction may have set sequence numbers to zero.
        if self.version.families.get(&write.family).is_none_or(|family| log < family.log) {
            return;
        }
        let family = self.families.entry(write.family).or_default();
        if write.kind == RANGE_DELETION {
            family.tombstones.push(Tombstone {
                start: write.key.to_vec(),
                end: write.value.to_vec(),
                sequence: write.sequence,
                smallest: None,
                largest: None,
            });
            return;
        }
        let newest = (Trailer::new(write.sequence, write.kind), Box::from(write.value));
        match family.rows.get_mut(write.key) {
            Some(row) => {
                if row.0 < newest.0 {
                    *row = newest;
                }
            }
            None => {
                family.rows.insert(Box::from(write.key), newest);
            }
        }
    }

    /// What was read, by family.
    pub(crate) fn finish(self) -> BTreeMap<u32, Memtable> {
        let sorted = |growing: Growing| Memtable {
            rows: growing
                .rows
                .into_iter()
                .map(|(key, (trailer, value))| MemoryRow { key, trailer, value })
                .collect(),
            tombstones: growing.tombstones,
        };
        self.families.into_iter().map(|(family, growing)| (family, sorted(growing))).collect()
    }
}
