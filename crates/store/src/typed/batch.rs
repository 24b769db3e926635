use std::cell::RefCell;

use crate::engine::{Durability, Engine, Error as EngineError, KeyRange};
use crate::{Found, PendingRange, StoreBatch, StoreError};

use super::scratch::with_key;
use super::{Error, Read};
use keyplan_typed::{Key, Scan, ScanOf, Value};

/// Changes that are applied as one step, and are seen by the reads of the batch itself.
///
/// Dropped without a commit, it leaves nothing. Its reads are of the state at its first read, with its own changes laid
/// over it. What another commits between a batch's first read and its commit is overwritten; a batch of
/// [`Store::checked_batch`](super::Store::checked_batch) refuses to be committed then.
#[derive(Debug)]
pub struct Batch<'s, E: Engine> {
    // Reads build an index of the batch when they first need it, and do not change what it holds.
    raw: RefCell<StoreBatch<'s, E>>,
    value: Vec<u8>,
}

impl<'s, E: Engine> Batch<'s, E> {
    pub(super) const fn new(raw: StoreBatch<'s, E>) -> Self {
        Self { raw: RefCell::new(raw), value: Vec::new() }
    }

    /// Gives a key a value.
    ///
    /// Refused, with nothing put, if an argument is outside of its domain, or if the bytes of the key can also be read
    /// as another key and the plan accepts that.
    pub fn put<K: Key>(&mut self, key: &K, value: &K::Value<'_>) -> Result<(), Error> {
        self.put_row(key, value)
    }

    /// Deletes a key. It need not be there.
    pub fn delete<K: Key>(&mut self, key: &K) -> Result<(), Error> {
        with_key(key, |bytes| self.delete_bytes(K::SPACE, bytes))
    }

    /// Deletes every row of a scan, in this batch, and returns how many there were.
    ///
    /// The batch holds all of their keys. For more rows than a batch should hold there is
    /// [`Store::delete_scan`](super::Store::delete_scan), which takes many steps.
    pub fn delete_scan<S: ScanOf>(&mut self, scan: Scan<'_, S>) -> Result<u64, Error> {
        let mut gone = 0;
        for row in self.scan(scan) {
            self.delete_bytes(S::Key::SPACE, row?.key_bytes())?;
            gone += 1;
        }
        Ok(gone)
    }

    /// How many operations it holds.
    pub fn len(&self) -> usize {
        self.raw.borrow().len()
    }

    /// Whether it holds nothing.
    pub fn is_empty(&self) -> bool {
        self.raw.borrow().is_empty()
    }

    /// How many bytes of keys and values it holds.
    pub fn bytes(&self) -> u64 {
        self.raw.borrow().bytes()
    }

    /// Applies it as one step.
    pub fn commit(self, durability: Durability) -> Result<(), Error> {
        match self.raw.into_inner().commit(durability) {
            Err(StoreError::Engine(EngineError::Conflict)) => Err(Error::Conflict),
            other => Ok(other?),
        }
    }

    /// The same without types.
    pub fn into_raw(self) -> StoreBatch<'s, E> {
        self.raw.into_inner()
    }

    /// The same as [`Batch::put`] where the compiler does not know that a key and a value are of one family.
    pub(super) fn put_row<'v, K: Key, V: Value<'v>>(&mut self, key: &K, value: &V) -> Result<(), Error> {
        let mut bytes = std::mem::take(&mut self.value);
        bytes.clear();
        let put = value
            .encode_into(&mut bytes)
            .map_err(Error::from)
            .and_then(|()| with_key(key, |key| self.put_bytes(K::SPACE, key, &bytes)));
        // The room is used again for the next value.
        self.value = bytes;
        put
    }

    /// Puts a row whose value has no bytes.
    pub(super) fn put_bytes_of<K: Key>(&mut self, key: &K) -> Result<(), Error> {
        K::Value::decode(b"")?;
        with_key(key, |key| self.put_bytes(K::SPACE, key, b""))
    }

    pub(super) fn put_bytes(&mut self, space: &str, key: &[u8], value: &[u8]) -> Result<(), Error> {
        let raw = self.raw.get_mut();
        let space = raw.space(space)?;
        raw.put_row(space, key, value);
        Ok(())
    }

    pub(super) fn delete_bytes(&mut self, space: &str, key: &[u8]) -> Result<(), Error> {
        let raw = self.raw.get_mut();
        let space = raw.space(space)?;
        raw.delete(space, key);
        Ok(())
    }
}

impl<E: Engine> Read for Batch<'_, E> {
    type Bytes = Found<E>;
    type Range = PendingRange<E>;

    fn get_bytes(&self, space: &str, key: &[u8]) -> Result<Option<Self::Bytes>, StoreError> {
        let mut raw = self.raw.borrow_mut();
        let space = raw.space(space)?;
        raw.get(space, key)
    }

    fn contains_bytes(&self, space: &str, key: &[u8]) -> Result<bool, StoreError> {
        let mut raw = self.raw.borrow_mut();
        let space = raw.space(space)?;
        Ok(raw.get_with(space, key, |_| ())?.is_some())
    }

    fn range_bytes(&self, space: &str, range: KeyRange<'_>) -> Result<Self::Range, StoreError> {
        let mut raw = self.raw.borrow_mut();
        let space = raw.space(space)?;
        raw.range(space, range)
    }
}
