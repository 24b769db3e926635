use std::fmt;
use std::marker::PhantomData;

use crate::engine::Engine;

use super::StoredIn;
use crate::typed::{Batch, Error, Read};
use keyplan_typed::{Key, Scan, ScanOf};

/// How rows that end by themselves are found when their time is over.
///
/// ```text
/// key session = 0x01 id: u64 -> until: u64 user: u64          a row, which says when it ends
/// key ending  = 0x02 until: u64 id: u64 -> ""                  the rows by their ends
///     scan all in order
/// ```
pub trait Expiring {
    /// The rows.
    type Row: Key;
    /// The rows by their ends: a family with a value of no bytes.
    type Ending: Key;
    /// Their rows, by the moment.
    type EndingScan: ScanOf<Key = Self::Ending>;

    /// All ends up to a moment and at it, the first one first.
    fn ended(now: u64) -> Scan<'static, Self::EndingScan>;
}

/// What the rows of an [`Expiring`] say of one another.
pub trait ExpiringRows<'a>: Expiring {
    /// The last moment of a row; `None` if it does not end.
    fn until(value: <Self::Row as Key>::Value<'a>) -> Option<u64>;
    /// The row that says when another one ends.
    fn ending(key: &<Self::Row as Key>::Decoded<'a>, until: u64) -> <Self::Ending as Key>::Decoded<'a>;
    /// The row that it speaks of.
    fn row(ending: <Self::Ending as Key>::Decoded<'a>) -> <Self::Row as Key>::Decoded<'a>;
}

/// A key of such rows.
pub type ExpiringKey<'k, H> = <<H as Expiring>::Row as Key>::Decoded<'k>;
/// A value of such rows.
pub type ExpiringValue<'v, H> = <<H as Expiring>::Row as Key>::Value<'v>;

/// Values by key that end by themselves (TTL). Moments are the caller's: heights, seconds, whatever grows.
///
/// A row whose time is over is not read any more, whether or not [`ExpiringMap::expire`] has removed it yet.
pub struct ExpiringMap<H>(PhantomData<fn() -> H>);

impl<H: for<'a> ExpiringRows<'a>> ExpiringMap<H> {
    /// The rows of these families.
    pub const fn new() -> Self {
        Self(PhantomData)
    }

    /// Reads a value that has not ended.
    pub fn get<'k, R: Read>(
        &self,
        read: &R,
        key: &ExpiringKey<'k, H>,
        now: u64,
    ) -> Result<Option<StoredIn<ExpiringKey<'k, H>, R>>, Error>
    where
        ExpiringKey<'k, H>: for<'v> Key<Value<'v> = ExpiringValue<'v, H>>,
    {
        let Some(found) = read.get(key)? else { return Ok(None) };
        let ended = H::until(found.value()?).is_some_and(|until| until < now);
        Ok((!ended).then_some(found))
    }

    /// Writes a row, and when it ends.
    pub fn put<'k, E: Engine>(
        &self,
        batch: &mut Batch<'_, E>,
        key: &ExpiringKey<'k, H>,
        value: &ExpiringValue<'_, H>,
    ) -> Result<(), Error>
    where
        ExpiringKey<'k, H>: for<'v> Key<Value<'v> = ExpiringValue<'v, H>>,
    {
        self.remove(batch, key)?;
        batch.put_row(key, value)?;
        let found = batch.get(key)?;
        let until = found.map(|found| found.value().map(H::until)).transpose()?.flatten();
        if let Some(until) = until {
            batch.put_bytes_of(&H::ending(key, until))?;
        }
        Ok(())
    }

    /// Deletes a row and its end; whether it was there.
    pub fn remove<'k, E: Engine>(
        &self,
        batch: &mut Batch<'_, E>,
        key: &ExpiringKey<'k, H>,
    ) -> Result<bool, Error>
    where
        ExpiringKey<'k, H>: for<'v> Key<Value<'v> = ExpiringValue<'v, H>>,
    {
        let Some(found) = batch.get(key)? else { return Ok(false) };
        let until = H::until(found.value()?);
        drop(found);
        if let Some(until) = until {
            batch.delete(&H::ending(key, until))?;
        }
        batch.delete(key)?;
        Ok(true)
    }

    /// Deletes up to `limit` rows that ended before `now`, in this batch, and returns how many; fewer than `limit` if there are
    /// no more.
    pub fn expire<E: Engine>(
        &self,
        batch: &mut Batch<'_, E>,
        now: u64,
        limit: usize,
    ) -> Result<usize, Error> {
        let Some(last) = now.checked_sub(1) else { return Ok(0) };
        let mut gone = 0;
        for row in batch.scan(H::ended(last)).take(limit) {
            let row = row?;
            let ending = row.key()?;
            batch.delete(&H::row(ending))?;
            batch.delete_bytes(<H::Ending as Key>::SPACE, row.key_bytes())?;
            gone += 1;
        }
        Ok(gone)
    }
}

impl<H> Clone for ExpiringMap<H> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<H> Copy for ExpiringMap<H> {}

impl<H: for<'a> ExpiringRows<'a>> Default for ExpiringMap<H> {
    fn default() -> Self {
        Self::new()
    }
}

impl<H> fmt::Debug for ExpiringMap<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ExpiringMap")
    }
}
