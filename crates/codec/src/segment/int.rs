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
