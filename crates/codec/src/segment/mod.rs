//! One encoding family a file; this one holds what several of them share.

use crate::{DecodeError, EncodeError, Fault, Lengths, Sink};

/// A type without settings that stands for one encoding of the integers `T`.
macro_rules! marker {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name<T>(core::marker::PhantomData<T>);

        impl<T> $name<T> {
            /// The encoding; it has no settings.
            pub const fn new() -> Self {
                Self(core::marker::PhantomData)
            }
        }

        impl<T> Default for $name<T> {
            fn default() -> Self {
                Self::new()
            }
        }
    };
}

/// The methods that every view over encoded bytes offers, made from its `bytes` and `len`.
macro_rules! byte_view {
    ($view:ident) => {
        impl $view<'_> {
            /// Writes the argument over `room`, which has its length.
            #[inline]
            fn fill(&self, room: &mut [u8]) {
                for (slot, byte) in room.iter_mut().zip(self.bytes()) {
                    *slot = byte;
                }
            }
        }

        byte_view!($view with fill);
    };
    ($view:ident with fill) => {
        impl<'a> $view<'a> {
            /// Returns whether there is nothing.
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// Writes the argument at the front of `room` and returns it there, or `None` if it does not fit.
            pub fn copy_to<'r>(&self, room: &'r mut [u8]) -> Option<&'r [u8]> {
                let room = room.get_mut(..self.len())?;
                self.fill(room);
                Some(room)
            }

            /// Returns the argument as an array, or `None` if it has another length.
            pub fn to_array<const N: usize>(&self) -> Option<[u8; N]> {
                let mut array = [0; N];
                if self.len() != N {
                    return None;
                }
                self.copy_to(&mut array)?;
                Some(array)
            }

            /// Appends the argument to `out`.
            pub fn put_into<S: crate::Sink + ?Sized>(&self, out: &mut S) -> Result<(), crate::EncodeError> {
                crate::segment::put_all(self.bytes(), out)
            }
        }

        impl PartialEq for $view<'_> {
            fn eq(&self, other: &Self) -> bool {
                self.bytes().eq(other.bytes())
            }
        }

        impl Eq for $view<'_> {}

        impl PartialEq<[u8]> for $view<'_> {
            fn eq(&self, other: &[u8]) -> bool {
                self.bytes().eq(other.iter().copied())
            }
        }

        impl<const N: usize> PartialEq<[u8; N]> for $view<'_> {
            fn eq(&self, other: &[u8; N]) -> bool {
                *self == *other.as_slice()
            }
        }

        impl core::fmt::Debug for $view<'_> {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str(concat!(stringify!($view), "("))?;
                for byte in self.bytes() {
                    write!(f, "{byte:02x}")?;
                }
                f.write_str(")")
            }
        }
    };
}

mod bool;
mod bytes;
mod checksum;
mod complement;
mod count;
mod decimal;
mod float;
mod frame;
mod hex;
mod int;
mod int_float;
mod literal;
mod narrow;
mod nibble;
mod orderedcode;
mod score;
mod text;
mod tick9;
mod time;
mod truncated;
mod tuple;
mod uint;
mod varint;
mod wide;

#[cfg(feature = "hash")]
mod base58;
#[cfg(feature = "bech32")]
mod bech32;
#[cfg(feature = "hash")]
mod digest;

#[cfg(feature = "hash")]
pub use self::base58::{Base58, Base58View};
#[cfg(feature = "bech32")]
pub use self::bech32::{Bech32, Bech32View};
pub use self::count::Count;
#[cfg(feature = "hash")]
pub use self::digest::{Digest, Hash, HashConcat, Hashed};
pub use self::{
    bool::Bool,
    bytes::{ByteClass, Bytes, Fit},
    checksum::{Crc16, Crc32},
    complement::{Desc, complement},
    decimal::{Decimal, PaddedDecimal},
    float::{Fixed, FloatBadger, FloatBits, FloatOrdered},
    frame::{Escaped, LenPrefix, LenWidth, Memcmp, Terminated, Unescaped},
    hex::{Case, HexBytes, HexInt, HexView, PaddedHexInt},
    int::{Saturating, SignFlip},
    int_float::IntFloat,
    literal::Literal,
    narrow::Narrow,
    nibble::{CountedNibbles, HexPrefix, NibbleView, Nibbles, PackedNibbles},
    orderedcode::{OrderedCode, OrderedCodeInt},
    score::{HeightScore, HeightScoreWithin, Heights, Score, ScoreExact, ScoreWithin},
    text::Text,
    tick9::Tick9,
    time::{TimeNanos, TimeText9},
    truncated::{HighBytes, LowBytes},
    tuple::{TupleBool, TupleBytes, TupleFloat, TupleInt, TupleText, UnescapedText},
    uint::{Be, Int, Le, Signed, Unsigned},
    varint::{BitcoinVarint, CompactSize, Leb128, OrdVar, ScaleCompact},
    wide::{Wide, WideForm, WideNumber, WideView},
};

/// The error of `found` bytes where exactly `width` belong.
#[cold]
pub(crate) const fn wrong_width(found: usize, width: usize) -> DecodeError {
    if found < width { short(found, width) } else { trailing(found, width) }
}

/// The error of an input that ends at `found` where `needed` bytes belong.
#[cold]
pub(crate) const fn short(found: usize, needed: usize) -> DecodeError {
    DecodeError::new(found, Fault::Short { missing: needed.saturating_sub(found) })
}

/// The error of `found` bytes of which the segment takes `used`.
#[cold]
pub(crate) const fn trailing(found: usize, used: usize) -> DecodeError {
    DecodeError::new(used, Fault::Trailing { extra: found.saturating_sub(used) })
}

/// The extent of a segment that always takes `width` bytes.
#[inline]
pub(crate) const fn fixed_extent(input: &[u8], width: usize) -> Result<usize, DecodeError> {
    if input.len() < width { Err(short(input.len(), width)) } else { Ok(width) }
}

/// Returns `bytes` as an array, if there are exactly `N`.
#[inline]
pub(crate) fn exactly<const N: usize>(bytes: &[u8]) -> Result<&[u8; N], DecodeError> {
    bytes.try_into().map_err(|_| wrong_width(bytes.len(), N))
}

/// Refuses an argument of `len` bytes if `lengths` does.
#[inline]
pub(crate) fn check_arg_length(lengths: &Lengths<'_>, len: usize) -> Result<(), EncodeError> {
    if lengths.admits(len) { Ok(()) } else { Err(EncodeError::Length { found: len }) }
}

/// Refuses an argument of `len` bytes, of which each takes `scale` bytes of the key, if `lengths` does.
#[inline]
pub(crate) fn check_length(lengths: &Lengths<'_>, len: usize, scale: usize) -> Result<(), DecodeError> {
    if lengths.admits(len) {
        return Ok(());
    }
    let offset = len.min(lengths.max()).saturating_mul(scale);
    Err(DecodeError::new(offset, Fault::Length { found: len }))
}

/// Appends `count` times `byte`.
pub(crate) fn put_fill<S: Sink + ?Sized>(byte: u8, count: usize, out: &mut S) -> Result<(), EncodeError> {
    let block = [byte; 64];
    let mut left = count;
    while left > 0 {
        let step = left.min(block.len());
        out.put(block.get(..step).unwrap_or_default())?;
        left -= step;
    }
    Ok(())
}

/// Appends what `bytes` yields.
pub(crate) fn put_all<S: Sink + ?Sized>(
    mut bytes: impl Iterator<Item = u8>,
    out: &mut S,
) -> Result<(), EncodeError> {
    loop {
        let mut block = [0; 64];
        let mut len = 0;
        for (slot, byte) in block.iter_mut().zip(&mut bytes) {
            *slot = byte;
            len += 1;
        }
        out.put(block.get(..len).unwrap_or_default())?;
        if len < block.len() {
            return Ok(());
        }
    }
}
