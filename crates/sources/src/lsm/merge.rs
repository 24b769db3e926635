//! The rows of a family: the newest entry of each key, over all levels.

use std::cmp::Ordering;
use std::sync::Arc;

use keyplan_store::Direction;
use keyplan_store::engine::OwnedKeyRange;
use keyplan_store::source::{RowRef, SourceError, Walk};

use super::cursor::Cursor;
use super::key::{self, Trailer};
use super::state::FamilyState;

/// A walk over the rows of a range.
#[derive(Debug)]
pub(crate) struct Merge {
    family: Arc<FamilyState>,
    /// The last bound of the range, in the walk's direction.
    range: OwnedKeyRange,
    direction: Direction,
    cursors: Vec<Cursor>,
    /// The cursors that are not at their end, as a heap: the one to take next is first.
    heap: Vec<usize>,
    key: Vec<u8>,
    started: bool,
    done: bool,
    /// Whether the first cursor must move before anything else.
    taken: bool,
    /// Against the order: the newest entry of the key so far.
    value: Vec<u8>,
}

impl Merge {
    pub(crate) fn new(
        family: &Arc<FamilyState>,
        range: OwnedKeyRange,
        direction: Direction,
    ) -> Result<Self, SourceError> {
        let start = match direction {
            Direction::Ascending => range.borrow().start,
            Direction::Descending => range.borrow().end,
        };
        let done = range.borrow().is_empty();
        let cursors = if done { Vec::new() } else { family.cursors(start, direction)? };
        let heap =
            (0..cursors.len()).filter(|&at| cursors.get(at).is_some_and(|c| c.key().is_some())).collect();
        let mut merge = Self {
            family: Arc::clone(family),
            range,
            direction,
            cursors,
            heap,
            key: Vec::new(),
            started: false,
            done,
            taken: false,
            value: Vec::new(),
        };
        for at in (0..merge.heap.len() / 2).rev() {
            merge.sift(at);
        }
        Ok(merge)
    }

    #[inline]
    fn before(&self, a: usize, b: usize) -> bool {
        let key =
            |place: usize| self.heap.get(place).and_then(|&at| self.cursors.get(at)).and_then(Cursor::key);
        match (key(a), key(b)) {
            (Some(a), Some(b)) => match self.direction {
                Direction::Ascending => key::compare(a, b) == Ordering::Less,
                Direction::Descending => key::compare(a, b) == Ordering::Greater,
            },
            (a, _) => a.is_some(),
        }
    }

    fn sift(&mut self, mut at: usize) {
        loop {
            let (left, right) = (2 * at + 1, 2 * at + 2);
            if left >= self.heap.len() {
                return;
            }
            let child = if right < self.heap.len() && self.before(right, left) { right } else { left };
            if !self.before(child, at) {
                return;
            }
            self.heap.swap(child, at);
            at = child;
        }
    }

    /// Moves the first cursor, and finds the one that is first then.
    #[inline]
    fn advance(&mut self) -> Result<(), SourceError> {
        let Some(cursor) = self.heap.first().and_then(|&at| self.cursors.get_mut(at)) else { return Ok(()) };
        cursor.advance()?;
        if cursor.key().is_none() {
            self.heap.swap_remove(0);
        }
        if self.heap.len() > 1 {
            self.sift(0);
        }
        Ok(())
    }

    fn first(&self) -> Option<&Cursor> {
        self.heap.first().and_then(|&at| self.cursors.get(at))
    }

    /// Goes to the first entry of the next key; `false` at the end of the range.
    fn next_key(&mut self) -> Result<bool, SourceError> {
        loop {
            if std::mem::take(&mut self.taken) {
                self.advance()?;
            }
            let Some(cursor) = self.heap.first().and_then(|&at| self.cursors.get(at)) else {
                return Ok(false);
            };
            let Some((key, _)) = cursor.key() else { return Ok(false) };
            if self.started {
                let order = match self.direction {
                    Direction::Ascending => key.cmp(&self.key),
                    Direction::Descending => self.key.as_slice().cmp(key),
                };
                match order {
                    Ordering::Equal => {
                        self.taken = true;
                        continue;
                    }
                    Ordering::Less => return Err(cursor.damaged("keys that are not in order")),
                    Ordering::Greater => {}
                }
            }
            self.started = true;
            self.key.clear();
            self.key.extend_from_slice(key);
            return Ok(self.range.borrow().contains(&self.key));
        }
    }

    /// What the entry where a cursor is says about the key.
    fn visible(&self, trailer: Trailer, cursor: &Cursor) -> Result<bool, SourceError> {
        self.family.visible(&self.key, trailer, cursor)
    }

    fn ascend(&mut self) -> Result<bool, SourceError> {
        while self.next_key()? {
            self.taken = true;
            let Some((_, trailer)) = self.first().and_then(Cursor::key) else { break };
            let visible = match self.first() {
                Some(cursor) => self.visible(trailer, cursor)?,
                None => false,
            };
            if visible {
                if let Some(cursor) = self.heap.first().and_then(|&at| self.cursors.get_mut(at)) {
                    cursor.load()?;
                }
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Against the order, the oldest entry of a key comes first: all are looked at, and the last one counts.
    fn descend(&mut self) -> Result<bool, SourceError> {
        while self.next_key()? {
            let mut newest = Ok(false);
            while let Some(cursor) = self.first()
                && let Some((key, trailer)) = cursor.key()
                && key == self.key
            {
                newest = self.visible(trailer, cursor);
                if matches!(newest, Ok(true)) {
                    self.copy_value()?;
                }
                self.advance()?;
            }
            if newest? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn copy_value(&mut self) -> Result<(), SourceError> {
        if let Some(cursor) = self.heap.first().and_then(|&at| self.cursors.get_mut(at)) {
            cursor.load()?;
            self.value.clear();
            self.value.extend_from_slice(cursor.value());
        }
        Ok(())
    }
}

impl Walk for Merge {
    fn next(&mut self) -> Result<Option<RowRef<'_>>, SourceError> {
        if self.done {
            return Ok(None);
        }
        let found = match self.direction {
            Direction::Ascending => self.ascend(),
            Direction::Descending => self.descend(),
        };
        if !matches!(found, Ok(true)) {
            self.done = true;
        }
        if !found? {
            return Ok(None);
        }
        let value = match self.direction {
            Direction::Ascending => self.first().map_or(&[][..], Cursor::value),
            Direction::Descending => &self.value,
        };
        Ok(Some(RowRef { key: &self.key, value }))
    }
}
