use super::{check_arg_length, check_length, put_all, short, trailing};
use crate::{DecodeError, Delimited, EncodeError, Expected, Fault, Lengths, Open, Segment, Sink};

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

/// A path of 4-bit digits after their count, which is one byte: two a byte, the first in the upper half, an odd one at
/// the end with `0` in the lower half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountedNibbles<'l> {
    /// The lengths allowed, in nibbles; at most 255 can be counted.
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
        Ok(NibbleView { first: None, packed: bytes, last: None })
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
        let view = NibbleView { first, packed, last: None };
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

impl Segment for CountedNibbles<'_> {
    type Arg<'a> = &'a [u8];
    type View<'a> = NibbleView<'a>;

    #[inline]
    fn encode<S: Sink + ?Sized>(&self, arg: &[u8], out: &mut S) -> Result<(), EncodeError> {
        check_nibbles(&self.lengths, arg)?;
        let count = u8::try_from(arg.len()).map_err(|_| EncodeError::Length { found: arg.len() })?;
        out.put(&[count])?;
        let (pairs, rest) = arg.as_chunks();
        put_all(pack(pairs), out)?;
        match rest {
            [last] => out.put(&[last << 4]),
            _ => Ok(()),
        }
    }

    #[inline]
    fn decode<'a>(&self, bytes: &'a [u8]) -> Result<NibbleView<'a>, DecodeError> {
        let extent = self.extent(bytes)?;
        if bytes.len() > extent {
            return Err(trailing(bytes.len(), extent));
        }
        let [count, packed @ ..] = bytes else { return Err(short(0, 1)) };
        if !self.lengths.admits((*count).into()) {
            return Err(DecodeError::new(0, Fault::Length { found: (*count).into() }));
        }
        if count % 2 == 0 {
            return Ok(NibbleView { first: None, packed, last: None });
        }
        match packed {
            [packed @ .., last] if last.trailing_zeros() >= 4 => {
                Ok(NibbleView { first: None, packed, last: Some(last >> 4) })
            }
            _ => {
                let found = packed.last().copied().unwrap_or_default();
                Err(DecodeError::new(extent - 1, Fault::Byte { found, expected: Expected::Padding }))
            }
        }
    }
}

impl Delimited for CountedNibbles<'_> {
    #[inline]
    fn extent(&self, input: &[u8]) -> Result<usize, DecodeError> {
        let Some(&count) = input.first() else { return Err(short(0, 1)) };
        let width = 1 + usize::from(count).div_ceil(2);
        if input.len() < width { Err(short(input.len(), width)) } else { Ok(width) }
    }
}

/// A path of 4-bit digits that is in a key two a byte.
#[derive(Clone, Copy)]
pub struct NibbleView<'a> {
    first: Option<u8>,
    packed: &'a [u8],
    last: Option<u8>,
}

impl<'a> NibbleView<'a> {
    /// Returns how many nibbles there are.
    #[inline]
    pub const fn len(&self) -> usize {
        let odd = self.first.is_some() as usize + self.last.is_some() as usize;
        self.packed.len().saturating_mul(2).saturating_add(odd)
    }

    /// Returns the nibbles, one a byte.
    #[inline]
    pub fn bytes(&self) -> impl Iterator<Item = u8> + Clone + use<'a> {
        let pairs = self.packed.iter().flat_map(|byte| [byte >> 4, byte & 0x0f]);
        self.first.into_iter().chain(pairs).chain(self.last)
    }
}

byte_view!(NibbleView);

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    const ANY: Lengths<'_> = Lengths::ANY;
    const FEW: Lengths<'_> = Lengths::Range { min: 1, max: 4 };

    crate::laws! {
        plain: Nibbles { lengths: ANY }, [b"".into(), b"\0".into(), b"\x01\x0f".into()], ordered, open;
        plain_few: Nibbles { lengths: FEW }, [b"\0".into(), b"\x0f\x0f\x0f\x0f".into()], ordered, open;
        packed: PackedNibbles { lengths: ANY }, [b"".into(), b"\0\x01".into(), b"\x0f\0\x01\x02".into()], ordered, open;
        packed_few: PackedNibbles { lengths: FEW }, [b"\0\x01".into(), b"\x0f\0\x01\x02".into()], ordered, open;
        prefixed: HexPrefix { lengths: ANY }, [b"".into(), b"\x07".into(), b"\0\x01".into(), b"\x01\x02\x03".into()], open;
        prefixed_few: HexPrefix { lengths: FEW }, [b"\x07".into(), b"\x01\x02\x03\x04".into()], open;
        counted: CountedNibbles { lengths: ANY }, [b"".into(), b"\x07".into(), b"\0\x01".into(), b"\x01\x02\x03".into()], delimited;
        counted_few: CountedNibbles { lengths: FEW }, [b"\x07".into(), b"\x01\x02\x03\x04".into()], delimited;
        prefixed_one_of: HexPrefix { lengths: Lengths::OneOf(&[1, 4]) }, [b"\x07".into(), b"\x01\x02\x03\x04".into()], open;
    }

    fn bytes<T: for<'a> Segment<Arg<'a> = &'a [u8]>>(
        segment: &T,
        arg: &[u8],
    ) -> Result<Vec<u8>, EncodeError> {
        let mut out = Vec::new();
        segment.encode(arg, &mut out).map(|()| out)
    }

    #[test]
    fn counted_nibbles_are_padded_behind_an_odd_one() {
        let counted = CountedNibbles { lengths: ANY };
        assert_eq!(bytes(&counted, &[1, 2, 3]), Ok([3, 0x12, 0x30].to_vec()));
        assert_eq!(bytes(&counted, &[]), Ok([0].to_vec()));
        assert_eq!(bytes(&counted, &[0; 256]), Err(EncodeError::Length { found: 256 }));
        let padding = Fault::Byte { found: 0x31, expected: Expected::Padding };
        assert_eq!(counted.decode(&[3, 0x12, 0x31]), Err(DecodeError::new(2, padding)));
        assert_eq!(counted.extent(&[3, 0x12]), Err(DecodeError::new(2, Fault::Short { missing: 1 })));
    }

    #[test]
    fn hex_prefix_is_that_of_ethereum() {
        let prefixed = HexPrefix { lengths: ANY };
        assert_eq!(bytes(&prefixed, &[1, 2, 3, 4, 5]), Ok([0x11, 0x23, 0x45].to_vec()));
        assert_eq!(bytes(&prefixed, &[0, 1, 2, 3, 4, 5]), Ok([0x00, 0x01, 0x23, 0x45].to_vec()));
        for head in [0x01, 0x0f, 0x20, 0x3f, 0xff] {
            let fault = Fault::Byte { found: head, expected: Expected::HexPrefixHead };
            assert_eq!(prefixed.decode(&[head]), Err(DecodeError::new(0, fault)));
        }
        assert_eq!(prefixed.decode(&[]), Err(DecodeError::new(0, Fault::Short { missing: 1 })));
    }

    #[test]
    fn nibbles_are_below_16() {
        let error = Err(EncodeError::Byte { offset: 1, found: 16, expected: Expected::Nibble });
        assert_eq!(bytes(&Nibbles { lengths: ANY }, &[1, 16]), error);
        assert_eq!(bytes(&PackedNibbles { lengths: ANY }, &[1, 16]), error);
        assert_eq!(bytes(&HexPrefix { lengths: ANY }, &[1, 16]), error);
        let fault = Fault::Byte { found: 16, expected: Expected::Nibble };
        assert_eq!(Nibbles { lengths: ANY }.decode(&[1, 16]), Err(DecodeError::new(1, fault)));
        assert_eq!(Nibbles { lengths: ANY }.longest(&[1, 2, 16, 3]), 2);
    }

    #[test]
    fn packed_counts_are_even() {
        let packed = PackedNibbles { lengths: FEW };
        assert_eq!(bytes(&packed, &[1, 2, 3]), Err(EncodeError::Length { found: 3 }));
        assert_eq!(bytes(&packed, &[1, 2]), Ok([0x12].to_vec()));
        assert_eq!(packed.decode(&[1, 2, 3]), Err(DecodeError::new(2, Fault::Length { found: 6 })));
        assert_eq!(
            (packed.admits(0), packed.admits(1), packed.admits(2), packed.admits(3)),
            (false, true, true, false)
        );
    }
}
