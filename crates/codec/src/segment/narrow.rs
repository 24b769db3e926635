use core::marker::PhantomData;

use super::{fixed_extent, wrong_width};
use crate::{DecodeError, Delimited, EncodeError, Fault, Int, Segment, Sink, Unsigned};

/// An unsigned integer of a width that no built-in type has, such as three bytes of a `u32`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Narrow<T> {
    width: usize,
    little: bool,
    number: PhantomData<T>,
}

impl<T> Narrow<T> {
    /// So many bytes, most significant first.
    pub const fn be(width: usize) -> Self {
        Self { width, little: false, number: PhantomData }
    }

    /// So many bytes, least significant first.
    pub const fn le(width: usize) -> Self {
        Self { width, little: true, number: PhantomData }
    }
}

impl<T: Unsigned> Segment for Narrow<T> {
    type Arg<'a> = T;
    type View<'a> = T;

    #[inline]
    fn encode<S: Sink + ?Sized>(&self, arg: T, out: &mut S) -> Result<(), EncodeError> {
        let (number, width) = (arg.magnitude(), self.width.min(16));
        if u32::try_from(8 * width).is_ok_and(|bits| number.checked_shr(bits).is_some_and(|over| over != 0)) {
            return Err(EncodeError::OutOfRange);
        }
        if self.little {
            out.put(number.le_array().get(..width).unwrap_or_default())
        } else {
            out.put(number.be_array().get(16 - width..).unwrap_or_default())
        }
    }

    #[inline]
    fn decode(&self, bytes: &[u8]) -> Result<T, DecodeError> {
        let width = self.width.min(16);
        if bytes.len() != width {
            return Err(wrong_width(bytes.len(), width));
        }
        let more = |number: u128, byte: &u8| number << 8 | u128::from(*byte);
        let number = if self.little { bytes.iter().rev().fold(0, more) } else { bytes.iter().fold(0, more) };
        T::from_magnitude(false, number).ok_or(DecodeError::new(0, Fault::OutOfRange))
    }
}

impl<T: Unsigned> Delimited for Narrow<T> {
    #[inline]
    fn extent(&self, input: &[u8]) -> Result<usize, DecodeError> {
        fixed_extent(input, self.width.min(16))
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    crate::laws! {
        be_24: Narrow::<u32>::be(3), [0, 1, 0xff, 0x100, 0xff_ffff], ordered, delimited;
        be_40: Narrow::<u64>::be(5), [0, 1, 0xff, 0x100, 0xff_ffff_ffff], ordered, delimited;
        le_24: Narrow::<u32>::le(3), [0, 1, 0xff, 0x100, 0xff_ffff], delimited;
        le_56: Narrow::<u64>::le(7), [0, 1, 0xff, 0x100, (1 << 56) - 1], delimited;
    }

    #[test]
    fn a_number_that_does_not_fit_is_refused() {
        let mut out = Vec::new();
        assert_eq!(Narrow::<u32>::be(3).encode(1 << 24, &mut out), Err(EncodeError::OutOfRange));
        Narrow::<u32>::be(3).encode(0x01_0203, &mut out).unwrap();
        Narrow::<u64>::le(5).encode(0x01_0203, &mut out).unwrap();
        assert_eq!(out, [1, 2, 3, 3, 2, 1, 0, 0]);
    }
}
