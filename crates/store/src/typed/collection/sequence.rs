use std::ops::Range;

use crate::engine::Engine;

use super::{NumberKey, number};
use crate::typed::{Batch, Error, Read};

/// Numbers that are given out once, in order.
///
/// The key is written by everyone who takes a number: take many at once where there are many writers.
///
/// ```
/// keyplan::plan! {
///     plan ids;
///     space state { key next = 0x01 -> id: u64; }
/// }
/// use ids::state::{Next, NextValue};
/// use keyplan::store::collection::{NumberKey, Sequence};
/// use keyplan::store::{Store, engine::Memory};
///
/// impl NumberKey for Next {
///     fn value_of(id: u64) -> NextValue {
///         NextValue { id }
///     }
///     fn number_of(value: NextValue) -> u64 {
///         value.id
///     }
/// }
///
/// let store = Store::create_on(Memory::new(), &ids::PLAN)?;
/// let ids = Sequence::new(Next).starting_at(1);
/// let mut batch = store.batch()?;
/// assert_eq!(ids.take(&mut batch)?, 1);
/// assert_eq!(ids.take_many(&mut batch, 10)?, 2..12);
/// # Ok::<(), keyplan::store::Error>(())
/// ```
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
