use core::fmt;
use core::hash::{Hash, Hasher};
use core::ops::Deref;

use keyplan_codec::{EncodeError, Sink, next_in};

/// Up to `N` bytes, held in place.
#[derive(Clone, Copy)]
pub struct ShortBytes<const N: usize> {
    len: usize,
    room: [u8; N],
}

impl<const N: usize> ShortBytes<N> {
    /// No bytes.
    #[inline]
    pub const fn new() -> Self {
        Self { len: 0, room: [0; N] }
    }

    /// A copy of `bytes`; `None` if there are more than `N`.
    #[inline]
    pub fn copied(bytes: &[u8]) -> Option<Self> {
        let mut short = Self::new();
        short.room.get_mut(..bytes.len())?.copy_from_slice(bytes);
        short.len = bytes.len();
        Some(short)
    }

    /// The bytes that `fill` writes into as much room as it is given.
    #[inline]
    pub(super) fn filled(len: usize, fill: impl FnOnce(&mut [u8]) -> Option<()>) -> Option<Self> {
        let mut short = Self::new();
        fill(short.room.get_mut(..len)?)?;
        short.len = len;
        Some(short)
    }

    /// The bytes.
    #[inline]
    pub fn as_slice(&self) -> &[u8] {
        self.room.get(..self.len).unwrap_or_default()
    }
}

impl<const N: usize> Default for ShortBytes<N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const N: usize> Sink for ShortBytes<N> {
    #[inline]
    fn put(&mut self, bytes: &[u8]) -> Result<(), EncodeError> {
        self.grow(bytes.len())?.copy_from_slice(bytes);
        Ok(())
    }

    #[inline]
    fn grow(&mut self, len: usize) -> Result<&mut [u8], EncodeError> {
        next_in(&mut self.room, &mut self.len, len)
    }

    #[inline]
    fn len(&self) -> usize {
        self.len
    }

    #[inline]
    fn tail_mut(&mut self, from: usize) -> &mut [u8] {
        self.room.get_mut(from..self.len).unwrap_or_default()
    }

    #[inline]
    fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }
}

impl<const N: usize> Deref for ShortBytes<N> {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        self.as_slice()
    }
}

impl<const N: usize> AsRef<[u8]> for ShortBytes<N> {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        self.as_slice()
    }
}

impl<const N: usize> TryFrom<&[u8]> for ShortBytes<N> {
    type Error = EncodeError;

    #[inline]
    fn try_from(bytes: &[u8]) -> Result<Self, EncodeError> {
        Self::copied(bytes).ok_or(EncodeError::Length { found: bytes.len() })
    }
}

impl<const N: usize, const M: usize> From<[u8; M]> for ShortBytes<N> {
    /// An array that fits, which the compiler checks.
    #[inline]
    fn from(bytes: [u8; M]) -> Self {
        const { assert!(M <= N, "the array is longer than what it is for") };
        Self::copied(&bytes).unwrap_or_default()
    }
}

impl<const N: usize> PartialEq for ShortBytes<N> {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.as_slice() == other.as_slice()
    }
}

impl<const N: usize> Eq for ShortBytes<N> {}

impl<const N: usize> PartialOrd for ShortBytes<N> {
    fn partial_cmp(&self, other: &Self) -> Option<core::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<const N: usize> Ord for ShortBytes<N> {
    fn cmp(&self, other: &Self) -> core::cmp::Ordering {
        self.as_slice().cmp(other.as_slice())
    }
}

impl<const N: usize> Hash for ShortBytes<N> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_slice().hash(state);
    }
}

impl<const N: usize> fmt::Debug for ShortBytes<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&super::Shown::bytes(self.as_slice()), f)
    }
}

/// Up to `N` bytes of text, held in place.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ShortText<const N: usize>(ShortBytes<N>);

impl<const N: usize> ShortText<N> {
    /// No text.
    #[inline]
    pub const fn new() -> Self {
        Self(ShortBytes::new())
    }

    /// A copy of `text`; `None` if it has more than `N` bytes.
    #[inline]
    pub fn copied(text: &str) -> Option<Self> {
        ShortBytes::copied(text.as_bytes()).map(Self)
    }

    /// The text.
    #[inline]
    pub fn as_str(&self) -> &str {
        // Only whole characters are ever written.
        str::from_utf8(self.0.as_slice()).unwrap_or_default()
    }
}

impl<const N: usize> Deref for ShortText<N> {
    type Target = str;

    #[inline]
    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl<const N: usize> AsRef<str> for ShortText<N> {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl<const N: usize> TryFrom<&str> for ShortText<N> {
    type Error = EncodeError;

    fn try_from(text: &str) -> Result<Self, EncodeError> {
        Self::copied(text).ok_or(EncodeError::Length { found: text.len() })
    }
}

/// Appends as many whole characters as there is room for; what is left out is an error.
impl<const N: usize> fmt::Write for ShortText<N> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for character in text.chars() {
            self.0.put(character.encode_utf8(&mut [0; 4]).as_bytes()).map_err(|_| fmt::Error)?;
        }
        Ok(())
    }
}

impl<const N: usize> fmt::Debug for ShortText<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl<const N: usize> fmt::Display for ShortText<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.as_str(), f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_long_is_refused() {
        assert_eq!(ShortBytes::<3>::copied(b"abc").as_deref(), Some(b"abc".as_slice()));
        assert_eq!(ShortBytes::<3>::copied(b"abcd"), None);
        assert_eq!(ShortBytes::<3>::try_from(b"abcd".as_slice()), Err(EncodeError::Length { found: 4 }));
        assert_eq!(ShortText::<3>::copied("éé"), None);
    }

    #[test]
    fn order_is_that_of_the_bytes_alone() {
        let short = |bytes: &[u8]| ShortBytes::<4>::copied(bytes).unwrap();
        assert!(short(b"ab") < short(b"b"));
        assert!(short(b"a") < short(b"a\0"));
    }
}
