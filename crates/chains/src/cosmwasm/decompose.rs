use core::fmt;
use core::iter::FusedIterator;

use keyplan::codec::{DecodeError, Delimited, Segment};

use super::COMPONENT;

/// Takes a raw key apart into `components` components and the key after them.
///
/// The number must be known from elsewhere. Any bytes after the last component are the key, none at all included.
///
/// ```
/// use keyplan_chains::cosmwasm::decompose;
///
/// let parts = decompose(b"\x00\x05allow\x00\x01ab", 2)?;
/// assert_eq!(parts.components().collect::<Vec<_>>(), [&b"allow"[..], b"a"]);
/// assert_eq!(parts.key(), b"b");
/// # Ok::<(), keyplan_chains::cosmwasm::DecomposeError>(())
/// ```
pub fn decompose(raw: &[u8], components: usize) -> Result<Decomposed<'_>, DecomposeError> {
    let mut parts = Decomposed { raw, count: 0, key_at: 0 };
    while parts.count < components {
        parts = parts.deeper()?;
    }
    Ok(parts)
}

/// Returns every split of a raw key into components and a key, from none at all to as many as its bytes allow.
///
/// There is always one, the bare key. More than one means that only the contract knows which is meant.
///
/// ```
/// use keyplan_chains::cosmwasm::decompose_all;
///
/// let keys: Vec<_> = decompose_all(b"\x00\x01a\x00\x00k").map(|parts| parts.key().to_vec()).collect();
/// assert_eq!(keys, [&b"\x00\x01a\x00\x00k"[..], b"\x00\x00k", b"k"]);
/// ```
pub fn decompose_all(raw: &[u8]) -> Splits<'_> {
    Splits { next: Some(Decomposed { raw, count: 0, key_at: 0 }) }
}

/// A raw key, taken apart.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Decomposed<'a> {
    raw: &'a [u8],
    count: usize,
    /// Where the key begins; the bytes before it are `count` whole components.
    key_at: usize,
}

impl<'a> Decomposed<'a> {
    /// The components, in order.
    pub fn components(&self) -> Components<'a> {
        Components { rest: self.raw.get(..self.key_at).unwrap_or_default(), left: self.count }
    }

    /// How many components there are.
    pub const fn count(&self) -> usize {
        self.count
    }

    /// The bytes after the last component.
    pub fn key(&self) -> &'a [u8] {
        self.raw.get(self.key_at..).unwrap_or_default()
    }

    /// The bytes of all components with their lengths: the prefix that the namespace's rows share.
    pub fn prefix(&self) -> &'a [u8] {
        self.raw.get(..self.key_at).unwrap_or_default()
    }

    /// Takes one more component from the front of the key.
    fn deeper(self) -> Result<Self, DecomposeError> {
        match COMPONENT.extent(self.key()) {
            Ok(extent) => Ok(Self { count: self.count + 1, key_at: self.key_at + extent, ..self }),
            Err(error) => Err(DecomposeError {
                component: self.count,
                begins: self.key_at,
                source: error.behind(self.key_at),
            }),
        }
    }
}

impl fmt::Debug for Decomposed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.components()).entry(&format_args!("key {:?}", self.key())).finish()
    }
}

/// The components of a raw key.
#[derive(Clone, Debug)]
pub struct Components<'a> {
    rest: &'a [u8],
    left: usize,
}

impl<'a> Iterator for Components<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let (front, rest) = self.rest.split_at_checked(COMPONENT.extent(self.rest).ok()?)?;
        self.rest = rest;
        self.left = self.left.saturating_sub(1);
        COMPONENT.decode(front).ok()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Components<'_> {}
impl FusedIterator for Components<'_> {}

/// Every way to take a raw key apart; see [`decompose_all`].
#[derive(Clone, Debug)]
pub struct Splits<'a> {
    next: Option<Decomposed<'a>>,
}

impl<'a> Iterator for Splits<'a> {
    type Item = Decomposed<'a>;

    fn next(&mut self) -> Option<Decomposed<'a>> {
        let split = self.next?;
        self.next = split.deeper().ok();
        Some(split)
    }
}

impl FusedIterator for Splits<'_> {}

/// Why a raw key does not have as many components as asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecomposeError {
    /// Which component is broken, counted from 0.
    pub component: usize,
    /// The offset in the raw key at which its length begins.
    pub begins: usize,
    /// What is wrong, and at which offset in the raw key.
    pub source: DecodeError,
}

impl fmt::Display for DecomposeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "component {} is not at byte {}", self.component, self.begins)
    }
}

impl core::error::Error for DecomposeError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        Some(&self.source)
    }
}

#[cfg(test)]
mod tests {
    use keyplan::codec::Fault;

    use super::*;
    use crate::cosmwasm::compose;

    #[test]
    fn what_was_composed_comes_apart_again() {
        let raw = compose(&[b"bar", b"", b"foo"], b"\x00\x01a").unwrap();
        let parts = decompose(&raw, 3).unwrap();
        assert_eq!(parts.components().collect::<Vec<_>>(), [&b"bar"[..], b"", b"foo"]);
        assert_eq!((parts.key(), parts.count()), (&b"\x00\x01a"[..], 3));
        assert_eq!(parts.prefix(), &raw[..raw.len() - 3]);
    }

    #[test]
    fn component_that_is_cut_off_is_named_with_its_offset() {
        let error = decompose(b"\x00\x01a\x00\x05b", 2).unwrap_err();
        let source = DecodeError::new(6, Fault::Short { missing: 4 });
        assert_eq!(error, DecomposeError { component: 1, begins: 3, source });
        assert_eq!(error.to_string(), "component 1 is not at byte 3");
    }

    #[test]
    fn length_that_is_cut_off_is_named_with_its_offset() {
        let source = DecodeError::new(1, Fault::Short { missing: 1 });
        assert_eq!(decompose(b"\x00", 1), Err(DecomposeError { component: 0, begins: 0, source }));
        let source = DecodeError::new(0, Fault::Short { missing: 2 });
        assert_eq!(decompose(b"", 1), Err(DecomposeError { component: 0, begins: 0, source }));
    }

    #[test]
    fn key_that_looks_like_a_component_has_two_splits() {
        let splits: Vec<_> = decompose_all(b"\x00\x01a").map(|parts| (parts.count(), parts.key())).collect();
        assert_eq!(splits, [(0, &b"\x00\x01a"[..]), (1, b"")]);
    }

    #[test]
    fn every_split_composes_to_the_same_key() {
        let raw = b"\x00\x02\x00\x00\x00\x00\x00\x01z";
        let splits: Vec<_> = decompose_all(raw).collect();
        assert_eq!(splits.len(), 4);
        for split in splits {
            let namespace: Vec<_> = split.components().collect();
            assert_eq!(namespace.len(), split.count());
            assert_eq!(compose(&namespace, split.key()).unwrap(), raw);
        }
    }
}
