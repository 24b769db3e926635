use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::fmt::Write as _;

use super::Duplicates;
use super::run::{Row, Run, Sorted, Source};
use crate::engine::{Space, SpaceId};
use crate::error::StoreError;

/// The rows of several sorted sources as one, each key once.
pub(super) struct Merge<'s> {
    sources: Vec<Source>,
    heap: BinaryHeap<Head>,
    duplicates: Duplicates,
    // For their names.
    spaces: &'s [Space],
    // Rows whose buffers are free.
    spare: Vec<Row>,
    // The row that comes next, with later duplicates of it taken in.
    ready: Option<Row>,
}

/// The next row of a source.
struct Head {
    row: Row,
    source: usize,
}

impl Ord for Head {
    /// The greatest is taken first: the smallest key, and of equal ones that of the earliest source.
    fn cmp(&self, other: &Self) -> Ordering {
        (other.row.space, &other.row.key, other.source).cmp(&(self.row.space, &self.row.key, self.source))
    }
}

impl PartialOrd for Head {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Head {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Head {}

impl<'s> Merge<'s> {
    /// Merges runs, oldest first, and what is in memory, which is the newest.
    pub(super) fn new(
        runs: &[Run],
        memory: Sorted,
        duplicates: Duplicates,
        spaces: &'s [Space],
    ) -> Result<Self, StoreError> {
        let mut sources =
            runs.iter().map(|run| run.read().map(Source::File)).collect::<Result<Vec<_>, _>>()?;
        sources.push(Source::Memory(memory));
        let heap = BinaryHeap::with_capacity(sources.len());
        let mut merge = Self { heap, sources, duplicates, spaces, spare: Vec::new(), ready: None };
        for source in 0..merge.sources.len() {
            merge.refill(source)?;
        }
        merge.advance()?;
        Ok(merge)
    }

    /// The space of the next row.
    pub(super) fn space(&self) -> Option<SpaceId> {
        self.ready.as_ref().map(|row| SpaceId(row.space))
    }

    /// The next row.
    pub(super) fn next(&mut self) -> Result<Option<Row>, StoreError> {
        let row = self.ready.take();
        if row.is_some() {
            self.advance()?;
        }
        Ok(row)
    }

    /// The next row, if it is of this space.
    pub(super) fn next_of(&mut self, space: SpaceId) -> Result<Option<Row>, StoreError> {
        if self.space() == Some(space) { self.next() } else { Ok(None) }
    }

    /// Takes back a row, for its buffers.
    pub(super) fn reuse(&mut self, row: Row) {
        self.spare.push(row);
    }

    /// Takes the smallest row, and those with the same key behind it, into `ready`.
    fn advance(&mut self) -> Result<(), StoreError> {
        let Some(mut row) = self.pop()? else { return Ok(()) };
        while self.heap.peek().is_some_and(|head| head.row.space == row.space && head.row.key == row.key) {
            let Some(later) = self.pop()? else { break };
            if self.duplicates == Duplicates::Refuse && later.value != row.value {
                return Err(self.duplicate(&row));
            }
            self.spare.push(std::mem::replace(&mut row, later));
        }
        self.ready = Some(row);
        Ok(())
    }

    fn pop(&mut self) -> Result<Option<Row>, StoreError> {
        let Some(mut head) = self.heap.peek_mut() else { return Ok(None) };
        let mut next = self.spare.pop().unwrap_or_default();
        let source = self.sources.get_mut(head.source);
        if source.map(|source| source.take(&mut next)).transpose()?.unwrap_or(false) {
            // Changed in place, it moves once to where it belongs.
            std::mem::swap(&mut head.row, &mut next);
            return Ok(Some(next));
        }
        self.spare.push(next);
        Ok(Some(PeekMut::pop(head).row))
    }

    fn refill(&mut self, source: usize) -> Result<(), StoreError> {
        let mut row = self.spare.pop().unwrap_or_default();
        let Some(from) = self.sources.get_mut(source) else { return Ok(()) };
        if from.take(&mut row)? {
            self.heap.push(Head { row, source });
        } else {
            self.spare.push(row);
        }
        Ok(())
    }

    #[cold]
    fn duplicate(&self, row: &Row) -> StoreError {
        let mut key = String::new();
        for byte in &row.key {
            // Writing to a string does not fail.
            let _ = write!(key, "{byte:02x}");
        }
        let space = self.spaces.get(SpaceId(row.space).index());
        let space = space.map_or_else(|| row.space.to_string(), |space| space.name.clone());
        StoreError::DuplicateKey { space, key }
    }
}
