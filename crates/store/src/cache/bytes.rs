use std::fmt;
use std::ops::Deref;

use byteview::ByteView;

/// A key or a value: the engine's, or the row cache's.
#[derive(Clone)]
pub enum CachedBytes<B> {
    /// What the engine gave out.
    Stored(B),
    /// What was in the cache.
    Cached(RowBytes),
}

/// Bytes of a cached row. They stay as they are, also when the row has left the cache.
#[derive(Clone)]
pub struct RowBytes(pub(super) ByteView);

impl<B: Deref<Target = [u8]>> Deref for CachedBytes<B> {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match self {
            Self::Stored(bytes) => bytes,
            Self::Cached(bytes) => &bytes.0,
        }
    }
}

impl<B: Deref<Target = [u8]>> AsRef<[u8]> for CachedBytes<B> {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl<B: Deref<Target = [u8]>> fmt::Debug for CachedBytes<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CachedBytes").field(&&**self).finish()
    }
}

impl fmt::Debug for RowBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RowBytes").field(&&*self.0).finish()
    }
}
