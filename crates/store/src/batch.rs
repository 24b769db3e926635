mod reads;

use std::collections::VecDeque;
use std::fmt;
use std::ops::Deref;

use self::reads::{RangeRead, Reads};
use crate::engine::{
    Batch, Durability, Engine, Error, KeyRange, MultimapEngine, RowRange, Snapshot, SpaceId, Writers,
};
use crate::error::StoreError;
use crate::page::Direction;
use crate::snapshot::{BytesOf, RangeOf};
use crate::store::Store;

/// Changes to a store that are applied as one step, and are seen by the reads of the batch itself.
///
/// Dropped without a commit, it leaves nothing. Its reads are of the state at its first read, with its own changes laid
/// over it. On an engine with one writer at a time, what another thread commits meanwhile is overwritten. On one with
/// [several](Writers::Several), the batch carries everything that it read, and if any of it has changed by the time of
/// the commit, nothing is written and the commit is refused as a [conflict](Error::Conflict): make the batch again.
pub struct StoreBatch<'s, E: Engine> {
    store: &'s Store<E>,
    batch: Batch<E>,
    base: Option<E::Snapshot>,
    // None if nobody else writes.
    reads: Option<Reads>,
}

impl<'s, E: Engine> StoreBatch<'s, E> {
    pub(crate) fn new(store: &'s Store<E>) -> Self {
        let capabilities = store.engine().capabilities();
        let several = capabilities.writers == Writers::Several && capabilities.checks;
        Self { store, batch: Batch::new(), base: None, reads: several.then(Reads::default) }
    }

    /// A batch that is refused as a [conflict](Error::Conflict) if anything that it read has changed, whoever writes.
    pub(crate) fn checked(store: &'s Store<E>) -> Self {
        Self { reads: Some(Reads::default()), ..Self::new(store) }
    }

    /// The store that it belongs to.
    pub const fn store(&self) -> &'s Store<E> {
        self.store
    }

    /// Finds a space of the plan by the name that the engine knows.
    pub fn space(&self, name: &str) -> Result<SpaceId, StoreError> {
        self.store.space(name)
    }

    /// Gives a key a value.
    pub fn put(&mut self, space: SpaceId, key: impl Into<E::Buffer>, value: impl Into<E::Buffer>) {
        self.batch.put(space, key, value);
    }

    /// Gives a key a value, and copies both: cheaper than [`put`](Self::put) where the engine keeps a row in one piece.
    pub fn put_row(&mut self, space: SpaceId, key: &[u8], value: &[u8]) {
        self.batch.put_row(space, key, value);
    }

    /// Deletes a key.
    pub fn delete(&mut self, space: SpaceId, key: impl Into<E::Buffer>) {
        self.batch.delete(space, key);
    }

    /// Reads the value of a key, as it will be once the batch is committed.
    pub fn get(&mut self, space: SpaceId, key: &[u8]) -> Result<Option<Found<E>>, StoreError> {
        if let Some(pending) = self.batch.pending(space, key) {
            return Ok(pending.cloned().map(Found::Pending));
        }
        let found = base(self.store, &mut self.base)?.get(space, key)?;
        if self.reads.is_some() {
            self.batch.expect(space, key, found.as_deref());
        }
        Ok(found.map(Found::Stored))
    }

    /// Lends the value of a key to `with`, as it will be once the batch is committed, and returns what `with` makes of it; see
    /// [`Snapshot::get_with`].
    pub fn get_with<T>(
        &mut self,
        space: SpaceId,
        key: &[u8],
        with: impl FnOnce(&[u8]) -> T,
    ) -> Result<Option<T>, StoreError> {
        if let Some(pending) = self.batch.pending(space, key) {
            return Ok(pending.map(|value| with(value)));
        }
        self.get_stored_with(space, key, with)
    }

    /// Lends the value of a key that the batch is known not to change.
    pub(crate) fn get_stored_with<T>(
        &mut self,
        space: SpaceId,
        key: &[u8],
        with: impl FnOnce(&[u8]) -> T,
    ) -> Result<Option<T>, StoreError> {
        let base = base(self.store, &mut self.base)?;
        if self.reads.is_none() {
            return Ok(base.get_with(space, key, with)?);
        }
        let batch = &mut self.batch;
        let found = base.get_with(space, key, |value| {
            batch.expect(space, key, Some(value));
            with(value)
        })?;
        if found.is_none() {
            batch.expect(space, key, None);
        }
        Ok(found)
    }

    /// Has the commit refused as a conflict unless a key has this value, or none.
    pub fn expect(&mut self, space: SpaceId, key: &[u8], value: Option<&[u8]>) {
        self.batch.expect(space, key, value);
    }

    /// Iterates over the rows of a range, as they will be once the batch is committed.
    pub fn range(&mut self, space: SpaceId, range: KeyRange<'_>) -> Result<PendingRange<E>, StoreError> {
        let stored = base(self.store, &mut self.base)?.range(space, range)?;
        let pending = self.batch.pending_range(space, range);
        let pending = pending.map(|(key, value)| (key.clone(), value.cloned())).collect();
        let read = self.reads.as_ref().map(|reads| reads.begin(space, range));
        Ok(PendingRange { stored: Some(stored), front: None, back: None, pending, read })
    }

    /// How many operations it holds.
    pub const fn len(&self) -> usize {
        self.batch.len()
    }

    /// Whether it holds nothing.
    pub const fn is_empty(&self) -> bool {
        self.batch.is_empty()
    }

    /// How many bytes of keys and values it holds.
    pub const fn bytes(&self) -> u64 {
        self.batch.bytes()
    }

    /// Applies it as one step.
    pub fn commit(mut self, durability: Durability) -> Result<(), StoreError> {
        if let Some(reads) = &self.reads {
            reads.expect_in(&mut self.batch);
        }
        // The snapshot goes first: it is not needed, and holds back what the commit may give free.
        drop(self.base);
        self.store.commit(self.batch, durability)
    }
}

/// The state that a batch reads: that at its first read.
fn base<'b, E: Engine>(
    store: &Store<E>,
    base: &'b mut Option<E::Snapshot>,
) -> Result<&'b E::Snapshot, StoreError> {
    Ok(match base {
        Some(base) => base,
        none => none.insert(store.engine().snapshot()?),
    })
}

impl<E: MultimapEngine> StoreBatch<'_, E> {
    /// Gives a key one more value, in a space where it may have several.
    pub fn put_multi(&mut self, space: SpaceId, key: impl Into<E::Buffer>, value: impl Into<E::Buffer>) {
        self.batch.put_multi(space, key, value);
    }

    /// Takes one of its values from a key, in a space where it may have several.
    pub fn remove_multi(&mut self, space: SpaceId, key: impl Into<E::Buffer>, value: impl Into<E::Buffer>) {
        self.batch.remove_multi(space, key, value);
    }
}

impl<E: Engine> fmt::Debug for StoreBatch<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreBatch").field("batch", &self.batch).finish_non_exhaustive()
    }
}

/// Bytes that a batch found: its own, or the store's.
pub enum Found<E: Engine> {
    /// What the batch itself wrote.
    Pending(E::Buffer),
    /// What is in the store.
    Stored(BytesOf<E>),
}

impl<E: Engine> Deref for Found<E> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Pending(bytes) => bytes,
            Self::Stored(bytes) => bytes,
        }
    }
}

impl<E: Engine> AsRef<[u8]> for Found<E> {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl<E: Engine> fmt::Debug for Found<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Found").field(&&**self).finish()
    }
}

/// Rows of a store with the changes of a batch laid over them.
pub struct PendingRange<E: Engine> {
    // None once it has failed.
    stored: Option<RangeOf<E>>,
    // Rows that were read from either end and have not been given out.
    front: Option<Stored<E>>,
    back: Option<Stored<E>>,
    pending: VecDeque<(E::Buffer, Option<E::Buffer>)>,
    // What was read of the store, where others write too.
    read: Option<RangeRead>,
}

type Stored<E> = (BytesOf<E>, BytesOf<E>);
type Row<E> = Result<(Found<E>, Found<E>), Error>;

/// The end that a row is taken from.
#[derive(Clone, Copy)]
enum End {
    Front,
    Back,
}

impl<E: Engine> PendingRange<E> {
    fn step(&mut self, end: End) -> Option<Row<E>> {
        loop {
            if let Err(error) = self.fill(end) {
                self.stored = None;
                self.front = None;
                self.back = None;
                self.pending.clear();
                return Some(Err(error));
            }
            let (stored, pending) = match end {
                End::Front => (self.front.as_ref(), self.pending.front()),
                End::Back => (self.back.as_ref(), self.pending.back()),
            };
            let order = match (stored, pending) {
                (None, None) => return None,
                (Some(_), None) => std::cmp::Ordering::Less,
                (None, Some(_)) => std::cmp::Ordering::Greater,
                (Some((stored, _)), Some((pending, _))) => match end {
                    End::Front => stored[..].cmp(&pending[..]),
                    End::Back => pending[..].cmp(&stored[..]),
                },
            };
            if order.is_lt() {
                let row = self.slot(end).take();
                return row.map(|(key, value)| Ok((Found::Stored(key), Found::Stored(value))));
            }
            if order.is_eq() {
                self.slot(end).take();
            }
            let pending = match end {
                End::Front => self.pending.pop_front(),
                End::Back => self.pending.pop_back(),
            };
            // A deletion hides the row below it, and is none itself.
            if let Some((key, Some(value))) = pending {
                return Some(Ok((Found::Pending(key), Found::Pending(value))));
            }
        }
    }

    /// Reads the next stored row of an end into its slot, unless it is there; when all are read, the other end's.
    fn fill(&mut self, end: End) -> Result<(), Error> {
        if self.slot(end).is_some() {
            return Ok(());
        }
        let stored = self.stored.as_mut().and_then(|stored| match end {
            End::Front => stored.next(),
            End::Back => stored.next_back(),
        });
        if let Some(read) = &self.read {
            let direction = match end {
                End::Front => Direction::Ascending,
                End::Back => Direction::Descending,
            };
            match &stored {
                Some(Ok((key, value))) => read.row(direction, key, value),
                Some(Err(_)) => {}
                None => read.end(),
            }
        }
        let row = match (stored, end) {
            (Some(row), _) => Some(row?),
            (None, End::Front) => self.back.take(),
            (None, End::Back) => self.front.take(),
        };
        *self.slot(end) = row;
        Ok(())
    }

    const fn slot(&mut self, end: End) -> &mut Option<Stored<E>> {
        match end {
            End::Front => &mut self.front,
            End::Back => &mut self.back,
        }
    }
}

impl<E: Engine> Iterator for PendingRange<E> {
    type Item = Row<E>;

    fn next(&mut self) -> Option<Self::Item> {
        self.step(End::Front)
    }
}

impl<E: Engine> DoubleEndedIterator for PendingRange<E> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.step(End::Back)
    }
}

impl<E: Engine> RowRange for PendingRange<E> {
    type Bytes = Found<E>;
}

impl<E: Engine> fmt::Debug for PendingRange<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PendingRange").field("pending", &self.pending.len()).finish_non_exhaustive()
    }
}
