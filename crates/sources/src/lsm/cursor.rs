//! The entries of a level, in order or against it.

use std::cmp::Ordering;
use std::ops::Bound;
use std::sync::Arc;

use keyplan_store::Direction;
use keyplan_store::source::SourceError;

use super::block::{Backward, Block, Entries};
use super::footer::Handle;
use super::index::Index;
use super::key::{self, Trailer};
use super::memtable::Memtable;
use super::table::Table;
use super::value_block::{Stored, stored};

/// Entries one after the other, each key's together.
#[derive(Debug)]
pub(crate) enum Cursor {
    /// Those of the logs.
    Memory(MemoryCursor),
    /// Those of tables that do not overlap.
    Tables(Box<TableCursor>),
}

impl Cursor {
    /// The key of the entry, without its trailer; `None` at the end.
    #[inline]
    pub(crate) fn key(&self) -> Option<(&[u8], Trailer)> {
        match self {
            Self::Memory(cursor) => cursor.row().map(|row| (&*row.key, row.trailer)),
            Self::Tables(cursor) => cursor.key(),
        }
    }

    /// Moves to the next entry of its direction.
    #[inline]
    pub(crate) fn advance(&mut self) -> Result<(), SourceError> {
        match self {
            Self::Memory(cursor) => cursor.advance(),
            Self::Tables(cursor) => return cursor.advance(),
        }
        Ok(())
    }

    /// Sees to it that the value can be lent.
    pub(crate) fn load(&mut self) -> Result<(), SourceError> {
        match self {
            Self::Memory(_) => Ok(()),
            Self::Tables(cursor) => cursor.load(),
        }
    }

    /// The value that was loaded.
    #[inline]
    pub(crate) fn value(&self) -> &[u8] {
        match self {
            Self::Memory(cursor) => cursor.row().map_or(&[], |row| &row.value),
            Self::Tables(cursor) => cursor.value(),
        }
    }

    /// An error about the entry where the cursor is.
    pub(crate) fn unsupported(&self, what: &str) -> SourceError {
        match self {
            Self::Memory(cursor) => SourceError::unsupported(&cursor.log, what),
            Self::Tables(cursor) => cursor.unsupported(what),
        }
    }

    /// An error about the entry where the cursor is.
    pub(crate) fn damaged(&self, what: &str) -> SourceError {
        match self {
            Self::Memory(cursor) => SourceError::damaged(&cursor.log, 0, what),
            Self::Tables(cursor) => cursor.damaged(what),
        }
    }
}

/// The writes of the logs.
#[derive(Debug)]
pub(crate) struct MemoryCursor {
    table: Arc<Memtable>,
    /// The newest log, for messages.
    log: std::path::PathBuf,
    at: usize,
    direction: Direction,
}

impl MemoryCursor {
    pub(crate) fn new(
        table: Arc<Memtable>,
        log: &std::path::Path,
        start: Bound<&[u8]>,
        direction: Direction,
    ) -> Self {
        // Against the order, `at` is one more than the row's place.
        let at =
            match (start, direction) {
                (Bound::Unbounded, Direction::Ascending) => 0,
                (Bound::Unbounded, Direction::Descending) => table.rows.len(),
                (Bound::Included(key), Direction::Ascending)
                | (Bound::Excluded(key), Direction::Descending) => table.at(key),
                (Bound::Excluded(key), Direction::Ascending)
                | (Bound::Included(key), Direction::Descending) => table.after(key),
            };
        Self { table, log: log.to_owned(), at, direction }
    }

    fn row(&self) -> Option<&super::memtable::MemoryRow> {
        match self.direction {
            Direction::Ascending => self.table.rows.get(self.at),
            Direction::Descending => self.table.rows.get(self.at.checked_sub(1)?),
        }
    }

    fn advance(&mut self) {
        match self.direction {
            Direction::Ascending => self.at += 1,
            Direction::Descending => self.at = self.at.saturating_sub(1),
        }
    }
}

/// Tables that do not overlap, in the order of their keys, and where in them we are.
#[derive(Debug)]
pub(crate) struct TableCursor {
    tables: Arc<[Arc<Table>]>,
    /// The table; against the order, one more than its place.
    at: usize,
    /// The end of the tables that this cursor is for; against the order, their beginning.
    stop: usize,
    direction: Direction,
    reading: Reading,
    open: Option<OpenTable>,
    /// A value that lay apart.
    apart: Option<Vec<u8>>,
}

/// What blocks are read for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// A walk: a block is used up and not asked for again.
    Walk,
    /// A single row: its block is kept for the next one.
    Row,
}

impl Reading {
    fn block(self, table: &Table, place: Handle) -> Result<Arc<Block>, SourceError> {
        match self {
            Self::Walk => table.block(place),
            Self::Row => table.kept_block(place),
        }
    }
}

#[derive(Debug)]
struct OpenTable {
    table: Arc<Table>,
    reading: Reading,
    upper: Option<(Arc<Index>, usize)>,
    index: Arc<Index>,
    /// The entry of the index that `block` is.
    at: usize,
    place: Handle,
    block: Arc<Block>,
    entries: Entries,
    backward: Backward,
    trailer: Trailer,
}

impl TableCursor {
    /// A cursor over the tables from `first` to before `end`, at the first entry within `start`.
    pub(crate) fn new(
        tables: Arc<[Arc<Table>]>,
        (first, end): (usize, usize),
        start: Bound<&[u8]>,
        direction: Direction,
        reading: Reading,
    ) -> Result<Self, SourceError> {
        let part = tables.get(first..end).unwrap_or_default();
        let (at, stop) = match direction {
            Direction::Ascending => {
                let skipped = part.partition_point(|table| match start {
                    Bound::Unbounded => false,
                    Bound::Included(key) => table.file.largest.key.as_slice() < key,
                    Bound::Excluded(key) => table.file.largest.key.as_slice() <= key,
                });
                (first + skipped, end)
            }
            Direction::Descending => {
                let kept = part.partition_point(|table| match start {
                    Bound::Unbounded => true,
                    Bound::Included(key) => table.file.smallest.key.as_slice() <= key,
                    Bound::Excluded(key) => (table.file.smallest.key.as_slice()) < key,
                });
                (first + kept, first)
            }
        };
        let mut cursor = Self { tables, at, stop, direction, reading, open: None, apart: None };
        cursor.open_table(start)?;
        Ok(cursor)
    }

    /// Opens the table where we are, or the next one that has an entry.
    fn open_table(&mut self, mut start: Bound<&[u8]>) -> Result<(), SourceError> {
        loop {
            self.open = None;
            let place = match self.direction {
                Direction::Ascending if self.at < self.stop => self.at,
                Direction::Descending if self.at > self.stop => self.at - 1,
                _ => return Ok(()),
            };
            let Some(table) = self.tables.get(place).map(Arc::clone) else { return Ok(()) };
            match self.direction {
                Direction::Ascending => self.at += 1,
                Direction::Descending => self.at -= 1,
            }
            self.open = OpenTable::new(table, start, self.direction, self.reading)?;
            start = Bound::Unbounded;
            if self.open.is_some() {
                return Ok(());
            }
        }
    }

    #[inline]
    fn key(&self) -> Option<(&[u8], Trailer)> {
        let open = self.open.as_ref()?;
        let key = match self.direction {
            Direction::Ascending => &open.entries.key,
            Direction::Descending => open.backward.last()?.0,
        };
        Some((key.split_last_chunk::<8>()?.0, open.trailer))
    }

    fn advance(&mut self) -> Result<(), SourceError> {
        self.apart = None;
        let Some(open) = &mut self.open else { return Ok(()) };
        if !open.advance(self.direction)? {
            self.open_table(Bound::Unbounded)?;
        }
        Ok(())
    }

    fn load(&mut self) -> Result<(), SourceError> {
        let Some(open) = &self.open else { return Ok(()) };
        let form = open.table.form()?;
        if form.has_value_prefix() && form_kind(open) == 1 {
            match stored(open.raw(self.direction)) {
                Some(Stored::Here(_)) => {}
                Some(Stored::Apart(handle)) => self.apart = Some(open.table.value_at(handle, open.place)?),
                None => return Err(self.damaged("a value with an unknown first byte")),
            }
        }
        Ok(())
    }

    #[inline]
    fn value(&self) -> &[u8] {
        if let Some(apart) = &self.apart {
            return apart;
        }
        let Some(open) = &self.open else { return &[] };
        let raw = open.raw(self.direction);
        let prefixed =
            open.table.form().is_ok_and(super::table::Form::has_value_prefix) && form_kind(open) == 1;
        if prefixed { raw.get(1..).unwrap_or_default() } else { raw }
    }

    fn unsupported(&self, what: &str) -> SourceError {
        match &self.open {
            Some(open) => SourceError::unsupported(&open.table.path, what),
            None => SourceError::Absent { what: what.to_owned() },
        }
    }

    fn damaged(&self, what: &str) -> SourceError {
        match &self.open {
            Some(open) => SourceError::damaged(&open.table.path, open.place.offset, what),
            None => SourceError::Absent { what: what.to_owned() },
        }
    }
}

fn form_kind(open: &OpenTable) -> u8 {
    open.trailer.kind()
}

impl OpenTable {
    /// Opens a table at the first entry within `start`; `None` if it has none.
    fn new(
        table: Arc<Table>,
        start: Bound<&[u8]>,
        direction: Direction,
        reading: Reading,
    ) -> Result<Option<Self>, SourceError> {
        let top = table.index()?;
        let two_levels = table.form()?.two_levels;
        let Some(at) = first_block(&top, start, direction) else { return Ok(None) };
        let (upper, index, at) = if two_levels {
            let Some(part) = top.handle(at) else { return Ok(None) };
            let index = table.index_at(part)?;
            let Some(inner) = first_block(&index, start, direction) else { return Ok(None) };
            (Some((top, at)), index, inner)
        } else {
            (None, top, at)
        };
        let Some(place) = index.handle(at) else { return Ok(None) };
        let block = reading.block(&table, place)?;
        let mut open = Self {
            table,
            reading,
            upper,
            index,
            at,
            place,
            block,
            entries: Entries::default(),
            backward: Backward::default(),
            trailer: Trailer::NEWEST,
        };
        open.begin_block(start, direction)?;
        if open.settle(start, direction)? { Ok(Some(open)) } else { Ok(None) }
    }

    /// Moves to the next entry of the table; `false` at its end.
    #[inline]
    fn advance(&mut self, direction: Direction) -> Result<bool, SourceError> {
        match direction {
            Direction::Ascending => {
                if self.entries.next(&self.block).map_err(|fault| self.table.fault(self.place, fault))? {
                    self.read_trailer(direction)?;
                    return Ok(true);
                }
                self.check_last()?;
            }
            Direction::Descending => {
                self.backward.pop();
                if self.backward.last().is_some() {
                    self.read_trailer(direction)?;
                    return Ok(true);
                }
            }
        }
        self.next_block_with_entries(direction)
    }

    /// After [`begin_block`](Self::begin_block): goes to the first entry within `start`.
    fn settle(&mut self, start: Bound<&[u8]>, direction: Direction) -> Result<bool, SourceError> {
        if direction == Direction::Descending {
            if self.backward.last().is_some() {
                self.read_trailer(direction)?;
                return Ok(true);
            }
            return self.next_block_with_entries(direction);
        }
        loop {
            if !self.advance(direction)? {
                return Ok(false);
            }
            let user = self.entries.key.split_last_chunk::<8>().map_or(&[][..], |(user, _)| user);
            let reached = match start {
                Bound::Unbounded => true,
                Bound::Included(key) => user >= key,
                Bound::Excluded(key) => user > key,
            };
            if reached {
                return Ok(true);
            }
        }
    }

    fn next_block_with_entries(&mut self, direction: Direction) -> Result<bool, SourceError> {
        loop {
            if !self.next_block(direction)? {
                return Ok(false);
            }
            self.begin_block(Bound::Unbounded, direction)?;
            let has = match direction {
                Direction::Ascending => {
                    self.entries.next(&self.block).map_err(|fault| self.table.fault(self.place, fault))?
                }
                Direction::Descending => self.backward.last().is_some(),
            };
            if has {
                self.read_trailer(direction)?;
                return Ok(true);
            }
        }
    }

    fn next_block(&mut self, direction: Direction) -> Result<bool, SourceError> {
        let next = match direction {
            Direction::Ascending => Some(self.at + 1),
            Direction::Descending => self.at.checked_sub(1),
        };
        if let Some((next, place)) = next.and_then(|next| Some((next, self.index.handle(next)?))) {
            (self.at, self.place) = (next, place);
            self.block = self.reading.block(&self.table, place)?;
            return Ok(true);
        }
        let Some((upper, at)) = &mut self.upper else { return Ok(false) };
        let next = match direction {
            Direction::Ascending => Some(*at + 1),
            Direction::Descending => at.checked_sub(1),
        };
        let Some((next, part)) = next.and_then(|next| Some((next, upper.handle(next)?))) else {
            return Ok(false);
        };
        *at = next;
        self.index = self.table.index_at(part)?;
        self.at = match direction {
            Direction::Ascending => 0,
            Direction::Descending => self.index.len().saturating_sub(1),
        };
        let Some(place) = self.index.handle(self.at) else { return self.next_block(direction) };
        self.place = place;
        self.block = self.reading.block(&self.table, place)?;
        Ok(true)
    }

    /// Sets up the entries of a new block.
    fn begin_block(&mut self, start: Bound<&[u8]>, direction: Direction) -> Result<(), SourceError> {
        let block = &self.block;
        let read = match direction {
            Direction::Ascending => match start {
                Bound::Unbounded => {
                    self.entries.rewind();
                    Ok(())
                }
                Bound::Included(target) | Bound::Excluded(target) => {
                    self.entries.seek(block, |key| Some(key::split(key)?.0 < target))
                }
            },
            Direction::Descending => self.backward.fill(block, |key| {
                let user = key::split(key)?.0;
                Some(match start {
                    Bound::Unbounded => true,
                    Bound::Included(last) => user <= last,
                    Bound::Excluded(last) => user < last,
                })
            }),
        };
        read.map_err(|fault| self.table.fault(self.place, fault))
    }

    #[inline]
    fn read_trailer(&mut self, direction: Direction) -> Result<(), SourceError> {
        let key = match direction {
            Direction::Ascending => &self.entries.key[..],
            Direction::Descending => self.backward.last().map_or(&[][..], |(key, _)| key),
        };
        let Some((_, stored)) = key::split(key) else {
            return Err(SourceError::damaged(
                &self.table.path,
                self.place.offset,
                "a key without a sequence number",
            ));
        };
        self.trailer = self.table.form()?.trailer(stored);
        Ok(())
    }

    /// The last key of a block must not be above the index's.
    fn check_last(&self) -> Result<(), SourceError> {
        let last = self.entries.key.split_last_chunk::<8>().map_or(&[][..], |(user, _)| user);
        if self.index.key(self.at).is_some_and(|bound| last > bound) {
            let what = "a key that is above the one in the index";
            return Err(SourceError::damaged(&self.table.path, self.place.offset, what));
        }
        Ok(())
    }

    #[inline]
    fn raw(&self, direction: Direction) -> &[u8] {
        match direction {
            Direction::Ascending => self.block.slice(self.entries.value.clone()),
            Direction::Descending => self.backward.last().map_or(&[], |(_, value)| self.block.slice(value)),
        }
    }
}

/// The block of an index with the first entry within `start`.
fn first_block(index: &Index, start: Bound<&[u8]>, direction: Direction) -> Option<usize> {
    let last = index.len().checked_sub(1)?;
    match (start, direction) {
        (Bound::Unbounded, Direction::Ascending) => Some(0),
        (Bound::Unbounded, Direction::Descending) => Some(last),
        // The keys of a block are not above its entry: the first entry that reaches the bound has the block.
        (Bound::Included(key) | Bound::Excluded(key), Direction::Ascending) => {
            Some(index.search(|entry| entry.cmp(key))).filter(|&at| at <= last)
        }
        (Bound::Excluded(key), Direction::Descending) => Some(index.search(|entry| entry.cmp(key)).min(last)),
        (Bound::Included(key), Direction::Descending) => {
            let above = |entry: &[u8]| if entry <= key { Ordering::Less } else { Ordering::Greater };
            Some(index.search(above).min(last))
        }
    }
}

/// The newest entry of a key in a table: its trailer and its value.
pub(crate) fn lookup(table: &Arc<Table>, key: &[u8]) -> Result<Option<(Trailer, Vec<u8>)>, SourceError> {
    let tables: Arc<[Arc<Table>]> = Arc::from([Arc::clone(table)]);
    let mut cursor =
        TableCursor::new(tables, (0, 1), Bound::Included(key), Direction::Ascending, Reading::Row)?;
    match cursor.key() {
        Some((found, trailer)) if found == key => {
            cursor.load()?;
            Ok(Some((trailer, cursor.value().to_vec())))
        }
        _ => Ok(None),
    }
}
