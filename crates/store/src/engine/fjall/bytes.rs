use std::borrow::Borrow;
use std::ops::Deref;

use fjall::Slice;

/// Shared bytes: short ones are held in place, long ones are counted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FjallBytes(pub(super) Slice);

impl Deref for FjallBytes {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl AsRef<[u8]> for FjallBytes {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Borrow<[u8]> for FjallBytes {
    fn borrow(&self) -> &[u8] {
        &self.0
    }
}

impl From<&[u8]> for FjallBytes {
    #[inline]
    fn from(bytes: &[u8]) -> Self {
        Self(Slice::from(bytes))
    }
}

impl From<Vec<u8>> for FjallBytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self(Slice::from(bytes))
    }
}
