//! Ranges up to the next value, decided value by value where there are few, and by the form of big-endian numbers.
//!
//! A range `[E q(x), E q(x + 1))` has the same bytes `E` of the arguments before the last at both of its ends, so that every
//! key in it begins with them. Where `q` has few values, what lies between two of them is a list of pieces; where `q` is a
//! big-endian number of fixed width and nothing follows it, it is what begins with `q(x)`, and what is left of `q(x + 1)`
//! when the zeros at its end are cut off.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use keyplan_plan::dynamic::{Value, encode};
use keyplan_plan::model::{
    Argument, Derived, Frame, IntEncoding, IntRange, IntShape, IntType, Same, Scan, Segment, Sequence, Shape,
    Width,
};
use keyplan_plan::order;

use crate::automaton::Arena;
use crate::every;
use crate::guarantee::leak::law::{Scanned, foreign, siblings};
use crate::guarantee::missing::beside::beside;
use crate::guarantee::missing::course::course;
use crate::guarantee::missing::crossing;
use crate::guarantee::missing::law::{Fault, Half, Piece, all_apart, before_last, ends, faulty, pieces};
use crate::guarantee::overlap::law::disjoint;
use crate::layout::Layout;
use crate::product::Budget;
use crate::proof::{Side, Verdict, Witness};
use crate::sample;
use crate::sure::{Sure as _, front, neighbours};

/// The most values that are looked at one by one.
const MOST_VALUES: usize = 256;

/// After how many pairs of neighbours of which nothing is known no others are looked at.
const MOST_UNKNOWN: usize = 4;

/// A value of the last bound argument, and the bytes from that argument to the end of the prefix.
struct Written {
    value: Value,
    bytes: Vec<u8>,
}

/// Decides whether no key of `other` lies in a range up to the next value; `None` if it takes other means.
pub(crate) fn foreign_before_next(
    arena: &mut Arena,
    scanned: Scanned<'_, '_>,
    other: &Layout<'_>,
    budget: &mut Budget,
) -> Option<Verdict> {
    let outer = before_last(scanned);
    let around = Scanned { layout: scanned.layout, scan: &outer };
    if let Some((first, last)) = in_a_row(arena, scanned, &outer, budget) {
        // The ranges follow each other: what lies in one of them lies between the first number and the last.
        match all_apart(arena, around, &between(&first, &last), other, budget) {
            Verdict::Fails(witness) => {
                if let Some(witness) = holding(scanned, &outer, other, &witness) {
                    return Some(Verdict::Fails(Box::new(witness)));
                }
            }
            Verdict::Unknown(_) => {}
            verdict => return Some(verdict),
        }
    }
    let Some(values) = few_values(scanned, &outer) else {
        return big_endian(arena, scanned, &outer, other, budget);
    };
    let mut all = Verdicts::default();
    for (this, next) in neighbours(&values) {
        if all.is_hopeless() {
            return None;
        }
        let between = between(&this.bytes, &next.bytes);
        let verdict = all_apart(arena, around, &between, other, budget);
        let shown = |witness: &Witness| {
            in_range(scanned, &outer, &this.value, other.path, other.sequence, witness, Fault::Inside)
        };
        if let Some(fails) = all.add(verdict, shown) {
            return Some(fails);
        }
    }
    all.decided()
}

/// Decides whether no key with other bound arguments lies in a range up to the next value.
pub(crate) fn siblings_before_next(
    arena: &mut Arena,
    scanned: Scanned<'_, '_>,
    budget: &mut Budget,
) -> Option<Verdict> {
    let outer = before_last(scanned);
    let values = few_values(scanned, &outer)?;
    let around = Scanned { layout: scanned.layout, scan: &outer };
    let mut all = Verdicts::default();
    // With them apart, a key in the range has the same arguments before the last.
    let apart = siblings(arena, around, budget);
    let all_are_apart = matches!(apart, Verdict::Holds | Verdict::Assumed(_));
    if all_are_apart {
        all.add(apart, |_| None);
    }
    for (this, next) in neighbours(&values) {
        if all.is_hopeless() {
            return None;
        }
        let between = between(&this.bytes, &next.bytes);
        if !all_are_apart {
            // The ranges of two values differ: a key that begins like others may lie in none of them.
            let shown = |bound: &[Value], row: Side| {
                let mut bound = bound.get(..outer.bound)?.to_vec();
                bound.push(this.value.clone());
                let (start, end) = ends(scanned, &bound)?;
                faulty(start, end, row, Fault::Inside)
            };
            match beside(arena, around, &between, &shown, budget) {
                fails @ Verdict::Fails(_) => return Some(fails),
                Verdict::Unknown(_) => return None,
                verdict => {
                    all.add(verdict, |_| None);
                }
            }
        }
        for that in values.iter().filter(|that| that.value != this.value && !between.is_empty()) {
            let cuts = |end: &[u8]| end.starts_with(&that.bytes) && end.len() > that.bytes.len();
            let inside = this.bytes <= that.bytes && that.bytes < next.bytes;
            if !inside && !cuts(&this.bytes) && !cuts(&next.bytes) {
                continue;
            }
            let rows = with_value(scanned, &outer, &that.value)?;
            let layout = Layout::new(arena, scanned.layout.path, &rows, BTreeSet::new());
            let verdict = all_apart(arena, around, &between, &layout, budget);
            let shown = |witness: &Witness| {
                in_range(scanned, &outer, &this.value, scanned.layout.path, &rows, witness, Fault::Inside)
            };
            if let Some(fails) = all.add(verdict, shown) {
                return Some(fails);
            }
        }
    }
    all.decided()
}

/// Decides whether a range up to the next value leaves out no key with its bound arguments.
pub(crate) fn whole_before_next(
    arena: &mut Arena,
    scanned: Scanned<'_, '_>,
    budget: &mut Budget,
) -> Option<Verdict> {
    let outer = before_last(scanned);
    let values = few_values(scanned, &outer)?;
    let around = Scanned { layout: scanned.layout, scan: &outer };
    let mut all = Verdicts::default();
    for (this, next) in neighbours(&values) {
        if all.is_hopeless() {
            return None;
        }
        let rows = with_value(scanned, &outer, &this.value)?;
        if this.bytes >= next.bytes {
            let row = sample::rows(&rows, 8).into_iter().find_map(|row| {
                let key = Side::key(scanned.layout.path, &rows, &row)?;
                let (start, end) = ends(scanned, row.get(..scanned.scan.bound)?)?;
                faulty(start, end, key, Fault::Outside)
            });
            return row.map(|witness| Verdict::Fails(Box::new(witness)));
        }
        let Some(rest) = next.bytes.strip_prefix(this.bytes.as_slice()) else { continue };
        let beyond = prefixed(&this.bytes, pieces(rest, Half::Above, false));
        let layout = Layout::new(arena, scanned.layout.path, &rows, BTreeSet::new());
        let verdict = all_apart(arena, around, &beyond, &layout, budget);
        let shown = |witness: &Witness| {
            in_range(scanned, &outer, &this.value, scanned.layout.path, &rows, witness, Fault::Outside)
        };
        if let Some(fails) = all.add(verdict, shown) {
            return Some(fails);
        }
    }
    all.decided()
}

/// What several verdicts come to.
#[derive(Default)]
struct Verdicts {
    assumed: Option<Verdict>,
    unknown: usize,
}

impl Verdicts {
    /// Adds a verdict; what fails by a witness of the range is decided at once.
    fn add(&mut self, verdict: Verdict, shown: impl Fn(&Witness) -> Option<Witness>) -> Option<Verdict> {
        match verdict {
            Verdict::Holds => None,
            Verdict::Assumed(_) => {
                self.assumed = Some(verdict);
                None
            }
            Verdict::Unknown(_) => {
                self.unknown += 1;
                None
            }
            Verdict::Fails(witness) => {
                let found = shown(&witness);
                self.unknown += usize::from(found.is_none());
                found.map(|witness| Verdict::Fails(Box::new(witness)))
            }
        }
    }

    fn decided(self) -> Option<Verdict> {
        (self.unknown == 0).then_some(self.assumed.unwrap_or(Verdict::Holds))
    }

    /// Whether so much is unknown that others are not looked at.
    fn is_hopeless(&self) -> bool {
        self.unknown >= MOST_UNKNOWN
    }
}

/// The bytes of the first and of the last value of the last bound argument, if the bytes of all of them rise with the number.
fn in_a_row(
    arena: &mut Arena,
    scanned: Scanned<'_, '_>,
    outer: &Scan,
    budget: &mut Budget,
) -> Option<(Vec<u8>, Vec<u8>)> {
    if let Some(values) = few_values(scanned, outer) {
        let rise = values.is_sorted_by(|a, b| a.bytes < b.bytes);
        return values
            .first()
            .zip(values.last())
            .filter(|_| rise)
            .map(|(a, b)| (a.bytes.clone(), b.bytes.clone()));
    }
    let segments = last(scanned, outer)?;
    // What is derived from a number does not rise with it.
    let plain = |segment: &Segment| matches!(segment, Segment::Literal(_) | Segment::Argument(_));
    if !segments.segments().iter().all(plain) || course(arena, scanned, budget) != Some(Ordering::Less) {
        return None;
    }
    let (first, last) = match integer(&segments.arguments().next()?.shape)?.range {
        IntRange::Unsigned { min, max } => (Value::Unsigned(min), Value::Unsigned(max)),
        IntRange::Signed { min, max } => (Value::Signed(min), Value::Signed(max)),
    };
    Some((written(&segments, first)?.bytes, written(&segments, last)?.bytes))
}

/// Whether the frames around a number put it in the order of its own bytes, and none of them is the front of another.
fn keeps_bytes_in_order(shape: &Shape) -> bool {
    match shape {
        Shape::Int(_) => true,
        // The length is always the same.
        Shape::Framed { frame: Frame::Len(_), inner } => {
            integer(inner).is_some_and(is_one_length) && matches!(**inner, Shape::Int(_))
        }
        Shape::Framed { frame, inner } if frame.sorts_before_anything() => keeps_bytes_in_order(inner),
        _ => false,
    }
}

fn is_one_length(int: &IntShape) -> bool {
    Width::of_shape(&Shape::Int(int.clone())).fixed().is_some()
}

/// Whether no number of the last bound argument is written between one and the next: big-endian, each is the next string of
/// bytes, or where the sign turns a range ends before it begins.
pub(super) fn is_beside_the_next(scanned: Scanned<'_, '_>) -> bool {
    let outer = before_last(scanned);
    let own = last(scanned, &outer);
    let own = own.as_ref().map(Sequence::segments);
    let Some([Segment::Argument(argument), behind @ ..]) = own else { return false };
    behind.iter().all(|segment| matches!(segment, Segment::Literal(_)))
        && keeps_bytes_in_order(&argument.shape)
        && integer(&argument.shape).is_some_and(|int| int.encoding == IntEncoding::Be)
}

/// The range of a number that a row lies in, from one between the first number and the last.
fn holding(scanned: Scanned<'_, '_>, outer: &Scan, other: &Layout<'_>, witness: &Witness) -> Option<Witness> {
    let (front, row) = match witness {
        Witness::Row { scan, row } => (scan, row),
        Witness::SameKey { first, second } if first.family == other.path => (second, first),
        Witness::SameKey { first, second } => (first, second),
        _ => return None,
    };
    let row = Side::key(other.path, other.sequence, &row.values)?;
    crossing::holding(scanned, front.values.get(..outer.bound)?, &row)
}

/// The values of the last bound argument in their order, if they are few and nothing but literals follows it in the prefix.
fn few_values(scanned: Scanned<'_, '_>, outer: &Scan) -> Option<Vec<Written>> {
    let segments = last(scanned, outer)?;
    let int = integer(&segments.arguments().next()?.shape)?;
    let values = every::numbers(int.range, MOST_VALUES)?;
    values.into_iter().map(|value| written(&segments, value)).collect()
}

/// A value of the last bound argument with its bytes.
fn written(segments: &Sequence, value: Value) -> Option<Written> {
    let mut bytes = Vec::new();
    encode(segments, std::slice::from_ref(&value), &mut bytes).ok()?;
    Some(Written { value, bytes })
}

/// What the last bound argument adds to the prefix: itself, literals, and parts that are made only of it.
fn last(scanned: Scanned<'_, '_>, outer: &Scan) -> Option<Sequence> {
    let segments = scanned.layout.sequence.segments().get(outer.segments..scanned.scan.segments)?;
    let mut own = Vec::new();
    for segment in segments {
        own.push(match segment {
            Segment::Literal(_) | Segment::Argument(_) => segment.clone(),
            Segment::Same(same) => {
                Segment::Same(Same { of: same.of.checked_sub(outer.segments)?, ..same.clone() })
            }
            Segment::Derived(derived) => {
                let of = derived.of.iter().map(|of| of.checked_sub(outer.segments));
                Segment::Derived(Derived { of: of.collect::<Option<_>>()?, ..derived.clone() })
            }
        });
    }
    let own = Sequence::new(own);
    (own.argument_count() == 1).then_some(own)
}

pub(super) fn integer(shape: &Shape) -> Option<&IntShape> {
    if let Shape::Int(int) = shape.unwrapped() { Some(int) } else { None }
}

/// The layout with one value of the last bound argument only.
fn with_value(scanned: Scanned<'_, '_>, outer: &Scan, value: &Value) -> Option<Sequence> {
    let range = match value {
        Value::Unsigned(n) => IntRange::Unsigned { min: *n, max: *n },
        Value::Signed(n) => IntRange::Signed { min: *n, max: *n },
        _ => return None,
    };
    with_range(scanned, outer, range)
}

/// The layout with a range of the last bound argument only.
fn with_range(scanned: Scanned<'_, '_>, outer: &Scan, range: IntRange) -> Option<Sequence> {
    let mut segments = scanned.layout.sequence.segments().to_vec();
    let mut own = segments.iter_mut().skip(outer.segments);
    let argument = own.find_map(|segment| match segment {
        Segment::Argument(argument) => Some(argument),
        _ => None,
    })?;
    let mut shape = &mut argument.shape;
    loop {
        if let Shape::Int(int) = shape {
            int.range = range;
            return Some(Sequence::new(segments));
        }
        shape = shape.wrapped_mut()?;
    }
}

/// Everything from `low` on that is below `high`.
fn between(low: &[u8], high: &[u8]) -> Vec<Piece> {
    if low >= high {
        return Vec::new();
    }
    if let Some(rest) = high.strip_prefix(low) {
        return prefixed(low, pieces(rest, Half::Below, false));
    }
    let same = low.iter().zip(high).take_while(|(a, b)| a == b).count();
    let at = |bytes: &[u8]| *bytes.get(same).sure("neither is the front of the other");
    let (first, last) = (at(low), at(high));
    let cut = |bytes: &[u8]| {
        let (front, rest) = bytes.split_at_checked(same + 1).sure("a byte after those that are the same");
        (front.to_vec(), rest.to_vec())
    };
    let ((low, above), (high, below)) = (cut(low), cut(high));
    let mut all = prefixed(&low, pieces(&above, Half::Above, false));
    if let (Some(first), Some(last)) = (first.checked_add(1), last.checked_sub(1))
        && first <= last
    {
        let front = front(&low, same).to_vec();
        all.push(Piece::Begins(front, Some((first, last))));
    }
    all.extend(prefixed(&high, pieces(&below, Half::Below, false)));
    all
}

/// Pieces after some bytes.
fn prefixed(front: &[u8], pieces: Vec<Piece>) -> Vec<Piece> {
    let behind = |bytes: Vec<u8>| [front, bytes.as_slice()].concat();
    pieces
        .into_iter()
        .map(|piece| match piece {
            Piece::Exactly(bytes) => Piece::Exactly(behind(bytes)),
            Piece::Begins(bytes, class) => Piece::Begins(behind(bytes), class),
        })
        .collect()
}

/// A witness about the arguments before the last as one about the range of a value.
fn in_range(
    scanned: Scanned<'_, '_>,
    outer: &Scan,
    value: &Value,
    path: &str,
    rows: &Sequence,
    witness: &Witness,
    fault: Fault,
) -> Option<Witness> {
    let (scan, row) = match witness {
        Witness::Row { scan, row } => (scan, row),
        Witness::SameKey { first, second } => (first, second),
        _ => return None,
    };
    let mut bound = scan.values.get(..outer.bound)?.to_vec();
    bound.push(value.clone());
    let (start, end) = ends(scanned, &bound)?;
    faulty(start, end, Side::key(path, rows, &row.values)?, fault)
}

/// The range of an unsigned big-endian number that ends the prefix.
fn big_endian(
    arena: &mut Arena,
    scanned: Scanned<'_, '_>,
    outer: &Scan,
    other: &Layout<'_>,
    budget: &mut Budget,
) -> Option<Verdict> {
    let own = last(scanned, outer)?;
    let [Segment::Argument(Argument { shape: Shape::Int(int), .. })] = own.segments() else { return None };
    let IntRange::Unsigned { min, max } = int.range else { return None };
    let highest = max.checked_sub(1).filter(|&highest| highest >= min)?;
    if int.encoding != IntEncoding::Be {
        return None;
    }
    let mut all = Verdicts::default();
    let below = with_range(scanned, outer, IntRange::Unsigned { min, max: highest })?;
    let marks = order::set([scanned.scan.segments]);
    let layout = Layout::new(arena, scanned.layout.path, &below, marks);
    let begins = foreign(arena, Scanned { layout: &layout, scan: scanned.scan }, other, budget);
    let shown = |witness: &Witness| match witness {
        Witness::Row { scan, row } => {
            let (start, end) = ends(scanned, scan.values.get(..scanned.scan.bound)?)?;
            faulty(start, end, Side::key(other.path, other.sequence, &row.values)?, Fault::Inside)
        }
        _ => None,
    };
    if let Some(fails) = all.add(begins, shown) {
        return Some(fails);
    }
    // What is left of the next number without the zeros at its end sorts below it, and above this one.
    for cut in 1..int.ty.bytes() {
        let shift = u32::try_from(8 * cut).ok()?;
        let (first, last) = ((min >> shift) + 1, max >> shift);
        if first > last {
            continue;
        }
        let front = shortened(scanned, outer, int, cut, IntRange::Unsigned { min: first, max: last })?;
        let path = format!("{} range", scanned.layout.path);
        let layout = Layout::new(arena, &path, &front, BTreeSet::new());
        let verdict = disjoint(arena, &layout, other, budget);
        let shown = |witness: &Witness| {
            let Witness::SameKey { first, second } = witness else { return None };
            let (own, row) = if first.family == path { (first, second) } else { (second, first) };
            let Value::Unsigned(left) = own.values.last()? else { return None };
            let value = Value::Unsigned((left << shift).checked_sub(1)?);
            let mut bound = own.values.get(..outer.bound)?.to_vec();
            bound.push(value);
            let (start, end) = ends(scanned, &bound)?;
            faulty(start, end, Side::key(other.path, other.sequence, &row.values)?, Fault::Inside)
        };
        if let Some(fails) = all.add(verdict, shown) {
            return Some(fails);
        }
    }
    all.decided()
}

/// The prefix with a number that has `cut` bytes less.
fn shortened(
    scanned: Scanned<'_, '_>,
    outer: &Scan,
    int: &IntShape,
    cut: usize,
    range: IntRange,
) -> Option<Sequence> {
    let mut segments = scanned.layout.sequence.segments().get(..=outer.segments)?.to_vec();
    let Segment::Argument(argument) = segments.last_mut()? else { return None };
    let bits = u32::try_from(8 * (int.ty.bytes().checked_sub(cut)?)).ok()?;
    argument.shape =
        Shape::Int(IntShape { ty: IntType { signed: false, bits }, range, encoding: IntEncoding::Be });
    Some(Sequence::new(segments))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether bytes are in one of the pieces.
    fn holds(pieces: &[Piece], bytes: &[u8]) -> bool {
        pieces.iter().any(|piece| match piece {
            Piece::Exactly(front) => bytes == front,
            Piece::Begins(front, None) => bytes.starts_with(front),
            Piece::Begins(front, Some((first, last))) => {
                bytes.starts_with(front)
                    && bytes.get(front.len()).is_some_and(|b| (first..=last).contains(&b))
            }
        })
    }

    #[test]
    fn the_pieces_are_exactly_what_lies_between() {
        let mut all: Vec<Vec<u8>> = vec![vec![]];
        for _ in 0..3 {
            let longer: Vec<Vec<u8>> = all
                .iter()
                .flat_map(|bytes| [0, 1, 2, 0x7f, 0xff].map(|byte| [bytes.as_slice(), &[byte]].concat()))
                .collect();
            all.extend(longer);
        }
        all.sort();
        all.dedup();
        for low in &all {
            for high in &all {
                let pieces = between(low, high);
                for bytes in &all {
                    let inside = low <= bytes && bytes < high;
                    assert_eq!(holds(&pieces, bytes), inside, "{bytes:02x?} in {low:02x?}..{high:02x?}");
                }
            }
        }
    }
}
