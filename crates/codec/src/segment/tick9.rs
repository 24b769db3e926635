use super::{exactly, fixed_extent};
use crate::{DecodeError, Delimited, EncodeError, Expected, Fault, FixedWidth, Segment, Sink};

/// A tick of concentrated liquidity: `sign (1) | two's complement, big-endian (8)`.
///
/// The sign byte is `05` for negative numbers and `06` for the others, so byte order is numeric order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tick9;

const NEGATIVE: u8 = 0x05;
const POSITIVE: u8 = 0x06;

impl Tick9 {
    /// Returns the bytes of `tick`.
    #[inline]
    pub const fn array(tick: i64) -> [u8; 9] {
        let mut bytes = [0; 9];
        let [sign, number @ ..] = &mut bytes;
        *sign = sign_of(tick);
        *number = tick.to_be_bytes();
        bytes
    }
}

#[inline]
const fn sign_of(tick: i64) -> u8 {
    if tick < 0 { NEGATIVE } else { POSITIVE }
}

#[cold]
fn wrong_sign(found: u8, tick: i64) -> DecodeError {
    let fault = if found == NEGATIVE || found == POSITIVE {
        Fault::Sign { found, expected: sign_of(tick) }
    } else {
        Fault::Byte { found, expected: Expected::TickSign }
    };
    DecodeError::new(0, fault)
}

impl Segment for Tick9 {
    type Arg<'a> = i64;
    type View<'a> = i64;

    #[inline]
    fn encode<S: Sink + ?Sized>(&self, arg: i64, out: &mut S) -> Result<(), EncodeError> {
        out.put(&Self::array(arg))
    }

    #[inline]
    fn decode(&self, bytes: &[u8]) -> Result<i64, DecodeError> {
        let [sign, number @ ..] = exactly::<9>(bytes)?;
        let tick = i64::from_be_bytes(*number);
        if *sign == sign_of(tick) { Ok(tick) } else { Err(wrong_sign(*sign, tick)) }
    }
}

impl Delimited for Tick9 {
    #[inline]
    fn extent(&self, input: &[u8]) -> Result<usize, DecodeError> {
        fixed_extent(input, Self::WIDTH)
    }
}

impl FixedWidth for Tick9 {
    type Value = i64;
    const WIDTH: usize = 9;
}

#[cfg(test)]
mod tests {
    use super::*;

    crate::laws! {
        tick9: Tick9, [i64::MIN, -108_000_000, -256, -1, 0, 1, 255, 342_000_000, i64::MAX], ordered, delimited;
    }

    #[test]
    fn the_sign_byte_leads() {
        assert_eq!(Tick9::array(-1), [5, 255, 255, 255, 255, 255, 255, 255, 255]);
        assert_eq!(Tick9::array(0), [6, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(Tick9::array(i64::MIN), [5, 0x80, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(Tick9::array(i64::MAX), [6, 0x7f, 255, 255, 255, 255, 255, 255, 255]);
    }

    #[test]
    fn a_sign_that_contradicts_the_number_is_refused() {
        let minus_as_plus = [6, 255, 255, 255, 255, 255, 255, 255, 255];
        let sign = DecodeError::new(0, Fault::Sign { found: 6, expected: 5 });
        assert_eq!(Tick9.decode(&minus_as_plus), Err(sign));
        let plus_as_minus = [5, 0, 0, 0, 0, 0, 0, 0, 1];
        let sign = DecodeError::new(0, Fault::Sign { found: 5, expected: 6 });
        assert_eq!(Tick9.decode(&plus_as_minus), Err(sign));
        let no_sign = [7, 0, 0, 0, 0, 0, 0, 0, 1];
        let byte = DecodeError::new(0, Fault::Byte { found: 7, expected: Expected::TickSign });
        assert_eq!(Tick9.decode(&no_sign), Err(byte));
        assert_eq!(Tick9.decode(&[6; 8]), Err(DecodeError::new(8, Fault::Short { missing: 1 })));
    }
}
