//! The steps that generated code takes through a key.

#[cfg(feature = "hash")]
use keyplan_codec::Base58View;
#[cfg(feature = "bech32")]
use keyplan_codec::Bech32View;
use keyplan_codec::{
    DecodeError, EncodeError, Fault, HexView, Lengths, NibbleView, Segment as _, Sink, Text, Unescaped,
    WideView,
};

use super::{SegmentError, ShortBytes, ShortText};

/// What encoding a segment gave, with its name.
#[inline]
pub fn encoded<T>(label: &'static str, result: Result<T, EncodeError>) -> Result<T, SegmentError> {
    result.map_err(|error| SegmentError::argument(label, error))
}

/// What decoding a segment gave, with its name and place.
#[inline]
pub fn decoded<T>(
    label: &'static str,
    base: usize,
    result: Result<T, DecodeError>,
) -> Result<T, SegmentError> {
    result.map_err(|error| SegmentError::bytes(label, base, error))
}

/// The bytes from `at` to `end`; none where there are none.
#[inline]
pub fn piece(bytes: &[u8], at: usize, end: usize) -> &[u8] {
    bytes.get(at..end).unwrap_or_default()
}

/// The bytes from `at` on.
#[inline]
pub fn rest(bytes: &[u8], at: usize) -> &[u8] {
    bytes.get(at..).unwrap_or_default()
}

/// Passes over a literal.
pub fn literal(
    bytes: &[u8],
    at: usize,
    base: usize,
    literal: &[u8],
    label: &'static str,
) -> Result<usize, SegmentError> {
    let rest = rest(bytes, at);
    if rest.starts_with(literal) {
        return Ok(at + literal.len());
    }
    let same = literal.iter().zip(rest).take_while(|(expected, found)| expected == found).count();
    let fault = match (literal.get(same), rest.get(same)) {
        (Some(&expected), Some(&found)) => Fault::Literal { expected, found },
        _ => Fault::Short { missing: literal.len() - same },
    };
    Err(SegmentError::bytes(label, base + at, DecodeError::new(same, fault)))
}

/// The end of a segment of `width` bytes.
pub fn fixed(
    bytes: &[u8],
    at: usize,
    base: usize,
    width: usize,
    label: &'static str,
) -> Result<usize, SegmentError> {
    let room = bytes.len().saturating_sub(at);
    if width <= room {
        return Ok(at + width);
    }
    let fault = Fault::Short { missing: width - room };
    Err(SegmentError::bytes(label, base, DecodeError::new(bytes.len(), fault)))
}

/// Refuses what is left after the last segment.
pub fn finish(bytes: &[u8], at: usize, base: usize, label: &'static str) -> Result<(), SegmentError> {
    if at == bytes.len() {
        return Ok(());
    }
    let fault = Fault::Trailing { extra: bytes.len().saturating_sub(at) };
    Err(SegmentError::bytes(label, base, DecodeError::new(at, fault)))
}

/// Refuses a number that was read, but lies outside of the argument's range.
#[inline]
pub fn in_range<T: PartialOrd + Copy>(
    read: Result<T, DecodeError>,
    min: T,
    max: T,
) -> Result<T, DecodeError> {
    match read {
        Ok(value) if min <= value && value <= max => Ok(value),
        Ok(_) => Err(DecodeError::new(0, Fault::OutOfRange)),
        Err(error) => Err(error),
    }
}

/// Refuses a number to write that lies outside of the argument's range.
#[inline]
pub fn inside<T: PartialOrd + Copy>(value: T, min: T, max: T) -> Result<T, EncodeError> {
    if min <= value && value <= max { Ok(value) } else { Err(EncodeError::OutOfRange) }
}

/// Refuses bytes to write whose length is not one of `lengths`.
#[inline]
pub fn admitted<'b>(lengths: &Lengths<'_>, bytes: &'b [u8]) -> Result<&'b [u8], EncodeError> {
    if lengths.admits(bytes.len()) { Ok(bytes) } else { Err(EncodeError::Length { found: bytes.len() }) }
}

/// Bytes that are not in a key as they are.
pub trait View {
    /// How many there are.
    fn count(&self) -> usize;

    /// Copies them to `room`, which has just their length.
    fn copy(&self, room: &mut [u8]) -> Option<()>;
}

macro_rules! views {
    ($($(#[$meta:meta])* $view:ident)*) => {$(
        $(#[$meta])*
        impl View for $view<'_> {
            #[inline]
            fn count(&self) -> usize {
                self.len()
            }

            #[inline]
            fn copy(&self, room: &mut [u8]) -> Option<()> {
                self.copy_to(room).map(|_| ())
            }
        }
    )*};
}

views! {
    HexView
    NibbleView
    Unescaped
    #[cfg(feature = "bech32")]
    Bech32View
    #[cfg(feature = "hash")]
    Base58View
    WideView
}

#[cold]
fn too_long(found: usize) -> DecodeError {
    DecodeError::new(0, Fault::Length { found })
}

/// The bytes of a view as an array.
#[inline]
pub fn array<const N: usize, V: View>(view: Result<V, DecodeError>) -> Result<[u8; N], DecodeError> {
    let view = view?;
    let mut array = [0; N];
    if view.count() != N || view.copy(&mut array).is_none() {
        return Err(too_long(view.count()));
    }
    Ok(array)
}

/// The bytes of a view, held in place, if `lengths` admits them.
#[inline]
pub fn short_bytes<const N: usize, V: View>(
    view: Result<V, DecodeError>,
    lengths: &Lengths<'_>,
) -> Result<ShortBytes<N>, DecodeError> {
    let view = view?;
    let len = view.count();
    let short = ShortBytes::filled(len, |room| view.copy(room)).filter(|_| lengths.admits(len));
    short.ok_or_else(|| too_long(len).behind(len.min(N)))
}

/// Bytes as a text held in place, if `text` admits it.
#[inline]
pub fn short_text<const N: usize>(bytes: &[u8], text: &Text<'_>) -> Result<ShortText<N>, DecodeError> {
    let content = text.decode(bytes)?;
    ShortText::copied(content).ok_or_else(|| too_long(content.len()))
}

/// Bytes with every one complemented, held in place.
#[inline]
pub fn uncomplement<const N: usize>(bytes: &[u8]) -> Result<ShortBytes<N>, DecodeError> {
    let flipped = ShortBytes::filled(bytes.len(), |room| {
        for (slot, byte) in room.iter_mut().zip(bytes) {
            *slot = !byte;
        }
        Some(())
    });
    flipped.ok_or_else(|| too_long(bytes.len()).behind(N))
}

/// Where something ends whose bytes are complemented and which takes at most `N` of them: more than these are not looked at.
pub fn uncomplemented_extent<const N: usize>(
    bytes: &[u8],
    extent: impl FnOnce(&[u8]) -> Result<usize, DecodeError>,
) -> Result<usize, DecodeError> {
    let front = bytes.get(..N).unwrap_or(bytes);
    extent(uncomplement::<N>(front)?.as_slice()).map_err(|error| match error.fault {
        // It goes on, and is longer than any argument of its domain.
        Fault::Short { missing } if front.len() < bytes.len() => too_long(N.saturating_add(missing)),
        _ => error,
    })
}

/// Whether two arguments are written as the same bytes, of which there are at most `N`.
pub fn same_bytes<const N: usize>(
    one: impl FnOnce(&mut ShortBytes<N>) -> Result<(), SegmentError>,
    other: impl FnOnce(&mut ShortBytes<N>) -> Result<(), SegmentError>,
) -> bool {
    let (mut first, mut second) = (ShortBytes::new(), ShortBytes::new());
    one(&mut first).is_ok() && other(&mut second).is_ok() && first == second
}

/// Bytes as an array.
#[inline]
pub fn exact<const N: usize>(bytes: &[u8]) -> Result<[u8; N], DecodeError> {
    bytes.try_into().map_err(|_| too_long(bytes.len()))
}

/// A copy of bytes, held in place.
#[inline]
pub fn kept<const N: usize>(bytes: &[u8]) -> Result<ShortBytes<N>, DecodeError> {
    ShortBytes::copied(bytes).ok_or_else(|| too_long(bytes.len()))
}

/// Escaped text, held in place, if `text` admits it.
pub fn unescaped_text<const N: usize>(
    view: Result<Unescaped<'_>, DecodeError>,
    text: &Text<'_>,
) -> Result<ShortText<N>, DecodeError> {
    let content: ShortBytes<N> = short_bytes(view, &Lengths::ANY)?;
    short_text(&content, text)
}

/// A derived number in the type that it is written as.
pub fn narrowed<T: TryFrom<u128>>(number: u128) -> Result<T, EncodeError> {
    T::try_from(number).map_err(|_| EncodeError::OutOfRange)
}

/// The number that a 64-bit hash stands for.
#[cfg(feature = "hash")]
pub fn hashed_number(hash: keyplan_codec::Hash, bytes: &[u8]) -> u128 {
    let digest = hash.digest(bytes);
    let read = match hash {
        keyplan_codec::Hash::Twox64 => keyplan_codec::Le::<u64>::new().decode(&digest),
        _ => keyplan_codec::Be::<u64>::new().decode(&digest),
    };
    read.unwrap_or_default().into()
}

/// The first `N` bytes of a hash.
#[cfg(feature = "hash")]
pub fn digest<const N: usize>(hash: keyplan_codec::Hash, bytes: &[u8]) -> [u8; N] {
    let mut kept = [0; N];
    for (slot, byte) in kept.iter_mut().zip(hash.digest(bytes).iter()) {
        *slot = *byte;
    }
    kept
}

/// The error of an input of `found` bytes where `needed` belong.
#[cold]
pub const fn too_short(found: usize, needed: usize) -> DecodeError {
    DecodeError::new(found, Fault::Short { missing: needed.saturating_sub(found) })
}

/// Refuses text to write that `text` does not admit.
pub fn admitted_text(text: &Text<'_>, value: &str) -> Result<(), EncodeError> {
    text.encode(value, &mut Nowhere)
}

/// A sink that keeps nothing.
struct Nowhere;

impl Sink for Nowhere {
    fn put(&mut self, _: &[u8]) -> Result<(), EncodeError> {
        Ok(())
    }

    fn len(&self) -> usize {
        0
    }

    fn tail_mut(&mut self, _: usize) -> &mut [u8] {
        &mut []
    }

    fn truncate(&mut self, _: usize) {}
}
