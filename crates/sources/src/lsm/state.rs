//! One state of a database: what its manifest, its logs and its tables say together.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use keyplan_store::Direction;
use keyplan_store::source::SourceError;

use super::cursor::{Cursor, MemoryCursor, Reading, TableCursor, lookup};
use super::directory::Flavour;
use super::key::{self, Entry, Trailer};
use super::memtable::Memtable;
use super::table::Table;
use super::tombstone::Tombstones;
use super::version::{Family, Version};

/// A state that does not change.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) families: Vec<Arc<FamilyState>>,
}

/// The part of a state that is one family: a space.
#[derive(Debug)]
pub(crate) struct FamilyState {
    pub(crate) name: String,
    pub(crate) pebble: bool,
    memory: Arc<Memtable>,
    log: PathBuf,
    /// Tables of level 0, the newest first; they may overlap.
    overlapping: Arc<[Arc<Table>]>,
    /// Tables of each other level, in the order of their keys.
    levels: Vec<Arc<[Arc<Table>]>>,
    tombstones: Tombstones,
}

impl State {
    /// Puts together the rows of logs, of which `log` is the newest, and the tables of a version.
    pub(crate) fn build(
        flavour: Flavour,
        version: Version,
        mut memory: BTreeMap<u32, Memtable>,
        log: &Path,
        tables: &BTreeMap<u64, Arc<Table>>,
    ) -> Result<Self, SourceError> {
        let mut families = Vec::new();
        for (number, family) in version.families {
            let memory = memory.remove(&number).unwrap_or_default();
            families.push(Arc::new(FamilyState::build(flavour, family, memory, log, tables)?));
        }
        Ok(Self { families })
    }
}

impl FamilyState {
    fn build(
        flavour: Flavour,
        family: Family,
        mut memory: Memtable,
        log: &Path,
        tables: &BTreeMap<u64, Arc<Table>>,
    ) -> Result<Self, SourceError> {
        let mut tombstones = std::mem::take(&mut memory.tombstones);
        let mut overlapping = Arc::from([]);
        let mut levels = Vec::new();
        for (level, files) in family.levels {
            let opened = files.iter().filter_map(|file| tables.get(&file.number).cloned());
            let opened: Arc<[Arc<Table>]> = opened.collect();
            for table in opened.iter() {
                if flavour != Flavour::LevelDb || !table.is_leveldb()? {
                    tombstones.extend(table.tombstones()?);
                }
            }
            if level == 0 { overlapping = opened } else { levels.push(opened) }
        }
        Ok(Self {
            name: family.name,
            pebble: flavour == Flavour::Pebble,
            memory: Arc::new(memory),
            log: log.to_owned(),
            overlapping,
            levels,
            tombstones: Tombstones::new(&tombstones),
        })
    }

    /// A cursor for everything that may overlap.
    pub(crate) fn cursors(
        &self,
        start: Bound<&[u8]>,
        direction: Direction,
    ) -> Result<Vec<Cursor>, SourceError> {
        let memory = MemoryCursor::new(Arc::clone(&self.memory), &self.log, start, direction);
        let mut out = vec![Cursor::Memory(memory)];
        let mut add = |tables: &Arc<[Arc<Table>]>, part| {
            let cursor = TableCursor::new(Arc::clone(tables), part, start, direction, Reading::Walk)?;
            out.push(Cursor::Tables(Box::new(cursor)));
            Ok::<_, SourceError>(())
        };
        for place in 0..self.overlapping.len() {
            add(&self.overlapping, (place, place + 1))?;
        }
        for level in &self.levels {
            add(level, (0, level.len()))?;
        }
        Ok(out)
    }

    /// Whether the newest entry of a key is a row; `cursor` is at the entry.
    pub(crate) fn visible(&self, key: &[u8], trailer: Trailer, cursor: &Cursor) -> Result<bool, SourceError> {
        self.judge(key, trailer).map_err(|fault| match fault {
            Judged::Unknown(kind) => {
                cursor.damaged(&format!("an entry of kind {kind}, which does not exist"))
            }
            Judged::Unsupported(what) => cursor.unsupported(what),
        })
    }

    fn judge(&self, key: &[u8], trailer: Trailer) -> Result<bool, Judged> {
        match key::entry(trailer.kind(), self.pebble) {
            None => Err(Judged::Unknown(trailer.kind())),
            Some(Entry::Gone) => Ok(false),
            Some(_) if self.tombstones.hide(key, trailer) => Ok(false),
            Some(Entry::Row) => Ok(true),
            Some(Entry::Other(what)) => Err(Judged::Unsupported(what)),
        }
    }

    /// The value of a key.
    pub(crate) fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, SourceError> {
        let fault = |path: &Path, fault| match fault {
            Judged::Unknown(kind) => {
                SourceError::damaged(path, 0, format!("an entry of kind {kind}, which does not exist"))
            }
            Judged::Unsupported(what) => SourceError::unsupported(path, what),
        };
        if let Some(row) = self.memory.get(key) {
            let visible = self.judge(key, row.trailer).map_err(|judged| fault(&self.log, judged))?;
            return Ok(visible.then(|| row.value.to_vec()));
        }
        let Some((table, trailer, value)) = self.newest(key)? else { return Ok(None) };
        let visible = self.judge(key, trailer).map_err(|judged| fault(&table.path, judged))?;
        Ok(visible.then_some(value))
    }

    /// The newest entry of a key in tables. An entry of a level is newer than those of the levels below.
    fn newest(&self, key: &[u8]) -> Result<Option<Found<'_>>, SourceError> {
        let mut newest: Option<Found<'_>> = None;
        for table in self.overlapping.iter().filter(|table| table.spans(key)) {
            if let Some((trailer, value)) = lookup(table, key)?
                && newest.as_ref().is_none_or(|&(_, before, _)| before < trailer)
            {
                newest = Some((table, trailer, value));
            }
        }
        if newest.is_some() {
            return Ok(newest);
        }
        for level in &self.levels {
            let first = level.partition_point(|table| table.file.largest.key.as_slice() < key);
            // Entries of one key may go on in the next table: the newest come first.
            for table in level.iter().skip(first).take_while(|table| table.spans(key)) {
                if let Some((trailer, value)) = lookup(table, key)? {
                    return Ok(Some((table, trailer, value)));
                }
            }
        }
        Ok(None)
    }
}

/// An entry, and the table that has it.
type Found<'f> = (&'f Table, Trailer, Vec<u8>);

enum Judged {
    Unknown(u8),
    Unsupported(&'static str),
}
