//! What the types that `keyplan::plan!` makes have in common.
//!
//! A family of keys is a struct that implements [`Key`]; its values, members, scores and fields are structs that
//! implement [`Value`]; a declared scan is a [`Scan`]. Everything here works without an allocator.
//!
//! Arguments that are not in a key as they are get a type that holds them in place: [`ShortBytes`] and
//! [`ShortText`] where their length is bounded, [`CodedBytes`] and [`CodedText`] where it is not.

#![no_std]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(any(feature = "json", test))]
extern crate std;

#[cfg(any(feature = "cbor", feature = "json", feature = "proto"))]
mod codec;
mod coded;
mod encoded;
mod error;
mod list;
mod opaque;
mod open;
mod plan_text;
mod rank;
mod read;
mod scan;
mod score;
mod short;
mod show;

#[cfg(any(feature = "cbor", feature = "json", feature = "proto"))]
pub use codec::CodecError;
pub use coded::{CodedBytes, CodedText};
pub use encoded::Slots;
pub use error::{KeyError, KeyFault, OtherReading, SegmentError, shown_alike};
pub use list::{List, ListIter, ListLayout};
pub use opaque::{Bcs, Bincode, Borsh, Cbor, Json, Proto, Raw, Rlp, Scale};
pub use open::{Ends, Furthest, Nearest, Open, Steps, longest_number, passes_over};
pub use plan_text::{PlanText, SpaceText};
pub use rank::{Rank, Ranked};
pub use read::{
    View, admitted, admitted_text, array, decoded, encoded, exact, finish, fixed, in_range, inside, kept,
    literal, narrowed, piece, rest, same_bytes, short_bytes, short_text, too_short, uncomplement,
    uncomplemented_extent, unescaped_text,
};
#[cfg(feature = "hash")]
pub use read::{digest, hashed_number};
pub use scan::{OrderedScan, Room, Scan, ScanOf, Step};
pub use score::FloatScore;
pub use short::{ShortBytes, ShortText};
pub use show::Shown;

use core::fmt;

use keyplan_codec::{Buffer, Sink};

/// A key of one family.
pub trait Key: Copy + fmt::Debug + fmt::Display {
    /// The family's path in the plan, such as `cl.tick`.
    const FAMILY: &'static str;
    /// The name that an engine stores the family's space under.
    const SPACE: &'static str;
    /// The bytes that every key of the family begins with.
    const PREFIX: &'static [u8];
    /// The greatest length of a key; `None` without a limit.
    const MAX_KEY_LEN: Option<usize>;
    /// The same family, borrowing from the bytes that it was decoded from.
    type Decoded<'k>: Key;
    /// What is stored under a key.
    type Value<'v>: Value<'v>;

    /// Appends the key. Arguments outside of their domain are refused, and so are those whose key has a flaw that the
    /// plan accepts.
    fn encode_into<S: Sink + ?Sized>(&self, out: &mut S) -> Result<(), KeyError>;

    /// Appends the key, even if its bytes can also be read as something else.
    fn encode_unguarded_into<S: Sink + ?Sized>(&self, out: &mut S) -> Result<(), KeyError>;

    /// Decodes a key.
    fn decode(key: &[u8]) -> Result<Self::Decoded<'_>, KeyError>;

    /// Decodes a key, as fast as it goes. `None` says that it takes [`Key::decode`], if only for the error.
    #[inline]
    fn read(key: &[u8]) -> Option<Self::Decoded<'_>> {
        Self::decode(key).ok()
    }

    /// Writes the key at the front of `room` and returns it there.
    fn encode_to<'b>(&self, room: &'b mut [u8]) -> Result<&'b [u8], KeyError> {
        let mut out = Buffer::new(room);
        self.encode_into(&mut out)?;
        Ok(out.into_written())
    }

    /// Returns the key.
    #[cfg(feature = "alloc")]
    fn to_vec(&self) -> Result<alloc::vec::Vec<u8>, KeyError> {
        let mut out = alloc::vec::Vec::with_capacity(Self::MAX_KEY_LEN.unwrap_or(64).min(256));
        self.encode_into(&mut out)?;
        Ok(out)
    }
}

/// What is stored under a key: a value, a member, a score, the name of a field.
pub trait Value<'v>: Copy + fmt::Debug + fmt::Display {
    /// Appends the bytes.
    fn encode_into<S: Sink + ?Sized>(&self, out: &mut S) -> Result<(), KeyError>;

    /// Decodes what is exactly `bytes`.
    fn decode(bytes: &'v [u8]) -> Result<Self, KeyError>;

    /// Decodes what is exactly `bytes`, as fast as it goes. `None` says that it takes [`Value::decode`], if only for the
    /// error.
    #[inline]
    fn read(bytes: &'v [u8]) -> Option<Self> {
        Self::decode(bytes).ok()
    }

    /// Writes the bytes at the front of `room` and returns them there.
    fn encode_to<'b>(&self, room: &'b mut [u8]) -> Result<&'b [u8], KeyError> {
        let mut out = Buffer::new(room);
        self.encode_into(&mut out)?;
        Ok(out.into_written())
    }

    /// Returns the bytes.
    #[cfg(feature = "alloc")]
    fn to_vec(&self) -> Result<alloc::vec::Vec<u8>, KeyError> {
        let mut out = alloc::vec::Vec::new();
        self.encode_into(&mut out)?;
        Ok(out)
    }
}

/// A key that holds a map from fields to values.
pub trait HashKey: Key {
    /// The fields, one variant for each kind.
    type Field<'f>: Value<'f>;
}

/// A field of a hash, of one kind.
pub trait HashField: Copy + fmt::Debug + fmt::Display {
    /// What is stored under the field.
    type FieldValue<'v>: Value<'v>;
}

/// A key that holds a set of members.
pub trait SetKey: Key {
    /// A member.
    type Member<'m>: Value<'m>;
}

/// A key that holds members in the order of their scores: a sorted set or a queue.
pub trait ScoredKey: SetKey {
    /// What members are ranked by.
    type Score<'s>: Value<'s>;
}

/// A key that holds members without scores: a set.
pub trait UnrankedKey: SetKey {}

/// A key that holds a sorted set.
pub trait ZsetKey: ScoredKey {}

/// A key that holds a queue.
pub trait QueueKey: ScoredKey {}

/// Parts in a row, of a family or inside of one. Generated code implements it; [`Key`] and [`Value`] are its use.
pub trait Layout<'k>: Sized {
    /// Appends the bytes.
    fn put<S: Sink + ?Sized>(&self, out: &mut S) -> Result<(), SegmentError>;

    /// Decodes what is exactly `bytes`, as fast as it goes.
    fn read(bytes: &'k [u8]) -> Option<Self>;

    /// Decodes what is exactly `bytes`, which begin at offset `base` of a key, or says where and why not.
    fn search(bytes: &'k [u8], base: usize) -> Result<Self, SegmentError>;
}

/// Decodes a layout of a family.
#[inline]
pub fn decode<'k, L: Layout<'k>>(family: &'static str, bytes: &'k [u8]) -> Result<L, KeyError> {
    match L::read(bytes) {
        Some(layout) => Ok(layout),
        None => decode_slowly(family, bytes),
    }
}

/// Decodes again, for the error or because the fast way gives up; apart, so that the fast way needs no stack.
#[cold]
#[inline(never)]
fn decode_slowly<'k, L: Layout<'k>>(family: &'static str, bytes: &'k [u8]) -> Result<L, KeyError> {
    L::search(bytes, 0).map_err(|error| error.of(family))
}

/// Encodes a layout of at most `N` bytes in place.
#[inline]
pub fn encode_short<'k, const N: usize, L: Layout<'k>>(
    family: &'static str,
    layout: &L,
) -> Result<ShortBytes<N>, KeyError> {
    let mut out = ShortBytes::new();
    match layout.put(&mut out) {
        Ok(()) => Ok(out),
        Err(error) => Err(error.of(family)),
    }
}

/// The path of a key's family.
pub const fn family_of<K: Key>(_: &K) -> &'static str {
    K::FAMILY
}
