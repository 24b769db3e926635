use std::fmt;
use std::ops::{ControlFlow, Deref};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use redb::{AccessGuard, StorageError};

use super::RedbSnapshot;
use super::failure::{guarded, panicked, translated};
use crate::engine::{Error, RowRange};
use crate::page::Direction;

/// An iterator of the engine; `None` once it has ended or failed.
pub(super) struct Lazy<I> {
    pub(super) inner: Option<I>,
}

impl<I, T> Lazy<I>
where
    I: DoubleEndedIterator<Item = Result<T, StorageError>>,
{
    #[inline]
    fn step<U>(
        &mut self,
        step: impl FnOnce(&mut I) -> Option<I::Item>,
        map: impl FnOnce(T) -> U,
    ) -> Option<Result<U, Error>> {
        let inner = self.inner.as_mut()?;
        // Left where the engine puts it: a row is large, and would be moved with every result that it is wrapped in.
        let mut row = None;
        let ended = guarded(|| {
            row = step(inner);
            Ok(())
        });
        if let Err(panicked) = ended {
            return self.end(Some(panicked));
        }
        match row {
            Some(Ok(row)) => Some(Ok(map(row))),
            Some(Err(error)) => self.end(Some(translated(error))),
            None => self.end(None),
        }
    }

    /// Nothing comes after the last row, nor after an error.
    #[cold]
    fn end<U>(&mut self, error: Option<Error>) -> Option<Result<U, Error>> {
        self.inner = None;
        error.map(Err)
    }
}

/// Rows of a [`RedbSnapshot`].
pub struct RedbRange(
    pub(super) Lazy<redb::Range<'static, &'static [u8], &'static [u8]>>,
    pub(super) RedbSnapshot,
);

/// The values of one key of a [`RedbSnapshot`].
pub struct RedbValues(pub(super) Lazy<redb::MultimapValue<'static, &'static [u8]>>, pub(super) RedbSnapshot);

/// Keys of a [`RedbSnapshot`], each with its values.
pub struct RedbValueRange(
    pub(super) Lazy<redb::MultimapRange<'static, &'static [u8], &'static [u8]>>,
    pub(super) RedbSnapshot,
);

macro_rules! rows {
    ($name:ident, $item:ty, |$row:ident, $snapshot:ident| $map:expr) => {
        impl Iterator for $name {
            type Item = Result<$item, Error>;

            #[inline]
            fn next(&mut self) -> Option<Self::Item> {
                let $snapshot = &self.1;
                self.0.step(Iterator::next, |$row| $map)
            }
        }

        impl DoubleEndedIterator for $name {
            #[inline]
            fn next_back(&mut self) -> Option<Self::Item> {
                let $snapshot = &self.1;
                self.0.step(DoubleEndedIterator::next_back, |$row| $map)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_tuple(stringify!($name)).field(&self.1).finish()
            }
        }
    };
}

rows!(RedbRange, (RedbBytes, RedbBytes), |row, _snapshot| (RedbBytes(row.0), RedbBytes(row.1)));
rows!(RedbValues, RedbBytes, |row, _snapshot| RedbBytes(row));
rows!(RedbValueRange, (RedbBytes, RedbValues), |row, snapshot| {
    (RedbBytes(row.0), RedbValues(Lazy { inner: Some(row.1) }, snapshot.clone()))
});

impl RowRange for RedbRange {
    type Bytes = RedbBytes;

    #[inline]
    fn visit<T>(
        &mut self,
        direction: Direction,
        each: impl FnMut(&[u8], &[u8]) -> ControlFlow<T>,
    ) -> Result<ControlFlow<T>, Error> {
        let Some(rows) = &mut self.0.inner else { return Ok(ControlFlow::Continue(())) };
        let visited = match direction {
            Direction::Ascending => lend(rows, Iterator::next, each),
            Direction::Descending => lend(rows, DoubleEndedIterator::next_back, each),
        };
        // Nothing comes after the last row, nor after an error.
        if !matches!(visited, Ok(ControlFlow::Break(_))) {
            self.0.inner = None;
        }
        visited
    }
}

type Rows = redb::Range<'static, &'static [u8], &'static [u8]>;
type Row = Result<(AccessGuard<'static, &'static [u8]>, AccessGuard<'static, &'static [u8]>), StorageError>;

/// Lends rows to `each` until it breaks off.
#[inline]
fn lend<T>(
    rows: &mut Rows,
    step: impl Fn(&mut Rows) -> Option<Row>,
    mut each: impl FnMut(&[u8], &[u8]) -> ControlFlow<T>,
) -> Result<ControlFlow<T>, Error> {
    // One guard for all rows instead of one for each. A panic of `each` itself is not the engine's, and goes on.
    let mut lent = false;
    let visited = catch_unwind(AssertUnwindSafe(|| {
        while let Some(row) = step(rows) {
            let (key, value) = match row {
                Ok(row) => row,
                Err(error) => return Err(translated(error)),
            };
            lent = true;
            let flow = each(key.value(), value.value());
            lent = false;
            if let ControlFlow::Break(end) = flow {
                return Ok(ControlFlow::Break(end));
            }
        }
        Ok(ControlFlow::Continue(()))
    }));
    match visited {
        Err(panic) if lent => resume_unwind(panic),
        Err(panic) => Err(panicked(panic.as_ref())),
        Ok(visited) => visited,
    }
}

/// Bytes inside a page of a [`RedbSnapshot`].
pub struct RedbBytes(pub(super) AccessGuard<'static, &'static [u8]>);

impl Deref for RedbBytes {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        self.0.value()
    }
}

impl AsRef<[u8]> for RedbBytes {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl fmt::Debug for RedbBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RedbBytes").field(&&**self).finish()
    }
}
