use super::{fixed_extent, short, wrong_width};
use crate::{DecodeError, Delimited, EncodeError, Expected, Fault, Int, Open, Segment, Sink, Unsigned};

/// An integer as base-10 text without leading zeros, with `-` before a negative one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decimal<T> {
    /// The least number allowed.
    pub min: T,
    /// The greatest number allowed.
    pub max: T,
}

impl<T: Int> Decimal<T> {
    /// Every number of the type.
    pub const fn full() -> Self {
        Self { min: T::MIN, max: T::MAX }
    }

    #[inline]
    fn admits_value(&self, value: T) -> bool {
        self.min <= value && value <= self.max
    }

    /// The greatest length of a number in the range.
    fn max_len(&self) -> usize {
        if self.min > self.max {
            return 0;
        }
        let signed = |value: T| usize::from(value.is_below_zero()) + count_digits(value.magnitude());
        signed(self.min).max(signed(self.max))
    }
}

impl<T: Int> Segment for Decimal<T> {
    type Arg<'a> = T;
    type View<'a> = T;

    #[inline]
    fn encode<S: Sink + ?Sized>(&self, arg: T, out: &mut S) -> Result<(), EncodeError> {
        if !self.admits_value(arg) {
            return Err(EncodeError::OutOfRange);
        }
        if arg.is_below_zero() {
            out.put(b"-")?;
        }
        let magnitude = arg.magnitude();
        let room = out.grow(count_digits(magnitude))?;
        write_digits(magnitude, room);
        Ok(())
    }

    #[inline]
    fn decode(&self, bytes: &[u8]) -> Result<T, DecodeError> {
        let (negative, digits) = match bytes {
            [b'-', digits @ ..] if T::MIN.is_below_zero() => (true, digits),
            digits => (false, digits),
        };
        let base = usize::from(negative);
        match digits {
            [] => return Err(short(bytes.len(), base + 1)),
            [b'0', _, ..] => return Err(DecodeError::new(base, Fault::LeadingZero)),
            [b'0'] if negative => return Err(DecodeError::new(base, Fault::LeadingZero)),
            _ => {}
        }
        let magnitude = read_digits(digits).map_err(|error| error.behind(base))?;
        let value = magnitude.and_then(|magnitude| T::from_magnitude(negative, magnitude));
        match value {
            Some(value) if self.admits_value(value) => Ok(value),
            _ => Err(DecodeError::new(0, Fault::OutOfRange)),
        }
    }
}

impl<T: Int> Open for Decimal<T> {
    #[inline]
    fn longest(&self, input: &[u8]) -> usize {
        let sign = usize::from(self.min.is_below_zero() && input.first() == Some(&b'-'));
        let digits = input.iter().skip(sign).take_while(|byte| byte.is_ascii_digit()).count();
        (sign + digits).min(self.max_len())
    }

    fn admits(&self, len: usize) -> bool {
        let zero = T::default();
        let positive = self.max >= zero && self.min <= self.max && {
            let least = count_digits(self.min.max(zero).magnitude());
            least <= len && len <= count_digits(self.max.magnitude())
        };
        let negative = self.min < zero && self.min <= self.max && {
            // The negative number nearest to zero is the shortest one.
            let nearest = if self.max < zero { self.max.magnitude() } else { 1 };
            let least = 1 + count_digits(nearest);
            least <= len && len <= 1 + count_digits(self.min.magnitude())
        };
        positive || negative
    }
}

/// An unsigned integer as base-10 text, padded with zeros to a width: byte order is numeric order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PaddedDecimal<T> {
    /// How many digits are written.
    pub width: usize,
    /// The least number allowed.
    pub min: T,
    /// The greatest number allowed.
    pub max: T,
}

impl<T: Unsigned> PaddedDecimal<T> {
    /// Every number of the type that `width` digits can hold.
    pub const fn full(width: usize) -> Self {
        Self { width, min: T::MIN, max: T::MAX }
    }
}

impl<T: Unsigned> Segment for PaddedDecimal<T> {
    type Arg<'a> = T;
    type View<'a> = T;

    #[inline]
    fn encode<S: Sink + ?Sized>(&self, arg: T, out: &mut S) -> Result<(), EncodeError> {
        let magnitude = arg.magnitude();
        // Zero needs no digit, which matters only where the width is 0.
        let needed = if arg == T::default() { 0 } else { count_digits(magnitude) };
        if arg < self.min || arg > self.max || needed > self.width {
            return Err(EncodeError::OutOfRange);
        }
        let room = out.grow(self.width)?;
        write_digits(magnitude, room);
        Ok(())
    }

    #[inline]
    fn decode(&self, bytes: &[u8]) -> Result<T, DecodeError> {
        if bytes.len() != self.width {
            return Err(wrong_width(bytes.len(), self.width));
        }
        let value = read_digits(bytes)?.and_then(|magnitude| T::from_magnitude(false, magnitude));
        match value {
            Some(value) if self.min <= value && value <= self.max => Ok(value),
            _ => Err(DecodeError::new(0, Fault::OutOfRange)),
        }
    }
}

impl<T: Unsigned> Delimited for PaddedDecimal<T> {
    #[inline]
    fn extent(&self, input: &[u8]) -> Result<usize, DecodeError> {
        fixed_extent(input, self.width)
    }
}

/// How many digits always fit a `u64`.
const CHUNK: usize = 19;
/// The number after the greatest of so many digits.
const CHUNK_POWER: u128 = 10_000_000_000_000_000_000;

/// `00` to `99`.
static PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[b'0'; 2]; 100];
    let mut number = 0;
    let mut rest: &mut [[u8; 2]] = &mut pairs;
    while let [pair, behind @ ..] = rest {
        *pair = [b'0' + number / 10, b'0' + number % 10];
        number += 1;
        rest = behind;
    }
    pairs
};

#[inline]
fn count_digits(number: u128) -> usize {
    // The logarithm of a u128 is slow, and integer types of up to 64 bits leave it out.
    match u64::try_from(number) {
        Ok(small) => count_small(small),
        Err(_) => number.ilog10() as usize + 1,
    }
}

/// 1, 10, 100 and so on, as far as a `u64` goes.
static POWERS: [u64; 20] = {
    let mut powers = [1; 20];
    let mut power = 1u64;
    let mut rest: &mut [u64] = &mut powers;
    while let [slot, behind @ ..] = rest {
        *slot = power;
        power = power.wrapping_mul(10);
        rest = behind;
    }
    powers
};

#[inline]
fn count_small(number: u64) -> usize {
    // 1233/4096 is a little more than the logarithm of 2: the guess is right, or one too small.
    let bits = u64::BITS - (number | 1).leading_zeros();
    let guess = ((bits * 1233) >> 12) as usize;
    let least = POWERS.get(guess).copied().unwrap_or(u64::MAX);
    // Zero has a digit too.
    guess + usize::from((number | 1) >= least)
}

/// Writes the digits of `number` at the end of `room`, with zeros before them; those that do not fit are left out.
#[inline]
fn write_digits(number: u128, room: &mut [u8]) {
    // Division of u128 is slow: it is used only for what does not fit a u64, which integer types of up to 64
    // bits leave out altogether.
    match u64::try_from(number) {
        Ok(small) => write_small(small, room),
        Err(_) => write_large(number, room),
    }
}

#[inline]
fn write_small(number: u64, room: &mut [u8]) {
    let mut left = number;
    let (odd, pairs) = room.as_rchunks_mut::<2>();
    for pair in pairs.iter_mut().rev() {
        if let Some(digits) = PAIRS.get((left % 100) as usize) {
            *pair = *digits;
        }
        left /= 100;
    }
    if let [first] = odd {
        *first = b'0' + (left % 10) as u8;
    }
}

#[cold]
fn write_large(number: u128, room: &mut [u8]) {
    let mut left = number;
    let mut rest = room;
    while !rest.is_empty() {
        let keep = rest.len().saturating_sub(CHUNK);
        let (front, back) = rest.split_at_mut(keep);
        write_small((left % CHUNK_POWER) as u64, back);
        left /= CHUNK_POWER;
        rest = front;
    }
}

/// Reads digits, at least one: `None` if the number is beyond `u128`.
#[inline]
fn read_digits(digits: &[u8]) -> Result<Option<u128>, DecodeError> {
    let (small, more) = digits.split_at_checked(CHUNK).unwrap_or((digits, &[]));
    let mut low = 0u64;
    for (offset, &byte) in small.iter().enumerate() {
        low = low * 10 + u64::from(digit(byte, offset)?);
    }
    let mut number = Some(u128::from(low));
    for (offset, &byte) in more.iter().enumerate() {
        let digit = digit(byte, CHUNK + offset)?;
        number = number.and_then(|number| number.checked_mul(10)?.checked_add(digit.into()));
    }
    Ok(number)
}

#[inline]
fn digit(byte: u8, offset: usize) -> Result<u8, DecodeError> {
    let digit = byte.wrapping_sub(b'0');
    if digit < 10 {
        return Ok(digit);
    }
    Err(DecodeError::new(offset, Fault::Byte { found: byte, expected: Expected::Digit }))
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;
    use alloc::vec::Vec;

    use super::*;

    crate::laws! {
        dec_u8: Decimal::<u8>::full(), [0, 9, 10, 99, 100, u8::MAX], open;
        dec_u64: Decimal::<u64>::full(), [0, 1, 9_999_999_999_999_999_999, u64::MAX], open;
        dec_u128: Decimal::<u128>::full(), [0, u64::MAX.into(), 1 << 64, CHUNK_POWER, u128::MAX], open;
        dec_i8: Decimal::<i8>::full(), [i8::MIN, -100, -99, -1, 0, 1, i8::MAX], open;
        dec_i64: Decimal::<i64>::full(), [i64::MIN, -10, 0, i64::MAX], open;
        dec_i128: Decimal::<i128>::full(), [i128::MIN, -1, 0, i128::MAX], open;
        dec_narrow: Decimal::<u32> { min: 7, max: 120 }, [7, 9, 10, 120], open;
        dec_below_zero: Decimal::<i32> { min: -120, max: -7 }, [-120, -10, -7], open;
        padded_u8: PaddedDecimal::<u8>::full(3), [0, 9, 10, 99, 100, u8::MAX], ordered, delimited;
        padded_short: PaddedDecimal::<u64>::full(2), [0, 9, 10, 99], ordered, delimited;
        padded_u64: PaddedDecimal::<u64>::full(20), [0, 1, 10, u64::MAX], ordered, delimited;
        padded_wide: PaddedDecimal::<u128>::full(45), [0, 1, u128::MAX], ordered, delimited;
        padded_narrow: PaddedDecimal::<u16> { width: 4, min: 3, max: 1200 }, [3, 99, 1200], ordered, delimited;
    }

    fn text<T: Int>(value: T) -> Vec<u8> {
        let mut out = Vec::new();
        Decimal::full().encode(value, &mut out).unwrap();
        out
    }

    #[test]
    fn digits_are_those_of_display() {
        let mut power = 1u128;
        for _ in 0..39 {
            for number in [power - 1, power, power + 1, power * 3] {
                assert_eq!(text(number), number.to_string().into_bytes());
                if let Ok(small) = u64::try_from(number) {
                    assert_eq!(text(small), small.to_string().into_bytes());
                }
            }
            power = power.saturating_mul(10);
        }
        assert_eq!(text(i64::MIN), b"-9223372036854775808");
        assert_eq!(text(i128::MIN), b"-170141183460469231731687303715884105728");
    }

    #[test]
    fn only_the_shortest_text_of_a_number_is_read() {
        let decode = |text: &str| Decimal::<u64>::full().decode(text.as_bytes());
        assert_eq!(decode("0"), Ok(0));
        assert_eq!(decode("18446744073709551615"), Ok(u64::MAX));
        assert_eq!(decode("18446744073709551616"), Err(DecodeError::new(0, Fault::OutOfRange)));
        assert_eq!(decode("100000000000000000000"), Err(DecodeError::new(0, Fault::OutOfRange)));
        assert_eq!(decode("007"), Err(DecodeError::new(0, Fault::LeadingZero)));
        assert_eq!(decode("00"), Err(DecodeError::new(0, Fault::LeadingZero)));
        assert_eq!(decode(""), Err(DecodeError::new(0, Fault::Short { missing: 1 })));
        let digit =
            |offset, found| DecodeError::new(offset, Fault::Byte { found, expected: Expected::Digit });
        assert_eq!(decode("-1"), Err(digit(0, b'-')));
        assert_eq!(decode("+1"), Err(digit(0, b'+')));
        assert_eq!(decode("12:4"), Err(digit(2, b':')));
        assert_eq!(decode("12345678901234567890/"), Err(digit(20, b'/')));
    }

    #[test]
    fn a_sign_needs_a_number_behind_it() {
        let decode = |text: &str| Decimal::<i8>::full().decode(text.as_bytes());
        assert_eq!(decode("-128"), Ok(-128));
        assert_eq!(decode("-129"), Err(DecodeError::new(0, Fault::OutOfRange)));
        assert_eq!(decode("128"), Err(DecodeError::new(0, Fault::OutOfRange)));
        assert_eq!(decode("-0"), Err(DecodeError::new(1, Fault::LeadingZero)));
        assert_eq!(decode("-07"), Err(DecodeError::new(1, Fault::LeadingZero)));
        assert_eq!(decode("-"), Err(DecodeError::new(1, Fault::Short { missing: 1 })));
        let fault = Fault::Byte { found: b'-', expected: Expected::Digit };
        assert_eq!(decode("--1"), Err(DecodeError::new(1, fault)));
    }

    #[test]
    fn a_range_is_kept_both_ways() {
        let narrow = Decimal::<u64> { min: 1, max: 5 };
        assert_eq!(narrow.encode(6, &mut Vec::new()), Err(EncodeError::OutOfRange));
        assert_eq!(narrow.encode(0, &mut Vec::new()), Err(EncodeError::OutOfRange));
        assert_eq!(narrow.decode(b"6"), Err(DecodeError::new(0, Fault::OutOfRange)));
        let empty = Decimal::<u64> { min: 2, max: 1 };
        assert_eq!((empty.longest(b"12"), empty.admits(1)), (0, false));
    }

    #[test]
    fn lengths_are_those_of_the_range() {
        let admitted = |range: Decimal<i16>| (0..8).filter(|&len| range.admits(len)).collect::<Vec<_>>();
        assert_eq!(admitted(Decimal::full()), [1, 2, 3, 4, 5, 6]);
        assert_eq!(admitted(Decimal { min: -3, max: 1000 }), [1, 2, 3, 4]);
        assert_eq!(admitted(Decimal { min: -1000, max: -10 }), [3, 4, 5]);
        assert_eq!(admitted(Decimal { min: -1000, max: 5 }), [1, 2, 3, 4, 5]);
        assert_eq!(admitted(Decimal { min: 10, max: 99 }), [2]);
    }

    #[test]
    fn the_longest_run_stops_where_digits_do() {
        assert_eq!(Decimal::<u64>::full().longest(b"12/34"), 2);
        assert_eq!(Decimal::<u64>::full().longest(b"-12"), 0);
        assert_eq!(Decimal::<i64>::full().longest(b"-12-"), 3);
        assert_eq!(Decimal::<u8>::full().longest(b"12345"), 3);
    }

    #[test]
    fn padding_does_not_widen_the_type() {
        let padded = PaddedDecimal::<u8>::full(4);
        assert_eq!(padded.decode(b"0255"), Ok(255));
        assert_eq!(padded.decode(b"0256"), Err(DecodeError::new(0, Fault::OutOfRange)));
        assert_eq!(padded.decode(b"255"), Err(DecodeError::new(3, Fault::Short { missing: 1 })));
        let narrow = PaddedDecimal::<u64>::full(2);
        assert_eq!(narrow.encode(100, &mut Vec::new()), Err(EncodeError::OutOfRange));
    }
}
