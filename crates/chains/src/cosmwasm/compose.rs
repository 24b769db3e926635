use alloc::vec::Vec;
use core::fmt;

use keyplan::codec::{Buffer, EncodeError, Segment, Sink};

use super::COMPONENT;

/// The most bytes that a component can have: its length is written in two.
pub const MAX_COMPONENT: usize = 65_535;

/// Makes the key of `key` in `namespace`: every component after its length, then the key as it is.
///
/// The result is allocated once, with exactly the capacity that it needs.
///
/// ```
/// use keyplan_chains::cosmwasm::compose;
///
/// assert_eq!(compose(&[b"keya"], b"x")?, b"\x00\x04keyax");
/// assert_eq!(compose(&[b"key"], b"ax")?, b"\x00\x03keyax");
/// # Ok::<(), keyplan_chains::cosmwasm::ComposeError>(())
/// ```
pub fn compose(namespace: &[&[u8]], key: &[u8]) -> Result<Vec<u8>, ComposeError> {
    let len = composed_len(namespace, key)?;
    let mut out = Vec::new();
    out.try_reserve_exact(len).map_err(|_| ComposeError::TooLarge)?;
    put(namespace, key, &mut out)?;
    Ok(out)
}

/// Makes the key of `key` in `namespace` at the front of `room`, and returns that part of it.
///
/// ```
/// use keyplan_chains::cosmwasm::compose_into;
///
/// let mut room = [0; 16];
/// assert_eq!(compose_into(&[b"a", b"bc"], b"k", &mut room)?, b"\x00\x01a\x00\x02bck");
/// # Ok::<(), keyplan_chains::cosmwasm::ComposeError>(())
/// ```
pub fn compose_into<'r>(
    namespace: &[&[u8]],
    key: &[u8],
    room: &'r mut [u8],
) -> Result<&'r mut [u8], ComposeError> {
    let needed = composed_len(namespace, key)?;
    let found = room.len();
    if found < needed {
        return Err(ComposeError::NoRoom { needed, found });
    }
    let mut out = Buffer::new(room);
    put(namespace, key, &mut out)?;
    Ok(out.into_written())
}

/// Returns the length of the key that [`compose`] makes, or the first component that is too long for one.
pub fn composed_len(namespace: &[&[u8]], key: &[u8]) -> Result<usize, ComposeError> {
    let mut total = key.len();
    for (component, bytes) in namespace.iter().enumerate() {
        let len = bytes.len();
        if len > MAX_COMPONENT {
            return Err(ComposeError::TooLong { component, len });
        }
        total = total.checked_add(2 + len).ok_or(ComposeError::TooLarge)?;
    }
    Ok(total)
}

/// Returns the prefix of a namespace of one component.
pub fn to_length_prefixed(component: &[u8]) -> Result<Vec<u8>, ComposeError> {
    compose(&[component], &[])
}

/// Returns the prefix of a namespace: every component after its length.
pub fn to_length_prefixed_nested(namespace: &[&[u8]]) -> Result<Vec<u8>, ComposeError> {
    compose(namespace, &[])
}

fn put<S: Sink>(namespace: &[&[u8]], key: &[u8], out: &mut S) -> Result<(), ComposeError> {
    for (component, bytes) in namespace.iter().enumerate() {
        COMPONENT.encode(bytes, out).map_err(|error| ComposeError::at(component, bytes.len(), error))?;
    }
    out.put(key).map_err(|error| ComposeError::at(namespace.len(), key.len(), error))
}

/// Why a key cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ComposeError {
    /// A component has more than [`MAX_COMPONENT`] bytes.
    TooLong {
        /// Which component, counted from 0.
        component: usize,
        /// How many bytes it has.
        len: usize,
    },
    /// The caller's slice is too short.
    NoRoom {
        /// The length of the key.
        needed: usize,
        /// The length of the slice.
        found: usize,
    },
    /// The whole key is larger than what can be allocated.
    TooLarge,
}

impl ComposeError {
    /// What the codec refuses, said of the component that it was given.
    fn at(component: usize, len: usize, error: EncodeError) -> Self {
        match error {
            EncodeError::Full { needed } => Self::NoRoom { needed, found: needed.saturating_sub(len) },
            _ => Self::TooLong { component, len },
        }
    }
}

impl fmt::Display for ComposeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong { component, len } => {
                write!(f, "component {component} has {len} bytes, and no more than {MAX_COMPONENT} fit")
            }
            Self::NoRoom { needed, found } => {
                write!(f, "the key takes {needed} bytes, and there is room for {found}")
            }
            Self::TooLarge => f.write_str("the key is larger than what can be allocated"),
        }
    }
}

impl core::error::Error for ComposeError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capacity_is_exactly_the_length() {
        let key = compose(&[b"balances", b"", b"x"], b"osmo1").unwrap();
        assert_eq!(key, b"\x00\x08balances\x00\x00\x00\x01xosmo1");
        assert_eq!(key.capacity(), key.len());
    }

    #[test]
    fn longest_component_fits_and_the_next_one_is_refused_by_name() {
        let longest = vec![b'a'; MAX_COMPONENT];
        let key = to_length_prefixed(&longest).unwrap();
        assert_eq!((key.len(), &key[..4]), (65_537, &b"\xff\xffaa"[..]));

        let longer = vec![b'a'; MAX_COMPONENT + 1];
        let error = compose(&[b"m", &longer], b"k").unwrap_err();
        assert_eq!(error, ComposeError::TooLong { component: 1, len: 65_536 });
        assert_eq!(error.to_string(), "component 1 has 65536 bytes, and no more than 65535 fit");
    }

    #[test]
    fn raw_key_has_no_limit() {
        let key = compose(&[b"m"], &vec![b'a'; 70_000]).unwrap();
        assert_eq!((key.len(), &key[..5]), (70_003, &b"\x00\x01maa"[..]));
    }

    #[test]
    fn slice_that_is_too_short_is_left_alone() {
        let mut room = [9; 4];
        assert_eq!(
            compose_into(&[b"ab"], b"k", &mut room),
            Err(ComposeError::NoRoom { needed: 5, found: 4 })
        );
        assert_eq!(room, [9; 4]);
    }

    #[test]
    fn empty_namespace_is_the_bare_key() {
        assert_eq!(compose(&[], b"foo").unwrap(), b"foo");
        assert_eq!(to_length_prefixed_nested(&[]).unwrap(), b"");
        assert_eq!(to_length_prefixed_nested(&[b"", b""]).unwrap(), [0; 4]);
    }
}
