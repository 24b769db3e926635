use std::fmt;
use std::marker::PhantomData;
use std::ops::{ControlFlow, Deref};

use crate::engine::{self, KeyRange, RowRange};
use crate::{Direction, StoreError};

use super::row::{key_of, value_of};
use super::scratch::with_key;
use super::{Error, Row, Stored};
use keyplan_typed::{Key, Scan, ScanOf, Value as _};

/// What rows can be read from: a [`Snapshot`](super::Snapshot), or a [`Batch`](super::Batch) with its own changes.
pub trait Read {
    /// A key or a value, without a copy where the engine can.
    type Bytes: Deref<Target = [u8]>;
    /// Rows in the order of their keys, from either end.
    type Range: RowRange<Bytes = Self::Bytes>;

    /// Reads the value of a key of a space.
    fn get_bytes(&self, space: &str, key: &[u8]) -> Result<Option<Self::Bytes>, StoreError>;

    /// Lends the value of a key of a space to `with`, if there is one, and returns what `with` makes of it.
    #[inline]
    fn get_bytes_with<T>(
        &self,
        space: &str,
        key: &[u8],
        with: impl FnOnce(&[u8]) -> T,
    ) -> Result<Option<T>, StoreError> {
        Ok(self.get_bytes(space, key)?.map(|value| with(&value)))
    }

    /// Whether a space has a key.
    fn contains_bytes(&self, space: &str, key: &[u8]) -> Result<bool, StoreError> {
        self.get_bytes_with(space, key, |_| ()).map(|found| found.is_some())
    }

    /// Iterates over the rows of a range of a space.
    fn range_bytes(&self, space: &str, range: KeyRange<'_>) -> Result<Self::Range, StoreError>;

    /// Reads the value of a key.
    #[inline]
    fn get<K: Key>(&self, key: &K) -> Result<Option<Stored<K, Self::Bytes>>, Error> {
        with_key(key, |bytes| Ok(self.get_bytes(K::SPACE, bytes)?.map(Stored::new)))
    }

    /// Lends the value of a key to `with`, if there is one, and returns what `with` makes of it.
    ///
    /// This is the cheapest way to a value that is only looked at: it is decoded where the engine has it. `with` may read
    /// the same snapshot. It must not wait for another thread that does: an engine may keep others out meanwhile.
    #[inline]
    fn get_with<K: Key, T>(&self, key: &K, with: impl FnOnce(K::Value<'_>) -> T) -> Result<Option<T>, Error> {
        with_key(key, |bytes| {
            // Kept here, because what goes through the engine is to be small.
            let mut failure = None;
            let found = self.get_bytes_with(K::SPACE, bytes, |value| match K::Value::read(value) {
                Some(value) => Some(with(value)),
                None => malformed_or::<K, T>(value, with, &mut failure),
            })?;
            match failure {
                None => Ok(found.flatten()),
                Some(error) => Err(error),
            }
        })
    }

    /// Whether there is a row with this key.
    fn contains<K: Key>(&self, key: &K) -> Result<bool, Error> {
        with_key(key, |bytes| Ok(self.contains_bytes(K::SPACE, bytes)?))
    }

    /// Goes through the rows of a scan, lazily. The first error ends it: no row is left out in silence.
    fn scan<S: ScanOf>(&self, scan: Scan<'_, S>) -> Rows<S::Key, Self::Range> {
        let (start, end) = scan.range();
        let (range, failure) = match self.range_bytes(S::Key::SPACE, KeyRange { start, end }) {
            Ok(range) => (Some(range), None),
            Err(error) => (None, Some(error)),
        };
        Rows { range, failure, reverse: scan.is_reverse(), filtered: S::FILTERED, family: PhantomData }
    }
}

/// The rows of a scan, in its direction.
pub struct Rows<K, R> {
    // None once it has ended with an error.
    range: Option<R>,
    failure: Option<StoreError>,
    reverse: bool,
    // Whether rows that are not of the family are dropped.
    filtered: bool,
    family: PhantomData<fn() -> K>,
}

impl<K: Key, R: RowRange> Rows<K, R> {
    /// Lends the rows to `each`, one after the other.
    ///
    /// This is the cheapest way through many rows: keys and values are borrowed where the engine has them. The first
    /// error ends it, as it does the iteration.
    #[inline]
    pub fn each(self, mut each: impl FnMut(K::Decoded<'_>, K::Value<'_>)) -> Result<(), Error> {
        let visited = self.visit(|key, value| {
            each(key, value);
            ControlFlow::<()>::Continue(())
        });
        visited.map(|_| ())
    }

    /// Lends the rows to `each`, as [`Rows::each`] does, until it breaks off.
    #[inline]
    pub fn visit<T>(
        mut self,
        mut each: impl FnMut(K::Decoded<'_>, K::Value<'_>) -> ControlFlow<T>,
    ) -> Result<ControlFlow<T>, Error> {
        let Some(range) = &mut self.range else {
            return self.failed().map_or(Ok(ControlFlow::Continue(())), Err);
        };
        let direction = if self.reverse { Direction::Descending } else { Direction::Ascending };
        // Kept here, because what the engine moves with every row is to be small.
        let mut failure = None;
        let filtered = self.filtered;
        let visited = range.visit(direction, |key, value| match (K::read(key), K::Value::read(value)) {
            (Some(key), Some(value)) => each(key, value).map_break(Some),
            (None, _) if filtered && K::decode(key).is_err() => ControlFlow::Continue(()),
            _ => slowly::<K, T>(key, value, &mut each, &mut failure),
        })?;
        match (failure, visited) {
            (Some(error), _) => Err(error),
            (None, ControlFlow::Break(Some(end))) => Ok(ControlFlow::Break(end)),
            (None, _) => Ok(ControlFlow::Continue(())),
        }
    }

    #[inline]
    fn step(&mut self, backwards: bool) -> Option<Result<Row<K, R::Bytes>, Error>> {
        loop {
            let Some(range) = &mut self.range else { return self.failed().map(Err) };
            // No `?` on the way: each would move the row once more.
            match if backwards { range.next_back() } else { range.next() } {
                Some(Ok((key, _))) if self.filtered && K::decode(&key).is_err() => {}
                Some(Ok((key, value))) => return Some(Ok(Row::new(key, value))),
                Some(Err(error)) => return Some(Err(self.fail(error))),
                None => return None,
            }
        }
    }

    /// What there is to say if there are no rows: once, why.
    #[cold]
    fn failed(&mut self) -> Option<Error> {
        self.failure.take().map(Error::from)
    }

    /// The first error ends it.
    #[cold]
    fn fail(&mut self, error: engine::Error) -> Error {
        self.range = None;
        error.into()
    }
}

/// Lends a row that is not read the fast way, or says what is wrong with it; apart, so that the fast way needs no stack.
#[cold]
#[inline(never)]
fn slowly<K: Key, T>(
    key: &[u8],
    value: &[u8],
    each: &mut impl FnMut(K::Decoded<'_>, K::Value<'_>) -> ControlFlow<T>,
    failure: &mut Option<Error>,
) -> ControlFlow<Option<T>> {
    let decoded = key_of::<K>(key).and_then(|key| Ok((key, value_of::<K>(value)?)));
    match decoded {
        Ok((key, value)) => each(key, value).map_break(Some),
        Err(error) => {
            *failure = Some(error);
            ControlFlow::Break(None)
        }
    }
}

/// Lends a value that is not read the fast way, or keeps what is wrong with it.
#[cold]
#[inline(never)]
fn malformed_or<K: Key, T>(
    value: &[u8],
    with: impl FnOnce(K::Value<'_>) -> T,
    failure: &mut Option<Error>,
) -> Option<T> {
    match value_of::<K>(value) {
        Ok(value) => Some(with(value)),
        Err(error) => {
            *failure = Some(error);
            None
        }
    }
}

impl<K: Key, R: RowRange> Iterator for Rows<K, R> {
    type Item = Result<Row<K, R::Bytes>, Error>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.step(self.reverse)
    }
}

impl<K: Key, R: RowRange> DoubleEndedIterator for Rows<K, R> {
    #[inline]
    fn next_back(&mut self) -> Option<Self::Item> {
        self.step(!self.reverse)
    }
}

impl<K: Key, R> fmt::Debug for Rows<K, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rows").field("family", &K::FAMILY).finish_non_exhaustive()
    }
}
