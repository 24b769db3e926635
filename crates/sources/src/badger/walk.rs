use std::cmp::Ordering;
use std::sync::Arc;

use keyplan_store::Direction;
use keyplan_store::engine::{KeyRange, OwnedKeyRange};
use keyplan_store::source::{RowRef, SourceError, Walk};

use super::State;
use super::cursor::Entries;
use super::entry::{Entry, EntryValue, VersionedKey};

/// What keys begin with that Badger writes for itself.
pub(super) const INTERNAL: &[u8] = b"!badger!";
/// What is put before a key whose value was moved to another log.
const MOVED: &[u8] = b"!badger!move";

/// The newest entry of each key, whatever it is, merged from all cursors.
#[derive(Debug)]
pub(super) struct Newest {
    cursors: Vec<Box<dyn Entries>>,
    // The next entry of each cursor.
    heads: Vec<Option<Entry>>,
    direction: Direction,
    held: Option<Entry>,
    is_started: bool,
}

impl Newest {
    /// The cursors in the order in which they count: the first wins where two have the same version of a key.
    pub(super) const fn new(cursors: Vec<Box<dyn Entries>>, direction: Direction) -> Self {
        Self { cursors, heads: Vec::new(), direction, held: None, is_started: false }
    }

    /// The next key's newest entry.
    pub(super) fn next(&mut self) -> Result<Option<Entry>, SourceError> {
        if !self.is_started {
            self.is_started = true;
            self.heads = self.cursors.iter_mut().map(|cursor| cursor.next()).collect::<Result<_, _>>()?;
        }
        loop {
            let Some(taken) = self.take()? else { return Ok(self.held.take()) };
            let Some(held) = &mut self.held else {
                self.held = Some(taken);
                continue;
            };
            if held.at.key != taken.at.key {
                return Ok(self.held.replace(taken));
            }
            // Ascending, the newest version came first; descending, it comes last.
            if self.direction == Direction::Descending {
                *held = taken;
            }
        }
    }

    /// The entry that comes next of all; of equal ones the one that counts, last if the walk descends.
    fn take(&mut self) -> Result<Option<Entry>, SourceError> {
        let mut best: Option<usize> = None;
        for (index, head) in self.heads.iter().enumerate() {
            let Some(head) = head else { continue };
            let order = best.and_then(|best| self.heads.get(best)?.as_ref()).map(|best| head.compare(best));
            let is_better = match (order, self.direction) {
                (None, _) => true,
                (Some(order), Direction::Ascending) => order == Ordering::Less,
                (Some(order), Direction::Descending) => order != Ordering::Less,
            };
            if is_better {
                best = Some(index);
            }
        }
        let Some(best) = best else { return Ok(None) };
        let next = self.cursors.get_mut(best).map(|cursor| cursor.next()).transpose()?.flatten();
        Ok(self.heads.get_mut(best).and_then(|head| std::mem::replace(head, next)))
    }
}

/// Rows as a reader of the database sees them now.
#[derive(Debug)]
pub(super) struct Rows {
    state: Arc<State>,
    entries: Option<Newest>,
    direction: Direction,
    range: OwnedKeyRange,
    key: Vec<u8>,
    has_key: bool,
    value: Vec<u8>,
}

impl Rows {
    pub(super) fn open(
        state: Arc<State>,
        range: KeyRange<'_>,
        direction: Direction,
    ) -> Result<Self, SourceError> {
        let entries = if range.is_empty() { None } else { Some(state.newest(range, direction)?) };
        Ok(Self {
            state,
            entries,
            direction,
            range: range.to_owned(),
            key: Vec::new(),
            has_key: false,
            value: Vec::new(),
        })
    }

    fn advance(&mut self) -> Result<bool, SourceError> {
        let Some(entries) = &mut self.entries else { return Ok(false) };
        while let Some(entry) = entries.next()? {
            let key = &entry.at.key;
            let in_order = match self.direction {
                Direction::Ascending => self.key < *key,
                Direction::Descending => self.key > *key,
            };
            if self.has_key && !in_order {
                return Err(SourceError::damaged(
                    &self.state.directory,
                    0,
                    "the keys of a table are not in order",
                ));
            }
            self.key.clear();
            self.key.extend_from_slice(key);
            self.has_key = true;
            if !self.range.borrow().contains(key) {
                // The first entries may lie before the range; the first after it ends the walk.
                let is_past = match self.direction {
                    Direction::Ascending => {
                        KeyRange { start: std::ops::Bound::Unbounded, ..self.range.borrow() }
                    }
                    Direction::Descending => {
                        KeyRange { end: std::ops::Bound::Unbounded, ..self.range.borrow() }
                    }
                };
                if is_past.contains(key) {
                    continue;
                }
                return Ok(false);
            }
            if key.starts_with(INTERNAL) || !entry.is_visible(self.state.now) {
                continue;
            }
            self.value = self.state.value(entry)?;
            return Ok(true);
        }
        Ok(false)
    }
}

impl Walk for Rows {
    fn next(&mut self) -> Result<Option<RowRef<'_>>, SourceError> {
        let found = self.advance();
        if !matches!(found, Ok(true)) {
            self.entries = None;
        }
        Ok(found?.then_some(RowRef { key: &self.key, value: &self.value }))
    }
}

impl State {
    /// The value of an entry, wherever it is.
    fn value(&self, entry: Entry) -> Result<Vec<u8>, SourceError> {
        let mut at = entry.at;
        let mut value = entry.value;
        // A value that was moved is under another key, once.
        for _ in 0..2 {
            let pointer = match value {
                EntryValue::Here(bytes) => return Ok(bytes),
                EntryValue::Log(pointer) => pointer,
            };
            if let Some(bytes) = self.logs.value(pointer, &at)? {
                return Ok(bytes);
            }
            let moved = VersionedKey { key: [MOVED, &at.key].concat(), age: at.age };
            let found = self.exactly(&moved)?;
            let found = found.ok_or_else(|| {
                let what = format!("value log {} is gone, and a value in it was not moved", pointer.file);
                SourceError::damaged(&self.directory, 0, what)
            })?;
            (at, value) = (moved, found.value);
        }
        Err(SourceError::damaged(&self.directory, 0, "a value was moved to a log that is gone"))
    }
}
