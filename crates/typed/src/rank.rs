use keyplan_codec::Score;

use super::FloatScore;

/// What members of a sorted set or a queue are ranked by, as stores of structures keep it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rank {
    /// A number.
    Number(f64),
    /// A place in chain order.
    Place(Score),
}

/// A score that members can be ranked by: one integer, one float or one `score`.
///
/// Integers are ranked as floats, because servers keep floats: one that no float is equal to has no rank.
#[diagnostic::on_unimplemented(
    message = "members cannot be ranked by `{Self}`",
    label = "not a score",
    note = "the score of the family must be one integer, one float or one `score`"
)]
pub trait Ranked: Sized {
    /// The rank; `None` if no float is equal to the score.
    fn rank(&self) -> Option<Rank>;

    /// The score of a rank; `None` if it is not one of this type.
    fn of_rank(rank: Rank) -> Option<Self>;
}

impl Ranked for f64 {
    fn rank(&self) -> Option<Rank> {
        (!self.is_nan()).then_some(Rank::Number(*self))
    }

    fn of_rank(rank: Rank) -> Option<Self> {
        match rank {
            Rank::Number(number) => Some(number),
            Rank::Place(_) => None,
        }
    }
}

impl Ranked for Score {
    fn rank(&self) -> Option<Rank> {
        Some(Rank::Place(*self))
    }

    fn of_rank(rank: Rank) -> Option<Self> {
        match rank {
            Rank::Place(place) => Some(place),
            Rank::Number(_) => None,
        }
    }
}

impl Ranked for FloatScore {
    fn rank(&self) -> Option<Rank> {
        self.0.rank()
    }

    fn of_rank(rank: Rank) -> Option<Self> {
        f64::of_rank(rank).map(Self)
    }
}

macro_rules! integers {
    ($magnitude:expr; $($int:ty),*) => {
        $(
            impl Ranked for $int {
                fn rank(&self) -> Option<Rank> {
                    let (negative, magnitude) = $magnitude(i128::try_from(*self).ok(), u128::try_from(*self).ok())?;
                    float(magnitude).map(|float| Rank::Number(if negative { -float } else { float }))
                }

                fn of_rank(rank: Rank) -> Option<Self> {
                    let Rank::Number(number) = rank else { return None };
                    let magnitude = whole(number.abs())?;
                    if number < 0.0 {
                        0_i128.checked_sub_unsigned(magnitude)?.try_into().ok()
                    } else {
                        magnitude.try_into().ok()
                    }
                }
            }
        )*
    };
}

integers!(magnitude; u8, u16, u32, u64, u128, i8, i16, i32, i64, i128);

/// Whether an integer is negative, and how far it is from zero.
fn magnitude(signed: Option<i128>, unsigned: Option<u128>) -> Option<(bool, u128)> {
    match (unsigned, signed) {
        (Some(unsigned), _) => Some((false, unsigned)),
        (None, Some(signed)) => Some((true, signed.unsigned_abs())),
        (None, None) => None,
    }
}

/// The float that is equal to an integer.
#[expect(clippy::cast_precision_loss, reason = "an integer of at most 53 significant bits is a float")]
fn float(integer: u128) -> Option<f64> {
    let insignificant = integer.leading_zeros() + if integer == 0 { 0 } else { integer.trailing_zeros() };
    (u128::BITS - insignificant <= f64::MANTISSA_DIGITS).then_some(integer as f64)
}

/// The integer that a float from zero on is equal to.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the float is whole, and in the range of the integers"
)]
fn whole(number: f64) -> Option<u128> {
    const BEYOND: f64 = 340_282_366_920_938_463_463_374_607_431_768_211_456.0;
    // A float from 2⁵³ on is whole; below, taking its fraction away must change nothing.
    let integer = (0.0..BEYOND).contains(&number).then_some(number as u128)?;
    (float(integer)? - number == 0.0).then_some(integer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_integer_has_the_rank_of_the_float_that_is_equal_to_it() {
        assert_eq!(0_u64.rank(), Some(Rank::Number(0.0)));
        assert_eq!((-7_i8).rank(), Some(Rank::Number(-7.0)));
        assert_eq!(9_007_199_254_740_992_u64.rank(), Some(Rank::Number(9_007_199_254_740_992.0)));
        assert_eq!(i64::MIN.rank(), Some(Rank::Number(-9_223_372_036_854_775_808.0)));
        for integer in [9_007_199_254_740_993, u64::MAX] {
            assert_eq!(integer.rank(), None);
        }
        assert_eq!(u128::MAX.rank(), None);
        assert_eq!(u128::of_rank((1_u128 << 127).rank().unwrap()), Some(1 << 127));
    }

    #[test]
    fn a_rank_is_read_back_as_what_was_ranked_or_not_at_all() {
        for integer in [0, 1, 255, u64::from(u32::MAX), 1 << 53, 1 << 63] {
            assert_eq!(u64::of_rank(integer.rank().unwrap()), Some(integer));
        }
        for integer in [i64::MIN, -1, 0, 1 << 53] {
            assert_eq!(i64::of_rank(integer.rank().unwrap()), Some(integer));
        }
        for number in [-1.0, 0.5, 256.0, f64::INFINITY, f64::NAN] {
            assert_eq!(u8::of_rank(Rank::Number(number)), None, "{number}");
        }
        assert_eq!(u64::of_rank(Rank::Number(18_446_744_073_709_551_616.0)), None);
        assert_eq!(u64::of_rank(Rank::Place(Score::Confirmed { height: 1, index: 2 })), None);
        assert_eq!(f64::NAN.rank(), None);
    }
}
