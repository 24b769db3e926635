use std::fmt;
use std::ops::{Bound, ControlFlow};
use std::sync::Arc;
use std::time::{Duration, Instant};

use fjall::{Guard, Iter, Keyspace, Readable as _};

use super::FjallBytes;
use super::failure::{guarded, translated};
use super::gate::State;
use crate::engine::ages::not_over;
use crate::engine::{Error, KeyRange, RowRange, Snapshot, SpaceId};
use crate::page::Direction;

/// A point in time of a [`Fjall`](super::Fjall) database.
///
/// Every block that is read is checked against its checksum before it is decoded: damage is an error of the read.
#[derive(Clone)]
pub struct FjallSnapshot {
    state: Arc<State>,
    since: Instant,
    // The age at which it ends.
    limit: Option<Duration>,
}

/// The longest key that there can be. The engine panics when it is asked for a longer one.
const LONGEST_KEY: usize = keyplan_plan::Engine::Fjall.longest_key();

impl FjallSnapshot {
    pub(super) fn new(state: Arc<State>, limit: Option<Duration>) -> Self {
        Self { state, since: Instant::now(), limit }
    }

    #[inline]
    fn keyspace(&self, space: SpaceId) -> Result<&Keyspace, Error> {
        not_over(self.since, self.limit)?;
        self.state
            .keyspaces
            .get(self.state.numbers.index(space))
            .ok_or_else(|| Error::NoSpace { number: space.0 })
    }
}

impl Snapshot for FjallSnapshot {
    type Bytes = FjallBytes;
    type Range = FjallRange;

    #[inline]
    fn get(&self, space: SpaceId, key: &[u8]) -> Result<Option<FjallBytes>, Error> {
        let keyspace = self.keyspace(space)?;
        if key.len() > LONGEST_KEY {
            return Ok(None);
        }
        match self.state.snapshot.get(keyspace, key) {
            Ok(value) => Ok(value.map(FjallBytes)),
            Err(error) => Err(translated(error, &self.state.path)),
        }
    }

    fn contains(&self, space: SpaceId, key: &[u8]) -> Result<bool, Error> {
        let keyspace = self.keyspace(space)?;
        if key.len() > LONGEST_KEY {
            return Ok(false);
        }
        self.state.snapshot.contains_key(keyspace, key).map_err(|error| translated(error, &self.state.path))
    }

    fn range(&self, space: SpaceId, range: KeyRange<'_>) -> Result<FjallRange, Error> {
        let keyspace = self.keyspace(space)?;
        let rows = if range.is_empty() {
            None
        } else {
            let bounds: (Bound<&[u8]>, Bound<&[u8]>) = (range.start, range.end);
            Some(guarded(&self.state.path, || Ok(self.state.snapshot.range::<&[u8], _>(keyspace, bounds)))?)
        };
        Ok(FjallRange { rows, snapshot: self.clone() })
    }

    fn age(&self) -> Duration {
        self.since.elapsed()
    }
}

impl fmt::Debug for FjallSnapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FjallSnapshot").field("age", &self.age()).finish_non_exhaustive()
    }
}

/// Rows of a [`FjallSnapshot`].
pub struct FjallRange {
    // None once it has ended or failed.
    rows: Option<Iter>,
    snapshot: FjallSnapshot,
}

impl FjallRange {
    #[inline]
    fn step(
        &mut self,
        step: impl FnOnce(&mut Iter) -> Option<Guard>,
    ) -> Option<Result<(FjallBytes, FjallBytes), Error>> {
        let Some(guard) = step(self.rows.as_mut()?) else { return self.end(None) };
        match guard.into_inner() {
            Ok((key, value)) => Some(Ok((FjallBytes(key), FjallBytes(value)))),
            Err(error) => self.end(Some(error)),
        }
    }

    /// Nothing comes after the last row, nor after an error.
    #[cold]
    fn end(&mut self, error: Option<fjall::Error>) -> Option<Result<(FjallBytes, FjallBytes), Error>> {
        self.rows = None;
        error.map(|error| Err(translated(error, &self.snapshot.state.path)))
    }
}

impl Iterator for FjallRange {
    type Item = Result<(FjallBytes, FjallBytes), Error>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.step(Iterator::next)
    }
}

impl DoubleEndedIterator for FjallRange {
    #[inline]
    fn next_back(&mut self) -> Option<Self::Item> {
        self.step(DoubleEndedIterator::next_back)
    }
}

impl RowRange for FjallRange {
    type Bytes = FjallBytes;

    #[inline]
    fn visit<T>(
        &mut self,
        direction: Direction,
        mut each: impl FnMut(&[u8], &[u8]) -> ControlFlow<T>,
    ) -> Result<ControlFlow<T>, Error> {
        let Some(rows) = &mut self.rows else { return Ok(ControlFlow::Continue(())) };
        let failed = loop {
            let guard = match direction {
                Direction::Ascending => rows.next(),
                Direction::Descending => rows.next_back(),
            };
            let Some(guard) = guard else { break None };
            // Looked at where the engine has put it, and not moved.
            let row = guard.into_inner();
            let Ok((key, value)) = &row else { break row.err() };
            if let ControlFlow::Break(end) = each(key, value) {
                return Ok(ControlFlow::Break(end));
            }
        };
        match self.end(failed) {
            Some(Err(error)) => Err(error),
            _ => Ok(ControlFlow::Continue(())),
        }
    }
}

impl fmt::Debug for FjallRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FjallRange").field("snapshot", &self.snapshot).finish_non_exhaustive()
    }
}
