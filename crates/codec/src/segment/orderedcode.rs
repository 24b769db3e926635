use super::frame::Unescaped;
use super::{put_fill, short, trailing};
use crate::{DecodeError, Delimited, EncodeError, Expected, Fault, Int, Segment, Sink};

marker! {
    /// An integer as Google's orderedcode writes it: byte order is numeric order.
    ///
    /// Unsigned: the count of bytes without leading zeros, then those bytes. Signed: n bytes of which the first n bits
    /// are set and the next is not, the number in what is left; n is the least that has room for it. A negative number
    /// is the complement of `-1 - number`. The form holds 64 bits: numbers beyond that are refused.
    OrderedCodeInt
}

/// Contents as Google's orderedcode writes a string: `00` as `00 ff`, `ff` as `ff 00`, ended by `00 01`. Byte order is
/// the order of the contents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OrderedCode;

/// The most bytes of a signed number of 64 bits.
const MOST: usize = 10;

const fn out_of_range() -> DecodeError {
    DecodeError::new(0, Fault::OutOfRange)
}

/// Whether the form of signed numbers is the one that a type has.
fn is_signed<T: Int>() -> bool {
    T::MIN.is_below_zero()
}

/// How many bytes a signed number takes whose magnitude, or one less if it is negative, is `rest`.
fn signed_width(rest: u64) -> usize {
    let bits = 64 - rest.leading_zeros() as usize;
    // One bit marks the end of those that count the bytes.
    (bits + 1).div_ceil(7).clamp(1, MOST)
}

impl<T: Int> Segment for OrderedCodeInt<T> {
    type Arg<'a> = T;
    type View<'a> = T;

    fn encode<S: Sink + ?Sized>(&self, arg: T, out: &mut S) -> Result<(), EncodeError> {
        let beyond = |_| EncodeError::OutOfRange;
        if !is_signed::<T>() {
            let number = u64::try_from(arg.magnitude()).map_err(beyond)?;
            let width = 8 - number.leading_zeros() / 8;
            out.put(&[(width & 0x0f) as u8])?;
            return out.put(number.be_array().get(8 - width as usize..).unwrap_or_default());
        }
        let negative = arg.is_below_zero();
        let rest = if negative { arg.magnitude().saturating_sub(1) } else { arg.magnitude() };
        let rest = u64::try_from(rest).ok().filter(|rest| rest >> 63 == 0).ok_or(EncodeError::OutOfRange)?;
        let width = signed_width(rest);
        let marks = ((1u128 << width) - 1) << (7 * width);
        let word = u128::from(rest) | marks;
        let word = if negative { !word } else { word };
        out.put(word.be_array().get(16 - width..).unwrap_or_default())
    }

    fn decode(&self, bytes: &[u8]) -> Result<T, DecodeError> {
        let extent = self.extent(bytes)?;
        if bytes.len() > extent {
            return Err(trailing(bytes.len(), extent));
        }
        let number = |bytes: &[u8]| bytes.iter().fold(0, |n: u128, &byte| n << 8 | u128::from(byte));
        if !is_signed::<T>() {
            let digits = bytes.get(1..).unwrap_or_default();
            if digits.first() == Some(&0) {
                return Err(DecodeError::new(1, Fault::NotShortest));
            }
            return T::from_magnitude(false, number(digits)).ok_or(out_of_range());
        }
        let negative = bytes.first().is_some_and(|head| head & 0x80 == 0);
        let room = (1u128 << (7 * extent - 1)) - 1;
        let rest = if negative { !number(bytes) } else { number(bytes) } & room;
        let Some(rest) = u64::try_from(rest).ok().filter(|rest| rest >> 63 == 0) else {
            return Err(out_of_range());
        };
        if signed_width(rest) != extent {
            return Err(DecodeError::new(0, Fault::NotShortest));
        }
        let magnitude = u128::from(rest) + u128::from(negative);
        T::from_magnitude(negative, magnitude).ok_or(out_of_range())
    }
}

impl<T: Int> Delimited for OrderedCodeInt<T> {
    fn extent(&self, input: &[u8]) -> Result<usize, DecodeError> {
        let Some(&head) = input.first() else { return Err(short(0, 1)) };
        let width = if is_signed::<T>() {
            let flip = if head & 0x80 == 0 { 0xff } else { 0 };
            match head ^ flip {
                0xff => {
                    let Some(&second) = input.get(1) else { return Err(short(1, 2)) };
                    8 + (second ^ flip).leading_ones() as usize
                }
                head => head.leading_ones() as usize,
            }
        } else {
            usize::from(head) + 1
        };
        let most = if is_signed::<T>() { MOST } else { 9 };
        if width > most {
            let fault = Fault::Byte { found: head, expected: Expected::VarintHead };
            return Err(DecodeError::new(0, fault));
        }
        if input.len() < width { Err(short(input.len(), width)) } else { Ok(width) }
    }
}

const END: [u8; 2] = [0, 1];

/// What comes after a byte of the contents, if anything does.
const fn escape(byte: u8) -> Option<u8> {
    match byte {
        0 => Some(0xff),
        0xff => Some(0),
        _ => None,
    }
}

impl OrderedCode {
    /// Appends what `inner` appends, escaped and ended.
    #[inline]
    pub fn wrap<S, E>(&self, out: &mut S, inner: impl FnOnce(&mut S) -> Result<(), E>) -> Result<(), E>
    where
        S: Sink + ?Sized,
        E: From<EncodeError>,
    {
        let start = out.len();
        inner(out)?;
        let contents = out.tail_mut(start);
        let more = contents.iter().filter(|&&byte| escape(byte).is_some()).count();
        let mut read = contents.len();
        let mut write = read + more;
        put_fill(0, more, out)?;
        let tail = out.tail_mut(start);
        // From the back, so that nothing is overwritten before it is read.
        while read < write {
            read -= 1;
            let Some(&byte) = tail.get(read) else { break };
            for byte in escape(byte).into_iter().chain([byte]) {
                write -= 1;
                if let Some(slot) = tail.get_mut(write) {
                    *slot = byte;
                }
            }
        }
        Ok(out.put(&END)?)
    }
}

impl Segment for OrderedCode {
    type Arg<'a> = &'a [u8];
    type View<'a> = Unescaped<'a>;

    #[inline]
    fn encode<S: Sink + ?Sized>(&self, arg: &[u8], out: &mut S) -> Result<(), EncodeError> {
        for piece in arg.split_inclusive(|&byte| escape(byte).is_some()) {
            out.put(piece)?;
            if let Some(behind) = piece.last().and_then(|&byte| escape(byte)) {
                out.put(&[behind])?;
            }
        }
        out.put(&END)
    }

    #[inline]
    fn decode<'a>(&self, bytes: &'a [u8]) -> Result<Unescaped<'a>, DecodeError> {
        let extent = self.extent(bytes)?;
        if bytes.len() > extent {
            return Err(trailing(bytes.len(), extent));
        }
        Ok(Unescaped::ordered(bytes.get(..extent - END.len()).unwrap_or_default()))
    }
}

impl Delimited for OrderedCode {
    #[inline]
    fn extent(&self, input: &[u8]) -> Result<usize, DecodeError> {
        let mut at = 0;
        while let Some(&byte) = input.get(at) {
            match (escape(byte), input.get(at + 1)) {
                (None, _) => at += 1,
                (Some(_), None) => return Err(short(input.len(), at + 2)),
                (Some(escape), Some(&behind)) if behind == escape => at += 2,
                (Some(0xff), Some(1)) => return Ok(at + 2),
                (Some(_), Some(&found)) => {
                    let fault = Fault::Byte { found, expected: Expected::Escape };
                    return Err(DecodeError::new(at + 1, fault));
                }
            }
        }
        Err(short(input.len(), input.len() + 2))
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use super::*;

    fn contents() -> [Vec<u8>; 9] {
        [
            vec![],
            vec![0],
            vec![0, 0xff],
            vec![0, 1],
            vec![1],
            b"abc".to_vec(),
            b"tx.height".to_vec(),
            vec![0xff],
            vec![0xff, 0xff, 0, 0],
        ]
    }

    crate::laws! {
        string: OrderedCode, contents(), ordered, delimited;
        unsigned_u8: OrderedCodeInt::<u8>::new(), [0, 1, u8::MAX], ordered, delimited;
        unsigned_u64: OrderedCodeInt::<u64>::new(), [0, 1, 255, 256, 65_536, 1 << 56, u64::MAX], ordered, delimited;
        signed_i8: OrderedCodeInt::<i8>::new(), [i8::MIN, -65, -64, -1, 0, 63, 64, i8::MAX], ordered, delimited;
        signed_i64: OrderedCodeInt::<i64>::new(), [
            i64::MIN, i64::MIN + 1, -(1 << 62) - 1, -(1 << 62), -8193, -8192, -65, -64, -1, 0, 1, 63, 64, 8191, 8192,
            (1 << 20) - 1, 1 << 20, (1 << 55) - 1, 1 << 55, (1 << 62) - 1, 1 << 62, i64::MAX
        ], ordered, delimited;
        signed_i128: OrderedCodeInt::<i128>::new(), [-1, 0, i64::MIN.into(), i64::MAX.into()], ordered, delimited;
    }

    fn bytes<T: Segment>(segment: &T, arg: T::Arg<'_>) -> Vec<u8> {
        let mut out = Vec::new();
        segment.encode(arg, &mut out).unwrap();
        out
    }

    #[test]
    fn numbers_are_those_that_the_format_describes() {
        // The three examples of the description of the format, and its ends.
        assert_eq!(bytes(&OrderedCodeInt::new(), 0x23i64), [0b1010_0011]);
        assert_eq!(bytes(&OrderedCodeInt::new(), 0x10ei64), [0b1100_0001, 0b0000_1110]);
        assert_eq!(bytes(&OrderedCodeInt::new(), -0x10fi64), [0b0011_1110, 0b1111_0001]);
        assert_eq!(
            bytes(&OrderedCodeInt::new(), i64::MAX),
            [0xff, 0xc0, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]
        );
        assert_eq!(bytes(&OrderedCodeInt::new(), 0u64), [0]);
        assert_eq!(bytes(&OrderedCodeInt::new(), 256u64), [2, 1, 0]);
        assert_eq!(OrderedCodeInt::new().encode(1i128 << 63, &mut Vec::new()), Err(EncodeError::OutOfRange));
        assert_eq!(OrderedCodeInt::new().encode(1u128 << 64, &mut Vec::new()), Err(EncodeError::OutOfRange));
    }

    #[test]
    fn strings_are_escaped_and_ended() {
        assert_eq!(bytes(&OrderedCode, b"a\0b\xff"), b"a\0\xffb\xff\0\0\x01");
        let found = |bytes: &[u8]| OrderedCode.extent(bytes);
        assert_eq!(
            found(b"a\0\x02"),
            Err(DecodeError::new(2, Fault::Byte { found: 2, expected: Expected::Escape }))
        );
        assert_eq!(
            found(b"\xff\xff"),
            Err(DecodeError::new(1, Fault::Byte { found: 0xff, expected: Expected::Escape }))
        );
        for inner in contents() {
            let mut wrapped = b"front".to_vec();
            OrderedCode.wrap(&mut wrapped, |out| out.put(&inner)).unwrap();
            assert_eq!(wrapped, [b"front".to_vec(), bytes(&OrderedCode, &inner)].concat());
        }
    }
}
