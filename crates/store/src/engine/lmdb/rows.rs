use std::collections::VecDeque;
use std::fmt;
use std::ops::{Bound, ControlFlow, Deref};

use byteview::ByteView;

use super::LmdbSnapshot;
use super::snapshot::Lent;
use crate::engine::{Error, KeyRange, OwnedKeyRange, RowRange, SpaceId};
use crate::page::Direction;

/// Bytes that were copied from the map. Those of a row of a range are a part of what was copied with it.
#[derive(Clone, PartialEq, Eq)]
pub struct LmdbBytes(pub(super) ByteView);

impl Deref for LmdbBytes {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl AsRef<[u8]> for LmdbBytes {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl fmt::Debug for LmdbBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LmdbBytes").field(&&**self).finish()
    }
}

/// Rows of an [`LmdbSnapshot`].
///
/// A cursor of the engine belongs to its transaction, which others may read too; this one owns its snapshot, and takes
/// rows in runs. Rows that are given away are copied, few at first, more as it goes on. Rows that are
/// [lent](RowRange::visit) are lent from the map; between two runs of them, other threads can have the transaction.
pub struct LmdbRange {
    snapshot: LmdbSnapshot,
    space: SpaceId,
    // What has not been fetched yet; None once it has ended or failed.
    rest: Option<OwnedKeyRange>,
    // Fetched from the front, ascending; fetched from the back, descending.
    front: Run,
    back: Run,
    /// Bytes that the next run may have.
    next: usize,
}

/// The range, unless no key of the engine can lie in it: there are no empty ones.
fn owned(range: KeyRange<'_>) -> Option<OwnedKeyRange> {
    let none = range.is_empty() || matches!(range.end, Bound::Included([]) | Bound::Excluded([]));
    (!none).then(|| range.to_owned())
}

/// Rows that were copied together.
#[derive(Default)]
struct Run {
    bytes: ByteView,
    /// Where the rows end, and their keys before them.
    ends: VecDeque<(usize, usize)>,
    at: usize,
}

/// Bytes of the first run, and of the longest.
const FIRST: usize = 4 * 1024;
const LONGEST: usize = 64 * 1024;
/// How many rows are lent before others may have the transaction.
const LENT_AT_ONCE: u32 = 512;

impl Run {
    fn next_row(&mut self) -> Option<(LmdbBytes, LmdbBytes)> {
        let (key, value) = self.ends.pop_front()?;
        let from = std::mem::replace(&mut self.at, value);
        Some((LmdbBytes(self.bytes.slice(from..key)), LmdbBytes(self.bytes.slice(key..value))))
    }

    /// The last row of it first.
    fn last_row(&mut self) -> Option<(LmdbBytes, LmdbBytes)> {
        let (key, value) = self.ends.pop_back()?;
        let from = self.ends.back().map_or(self.at, |(_, value)| *value);
        Some((LmdbBytes(self.bytes.slice(from..key)), LmdbBytes(self.bytes.slice(key..value))))
    }
}

impl LmdbRange {
    pub(super) fn new(snapshot: LmdbSnapshot, space: SpaceId, range: KeyRange<'_>) -> Self {
        Self { snapshot, space, rest: owned(range), front: Run::default(), back: Run::default(), next: FIRST }
    }

    /// Copies the next run of an end, if it has none.
    fn fill(&mut self, direction: Direction) -> Result<(), Error> {
        let run = match direction {
            Direction::Ascending => &mut self.front,
            Direction::Descending => &mut self.back,
        };
        if !run.ends.is_empty() {
            return Ok(());
        }
        let Some(rest) = self.rest.take() else { return Ok(()) };
        let limit = self.next;
        self.next = (limit * 4).min(LONGEST);
        let mut bytes = Vec::with_capacity(limit);
        let mut ends = VecDeque::new();
        let copied =
            self.snapshot.each_row(self.space, rest.borrow(), direction, u32::MAX, |key, value| {
                bytes.extend_from_slice(key);
                let key_end = bytes.len();
                bytes.extend_from_slice(value);
                ends.push_back((key_end, bytes.len()));
                if bytes.len() >= limit { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })?;
        if let Lent::Some(last) | Lent::Ended((), last) = copied {
            self.rest = left(rest, &last, direction);
        }
        *run = Run { bytes: bytes.into(), ends, at: 0 };
        Ok(())
    }

    /// Lends the next run of an end, and says whether `each` broke off; `None` at the end of the rows.
    fn lend<T>(
        &mut self,
        direction: Direction,
        each: &mut impl FnMut(&[u8], &[u8]) -> ControlFlow<T>,
    ) -> Result<Option<ControlFlow<T>>, Error> {
        let Some(rest) = &self.rest else { return Ok(None) };
        let lent = self.snapshot.each_row(self.space, rest.borrow(), direction, LENT_AT_ONCE, each)?;
        let rest = self.rest.take();
        let (ended, last) = match lent {
            Lent::All => return Ok(None),
            Lent::Some(last) => (ControlFlow::Continue(()), last),
            Lent::Ended(end, last) => (ControlFlow::Break(end), last),
        };
        self.rest = rest.and_then(|rest| left(rest, &last, direction));
        Ok(Some(ended))
    }

    fn step(&mut self, direction: Direction) -> Option<Result<(LmdbBytes, LmdbBytes), Error>> {
        if let Err(error) = self.fill(direction) {
            self.end();
            return Some(Err(error));
        }
        let row = match direction {
            Direction::Ascending => self.front.next_row().or_else(|| self.back.last_row()),
            Direction::Descending => self.back.next_row().or_else(|| self.front.last_row()),
        };
        row.map(Ok)
    }

    fn end(&mut self) {
        self.rest = None;
        self.front = Run::default();
        self.back = Run::default();
    }
}

/// What is left of a range after a row at one of its ends.
fn left(rest: OwnedKeyRange, key: &[u8], direction: Direction) -> Option<OwnedKeyRange> {
    let rest = match direction {
        Direction::Ascending => rest.after(key),
        Direction::Descending => rest.before(key),
    };
    Some(rest).filter(|rest| !rest.borrow().is_empty())
}

impl Iterator for LmdbRange {
    type Item = Result<(LmdbBytes, LmdbBytes), Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.step(Direction::Ascending)
    }
}

impl DoubleEndedIterator for LmdbRange {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.step(Direction::Descending)
    }
}

impl RowRange for LmdbRange {
    type Bytes = LmdbBytes;

    fn visit<T>(
        &mut self,
        direction: Direction,
        mut each: impl FnMut(&[u8], &[u8]) -> ControlFlow<T>,
    ) -> Result<ControlFlow<T>, Error> {
        let own = match direction {
            Direction::Ascending => &mut self.front,
            Direction::Descending => &mut self.back,
        };
        // Those that were copied already come first.
        while let Some((key, value)) = own.next_row() {
            if let ControlFlow::Break(end) = each(&key, &value) {
                return Ok(ControlFlow::Break(end));
            }
        }
        loop {
            match self.lend(direction, &mut each) {
                Ok(Some(ControlFlow::Continue(()))) => {}
                Ok(Some(ended)) => return Ok(ended),
                Ok(None) => break,
                Err(error) => {
                    self.end();
                    return Err(error);
                }
            }
        }
        let other = match direction {
            Direction::Ascending => &mut self.back,
            Direction::Descending => &mut self.front,
        };
        while let Some((key, value)) = other.last_row() {
            if let ControlFlow::Break(end) = each(&key, &value) {
                return Ok(ControlFlow::Break(end));
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

impl fmt::Debug for LmdbRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LmdbRange")
            .field("snapshot", &self.snapshot)
            .field("rest", &self.rest)
            .finish_non_exhaustive()
    }
}

/// The values of a key, ascending. They are copied when they are first asked for.
#[derive(Clone, Debug)]
pub struct LmdbValues(pub(super) VecDeque<LmdbBytes>);

impl Iterator for LmdbValues {
    type Item = Result<LmdbBytes, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.pop_front().map(Ok)
    }
}

impl DoubleEndedIterator for LmdbValues {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.0.pop_back().map(Ok)
    }
}

/// Keys of an [`LmdbSnapshot`] in order, each with its values.
#[derive(Debug)]
pub struct LmdbValueRange {
    snapshot: LmdbSnapshot,
    space: SpaceId,
    rest: Option<OwnedKeyRange>,
}

impl LmdbValueRange {
    pub(super) fn new(snapshot: LmdbSnapshot, space: SpaceId, range: KeyRange<'_>) -> Self {
        Self { snapshot, space, rest: owned(range) }
    }

    fn step(&mut self, direction: Direction) -> Option<Result<(LmdbBytes, LmdbValues), Error>> {
        let rest = self.rest.take()?;
        let key = match self.snapshot.end_key(self.space, rest.borrow(), direction) {
            Ok(key) => key?,
            Err(error) => return Some(Err(error)),
        };
        let values = match self.snapshot.values(self.space, &key) {
            Ok(values) => values,
            Err(error) => return Some(Err(error)),
        };
        self.rest = Some(match direction {
            Direction::Ascending => OwnedKeyRange { start: Bound::Excluded(key.to_vec()), ..rest },
            Direction::Descending => OwnedKeyRange { end: Bound::Excluded(key.to_vec()), ..rest },
        });
        self.rest = self.rest.take().filter(|rest| !rest.borrow().is_empty());
        Some(Ok((key, values)))
    }
}

impl Iterator for LmdbValueRange {
    type Item = Result<(LmdbBytes, LmdbValues), Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.step(Direction::Ascending)
    }
}

impl DoubleEndedIterator for LmdbValueRange {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.step(Direction::Descending)
    }
}
