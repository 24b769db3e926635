use super::wrong_width;
use crate::{DecodeError, Delimited, EncodeError, FixedWidth, Segment, Sink};

/// Complements every byte, which reverses the order among bytes of one length.
#[inline]
pub fn complement(bytes: &mut [u8]) {
    for byte in bytes {
        *byte = !*byte;
    }
}

/// A segment of at most 64 bytes with every byte complemented: its order is reversed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Desc<S>(pub S);

/// The widest segment that [`Desc`] takes.
const ROOM: usize = 64;

impl<T: FixedWidth> Segment for Desc<T> {
    type Arg<'a> = T::Arg<'a>;
    type View<'a> = T::Value;

    #[inline]
    fn encode<S: Sink + ?Sized>(&self, arg: T::Arg<'_>, out: &mut S) -> Result<(), EncodeError> {
        let start = out.len();
        self.0.encode(arg, out)?;
        complement(out.tail_mut(start));
        Ok(())
    }

    #[inline]
    fn decode(&self, bytes: &[u8]) -> Result<T::Value, DecodeError> {
        const { assert!(T::WIDTH <= ROOM, "the segment is too wide for `Desc`") };
        let mut room = [0; ROOM];
        let Some(room) = room.get_mut(..T::WIDTH) else { return Err(wrong_width(bytes.len(), ROOM)) };
        if bytes.len() != T::WIDTH {
            return Err(wrong_width(bytes.len(), T::WIDTH));
        }
        for (slot, byte) in room.iter_mut().zip(bytes) {
            *slot = !byte;
        }
        self.0.decode(room)
    }
}

impl<T: FixedWidth> Delimited for Desc<T> {
    #[inline]
    fn extent(&self, input: &[u8]) -> Result<usize, DecodeError> {
        super::fixed_extent(input, T::WIDTH)
    }
}

impl<T: FixedWidth> FixedWidth for Desc<T> {
    type Value = T::Value;
    const WIDTH: usize = T::WIDTH;
}
