use super::{check_arg_length, check_length, fixed_extent, put_fill, short, wrong_width};
use crate::{DecodeError, Delimited, EncodeError, Expected, Fault, Lengths, Open, Segment, Sink, Unsigned};

/// The case of hex digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Case {
    /// `0` to `9`, `a` to `f`.
    Lower,
    /// `0` to `9`, `A` to `F`.
    Upper,
}

impl Case {
    /// Returns the two digits of `byte`.
    #[inline]
    fn pair(self, byte: u8) -> [u8; 2] {
        let pairs = match self {
            Self::Lower => &LOWER_PAIRS,
            Self::Upper => &UPPER_PAIRS,
        };
        pairs.get(usize::from(byte)).copied().unwrap_or_default()
    }

    #[inline]
    const fn is_digit(self, byte: u8) -> bool {
        let first = match self {
            Self::Lower => b'a',
            Self::Upper => b'A',
        };
        (byte.wrapping_sub(b'0') < 10) | (byte.wrapping_sub(first) < 6)
    }

    /// Returns the length of the longest run of digits at the front of `bytes`.
    fn run(self, bytes: &[u8]) -> usize {
        bytes.iter().position(|&byte| !self.is_digit(byte)).unwrap_or(bytes.len())
    }

    /// Refuses `bytes` that are not all digits.
    #[inline]
    fn check(self, bytes: &[u8]) -> Result<(), DecodeError> {
        // One pass without a branch a byte, then a second one only for the error's offset.
        let all = bytes.iter().fold(true, |all, &byte| all & self.is_digit(byte));
        if all { Ok(()) } else { Err(self.no_digit(bytes)) }
    }

    #[cold]
    fn no_digit(self, bytes: &[u8]) -> DecodeError {
        let offset = self.run(bytes);
        let expected = match self {
            Self::Lower => Expected::LowerHex,
            Self::Upper => Expected::UpperHex,
        };
        let found = bytes.get(offset).copied().unwrap_or_default();
        DecodeError::new(offset, Fault::Byte { found, expected })
    }
}

static LOWER_PAIRS: [[u8; 2]; 256] = pairs(b'a' - b'9' - 1);
static UPPER_PAIRS: [[u8; 2]; 256] = pairs(b'A' - b'9' - 1);

/// The digits of each byte; `letter` is how far the letters lie after the digits.
const fn pairs(letter: u8) -> [[u8; 2]; 256] {
    const fn digit(value: u8, letter: u8) -> u8 {
        b'0' + value + if value > 9 { letter } else { 0 }
    }
    let mut pairs = [[0; 2]; 256];
    let mut byte = 0u8;
    let mut rest: &mut [[u8; 2]] = &mut pairs;
    while let [pair, behind @ ..] = rest {
        *pair = [digit(byte >> 4, letter), digit(byte & 0x0f, letter)];
        byte = byte.wrapping_add(1);
        rest = behind;
    }
    pairs
}

/// Returns the value of a digit of either case.
#[inline]
const fn value_of_valid(digit: u8) -> u8 {
    (digit & 0x0f) + (digit >> 6) * 9
}

/// Returns the bytes that eight digits stand for, all at once: [`value_of_valid`] in each byte of a word.
#[inline]
const fn four_of_valid(digits: [u8; 8]) -> [u8; 4] {
    let word = u64::from_be_bytes(digits);
    let values = (word & 0x0f0f_0f0f_0f0f_0f0f) + (word >> 6 & 0x0101_0101_0101_0101) * 9;
    // Two values make a byte, and the bytes move together.
    let bytes = (values >> 4 | values) & 0x00ff_00ff_00ff_00ff;
    let halves = (bytes >> 8 | bytes) & 0x0000_ffff_0000_ffff;
    (((halves >> 16 | halves) & 0xffff_ffff) as u32).to_be_bytes()
}

/// Bytes as hex text, two digits a byte: byte order is the order of the argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HexBytes<'l> {
    /// The case of the digits.
    pub case: Case,
    /// The lengths of the argument, in bytes.
    pub lengths: Lengths<'l>,
}

impl Segment for HexBytes<'_> {
    type Arg<'a> = &'a [u8];
    type View<'a> = HexView<'a>;

    #[inline]
    fn encode<S: Sink + ?Sized>(&self, arg: &[u8], out: &mut S) -> Result<(), EncodeError> {
        check_arg_length(&self.lengths, arg.len())?;
        let room = out.grow(arg.len().saturating_mul(2))?;
        for (pair, byte) in room.as_chunks_mut::<2>().0.iter_mut().zip(arg) {
            *pair = self.case.pair(*byte);
        }
        Ok(())
    }

    #[inline]
    fn decode<'a>(&self, bytes: &'a [u8]) -> Result<HexView<'a>, DecodeError> {
        self.case.check(bytes)?;
        let (pairs, rest) = bytes.as_chunks();
        if !rest.is_empty() {
            return Err(short(bytes.len(), bytes.len() + 1));
        }
        check_length(&self.lengths, pairs.len(), 2)?;
        Ok(HexView { pairs })
    }
}

impl Open for HexBytes<'_> {
    #[inline]
    fn longest(&self, input: &[u8]) -> usize {
        let room = self.lengths.max().saturating_mul(2).min(input.len());
        self.case.run(input.get(..room).unwrap_or_default())
    }

    #[inline]
    fn admits(&self, len: usize) -> bool {
        len.is_multiple_of(2) && self.lengths.admits(len / 2)
    }
}

/// Bytes that are in a key as hex text, already checked.
#[derive(Clone, Copy)]
pub struct HexView<'a> {
    pairs: &'a [[u8; 2]],
}

impl<'a> HexView<'a> {
    /// Returns how many bytes the text stands for.
    #[inline]
    pub const fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Returns the bytes that the text stands for.
    #[inline]
    pub fn bytes(&self) -> impl ExactSizeIterator<Item = u8> + Clone + use<'a> {
        self.pairs.iter().map(|&[high, low]| value_of_valid(high) << 4 | value_of_valid(low))
    }

    /// Returns the text itself.
    #[inline]
    pub const fn text(&self) -> &'a [u8] {
        self.pairs.as_flattened()
    }

    /// Writes the argument over `room`, which has its length.
    #[inline]
    fn fill(&self, room: &mut [u8]) {
        let (fours, rest) = room.as_chunks_mut::<4>();
        let (eights, last) = self.text().as_chunks::<8>();
        for (slot, digits) in fours.iter_mut().zip(eights) {
            *slot = four_of_valid(*digits);
        }
        for (slot, &[high, low]) in rest.iter_mut().zip(last.as_chunks().0) {
            *slot = value_of_valid(high) << 4 | value_of_valid(low);
        }
    }
}

byte_view!(HexView with fill);

/// An unsigned integer as hex text without leading zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HexInt<T> {
    /// The case of the digits.
    pub case: Case,
    /// The least number allowed.
    pub min: T,
    /// The greatest number allowed.
    pub max: T,
}

impl<T: Unsigned> HexInt<T> {
    /// Every number of the type.
    pub const fn full(case: Case) -> Self {
        Self { case, min: T::MIN, max: T::MAX }
    }
}

impl<T: Unsigned> Segment for HexInt<T> {
    type Arg<'a> = T;
    type View<'a> = T;

    #[inline]
    fn encode<S: Sink + ?Sized>(&self, arg: T, out: &mut S) -> Result<(), EncodeError> {
        if arg < self.min || arg > self.max {
            return Err(EncodeError::OutOfRange);
        }
        let number = arg.magnitude();
        out.put(last(&write_digits(self.case, number), count_digits(number)))
    }

    #[inline]
    fn decode(&self, bytes: &[u8]) -> Result<T, DecodeError> {
        match bytes {
            [] => return Err(short(0, 1)),
            [b'0', _, ..] => return Err(DecodeError::new(0, Fault::LeadingZero)),
            _ => self.case.check(bytes)?,
        }
        in_range(read_digits(bytes), self.min, self.max)
    }
}

impl<T: Unsigned> Open for HexInt<T> {
    #[inline]
    fn longest(&self, input: &[u8]) -> usize {
        let room = if self.min > self.max { 0 } else { count_digits(self.max.magnitude()) };
        self.case.run(input.get(..room.min(input.len())).unwrap_or_default())
    }

    #[inline]
    fn admits(&self, len: usize) -> bool {
        self.min <= self.max
            && count_digits(self.min.magnitude()) <= len
            && len <= count_digits(self.max.magnitude())
    }
}

/// An unsigned integer as hex text, padded with zeros to a width: byte order is numeric order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PaddedHexInt<T> {
    /// The case of the digits.
    pub case: Case,
    /// How many digits are written.
    pub width: usize,
    /// The least number allowed.
    pub min: T,
    /// The greatest number allowed.
    pub max: T,
}

impl<T: Unsigned> PaddedHexInt<T> {
    /// Every number of the type that `width` digits can hold.
    pub const fn full(case: Case, width: usize) -> Self {
        Self { case, width, min: T::MIN, max: T::MAX }
    }
}

impl<T: Unsigned> Segment for PaddedHexInt<T> {
    type Arg<'a> = T;
    type View<'a> = T;

    #[inline]
    fn encode<S: Sink + ?Sized>(&self, arg: T, out: &mut S) -> Result<(), EncodeError> {
        let number = arg.magnitude();
        // Zero needs no digit, which matters only where the width is 0.
        let needed = if number == 0 { 0 } else { count_digits(number) };
        if arg < self.min || arg > self.max || needed > self.width {
            return Err(EncodeError::OutOfRange);
        }
        put_fill(b'0', self.width.saturating_sub(ROOM), out)?;
        out.put(last(&write_digits(self.case, number), self.width.min(ROOM)))
    }

    #[inline]
    fn decode(&self, bytes: &[u8]) -> Result<T, DecodeError> {
        if bytes.len() != self.width {
            return Err(wrong_width(bytes.len(), self.width));
        }
        self.case.check(bytes)?;
        in_range(read_digits(bytes), self.min, self.max)
    }
}

impl<T: Unsigned> Delimited for PaddedHexInt<T> {
    #[inline]
    fn extent(&self, input: &[u8]) -> Result<usize, DecodeError> {
        fixed_extent(input, self.width)
    }
}

/// The digits of any `u128`.
const ROOM: usize = 32;

#[inline]
fn last(room: &[u8; ROOM], len: usize) -> &[u8] {
    room.get(ROOM.saturating_sub(len)..).unwrap_or_default()
}

#[inline]
const fn count_digits(number: u128) -> usize {
    // Zero has a digit too.
    let bits = (number | 1).ilog2() + 1;
    bits.div_ceil(4) as usize
}

#[inline]
fn write_digits(case: Case, number: u128) -> [u8; ROOM] {
    let mut room = [b'0'; ROOM];
    for (pair, byte) in room.as_chunks_mut::<2>().0.iter_mut().zip(number.to_be_bytes()) {
        *pair = case.pair(byte);
    }
    room
}

/// Reads checked digits: `None` if the number is beyond `u128`.
#[inline]
fn read_digits(digits: &[u8]) -> Option<u128> {
    let mut number = 0u128;
    for &digit in digits {
        if number.leading_zeros() < 4 {
            return None;
        }
        number = number << 4 | u128::from(value_of_valid(digit));
    }
    Some(number)
}

#[inline]
fn in_range<T: Unsigned>(number: Option<u128>, min: T, max: T) -> Result<T, DecodeError> {
    match number.and_then(|number| T::from_magnitude(false, number)) {
        Some(value) if min <= value && value <= max => Ok(value),
        _ => Err(DecodeError::new(0, Fault::OutOfRange)),
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    const LOWER: HexBytes<'_> = HexBytes { case: Case::Lower, lengths: Lengths::ANY };

    crate::laws! {
        lower: LOWER, [b"".into(), b"\x00".into(), b"\x00\x01".into(), b"\xab\xcd\xef".into()], ordered, open;
        long: LOWER, [(0..=255).collect(), (0..33).collect(), (0..32).collect()], open;
        upper: HexBytes { case: Case::Upper, lengths: Lengths::Range { min: 1, max: 2 } },
            [b"\x00".into(), b"\xff".into(), b"\xfe\xdc".into()], ordered, open;
        one_of: HexBytes { case: Case::Lower, lengths: Lengths::OneOf(&[1, 3]) },
            [b"\x0f".into(), b"\xf0\x00\x01".into()], ordered, open;
        int_u8: HexInt::<u8>::full(Case::Lower), [0, 9, 10, 15, 16, u8::MAX], open;
        int_u64: HexInt::<u64>::full(Case::Upper), [0, 0xf, 0x10, u64::MAX], open;
        int_u128: HexInt::<u128>::full(Case::Lower), [0, 1 << 127, u128::MAX], open;
        int_narrow: HexInt { case: Case::Lower, min: 0x10_u32, max: 0xabc }, [0x10, 0xff, 0x100, 0xabc], open;
        padded_u8: PaddedHexInt::<u8>::full(Case::Lower, 2), [0, 9, 10, 15, 16, u8::MAX], ordered, delimited;
        padded_u64: PaddedHexInt::<u64>::full(Case::Upper, 16), [0, 0xf, 0x10, u64::MAX], ordered, delimited;
        padded_wide: PaddedHexInt::<u128>::full(Case::Lower, 40), [0, 1, u128::MAX], ordered, delimited;
        padded_short: PaddedHexInt::<u64>::full(Case::Lower, 1), [0, 9, 0xf], ordered, delimited;
    }

    fn no_digit(offset: usize, found: u8, expected: Expected) -> DecodeError {
        DecodeError::new(offset, Fault::Byte { found, expected })
    }

    #[test]
    fn the_other_case_is_refused() {
        assert_eq!(LOWER.decode(b"0a").unwrap(), [0x0a]);
        assert_eq!(LOWER.decode(b"0A"), Err(no_digit(1, b'A', Expected::LowerHex)));
        let upper = HexBytes { case: Case::Upper, ..LOWER };
        assert_eq!(upper.decode(b"0Aaf"), Err(no_digit(2, b'a', Expected::UpperHex)));
        assert_eq!(LOWER.decode(b"0g"), Err(no_digit(1, b'g', Expected::LowerHex)));
        assert_eq!(LOWER.longest(b"00fFaa"), 3);
    }

    #[test]
    fn half_a_byte_is_refused() {
        assert_eq!(LOWER.decode(b"abc"), Err(DecodeError::new(3, Fault::Short { missing: 1 })));
        assert_eq!((LOWER.admits(3), LOWER.admits(4)), (false, true));
    }

    #[test]
    fn lengths_are_those_of_the_argument() {
        let pair = HexBytes { lengths: Lengths::exactly(2), ..LOWER };
        assert_eq!(pair.encode(&[1], &mut Vec::new()), Err(EncodeError::Length { found: 1 }));
        assert_eq!(pair.decode(b"01"), Err(DecodeError::new(2, Fault::Length { found: 1 })));
        assert_eq!(pair.decode(b"010203"), Err(DecodeError::new(4, Fault::Length { found: 3 })));
        assert_eq!(pair.longest(b"01020304"), 4);
    }

    #[test]
    fn a_view_gives_the_bytes_in_each_way() {
        let view = LOWER.decode(b"00ff10").unwrap();
        assert_eq!((view.len(), view.is_empty(), view.text()), (3, false, b"00ff10".as_slice()));
        assert_eq!(view.to_array(), Some([0, 0xff, 0x10]));
        assert_eq!(view.to_array::<2>(), None);
        assert_eq!(view.copy_to(&mut [0; 4]), Some([0, 0xff, 0x10].as_slice()));
        assert_eq!(view.copy_to(&mut [0; 2]), None);
        let mut out = Vec::new();
        view.put_into(&mut out).unwrap();
        assert_eq!(out, [0, 0xff, 0x10]);
        assert_eq!(alloc::format!("{view:?}"), "HexView(00ff10)");
    }

    #[test]
    fn numbers_have_one_text() {
        let int = HexInt::<u16>::full(Case::Lower);
        assert_eq!(int.decode(b"0"), Ok(0));
        assert_eq!(int.decode(b"ffff"), Ok(0xffff));
        assert_eq!(int.decode(b"0f"), Err(DecodeError::new(0, Fault::LeadingZero)));
        assert_eq!(int.decode(b"10000"), Err(DecodeError::new(0, Fault::OutOfRange)));
        assert_eq!(int.decode(b""), Err(DecodeError::new(0, Fault::Short { missing: 1 })));
        let wide = HexInt::<u128>::full(Case::Lower);
        assert_eq!(wide.decode(&[b'f'; 33]), Err(DecodeError::new(0, Fault::OutOfRange)));
        let padded = PaddedHexInt::<u16>::full(Case::Lower, 6);
        assert_eq!(padded.decode(b"00ffff"), Ok(0xffff));
        assert_eq!(padded.decode(b"010000"), Err(DecodeError::new(0, Fault::OutOfRange)));
        let narrow = PaddedHexInt::<u16>::full(Case::Lower, 2);
        assert_eq!(narrow.encode(0x100, &mut Vec::new()), Err(EncodeError::OutOfRange));
    }
}
