use std::borrow::Borrow;
use std::ops::Deref;

use bytes::Bytes;
use keyplan_store::engine::Buffer;

/// Bytes as SlateDB keeps them: counted, and a part of the block that they were read in.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SlateBytes(pub(crate) Bytes);

impl Deref for SlateBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl AsRef<[u8]> for SlateBytes {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Borrow<[u8]> for SlateBytes {
    fn borrow(&self) -> &[u8] {
        &self.0
    }
}

impl From<&[u8]> for SlateBytes {
    fn from(bytes: &[u8]) -> Self {
        Self(Bytes::copy_from_slice(bytes))
    }
}

impl From<Vec<u8>> for SlateBytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self(Bytes::from(bytes))
    }
}

impl Buffer for SlateBytes {}
