use super::frame::{Unescaped, escaped_extent, put_escaped};
use super::{fixed_extent, short, trailing};
use crate::{
    DecodeError, Delimited, EncodeError, Expected, Fault, FixedWidth, FloatOrdered, Int, Segment, Sink,
};

marker! {
    /// An integer as a FoundationDB tuple element: `14` for 0, `14` ± n and n big-endian bytes otherwise, those of
    /// a negative number complemented. Beyond 8 bytes: `1d` or `0b`, the count of bytes, the bytes; in a negative
    /// number the count is complemented too. Byte order is numeric order.
    TupleInt
}

/// A float as a FoundationDB tuple element: `21`, then [`FloatOrdered`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TupleFloat;

/// A truth value as a FoundationDB tuple element: `26` for false, `27` for true.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TupleBool;

/// Bytes as a FoundationDB tuple element: `01`, then the bytes with each `00` as `00 ff`, then `00`.
///
/// What comes after it must not begin with `ff`, which no tuple element does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TupleBytes;

/// Text as a FoundationDB tuple element: `02`, then its UTF-8 bytes with each `00` as `00 ff`, then `00`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TupleText;

const BYTES: u8 = 0x01;
const TEXT: u8 = 0x02;
const INT_NEGATIVE_LARGE: u8 = 0x0b;
const INT_ZERO: u8 = 0x14;
const INT_POSITIVE_LARGE: u8 = 0x1d;
const FLOAT: u8 = 0x21;
const FALSE: u8 = 0x26;
const TRUE: u8 = 0x27;

#[cold]
const fn no_type_code(found: u8) -> DecodeError {
    DecodeError::new(0, Fault::Byte { found, expected: Expected::TypeCode })
}

/// Returns what comes after the type code.
#[inline]
fn behind_code(code: u8, input: &[u8]) -> Result<&[u8], DecodeError> {
    match input {
        [found, rest @ ..] if *found == code => Ok(rest),
        [found, ..] => Err(no_type_code(*found)),
        [] => Err(short(0, 1)),
    }
}

/// The front of an integer element.
struct IntHead {
    negative: bool,
    /// How many bytes come before the number.
    head: usize,
    /// How many bytes the number has.
    count: usize,
}

impl IntHead {
    #[inline]
    fn read(input: &[u8]) -> Result<Self, DecodeError> {
        let Some(&code) = input.first() else { return Err(short(0, 1)) };
        match code {
            INT_ZERO..INT_POSITIVE_LARGE => {
                Ok(Self { negative: false, head: 1, count: usize::from(code - INT_ZERO) })
            }
            0x0c..INT_ZERO => Ok(Self { negative: true, head: 1, count: usize::from(INT_ZERO - code) }),
            INT_POSITIVE_LARGE | INT_NEGATIVE_LARGE => {
                let Some(&count) = input.get(1) else { return Err(short(1, 2)) };
                let negative = code == INT_NEGATIVE_LARGE;
                let count = if negative { !count } else { count };
                Ok(Self { negative, head: 2, count: count.into() })
            }
            found => Err(no_type_code(found)),
        }
    }

    #[inline]
    fn extent(&self, input: &[u8]) -> Result<usize, DecodeError> {
        fixed_extent(input, self.head + self.count)
    }
}

impl<T: Int> Segment for TupleInt<T> {
    type Arg<'a> = T;
    type View<'a> = T;

    #[inline]
    fn encode<S: Sink + ?Sized>(&self, arg: T, out: &mut S) -> Result<(), EncodeError> {
        let magnitude = arg.magnitude();
        let skip = magnitude.leading_zeros() / 8;
        let count = ((16 - skip) & 0x1f) as u8;
        match (arg.is_below_zero(), count) {
            (false, 9..) => out.put(&[INT_POSITIVE_LARGE, count])?,
            (true, 9..) => out.put(&[INT_NEGATIVE_LARGE, !count])?,
            (false, _) => out.put(&[INT_ZERO + count])?,
            (true, _) => out.put(&[INT_ZERO - count])?,
        }
        let bytes = if arg.is_below_zero() { !magnitude } else { magnitude }.to_be_bytes();
        out.put(bytes.get(skip as usize..).unwrap_or_default())
    }

    #[inline]
    fn decode(&self, bytes: &[u8]) -> Result<T, DecodeError> {
        let front = IntHead::read(bytes)?;
        let extent = front.extent(bytes)?;
        if bytes.len() > extent {
            return Err(trailing(bytes.len(), extent));
        }
        if front.head == 2 && front.count <= 8 {
            return Err(DecodeError::new(1, Fault::NotShortest));
        }
        let flip = if front.negative { 0xff } else { 0x00 };
        let mut digits = bytes.iter().skip(front.head).map(|byte| byte ^ flip).peekable();
        if digits.peek() == Some(&0) {
            return Err(DecodeError::new(front.head, Fault::NotShortest));
        }
        if front.count > 16 {
            return Err(DecodeError::new(0, Fault::OutOfRange));
        }
        let magnitude = digits.fold(0u128, |number, digit| number << 8 | u128::from(digit));
        T::from_magnitude(front.negative, magnitude).ok_or(DecodeError::new(0, Fault::OutOfRange))
    }
}

impl<T: Int> Delimited for TupleInt<T> {
    #[inline]
    fn extent(&self, input: &[u8]) -> Result<usize, DecodeError> {
        IntHead::read(input)?.extent(input)
    }
}

impl Segment for TupleFloat {
    type Arg<'a> = f64;
    type View<'a> = f64;

    #[inline]
    fn encode<S: Sink + ?Sized>(&self, arg: f64, out: &mut S) -> Result<(), EncodeError> {
        out.put(&[FLOAT])?;
        FloatOrdered.encode(arg, out)
    }

    #[inline]
    fn decode(&self, bytes: &[u8]) -> Result<f64, DecodeError> {
        FloatOrdered.decode(behind_code(FLOAT, bytes)?).map_err(|error| error.behind(1))
    }
}

impl Delimited for TupleFloat {
    #[inline]
    fn extent(&self, input: &[u8]) -> Result<usize, DecodeError> {
        behind_code(FLOAT, input)?;
        fixed_extent(input, Self::WIDTH)
    }
}

impl FixedWidth for TupleFloat {
    type Value = f64;
    const WIDTH: usize = 9;
}

impl Segment for TupleBool {
    type Arg<'a> = bool;
    type View<'a> = bool;

    #[inline]
    fn encode<S: Sink + ?Sized>(&self, arg: bool, out: &mut S) -> Result<(), EncodeError> {
        out.put(&[if arg { TRUE } else { FALSE }])
    }

    #[inline]
    fn decode(&self, bytes: &[u8]) -> Result<bool, DecodeError> {
        match bytes {
            [FALSE] => Ok(false),
            [TRUE] => Ok(true),
            [] => Err(short(0, 1)),
            [FALSE | TRUE, ..] => Err(trailing(bytes.len(), 1)),
            [found, ..] => Err(no_type_code(*found)),
        }
    }
}

impl Delimited for TupleBool {
    #[inline]
    fn extent(&self, input: &[u8]) -> Result<usize, DecodeError> {
        fixed_extent(input, Self::WIDTH)
    }
}

impl FixedWidth for TupleBool {
    type Value = bool;
    const WIDTH: usize = 1;
}

/// Decodes escaped contents after a type code.
#[inline]
fn decode_escaped(code: u8, bytes: &[u8]) -> Result<Unescaped<'_>, DecodeError> {
    let extent = extent_escaped(code, bytes)?;
    match bytes {
        [_, contents @ .., _] if bytes.len() == extent => Ok(Unescaped::zeros(contents)),
        _ => Err(trailing(bytes.len(), extent)),
    }
}

#[inline]
fn extent_escaped(code: u8, input: &[u8]) -> Result<usize, DecodeError> {
    match escaped_extent(behind_code(code, input)?) {
        Ok(extent) => Ok(extent + 1),
        Err(error) => Err(error.behind(1)),
    }
}

impl Segment for TupleBytes {
    type Arg<'a> = &'a [u8];
    type View<'a> = Unescaped<'a>;

    #[inline]
    fn encode<S: Sink + ?Sized>(&self, arg: &[u8], out: &mut S) -> Result<(), EncodeError> {
        out.put(&[BYTES])?;
        put_escaped(arg, &[0], out)
    }

    #[inline]
    fn decode<'a>(&self, bytes: &'a [u8]) -> Result<Unescaped<'a>, DecodeError> {
        decode_escaped(BYTES, bytes)
    }
}

impl Delimited for TupleBytes {
    #[inline]
    fn extent(&self, input: &[u8]) -> Result<usize, DecodeError> {
        extent_escaped(BYTES, input)
    }
}

impl Segment for TupleText {
    type Arg<'a> = &'a str;
    type View<'a> = UnescapedText<'a>;

    #[inline]
    fn encode<S: Sink + ?Sized>(&self, arg: &str, out: &mut S) -> Result<(), EncodeError> {
        out.put(&[TEXT])?;
        put_escaped(arg.as_bytes(), &[0], out)
    }

    #[inline]
    fn decode<'a>(&self, bytes: &'a [u8]) -> Result<UnescapedText<'a>, DecodeError> {
        let contents = decode_escaped(TEXT, bytes)?;
        let mut base = 1;
        // A zero byte is a character of its own, so no character reaches from one piece into the next.
        for piece in contents.pieces() {
            if let Err(error) = str::from_utf8(piece) {
                return Err(DecodeError::new(base + error.valid_up_to(), Fault::Utf8));
            }
            base += piece.len() + 1;
        }
        Ok(UnescapedText(contents))
    }
}

impl Delimited for TupleText {
    #[inline]
    fn extent(&self, input: &[u8]) -> Result<usize, DecodeError> {
        extent_escaped(TEXT, input)
    }
}

/// Text that is in a key escaped, already checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnescapedText<'a>(Unescaped<'a>);

impl<'a> UnescapedText<'a> {
    /// Returns the text's UTF-8 bytes.
    #[inline]
    pub const fn contents(&self) -> Unescaped<'a> {
        self.0
    }

    /// Returns the text in pieces that are in the key as they are.
    pub fn pieces(&self) -> impl Iterator<Item = &'a str> + Clone + use<'a> {
        self.0.pieces().filter_map(|piece| str::from_utf8(piece).ok())
    }

    /// Returns the text's characters.
    pub fn chars(&self) -> impl Iterator<Item = char> + Clone + use<'a> {
        self.pieces().flat_map(str::chars)
    }

    /// Returns the text as a slice of the key, or `None` if it is not in it in one piece.
    pub fn as_str(&self) -> Option<&'a str> {
        self.0.as_slice().and_then(|bytes| str::from_utf8(bytes).ok())
    }
}

impl PartialEq<str> for UnescapedText<'_> {
    fn eq(&self, other: &str) -> bool {
        self.0 == *other.as_bytes()
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::String;
    use alloc::vec::Vec;

    use super::*;
    use crate::laws::Law;

    crate::laws! {
        int_u8: TupleInt::<u8>::new(), [0, 1, u8::MAX], ordered, delimited;
        int_i8: TupleInt::<i8>::new(), [i8::MIN, -1, 0, 1, i8::MAX], ordered, delimited;
        int_i16: TupleInt::<i16>::new(), [i16::MIN, -256, -255, -1, 0, 255, 256, i16::MAX], ordered, delimited;
        int_u64: TupleInt::<u64>::new(), [0, 255, 256, 1 << 56, u64::MAX], ordered, delimited;
        int_i64: TupleInt::<i64>::new(), [i64::MIN, -65_536, -65_535, 0, i64::MAX], ordered, delimited;
        int_u128: TupleInt::<u128>::new(), [0, u64::MAX.into(), 1 << 64, 1 << 120, u128::MAX], ordered, delimited;
        int_i128: TupleInt::<i128>::new(),
            [i128::MIN, -(1 << 72), -(1 << 64), -0xffff_ffff_ffff_ffff, -1, 0, 1, 1 << 64, i128::MAX], ordered, delimited;
        float: TupleFloat, [f64::NEG_INFINITY, -42.0, 0.0, 5e-324, 42.0, f64::INFINITY], ordered, delimited;
        bool: TupleBool, [false, true], ordered, delimited;
        bytes: TupleBytes, [b"".into(), b"\0".into(), b"\0\0".into(), b"foo\0bar".into(), b"\xff".into()], ordered;
        text: TupleText, [String::new(), "\0".into(), "F\u{d4}O\0bar".into(), "🦀\0🦀".into()], ordered;
    }

    fn encoded<T: Segment>(segment: &T, arg: T::Arg<'_>) -> Vec<u8> {
        let mut out = Vec::new();
        segment.encode(arg, &mut out).unwrap();
        out
    }

    #[test]
    fn elements_end_before_anything_but_ff() {
        let behind: [&[u8]; 4] = [b"", b"\0", b"\x01", b"\x30"];
        Law::new(&TupleBytes, &[b"".into(), b"\0".into(), b"a\0b".into()]).delimited_before(&behind);
        Law::new(&TupleText, &[String::new(), "\0".into(), "a\0b".into()]).delimited_before(&behind);
    }

    #[test]
    fn elements_are_those_of_the_specification() {
        assert_eq!(encoded(&TupleInt::new(), -5_551_212i64), [0x11, 0xab, 0x4b, 0x93]);
        assert_eq!(encoded(&TupleInt::new(), 0u8), [0x14]);
        assert_eq!(encoded(&TupleInt::new(), 1u8), [0x15, 1]);
        assert_eq!(encoded(&TupleInt::new(), -1i8), [0x13, 0xfe]);
        assert_eq!(encoded(&TupleInt::new(), u64::MAX), [0x1c, 255, 255, 255, 255, 255, 255, 255, 255]);
        assert_eq!(encoded(&TupleInt::new(), 1u128 << 64), [0x1d, 9, 1, 0, 0, 0, 0, 0, 0, 0, 0]);
        let below = [0x0b, !9, 0xfe, 255, 255, 255, 255, 255, 255, 255, 255];
        assert_eq!(encoded(&TupleInt::new(), -(1i128 << 64)), below);
        assert_eq!(encoded(&TupleBytes, b"foo\0bar"), b"\x01foo\x00\xffbar\x00");
        assert_eq!(encoded(&TupleText, "F\u{d4}O\0bar"), b"\x02F\xc3\x94O\x00\xffbar\x00");
        assert_eq!(encoded(&TupleFloat, -42.0), [0x21, 0x3f, 0xba, 255, 255, 255, 255, 255, 255]);
        assert_eq!(encoded(&TupleBool, true), [0x27]);
    }

    #[test]
    fn integers_have_one_form() {
        let decode = |bytes: &[u8]| TupleInt::<i128>::new().decode(bytes);
        assert_eq!(decode(&[0x15, 0]), Err(DecodeError::new(1, Fault::NotShortest)));
        assert_eq!(decode(&[0x16, 0, 1]), Err(DecodeError::new(1, Fault::NotShortest)));
        assert_eq!(decode(&[0x12, 0xff, 0]), Err(DecodeError::new(1, Fault::NotShortest)));
        assert_eq!(decode(&[0x1d, 1, 1]), Err(DecodeError::new(1, Fault::NotShortest)));
        assert_eq!(decode(&[0x1d, 0]), Err(DecodeError::new(1, Fault::NotShortest)));
        let mut large = [1; 19];
        large[..2].copy_from_slice(&[0x1d, 17]);
        assert_eq!(decode(&large), Err(DecodeError::new(0, Fault::OutOfRange)));
        assert_eq!(decode(&[0x1d]), Err(DecodeError::new(1, Fault::Short { missing: 1 })));
        assert_eq!(TupleInt::<u8>::new().decode(&[0x13, 0xfe]), Err(DecodeError::new(0, Fault::OutOfRange)));
        assert_eq!(TupleInt::<i8>::new().decode(&[0x15, 0x80]), Err(DecodeError::new(0, Fault::OutOfRange)));
    }

    #[test]
    fn another_type_code_is_refused() {
        let code = |found| DecodeError::new(0, Fault::Byte { found, expected: Expected::TypeCode });
        assert_eq!(TupleInt::<u8>::new().extent(&[0x0a]), Err(code(0x0a)));
        assert_eq!(TupleInt::<u8>::new().extent(&[0x1e]), Err(code(0x1e)));
        assert_eq!(TupleBytes.extent(&[2, 0]), Err(code(2)));
        assert_eq!(TupleText.extent(&[1, 0]), Err(code(1)));
        assert_eq!(TupleFloat.extent(&[0x20; 9]), Err(code(0x20)));
        assert_eq!(TupleBool.decode(&[0x28]), Err(code(0x28)));
        assert_eq!(TupleBool.decode(&[0x27, 0]), Err(DecodeError::new(1, Fault::Trailing { extra: 1 })));
    }

    #[test]
    fn text_between_escapes_is_checked() {
        assert_eq!(TupleText.decode(b"\x02a\0\xffb\xff\0"), Err(DecodeError::new(5, Fault::Utf8)));
        // The two halves of a character do not join across an escaped zero.
        assert_eq!(TupleText.decode(b"\x02\xc3\0\xff\xa9\0"), Err(DecodeError::new(1, Fault::Utf8)));
        let view = TupleText.decode(b"\x02a\0\xffb\0").unwrap();
        assert!(view == *"a\0b");
        assert_eq!((view.as_str(), view.contents().len()), (None, 3));
        assert_eq!(TupleText.decode(b"\x02ab\0").unwrap().as_str(), Some("ab"));
    }
}
