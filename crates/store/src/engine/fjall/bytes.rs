use std::borrow::Borrow;
use std::ops::Deref;

use byteview::ByteView;
use fjall::Slice;

use crate::engine::Buffer;

/// As many bytes are held in place.
const IN_PLACE: usize = 20;

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

impl Buffer for FjallBytes {
    #[inline]
    fn row(key: &[u8], value: &[u8]) -> (Self, Self) {
        if key.len() <= IN_PLACE || value.len() <= IN_PLACE {
            return (key.into(), value.into());
        }
        let both = ByteView::fused(key, value);
        (Self(both.slice(..key.len()).into()), Self(both.slice(key.len()..).into()))
    }
}

impl From<Vec<u8>> for FjallBytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self(Slice::from(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_its_key_and_its_value_however_long_they_are() {
        for key in [0, 1, IN_PLACE, IN_PLACE + 1, 300] {
            for value in [0, 1, IN_PLACE, IN_PLACE + 1, 300] {
                let (key, value) = (vec![7; key], vec![9; value]);
                let (row_key, row_value) = FjallBytes::row(&key, &value);
                assert_eq!((&row_key[..], &row_value[..]), (&key[..], &value[..]));
                drop(row_key);
                assert_eq!(row_value[..], value[..]);
            }
        }
    }
}
