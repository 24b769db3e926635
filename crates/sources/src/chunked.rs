//! Rows in a file from first to last, reached through an index of a few of them.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::ops::Bound;
use std::sync::Arc;

use keyplan_store::Direction;
use keyplan_store::engine::{KeyRange, OwnedKeyRange, Space, SpaceId, SpaceKind};
use keyplan_store::source::{RowRef, Source, SourceError, View, Walk};

/// The number of its space, its key and its value.
pub(crate) type Row = (u32, Vec<u8>, Vec<u8>);

/// Where rows that follow each other are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chunk {
    /// The space and the key of the first row.
    pub(crate) first: (u32, Vec<u8>),
    /// Where the rows are; what that means is the reader's.
    pub(crate) offset: u64,
    /// How long they are.
    pub(crate) len: u64,
}

/// Reads rows again that were read when the source was opened.
pub(crate) trait ReadChunk: Debug + Send + Sync {
    /// The rows of a chunk, in order.
    fn rows(&self, chunk: &Chunk) -> Result<Vec<Row>, SourceError>;
}

/// Rows that are in memory.
#[derive(Debug)]
pub(crate) struct InMemory(Vec<Row>);

impl ReadChunk for InMemory {
    fn rows(&self, chunk: &Chunk) -> Result<Vec<Row>, SourceError> {
        let place = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        let end = place(chunk.offset).saturating_add(place(chunk.len));
        Ok(self.0.get(place(chunk.offset)..end).unwrap_or_default().to_vec())
    }
}

/// How many rows of memory are a chunk.
const ROWS: usize = 1024;

/// Notes whether rows come in order, and which spaces have several values for a key.
#[derive(Debug, Default)]
pub(crate) struct Order {
    last: Option<Row>,
    /// Whether every row so far came after the one before it.
    pub(crate) is_kept: bool,
    multimaps: BTreeSet<u32>,
}

impl Order {
    pub(crate) fn new() -> Self {
        Self { is_kept: true, ..Self::default() }
    }

    pub(crate) fn note(&mut self, row: &Row) {
        if let Some(last) = &self.last {
            self.is_kept &= last < row;
            if (last.0, &last.1) == (row.0, &row.1) {
                self.multimaps.insert(row.0);
            }
        }
        self.last.clone_from(&Some(row.clone()));
    }

    fn spaces(&self, names: Vec<String>) -> Vec<Space> {
        let kind = |id: &u32| if self.multimaps.contains(id) { SpaceKind::Multimap } else { SpaceKind::Map };
        (0..).zip(names).map(|(id, name)| Space { kind: kind(&id), ..Space::map(name) }).collect()
    }
}

/// A source of such rows.
#[derive(Debug)]
pub(crate) struct Chunked {
    kind: &'static str,
    spaces: Vec<Space>,
    rows: Arc<Rows>,
}

#[derive(Debug)]
struct Rows {
    index: Vec<Chunk>,
    reader: Box<dyn ReadChunk>,
}

impl Chunked {
    /// Rows that are in order, as `order` has noted.
    pub(crate) fn new(
        kind: &'static str,
        names: Vec<String>,
        order: &Order,
        index: Vec<Chunk>,
        reader: Box<dyn ReadChunk>,
    ) -> Self {
        Self { kind, spaces: order.spaces(names), rows: Arc::new(Rows { index, reader }) }
    }

    /// Rows in any order; of rows that are there twice one is kept.
    pub(crate) fn in_memory(kind: &'static str, names: Vec<String>, mut rows: Vec<Row>) -> Self {
        rows.sort_unstable();
        rows.dedup();
        let mut order = Order::new();
        for row in &rows {
            order.note(row);
        }
        let chunk = |(number, part): (usize, &[Row])| {
            let (space, key, _) = part.first()?;
            let (offset, len) = (u64::try_from(number * ROWS).ok()?, u64::try_from(part.len()).ok()?);
            Some(Chunk { first: (*space, key.clone()), offset, len })
        };
        let index = rows.chunks(ROWS).enumerate().filter_map(chunk).collect();
        Self::new(kind, names, &order, index, Box::new(InMemory(rows)))
    }
}

impl Source for Chunked {
    fn kind(&self) -> &str {
        self.kind
    }

    fn spaces(&self) -> Vec<Space> {
        self.spaces.clone()
    }

    fn view(&self) -> Result<Box<dyn View>, SourceError> {
        let spaces = u32::try_from(self.spaces.len()).unwrap_or(u32::MAX);
        Ok(Box::new(ChunkedView { rows: self.rows.clone(), spaces }))
    }
}

#[derive(Debug)]
struct ChunkedView {
    rows: Arc<Rows>,
    spaces: u32,
}

impl View for ChunkedView {
    fn walk(
        &self,
        space: SpaceId,
        range: KeyRange<'_>,
        direction: Direction,
    ) -> Result<Box<dyn Walk>, SourceError> {
        if space.0 >= self.spaces {
            return Err(SourceError::no_space(space));
        }
        let index = &self.rows.index;
        let before = |chunk: &Chunk, inclusive: bool, key: &[u8]| {
            let first = (chunk.first.0, chunk.first.1.as_slice());
            if inclusive { first <= (space.0, key) } else { first < (space.0, key) }
        };
        // A chunk before the one that begins in the range may end in it.
        let next = match (direction, range.start, range.end) {
            _ if range.is_empty() => None,
            (Direction::Ascending, Bound::Unbounded, _) => {
                Some(index.partition_point(|chunk| before(chunk, false, &[])).saturating_sub(1))
            }
            (Direction::Ascending, Bound::Included(key) | Bound::Excluded(key), _) => {
                Some(index.partition_point(|chunk| before(chunk, false, key)).saturating_sub(1))
            }
            (Direction::Descending, _, Bound::Unbounded) => {
                index.partition_point(|chunk| chunk.first.0 <= space.0).checked_sub(1)
            }
            (Direction::Descending, _, Bound::Included(key) | Bound::Excluded(key)) => {
                index.partition_point(|chunk| before(chunk, true, key)).checked_sub(1)
            }
        };
        let range = range.to_owned();
        let rows = self.rows.clone();
        Ok(Box::new(ChunkedWalk { rows, space: space.0, range, direction, next, open: Vec::new(), gap: 0 }))
    }
}

struct ChunkedWalk {
    rows: Arc<Rows>,
    space: u32,
    range: OwnedKeyRange,
    direction: Direction,
    // The chunk to come; `None` after the last.
    next: Option<usize>,
    open: Vec<Row>,
    gap: usize,
}

impl ChunkedWalk {
    /// The index of the next row that is asked for in `open`.
    fn advance(&mut self) -> Result<Option<usize>, SourceError> {
        loop {
            let at = match self.direction {
                Direction::Ascending => (self.gap < self.open.len()).then_some(self.gap),
                Direction::Descending => self.gap.checked_sub(1),
            };
            if let Some(at) = at {
                self.gap = if self.direction == Direction::Ascending { at + 1 } else { at };
                let Some((space, key, _)) = self.open.get(at) else { continue };
                if *space == self.space && self.range.borrow().contains(key) {
                    return Ok(Some(at));
                }
                if self.is_past(*space, key) {
                    (self.next, self.gap) = (None, 0);
                    self.open.clear();
                    return Ok(None);
                }
                continue;
            }
            let Some(chunk) = self.next.and_then(|next| self.rows.index.get(next)) else { return Ok(None) };
            self.open = self.rows.reader.rows(chunk)?;
            self.gap = if self.direction == Direction::Ascending { 0 } else { self.open.len() };
            self.next = self.next.and_then(|next| match self.direction {
                Direction::Ascending => next.checked_add(1),
                Direction::Descending => next.checked_sub(1),
            });
        }
    }

    fn is_past(&self, space: u32, key: &[u8]) -> bool {
        match self.direction {
            Direction::Ascending if space == self.space => {
                !KeyRange { start: Bound::Unbounded, ..self.range.borrow() }.contains(key)
            }
            Direction::Ascending => space > self.space,
            Direction::Descending if space == self.space => {
                !KeyRange { end: Bound::Unbounded, ..self.range.borrow() }.contains(key)
            }
            Direction::Descending => space < self.space,
        }
    }
}

impl Walk for ChunkedWalk {
    fn next(&mut self) -> Result<Option<RowRef<'_>>, SourceError> {
        let at = match self.advance() {
            Ok(at) => at,
            Err(error) => {
                (self.next, self.gap) = (None, 0);
                self.open.clear();
                return Err(error);
            }
        };
        Ok(at.and_then(|at| self.open.get(at)).map(|(_, key, value)| RowRef { key, value }))
    }
}
