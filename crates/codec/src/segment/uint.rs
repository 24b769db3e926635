use core::fmt;

use super::{fixed_extent, wrong_width};
use crate::{DecodeError, Delimited, EncodeError, FixedWidth, Segment, Sink};

mod sealed {
    pub trait Sealed {}
}

/// A built-in integer, `u8` to `u128` and `i8` to `i128`.
pub trait Int: sealed::Sealed + Copy + Ord + Default + fmt::Debug + fmt::Display + 'static {
    /// `[u8; BYTES]`.
    type Array: AsRef<[u8]> + Copy;

    /// How many bytes the type has.
    const BYTES: usize;
    /// The least value.
    const MIN: Self;
    /// The greatest value.
    const MAX: Self;

    /// Returns the bytes, most significant first.
    fn be_array(self) -> Self::Array;

    /// Returns the bytes, least significant first.
    fn le_array(self) -> Self::Array;

    /// Returns the number of `bytes`, most significant first; `None` if their count is not [`Int::BYTES`].
    fn from_be_slice(bytes: &[u8]) -> Option<Self>;

    /// Returns the number of `bytes`, least significant first; `None` if their count is not [`Int::BYTES`].
    fn from_le_slice(bytes: &[u8]) -> Option<Self>;

    /// Returns whether the number is below zero.
    fn is_below_zero(self) -> bool;

    /// Returns the number without its sign.
    fn magnitude(self) -> u128;

    /// Returns the number of this sign and magnitude, if the type holds it.
    fn from_magnitude(negative: bool, magnitude: u128) -> Option<Self>;
}

/// A built-in integer without a sign.
pub trait Unsigned: Int {}

/// A built-in integer with a sign.
pub trait Signed: Int {
    /// Returns the number with its top bit flipped, so that the order of the bytes is that of the numbers.
    #[must_use]
    fn flip_sign_bit(self) -> Self;
}

macro_rules! int {
    ($int:ty, { $($sign:tt)* }) => {
        impl sealed::Sealed for $int {}

        #[expect(clippy::little_endian_bytes, reason = "the one place where little-endian bytes are made")]
        impl Int for $int {
            type Array = [u8; size_of::<$int>()];

            const BYTES: usize = size_of::<$int>();
            const MIN: Self = <$int>::MIN;
            const MAX: Self = <$int>::MAX;

            #[inline]
            fn be_array(self) -> Self::Array {
                self.to_be_bytes()
            }

            #[inline]
            fn le_array(self) -> Self::Array {
                self.to_le_bytes()
            }

            #[inline]
            fn from_be_slice(bytes: &[u8]) -> Option<Self> {
                bytes.try_into().ok().map(Self::from_be_bytes)
            }

            #[inline]
            fn from_le_slice(bytes: &[u8]) -> Option<Self> {
                bytes.try_into().ok().map(Self::from_le_bytes)
            }

            $($sign)*
        }
    };
}

macro_rules! unsigned {
    ($($int:ty)*) => {$(
        int!($int, {
            #[inline]
            fn is_below_zero(self) -> bool {
                false
            }

            #[inline]
            fn magnitude(self) -> u128 {
                self.into()
            }

            #[inline]
            fn from_magnitude(negative: bool, magnitude: u128) -> Option<Self> {
                if negative && magnitude != 0 { None } else { Self::try_from(magnitude).ok() }
            }
        });

        impl Unsigned for $int {}
    )*};
}

macro_rules! signed {
    ($($int:ty)*) => {$(
        int!($int, {
            #[inline]
            fn is_below_zero(self) -> bool {
                self < 0
            }

            #[inline]
            fn magnitude(self) -> u128 {
                self.unsigned_abs().into()
            }

            #[inline]
            fn from_magnitude(negative: bool, magnitude: u128) -> Option<Self> {
                if negative {
                    Self::checked_sub_unsigned(0, magnitude.try_into().ok()?)
                } else {
                    magnitude.try_into().ok()
                }
            }
        });

        impl Signed for $int {
            #[inline]
            fn flip_sign_bit(self) -> Self {
                self ^ Self::MIN
            }
        }
    )*};
}

unsigned!(u8 u16 u32 u64 u128);
signed!(i8 i16 i32 i64 i128);

marker! {
    /// An integer of fixed width, most significant byte first; a signed one as two's complement.
    Be
}

marker! {
    /// An integer of fixed width, least significant byte first; a signed one as two's complement.
    Le
}

impl<T: Int> Segment for Be<T> {
    type Arg<'a> = T;
    type View<'a> = T;

    #[inline]
    fn encode<S: Sink + ?Sized>(&self, arg: T, out: &mut S) -> Result<(), EncodeError> {
        out.put(arg.be_array().as_ref())
    }

    #[inline]
    fn decode(&self, bytes: &[u8]) -> Result<T, DecodeError> {
        T::from_be_slice(bytes).ok_or_else(|| wrong_width(bytes.len(), T::BYTES))
    }
}

impl<T: Int> Delimited for Be<T> {
    #[inline]
    fn extent(&self, input: &[u8]) -> Result<usize, DecodeError> {
        fixed_extent(input, T::BYTES)
    }
}

impl<T: Int> FixedWidth for Be<T> {
    type Value = T;
    const WIDTH: usize = T::BYTES;
}

impl<T: Int> Segment for Le<T> {
    type Arg<'a> = T;
    type View<'a> = T;

    #[inline]
    fn encode<S: Sink + ?Sized>(&self, arg: T, out: &mut S) -> Result<(), EncodeError> {
        out.put(arg.le_array().as_ref())
    }

    #[inline]
    fn decode(&self, bytes: &[u8]) -> Result<T, DecodeError> {
        T::from_le_slice(bytes).ok_or_else(|| wrong_width(bytes.len(), T::BYTES))
    }
}

impl<T: Int> Delimited for Le<T> {
    #[inline]
    fn extent(&self, input: &[u8]) -> Result<usize, DecodeError> {
        fixed_extent(input, T::BYTES)
    }
}

impl<T: Int> FixedWidth for Le<T> {
    type Value = T;
    const WIDTH: usize = T::BYTES;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Buffer, Fault};

    crate::laws! {
        be_u8: Be::<u8>::new(), [0, 1, 0x7f, 0x80, u8::MAX], ordered, delimited;
        be_u16: Be::<u16>::new(), [0, 1, 0xff, 0x100, u16::MAX], ordered, delimited;
        be_u32: Be::<u32>::new(), [0, 1, 0xff, 0x100, u32::MAX], ordered, delimited;
        be_u64: Be::<u64>::new(), [0, 1, 0xff, 0x100, u64::MAX], ordered, delimited;
        be_u128: Be::<u128>::new(), [0, 1, 0xff, 0x100, u128::MAX], ordered, delimited;
        be_i8: Be::<i8>::new(), [i8::MIN, -1, 0, 1, i8::MAX], delimited;
        be_i64: Be::<i64>::new(), [i64::MIN, -1, 0, 1, i64::MAX], delimited;
        be_i128: Be::<i128>::new(), [i128::MIN, -1, 0, 1, i128::MAX], delimited;
        le_u8: Le::<u8>::new(), [0, 1, u8::MAX], ordered, delimited;
        le_u16: Le::<u16>::new(), [0, 1, 0xff, 0x100, u16::MAX], delimited;
        le_u64: Le::<u64>::new(), [0, 1, 0xff, 0x100, u64::MAX], delimited;
        le_i32: Le::<i32>::new(), [i32::MIN, -1, 0, 1, i32::MAX], delimited;
        le_i128: Le::<i128>::new(), [i128::MIN, -1, 0, 1, i128::MAX], delimited;
    }

    #[test]
    fn bytes_stand_in_the_order_named() {
        let mut room = [0; 16];
        let mut out = Buffer::new(&mut room);
        Be::new().encode(0x0102_0304_u32, &mut out).unwrap();
        Le::new().encode(0x0102_0304_u32, &mut out).unwrap();
        Be::new().encode(-2i16, &mut out).unwrap();
        Le::new().encode(-2i16, &mut out).unwrap();
        assert_eq!(out.written(), [1, 2, 3, 4, 4, 3, 2, 1, 0xff, 0xfe, 0xfe, 0xff]);
    }

    #[test]
    fn another_width_is_refused() {
        let short = DecodeError::new(3, Fault::Short { missing: 1 });
        assert_eq!(Be::<u32>::new().decode(&[1, 2, 3]), Err(short));
        assert_eq!(Be::<u32>::new().extent(&[1, 2, 3]), Err(short));
        let trailing = DecodeError::new(2, Fault::Trailing { extra: 1 });
        assert_eq!(Le::<u16>::new().decode(&[1, 2, 3]), Err(trailing));
    }

    #[test]
    fn magnitudes_are_checked_against_the_type() {
        assert_eq!(i8::from_magnitude(true, 128), Some(-128));
        assert_eq!(i8::from_magnitude(true, 129), None);
        assert_eq!(i8::from_magnitude(false, 128), None);
        assert_eq!(i128::from_magnitude(true, 1 << 127), Some(i128::MIN));
        assert_eq!(u8::from_magnitude(true, 1), None);
        assert_eq!(u8::from_magnitude(false, 256), None);
    }
}
