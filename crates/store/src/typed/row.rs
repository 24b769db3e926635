use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use crate::PageToken;

use super::Error;
use keyplan_typed::{Key, Value as _};

/// A value as it was found: the engine's bytes, decoded in place when it is asked for.
pub struct Stored<K, B> {
    bytes: B,
    family: PhantomData<fn() -> K>,
}

impl<K: Key, B: Deref<Target = [u8]>> Stored<K, B> {
    #[inline]
    pub(super) fn new(bytes: B) -> Self {
        Self { bytes, family: PhantomData }
    }

    /// The value.
    #[inline]
    pub fn value(&self) -> Result<K::Value<'_>, Error> {
        value_of::<K>(&self.bytes)
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

impl<K: Key, B: Deref<Target = [u8]>> fmt::Debug for Stored<K, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple(K::FAMILY).field(&self.bytes()).finish()
    }
}

/// A row as it was found: the engine's bytes, decoded in place when they are asked for.
pub struct Row<K, A, B = A> {
    key: A,
    value: B,
    family: PhantomData<fn() -> K>,
}

impl<K: Key, A: Deref<Target = [u8]>, B: Deref<Target = [u8]>> Row<K, A, B> {
    #[inline]
    pub(super) fn new(key: A, value: B) -> Self {
        Self { key, value, family: PhantomData }
    }

    /// The key and the value.
    #[inline]
    pub fn read(&self) -> Result<(K::Decoded<'_>, K::Value<'_>), Error> {
        Ok((self.key()?, self.value()?))
    }

    /// The key.
    #[inline]
    pub fn key(&self) -> Result<K::Decoded<'_>, Error> {
        key_of::<K>(&self.key)
    }

    /// The value.
    #[inline]
    pub fn value(&self) -> Result<K::Value<'_>, Error> {
        value_of::<K>(&self.value)
    }

    /// Only the value, as it was found.
    pub(super) fn into_value(self) -> B {
        self.value
    }

    /// The bytes of the key.
    pub fn key_bytes(&self) -> &[u8] {
        &self.key
    }

    /// The bytes of the value.
    pub fn value_bytes(&self) -> &[u8] {
        &self.value
    }
}

impl<K: Key, A: Deref<Target = [u8]>, B: Deref<Target = [u8]>> fmt::Debug for Row<K, A, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple(K::FAMILY).field(&self.key_bytes()).field(&self.value_bytes()).finish()
    }
}

/// Reads a key where it is.
#[inline]
pub(super) fn key_of<K: Key>(bytes: &[u8]) -> Result<K::Decoded<'_>, Error> {
    K::decode(bytes).map_err(|error| Error::foreign(K::FAMILY, bytes, error))
}

/// Reads a value where it is.
#[inline]
pub(super) fn value_of<K: Key>(bytes: &[u8]) -> Result<K::Value<'_>, Error> {
    K::Value::decode(bytes).map_err(|error| Error::malformed(K::FAMILY, error))
}

/// Some rows of a scan, and where the next ones begin.
#[derive(Debug)]
pub struct Page<K: Key, B: Deref<Target = [u8]>> {
    /// The rows.
    pub rows: Vec<Row<K, B>>,
    /// What the next page is asked for with; `None` if this is the last.
    pub next: Option<PageToken>,
}
