use super::{exactly, fixed_extent};
use crate::{DecodeError, Delimited, EncodeError, Fault, FixedWidth, Segment, SignFlip, Sink};

/// A float as its IEEE-754 bits, big-endian. Byte order is numeric order only among positive numbers.
///
/// NaN is refused, and −0.0 is written as 0.0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FloatBits;

/// A float whose byte order is numeric order: its IEEE-754 bits, big-endian, with the top bit flipped in
/// positive numbers and all bits flipped in negative ones.
///
/// NaN is refused, and −0.0 is written as 0.0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FloatOrdered;

/// The sortable form that 1Sat's Badger store writes: its IEEE-754 bits, big-endian, with the top bit flipped
/// if the float is zero or above, −0.0 included, and all bits flipped otherwise, NaN included.
///
/// −0.0 therefore sorts below −∞, and a positive NaN meets a denormal, which is what it is read back as. The
/// bytes from `fff0000000000001` up stand for no float.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FloatBadger;

/// A float as a fixed-point number: its product with a power of ten, as an [`i64`] of which byte order is
/// numeric order.
///
/// What does not come back as the same float is refused, both ways; −0.0 is written as 0.0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fixed {
    /// The exponent of the power of ten, at most 22: beyond that the power itself is not exact.
    pub decimals: u8,
}

const SIGN: u64 = 1 << 63;

/// Returns the bits of a number, with one zero only.
#[inline]
fn bits_of_number(value: f64) -> Result<u64, EncodeError> {
    if value.is_nan() {
        return Err(EncodeError::Nan);
    }
    Ok(if value == 0.0 { 0 } else { value.to_bits() })
}

/// Returns the number of these bits, unless it is NaN or −0.0.
#[inline]
fn number_of_bits(bits: u64) -> Result<f64, DecodeError> {
    let value = f64::from_bits(bits);
    if value.is_nan() || bits == SIGN {
        return Err(DecodeError::new(0, Fault::Float));
    }
    Ok(value)
}

#[inline]
const fn order(bits: u64) -> u64 {
    if bits & SIGN == 0 { bits ^ SIGN } else { !bits }
}

#[inline]
const fn disorder(ordered: u64) -> u64 {
    if ordered & SIGN == 0 { !ordered } else { ordered ^ SIGN }
}

impl Segment for FloatBits {
    type Arg<'a> = f64;
    type View<'a> = f64;

    #[inline]
    fn encode<S: Sink + ?Sized>(&self, arg: f64, out: &mut S) -> Result<(), EncodeError> {
        out.put(&bits_of_number(arg)?.to_be_bytes())
    }

    #[inline]
    fn decode(&self, bytes: &[u8]) -> Result<f64, DecodeError> {
        number_of_bits(u64::from_be_bytes(*exactly(bytes)?))
    }
}

impl Segment for FloatOrdered {
    type Arg<'a> = f64;
    type View<'a> = f64;

    #[inline]
    fn encode<S: Sink + ?Sized>(&self, arg: f64, out: &mut S) -> Result<(), EncodeError> {
        out.put(&order(bits_of_number(arg)?).to_be_bytes())
    }

    #[inline]
    fn decode(&self, bytes: &[u8]) -> Result<f64, DecodeError> {
        number_of_bits(disorder(u64::from_be_bytes(*exactly(bytes)?)))
    }
}

impl Segment for FloatBadger {
    type Arg<'a> = f64;
    type View<'a> = f64;

    #[inline]
    fn encode<S: Sink + ?Sized>(&self, arg: f64, out: &mut S) -> Result<(), EncodeError> {
        out.put(&badger(arg).to_be_bytes())
    }

    #[inline]
    fn decode(&self, bytes: &[u8]) -> Result<f64, DecodeError> {
        let sortable = u64::from_be_bytes(*exactly(bytes)?);
        let value = if sortable == 0 { -0.0 } else { f64::from_bits(disorder(sortable)) };
        if badger(value) == sortable { Ok(value) } else { Err(DecodeError::new(0, Fault::Float)) }
    }
}

#[inline]
fn badger(value: f64) -> u64 {
    let bits = value.to_bits();
    if value >= 0.0 { bits ^ SIGN } else { !bits }
}

impl Fixed {
    /// The powers of ten that a float holds exactly.
    const POWERS: [f64; 23] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17,
        1e18, 1e19, 1e20, 1e21, 1e22,
    ];

    fn scale(self) -> Option<f64> {
        Self::POWERS.get(usize::from(self.decimals)).copied()
    }

    /// Returns the whole number nearest to `value` × `scale`, if it divides back to `value`.
    fn units(value: f64, scale: f64) -> Result<i64, EncodeError> {
        let scaled = value * scale;
        // The bounds are powers of two, so exact; the upper one is the first float beyond the integers.
        if !(-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&scaled) {
            return Err(EncodeError::OutOfRange);
        }
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the range is checked; the fraction is looked at next"
        )]
        let whole = scaled as i64;
        #[expect(clippy::cast_precision_loss, reason = "a cast of a float to an integer and back is exact")]
        let fraction = scaled - whole as f64;
        let units = if fraction >= 0.5 {
            whole.saturating_add(1)
        } else if fraction <= -0.5 {
            whole.saturating_sub(1)
        } else {
            whole
        };
        #[expect(clippy::float_cmp, reason = "the same float must come back")]
        let comes_back = Self::value(units, scale) == value;
        if comes_back { Ok(units) } else { Err(EncodeError::Inexact) }
    }

    #[expect(clippy::cast_precision_loss, reason = "numbers that do not come back are refused")]
    fn value(units: i64, scale: f64) -> f64 {
        units as f64 / scale
    }
}

impl Segment for Fixed {
    type Arg<'a> = f64;
    type View<'a> = f64;

    #[inline]
    fn encode<S: Sink + ?Sized>(&self, arg: f64, out: &mut S) -> Result<(), EncodeError> {
        if arg.is_nan() {
            return Err(EncodeError::Nan);
        }
        let scale = self.scale().ok_or(EncodeError::OutOfRange)?;
        SignFlip::new().encode(Self::units(arg, scale)?, out)
    }

    #[inline]
    fn decode(&self, bytes: &[u8]) -> Result<f64, DecodeError> {
        let units = SignFlip::<i64>::new().decode(bytes)?;
        let scale = self.scale().ok_or(DecodeError::new(0, Fault::OutOfRange))?;
        let value = Self::value(units, scale);
        // Of the integers that share a float, only the one that it is written as is read.
        if Self::units(value, scale) == Ok(units) {
            Ok(value)
        } else {
            Err(DecodeError::new(0, Fault::Float))
        }
    }
}

macro_rules! eight_bytes {
    ($($float:ident)*) => {$(
        impl Delimited for $float {
            #[inline]
            fn extent(&self, input: &[u8]) -> Result<usize, DecodeError> {
                fixed_extent(input, Self::WIDTH)
            }
        }

        impl FixedWidth for $float {
            type Value = f64;
            const WIDTH: usize = 8;
        }
    )*};
}

eight_bytes!(FloatBits FloatOrdered FloatBadger Fixed);

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    const NUMBERS: [f64; 11] = [
        f64::NEG_INFINITY,
        f64::MIN,
        -1.5,
        -f64::MIN_POSITIVE,
        -5e-324,
        0.0,
        5e-324,
        0.1,
        1.5,
        f64::MAX,
        f64::INFINITY,
    ];

    crate::laws! {
        bits: FloatBits, NUMBERS, delimited;
        bits_from_zero: FloatBits, [0.0, 5e-324, 0.5, 1.0, f64::INFINITY], ordered;
        float_ordered: FloatOrdered, NUMBERS, ordered, delimited;
        badger: FloatBadger, NUMBERS, ordered, delimited;
        fixed9: Fixed { decimals: 9 }, [-9e9, -1.5, -1e-9, 0.0, 1e-9, 0.1, 850_000.000_000_123, 9e9], ordered, delimited;
        fixed0: Fixed { decimals: 0 }, [-9_223_372_036_854_775_808.0, -1.0, 0.0, 1.0, 9e15], ordered, delimited;
        fixed22: Fixed { decimals: 22 }, [-1e-4, 0.0, 1e-22, 1e-4], ordered, delimited;
    }

    fn bytes<T: for<'a> Segment<Arg<'a> = f64>>(segment: &T, arg: f64) -> Result<[u8; 8], EncodeError> {
        let mut out = Vec::new();
        segment.encode(arg, &mut out).map(|()| out.try_into().unwrap())
    }

    #[test]
    fn there_is_one_zero_and_no_nan() {
        assert_eq!(bytes(&FloatBits, -0.0), Ok([0; 8]));
        assert_eq!(bytes(&FloatOrdered, -0.0), bytes(&FloatOrdered, 0.0));
        assert_eq!(bytes(&FloatBits, f64::NAN), Err(EncodeError::Nan));
        assert_eq!(bytes(&FloatOrdered, f64::NAN), Err(EncodeError::Nan));
        let refused = DecodeError::new(0, Fault::Float);
        assert_eq!(FloatBits.decode(&(-0.0f64).to_be_bytes()), Err(refused));
        assert_eq!(FloatBits.decode(&f64::NAN.to_be_bytes()), Err(refused));
        assert_eq!(FloatOrdered.decode(&[0x7f, 255, 255, 255, 255, 255, 255, 255]), Err(refused));
        assert_eq!(FloatOrdered.decode(&[0; 8]), Err(refused));
        assert_eq!(FloatOrdered.decode(&[255; 8]), Err(refused));
    }

    /// From the vectors of 1Sat's own code: the float's bits, then what its Badger store writes.
    const BADGER: [(u64, u64); 12] = [
        (0x3ff0_0000_0000_0000, 0xbff0_0000_0000_0000),
        (0xbff0_0000_0000_0000, 0x400f_ffff_ffff_ffff),
        (0x3fe0_0000_0000_0000, 0xbfe0_0000_0000_0000),
        (0xbfe0_0000_0000_0000, 0x401f_ffff_ffff_ffff),
        (0x4129_f0a0_0000_0000, 0xc129_f0a0_0000_0000),
        (0x41d9_60cd_4007_e6b7, 0xc1d9_60cd_4007_e6b7),
        (0x7fef_ffff_ffff_ffff, 0xffef_ffff_ffff_ffff),
        (0xffef_ffff_ffff_ffff, 0x0010_0000_0000_0000),
        (0x0000_0000_0000_0001, 0x8000_0000_0000_0001),
        (0x8000_0000_0000_0001, 0x7fff_ffff_ffff_fffe),
        (0x7ff0_0000_0000_0000, 0xfff0_0000_0000_0000),
        (0xfff0_0000_0000_0000, 0x000f_ffff_ffff_ffff),
    ];

    #[test]
    fn badger_writes_what_the_real_store_writes() {
        for (bits, sortable) in BADGER {
            let float = f64::from_bits(bits);
            assert_eq!(bytes(&FloatBadger, float), Ok(sortable.to_be_bytes()));
            assert_eq!(FloatBadger.decode(&sortable.to_be_bytes()).map(f64::to_bits), Ok(bits));
        }
    }

    #[test]
    fn badger_puts_negative_zero_first_and_nan_on_a_denormal() {
        assert_eq!(bytes(&FloatBadger, -0.0), Ok([0; 8]));
        assert_eq!(FloatBadger.decode(&[0; 8]).map(f64::to_bits), Ok(SIGN));
        let nan = bytes(&FloatBadger, f64::from_bits(0x7ff8_0000_0000_0000)).unwrap();
        assert_eq!(FloatBadger.decode(&nan).map(f64::to_bits), Ok(0x0007_ffff_ffff_ffff));
        // A negative NaN sorts below −∞, alone in its place, and comes back.
        let nan = bytes(&FloatBadger, f64::from_bits(0xfff8_0000_0000_0000)).unwrap();
        assert_eq!(FloatBadger.decode(&nan).map(f64::to_bits), Ok(0xfff8_0000_0000_0000));
        // No float is written as one of these.
        for sortable in [0xfff0_0000_0000_0001_u64, 0xfff8_0000_0000_0000, u64::MAX] {
            let refused = Err(DecodeError::new(0, Fault::Float));
            assert_eq!(FloatBadger.decode(&sortable.to_be_bytes()), refused);
        }
    }

    #[test]
    fn fixed_point_refuses_what_it_would_change() {
        let fixed = Fixed { decimals: 2 };
        assert_eq!(bytes(&fixed, 1.25), Ok([0x80, 0, 0, 0, 0, 0, 0, 125]));
        assert_eq!(bytes(&fixed, -0.01), Ok([0x7f, 255, 255, 255, 255, 255, 255, 255]));
        assert_eq!(bytes(&fixed, -0.0), bytes(&fixed, 0.0));
        assert_eq!(bytes(&fixed, 0.001), Err(EncodeError::Inexact));
        assert_eq!(bytes(&fixed, 1e17), Err(EncodeError::OutOfRange));
        assert_eq!(bytes(&fixed, f64::INFINITY), Err(EncodeError::OutOfRange));
        assert_eq!(bytes(&fixed, f64::NAN), Err(EncodeError::Nan));
        assert_eq!(bytes(&Fixed { decimals: 23 }, 0.0), Err(EncodeError::OutOfRange));
    }

    #[test]
    fn fixed_point_reads_one_integer_a_float() {
        let fixed = Fixed { decimals: 0 };
        let refused = Err(DecodeError::new(0, Fault::Float));
        // 2⁵³ + 1 has no float of its own.
        assert_eq!(fixed.decode(&[0x80, 0x20, 0, 0, 0, 0, 0, 0]), Ok(9_007_199_254_740_992.0));
        assert_eq!(fixed.decode(&[0x80, 0x20, 0, 0, 0, 0, 0, 1]), refused);
        assert_eq!(fixed.decode(&[255; 8]), refused);
    }
}
