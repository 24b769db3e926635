use std::marker::PhantomData;

use crate::engine::Engine;

use super::{KeyOf, Map, NumberKey, StoredIn, ValueOf, number};
use crate::typed::{Batch, Error, Read, Rows};
use keyplan_typed::{Key, Scan, ScanOf};

/// What is summed of the rows of a family.
pub trait Summed {
    /// The family.
    type Row: Key;

    /// What a value adds to the sum.
    fn amount(value: <Self::Row as Key>::Value<'_>) -> u64;
}

/// A [`Map`] that knows how many rows it has and what they add up to. Both numbers are in the same batch as every change.
///
/// ```
/// keyplan::plan! {
///     plan pool;
///     space state {
///         key share = 0x01 pool: u64 owner: u64 -> amount: u64 scan by pool in order;
///         key shares = 0x02 pool: u64 -> count: u64;
///         key total = 0x03 pool: u64 -> amount: u64;
///     }
/// }
/// use keyplan::store::collection::{NumberKey, Summed, SummedMap};
/// use keyplan::store::{Error, Store, engine::Memory};
/// use pool::state::{Share, ShareByPool, ShareValue, Shares, SharesValue, Total, TotalValue};
///
/// struct OfPool;
///
/// impl Summed for OfPool {
///     type Row = Share;
///     fn amount(value: ShareValue) -> u64 {
///         value.amount
///     }
/// }
/// impl NumberKey for Shares {
///     fn value_of(count: u64) -> SharesValue {
///         SharesValue { count }
///     }
///     fn number_of(value: SharesValue) -> u64 {
///         value.count
///     }
/// }
/// impl NumberKey for Total {
///     fn value_of(amount: u64) -> TotalValue {
///         TotalValue { amount }
///     }
///     fn number_of(value: TotalValue) -> u64 {
///         value.amount
///     }
/// }
///
/// let store = Store::create_on(Memory::new(), &pool::PLAN)?;
/// let shares = SummedMap::<OfPool, ShareByPool, _, _>::new(Share::by_pool(7), Shares { pool: 7 }, Total { pool: 7 });
/// let mut batch = store.batch()?;
/// shares.put(&mut batch, &Share { pool: 7, owner: 1 }, &ShareValue { amount: 30 })?;
/// shares.put(&mut batch, &Share { pool: 7, owner: 2 }, &ShareValue { amount: 12 })?;
/// shares.put(&mut batch, &Share { pool: 7, owner: 1 }, &ShareValue { amount: 10 })?;
/// assert_eq!((shares.count(&batch)?, shares.total(&batch)?), (2, 22));
/// shares.remove(&mut batch, &Share { pool: 7, owner: 2 })?;
/// assert_eq!((shares.count(&batch)?, shares.total(&batch)?), (1, 10));
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug)]
pub struct SummedMap<I, S: ScanOf, C, T> {
    map: Map<S>,
    count: C,
    total: T,
    of: PhantomData<fn() -> I>,
}

impl<I: Summed<Row = S::Key>, S: ScanOf, C: NumberKey, T: NumberKey> SummedMap<I, S, C, T> {
    /// The rows of a scan, the key of their number and that of their sum. All must be empty, or belong together.
    pub const fn new(scan: Scan<'static, S>, count: C, total: T) -> Self {
        Self { map: Map::new(scan), count, total, of: PhantomData }
    }

    /// How many rows there are, without going through them.
    pub fn count<R: Read>(&self, read: &R) -> Result<u64, Error> {
        Ok(number(read, &self.count)?.unwrap_or(0))
    }

    /// What the rows add up to, without going through them.
    pub fn total<R: Read>(&self, read: &R) -> Result<u64, Error> {
        Ok(number(read, &self.total)?.unwrap_or(0))
    }

    /// Reads a value.
    pub fn get<R: Read>(&self, read: &R, key: &KeyOf<'_, S>) -> Result<Option<StoredIn<S::Key, R>>, Error> {
        self.map.get(read, key)
    }

    /// What a row adds now, if it is there.
    fn added<R: Read>(&self, read: &R, key: &KeyOf<'_, S>) -> Result<Option<u64>, Error> {
        self.map.get(read, key)?.map(|found| found.value().map(I::amount)).transpose()
    }

    /// Writes a row; whether it is new. Refused, with nothing changed, if the sum would be more than can be written.
    pub fn put<E: Engine>(
        &self,
        batch: &mut Batch<'_, E>,
        key: &KeyOf<'_, S>,
        value: &ValueOf<'_, S>,
    ) -> Result<bool, Error> {
        let before = self.added(batch, key)?;
        let (count, total) = (self.count(batch)?, self.total(batch)?);
        // The row is written first: what it adds is what is read back, which is what a later change takes away.
        let new = self.map.put(batch, key, value)?;
        let now = self.added(batch, key)?.unwrap_or(0);
        let sum = total.saturating_sub(before.unwrap_or(0)).checked_add(now);
        let sum = sum.ok_or(Error::Exhausted { family: T::FAMILY })?;
        if new {
            let count = count.checked_add(1).ok_or(Error::Exhausted { family: C::FAMILY })?;
            batch.put(&self.count, &C::value_of(count))?;
        }
        batch.put(&self.total, &T::value_of(sum))?;
        Ok(new)
    }

    /// Deletes a row; whether it was there.
    pub fn remove<E: Engine>(&self, batch: &mut Batch<'_, E>, key: &KeyOf<'_, S>) -> Result<bool, Error> {
        let Some(before) = self.added(batch, key)? else { return Ok(false) };
        let (count, total) = (self.count(batch)?, self.total(batch)?);
        self.map.remove(batch, key)?;
        batch.put(&self.count, &C::value_of(count.saturating_sub(1)))?;
        batch.put(&self.total, &T::value_of(total.saturating_sub(before)))?;
        Ok(true)
    }

    /// Goes through the rows, from either end.
    pub fn rows<R: Read>(&self, read: &R) -> Rows<S::Key, R::Range> {
        self.map.rows(read)
    }
}
