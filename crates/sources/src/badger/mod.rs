//! Badger 2: sorted tables, and value logs that are also the write-ahead log.
//!
//! What a reader sees now: the newest version of each key, unless it is deleted or has expired. What was committed after
//! the tables is taken from the value logs, as the program itself does when it starts after a crash. Badger 1, Badger 3
//! and later, and encrypted databases are refused.

mod check;
mod cursor;
mod entry;
mod manifest;
mod protobuf;
mod table;
mod value_log;
mod walk;

use std::collections::BTreeMap;
use std::io;
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use keyplan_store::Direction;
use keyplan_store::engine::{KeyRange, Space, SpaceId};
use keyplan_store::source::{Source, SourceError, View, Walk};

use crate::plain_file::PlainFile;
use cursor::{Entries, Level, LevelCursor, Memory, MemoryCursor};
use entry::{Entry, EntryValue, Pointer, VersionedKey};
use table::Table;
use value_log::ValueLogs;
use walk::{Newest, Rows};

/// What the one space of a database is called.
pub const SPACE: &str = "default";
/// The key under which the place is kept up to which the value logs are in tables.
const HEAD: &[u8] = b"!badger!head";
/// How often opening starts again when a writer replaces tables meanwhile.
const ATTEMPTS: usize = 8;

/// A Badger database.
#[derive(Debug)]
pub struct Badger {
    state: Arc<State>,
}

/// A database at one moment.
#[derive(Debug)]
struct State {
    directory: PathBuf,
    memory: Arc<Memory>,
    // The tables of the first level one by one, the newest first; then each level below.
    levels: Vec<Level>,
    logs: ValueLogs,
    // Seconds since 1970, for what expires.
    now: u64,
}

impl Badger {
    /// Whether a directory holds such a database.
    pub fn fits(path: &Path) -> bool {
        let mut head = [0; 4];
        PlainFile::open(&path.join("MANIFEST")).is_ok_and(|file| file.read_at(0, &mut head).is_ok())
            && head == *manifest::MAGIC
    }

    /// Opens the database in a directory.
    pub fn open(path: &Path) -> Result<Self, SourceError> {
        for _ in 0..ATTEMPTS {
            let tables = manifest::read(path)?;
            match Self::open_tables(path, tables.clone()) {
                // A table that is gone was compacted into others, if the manifest says so now.
                Err(SourceError::Io { source, .. })
                    if source.kind() == io::ErrorKind::NotFound && manifest::read(path)? != tables => {}
                done => return done,
            }
        }
        Err(SourceError::Changing {
            path: path.to_owned(),
            what: "tables were replaced each time".to_owned(),
        })
    }

    fn open_tables(path: &Path, tables: Vec<manifest::TableEntry>) -> Result<Self, SourceError> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let mut levels: BTreeMap<(u64, usize), Vec<(VersionedKey, manifest::TableEntry)>> = BTreeMap::new();
        for (index, entry) in tables.into_iter().enumerate() {
            let table = Table::open(path, &entry)?;
            let Some(first) = table.blocks.first().map(|block| block.first.clone()) else { continue };
            // Tables of the first level overlap: each is a level of its own.
            let part = if entry.level == 0 { index } else { 0 };
            levels.entry((entry.level, part)).or_default().push((first, entry));
        }
        let levels = levels.into_values().map(|mut level| {
            level.sort_by(|(one, _), (other, _)| one.cmp(other));
            Arc::new(level)
        });
        let logs = ValueLogs::new(path);
        let mut state =
            State { directory: path.to_owned(), memory: Arc::default(), levels: levels.collect(), logs, now };
        let head = state.head()?;
        let mut memory = Memory::new();
        state.logs.replay(head, |entry| {
            memory.insert(entry.at.clone(), entry);
        })?;
        state.memory = Arc::new(memory);
        Ok(Self { state: Arc::new(state) })
    }
}

impl State {
    fn newest(&self, range: KeyRange<'_>, direction: Direction) -> Result<Newest, SourceError> {
        let start = if direction == Direction::Ascending { range.start } else { range.end };
        let key = match start {
            Bound::Included(key) | Bound::Excluded(key) => Some(key),
            Bound::Unbounded => None,
        };
        let age = if direction == Direction::Ascending { 0 } else { u64::MAX };
        let from =
            key.map_or(Bound::Unbounded, |key| Bound::Included(VersionedKey { key: key.to_vec(), age }));
        let memory = MemoryCursor { memory: self.memory.clone(), direction, from };
        let mut cursors: Vec<Box<dyn Entries>> = vec![Box::new(memory)];
        for level in &self.levels {
            cursors.push(Box::new(LevelCursor::new(self.directory.clone(), level.clone(), direction, key)?));
        }
        Ok(Newest::new(cursors, direction))
    }

    /// The newest entry of one key.
    fn entry(&self, key: &[u8]) -> Result<Option<Entry>, SourceError> {
        let mut newest = self.newest(KeyRange::from(key), Direction::Ascending)?;
        while let Some(entry) = newest.next()? {
            if entry.at.key.as_slice() >= key {
                return Ok((entry.at.key == key).then_some(entry));
            }
        }
        Ok(None)
    }

    /// The entry of one key at one version.
    fn exactly(&self, at: &VersionedKey) -> Result<Option<Entry>, SourceError> {
        if let Some(entry) = self.memory.get(at) {
            return Ok(Some(entry.clone()));
        }
        for level in &self.levels {
            let mut cursor =
                LevelCursor::new(self.directory.clone(), level.clone(), Direction::Ascending, Some(&at.key))?;
            while let Some(entry) = cursor.next()? {
                if entry.at >= *at {
                    if entry.at == *at {
                        return Ok(Some(entry));
                    }
                    break;
                }
            }
        }
        Ok(None)
    }

    /// Up to where the value logs are in tables.
    fn head(&self) -> Result<Option<Pointer>, SourceError> {
        Ok(self.entry(HEAD)?.and_then(|entry| match entry.value {
            EntryValue::Here(bytes) => Pointer::read(&bytes),
            EntryValue::Log(_) => None,
        }))
    }
}

impl Source for Badger {
    fn kind(&self) -> &'static str {
        "badger"
    }

    fn spaces(&self) -> Vec<Space> {
        vec![Space::map(SPACE)]
    }

    fn view(&self) -> Result<Box<dyn View>, SourceError> {
        Ok(Box::new(BadgerView { state: self.state.clone() }))
    }
}

#[derive(Debug)]
struct BadgerView {
    state: Arc<State>,
}

impl BadgerView {
    fn rows(&self, space: SpaceId, range: KeyRange<'_>, direction: Direction) -> Result<Rows, SourceError> {
        if space != SpaceId(0) {
            return Err(SourceError::no_space(space));
        }
        Rows::open(self.state.clone(), range, direction)
    }
}

impl View for BadgerView {
    fn walk(
        &self,
        space: SpaceId,
        range: KeyRange<'_>,
        direction: Direction,
    ) -> Result<Box<dyn Walk>, SourceError> {
        Ok(Box::new(self.rows(space, range, direction)?))
    }
}
