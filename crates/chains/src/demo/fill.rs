//! State of five systems in one database, made up but of the right shapes and proportions.

use keyplan::store::engine::{Durability, Engine};
use keyplan::store::{Batch, Store};
use keyplan::typed::Key;

use super::error::{DemoError, Result};
use super::random::Random;

/// How many rows go into one step.
const BATCH: usize = 5_000;

/// A database that is being filled.
pub(super) struct Filler<'s, E: Engine> {
    store: &'s Store<E>,
    batch: Batch<'s, E>,
    rows: u64,
    told: &'s mut dyn FnMut(u64),
    /// Where made-up values come from; the same on every machine.
    pub(super) random: Random,
}

impl<'s, E: Engine> Filler<'s, E> {
    /// Begins to fill a database; `told` hears how many rows are in it.
    pub(super) fn new(store: &'s Store<E>, told: &'s mut dyn FnMut(u64)) -> Result<Self> {
        Ok(Self { store, batch: store.batch()?, rows: 0, told, random: Random::new(7) })
    }

    /// Writes a row. Every few thousand of them become visible in one step.
    pub(super) fn put<K: Key>(&mut self, key: &K, value: &K::Value<'_>) -> Result<()> {
        self.batch.put(key, value)?;
        self.count(1)
    }

    /// Notes rows that were written beside the batch.
    pub(super) fn count(&mut self, rows: u64) -> Result<()> {
        self.rows += rows;
        if self.batch.len() >= BATCH {
            self.commit(Durability::Buffer)?;
        }
        Ok(())
    }

    /// Writes what is left, durably, and says how many rows there were.
    pub(super) fn end(mut self) -> Result<u64> {
        self.commit(Durability::SyncAll)?;
        Ok(self.rows)
    }

    fn commit(&mut self, durability: Durability) -> Result<()> {
        let full = std::mem::replace(&mut self.batch, self.store.batch()?);
        full.commit(durability).map_err(|source| DemoError::Fill { source })?;
        (self.told)(self.rows);
        Ok(())
    }
}
