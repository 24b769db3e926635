use std::fmt;
use std::ops::{Bound, ControlFlow};
use std::sync::Arc;
use std::time::Duration;

use byteview::ByteView;
use keyplan_lmdb::Reading;
use keyplan_lmdb::heed;
use parking_lot::{ReentrantMutex, ReentrantMutexGuard};

use super::failure::{kind, translated};
use super::rows::{LmdbBytes, LmdbRange, LmdbValueRange, LmdbValues};
use super::{LIMITS, Opened};
use crate::engine::ages::Ticket;
use crate::engine::{
    Error, Expected, KeyRange, MultimapSnapshot, Numbers, RowsDigest, Snapshot, SpaceId, SpaceKind,
    ValueDigest,
};
use crate::page::Direction;

/// A point in time of an [`Lmdb`](super::Lmdb) database: a transaction that reads.
///
/// While it is open, no page that it can see is used again, so that the file grows with every commit. Clones share the
/// transaction, and take turns: threads that read much open one each. What is [lent](Snapshot::get_with) is lent during a
/// turn, in which the same thread may read on, and another one waits.
#[derive(Clone)]
pub struct LmdbSnapshot {
    // Only one thread at a time may use a transaction; what is lent by it may be compared with what else it reads.
    reading: Arc<ReentrantMutex<Reading>>,
    spaces: Arc<Vec<Opened>>,
    numbers: Numbers,
    ticket: Arc<Ticket>,
}

impl LmdbSnapshot {
    pub(super) fn new(reading: Reading, spaces: Arc<Vec<Opened>>, numbers: Numbers, ticket: Ticket) -> Self {
        Self { reading: Arc::new(ReentrantMutex::new(reading)), spaces, numbers, ticket: Arc::new(ticket) }
    }

    #[inline]
    fn opened(&self, space: SpaceId, expected: SpaceKind) -> Result<&Opened, Error> {
        self.ticket.check()?;
        match self.spaces.get(self.numbers.index(space)) {
            Some(opened) if opened.space.kind == expected => Ok(opened),
            Some(opened) => Err(kind(&opened.space, expected)),
            None => Err(no_space(space)),
        }
    }

    #[inline]
    fn reading(&self) -> ReentrantMutexGuard<'_, Reading> {
        self.reading.lock()
    }

    /// Lends up to `most` rows of a range, until `each` breaks off. The transaction is held meanwhile.
    pub(super) fn each_row<T>(
        &self,
        space: SpaceId,
        range: KeyRange<'_>,
        direction: Direction,
        most: u32,
        each: impl FnMut(&[u8], &[u8]) -> ControlFlow<T>,
    ) -> Result<Lent<T>, Error> {
        let rows = self.opened(space, SpaceKind::Map)?.rows;
        let reading = self.reading();
        let read = reading.transaction();
        match direction {
            Direction::Ascending => lend(rows.range(read, &bounds(range)).map_err(translated)?, most, each),
            Direction::Descending => {
                lend(rows.rev_range(read, &bounds(range)).map_err(translated)?, most, each)
            }
        }
    }

    /// The first or last key of a range in a space where a key has several values.
    pub(super) fn end_key(
        &self,
        space: SpaceId,
        range: KeyRange<'_>,
        direction: Direction,
    ) -> Result<Option<LmdbBytes>, Error> {
        let rows = self.opened(space, SpaceKind::Multimap)?.rows;
        let reading = self.reading();
        let read = reading.transaction();
        let row = match direction {
            Direction::Ascending => rows.range(read, &bounds(range)).map_err(translated)?.next(),
            Direction::Descending => rows.rev_range(read, &bounds(range)).map_err(translated)?.next(),
        };
        row.transpose().map(|row| row.map(|(key, _)| LmdbBytes(key.into()))).map_err(translated)
    }

    /// All values of a key.
    pub(super) fn values(&self, space: SpaceId, key: &[u8]) -> Result<LmdbValues, Error> {
        let rows = self.opened(space, SpaceKind::Multimap)?.rows;
        if outside(key) {
            return Ok(LmdbValues(std::collections::VecDeque::new()));
        }
        let reading = self.reading();
        let values = rows.get_duplicates(reading.transaction(), key).map_err(translated)?;
        let values = values.into_iter().flatten().map(|row| match row {
            Ok((_, value)) => Ok(LmdbBytes(value.into())),
            Err(error) => Err(translated(error)),
        });
        values.collect::<Result<_, _>>().map(LmdbValues)
    }
}

/// How far rows were lent.
pub(super) enum Lent<T> {
    /// There are no more.
    All,
    /// As many as there were to be; the last key.
    Some(Vec<u8>),
    /// As far as wanted; the last key.
    Ended(T, Vec<u8>),
}

#[inline]
fn lend<'t, T>(
    rows: impl Iterator<Item = Result<(&'t [u8], &'t [u8]), heed::Error>>,
    most: u32,
    mut each: impl FnMut(&[u8], &[u8]) -> ControlFlow<T>,
) -> Result<Lent<T>, Error> {
    let mut left = most;
    for row in rows {
        let (key, value) = match row {
            Ok(row) => row,
            Err(error) => return Err(translated(error)),
        };
        if let ControlFlow::Break(end) = each(key, value) {
            return Ok(Lent::Ended(end, key.to_vec()));
        }
        left -= 1;
        if left == 0 {
            return Ok(Lent::Some(key.to_vec()));
        }
    }
    Ok(Lent::All)
}

#[cold]
fn no_space(space: SpaceId) -> Error {
    Error::NoSpace { number: space.0 }
}

/// Whether something is so in a transaction.
pub(super) fn holds(
    rows: super::Rows,
    read: &heed::RoTxn<'_>,
    expected: &Expected,
) -> Result<bool, heed::Error> {
    match expected {
        Expected::Value { key, digest } => {
            let found = if outside(key) { None } else { rows.get(read, key)? };
            Ok(found.map(ValueDigest::of) == *digest)
        }
        Expected::Rows { range, rows: expected } => {
            let range = range.borrow();
            if range.is_empty() {
                return Ok(expected.count() == 0);
            }
            let mut found = RowsDigest::new(expected.direction());
            let mut add = |row: Result<(&[u8], &[u8]), heed::Error>| -> Result<bool, heed::Error> {
                let (key, value) = row?;
                found.add(key, value);
                // One more than was read is enough to know.
                Ok(found.count() <= expected.count())
            };
            match expected.direction() {
                Direction::Ascending => {
                    for row in rows.range(read, &bounds(range))? {
                        if !add(row)? {
                            return Ok(false);
                        }
                    }
                }
                Direction::Descending => {
                    for row in rows.rev_range(read, &bounds(range))? {
                        if !add(row)? {
                            return Ok(false);
                        }
                    }
                }
            }
            Ok(found == *expected)
        }
    }
}

/// A key that there cannot be. The engine refuses to be asked for it.
fn outside(key: &[u8]) -> bool {
    key.is_empty() || key.len() as u64 > LIMITS.key_bytes
}

/// The bounds as the engine takes them: an empty key bounds nothing from below, and none may be longer than a key.
///
/// A longer bound, cut off, lies before it, and no key is between them: as a start it is left out, as an end it is not.
fn bounds(range: KeyRange<'_>) -> (Bound<&[u8]>, Bound<&[u8]>) {
    let longest = usize::try_from(LIMITS.key_bytes).unwrap_or(usize::MAX);
    let cut = |key: &[u8]| key.len() > longest;
    let start = match range.start {
        Bound::Included([]) | Bound::Excluded([]) => Bound::Unbounded,
        Bound::Included(key) | Bound::Excluded(key) if cut(key) => {
            Bound::Excluded(key.get(..longest).unwrap_or(key))
        }
        other => other,
    };
    let end = match range.end {
        Bound::Included(key) | Bound::Excluded(key) if cut(key) => {
            Bound::Included(key.get(..longest).unwrap_or(key))
        }
        other => other,
    };
    (start, end)
}

impl Snapshot for LmdbSnapshot {
    type Bytes = LmdbBytes;
    type Range = LmdbRange;

    #[inline]
    fn get(&self, space: SpaceId, key: &[u8]) -> Result<Option<LmdbBytes>, Error> {
        self.get_with(space, key, |value| LmdbBytes(ByteView::new(value)))
    }

    #[inline]
    fn get_with<T>(
        &self,
        space: SpaceId,
        key: &[u8],
        with: impl FnOnce(&[u8]) -> T,
    ) -> Result<Option<T>, Error> {
        let rows = self.opened(space, SpaceKind::Map)?.rows;
        if outside(key) {
            return Ok(None);
        }
        let reading = self.reading();
        match rows.get(reading.transaction(), key) {
            Ok(value) => Ok(value.map(with)),
            Err(error) => Err(translated(error)),
        }
    }

    fn contains(&self, space: SpaceId, key: &[u8]) -> Result<bool, Error> {
        self.get_with(space, key, |_| ()).map(|found| found.is_some())
    }

    fn multi_get<K: AsRef<[u8]>>(&self, space: SpaceId, keys: &[K]) -> Result<Vec<Option<LmdbBytes>>, Error> {
        let rows = self.opened(space, SpaceKind::Map)?.rows;
        let reading = self.reading();
        let mut found = Vec::with_capacity(keys.len());
        for key in keys {
            let key = key.as_ref();
            let value =
                if outside(key) { None } else { rows.get(reading.transaction(), key).map_err(translated)? };
            found.push(value.map(|value| LmdbBytes(value.into())));
        }
        Ok(found)
    }

    fn range(&self, space: SpaceId, range: KeyRange<'_>) -> Result<LmdbRange, Error> {
        self.opened(space, SpaceKind::Map)?;
        Ok(LmdbRange::new(self.clone(), space, range))
    }

    fn age(&self) -> Duration {
        self.ticket.age()
    }
}

impl MultimapSnapshot for LmdbSnapshot {
    type Values = LmdbValues;
    type ValueRange = LmdbValueRange;

    fn iter_values(&self, space: SpaceId, key: &[u8]) -> Result<LmdbValues, Error> {
        self.values(space, key)
    }

    fn iter_multi(&self, space: SpaceId, range: KeyRange<'_>) -> Result<LmdbValueRange, Error> {
        self.opened(space, SpaceKind::Multimap)?;
        Ok(LmdbValueRange::new(self.clone(), space, range))
    }
}

impl fmt::Debug for LmdbSnapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LmdbSnapshot").field("age", &self.age()).finish_non_exhaustive()
    }
}
