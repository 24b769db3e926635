use std::collections::VecDeque;
use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

use keyplan_store::Direction;
use keyplan_store::engine::{Error, KeyRange, OwnedKeyRange, RowRange, SharedBytes};
use tokio::task::JoinHandle;
use tokio_postgres::Row;

use crate::failure::Failure;
use crate::layout::Table;
use crate::snapshot::PostgresSnapshot;

/// Rows of a [`PostgresSnapshot`], read in pages from either end.
///
/// A page begins after the last key of the one before. The first is small; while one is used, the next is on its way.
pub struct PostgresRange {
    snapshot: PostgresSnapshot,
    table: Arc<Table>,
    // What has not been asked for; None if nothing is left.
    rest: Option<OwnedKeyRange>,
    // Fetched from the front, ascending; fetched from the back, descending.
    front: VecDeque<Row>,
    back: VecDeque<Row>,
    size: usize,
    ahead: Option<Ahead>,
    pages: u32,
}

/// A page that is on its way.
struct Ahead {
    direction: Direction,
    size: usize,
    rows: JoinHandle<Result<Vec<Row>, Failure>>,
}

/// How many rows the first page has, and any page at most.
const FIRST: usize = 16;
const MOST: usize = 8192;
/// How many bytes a page is meant to have at most.
const BYTES: usize = 4 << 20;

impl PostgresRange {
    pub(crate) fn new(snapshot: PostgresSnapshot, table: Arc<Table>, range: KeyRange<'_>) -> Self {
        let rest = (!range.is_empty()).then(|| range.to_owned());
        let (front, back) = (VecDeque::new(), VecDeque::new());
        Self { snapshot, table, rest, front, back, size: FIRST, ahead: None, pages: 0 }
    }

    /// Reads the next page of an end, if anything is left.
    fn fill(&mut self, direction: Direction) -> Result<(), Error> {
        // A page that is on its way for the other end is of no use: what it holds is asked for again.
        let ahead = match self.ahead.take() {
            Some(ahead) if ahead.direction == direction => Some(ahead),
            Some(other) => {
                other.rows.abort();
                None
            }
            None => None,
        };
        let Some(rest) = self.rest.clone() else { return Ok(()) };
        self.snapshot.check()?;
        let asked = ahead.unwrap_or_else(|| self.ask(rest, direction));
        let size = asked.size;
        let rows = self.snapshot.link().wait(async {
            asked.rows.await.unwrap_or_else(|_| Err(Failure::Unreachable("the runtime has ended".into())))
        });
        let rows = rows.map_err(|failure| self.snapshot.failed(failure))?;
        self.pages = self.pages.saturating_add(1);
        let last = match rows.last() {
            Some(last) if rows.len() >= size => {
                Some(key_of(last).map_err(|failure| self.snapshot.failed(failure))?.to_vec())
            }
            _ => None,
        };
        let bytes: usize = rows.iter().map(Row::raw_size_bytes).sum();
        let each = bytes.checked_div(rows.len()).unwrap_or(0).max(1);
        self.size = size.saturating_mul(4).min(MOST).min(BYTES / each).max(1);
        self.rest = last.and_then(|last| {
            let rest = self.rest.take()?;
            let rest = match direction {
                Direction::Ascending => rest.after(&last),
                Direction::Descending => rest.before(&last),
            };
            (!rest.borrow().is_empty()).then_some(rest)
        });
        match direction {
            Direction::Ascending => self.front = rows.into(),
            Direction::Descending => self.back = rows.into(),
        }
        // Whoever reads a second page probably reads on.
        if self.pages > 1
            && let Some(rest) = self.rest.clone()
        {
            self.ahead = Some(self.ask(rest, direction));
        }
        Ok(())
    }

    fn ask(&self, rest: OwnedKeyRange, direction: Direction) -> Ahead {
        let size = self.size;
        let rows = i64::try_from(size).unwrap_or(i64::MAX);
        let page = self.snapshot.clone().page(self.table.clone(), rest, direction, rows);
        Ahead { direction, size, rows: self.snapshot.link().spawn(page) }
    }

    fn step(&mut self, direction: Direction) -> Option<Result<Row, Error>> {
        let own = match direction {
            Direction::Ascending => &self.front,
            Direction::Descending => &self.back,
        };
        if own.is_empty()
            && self.rest.is_some()
            && let Err(error) = self.fill(direction)
        {
            self.end();
            return Some(Err(error));
        }
        let row = match direction {
            Direction::Ascending => self.front.pop_front().or_else(|| self.back.pop_back()),
            Direction::Descending => self.back.pop_front().or_else(|| self.front.pop_back()),
        };
        row.map(Ok)
    }

    /// The first error ends it.
    fn end(&mut self) {
        self.rest = None;
        self.front.clear();
        self.back.clear();
        if let Some(ahead) = self.ahead.take() {
            ahead.rows.abort();
        }
    }

    fn owned(
        &mut self,
        row: Option<Result<Row, Error>>,
    ) -> Option<Result<(SharedBytes, SharedBytes), Error>> {
        let read = |row: &Row| -> Result<(SharedBytes, SharedBytes), Failure> {
            Ok((key_of(row)?.into(), value_of(row)?.into()))
        };
        match row? {
            Ok(row) => Some(read(&row).map_err(|failure| {
                self.end();
                self.snapshot.failed(failure)
            })),
            Err(error) => Some(Err(error)),
        }
    }
}

fn key_of(row: &Row) -> Result<&[u8], Failure> {
    Ok(row.try_get(0)?)
}

fn value_of(row: &Row) -> Result<&[u8], Failure> {
    Ok(row.try_get(1)?)
}

impl Iterator for PostgresRange {
    type Item = Result<(SharedBytes, SharedBytes), Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let row = self.step(Direction::Ascending);
        self.owned(row)
    }
}

impl DoubleEndedIterator for PostgresRange {
    fn next_back(&mut self) -> Option<Self::Item> {
        let row = self.step(Direction::Descending);
        self.owned(row)
    }
}

impl RowRange for PostgresRange {
    type Bytes = SharedBytes;

    fn visit<T>(
        &mut self,
        direction: Direction,
        mut each: impl FnMut(&[u8], &[u8]) -> ControlFlow<T>,
    ) -> Result<ControlFlow<T>, Error> {
        loop {
            let Some(row) = self.step(direction) else { return Ok(ControlFlow::Continue(())) };
            let row = row?;
            let (key, value) = match (key_of(&row), value_of(&row)) {
                (Ok(key), Ok(value)) => (key, value),
                (Err(failure), _) | (_, Err(failure)) => {
                    self.end();
                    return Err(self.snapshot.failed(failure));
                }
            };
            if let ControlFlow::Break(end) = each(key, value) {
                return Ok(ControlFlow::Break(end));
            }
        }
    }
}

impl Drop for PostgresRange {
    fn drop(&mut self) {
        self.end();
    }
}

impl fmt::Debug for PostgresRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresRange").field("rest", &self.rest).finish_non_exhaustive()
    }
}
