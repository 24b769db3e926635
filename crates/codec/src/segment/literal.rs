use super::{short, wrong_width};
use crate::{DecodeError, Delimited, EncodeError, Fault, Segment, Sink};

/// Bytes that are always the same: a prefix, a separator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Literal<'t>(pub &'t [u8]);

impl Literal<'_> {
    /// The error at the first byte that is not the literal's, or at the end.
    #[cold]
    fn mismatch(&self, bytes: &[u8]) -> DecodeError {
        let differs = self.0.iter().zip(bytes).enumerate().find(|(_, (expected, found))| expected != found);
        match differs {
            Some((offset, (&expected, &found))) => {
                DecodeError::new(offset, Fault::Literal { expected, found })
            }
            None => wrong_width(bytes.len(), self.0.len()),
        }
    }
}

impl Segment for Literal<'_> {
    type Arg<'a> = ();
    type View<'a> = ();

    #[inline]
    fn encode<S: Sink + ?Sized>(&self, (): (), out: &mut S) -> Result<(), EncodeError> {
        out.put(self.0)
    }

    #[inline]
    fn decode(&self, bytes: &[u8]) -> Result<(), DecodeError> {
        if bytes == self.0 { Ok(()) } else { Err(self.mismatch(bytes)) }
    }
}

impl Delimited for Literal<'_> {
    #[inline]
    fn extent(&self, input: &[u8]) -> Result<usize, DecodeError> {
        if input.len() >= self.0.len() {
            return Ok(self.0.len());
        }
        let error = self.mismatch(input);
        // A literal that differs says more than one that is merely cut off.
        Err(if error.offset < input.len() { error } else { short(input.len(), self.0.len()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    crate::laws! {
        empty: Literal(b""), [()], delimited;
        accum: Literal(b"accum/\x00\xff"), [()], delimited;
    }

    const ACCUM: Literal<'_> = Literal(b"accum");

    #[test]
    fn the_first_differing_byte_is_named() {
        assert_eq!(ACCUM.decode(b"accum"), Ok(()));
        let differs = DecodeError::new(2, Fault::Literal { expected: b'c', found: b'x' });
        assert_eq!(ACCUM.decode(b"acxum"), Err(differs));
        assert_eq!(ACCUM.decode(b"acx"), Err(differs));
        assert_eq!(ACCUM.extent(b"acx"), Err(differs));
    }

    #[test]
    fn a_cut_or_longer_literal_is_refused() {
        assert_eq!(ACCUM.decode(b"acc"), Err(DecodeError::new(3, Fault::Short { missing: 2 })));
        assert_eq!(ACCUM.extent(b"acc"), Err(DecodeError::new(3, Fault::Short { missing: 2 })));
        assert_eq!(ACCUM.decode(b"accum/"), Err(DecodeError::new(5, Fault::Trailing { extra: 1 })));
    }
}
