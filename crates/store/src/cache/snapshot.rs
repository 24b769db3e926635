use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use super::bytes::{CachedBytes, RowBytes};
use super::families::Families;
use super::table::{Look, Missed, Place, Table};
use crate::engine::{Error, KeyRange, MultimapSnapshot, RowRange, Snapshot, SpaceId};
use crate::page::Direction;

/// The rows that are cached, and how they are counted.
pub(super) struct Rows {
    pub(super) table: Arc<Table>,
    pub(super) families: Families,
    /// The number of the engine's first space.
    pub(super) first_space: u32,
    /// The bytes that the cache may take.
    pub(super) budget: u64,
}

impl Rows {
    /// Where a key belongs; `None` if its row is not cached.
    #[inline]
    pub(super) fn place(&self, space: SpaceId, key: &[u8]) -> Option<Place> {
        let space = u16::try_from(space.0.wrapping_sub(self.first_space)).ok()?;
        let family = self.families.of(space, key)?;
        Some(self.table.place(space, family, key))
    }
}

/// A point in time of a [`Cached`](super::Cached) engine.
pub struct CachedSnapshot<S> {
    below: S,
    rows: Option<Arc<Rows>>,
    // The commit that it is of; 0 if it may use nothing of the cache, and add nothing.
    at: u64,
    // The age at which it ends: a hit is no way around it.
    limit: Option<Duration>,
}

impl<S: Snapshot> CachedSnapshot<S> {
    pub(super) fn new(below: S, rows: Option<Arc<Rows>>, at: u64, limit: Option<Duration>) -> Self {
        Self { below, rows, at, limit }
    }

    /// The engine's snapshot below.
    pub const fn below(&self) -> &S {
        &self.below
    }

    fn check(&self) -> Result<(), Error> {
        let Some(limit) = self.limit else { return Ok(()) };
        let age = self.below.age();
        if age > limit { Err(Error::SnapshotExpired { age, limit }) } else { Ok(()) }
    }

    /// Looks for a key in the cache.
    #[inline]
    pub(super) fn look(&self, rows: &Rows, place: Place, key: &[u8]) -> Look {
        let look = rows.table.look(place, key, self.at);
        match look {
            Look::Hit(_) => rows.families.hit(place.family, place.stripe()),
            Look::Miss(_) => rows.families.missed(place.family, place.stripe()),
        }
        look
    }

    /// Keeps what was read below.
    pub(super) fn fill(&self, rows: &Rows, place: Place, key: &[u8], value: Option<&[u8]>) {
        rows.table.fill(place, key, value, self.at, &rows.families);
    }

    /// Where a key belongs in the cache, if it does.
    #[inline]
    pub(super) fn place(&self, space: SpaceId, key: &[u8]) -> Option<(&Rows, Place)> {
        let rows = self.rows.as_deref()?;
        Some((rows, rows.place(space, key)?))
    }

    /// Reads below, and keeps what was read.
    fn below_and_fill(
        &self,
        rows: &Rows,
        (place, missed): (Place, Missed),
        space: SpaceId,
        key: &[u8],
    ) -> Result<Option<CachedBytes<S::Bytes>>, Error> {
        let value = self.below.get(space, key)?;
        if missed.keeps(value.is_some()) {
            self.fill(rows, place, key, value.as_deref());
        }
        Ok(value.map(CachedBytes::Stored))
    }

    /// The same for a value that is only looked at: the copy that is kept is the only one.
    fn below_and_fill_with<T>(
        &self,
        rows: &Rows,
        (place, missed): (Place, Missed),
        space: SpaceId,
        key: &[u8],
        with: impl FnOnce(&[u8]) -> T,
    ) -> Result<Option<T>, Error> {
        let found = self.below.get_with(space, key, |value| {
            if missed.keeps(true) {
                self.fill(rows, place, key, Some(value));
            }
            with(value)
        })?;
        if found.is_none() && missed.keeps(false) {
            self.fill(rows, place, key, None);
        }
        Ok(found)
    }
}

impl<S: Snapshot> Snapshot for CachedSnapshot<S> {
    type Bytes = CachedBytes<S::Bytes>;
    type Range = CachedRange<S>;

    #[inline]
    fn get(&self, space: SpaceId, key: &[u8]) -> Result<Option<Self::Bytes>, Error> {
        let Some((rows, place)) = self.place(space, key) else {
            return Ok(self.below.get(space, key)?.map(CachedBytes::Stored));
        };
        self.check()?;
        match self.look(rows, place, key) {
            Look::Hit(value) => Ok(value.map(|value| CachedBytes::Cached(RowBytes(value)))),
            Look::Miss(missed) => self.below_and_fill(rows, (place, missed), space, key),
        }
    }

    #[inline]
    fn get_with<T>(
        &self,
        space: SpaceId,
        key: &[u8],
        with: impl FnOnce(&[u8]) -> T,
    ) -> Result<Option<T>, Error> {
        let Some((rows, place)) = self.place(space, key) else {
            return self.below.get_with(space, key, with);
        };
        self.check()?;
        match self.look(rows, place, key) {
            Look::Hit(value) => Ok(value.map(|value| with(&value))),
            Look::Miss(missed) => self.below_and_fill_with(rows, (place, missed), space, key, with),
        }
    }

    fn range(&self, space: SpaceId, range: KeyRange<'_>) -> Result<CachedRange<S>, Error> {
        Ok(CachedRange(self.below.range(space, range)?))
    }

    fn age(&self) -> Duration {
        self.below.age()
    }

    fn contains(&self, space: SpaceId, key: &[u8]) -> Result<bool, Error> {
        let Some((rows, place)) = self.place(space, key) else { return self.below.contains(space, key) };
        self.check()?;
        match rows.table.look_only(place, key, self.at) {
            Ok(known) => {
                rows.families.hit(place.family, place.stripe());
                Ok(known)
            }
            Err(missed) => {
                rows.families.missed(place.family, place.stripe());
                Ok(self.below_and_fill_with(rows, (place, missed), space, key, |_| ())?.is_some())
            }
        }
    }

    fn multi_get<K: AsRef<[u8]>>(
        &self,
        space: SpaceId,
        keys: &[K],
    ) -> Result<Vec<Option<Self::Bytes>>, Error> {
        if self.rows.is_none() {
            let found = self.below.multi_get(space, keys)?;
            return Ok(found.into_iter().map(|value| value.map(CachedBytes::Stored)).collect());
        }
        self.check()?;
        let mut found = Vec::with_capacity(keys.len());
        // What is not here is asked for at once: an engine across a network answers it in one turn.
        let mut missing: Vec<&[u8]> = Vec::new();
        let mut places = Vec::new();
        for (at, key) in keys.iter().enumerate() {
            let key = key.as_ref();
            let mut keeps = None;
            if let Some((rows, place)) = self.place(space, key) {
                match self.look(rows, place, key) {
                    Look::Hit(value) => {
                        found.push(value.map(|value| CachedBytes::Cached(RowBytes(value))));
                        continue;
                    }
                    Look::Miss(missed) => keeps = Some((rows, place, missed)),
                }
            }
            found.push(None);
            missing.push(key);
            places.push((at, keeps));
        }
        if missing.is_empty() {
            return Ok(found);
        }
        let values = self.below.multi_get(space, &missing)?;
        for ((value, key), (at, keeps)) in values.into_iter().zip(missing).zip(places) {
            if let Some((rows, place, missed)) = keeps
                && missed.keeps(value.is_some())
            {
                self.fill(rows, place, key, value.as_deref());
            }
            if let Some(slot) = found.get_mut(at) {
                *slot = value.map(CachedBytes::Stored);
            }
        }
        Ok(found)
    }
}

impl<S: MultimapSnapshot> MultimapSnapshot for CachedSnapshot<S> {
    type Values = CachedValues<S>;
    type ValueRange = CachedValueRange<S>;

    fn iter_values(&self, space: SpaceId, key: &[u8]) -> Result<Self::Values, Error> {
        Ok(CachedValues(self.below.iter_values(space, key)?))
    }

    fn iter_multi(&self, space: SpaceId, range: KeyRange<'_>) -> Result<Self::ValueRange, Error> {
        Ok(CachedValueRange(self.below.iter_multi(space, range)?))
    }
}

impl<S: Clone> Clone for CachedSnapshot<S> {
    fn clone(&self) -> Self {
        Self { below: self.below.clone(), rows: self.rows.clone(), at: self.at, limit: self.limit }
    }
}

impl<S: fmt::Debug> fmt::Debug for CachedSnapshot<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CachedSnapshot")
            .field("below", &self.below)
            .field("at", &self.at)
            .finish_non_exhaustive()
    }
}

/// Rows of a [`CachedSnapshot`], straight from the engine: a scan leaves the cache as it is.
pub struct CachedRange<S: Snapshot>(S::Range);

/// The values of a key of a [`CachedSnapshot`].
pub struct CachedValues<S: MultimapSnapshot>(S::Values);

/// Keys of a [`CachedSnapshot`] with their values.
pub struct CachedValueRange<S: MultimapSnapshot>(S::ValueRange);

type Row<B> = (CachedBytes<B>, CachedBytes<B>);

fn stored<B>(row: (B, B)) -> Row<B> {
    (CachedBytes::Stored(row.0), CachedBytes::Stored(row.1))
}

impl<S: Snapshot> Iterator for CachedRange<S> {
    type Item = Result<Row<S::Bytes>, Error>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        Some(self.0.next()?.map(stored))
    }
}

impl<S: Snapshot> DoubleEndedIterator for CachedRange<S> {
    #[inline]
    fn next_back(&mut self) -> Option<Self::Item> {
        Some(self.0.next_back()?.map(stored))
    }
}

impl<S: Snapshot> RowRange for CachedRange<S> {
    type Bytes = CachedBytes<S::Bytes>;

    #[inline]
    fn visit<T>(
        &mut self,
        direction: Direction,
        each: impl FnMut(&[u8], &[u8]) -> ControlFlow<T>,
    ) -> Result<ControlFlow<T>, Error> {
        self.0.visit(direction, each)
    }
}

impl<S: Snapshot> fmt::Debug for CachedRange<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CachedRange").field(&self.0).finish()
    }
}

impl<S: MultimapSnapshot> Iterator for CachedValues<S> {
    type Item = Result<CachedBytes<S::Bytes>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        Some(self.0.next()?.map(CachedBytes::Stored))
    }
}

impl<S: MultimapSnapshot> DoubleEndedIterator for CachedValues<S> {
    fn next_back(&mut self) -> Option<Self::Item> {
        Some(self.0.next_back()?.map(CachedBytes::Stored))
    }
}

impl<S: MultimapSnapshot> Iterator for CachedValueRange<S> {
    type Item = Result<(CachedBytes<S::Bytes>, CachedValues<S>), Error>;

    fn next(&mut self) -> Option<Self::Item> {
        Some(self.0.next()?.map(|(key, values)| (CachedBytes::Stored(key), CachedValues(values))))
    }
}

impl<S: MultimapSnapshot> DoubleEndedIterator for CachedValueRange<S> {
    fn next_back(&mut self) -> Option<Self::Item> {
        Some(self.0.next_back()?.map(|(key, values)| (CachedBytes::Stored(key), CachedValues(values))))
    }
}

impl<S: MultimapSnapshot> fmt::Debug for CachedValues<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CachedValues").finish_non_exhaustive()
    }
}

impl<S: MultimapSnapshot> fmt::Debug for CachedValueRange<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CachedValueRange").finish_non_exhaustive()
    }
}
