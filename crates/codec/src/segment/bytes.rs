use super::{check_arg_length, check_length, fixed_extent, put_fill, wrong_width};
use crate::{Alphabet, DecodeError, Delimited, EncodeError, Expected, Fault, Lengths, Open, Segment, Sink};

/// Bytes as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bytes<'l> {
    /// The lengths allowed.
    pub lengths: Lengths<'l>,
}

impl Segment for Bytes<'_> {
    type Arg<'a> = &'a [u8];
    type View<'a> = &'a [u8];

    #[inline]
    fn encode<S: Sink + ?Sized>(&self, arg: &[u8], out: &mut S) -> Result<(), EncodeError> {
        check_arg_length(&self.lengths, arg.len())?;
        out.put(arg)
    }

    #[inline]
    fn decode<'a>(&self, bytes: &'a [u8]) -> Result<&'a [u8], DecodeError> {
        check_length(&self.lengths, bytes.len(), 1)?;
        Ok(bytes)
    }
}

impl Open for Bytes<'_> {
    #[inline]
    fn longest(&self, input: &[u8]) -> usize {
        input.len().min(self.lengths.max())
    }

    #[inline]
    fn admits(&self, len: usize) -> bool {
        self.lengths.admits(len)
    }
}

/// Bytes of a class, as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteClass<'l> {
    /// The bytes allowed.
    pub class: Alphabet,
    /// The lengths allowed.
    pub lengths: Lengths<'l>,
}

impl Segment for ByteClass<'_> {
    type Arg<'a> = &'a [u8];
    type View<'a> = &'a [u8];

    #[inline]
    fn encode<S: Sink + ?Sized>(&self, arg: &[u8], out: &mut S) -> Result<(), EncodeError> {
        check_arg_length(&self.lengths, arg.len())?;
        let offset = self.class.run(arg);
        if let Some(&found) = arg.get(offset) {
            return Err(EncodeError::Byte { offset, found, expected: Expected::Alphabet });
        }
        out.put(arg)
    }

    #[inline]
    fn decode<'a>(&self, bytes: &'a [u8]) -> Result<&'a [u8], DecodeError> {
        let offset = self.class.run(bytes);
        if let Some(&found) = bytes.get(offset) {
            return Err(DecodeError::new(offset, Fault::Byte { found, expected: Expected::Alphabet }));
        }
        check_length(&self.lengths, bytes.len(), 1)?;
        Ok(bytes)
    }
}

impl Open for ByteClass<'_> {
    #[inline]
    fn longest(&self, input: &[u8]) -> usize {
        self.class.run(input).min(self.lengths.max())
    }

    #[inline]
    fn admits(&self, len: usize) -> bool {
        self.lengths.admits(len)
    }
}

/// Bytes padded on the right with `00`, or cut, to one length.
///
/// This loses information: what was cut, and how much was padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fit {
    /// The length written.
    pub width: usize,
}

impl Segment for Fit {
    type Arg<'a> = &'a [u8];
    type View<'a> = &'a [u8];

    #[inline]
    fn encode<S: Sink + ?Sized>(&self, arg: &[u8], out: &mut S) -> Result<(), EncodeError> {
        out.put(arg.get(..self.width).unwrap_or(arg))?;
        put_fill(0, self.width.saturating_sub(arg.len()), out)
    }

    #[inline]
    fn decode<'a>(&self, bytes: &'a [u8]) -> Result<&'a [u8], DecodeError> {
        if bytes.len() == self.width { Ok(bytes) } else { Err(wrong_width(bytes.len(), self.width)) }
    }
}

impl Delimited for Fit {
    #[inline]
    fn extent(&self, input: &[u8]) -> Result<usize, DecodeError> {
        fixed_extent(input, self.width)
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::Fault;

    crate::laws! {
        class: ByteClass { class: Alphabet::EMPTY.with_range(1, 255), lengths: Lengths::ANY }, [b"".into(), b"\x01".into(), b"a\xff".into()], ordered, open;
        class_few: ByteClass { class: Alphabet::EMPTY.with(0).with(0xff), lengths: Lengths::Range { min: 1, max: 2 } }, [b"\0".into(), b"\0\xff".into()], ordered, open;
        any: Bytes { lengths: Lengths::ANY }, [b"".into(), b"\0".into(), b"a".into(), b"ab".into()], ordered, open;
        address: Bytes { lengths: Lengths::OneOf(&[20, 32]) }, [[1; 20].into(), [1; 32].into()], ordered, open;
        fit: Fit { width: 3 }, [b"\0\0\0".into(), b"ab\0".into(), b"abc".into()], ordered, delimited;
        fit_nothing: Fit { width: 0 }, [b"".into()], delimited;
    }

    #[test]
    fn another_length_is_refused_both_ways() {
        let bytes = Bytes { lengths: Lengths::Range { min: 2, max: 3 } };
        assert_eq!(bytes.encode(b"a", &mut Vec::new()), Err(EncodeError::Length { found: 1 }));
        assert_eq!(bytes.decode(b"a"), Err(DecodeError::new(1, Fault::Length { found: 1 })));
        assert_eq!(bytes.decode(b"abcd"), Err(DecodeError::new(3, Fault::Length { found: 4 })));
        assert_eq!(bytes.longest(b"abcd"), 3);
    }

    #[test]
    fn what_does_not_fit_is_padded_or_cut() {
        let encode = |arg: &[u8]| {
            let mut out = Vec::new();
            Fit { width: 4 }.encode(arg, &mut out).map(|()| out)
        };
        assert_eq!(encode(b"ab"), Ok(b"ab\0\0".to_vec()));
        assert_eq!(encode(b"abcdef"), Ok(b"abcd".to_vec()));
        assert_eq!(encode(b""), Ok(b"\0\0\0\0".to_vec()));
    }
}
