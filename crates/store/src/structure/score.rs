use std::cmp::Ordering;
use std::fmt;
use std::ops::Bound;

use keyplan_codec::{HeightScore, Score};

use super::StructureError;

/// What a member of a sorted set or a queue is ranked by. All members of one set have scores of one kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SetScore {
    /// A number, ±∞ included. NaN is refused, and −0.0 is 0.0.
    Number(f64),
    /// A place in chain order, exact at every height and time.
    Place(Score),
}

/// Which kind of score a sorted set has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScoreKind {
    /// [`SetScore::Number`].
    Number,
    /// [`SetScore::Place`].
    Place,
}

impl SetScore {
    /// The exact place of a transaction in a block.
    pub const fn confirmed(height: u32, index: u64) -> Self {
        Self::Place(Score::Confirmed { height, index })
    }

    /// The exact place of a transaction that was seen at a time, and is in no block.
    pub const fn unconfirmed(seconds: u64, nanos: u32) -> Self {
        Self::Place(Score::Unconfirmed { seconds, nanos })
    }

    /// The float that 1Sat gives a place, for stores that its own program reads too. It loses information: see
    /// [`HeightScore`].
    pub fn height_score(place: Score) -> Result<Self, StructureError> {
        HeightScore::float(place).map(Self::Number).map_err(|source| StructureError::Score { source })
    }

    /// Its kind.
    pub const fn kind(self) -> ScoreKind {
        match self {
            Self::Number(_) => ScoreKind::Number,
            Self::Place(_) => ScoreKind::Place,
        }
    }

    /// The same score with one zero only; NaN, and a place that does not exist, are refused.
    pub fn checked(self) -> Result<Self, StructureError> {
        match self {
            Self::Number(number) if number.is_nan() => Err(StructureError::NotANumber),
            // Adding zero turns −0.0 into 0.0, and leaves every other number as it is.
            Self::Number(number) => Ok(Self::Number(number + 0.0)),
            Self::Place(Score::Unconfirmed { nanos: 1_000_000_000.., .. }) => {
                Err(StructureError::Score { source: keyplan_codec::EncodeError::OutOfRange })
            }
            Self::Place(_) => Ok(self),
        }
    }

    /// Where it is against another: by value among scores of one kind, and numbers before places.
    #[must_use]
    pub fn order(self, other: Self) -> Ordering {
        match (self, other) {
            (Self::Number(a), Self::Number(b)) => (a + 0.0).total_cmp(&(b + 0.0)),
            (Self::Place(a), Self::Place(b)) => a.cmp(&b),
            (Self::Number(_), Self::Place(_)) => Ordering::Less,
            (Self::Place(_), Self::Number(_)) => Ordering::Greater,
        }
    }
}

impl From<f64> for SetScore {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<Score> for SetScore {
    fn from(place: Score) -> Self {
        Self::Place(place)
    }
}

impl ScoreKind {
    /// The word in messages.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Number => "numbers",
            Self::Place => "places",
        }
    }
}

impl fmt::Display for ScoreKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// A range of scores. A range that is inverted is empty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScoreRange {
    /// The lower end.
    pub min: Bound<SetScore>,
    /// The upper end.
    pub max: Bound<SetScore>,
}

impl ScoreRange {
    /// Every score.
    pub const ALL: Self = Self { min: Bound::Unbounded, max: Bound::Unbounded };

    /// The scores from `min` to `max`, both included.
    pub fn between(min: impl Into<SetScore>, max: impl Into<SetScore>) -> Self {
        Self { min: Bound::Included(min.into()), max: Bound::Included(max.into()) }
    }

    /// The scores from `min` on.
    pub fn from(min: impl Into<SetScore>) -> Self {
        Self { min: Bound::Included(min.into()), max: Bound::Unbounded }
    }

    /// The scores up to `max`, which is included.
    pub fn to(max: impl Into<SetScore>) -> Self {
        Self { min: Bound::Unbounded, max: Bound::Included(max.into()) }
    }

    /// Whether a score lies in it.
    pub fn contains(&self, score: SetScore) -> bool {
        let above = match self.min {
            Bound::Included(min) => score.order(min).is_ge(),
            Bound::Excluded(min) => score.order(min).is_gt(),
            Bound::Unbounded => true,
        };
        above
            && match self.max {
                Bound::Included(max) => score.order(max).is_le(),
                Bound::Excluded(max) => score.order(max).is_lt(),
                Bound::Unbounded => true,
            }
    }

    /// The same range with its ends [`SetScore::checked`].
    pub fn checked(self) -> Result<Self, StructureError> {
        let end = |bound| match bound {
            Bound::Included(score) => SetScore::checked(score).map(Bound::Included),
            Bound::Excluded(score) => SetScore::checked(score).map(Bound::Excluded),
            Bound::Unbounded => Ok(Bound::Unbounded),
        };
        Ok(Self { min: end(self.min)?, max: end(self.max)? })
    }

    /// The kinds of score that its ends have, if it has any.
    pub fn kinds(&self) -> impl Iterator<Item = ScoreKind> {
        [self.min, self.max].into_iter().filter_map(|bound| match bound {
            Bound::Included(score) | Bound::Excluded(score) => Some(score.kind()),
            Bound::Unbounded => None,
        })
    }
}

impl Default for ScoreRange {
    fn default() -> Self {
        Self::ALL
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_one_zero_and_no_nan() {
        let zero = SetScore::Number(-0.0).checked().unwrap();
        assert_eq!(zero, SetScore::Number(0.0));
        assert!(matches!(zero, SetScore::Number(number) if number.is_sign_positive()));
        assert_eq!(SetScore::Number(-0.0).order(SetScore::Number(0.0)), Ordering::Equal);
        let refused = SetScore::Number(f64::NAN).checked().unwrap_err();
        assert_eq!(refused.to_string(), "a score is not a number");
        let refused = SetScore::unconfirmed(1, 1_000_000_000).checked().unwrap_err();
        assert_eq!(refused.to_string(), "a score that does not exist");
    }

    #[test]
    fn a_range_holds_what_is_between_its_ends() {
        let number = SetScore::Number;
        let range = ScoreRange { min: Bound::Excluded(number(1.0)), max: Bound::Included(number(2.0)) };
        let held = [1.0, 1.5, 2.0, 2.5].map(|score| range.contains(number(score)));
        assert_eq!(held, [false, true, true, false]);
        assert!(ScoreRange::ALL.contains(number(f64::NEG_INFINITY)));
        assert!(!ScoreRange::between(2.0, 1.0).contains(number(1.5)));
    }

    #[test]
    fn what_is_unconfirmed_comes_after_what_is_confirmed() {
        let last = SetScore::confirmed(u32::MAX, u64::MAX);
        assert_eq!(last.order(SetScore::unconfirmed(0, 0)), Ordering::Less);
    }
}
