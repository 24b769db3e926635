use std::collections::VecDeque;
use std::fmt;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use bytes::Bytes;
use keyplan_store::Direction;
use keyplan_store::engine::{Error, KeyRange, OwnedKeyRange, RowRange};
use slatedb::{DbIterator, IterationOrder};

use crate::bytes::SlateBytes;
use crate::failure::{is_gone, translated};
use crate::layout::{self, FRONT};
use crate::snapshot::SlateSnapshot;

/// Rows of a [`SlateSnapshot`], from either end: a scan of the engine for each.
pub struct SlateRange {
    snapshot: SlateSnapshot,
    number: u16,
    // What has been given to neither end; None if nothing is left.
    rest: Option<OwnedKeyRange>,
    front: End,
    back: End,
}

/// One end of a range.
#[derive(Default)]
struct End {
    rows: VecDeque<(Bytes, Bytes)>,
    scan: Option<(DbIterator, Instant)>,
    fetched: usize,
}

/// How many rows are fetched at first, and at most at once.
const FIRST: usize = 8;
const MOST: usize = 1024;
/// After how long a scan is opened again: objects that it needs are removed some time after they were compacted.
const OLD: Duration = Duration::from_mins(5);

impl SlateRange {
    pub(crate) fn new(snapshot: SlateSnapshot, number: u16, range: KeyRange<'_>) -> Self {
        let rest = (!range.is_empty()).then(|| range.to_owned());
        Self { snapshot, number, rest, front: End::default(), back: End::default() }
    }

    fn end(&mut self, direction: Direction) -> &mut End {
        match direction {
            Direction::Ascending => &mut self.front,
            Direction::Descending => &mut self.back,
        }
    }

    /// Fetches the next rows of an end, if any are left.
    fn fill(&mut self, direction: Direction) -> Result<(), Error> {
        let mut again = true;
        loop {
            match self.fetch(direction) {
                // What the scan reads was compacted since: the same rows are found elsewhere.
                Err(error) if again && is_gone(&error) => {
                    self.end(direction).scan = None;
                    again = false;
                }
                Err(error) => return Err(translated(error, "reading")),
                Ok(Some(())) => return Ok(()),
                Ok(None) => return Err(self.snapshot.shared().link.late()),
            }
        }
    }

    /// Fetches some rows; `None` if that took too long.
    fn fetch(&mut self, direction: Direction) -> Result<Option<()>, slatedb::Error> {
        let Some(rest) = self.rest.clone() else { return Ok(Some(())) };
        let bounds = layout::range(self.number, rest.borrow());
        let order = match direction {
            Direction::Ascending => IterationOrder::Ascending,
            Direction::Descending => IterationOrder::Descending,
        };
        let snapshot = self.snapshot.clone();
        let end = self.end(direction);
        let mut scan = end.scan.take().filter(|(_, since)| since.elapsed() < OLD);
        let count = end.fetched.saturating_mul(4).clamp(FIRST, MOST);
        let fetched = snapshot.shared().link.wait(async {
            let mut opened = match scan.take() {
                Some(opened) => opened,
                None => (snapshot.base().scan(bounds, order).await?, Instant::now()),
            };
            let mut rows = VecDeque::with_capacity(count);
            while rows.len() < count {
                match opened.0.next().await? {
                    Some(row) => rows.push_back((row.key.slice(FRONT.min(row.key.len())..), row.value)),
                    None => break,
                }
            }
            Ok::<_, slatedb::Error>((opened, rows))
        });
        let Some(fetched) = fetched else { return Ok(None) };
        let (opened, mut rows) = fetched?;
        let full = rows.len() >= count;
        // The other end may have come this far.
        let before = rows.len();
        while rows.back().is_some_and(|(key, _)| !rest.borrow().contains(key)) {
            rows.pop_back();
        }
        let met = rows.len() < before;
        let last = rows.back().map(|(key, _)| key.clone());
        let end = self.end(direction);
        end.fetched = count;
        end.rows = rows;
        end.scan = Some(opened);
        self.rest = match last {
            Some(last) if full && !met => {
                let rest = match direction {
                    Direction::Ascending => rest.after(&last),
                    Direction::Descending => rest.before(&last),
                };
                (!rest.borrow().is_empty()).then_some(rest)
            }
            _ => None,
        };
        Ok(Some(()))
    }

    fn step(&mut self, direction: Direction) -> Option<Result<(Bytes, Bytes), Error>> {
        if self.end(direction).rows.is_empty() && self.rest.is_some() {
            let filled = self.snapshot.check().and_then(|()| self.fill(direction));
            if let Err(error) = filled {
                // The first error ends it.
                self.rest = None;
                self.front = End::default();
                self.back = End::default();
                return Some(Err(error));
            }
        }
        let row = match direction {
            Direction::Ascending => self.front.rows.pop_front().or_else(|| self.back.rows.pop_back()),
            Direction::Descending => self.back.rows.pop_front().or_else(|| self.front.rows.pop_back()),
        };
        row.map(Ok)
    }
}

impl Iterator for SlateRange {
    type Item = Result<(SlateBytes, SlateBytes), Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.step(Direction::Ascending)
            .map(|row| row.map(|(key, value)| (SlateBytes(key), SlateBytes(value))))
    }
}

impl DoubleEndedIterator for SlateRange {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.step(Direction::Descending)
            .map(|row| row.map(|(key, value)| (SlateBytes(key), SlateBytes(value))))
    }
}

impl RowRange for SlateRange {
    type Bytes = SlateBytes;

    fn visit<T>(
        &mut self,
        direction: Direction,
        mut each: impl FnMut(&[u8], &[u8]) -> ControlFlow<T>,
    ) -> Result<ControlFlow<T>, Error> {
        loop {
            let Some(row) = self.step(direction) else { return Ok(ControlFlow::Continue(())) };
            let (key, value) = row?;
            if let ControlFlow::Break(end) = each(&key, &value) {
                return Ok(ControlFlow::Break(end));
            }
        }
    }
}

impl fmt::Debug for SlateRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SlateRange").field("rest", &self.rest).finish_non_exhaustive()
    }
}
