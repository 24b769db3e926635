use super::{fixed_extent, wrong_width};
use crate::{DecodeError, Delimited, EncodeError, Fault, FixedWidth, Segment, Signed, Sink};

marker! {
    /// A signed integer, big-endian with its top bit flipped: byte order is numeric order.
    SignFlip
}

marker! {
    /// A signed integer as the unsigned one of its width, big-endian, with every negative number as 0.
    ///
    /// This loses which negative number it was; reading back gives 0.
    Saturating
}

impl<T: Signed> Segment for SignFlip<T> {
    type Arg<'a> = T;
    type View<'a> = T;

    #[inline]
    fn encode<S: Sink + ?Sized>(&self, arg: T, out: &mut S) -> Result<(), EncodeError> {
        out.put(arg.flip_sign_bit().be_array().as_ref())
    }

    #[inline]
    fn decode(&self, bytes: &[u8]) -> Result<T, DecodeError> {
        let Some(flipped) = T::from_be_slice(bytes) else {
            return Err(wrong_width(bytes.len(), T::BYTES));
        };
        Ok(flipped.flip_sign_bit())
    }
}

impl<T: Signed> Delimited for SignFlip<T> {
    #[inline]
    fn extent(&self, input: &[u8]) -> Result<usize, DecodeError> {
        fixed_extent(input, T::BYTES)
    }
}

impl<T: Signed> FixedWidth for SignFlip<T> {
    type Value = T;
    const WIDTH: usize = T::BYTES;
}

impl<T: Signed> Segment for Saturating<T> {
    type Arg<'a> = T;
    type View<'a> = T;

    #[inline]
    fn encode<S: Sink + ?Sized>(&self, arg: T, out: &mut S) -> Result<(), EncodeError> {
        let kept = if arg.is_below_zero() { T::default() } else { arg };
        out.put(kept.be_array().as_ref())
    }

    #[inline]
    fn decode(&self, bytes: &[u8]) -> Result<T, DecodeError> {
        match T::from_be_slice(bytes) {
            Some(value) if !value.is_below_zero() => Ok(value),
            // What is written is unsigned, so the top bit stands for a number beyond the signed type.
            Some(_) => Err(DecodeError::new(0, Fault::OutOfRange)),
            None => Err(wrong_width(bytes.len(), T::BYTES)),
        }
    }
}

impl<T: Signed> Delimited for Saturating<T> {
    #[inline]
    fn extent(&self, input: &[u8]) -> Result<usize, DecodeError> {
        fixed_extent(input, T::BYTES)
    }
}

impl<T: Signed> FixedWidth for Saturating<T> {
    type Value = T;
    const WIDTH: usize = T::BYTES;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Buffer;

    crate::laws! {
        flip_i8: SignFlip::<i8>::new(), [i8::MIN, -1, 0, 1, i8::MAX], ordered, delimited;
        flip_i16: SignFlip::<i16>::new(), [i16::MIN, -1, 0, 1, i16::MAX], ordered, delimited;
        flip_i32: SignFlip::<i32>::new(), [i32::MIN, -1, 0, 1, i32::MAX], ordered, delimited;
        flip_i64: SignFlip::<i64>::new(), [i64::MIN, -256, -1, 0, 1, 256, i64::MAX], ordered, delimited;
        flip_i128: SignFlip::<i128>::new(), [i128::MIN, -1, 0, 1, i128::MAX], ordered, delimited;
        saturating_i8: Saturating::<i8>::new(), [0, 1, i8::MAX], ordered, delimited;
        saturating_i64: Saturating::<i64>::new(), [0, 1, 256, i64::MAX], ordered, delimited;
    }

    #[test]
    fn the_top_bit_is_flipped() {
        let mut room = [0; 8];
        let mut out = Buffer::new(&mut room);
        SignFlip::new().encode(-1i32, &mut out).unwrap();
        SignFlip::new().encode(1i32, &mut out).unwrap();
        assert_eq!(out.written(), [0x7f, 0xff, 0xff, 0xff, 0x80, 0, 0, 1]);
    }

    #[test]
    fn negative_numbers_saturate_and_do_not_come_back() {
        let mut room = [0xee; 2];
        let mut out = Buffer::new(&mut room);
        Saturating::new().encode(-300i16, &mut out).unwrap();
        assert_eq!(Saturating::<i16>::new().decode(out.written()), Ok(0));
        let beyond = DecodeError::new(0, Fault::OutOfRange);
        assert_eq!(Saturating::<i16>::new().decode(&[0x80, 0]), Err(beyond));
    }
}
