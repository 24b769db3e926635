use super::{exactly, fixed_extent};
use crate::{DecodeError, Delimited, EncodeError, Expected, Fault, FixedWidth, Segment, Sink};

/// A place in chain order: what is in a block comes before what is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Score {
    /// In a block.
    Confirmed {
        /// The block's height.
        height: u32,
        /// The place in the block.
        index: u64,
    },
    /// Not in a block yet: when it was seen.
    Unconfirmed {
        /// Whole seconds since 1970.
        seconds: u64,
        /// The rest in nanoseconds, below 10⁹.
        nanos: u32,
    },
}

const NANOS_PER_SECOND: u32 = 1_000_000_000;

/// A [`Score`] in 13 bytes whose byte order is chain order: `00 | height (4) | index (8)` or
/// `01 | seconds (8) | nanoseconds (4)`, big-endian.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScoreExact;

const CONFIRMED: u8 = 0;
const UNCONFIRMED: u8 = 1;

impl Segment for ScoreExact {
    type Arg<'a> = Score;
    type View<'a> = Score;

    #[inline]
    fn encode<S: Sink + ?Sized>(&self, arg: Score, out: &mut S) -> Result<(), EncodeError> {
        let mut bytes = [0; 13];
        let [tag, rest @ ..] = &mut bytes;
        match arg {
            Score::Confirmed { height, index } => {
                *tag = CONFIRMED;
                let [a, b, c, d, index_bytes @ ..] = rest;
                [*a, *b, *c, *d] = height.to_be_bytes();
                *index_bytes = index.to_be_bytes();
            }
            Score::Unconfirmed { nanos: NANOS_PER_SECOND.., .. } => return Err(EncodeError::OutOfRange),
            Score::Unconfirmed { seconds, nanos } => {
                *tag = UNCONFIRMED;
                let [second_bytes @ .., a, b, c, d] = rest;
                *second_bytes = seconds.to_be_bytes();
                [*a, *b, *c, *d] = nanos.to_be_bytes();
            }
        }
        out.put(&bytes)
    }

    #[inline]
    fn decode(&self, bytes: &[u8]) -> Result<Score, DecodeError> {
        let [tag, rest @ ..] = exactly::<13>(bytes)?;
        match *tag {
            CONFIRMED => {
                let &[a, b, c, d, ref index @ ..] = rest;
                let height = u32::from_be_bytes([a, b, c, d]);
                Ok(Score::Confirmed { height, index: u64::from_be_bytes(*index) })
            }
            UNCONFIRMED => {
                let &[ref seconds @ .., a, b, c, d] = rest;
                let nanos = u32::from_be_bytes([a, b, c, d]);
                if nanos >= NANOS_PER_SECOND {
                    return Err(DecodeError::new(9, Fault::OutOfRange));
                }
                Ok(Score::Unconfirmed { seconds: u64::from_be_bytes(*seconds), nanos })
            }
            found => Err(DecodeError::new(0, Fault::Byte { found, expected: Expected::ScoreTag })),
        }
    }
}

impl Delimited for ScoreExact {
    #[inline]
    fn extent(&self, input: &[u8]) -> Result<usize, DecodeError> {
        fixed_extent(input, Self::WIDTH)
    }
}

impl FixedWidth for ScoreExact {
    type Value = Score;
    const WIDTH: usize = 13;
}

/// A [`Score`] as 1Sat's float, in its IEEE-754 bits, big-endian: height + index ÷ 10⁹, or the seconds since
/// 1970.
///
/// This loses information: from height 2²³ on, neighbouring indices share a float; an index of 10⁹ or more
/// runs into the next height; an unconfirmed score is rounded twice, as 1Sat does it. Height 0 stands for
/// "unconfirmed" there and is refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeightScore;

impl HeightScore {
    /// Returns the float of `score`.
    pub fn float(score: Score) -> Result<f64, EncodeError> {
        match score {
            Score::Confirmed { height: 0, .. } | Score::Unconfirmed { nanos: NANOS_PER_SECOND.., .. } => {
                Err(EncodeError::OutOfRange)
            }
            #[expect(clippy::cast_precision_loss, reason = "1Sat rounds the index so")]
            Score::Confirmed { height, index } => Ok(f64::from(height) + index as f64 / 1e9),
            Score::Unconfirmed { seconds, nanos } => {
                let nanos = i64::try_from(seconds)
                    .ok()
                    .and_then(|seconds| seconds.checked_mul(NANOS_PER_SECOND.into()))
                    .and_then(|whole| whole.checked_add(nanos.into()))
                    .ok_or(EncodeError::OutOfRange)?;
                #[expect(
                    clippy::cast_precision_loss,
                    reason = "the first of the two roundings that 1Sat does"
                )]
                let nanos = nanos as f64;
                Ok(nanos / 1e9)
            }
        }
    }

    /// Appends a float score that is known already: any finite number from 0 up.
    #[inline]
    pub fn encode_float<S: Sink + ?Sized>(&self, float: f64, out: &mut S) -> Result<(), EncodeError> {
        if float.is_nan() {
            return Err(EncodeError::Nan);
        }
        if float < 0.0 || float.is_infinite() {
            return Err(EncodeError::OutOfRange);
        }
        let bits = if float == 0.0 { 0 } else { float.to_bits() };
        out.put(&bits.to_be_bytes())
    }
}

impl Segment for HeightScore {
    type Arg<'a> = Score;
    type View<'a> = f64;

    #[inline]
    fn encode<S: Sink + ?Sized>(&self, arg: Score, out: &mut S) -> Result<(), EncodeError> {
        self.encode_float(Self::float(arg)?, out)
    }

    #[inline]
    fn decode(&self, bytes: &[u8]) -> Result<f64, DecodeError> {
        let bits = u64::from_be_bytes(*exactly(bytes)?);
        let float = f64::from_bits(bits);
        if float.is_nan() || bits == 1 << 63 {
            return Err(DecodeError::new(0, Fault::Float));
        }
        if float < 0.0 || float.is_infinite() {
            return Err(DecodeError::new(0, Fault::OutOfRange));
        }
        Ok(float)
    }
}

impl Delimited for HeightScore {
    #[inline]
    fn extent(&self, input: &[u8]) -> Result<usize, DecodeError> {
        fixed_extent(input, Self::WIDTH)
    }
}

impl FixedWidth for HeightScore {
    type Value = f64;
    const WIDTH: usize = 8;
}
