use super::{fixed_extent, wrong_width};
use crate::{DecodeError, Delimited, EncodeError, Fault, Segment, Sink, Unsigned};

/// An unsigned integer in its lowest bytes, most significant first.
///
/// This loses the bytes above them: of numbers that differ only there, the least of the domain is read back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LowBytes<T> {
    /// How many bytes are written, at most 16.
    pub width: usize,
    /// The least number of the domain.
    pub least: T,
    /// The greatest number of the domain.
    pub most: T,
}

/// An unsigned integer in its highest bytes, most significant first.
///
/// This loses the bytes below them: of numbers that differ only there, the least of the domain is read back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HighBytes<T> {
    /// How many bytes the integer has at full width, at most 16.
    pub bytes: usize,
    /// How many of them are written.
    pub width: usize,
    /// The least number of the domain.
    pub least: T,
    /// The greatest number of the domain.
    pub most: T,
}

/// Appends the lowest bytes of a number.
#[inline]
fn put_low<S: Sink + ?Sized>(number: u128, width: usize, out: &mut S) -> Result<(), EncodeError> {
    let bytes = number.to_be_bytes();
    out.put(bytes.get(bytes.len().saturating_sub(width)..).unwrap_or_default())
}

/// The number that `width` bytes are.
#[inline]
fn number(bytes: &[u8], width: usize) -> Result<u128, DecodeError> {
    if bytes.len() != width || width > 16 {
        return Err(wrong_width(bytes.len(), width));
    }
    Ok(bytes.iter().fold(0, |number, byte| number << 8 | u128::from(*byte)))
}

/// The number as the type has it, if it is one of the domain.
#[inline]
fn inside<T: Unsigned>(number: Option<u128>, least: T, most: T) -> Result<T, DecodeError> {
    let number = number.and_then(|number| T::from_magnitude(false, number));
    number.filter(|number| (least..=most).contains(number)).ok_or(DecodeError::new(0, Fault::OutOfRange))
}

/// How far a number is moved so that its highest bytes become its lowest.
const fn shift(bytes: usize, width: usize) -> u32 {
    match bytes.saturating_sub(width) {
        // Nothing is left of a number that is moved by all of its bits.
        16.. => 127,
        #[expect(clippy::cast_possible_truncation, reason = "at most 15")]
        left => 8 * left as u32,
    }
}

impl<T: Unsigned> Segment for LowBytes<T> {
    type Arg<'a> = T;
    type View<'a> = T;

    #[inline]
    fn encode<S: Sink + ?Sized>(&self, arg: T, out: &mut S) -> Result<(), EncodeError> {
        if !(self.least..=self.most).contains(&arg) {
            return Err(EncodeError::OutOfRange);
        }
        put_low(arg.magnitude(), self.width, out)
    }

    #[inline]
    fn decode(&self, bytes: &[u8]) -> Result<T, DecodeError> {
        let low = number(bytes, self.width)?;
        // The first number from the least on that ends with these bytes.
        let mask = u128::MAX.checked_shr(shift(16, self.width)).unwrap_or_default();
        let mask = if self.width == 0 { 0 } else { mask };
        let least = self.least.magnitude();
        inside(least.checked_add(low.wrapping_sub(least) & mask), self.least, self.most)
    }
}

impl<T: Unsigned> Delimited for LowBytes<T> {
    #[inline]
    fn extent(&self, input: &[u8]) -> Result<usize, DecodeError> {
        fixed_extent(input, self.width)
    }
}

impl<T: Unsigned> Segment for HighBytes<T> {
    type Arg<'a> = T;
    type View<'a> = T;

    #[inline]
    fn encode<S: Sink + ?Sized>(&self, arg: T, out: &mut S) -> Result<(), EncodeError> {
        if !(self.least..=self.most).contains(&arg) {
            return Err(EncodeError::OutOfRange);
        }
        put_low(arg.magnitude() >> shift(self.bytes, self.width), self.width, out)
    }

    #[inline]
    fn decode(&self, bytes: &[u8]) -> Result<T, DecodeError> {
        let high = number(bytes, self.width)?;
        let shift = shift(self.bytes, self.width);
        let first = (high << shift).max(self.least.magnitude());
        inside(Some(first).filter(|first| first >> shift == high), self.least, self.most)
    }
}

impl<T: Unsigned> Delimited for HighBytes<T> {
    #[inline]
    fn extent(&self, input: &[u8]) -> Result<usize, DecodeError> {
        fixed_extent(input, self.width)
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    const LOW: LowBytes<u64> = LowBytes { width: 3, least: 0, most: 0xff_ffff };
    const TOP: HighBytes<u32> = HighBytes { bytes: 4, width: 4, least: 0, most: u32::MAX };

    crate::laws! {
        low_3: LOW, [0, 1, 0xff, 0x100, 0xff_ffff], ordered, delimited;
        low_16: LowBytes { width: 16, least: 0, most: u128::MAX }, [0, 1, u128::MAX], ordered, delimited;
        low_of_others: LowBytes { width: 1, least: 300u16, most: 555 }, [300, 511, 512, 555], delimited;
        high_4: TOP, [0, 1, 0x100, u32::MAX], ordered, delimited;
        high_16: HighBytes { bytes: 16, width: 16, least: 0, most: u128::MAX }, [0, 1, u128::MAX], ordered, delimited;
    }

    fn written<G: for<'a> Segment<Arg<'a> = u64>>(segment: &G, number: u64) -> Vec<u8> {
        let mut out = Vec::new();
        segment.encode(number, &mut out).unwrap();
        out
    }

    #[test]
    fn the_least_number_of_the_domain_is_read_back() {
        let low = LowBytes { width: 2, least: 0x01_0005u64, most: u64::MAX };
        assert_eq!(written(&low, 0x0708_0910_1112), [0x11, 0x12]);
        assert_eq!(low.decode(&[0x11, 0x12]), Ok(0x01_1112));
        assert_eq!(low.decode(&[0, 5]), Ok(0x01_0005));
        assert_eq!(low.decode(&[0, 4]), Ok(0x02_0004));
        let high = HighBytes { bytes: 8, width: 2, least: 0x0102_0000_0000_0007u64, most: u64::MAX };
        assert_eq!(written(&high, 0x0102_0304_0506_0708), [1, 2]);
        assert_eq!(high.decode(&[1, 2]), Ok(0x0102_0000_0000_0007));
        assert_eq!(high.decode(&[1, 3]), Ok(0x0103_0000_0000_0000));
        assert_eq!(high.decode(&[1, 1]), Err(DecodeError::new(0, Fault::OutOfRange)));
    }

    #[test]
    fn bytes_that_no_number_of_the_domain_has_are_refused() {
        let low = LowBytes { width: 1, least: 0u8, most: 3 };
        assert_eq!(low.decode(&[4]), Err(DecodeError::new(0, Fault::OutOfRange)));
        assert_eq!(low.encode(4, &mut Vec::new()), Err(EncodeError::OutOfRange));
        assert_eq!(low.decode(&[0, 1]), Err(wrong_width(2, 1)));
        let high = HighBytes { bytes: 2, width: 1, least: 0u16, most: 0x2ff };
        assert_eq!(high.decode(&[3]), Err(DecodeError::new(0, Fault::OutOfRange)));
        assert_eq!(high.decode(&[2]), Ok(0x200));
    }
}
