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
