//! Two neighbours with a row between them.
//!
//! A range up to the next value holds a row if the prefix of a number is not above it and that of the next number is. Wherever
//! two numbers have the row between their prefixes, two neighbours between them have it too, in whatever order the encoding
//! puts the others: halving finds them. So it is with two numbers whose prefixes sort the wrong way, or are the same.

use keyplan_plan::dynamic::Value;
use keyplan_plan::model::{IntRange, Shape};
use keyplan_plan::order;

use crate::guarantee::leak::law::Scanned;
use crate::guarantee::missing::law::{Fault, ends, faulty};
use crate::guarantee::missing::next::integer;
use crate::layout::Layout;
use crate::proof::{Side, Witness};
use crate::sample;

/// How many argument lists before the number are tried, and how many rows.
const MOST_FRONTS: usize = 8;
const MOST_ROWS: usize = 120;

/// Of how many rows every number is tried that an encoding may treat in its own way.
const MOST_TURNED: usize = 4;

/// A value that has a next one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Number {
    Unsigned(u128),
    Signed(i128),
}

impl Number {
    pub(super) fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Unsigned(number) => Some(Self::Unsigned(*number)),
            Value::Signed(number) => Some(Self::Signed(*number)),
            _ => None,
        }
    }

    pub(super) fn value(self) -> Value {
        match self {
            Self::Unsigned(number) => Value::Unsigned(number),
            Self::Signed(number) => Value::Signed(number),
        }
    }

    /// A number strictly between two.
    pub(super) fn between(self, high: Self) -> Option<Self> {
        match (self, high) {
            (Self::Unsigned(low), Self::Unsigned(high)) => {
                let half = high.checked_sub(low)? / 2;
                (half > 0).then(|| Self::Unsigned(low + half))
            }
            (Self::Signed(low), Self::Signed(high)) => {
                let half = high.checked_sub(low)? / 2;
                (half > 0).then(|| Self::Signed(low + half))
            }
            _ => None,
        }
    }
}

/// A row that shows the fault of a range up to the next value.
pub(super) fn crossed(scanned: Scanned<'_, '_>, other: &Layout<'_>, fault: Fault) -> Option<Witness> {
    let at = scanned.scan.bound.checked_sub(1)?;
    let argument = scanned.layout.sequence.arguments().nth(at)?;
    let numbers = numbers(&argument.shape)?;
    let own = other.path == scanned.layout.path;
    let mut rows = sample::rows(other.sequence, MOST_ROWS);
    if own {
        let few: Vec<Vec<Value>> = rows.iter().take(MOST_TURNED).cloned().collect();
        rows.extend(few.iter().flat_map(|row| numbers.iter().filter_map(|number| with(row, at, *number))));
    }
    let key = |row: &Vec<Value>| Side::key(other.path, other.sequence, row);
    let rows: Vec<Side> = rows.iter().filter_map(key).collect();
    let fronts = sample::rows(&scanned.prefix(), MOST_FRONTS);
    let found = fronts.iter().filter_map(|front| {
        let line = Line::new(scanned, front.get(..at)?, &numbers);
        match fault {
            Fault::Inside => rows.iter().filter_map(|row| line.holding(row, own)).min_by_key(Witness::length),
            Fault::Outside => line.turned(&rows),
        }
    });
    found.min_by_key(Witness::length)
}

/// The range of a number, after these arguments, that holds a row of another family.
pub(super) fn holding(scanned: Scanned<'_, '_>, front: &[Value], row: &Side) -> Option<Witness> {
    let argument = scanned.layout.sequence.arguments().nth(front.len())?;
    Line::new(scanned, front, &numbers(&argument.shape)?).holding(row, false)
}

/// The numbers at which encodings change their form, in their order.
fn numbers(shape: &Shape) -> Option<Vec<Number>> {
    let powers = (0..128u32).filter_map(|bits| 1u128.checked_shl(bits));
    let tens = (0..39u32).filter_map(|digits| 10u128.checked_pow(digits));
    let edges = powers.chain(tens).flat_map(|edge| [edge - 1, edge, edge.saturating_add(1)]);
    let mut all: Vec<Number> = match integer(shape)?.range {
        IntRange::Unsigned { min, max } => {
            let inside = edges.filter(|edge| (min..=max).contains(edge));
            inside.chain([min, max]).map(Number::Unsigned).collect()
        }
        IntRange::Signed { min, max } => {
            let signed = edges.filter_map(|edge| i128::try_from(edge).ok()).flat_map(|edge| [edge, -edge]);
            let inside = signed.filter(|edge| (min..=max).contains(edge));
            inside.chain([min, max]).map(Number::Signed).collect()
        }
    };
    order::sort(&mut all);
    all.dedup();
    Some(all)
}

fn with(row: &[Value], at: usize, number: Number) -> Option<Vec<Value>> {
    let mut row = row.to_vec();
    *row.get_mut(at)? = number.value();
    Some(row)
}

/// The prefixes of some numbers after the same arguments, in the order of the numbers.
struct Line<'s, 'a, 'p> {
    scanned: Scanned<'a, 'p>,
    front: &'s [Value],
    prefixes: Vec<(Number, Vec<u8>)>,
}

impl<'s, 'a, 'p> Line<'s, 'a, 'p> {
    fn new(scanned: Scanned<'a, 'p>, front: &'s [Value], numbers: &[Number]) -> Self {
        let mut line = Self { scanned, front, prefixes: Vec::new() };
        line.prefixes = numbers.iter().filter_map(|&number| Some((number, line.prefix(number)?))).collect();
        line
    }

    fn bound(&self, number: Number) -> Vec<Value> {
        [self.front, &[number.value()]].concat()
    }

    fn prefix(&self, number: Number) -> Option<Vec<u8>> {
        let layout = self.scanned.layout;
        let segments = self.scanned.scan.segments;
        Some(Side::prefix(layout.path, layout.sequence, segments, &self.bound(number))?.bytes)
    }

    /// The last number from `low` on, and below `high`, that `is` so, if `low` is and `high` is not.
    fn last(&self, mut low: Number, mut high: Number, is: impl Fn(&[u8]) -> bool) -> Option<Number> {
        while let Some(middle) = low.between(high) {
            if is(&self.prefix(middle)?) { low = middle } else { high = middle }
        }
        Some(low)
    }

    /// A range that holds a row which does not belong to it.
    fn holding(&self, row: &Side, own: bool) -> Option<Witness> {
        let below = |bytes: &[u8]| bytes <= row.bytes.as_slice();
        self.prefixes.windows(2).find_map(|pair| {
            let [(low, first), (high, second)] = pair else { return None };
            if !below(first) || below(second) {
                return None;
            }
            let number = self.last(*low, *high, below)?;
            let (start, end) = ends(self.scanned, &self.bound(number))?;
            if own && row.values.starts_with(&start.values) {
                return None;
            }
            faulty(start, end, row.clone(), Fault::Inside)
        })
    }

    /// A range that ends before it begins, or where it does, and a row that belongs to it.
    fn turned(&self, rows: &[Side]) -> Option<Witness> {
        let layout = self.scanned.layout;
        self.prefixes.windows(2).find_map(|pair| {
            let [(low, first), (high, second)] = pair else { return None };
            if first < second {
                return None;
            }
            // Of two neighbours the first has the greater prefix, or both have one, wherever on the way that is.
            let (mut low, mut high) = (*low, *high);
            while let Some(middle) = low.between(high) {
                if self.prefix(low)? >= self.prefix(middle)? { high = middle } else { low = middle }
            }
            let bound = self.bound(low);
            rows.iter().take(MOST_TURNED).find_map(|row| {
                let values = [bound.as_slice(), row.values.get(bound.len()..)?].concat();
                let (start, end) = ends(self.scanned, &bound)?;
                faulty(start, end, Side::key(layout.path, layout.sequence, &values)?, Fault::Outside)
            })
        })
    }
}
