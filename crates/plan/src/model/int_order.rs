//! Which integers keep their order as bytes, and which are written alike.

use super::column::OrderRule::{
    Below, Digits, FromZero, Kept, Lengths, Lost, LowestByte, OneLength, OneSign, Reversed, SameAbove,
    Unlost, Within,
};
use super::{IntEncoding, IntRange, IntShape};

impl IntShape {
    /// Whether byte order is numeric order among all numbers of the range.
    pub fn keeps_order(&self) -> bool {
        let same = |shift: u32| match self.range {
            IntRange::Unsigned { min, max } => min >> shift == max >> shift,
            IntRange::Signed { min, max } => min >> shift == max >> shift,
        };
        let below = |limit: u128| match self.range {
            IntRange::Unsigned { max, .. } => max < limit,
            IntRange::Signed { min, max } => min >= 0 && max.unsigned_abs() < limit,
        };
        let signs_differ = matches!(self.range, IntRange::Signed { min, max } if min < 0 && max >= 0);
        let from_zero = !matches!(self.range, IntRange::Signed { min, .. } if min < 0);
        match self.encoding.row().order {
            Kept => true,
            OneSign => !signs_differ,
            LowestByte => self.ty.bits == 8 && !signs_differ || same(8),
            Digits(base) => self.range.have_equally_many_digits(base.into()),
            Below(limit) => below(limit.into()),
            FromZero => from_zero,
            SameAbove => match self.range {
                IntRange::Unsigned { min, max } => {
                    let bits = 8 * u32::try_from(self.encoding.number().unwrap_or(16)).unwrap_or(16);
                    min.checked_shr(bits) == max.checked_shr(bits)
                }
                IntRange::Signed { .. } => false,
            },
            Unlost => from_zero && self.alike().is_none(),
            OneLength | Lengths | Within | Reversed | Lost => false,
        }
    }
}

impl IntShape {
    /// Two numbers of the range that are written as the same bytes, as the ends of a range; none if there are no such numbers.
    pub fn alike(&self) -> Option<IntRange> {
        match (self.encoding, self.range) {
            (IntEncoding::Saturating, IntRange::Signed { min, max }) if min < 0 && max > min => {
                Some(IntRange::Signed { min, max: min + 1 })
            }
            (IntEncoding::Low(width), IntRange::Unsigned { min, max }) => {
                let beside = 1u128.checked_shl(8 * u32::try_from(width).ok()?)?;
                let other = min.checked_add(beside).filter(|other| *other <= max)?;
                Some(IntRange::Unsigned { min, max: other })
            }
            (IntEncoding::High(width), IntRange::Unsigned { min, max }) => {
                let bits = 8 * u32::try_from(self.ty.bytes().checked_sub(width)?).ok()?;
                let high = |number: u128| number.checked_shr(bits).unwrap_or_default();
                neighbours(min, max, |a, b| high(a) == high(b))
            }
            (IntEncoding::Float, IntRange::Unsigned { min, max }) => {
                neighbours(min.max(EXACT), max, |a, b| float(a).total_cmp(&float(b)).is_eq())
            }
            (IntEncoding::Float, IntRange::Signed { min, max }) => {
                let same = |a: u128, b: u128| float(a).total_cmp(&float(b)).is_eq();
                let above = u128::try_from(max)
                    .ok()
                    .and_then(|most| neighbours(min.max(0).unsigned_abs().max(EXACT), most, same));
                let below =
                    || neighbours(max.min(0).unsigned_abs().max(EXACT), min.min(0).unsigned_abs(), same);
                let signed = |n: u128| i128::try_from(n).ok();
                match above {
                    Some(IntRange::Unsigned { min, max }) => {
                        Some(IntRange::Signed { min: signed(min)?, max: signed(max)? })
                    }
                    _ => match below()? {
                        IntRange::Unsigned { min, max } => {
                            Some(IntRange::Signed { min: -signed(max)?, max: -signed(min)? })
                        }
                        IntRange::Signed { .. } => None,
                    },
                }
            }
            _ => None,
        }
    }
}

/// The first integer whose next one has no float of its own.
const EXACT: u128 = 1 << f64::MANTISSA_DIGITS;

#[expect(clippy::cast_precision_loss, reason = "what is lost is what is asked for")]
fn float(number: u128) -> f64 {
    number as f64
}

/// Two numbers beside each other from `min` on that are the same to `same`: of any three, two are, if any are.
fn neighbours(min: u128, max: u128, same: impl Fn(u128, u128) -> bool) -> Option<IntRange> {
    let pair = |min: u128| Some((min, min.checked_add(1).filter(|next| *next <= max)?));
    let both = [Some(min), min.checked_add(1)].into_iter().flatten().filter_map(pair);
    both.into_iter().find(|(a, b)| same(*a, *b)).map(|(min, max)| IntRange::Unsigned { min, max })
}

impl IntRange {
    /// Whether all numbers are written with equally many digits in a base, and none with a sign.
    fn have_equally_many_digits(self, base: u128) -> bool {
        let count = |mut number: u128| {
            let mut count = 1u32;
            while number >= base {
                number /= base;
                count += 1;
            }
            count
        };
        match self {
            Self::Unsigned { min, max } => count(min) == count(max),
            Self::Signed { min, max } => min >= 0 && count(min.unsigned_abs()) == count(max.unsigned_abs()),
        }
    }
}
