use std::collections::VecDeque;
use std::fmt;
use std::ops::{Bound, Deref};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use rpds::RedBlackTreeMapSync;

use super::ages::{Ages, Ticket};
use super::{
    Action, Batch, Capabilities, Durability, Engine, Error, KeyRange, Numbers, RowRange, Setting,
    SharedBytes, Snapshot, Space, SpaceId, SpaceKind, Statistics,
};

/// An engine in memory: persistent trees, so that a snapshot costs the same however much there is.
///
/// Handles made with `clone` share one database. Nothing outlives the last of them.
#[derive(Clone, Default)]
pub struct Memory {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    // All spaces in one, so that a reader takes them at one moment.
    state: RwLock<State>,
    closed: AtomicBool,
    ages: Ages,
    numbers: Numbers,
}

#[derive(Clone, Default)]
struct State {
    spaces: Vec<Space>,
    rows: Arc<Vec<Rows>>,
}

/// The rows of one space.
type Rows = RedBlackTreeMapSync<SharedBytes, SharedBytes>;

impl Memory {
    /// An empty database.
    pub fn new() -> Self {
        Self::default()
    }

    fn state(&self) -> State {
        self.shared.state.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memory").field("spaces", &self.spaces()).finish_non_exhaustive()
    }
}

impl Engine for Memory {
    type Buffer = SharedBytes;
    type Snapshot = MemorySnapshot;

    const NAME: &'static str = "memory";

    fn capabilities(&self) -> Capabilities {
        Capabilities { checks: true, ..Capabilities::PLAIN }
    }

    fn first_space(&self) -> u32 {
        self.shared.numbers.first()
    }

    fn spaces(&self) -> Vec<Space> {
        self.state().spaces
    }

    fn create_space(&mut self, space: &Space) -> Result<SpaceId, Error> {
        if space.kind == SpaceKind::Multimap {
            return Err(Error::Unsupported {
                engine: Self::NAME,
                what: "spaces with several values for a key",
            });
        }
        if space.name.is_empty() {
            return Err(Error::SpaceName { name: space.name.clone() });
        }
        let mut state = self.shared.state.write().unwrap_or_else(PoisonError::into_inner);
        if state.spaces.iter().all(|known| known.name != space.name) {
            state.spaces.push(space.clone());
            Arc::make_mut(&mut state.rows).push(Rows::new_sync());
        }
        drop(state);
        self.space(&space.name).ok_or_else(|| Error::SpaceName { name: space.name.clone() })
    }

    fn snapshot(&self) -> Result<MemorySnapshot, Error> {
        let ticket = Arc::new(self.shared.ages.open(None));
        Ok(MemorySnapshot { rows: self.state().rows, ticket, numbers: self.shared.numbers })
    }

    fn commit(&self, batch: Batch<Self>, _: Durability) -> Result<(), Error> {
        let mut guard = self.shared.state.write().unwrap_or_else(PoisonError::into_inner);
        if self.shared.closed.load(Ordering::Acquire) {
            return Err(Error::Closed);
        }
        if !batch.expectations().is_empty() {
            let ticket = Arc::new(self.shared.ages.open(None));
            let now = MemorySnapshot { rows: guard.rows.clone(), ticket, numbers: self.shared.numbers };
            batch.check_expectations(&now)?;
        }
        let operations = batch.into_sorted();
        let mut next = guard.rows.as_ref().clone();
        for operation in operations {
            let space = operation.space;
            let rows =
                next.get_mut(self.shared.numbers.index(space)).ok_or(Error::NoSpace { number: space.0 })?;
            match operation.action {
                Action::Put(value) => rows.insert_mut(operation.key, value),
                Action::Delete => {
                    rows.remove_mut(&operation.key);
                }
                Action::AddValue(_) | Action::RemoveValue(_) => {
                    return Err(Error::Unsupported { engine: Self::NAME, what: "several values for a key" });
                }
            }
        }
        guard.rows = Arc::new(next);
        Ok(())
    }

    fn sync(&self) -> Result<(), Error> {
        Ok(())
    }

    fn checkpoint(&self, _: Duration) -> Result<(), Error> {
        Ok(())
    }

    fn compact(&self) -> Result<(), Error> {
        Ok(())
    }

    fn shutdown(&self, _: Duration) -> Result<(), Error> {
        self.shared.closed.store(true, Ordering::Release);
        Ok(())
    }

    fn statistics(&self) -> Statistics {
        let (open_snapshots, oldest_snapshot) = self.shared.ages.oldest();
        Statistics { open_snapshots, oldest_snapshot, ..Statistics::default() }
    }

    fn settings(&self) -> Vec<Setting> {
        Vec::new()
    }
}

/// A point in time of a [`Memory`].
#[derive(Clone)]
pub struct MemorySnapshot {
    rows: Arc<Vec<Rows>>,
    ticket: Arc<Ticket>,
    numbers: Numbers,
}

impl MemorySnapshot {
    fn rows(&self, space: SpaceId) -> Result<&Rows, Error> {
        self.ticket.check()?;
        self.rows.get(self.numbers.index(space)).ok_or(Error::NoSpace { number: space.0 })
    }
}

impl fmt::Debug for MemorySnapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemorySnapshot").field("age", &self.age()).finish_non_exhaustive()
    }
}

impl Snapshot for MemorySnapshot {
    type Bytes = SharedBytes;
    type Range = MemoryRange;

    fn get(&self, space: SpaceId, key: &[u8]) -> Result<Option<SharedBytes>, Error> {
        Ok(self.rows(space)?.get(key).cloned())
    }

    fn get_with<T>(
        &self,
        space: SpaceId,
        key: &[u8],
        with: impl FnOnce(&[u8]) -> T,
    ) -> Result<Option<T>, Error> {
        Ok(self.rows(space)?.get(key).map(|value| with(value)))
    }

    fn contains(&self, space: SpaceId, key: &[u8]) -> Result<bool, Error> {
        Ok(self.rows(space)?.contains_key(key))
    }

    fn range(&self, space: SpaceId, range: KeyRange<'_>) -> Result<MemoryRange, Error> {
        let rows = if range.is_empty() { Rows::new_sync() } else { self.rows(space)?.clone() };
        Ok(MemoryRange {
            rows,
            start: range.start.map(SharedBytes::from),
            end: range.end.map(SharedBytes::from),
            front: VecDeque::new(),
            back: VecDeque::new(),
            _ticket: self.ticket.clone(),
        })
    }

    fn age(&self) -> Duration {
        self.ticket.age()
    }
}

/// Rows of a [`MemorySnapshot`].
///
/// An iterator over a persistent tree borrows from it; this one owns its tree, and walks it in runs.
pub struct MemoryRange {
    rows: Rows,
    // What has not been fetched yet lies between these.
    start: Bound<SharedBytes>,
    end: Bound<SharedBytes>,
    // Fetched from the front, ascending; fetched from the back, descending.
    front: VecDeque<Row>,
    back: VecDeque<Row>,
    _ticket: Arc<Ticket>,
}

type Row = (SharedBytes, SharedBytes);

/// How many rows are fetched at a time.
const RUN: usize = 64;

impl MemoryRange {
    fn between(&self) -> KeyRange<'_> {
        KeyRange { start: self.start.as_ref().map(Deref::deref), end: self.end.as_ref().map(Deref::deref) }
    }
}

impl fmt::Debug for MemoryRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryRange")
            .field("start", &self.start)
            .field("end", &self.end)
            .finish_non_exhaustive()
    }
}

impl Iterator for MemoryRange {
    type Item = Result<Row, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.front.is_empty() && !self.between().is_empty() {
            let between = self.between();
            let bounds = (between.start, between.end);
            let run: VecDeque<Row> = self
                .rows
                .range::<[u8], _>(bounds)
                .take(RUN)
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect();
            self.front = run;
            if let Some((last, _)) = self.front.back() {
                self.start = Bound::Excluded(last.clone());
            }
        }
        self.front.pop_front().or_else(|| self.back.pop_back()).map(Ok)
    }
}

impl DoubleEndedIterator for MemoryRange {
    fn next_back(&mut self) -> Option<Self::Item> {
        if self.back.is_empty() && !self.between().is_empty() {
            let between = self.between();
            let bounds = (between.start, between.end);
            let rows = self.rows.range::<[u8], _>(bounds).rev().take(RUN);
            let run: VecDeque<Row> = rows.map(|(key, value)| (key.clone(), value.clone())).collect();
            self.back = run;
            if let Some((last, _)) = self.back.back() {
                self.end = Bound::Excluded(last.clone());
            }
        }
        self.back.pop_front().or_else(|| self.front.pop_back()).map(Ok)
    }
}

impl RowRange for MemoryRange {
    type Bytes = SharedBytes;
}
