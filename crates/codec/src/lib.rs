//! The bytes of a key segment, both ways.
//!
//! A *segment* is one piece of a key: a number, a text, a hash, a length-prefixed part. This crate holds one
//! type for each way in which real systems write one, and nothing else in Keyplan turns values into bytes.
//!
//! - [`Segment`] encodes an argument into a [`Sink`] and decodes it from bytes that are exactly the segment.
//! - [`Delimited`] segments know where they end; [`Open`] ones end where the key's next part begins.
//! - [`Buffer`] is a [`Sink`] over a caller's slice: nothing here allocates.
//!
//! ```
//! use keyplan_codec::{Be, Buffer, Delimited, Literal, Segment, Tick9};
//!
//! let mut room = [0; 18];
//! let mut out = Buffer::new(&mut room);
//! Literal(&[0x01]).encode((), &mut out)?;
//! Be::new().encode(7u64, &mut out)?;
//! Tick9.encode(-3, &mut out)?;
//!
//! let ((), rest) = Literal(&[0x01]).take(out.written())?;
//! let (pool, rest) = Be::<u64>::new().take(rest)?;
//! assert_eq!((pool, Tick9.decode(rest)?), (7, -3));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Decoding is canonical: bytes are accepted only if encoding the result gives the same bytes again. No input
//! panics, and every error carries the offset of the byte that broke it.
//!
//! # Features
//!
//! `hash` adds the hash functions, `bech32` the text addresses, `alloc` a [`Sink`] for `Vec<u8>`, `laws` the
//! assertions that every segment must pass. Without features the crate needs neither `std` nor an allocator.
#![no_std]

#[cfg(any(feature = "alloc", test))]
extern crate alloc;
#[cfg(any(feature = "std", test))]
extern crate std;

mod alphabet;
mod error;
mod expect;
#[cfg(any(feature = "laws", test))]
pub mod laws;
mod lengths;
mod segment;
mod sink;

pub use alphabet::Alphabet;
pub use error::{DecodeError, EncodeError, Expected, Fault};
pub use expect::expect_width;
pub use lengths::Lengths;
pub use segment::*;
#[doc(hidden)]
pub use sink::next_in;
pub use sink::{Buffer, Sink};

/// One way of writing an argument as bytes.
pub trait Segment {
    /// What is encoded.
    type Arg<'a>;
    /// What decoding gives back; it borrows from the key where it can.
    type View<'a>;

    /// Appends the bytes of `arg`, or refuses an argument that the segment cannot hold.
    ///
    /// When it fails, what was appended before the failure may stay in `out`.
    fn encode<S: Sink + ?Sized>(&self, arg: Self::Arg<'_>, out: &mut S) -> Result<(), EncodeError>;

    /// Decodes a segment that is exactly `bytes`.
    fn decode<'a>(&self, bytes: &'a [u8]) -> Result<Self::View<'a>, DecodeError>;
}

/// A segment whose bytes tell where it ends.
pub trait Delimited: Segment {
    /// Returns how many bytes at the front of `input` belong to the segment.
    ///
    /// This looks no further than it must to find the end: `decode` on those bytes may still refuse them.
    fn extent(&self, input: &[u8]) -> Result<usize, DecodeError>;

    /// Decodes the segment at the front of `input`, and returns it with what comes after it.
    ///
    /// ```
    /// use keyplan_codec::{Be, Delimited};
    ///
    /// assert_eq!(Be::<u16>::new().take(&[1, 2, 3])?, (0x0102, [3].as_slice()));
    /// # Ok::<(), keyplan_codec::DecodeError>(())
    /// ```
    #[inline]
    fn take<'a>(&self, input: &'a [u8]) -> Result<(Self::View<'a>, &'a [u8]), DecodeError> {
        let extent = self.extent(input)?;
        let (segment, rest) = input.split_at_checked(extent).unwrap_or((input, &[]));
        Ok((self.decode(segment)?, rest))
    }
}

/// A segment that always has the same length, and whose view does not borrow from the key.
pub trait FixedWidth: Delimited + for<'a> Segment<View<'a> = <Self as FixedWidth>::Value> {
    /// What decoding gives back.
    type Value;
    /// The length in bytes.
    const WIDTH: usize;
}

/// A segment that ends only where something else begins.
pub trait Open: Segment {
    /// Returns the largest `n` such that the first `n` bytes of `input` are all bytes that this segment may
    /// contain, and `n` is not over its greatest length.
    fn longest(&self, input: &[u8]) -> usize;

    /// Returns whether a segment of `len` bytes can exist.
    fn admits(&self, len: usize) -> bool;
}
