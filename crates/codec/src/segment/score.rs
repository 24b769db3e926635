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

/// Floats from here on are times, and heights below.
const FIRST_TIME: f64 = 500_000_000.0;

/// The first height at which places in a block share a float.
const FIRST_SHARED: u32 = 1 << 23;

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

    /// Returns the place that a float was made of; `None` if the float does not tell it.
    ///
    /// Below 500,000,000 a float is a height and the place in the block, and from there on a time, as Bitcoin tells heights
    /// from times. From height 2²³ on several places share a float, and none is told. A time is read to the nanosecond that
    /// is nearest to the float, of which it is one of about 256.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "floats that were compared with the bounds of the integers"
    )]
    pub fn place(float: f64) -> Option<Score> {
        let place = if !(1.0..9e9).contains(&float) {
            return None;
        } else if float < FIRST_TIME {
            let height = float as u32;
            if height >= FIRST_SHARED {
                return None;
            }
            // A float of such a height is exact to less than half a place, so that adding a half and cutting rounds.
            let index = ((float - f64::from(height)) * 1e9 + 0.5) as u64;
            Score::Confirmed { height, index }
        } else {
            let seconds = float as u64;
            let whole = seconds as u32;
            let nanos = ((float - f64::from(whole)) * 1e9 + 0.5) as u32;
            if u64::from(whole) != seconds {
                return None;
            }
            match nanos.checked_sub(NANOS_PER_SECOND) {
                Some(nanos) => Score::Unconfirmed { seconds: seconds + 1, nanos },
                None => Score::Unconfirmed { seconds, nanos },
            }
        };
        let told = match place {
            Score::Confirmed { index, .. } => index < u64::from(NANOS_PER_SECOND),
            Score::Unconfirmed { .. } => true,
        };
        (told && Self::float(place) == Ok(float)).then_some(place)
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

/// Heights of blocks: a domain of scores that are in a block of such a height, at an index below 10⁹.
///
/// Up to a height of [`Heights::TOLD`] every such place has a float of its own, and floats sort as the places do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Heights {
    /// The least height.
    pub least: u32,
    /// The greatest height.
    pub most: u32,
}

impl Heights {
    /// The greatest height of which a float tells every place.
    pub const TOLD: u32 = FIRST_SHARED - 1;

    /// Returns whether a score is of the domain.
    pub const fn admits(self, score: Score) -> bool {
        match score {
            Score::Confirmed { height, index } => {
                self.least <= height && height <= self.most && index < NANOS_PER_SECOND as u64
            }
            Score::Unconfirmed { .. } => false,
        }
    }

    /// Returns whether no two places share a float.
    pub const fn are_told(self) -> bool {
        self.most <= Self::TOLD
    }

    /// Returns whether every score of the domain is one of the other, too.
    pub const fn are_within(self, other: Self) -> bool {
        other.least <= self.least && self.most <= other.most
    }

    /// Returns the least and the greatest float of the domain.
    pub fn floats(self) -> (f64, f64) {
        (f64::from(self.least), f64::from(self.most) + f64::from(NANOS_PER_SECOND - 1) / 1e9)
    }

    fn admits_float(self, float: f64) -> bool {
        let (least, most) = self.floats();
        (least..=most).contains(&float)
    }
}

/// [`ScoreExact`] of places at some heights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScoreWithin {
    /// The heights.
    pub heights: Heights,
}

impl Segment for ScoreWithin {
    type Arg<'a> = Score;
    type View<'a> = Score;

    #[inline]
    fn encode<S: Sink + ?Sized>(&self, arg: Score, out: &mut S) -> Result<(), EncodeError> {
        if !self.heights.admits(arg) {
            return Err(EncodeError::OutOfRange);
        }
        ScoreExact.encode(arg, out)
    }

    #[inline]
    fn decode(&self, bytes: &[u8]) -> Result<Score, DecodeError> {
        let score = ScoreExact.decode(bytes)?;
        if self.heights.admits(score) { Ok(score) } else { Err(DecodeError::new(0, Fault::OutOfRange)) }
    }
}

impl Delimited for ScoreWithin {
    #[inline]
    fn extent(&self, input: &[u8]) -> Result<usize, DecodeError> {
        ScoreExact.extent(input)
    }
}

/// [`HeightScore`] of places at some heights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeightScoreWithin {
    /// The heights.
    pub heights: Heights,
}

impl HeightScoreWithin {
    /// Appends a float score that is known already: any from the least to the greatest of the domain.
    #[inline]
    pub fn encode_float<S: Sink + ?Sized>(&self, float: f64, out: &mut S) -> Result<(), EncodeError> {
        if !float.is_nan() && !self.heights.admits_float(float) {
            return Err(EncodeError::OutOfRange);
        }
        HeightScore.encode_float(float, out)
    }
}

impl Segment for HeightScoreWithin {
    type Arg<'a> = Score;
    type View<'a> = f64;

    #[inline]
    fn encode<S: Sink + ?Sized>(&self, arg: Score, out: &mut S) -> Result<(), EncodeError> {
        if !self.heights.admits(arg) {
            return Err(EncodeError::OutOfRange);
        }
        HeightScore.encode(arg, out)
    }

    #[inline]
    fn decode(&self, bytes: &[u8]) -> Result<f64, DecodeError> {
        let float = HeightScore.decode(bytes)?;
        if self.heights.admits_float(float) { Ok(float) } else { Err(DecodeError::new(0, Fault::OutOfRange)) }
    }
}

impl Delimited for HeightScoreWithin {
    #[inline]
    fn extent(&self, input: &[u8]) -> Result<usize, DecodeError> {
        HeightScore.extent(input)
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    crate::laws! {
        exact: ScoreExact, [
            Score::Confirmed { height: 0, index: 0 },
            Score::Confirmed { height: 0, index: u64::MAX },
            Score::Confirmed { height: 1, index: 0 },
            Score::Confirmed { height: u32::MAX, index: u64::MAX },
            Score::Unconfirmed { seconds: 0, nanos: 0 },
            Score::Unconfirmed { seconds: 0, nanos: 999_999_999 },
            Score::Unconfirmed { seconds: 1, nanos: 0 },
            Score::Unconfirmed { seconds: u64::MAX, nanos: 0 },
        ], ordered, delimited;
        within: ScoreWithin { heights: Heights { least: 3, most: 850_000 } }, [
            Score::Confirmed { height: 3, index: 0 },
            Score::Confirmed { height: 3, index: 999_999_999 },
            Score::Confirmed { height: 4, index: 0 },
            Score::Confirmed { height: 850_000, index: 999_999_999 },
        ], ordered, delimited;
    }

    #[test]
    fn a_score_is_exact_in_13_bytes() {
        let mut out = Vec::new();
        ScoreExact.encode(Score::Confirmed { height: 850_000, index: 123 }, &mut out).unwrap();
        assert_eq!(out, [0, 0, 0x0c, 0xf8, 0x50, 0, 0, 0, 0, 0, 0, 0, 123]);
        out.clear();
        ScoreExact.encode(Score::Unconfirmed { seconds: 258, nanos: 1 }, &mut out).unwrap();
        assert_eq!(out, [1, 0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 0, 1]);
    }

    #[test]
    fn a_float_tells_its_place_or_nothing() {
        for (height, index) in
            [(1, 0), (1, 1), (850_000, 3), (850_000, 999_999_999), (8_388_607, 123_456_789)]
        {
            let place = Score::Confirmed { height, index };
            assert_eq!(HeightScore::place(HeightScore::float(place).unwrap()), Some(place));
        }
        for seconds in [500_000_000, 1_703_097_600] {
            let half = Score::Unconfirmed { seconds, nanos: 500_000_000 };
            assert_eq!(HeightScore::place(HeightScore::float(half).unwrap()), Some(half));
        }
        // The place that a float tells is one of those that have it.
        for seconds in [500_000_000, 1_703_097_600, 4_294_967_295] {
            for nanos in (0..1_000_000_000).step_by(7_654_321) {
                let float = HeightScore::float(Score::Unconfirmed { seconds, nanos }).unwrap();
                let place = HeightScore::place(float).unwrap();
                assert_eq!(HeightScore::float(place), Ok(float));
            }
        }
        for float in [0.0, -1.0, 0.5, 8_388_608.0, 9e9, f64::NAN, f64::INFINITY, 1e300] {
            assert_eq!(HeightScore::place(float), None, "{float}");
        }
    }

    #[test]
    fn a_second_has_a_thousand_million_nanoseconds() {
        let over = Score::Unconfirmed { seconds: 1, nanos: 1_000_000_000 };
        assert_eq!(ScoreExact.encode(over, &mut Vec::new()), Err(EncodeError::OutOfRange));
        assert_eq!(HeightScore.encode(over, &mut Vec::new()), Err(EncodeError::OutOfRange));
        let over = [1, 0, 0, 0, 0, 0, 0, 0, 1, 0x3b, 0x9a, 0xca, 0x00];
        assert_eq!(ScoreExact.decode(&over), Err(DecodeError::new(9, Fault::OutOfRange)));
        let tag = Fault::Byte { found: 2, expected: Expected::ScoreTag };
        assert_eq!(ScoreExact.decode(&[2; 13]), Err(DecodeError::new(0, tag)));
    }

    /// From the vectors of 1Sat's own code: height, index, float.
    const CONFIRMED_SCORES: [(u32, u64, u64); 17] = [
        (1, 0, 0x3ff0_0000_0000_0000),
        (1, 1, 0x3ff0_0000_0044_b830),
        (800_000, 1234, 0x4128_6a00_0000_2968),
        (850_000, 123, 0x4129_f0a0_0000_0421),
        (850_000, 122, 0x4129_f0a0_0000_0418),
        (1_048_575, 1, 0x412f_fffe_0000_0009),
        (1_048_576, 1, 0x4130_0000_0000_0004),
        (8_388_607, 1, 0x415f_ffff_c000_0001),
        (8_388_608, 0, 0x4160_0000_0000_0000),
        (8_388_608, 1, 0x4160_0000_0000_0001),
        (8_388_608, 2, 0x4160_0000_0000_0001),
        (16_777_216, 1, 0x4170_0000_0000_0000),
        (u32::MAX, 0, 0x41ef_ffff_ffe0_0000),
        (u32::MAX, 1, 0x41ef_ffff_ffe0_0000),
        (u32::MAX, 476, 0x41ef_ffff_ffe0_0001),
        (u32::MAX, 477, 0x41ef_ffff_ffe0_0001),
        (850_000, u64::MAX, 0x4211_2e3f_c966_d695),
    ];

    /// From the vectors of 1Sat's own code: nanoseconds since 1970, float.
    const UNCONFIRMED_SCORES: [(u64, u64); 9] = [
        (0, 0x0000_0000_0000_0000),
        (1, 0x3e11_2e0b_e826_d695),
        (1_703_097_600_000_000_000, 0x41d9_60cd_4000_0000),
        (1_703_097_600_123_456_789, 0x41d9_60cd_4007_e6b7),
        (1_703_097_600_123_456_788, 0x41d9_60cd_4007_e6b7),
        (1_703_097_600_123_456_790, 0x41d9_60cd_4007_e6b7),
        (1_703_097_600_123_456_895, 0x41d9_60cd_4007_e6b7),
        (1_703_097_600_123_457_000, 0x41d9_60cd_4007_e6b8),
        (9_223_372_036_854_775_807, 0x4201_2e0b_e826_d695),
    ];

    fn check(score: Score, bits: u64) {
        let mut out = Vec::new();
        HeightScore.encode(score, &mut out).unwrap();
        assert_eq!(out, bits.to_be_bytes(), "{score:?}");
        assert_eq!(HeightScore.decode(&out).map(f64::to_bits), Ok(bits));
        let mut again = Vec::new();
        HeightScore.encode_float(f64::from_bits(bits), &mut again).unwrap();
        assert_eq!(again, out);
    }

    #[test]
    fn height_scores_are_those_of_the_real_code() {
        for (height, index, bits) in CONFIRMED_SCORES {
            check(Score::Confirmed { height, index }, bits);
        }
        for (nanos, bits) in UNCONFIRMED_SCORES {
            let (seconds, nanos) = (nanos / 1_000_000_000, nanos % 1_000_000_000);
            check(Score::Unconfirmed { seconds, nanos: nanos.try_into().unwrap() }, bits);
        }
    }

    #[test]
    fn height_zero_and_times_beyond_i64_have_no_height_score() {
        let refused = Err(EncodeError::OutOfRange);
        assert_eq!(HeightScore::float(Score::Confirmed { height: 0, index: 1 }), refused);
        assert_eq!(
            HeightScore::float(Score::Unconfirmed { seconds: 9_223_372_036, nanos: 854_775_808 }),
            refused
        );
        assert_eq!(HeightScore::float(Score::Unconfirmed { seconds: u64::MAX, nanos: 0 }), refused);
    }

    #[test]
    fn a_height_score_is_a_finite_number_from_zero_up() {
        let decode = |float: f64| HeightScore.decode(&float.to_be_bytes());
        assert_eq!(decode(0.0), Ok(0.0));
        assert_eq!(decode(-0.0), Err(DecodeError::new(0, Fault::Float)));
        assert_eq!(decode(f64::NAN), Err(DecodeError::new(0, Fault::Float)));
        assert_eq!(decode(-1.0), Err(DecodeError::new(0, Fault::OutOfRange)));
        assert_eq!(decode(f64::INFINITY), Err(DecodeError::new(0, Fault::OutOfRange)));
        let encode = |float| HeightScore.encode_float(float, &mut Vec::new());
        assert_eq!(encode(f64::NAN), Err(EncodeError::Nan));
        assert_eq!(encode(-1.0), Err(EncodeError::OutOfRange));
        assert_eq!(encode(f64::INFINITY), Err(EncodeError::OutOfRange));
        let mut out = Vec::new();
        HeightScore.encode_float(-0.0, &mut out).unwrap();
        assert_eq!(out, [0; 8]);
    }

    #[test]
    fn places_up_to_the_last_told_height_have_floats_in_their_order() {
        let heights = Heights { least: 1, most: Heights::TOLD };
        let codec = HeightScoreWithin { heights };
        let mut last = Vec::new();
        for height in [1, 2, 3, 255, 256, 850_000, 4_194_303, 4_194_304, 8_388_606, 8_388_607] {
            for index in [0, 1, 2, 499_999_999, 500_000_000, 999_999_998, 999_999_999] {
                let place = Score::Confirmed { height, index };
                let mut out = Vec::new();
                codec.encode(place, &mut out).unwrap();
                assert!(last < out, "{place:?}");
                assert_eq!(codec.decode(&out).map(HeightScore::place), Ok(Some(place)));
                last = out;
            }
        }
        assert!(heights.are_told());
        // The next height is the first at which two share one.
        let beyond = HeightScoreWithin { heights: Heights { least: 1, most: 1 << 23 } };
        let [mut a, mut b] = [Vec::new(), Vec::new()];
        beyond.encode(Score::Confirmed { height: 1 << 23, index: 1 }, &mut a).unwrap();
        beyond.encode(Score::Confirmed { height: 1 << 23, index: 2 }, &mut b).unwrap();
        assert_eq!(a, b);
        assert!(!beyond.heights.are_told());
    }

    #[test]
    fn what_is_not_at_one_of_the_heights_is_refused_both_ways() {
        let heights = Heights { least: 5, most: 7 };
        let (exact, float) = (ScoreWithin { heights }, HeightScoreWithin { heights });
        let outside = [
            Score::Confirmed { height: 4, index: 999_999_999 },
            Score::Confirmed { height: 8, index: 0 },
            Score::Confirmed { height: 5, index: 1_000_000_000 },
            Score::Unconfirmed { seconds: 6, nanos: 0 },
        ];
        for place in outside {
            let mut out = Vec::new();
            assert_eq!(exact.encode(place, &mut out), Err(EncodeError::OutOfRange));
            assert_eq!(float.encode(place, &mut out), Err(EncodeError::OutOfRange));
            ScoreExact.encode(place, &mut out).unwrap();
            assert_eq!(exact.decode(&out), Err(DecodeError::new(0, Fault::OutOfRange)));
        }
        for (number, fits) in [(4.999, false), (5.0, true), (7.999_999_999, true), (8.0, false)] {
            let mut out = Vec::new();
            assert_eq!(float.encode_float(number, &mut out).is_ok(), fits, "{number}");
            out.clear();
            HeightScore.encode_float(number, &mut out).unwrap();
            assert_eq!(float.decode(&out).is_ok(), fits, "{number}");
        }
        assert_eq!(float.encode_float(f64::NAN, &mut Vec::new()), Err(EncodeError::Nan));
        assert_eq!(float.extent(&[0; 9]), Ok(8));
        assert_eq!(exact.extent(&[0; 14]), Ok(13));
    }
}
