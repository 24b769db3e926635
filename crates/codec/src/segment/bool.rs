use super::{exactly, fixed_extent};
use crate::{DecodeError, Delimited, EncodeError, Expected, Fault, FixedWidth, Segment, Sink};

/// A truth value: `00` or `01`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bool;

impl Segment for Bool {
    type Arg<'a> = bool;
    type View<'a> = bool;

    #[inline]
    fn encode<S: Sink + ?Sized>(&self, arg: bool, out: &mut S) -> Result<(), EncodeError> {
        out.put(&[arg.into()])
    }

    #[inline]
    fn decode(&self, bytes: &[u8]) -> Result<bool, DecodeError> {
        match *exactly::<1>(bytes)? {
            [0] => Ok(false),
            [1] => Ok(true),
            [found] => Err(DecodeError::new(0, Fault::Byte { found, expected: Expected::Bool })),
        }
    }
}

impl Delimited for Bool {
    #[inline]
    fn extent(&self, input: &[u8]) -> Result<usize, DecodeError> {
        fixed_extent(input, Self::WIDTH)
    }
}

impl FixedWidth for Bool {
    type Value = bool;
    const WIDTH: usize = 1;
}

#[cfg(test)]
mod tests {
    use super::*;

    crate::laws! {
        bool: Bool, [false, true], ordered, delimited;
    }

    #[test]
    fn nothing_but_00_and_01_is_a_truth_value() {
        let fault = Fault::Byte { found: 2, expected: Expected::Bool };
        assert_eq!(Bool.decode(&[2]), Err(DecodeError::new(0, fault)));
        assert_eq!(Bool.decode(&[]), Err(DecodeError::new(0, Fault::Short { missing: 1 })));
        assert_eq!(Bool.decode(&[1, 1]), Err(DecodeError::new(1, Fault::Trailing { extra: 1 })));
    }
}
