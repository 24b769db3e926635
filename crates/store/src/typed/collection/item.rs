use crate::engine::Engine;

use crate::typed::{Batch, Error, Read, Stored};
use keyplan_typed::Key;

/// One value: a single key of a family, usually of one without arguments.
#[derive(Clone, Copy, Debug)]
pub struct Item<K>(K);

impl<K: Key> Item<K> {
    /// The value under a key.
    pub const fn new(key: K) -> Self {
        Self(key)
    }

    /// Reads it.
    pub fn get<R: Read>(&self, read: &R) -> Result<Option<Stored<K, R::Bytes>>, Error> {
        read.get(&self.0)
    }

    /// Writes it.
    pub fn put<E: Engine>(&self, batch: &mut Batch<'_, E>, value: &K::Value<'_>) -> Result<(), Error> {
        batch.put(&self.0, value)
    }

    /// Deletes it; whether it was there.
    pub fn remove<E: Engine>(&self, batch: &mut Batch<'_, E>) -> Result<bool, Error> {
        let found = batch.contains(&self.0)?;
        if found {
            batch.delete(&self.0)?;
        }
        Ok(found)
    }
}
