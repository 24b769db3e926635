use core::ops::Range;

use keyplan_store::engine::Engine;

use super::{NumberKey, number};
use crate::store::{Batch, Error, Read};

/// Numbers that are given out once, in order.
///
/// The key is written by everyone who takes a number: take many at once where there are many writers.
#[derive(Clone, Copy, Debug)]
pub struct Sequence<K> {
    next: K,
    first: u64,
}

impl<K: NumberKey> Sequence<K> {
    /// Numbers from 0 on; the next one is kept under a key.
    pub const fn new(next: K) -> Self {
        Self { next, first: 0 }
    }

    /// The same from another number on.
    #[must_use]
    pub const fn starting_at(mut self, first: u64) -> Self {
        self.first = first;
        self
    }

    /// The number that is given out next.
    pub fn peek<R: Read>(&self, read: &R) -> Result<u64, Error> {
        Ok(number(read, &self.next)?.unwrap_or(self.first))
    }

    /// Takes a number.
    pub fn take<E: Engine>(&self, batch: &mut Batch<'_, E>) -> Result<u64, Error> {
        self.take_many(batch, 1).map(|taken| taken.start)
    }

    /// Takes several numbers in a row.
    pub fn take_many<E: Engine>(&self, batch: &mut Batch<'_, E>, count: u64) -> Result<Range<u64>, Error> {
        let start = self.peek(batch)?;
        let end = start.checked_add(count).ok_or(Error::Exhausted { family: K::FAMILY })?;
        batch.put(&self.next, &K::value_of(end))?;
        Ok(start..end)
    }
}
