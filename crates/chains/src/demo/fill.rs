//! State of five systems in one database, made up but of the right shapes and proportions.

use alloc::sync::Arc;
use alloc::vec::Vec;

use keyplan::store::Store;
use keyplan::store::engine::{Durability, Engine};
use keyplan::store::raw::StoreBatch;
use keyplan::store::raw::structure::{Command, Embedded, Structures};
use keyplan::typed::{Key, Value as _};

use super::error::{DemoError, Result};
use super::random::Random;

/// How many rows go into one step.
const BATCH: usize = 5_000;

/// What is filled. The state is made by code that knows no engine, so that it is compiled once and not for each.
pub(super) trait Target {
    /// Puts a row into the batch, and says how many are in it.
    fn put(&mut self, space: &str, key: &[u8], value: &[u8]) -> Result<usize>;

    /// Makes everything in the batch visible in one step.
    fn commit(&mut self, durability: Durability) -> Result<()>;

    /// Applies commands to the structures of a space, beside the batch.
    fn apply(&mut self, space: &str, commands: &[Command<'_>]) -> Result<()>;
}

/// A store that is filled.
pub(super) struct Filled<'s, E: Engine> {
    store: &'s Store<E>,
    batch: StoreBatch<'s, E>,
    structures: Option<Embedded<E>>,
}

impl<'s, E: Engine> Filled<'s, E> {
    pub(super) fn new(store: &'s Store<E>) -> Result<Self> {
        Ok(Self { store, batch: store.raw().batch().map_err(fault)?, structures: None })
    }
}

impl<E: Engine> Target for Filled<'_, E> {
    fn put(&mut self, space: &str, key: &[u8], value: &[u8]) -> Result<usize> {
        let space = self.store.raw().space(space).map_err(fault)?;
        self.batch.put_row(space, key, value);
        Ok(self.batch.len())
    }

    fn commit(&mut self, durability: Durability) -> Result<()> {
        let next = self.store.raw().batch().map_err(fault)?;
        core::mem::replace(&mut self.batch, next).commit(durability).map_err(fault)
    }

    fn apply(&mut self, space: &str, commands: &[Command<'_>]) -> Result<()> {
        let structures = match self.structures.take() {
            Some(opened) => opened,
            None => Embedded::open(Arc::clone(self.store.raw()), space)?,
        };
        structures.apply(commands, Durability::Buffer)?;
        self.structures = Some(structures);
        Ok(())
    }
}

fn fault(source: keyplan::store::raw::StoreError) -> DemoError {
    DemoError::Fill { source: source.into() }
}

/// A database that is being filled.
pub(super) struct Filler<'s> {
    target: &'s mut dyn Target,
    rows: u64,
    told: &'s mut dyn FnMut(u64),
    value: Vec<u8>,
    /// Where made-up values come from; the same on every machine.
    pub(super) random: Random,
}

impl<'s> Filler<'s> {
    /// Begins to fill a database; `told` hears how many rows are in it.
    pub(super) fn new(target: &'s mut dyn Target, told: &'s mut dyn FnMut(u64)) -> Self {
        Self { target, rows: 0, told, value: Vec::new(), random: Random::new(7) }
    }

    /// Writes a row. Every few thousand of them become visible in one step.
    pub(super) fn put<K: Key>(&mut self, key: &K, value: &K::Value<'_>) -> Result<()> {
        self.value.clear();
        value.encode_into(&mut self.value)?;
        let waiting = self.target.put(K::SPACE, &key.to_vec()?, &self.value)?;
        self.rows += 1;
        if waiting >= BATCH { self.commit(Durability::Buffer) } else { Ok(()) }
    }

    /// Applies changes to the structures of a space, each of which counts as a row.
    pub(super) fn apply(&mut self, space: &str, commands: &[Command<'_>]) -> Result<()> {
        self.target.apply(space, commands)?;
        self.rows += commands.len() as u64;
        Ok(())
    }

    /// Writes what is left, durably, and says how many rows there were.
    pub(super) fn end(mut self) -> Result<u64> {
        self.commit(Durability::SyncAll)?;
        Ok(self.rows)
    }

    fn commit(&mut self, durability: Durability) -> Result<()> {
        self.target.commit(durability)?;
        (self.told)(self.rows);
        Ok(())
    }
}
