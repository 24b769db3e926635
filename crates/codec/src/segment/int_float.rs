use super::{exactly, fixed_extent};
use crate::{DecodeError, Delimited, EncodeError, Fault, Int, Segment, Sink};

/// An integer as the float that is nearest to it, in its IEEE-754 bits, big-endian: what a server of floats keeps of it.
///
/// This loses information beyond 2⁵³: of numbers that share a float, the one that is equal to it is read back, or the end of the
/// domain that is nearest to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntFloat<T> {
    /// The least number of the domain.
    pub least: T,
    /// The greatest number of the domain.
    pub most: T,
}

/// The float that is nearest to an integer.
#[inline]
#[expect(clippy::cast_precision_loss, reason = "this is what is lost")]
fn float<T: Int>(number: T) -> f64 {
    let magnitude = number.magnitude() as f64;
    if number.is_below_zero() { -magnitude } else { magnitude }
}

impl<T: Int> IntFloat<T> {
    /// The number of the domain that is equal to a float, or the end of the domain that is nearest to it.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a magnitude beyond all integers becomes the greatest, and is none of the domain or its end"
    )]
    fn nearest(&self, float: f64) -> T {
        let (negative, magnitude) = (float < 0.0, float.abs() as u128);
        match T::from_magnitude(negative, magnitude) {
            Some(number) => number.clamp(self.least, self.most),
            None if negative => self.least,
            None => self.most,
        }
    }
}

impl<T: Int> Segment for IntFloat<T> {
    type Arg<'a> = T;
    type View<'a> = T;

    #[inline]
    fn encode<S: Sink + ?Sized>(&self, arg: T, out: &mut S) -> Result<(), EncodeError> {
        if !(self.least..=self.most).contains(&arg) {
            return Err(EncodeError::OutOfRange);
        }
        out.put(&float(arg).to_bits().to_be_bytes())
    }

    #[inline]
    fn decode(&self, bytes: &[u8]) -> Result<T, DecodeError> {
        let bits = u64::from_be_bytes(*exactly(bytes)?);
        let found = f64::from_bits(bits);
        if found.is_nan() {
            return Err(DecodeError::new(0, Fault::Float));
        }
        let number = self.nearest(found);
        // Also refused: halves, infinities, and the zero with a sign.
        if float(number).to_bits() == bits { Ok(number) } else { Err(DecodeError::new(0, Fault::OutOfRange)) }
    }
}

impl<T: Int> Delimited for IntFloat<T> {
    #[inline]
    fn extent(&self, input: &[u8]) -> Result<usize, DecodeError> {
        fixed_extent(input, 8)
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    const U64: IntFloat<u64> = IntFloat { least: 0, most: u64::MAX };
    const I64: IntFloat<i64> = IntFloat { least: i64::MIN, most: i64::MAX };

    crate::laws! {
        whole: U64, [0, 1, 255, 256, 1 << 53, 1 << 63], ordered, delimited;
        below_zero: I64, [i64::MIN, -(1 << 53), -1, 0, 1, 1 << 53], delimited;
        small: IntFloat { least: -3i8, most: 100 }, [-3, -1, 0, 1, 100], delimited;
    }

    #[test]
    fn floats_are_those_of_the_standard() {
        let written = |number: u64| {
            let mut out = Vec::new();
            U64.encode(number, &mut out).unwrap();
            out
        };
        assert_eq!(written(850_000), 850_000f64.to_bits().to_be_bytes());
        // Beyond 2⁵³ neighbours meet, and the number that the float is equal to comes back.
        assert_eq!(written((1 << 53) + 1), written(1 << 53));
        assert_eq!(U64.decode(&written((1 << 53) + 1)), Ok(1 << 53));
        // The float of the greatest number is beyond the type.
        assert_eq!(written(u64::MAX), 18_446_744_073_709_551_616f64.to_bits().to_be_bytes());
        assert_eq!(U64.decode(&written(u64::MAX)), Ok(u64::MAX));
    }

    #[test]
    fn what_is_no_integer_of_the_domain_is_refused() {
        let beyond = Err(DecodeError::new(0, Fault::OutOfRange));
        for float in [0.5, -1.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, 1e300] {
            assert_eq!(U64.decode(&float.to_bits().to_be_bytes()), beyond, "{float}");
        }
        assert_eq!(U64.decode(&f64::NAN.to_bits().to_be_bytes()), Err(DecodeError::new(0, Fault::Float)));
        let few = IntFloat { least: 5u8, most: 7 };
        assert_eq!(few.decode(&8f64.to_bits().to_be_bytes()), Err(DecodeError::new(0, Fault::OutOfRange)));
        assert_eq!(few.encode(8, &mut Vec::new()), Err(EncodeError::OutOfRange));
    }
}
