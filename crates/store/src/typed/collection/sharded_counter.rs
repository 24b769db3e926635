use std::fmt;
use std::num::NonZeroU16;

use crate::engine::Engine;

use super::{NumberKey, number};
use crate::typed::{Batch, Error, Read};
use keyplan_typed::{Scan, ScanOf};

/// A count that is spread over several keys, so that writers who add to it do not all write one.
///
/// The plan declares a family with the shard as its last argument, such as
/// `key hits = 0x30 page: u64 shard: u16 -> count: u64 scan by page`.
///
/// ```
/// keyplan::plan! {
///     plan site;
///     space state { key hits = 0x30 page: u64 shard: u16 -> count: u64 scan by page in order; }
/// }
/// use std::num::NonZeroU16;
///
/// use keyplan::store::collection::{NumberKey, ShardedCounter};
/// use keyplan::store::{Store, engine::Memory};
/// use site::state::{Hits, HitsValue};
///
/// impl NumberKey for Hits {
///     fn value_of(count: u64) -> HitsValue {
///         HitsValue { count }
///     }
///     fn number_of(value: HitsValue) -> u64 {
///         value.count
///     }
/// }
///
/// let store = Store::create_on(Memory::new(), &site::PLAN)?;
/// let shards = NonZeroU16::new(8).expect("not zero");
/// let hits = ShardedCounter::new(Hits::by_page(7), shards, |shard| Hits { page: 7, shard });
/// let mut batch = store.batch()?;
/// for writer in 0..20 {
///     hits.add(&mut batch, writer, 2)?;
/// }
/// assert_eq!(hits.total(&batch)?, 40);
/// # Ok::<(), keyplan::store::Error>(())
/// ```
pub struct ShardedCounter<S: ScanOf, F> {
    scan: Scan<'static, S>,
    shards: NonZeroU16,
    shard: F,
}

impl<S, K, F> ShardedCounter<S, F>
where
    S: ScanOf<Key = K>,
    K: NumberKey,
    F: Fn(u16) -> K,
{
    /// The rows of a scan, each a shard; `shard` makes the key of one. The number of shards may change at any time.
    pub const fn new(scan: Scan<'static, S>, shards: NonZeroU16, shard: F) -> Self {
        Self { scan, shards, shard }
    }

    /// Adds to the count. `hint` chooses the shard: a number of the writer, or anything that differs from one to the
    /// next.
    pub fn add<E: Engine>(&self, batch: &mut Batch<'_, E>, hint: u64, amount: u64) -> Result<(), Error> {
        let shard = u16::try_from(hint % u64::from(self.shards.get())).unwrap_or_default();
        let key = (self.shard)(shard);
        let count = number(batch, &key)?.unwrap_or(0);
        let count = count.checked_add(amount).ok_or(Error::Exhausted { family: K::FAMILY })?;
        batch.put(&key, &K::value_of(count))
    }

    /// The whole count.
    pub fn total<R: Read>(&self, read: &R) -> Result<u64, Error> {
        read.scan(self.scan.clone()).try_fold(0_u64, |total, row| {
            let row = row?;
            total.checked_add(K::number_of(row.value()?)).ok_or(Error::Exhausted { family: K::FAMILY })
        })
    }

    /// Makes it nothing.
    pub fn clear<E: Engine>(&self, batch: &mut Batch<'_, E>) -> Result<(), Error> {
        batch.delete_scan(self.scan.clone()).map(|_| ())
    }
}

impl<S: ScanOf, F> fmt::Debug for ShardedCounter<S, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ShardedCounter")
            .field("scan", &self.scan)
            .field("shards", &self.shards)
            .finish_non_exhaustive()
    }
}
