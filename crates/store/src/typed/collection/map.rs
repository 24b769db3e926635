use crate::engine::Engine;

use super::{KeyOf, StoredIn, ValueOf};
use crate::typed::error::hex;
use crate::typed::scratch::with_key;
use crate::typed::{Batch, Error, Read, Rows, Stored};
use keyplan_typed::{Key, Scan, ScanOf};

/// Values by key: the rows of a scan that the plan declares, all of a family or those that share some arguments.
///
/// What the plan proves of the scan holds for the map: no row of another family or of other arguments is in it.
#[derive(Clone, Debug)]
pub struct Map<S: ScanOf>(Scan<'static, S>);

impl<S: ScanOf> Map<S> {
    /// The rows of a scan.
    pub const fn new(scan: Scan<'static, S>) -> Self {
        Self(scan)
    }

    /// The scan that it consists of.
    pub fn scan(&self) -> Scan<'static, S> {
        self.0.clone()
    }

    /// Reads a value.
    pub fn get<R: Read>(&self, read: &R, key: &KeyOf<'_, S>) -> Result<Option<StoredIn<S::Key, R>>, Error> {
        with_key(key, |bytes| {
            self.admit(bytes)?;
            Ok(read.get_bytes(S::Key::SPACE, bytes)?.map(Stored::new))
        })
    }

    /// Whether there is a row with this key.
    pub fn contains<R: Read>(&self, read: &R, key: &KeyOf<'_, S>) -> Result<bool, Error> {
        with_key(key, |bytes| {
            self.admit(bytes)?;
            Ok(read.contains_bytes(S::Key::SPACE, bytes)?)
        })
    }

    /// Writes a row; whether it is new.
    pub fn put<E: Engine>(
        &self,
        batch: &mut Batch<'_, E>,
        key: &KeyOf<'_, S>,
        value: &ValueOf<'_, S>,
    ) -> Result<bool, Error> {
        let new = !self.contains(batch, key)?;
        batch.put_row(key, value)?;
        Ok(new)
    }

    /// Deletes a row; whether it was there.
    pub fn remove<E: Engine>(&self, batch: &mut Batch<'_, E>, key: &KeyOf<'_, S>) -> Result<bool, Error> {
        let found = self.contains(batch, key)?;
        if found {
            batch.delete(key)?;
        }
        Ok(found)
    }

    /// Goes through the rows, from either end.
    pub fn rows<R: Read>(&self, read: &R) -> Rows<S::Key, R::Range> {
        read.scan(self.scan())
    }

    /// Counts the rows, one by one. [`CountedMap`](super::CountedMap) knows without counting.
    pub fn count<R: Read>(&self, read: &R) -> Result<u64, Error> {
        self.rows(read).try_fold(0, |count, row| row.map(|_| count + 1))
    }

    /// Deletes all rows in this batch; how many there were.
    ///
    /// [`Store::delete_scan`](crate::typed::Store::delete_scan) with [`Map::scan`] is for more than a batch should hold.
    pub fn clear<E: Engine>(&self, batch: &mut Batch<'_, E>) -> Result<u64, Error> {
        batch.delete_scan(self.scan())
    }

    /// Refuses the key of a row that the scan would not find again.
    fn admit(&self, key: &[u8]) -> Result<(), Error> {
        if self.0.contains(key) { Ok(()) } else { Err(Error::Outside { scan: S::SCAN, key: hex(key) }) }
    }
}
