use crate::engine::Engine;

use super::{KeyOf, Map};
use crate::typed::{Batch, Error, Read, Rows};
use keyplan_typed::{Key, Scan, ScanOf, Value as _};

/// Only keys: the rows of a scan of a family whose values are `-> ""`.
#[derive(Clone, Debug)]
pub struct Set<S: ScanOf>(Map<S>);

impl<S: ScanOf> Set<S> {
    /// The rows of a scan.
    pub const fn new(scan: Scan<'static, S>) -> Self {
        Self(Map::new(scan))
    }

    /// Whether a key is in it.
    pub fn contains<R: Read>(&self, read: &R, key: &KeyOf<'_, S>) -> Result<bool, Error> {
        self.0.contains(read, key)
    }

    /// Adds a key; whether it is new. Refused if the family's values have bytes.
    pub fn insert<E: Engine>(&self, batch: &mut Batch<'_, E>, key: &KeyOf<'_, S>) -> Result<bool, Error> {
        let nothing = <S::Key as Key>::Value::decode(b"")?;
        self.0.put(batch, key, &nothing)
    }

    /// Takes a key out; whether it was there.
    pub fn remove<E: Engine>(&self, batch: &mut Batch<'_, E>, key: &KeyOf<'_, S>) -> Result<bool, Error> {
        self.0.remove(batch, key)
    }

    /// Goes through the keys, from either end.
    pub fn rows<R: Read>(&self, read: &R) -> Rows<S::Key, R::Range> {
        self.0.rows(read)
    }

    /// Takes all keys out in this batch; how many there were.
    pub fn clear<E: Engine>(&self, batch: &mut Batch<'_, E>) -> Result<u64, Error> {
        self.0.clear(batch)
    }
}
