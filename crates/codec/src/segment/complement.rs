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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Be, Bool, Buffer, Expected, Fault, Le, SignFlip, Tick9, TimeText9};

    crate::laws! {
        desc_u8: Desc(Be::<u8>::new()), [0, 1, u8::MAX], descending, delimited;
        desc_u64: Desc(Be::<u64>::new()), [0, 1, 256, u64::MAX], descending, delimited;
        desc_i32: Desc(SignFlip::<i32>::new()), [i32::MIN, -1, 0, i32::MAX], descending, delimited;
        desc_le: Desc(Le::<u16>::new()), [0, 1, 256], delimited;
        desc_tick: Desc(Tick9), [i64::MIN, -1, 0, i64::MAX], descending, delimited;
        desc_bool: Desc(Bool), [false, true], descending, delimited;
        desc_time: Desc(TimeText9), [-1, 0, 1], descending, delimited;
        twice: Desc(Desc(Be::<u32>::new())), [0, 1, u32::MAX], ordered, delimited;
    }

    #[test]
    fn every_byte_is_complemented() {
        let mut room = [0; 3];
        let mut out = Buffer::new(&mut room);
        out.put(&[9]).unwrap();
        Desc(Be::new()).encode(0x01fe_u16, &mut out).unwrap();
        assert_eq!(out.written(), [9, 0xfe, 0x01]);
    }

    #[test]
    fn faults_stand_at_the_offset_of_the_key() {
        let fault = Fault::Byte { found: 2, expected: Expected::Bool };
        assert_eq!(Desc(Bool).decode(&[0xfd]), Err(DecodeError::new(0, fault)));
        let short = DecodeError::new(1, Fault::Short { missing: 1 });
        assert_eq!(Desc(Be::<u16>::new()).decode(&[0xfd]), Err(short));
    }
}
