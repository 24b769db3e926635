use std::collections::BTreeMap;
use std::fmt::Debug;
use std::ops::Bound;
use std::path::PathBuf;
use std::sync::Arc;

use keyplan_store::Direction;
use keyplan_store::source::SourceError;

use super::entry::{Entry, VersionedKey};
use super::manifest::TableEntry;
use super::table::{Block, Table};

/// What was committed and is in no table yet.
pub(super) type Memory = BTreeMap<VersionedKey, Entry>;

/// Entries in order, or against it.
pub(super) trait Entries: Debug + Send {
    /// The next entry; `None` at the end.
    fn next(&mut self) -> Result<Option<Entry>, SourceError>;
}

/// Entries of memory.
#[derive(Debug)]
pub(super) struct MemoryCursor {
    pub(super) memory: Arc<Memory>,
    pub(super) direction: Direction,
    /// The next entry lies after it, or before it.
    pub(super) from: Bound<VersionedKey>,
}

impl Entries for MemoryCursor {
    fn next(&mut self) -> Result<Option<Entry>, SourceError> {
        let from = self.from.as_ref();
        let found = match self.direction {
            Direction::Ascending => self.memory.range((from, Bound::Unbounded)).next(),
            Direction::Descending => self.memory.range((Bound::Unbounded, from)).next_back(),
        };
        let Some((at, entry)) = found else { return Ok(None) };
        self.from = Bound::Excluded(at.clone());
        Ok(Some(entry.clone()))
    }
}

/// Tables of which the keys do not overlap, in the order of their first keys; each with that key.
pub(super) type Level = Arc<Vec<(VersionedKey, TableEntry)>>;

/// Entries of such tables, one open at a time.
#[derive(Debug)]
pub(super) struct LevelCursor {
    directory: PathBuf,
    level: Level,
    direction: Direction,
    // The table that is open or is to be opened next; `None` at the end.
    table: Option<usize>,
    // The open table, and the block that is open or is to be read next; `None` after the last.
    open: Option<(Table, Option<usize>)>,
    // The open block, and the gap before the entries to come or after those.
    entries: Option<(Block, usize)>,
}

impl LevelCursor {
    /// Starts at or before the first entry of `key` (at or after its last one, if it descends); at the end without a key.
    pub(super) fn new(
        directory: PathBuf,
        level: Level,
        direction: Direction,
        key: Option<&[u8]>,
    ) -> Result<Self, SourceError> {
        let table = start(direction, level.len(), key, |index| level.get(index).map(|(first, _)| first));
        let mut cursor = Self { directory, level, direction, table, open: None, entries: None };
        if key.is_some() {
            cursor.open(key)?;
        }
        Ok(cursor)
    }

    /// Opens the table that is to come; false at the end.
    fn open(&mut self, key: Option<&[u8]>) -> Result<bool, SourceError> {
        let Some((_, entry)) = self.table.and_then(|index| self.level.get(index)) else { return Ok(false) };
        let table = Table::open(&self.directory, entry)?;
        let first = |index: usize| table.blocks.get(index).map(|block| &block.first);
        let block = start(self.direction, table.blocks.len(), key, first);
        self.open = Some((table, block));
        Ok(true)
    }
}

const fn step(direction: Direction, index: usize) -> Option<usize> {
    match direction {
        Direction::Ascending => index.checked_add(1),
        Direction::Descending => index.checked_sub(1),
    }
}

/// Which of `count` pieces, each with its first key, a walk begins in.
fn start<'k>(
    direction: Direction,
    count: usize,
    key: Option<&[u8]>,
    first: impl Fn(usize) -> Option<&'k VersionedKey>,
) -> Option<usize> {
    let last = count.checked_sub(1)?;
    let Some(key) = key else { return Some(if direction == Direction::Ascending { 0 } else { last }) };
    let is_before = |index: usize| {
        first(index).is_some_and(|first| match direction {
            Direction::Ascending => first.key.as_slice() < key,
            Direction::Descending => first.key.as_slice() <= key,
        })
    };
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low.midpoint(high);
        if is_before(middle) { low = middle + 1 } else { high = middle }
    }
    match direction {
        Direction::Ascending => Some(low.saturating_sub(1)),
        Direction::Descending => low.checked_sub(1),
    }
}

impl Entries for LevelCursor {
    fn next(&mut self) -> Result<Option<Entry>, SourceError> {
        loop {
            let Some((table, place)) = &mut self.open else {
                if self.open(None)? {
                    continue;
                }
                return Ok(None);
            };
            if let Some((block, gap)) = &mut self.entries {
                let index = match self.direction {
                    Direction::Ascending => (*gap < block.count).then_some(*gap),
                    Direction::Descending => gap.checked_sub(1),
                };
                if let Some(index) = index {
                    *gap = if self.direction == Direction::Ascending { index + 1 } else { index };
                    let malformed = || table.damaged(place.unwrap_or(0), "an entry of a block is malformed");
                    return block.entry(index).ok_or_else(malformed).map(Some);
                }
                self.entries = None;
                *place = place.and_then(|place| step(self.direction, place));
            }
            if let Some(block) = place.map(|place| table.block(place)).transpose()?.flatten() {
                let gap = if self.direction == Direction::Ascending { 0 } else { block.count };
                self.entries = Some((block, gap));
            } else {
                self.table = self.table.and_then(|table| step(self.direction, table));
                self.open = None;
            }
        }
    }
}
