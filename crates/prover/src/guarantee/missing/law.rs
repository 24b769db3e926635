//! KP0003, KP0004 and KP0016 of ranges: what lies between the prefix of a scan and an end that other code computes.
//!
//! A range that ends with the prefix and given bytes holds keys that begin with the prefix only. One that ends with the
//! prefix of the next value holds what lies between two values, which are those of the first one if the encoding sorts
//! and no encoding is the front of another.

use std::cmp::Ordering;

use keyplan_plan::diag::Span;
use keyplan_plan::dynamic::Value;
use keyplan_plan::model::{
    Argument, IntEncoding, IntRange, IntShape, IntType, Literal, Scan, ScanEnd, Segment, Sequence, Shape,
};
use keyplan_plan::order;

use crate::automaton::{Arena, numbers_of};
use crate::guarantee::ambiguous::twins::twin_rows;
use crate::guarantee::leak::law::{Scanned, foreign, siblings};
use crate::guarantee::listed;
use crate::guarantee::missing::beside::beside;
use crate::guarantee::missing::course::course;
use crate::guarantee::missing::crossing::{Number, crossed};
use crate::guarantee::missing::next::{
    foreign_before_next, is_beside_the_next, siblings_before_next, whole_before_next,
};
use crate::guarantee::overlap::law::disjoint;
use crate::guarantee::unordered::law::{least_bound, ordered};
use crate::layout::Layout;
use crate::product::Budget;
use crate::proof::{RangeStop, Reason, Side, Verdict, Witness, is_within};
use crate::sample;
use crate::sure::front;

/// The most bytes of an end that are looked at.
const MOST_END: usize = 64;
/// How many starts, and how many rows of a family, are tried.
const MOST_STARTS: usize = 60;
const MOST_ROWS: usize = 300;

/// What a row must not be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// In the range, though it does not belong to it.
    Inside,
    /// Outside of the range, though it belongs to it.
    Outside,
}

/// Decides whether no key of `other` lies in a range of the scan.
pub(crate) fn foreign_in_range(
    arena: &mut Arena,
    scanned: Scanned<'_, '_>,
    other: &Layout<'_>,
    budget: &mut Budget,
) -> Verdict {
    match foreign_by_graph(arena, scanned, other, budget) {
        Verdict::Unknown(reason) => listed::leaks(scanned, other, budget).unwrap_or(Verdict::Unknown(reason)),
        verdict => verdict,
    }
}

/// Decides whether no key of `other` is left in a range when the rows that are not of the scan's family are dropped: what is
/// left is a key of both.
pub(crate) fn foreign_in_range_if_filtered(
    arena: &mut Arena,
    scanned: Scanned<'_, '_>,
    other: &Layout<'_>,
    budget: &mut Budget,
) -> Verdict {
    let shared = disjoint(arena, scanned.layout, other, budget);
    let reason = match shared {
        Verdict::Holds | Verdict::Assumed(_) => return shared,
        Verdict::Fails(witness) => match left_in_range(scanned, other, &witness) {
            Some(witness) => return Verdict::Fails(Box::new(witness)),
            None => Reason::NotRealised { loose: Vec::new() },
        },
        Verdict::Unknown(reason) => reason,
    };
    match foreign_in_range(arena, scanned, other, budget) {
        none @ (Verdict::Holds | Verdict::Assumed(_)) => none,
        // The row that is found may be one that is dropped.
        _ => Verdict::Unknown(reason),
    }
}

/// A key of both families in the range of its own arguments.
fn left_in_range(scanned: Scanned<'_, '_>, other: &Layout<'_>, witness: &Witness) -> Option<Witness> {
    let Witness::SameKey { first, second } = witness else { return None };
    let (own, row) = if first.family == other.path { (second, first) } else { (first, second) };
    let (start, end) = ends(scanned, own.values.get(..scanned.scan.bound)?)?;
    faulty(start, end, row.clone(), Fault::Inside)
}

fn foreign_by_graph(
    arena: &mut Arena,
    scanned: Scanned<'_, '_>,
    other: &Layout<'_>,
    budget: &mut Budget,
) -> Verdict {
    let shared = before_last(scanned);
    let around = match scanned.scan.end {
        ScanEnd::Next => Scanned { layout: scanned.layout, scan: &shared },
        _ => scanned,
    };
    let verdict = foreign(arena, around, other, budget);
    if matches!(verdict, Verdict::Holds | Verdict::Assumed(_)) {
        return verdict;
    }
    match end_bytes(&scanned.scan.end) {
        Some((end, included)) if end.len() <= MOST_END => {
            let pieces = pieces(end, Half::Below, included);
            let split = all_apart(arena, scanned, &pieces, other, budget);
            decided(scanned, other, Fault::Inside, &[verdict, split.clone()], split)
        }
        Some(_) => decided(scanned, other, Fault::Inside, &[verdict], Verdict::Unknown(Reason::TooLarge)),
        None => {
            if course(arena, scanned, budget) == Some(Ordering::Greater) {
                return Verdict::Holds;
            }
            if let Some(decided) = foreign_before_next(arena, scanned, other, budget) {
                return decided;
            }
            // A row that begins with the prefix of a value comes after it, and mostly before that of the next one.
            let begins = foreign(arena, scanned, other, budget);
            let rest = Verdict::Unknown(Reason::NotRealised { loose: Vec::new() });
            decided(scanned, other, Fault::Inside, &[begins], rest)
        }
    }
}

/// Decides whether no key of the family with other bound arguments lies in a range of the scan.
pub(crate) fn siblings_in_range(arena: &mut Arena, scanned: Scanned<'_, '_>, budget: &mut Budget) -> Verdict {
    match siblings_by_graph(arena, scanned, budget) {
        Verdict::Unknown(reason) => {
            let listed = listed::leaks(scanned, scanned.layout, budget);
            listed.unwrap_or_else(|| match twin_range(arena, scanned, budget) {
                Some(witness) => Verdict::Fails(Box::new(witness)),
                None => Verdict::Unknown(reason),
            })
        }
        verdict => verdict,
    }
}

/// The range of one of two lists of bound arguments with the same bytes, and a row of the other.
fn twin_range(arena: &mut Arena, scanned: Scanned<'_, '_>, budget: &mut Budget) -> Option<Witness> {
    let layout = scanned.layout;
    let (a, b) = twin_rows(arena, layout.sequence, scanned.scan.bound, budget)?;
    let (start, end) = ends(scanned, a.get(..scanned.scan.bound)?)?;
    faulty(start, end, Side::key(layout.path, layout.sequence, &b)?, Fault::Inside)
}

fn siblings_by_graph(arena: &mut Arena, scanned: Scanned<'_, '_>, budget: &mut Budget) -> Verdict {
    let verdict = match scanned.scan.end {
        ScanEnd::Next => match next_is_exact(arena, scanned, budget) {
            Verdict::Holds => Verdict::Holds,
            other => nothing_between(arena, scanned, budget)
                .or_else(|| only_its_own(arena, scanned, budget))
                .unwrap_or(other),
        },
        _ => siblings(arena, scanned, budget),
    };
    if matches!(verdict, Verdict::Holds | Verdict::Assumed(_)) {
        return verdict;
    }
    let mut verdicts = vec![verdict];
    let rest = match end_bytes(&scanned.scan.end) {
        Some((end, included)) if end.len() <= MOST_END => {
            let pieces = pieces(end, Half::Below, included);
            let shown = |bound: &[Value], row: Side| {
                let (start, end) = ends(scanned, bound)?;
                faulty(start, end, row, Fault::Inside)
            };
            match beside(arena, scanned, &pieces, &shown, budget) {
                Verdict::Unknown(reason) => {
                    match all_apart(arena, scanned, &pieces, scanned.layout, budget) {
                        // There is no row at all in such a range.
                        none @ (Verdict::Holds | Verdict::Assumed(_)) => none,
                        _ => Verdict::Unknown(reason),
                    }
                }
                verdict => verdict,
            }
        }
        Some(_) => Verdict::Unknown(Reason::TooLarge),
        None => {
            if let Some(decided) = siblings_before_next(arena, scanned, budget) {
                decided
            } else {
                // A row that begins with the prefix of a value mostly comes before that of the next one.
                verdicts.push(siblings(arena, scanned, budget));
                verdicts.first().map_or(Verdict::Unknown(Reason::Internal), unknown)
            }
        }
    };
    match rest {
        Verdict::Unknown(_) => decided(scanned, scanned.layout, Fault::Inside, &verdicts, rest),
        rest => rest,
    }
}

/// Decides whether a range of the scan leaves out no key with its bound arguments.
pub(crate) fn whole_in_range(arena: &mut Arena, scanned: Scanned<'_, '_>, budget: &mut Budget) -> Verdict {
    match whole_by_graph(arena, scanned, budget) {
        Verdict::Unknown(reason) => listed::whole(scanned, budget).unwrap_or(Verdict::Unknown(reason)),
        verdict => verdict,
    }
}

fn whole_by_graph(arena: &mut Arena, scanned: Scanned<'_, '_>, budget: &mut Budget) -> Verdict {
    let verdict = match end_bytes(&scanned.scan.end) {
        Some((end, included)) if end.len() <= MOST_END => {
            if let Some(decided) = rest_before(arena, scanned, end, included, budget) {
                return decided;
            }
            let pieces = pieces(end, Half::Above, included);
            all_apart(arena, scanned, &pieces, scanned.layout, budget)
        }
        Some(_) => Verdict::Unknown(Reason::TooLarge),
        None => next_is_exact(arena, scanned, budget),
    };
    if matches!(verdict, Verdict::Holds | Verdict::Assumed(_)) {
        return verdict;
    }
    if scanned.scan.end == ScanEnd::Next {
        if course(arena, scanned, budget) == Some(Ordering::Less) {
            return Verdict::Holds;
        }
        if let Some(decided) = whole_before_next(arena, scanned, budget) {
            return decided;
        }
    }
    decided(scanned, scanned.layout, Fault::Outside, std::slice::from_ref(&verdict), unknown(&verdict))
}

/// Decides whether nothing that may follow the prefix lies beyond an end; `None` if it takes the prefix to tell.
fn rest_before(
    arena: &mut Arena,
    scanned: Scanned<'_, '_>,
    end: &[u8],
    included: bool,
    budget: &mut Budget,
) -> Option<Verdict> {
    let segments = scanned.layout.sequence.segments().get(scanned.scan.segments..)?;
    if segments.is_empty() {
        return (included || !end.is_empty()).then_some(Verdict::Holds);
    }
    // A copy, and what is derived, may come from before: here they are arguments of their own, and so there are more rows than
    // the family has, never fewer.
    let rest = Sequence::new(segments.iter().map(set_free).collect());
    let is_argument: Vec<bool> = segments
        .iter()
        .filter(|segment| !matches!(segment, Segment::Literal(_)))
        .map(|segment| matches!(segment, Segment::Argument(_)))
        .collect();
    let layout = Layout::new(arena, scanned.layout.path, &rest, order::set([0]));
    let scan = Scan { bound: 0, segments: 0, end: ScanEnd::Prefix, ..scanned.scan.clone() };
    let alone = Scanned { layout: &layout, scan: &scan };
    match all_apart(arena, alone, &pieces(end, Half::Above, included), &layout, budget) {
        Verdict::Fails(witness) => {
            let Witness::Row { row, .. } = &*witness else { return None };
            let bound = least_bound(arena, scanned)?.values;
            let (start, end) = ends(scanned, &bound)?;
            let own =
                row.values.iter().zip(&is_argument).filter(|(_, is)| **is).map(|(value, _)| value.clone());
            let values: Vec<Value> = bound.into_iter().chain(own).collect();
            let key = Side::key(scanned.layout.path, scanned.layout.sequence, &values)?;
            faulty(start, end, key, Fault::Outside).map(|witness| Verdict::Fails(Box::new(witness)))
        }
        Verdict::Unknown(_) => None,
        verdict => Some(verdict),
    }
}

/// A segment that depends on no other: a copy or a derived part as an argument of the same encoding.
fn set_free(segment: &Segment) -> Segment {
    let shape = match segment {
        Segment::Literal(_) | Segment::Argument(_) => return segment.clone(),
        Segment::Same(same) => same.shape.clone(),
        Segment::Derived(derived) => Shape::Int(numbers_of(derived)),
    };
    Segment::Argument(unnamed(shape))
}

/// The first witness among verdicts that shows the fault of a range, or one that is sampled; else what is left.
fn decided(
    scanned: Scanned<'_, '_>,
    other: &Layout<'_>,
    fault: Fault,
    verdicts: &[Verdict],
    rest: Verdict,
) -> Verdict {
    let found = verdicts.iter().filter_map(|verdict| match verdict {
        Verdict::Fails(witness) => of_range(scanned, other, fault, witness),
        _ => None,
    });
    let mut found: Vec<Witness> = found.collect();
    if found.is_empty() && fault == Fault::Outside {
        found.extend(verdicts.iter().find_map(|verdict| match verdict {
            Verdict::Fails(witness) => turned(scanned, witness),
            _ => None,
        }));
    }
    if found.is_empty() && !matches!(rest, Verdict::Holds | Verdict::Assumed(_)) {
        found.extend(sampled(scanned, other, fault));
        if found.is_empty() && scanned.scan.end == ScanEnd::Next {
            found.extend(crossed(scanned, other, fault));
        }
    }
    match found.into_iter().min_by_key(Witness::length) {
        Some(witness) => Verdict::Fails(Box::new(witness)),
        None => match rest {
            // A witness of another claim shows nothing here.
            Verdict::Fails(_) => Verdict::Unknown(Reason::NotRealised { loose: Vec::new() }),
            rest => rest,
        },
    }
}

fn unknown(verdict: &Verdict) -> Verdict {
    match verdict {
        Verdict::Unknown(reason) => Verdict::Unknown(reason.clone()),
        _ => Verdict::Unknown(Reason::NotRealised { loose: Vec::new() }),
    }
}

/// A witness about a prefix as one about the range, if it shows the fault there.
fn of_range(
    scanned: Scanned<'_, '_>,
    other: &Layout<'_>,
    fault: Fault,
    witness: &Witness,
) -> Option<Witness> {
    let (scan, row) = match witness {
        Witness::Row { scan, row } => (scan, row),
        Witness::SameKey { first, second } => (first, second),
        _ => return None,
    };
    let (start, end) = ends(scanned, scan.values.get(..scanned.scan.bound)?)?;
    let row = Side::key(other.path, other.sequence, &row.values)?;
    faulty(start, end, row, fault)
}

/// A row that a range up to the next value leaves out, from two values whose prefixes sort the wrong way: between them there
/// are two neighbours that do, and the range from the one to the other holds nothing.
fn turned(scanned: Scanned<'_, '_>, witness: &Witness) -> Option<Witness> {
    let Witness::Disorder { first, second } = witness else { return None };
    let layout = scanned.layout;
    let at = scanned.scan.bound.checked_sub(1)?;
    let number = |side: &Side| Number::of(side.values.get(at)?);
    let prefix = |number: Number| {
        let mut bound = first.values.get(..at)?.to_vec();
        bound.push(number.value());
        Side::prefix(layout.path, layout.sequence, scanned.scan.segments, &bound)
    };
    let (mut low, mut high) = (number(first)?, number(second)?);
    while let Some(middle) = low.between(high) {
        let here = prefix(middle)?.bytes;
        if prefix(low)?.bytes > here { high = middle } else { low = middle }
    }
    let (start, end) = ends(scanned, &prefix(low)?.values)?;
    let mut row = start.values.clone();
    for argument in layout.sequence.arguments().skip(start.values.len()) {
        row.push(sample::values(&argument.shape).into_iter().next()?);
    }
    faulty(start, end, Side::key(layout.path, layout.sequence, &row)?, Fault::Outside)
}

pub(crate) fn faulty(start: Side, end: RangeStop, row: Side, fault: Fault) -> Option<Witness> {
    let inside = is_within(&start, &end, &row.bytes);
    (inside == (fault == Fault::Inside)).then(|| Witness::range(start, end, row)).flatten()
}

/// The start and the end of the range with these bound arguments; `None` if there is no such range.
pub(crate) fn ends(scanned: Scanned<'_, '_>, bound: &[Value]) -> Option<(Side, RangeStop)> {
    let layout = scanned.layout;
    range_of(layout.path, layout.sequence, scanned.scan, bound)
}

/// The range of a scan with these bound arguments; `None` if there is none, or if the scan is not a range.
pub(crate) fn range_of(
    path: &str,
    sequence: &Sequence,
    scan: &Scan,
    bound: &[Value],
) -> Option<(Side, RangeStop)> {
    let start = Side::prefix(path, sequence, scan.segments, bound)?;
    let stop = match &scan.end {
        ScanEnd::Prefix => return None,
        ScanEnd::Next => {
            let mut next = bound.to_vec();
            let last = next.last_mut()?;
            *last = match last {
                Value::Unsigned(number) => Value::Unsigned(number.checked_add(1)?),
                Value::Signed(number) => Value::Signed(number.checked_add(1)?),
                _ => return None,
            };
            let bytes = Side::prefix(path, sequence, scan.segments, &next)?.bytes;
            RangeStop { bytes, included: false }
        }
        ScanEnd::Before(end) => RangeStop { bytes: [start.bytes.as_slice(), end].concat(), included: false },
        ScanEnd::Through(end) => RangeStop { bytes: [start.bytes.as_slice(), end].concat(), included: true },
    };
    Some((start, stop))
}

fn end_bytes(end: &ScanEnd) -> Option<(&[u8], bool)> {
    match end {
        ScanEnd::Before(bytes) => Some((bytes, false)),
        ScanEnd::Through(bytes) => Some((bytes, true)),
        ScanEnd::Prefix | ScanEnd::Next => None,
    }
}

/// The scan by all bound arguments but the last, up to where that one begins.
pub(crate) fn before_last(scanned: Scanned<'_, '_>) -> Scan {
    let sequence = scanned.layout.sequence;
    // Before a part that is derived from the last argument, too.
    let segments = sequence.scanned_segments(scanned.scan.bound.saturating_sub(1));
    Scan {
        bound: sequence.arguments_before(segments),
        segments,
        end: ScanEnd::Prefix,
        ..scanned.scan.clone()
    }
}

/// Whether the prefix of a value and that of the next one have the rows of the first value between them.
///
/// It is so if no prefix is the front of a key of another value, and prefixes sort as their values do: a key that begins
/// with one prefix then lies on the same side of every other prefix as its own prefix does.
fn next_is_exact(arena: &mut Arena, scanned: Scanned<'_, '_>, budget: &mut Budget) -> Verdict {
    let last =
        scanned.scan.bound.checked_sub(1).and_then(|last| scanned.layout.sequence.arguments().nth(last));
    if last.is_none_or(|argument| descends(&argument.shape)) {
        // Where the order is reversed, the next value comes before.
        return Verdict::Unknown(Reason::Order { why: "the next value sorts below" });
    }
    let outer = before_last(scanned);
    let apart = siblings(arena, Scanned { layout: scanned.layout, scan: &outer }, budget);
    if !matches!(apart, Verdict::Holds | Verdict::Assumed(_)) {
        return apart;
    }
    let own = siblings(arena, scanned, budget);
    if !matches!(own, Verdict::Holds | Verdict::Assumed(_)) {
        return own;
    }
    let front = scanned.prefix();
    let marks = order::set([outer.segments, outer.segments + 1]);
    let layout = Layout::new(arena, scanned.layout.path, &front, marks);
    match ordered(arena, Scanned { layout: &layout, scan: &outer }, budget) {
        Verdict::Holds if apart == Verdict::Holds => own,
        Verdict::Holds => apart,
        verdict => verdict,
    }
}

/// Whether no prefix lies between that of a number and that of the next one, nor is the front of a key of another number: then
/// no such key lies between them either.
fn nothing_between(arena: &mut Arena, scanned: Scanned<'_, '_>, budget: &mut Budget) -> Option<Verdict> {
    let outer = before_last(scanned);
    if !is_beside_the_next(scanned) {
        return None;
    }
    let apart = siblings(arena, Scanned { layout: scanned.layout, scan: &outer }, budget);
    let own = siblings(arena, scanned, budget);
    match (apart, own) {
        (Verdict::Holds, own @ (Verdict::Holds | Verdict::Assumed(_))) => Some(own),
        (apart @ Verdict::Assumed(_), Verdict::Holds | Verdict::Assumed(_)) => Some(apart),
        _ => None,
    }
}

/// Whether every row in a range up to the next value has its number, because the bytes of the number tell; `None` if they do not.
fn only_its_own(arena: &mut Arena, scanned: Scanned<'_, '_>, budget: &mut Budget) -> Option<Verdict> {
    match course(arena, scanned, budget)? {
        Ordering::Greater => Some(Verdict::Holds),
        Ordering::Less => {
            // What lies in the range begins with the arguments before the number.
            let outer = before_last(scanned);
            let apart = siblings(arena, Scanned { layout: scanned.layout, scan: &outer }, budget);
            matches!(apart, Verdict::Holds | Verdict::Assumed(_)).then_some(apart)
        }
        Ordering::Equal => None,
    }
}

fn descends(shape: &Shape) -> bool {
    std::iter::successors(Some(shape), |shape| shape.wrapped()).any(|shape| matches!(shape, Shape::Desc(_)))
}

/// On which side of an end the bytes after a prefix lie.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Half {
    Below,
    Above,
}

/// What may come after a prefix: exactly these bytes, or these and then a byte of a range and anything.
pub(crate) enum Piece {
    Exactly(Vec<u8>),
    Begins(Vec<u8>, Option<(u8, u8)>),
}

/// Everything that lies on one side of an end, the end itself included where the range has it on that side.
pub(crate) fn pieces(end: &[u8], side: Half, included: bool) -> Vec<Piece> {
    let mut all = Vec::new();
    for (index, &byte) in end.iter().enumerate() {
        let front = front(end, index).to_vec();
        match side {
            Half::Below => {
                all.push(Piece::Exactly(front.clone()));
                if let Some(last) = byte.checked_sub(1) {
                    all.push(Piece::Begins(front, Some((0, last))));
                }
            }
            Half::Above => {
                if let Some(first) = byte.checked_add(1) {
                    all.push(Piece::Begins(front, Some((first, u8::MAX))));
                }
            }
        }
    }
    match (side, included) {
        (Half::Below, true) => all.push(Piece::Exactly(end.to_vec())),
        (Half::Below, false) => {}
        (Half::Above, true) => all.push(Piece::Begins(end.to_vec(), Some((0, u8::MAX)))),
        (Half::Above, false) => all.push(Piece::Begins(end.to_vec(), None)),
    }
    all
}

/// Whether no key of `other` is made of a prefix of the scan and one of the pieces.
pub(crate) fn all_apart(
    arena: &mut Arena,
    scanned: Scanned<'_, '_>,
    pieces: &[Piece],
    other: &Layout<'_>,
    budget: &mut Budget,
) -> Verdict {
    // Another name, so that every key of the family itself is a foreign one.
    let path = format!("{} range", scanned.layout.path);
    let mut worst = Verdict::Holds;
    for piece in pieces {
        let (front, class) = match piece {
            Piece::Exactly(front) => (front, None),
            Piece::Begins(front, class) => (front, *class),
        };
        let mut segments = scanned.prefix().segments().to_vec();
        segments.push(literal(front));
        segments.extend(class.map(|(first, last)| byte_between(first, last)));
        let (count, sequence) = (segments.len(), Sequence::new(segments));
        let layout = Layout::new(arena, &path, &sequence, order::set([count]));
        let verdict = match piece {
            Piece::Exactly(_) => disjoint(arena, &layout, other, budget),
            Piece::Begins(..) => {
                let bound = sequence.argument_count();
                let scan = Scan { bound, segments: count, end: ScanEnd::Prefix, ..scanned.scan.clone() };
                foreign(arena, Scanned { layout: &layout, scan: &scan }, other, budget)
            }
        };
        match verdict {
            Verdict::Fails(_) => return verdict,
            // What is not known must not be covered by what is assumed.
            Verdict::Unknown(_) => worst = verdict,
            Verdict::Assumed(_) if worst == Verdict::Holds => worst = verdict,
            Verdict::Holds | Verdict::Assumed(_) => {}
        }
    }
    worst
}

fn literal(bytes: &[u8]) -> Segment {
    let bytes = bytes.to_vec();
    Segment::Literal(Literal { bytes, spelling: String::new(), hashed: None, span: Span::default() })
}

fn byte_between(first: u8, last: u8) -> Segment {
    Segment::Argument(unnamed(Shape::Int(IntShape {
        ty: IntType { signed: false, bits: 8 },
        range: IntRange::Unsigned { min: u128::from(first), max: u128::from(last) },
        encoding: IntEncoding::Be,
    })))
}

fn unnamed(shape: Shape) -> Argument {
    Argument { name: None, type_name: None, shape, shown: None, doc: Vec::new(), span: Span::default() }
}

/// Rows that are tried one by one against ranges that are tried one by one.
fn sampled(scanned: Scanned<'_, '_>, other: &Layout<'_>, fault: Fault) -> Option<Witness> {
    let next = scanned.scan.end == ScanEnd::Next;
    let prefix = scanned.prefix();
    let last = scanned.scan.bound.checked_sub(1).filter(|_| next);
    let starts = with_numbers(sample::rows(&prefix, MOST_STARTS), last);
    let own = other.path == scanned.layout.path;
    let rows = with_numbers(sample::rows(other.sequence, MOST_ROWS), last.filter(|_| own));
    let rows: Vec<Side> = rows.iter().filter_map(|row| Side::key(other.path, other.sequence, row)).collect();
    let mut best: Option<Witness> = None;
    for (start, end) in starts.iter().filter_map(|bound| ends(scanned, bound)) {
        for row in &rows {
            let short =
                best.as_ref().is_none_or(|best| row.bytes.len().max(start.bytes.len()) < best.length());
            let belongs = own && row.values.starts_with(&start.values);
            if short && belongs == (fault == Fault::Outside) {
                let found = faulty(start.clone(), end.clone(), row.clone(), fault);
                best = found.or(best);
            }
        }
    }
    best
}

/// Rows, and some of them again with other numbers for one argument: neighbours, and those that text puts between them.
fn with_numbers(mut rows: Vec<Vec<Value>>, at: Option<usize>) -> Vec<Vec<Value>> {
    let Some(at) = at else { return rows };
    let few: Vec<Vec<Value>> = rows.iter().take(6).cloned().collect();
    for row in few {
        for number in (0..=30u8).chain([99, 100, 101, 110, 127, 128, 200, 255]) {
            let mut row = row.clone();
            match row.get_mut(at) {
                Some(value @ Value::Unsigned(_)) => *value = Value::Unsigned(u128::from(number)),
                Some(value @ Value::Signed(_)) => *value = Value::Signed(i128::from(number)),
                _ => continue,
            }
            rows.push(row);
        }
    }
    rows
}
