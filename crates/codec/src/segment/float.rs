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
