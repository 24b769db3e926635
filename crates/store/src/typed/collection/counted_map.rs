use crate::engine::Engine;

use super::{KeyOf, Map, NumberKey, StoredIn, ValueOf, number};
use crate::typed::{Batch, Error, Read, Rows};
use keyplan_typed::{Scan, ScanOf};

/// A [`Map`] that knows how many rows it has. The number is in the same batch as every change.
#[derive(Clone, Debug)]
pub struct CountedMap<S: ScanOf, C> {
    map: Map<S>,
    count: C,
}

impl<S: ScanOf, C: NumberKey> CountedMap<S, C> {
    /// The rows of a scan, and the key of their number. Both must be empty, or belong together.
    pub const fn new(scan: Scan<'static, S>, count: C) -> Self {
        Self { map: Map::new(scan), count }
    }

    /// How many rows there are, without going through them.
    pub fn count<R: Read>(&self, read: &R) -> Result<u64, Error> {
        Ok(number(read, &self.count)?.unwrap_or(0))
    }

    /// Reads a value.
    pub fn get<R: Read>(&self, read: &R, key: &KeyOf<'_, S>) -> Result<Option<StoredIn<S::Key, R>>, Error> {
        self.map.get(read, key)
    }

    /// Writes a row; whether it is new.
    pub fn put<E: Engine>(
        &self,
        batch: &mut Batch<'_, E>,
        key: &KeyOf<'_, S>,
        value: &ValueOf<'_, S>,
    ) -> Result<bool, Error> {
        // Read before anything is changed, so that what is refused changes nothing.
        let count = self.count(batch)?.checked_add(1).ok_or(Error::Exhausted { family: C::FAMILY })?;
        let new = self.map.put(batch, key, value)?;
        if new {
            batch.put(&self.count, &C::value_of(count))?;
        }
        Ok(new)
    }

    /// Deletes a row; whether it was there.
    pub fn remove<E: Engine>(&self, batch: &mut Batch<'_, E>, key: &KeyOf<'_, S>) -> Result<bool, Error> {
        let found = self.map.remove(batch, key)?;
        if found {
            let count = self.count(batch)?.saturating_sub(1);
            batch.put(&self.count, &C::value_of(count))?;
        }
        Ok(found)
    }

    /// Goes through the rows, from either end.
    pub fn rows<R: Read>(&self, read: &R) -> Rows<S::Key, R::Range> {
        self.map.rows(read)
    }

    /// Deletes all rows and their number in this batch; how many there were.
    pub fn clear<E: Engine>(&self, batch: &mut Batch<'_, E>) -> Result<u64, Error> {
        let gone = self.map.clear(batch)?;
        batch.delete(&self.count)?;
        Ok(gone)
    }
}
