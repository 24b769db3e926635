use super::{check_arg_length, check_length, put_all, short};
use crate::{DecodeError, EncodeError, Expected, Fault, Lengths, Open, Segment, Sink};

/// A path of 4-bit digits, one byte a nibble: `00` to `0f`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nibbles<'l> {
    /// The lengths allowed, in nibbles.
    pub lengths: Lengths<'l>,
}

/// A path of 4-bit digits, two a byte, the first in the upper half. Only even counts can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PackedNibbles<'l> {
    /// The lengths allowed, in nibbles.
    pub lengths: Lengths<'l>,
}

/// A path of 4-bit digits in Ethereum's hex-prefix form, without the flag of a leaf: `00` before an even count
/// of nibbles, `1n` for an odd count and its first nibble, then two a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HexPrefix<'l> {
    /// The lengths allowed, in nibbles.
    pub lengths: Lengths<'l>,
}

/// Returns the length of the longest run of nibbles at the front of `bytes`.
fn run(bytes: &[u8]) -> usize {
    bytes.iter().position(|&byte| byte > 0x0f).unwrap_or(bytes.len())
}

fn check_nibbles(lengths: &Lengths<'_>, arg: &[u8]) -> Result<(), EncodeError> {
    check_arg_length(lengths, arg.len())?;
    let offset = run(arg);
    match arg.get(offset) {
        Some(&found) => Err(EncodeError::Byte { offset, found, expected: Expected::Nibble }),
        None => Ok(()),
    }
}

fn pack(pairs: &[[u8; 2]]) -> impl Iterator<Item = u8> {
    pairs.iter().map(|[high, low]| high << 4 | low)
}

impl Segment for Nibbles<'_> {
    type Arg<'a> = &'a [u8];
    type View<'a> = &'a [u8];

    #[inline]
    fn encode<S: Sink + ?Sized>(&self, arg: &[u8], out: &mut S) -> Result<(), EncodeError> {
        check_nibbles(&self.lengths, arg)?;
        out.put(arg)
    }

    #[inline]
    fn decode<'a>(&self, bytes: &'a [u8]) -> Result<&'a [u8], DecodeError> {
        let offset = run(bytes);
        if let Some(&found) = bytes.get(offset) {
            return Err(DecodeError::new(offset, Fault::Byte { found, expected: Expected::Nibble }));
        }
        check_length(&self.lengths, bytes.len(), 1)?;
        Ok(bytes)
    }
}

impl Open for Nibbles<'_> {
    #[inline]
    fn longest(&self, input: &[u8]) -> usize {
        run(input).min(self.lengths.max())
    }

    #[inline]
    fn admits(&self, len: usize) -> bool {
        self.lengths.admits(len)
    }
}

impl Segment for PackedNibbles<'_> {
    type Arg<'a> = &'a [u8];
    type View<'a> = NibbleView<'a>;

    #[inline]
    fn encode<S: Sink + ?Sized>(&self, arg: &[u8], out: &mut S) -> Result<(), EncodeError> {
        check_nibbles(&self.lengths, arg)?;
        let (pairs, rest) = arg.as_chunks();
        if !rest.is_empty() {
            return Err(EncodeError::Length { found: arg.len() });
        }
        put_all(pack(pairs), out)
    }

    #[inline]
    fn decode<'a>(&self, bytes: &'a [u8]) -> Result<NibbleView<'a>, DecodeError> {
        let count = bytes.len().saturating_mul(2);
        if !self.lengths.admits(count) {
            let offset = (self.lengths.max() / 2).min(bytes.len());
            return Err(DecodeError::new(offset, Fault::Length { found: count }));
        }
        Ok(NibbleView { first: None, packed: bytes })
    }
}

impl Open for PackedNibbles<'_> {
    #[inline]
    fn longest(&self, input: &[u8]) -> usize {
        input.len().min(self.lengths.max() / 2)
    }

    #[inline]
    fn admits(&self, len: usize) -> bool {
        len.checked_mul(2).is_some_and(|count| self.lengths.admits(count))
    }
}

impl Segment for HexPrefix<'_> {
    type Arg<'a> = &'a [u8];
    type View<'a> = NibbleView<'a>;

    #[inline]
    fn encode<S: Sink + ?Sized>(&self, arg: &[u8], out: &mut S) -> Result<(), EncodeError> {
        check_nibbles(&self.lengths, arg)?;
        let (rest, pairs) = arg.as_rchunks();
        let head = rest.first().map_or(0x00, |first| 0x10 | first);
        out.put(&[head])?;
        put_all(pack(pairs), out)
    }

    #[inline]
    fn decode<'a>(&self, bytes: &'a [u8]) -> Result<NibbleView<'a>, DecodeError> {
        let [head, packed @ ..] = bytes else { return Err(short(0, 1)) };
        let first = match *head {
            0x00 => None,
            head @ 0x10..=0x1f => Some(head & 0x0f),
            found => {
                return Err(DecodeError::new(0, Fault::Byte { found, expected: Expected::HexPrefixHead }));
            }
        };
        let view = NibbleView { first, packed };
        if !self.lengths.admits(view.len()) {
            let offset = (1 + self.lengths.max() / 2).min(bytes.len());
            return Err(DecodeError::new(offset, Fault::Length { found: view.len() }));
        }
        Ok(view)
    }
}

impl Open for HexPrefix<'_> {
    #[inline]
    fn longest(&self, input: &[u8]) -> usize {
        match input.first() {
            Some(0x00 | 0x10..=0x1f) => input.len().min(1 + self.lengths.max() / 2),
            _ => 0,
        }
    }

    #[inline]
    fn admits(&self, len: usize) -> bool {
        let Some(count) = len.checked_sub(1).and_then(|packed| packed.checked_mul(2)) else { return false };
        self.lengths.admits(count) || self.lengths.admits(count + 1)
    }
}

/// A path of 4-bit digits that stands in a key two a byte.
#[derive(Clone, Copy)]
pub struct NibbleView<'a> {
    first: Option<u8>,
    packed: &'a [u8],
}

impl<'a> NibbleView<'a> {
    /// Returns how many nibbles there are.
    #[inline]
    pub const fn len(&self) -> usize {
        self.packed.len().saturating_mul(2).saturating_add(self.first.is_some() as usize)
    }

    /// Returns the nibbles, one a byte.
    #[inline]
    pub fn bytes(&self) -> impl Iterator<Item = u8> + Clone + use<'a> {
        self.first.into_iter().chain(self.packed.iter().flat_map(|byte| [byte >> 4, byte & 0x0f]))
    }
}

byte_view!(NibbleView);
