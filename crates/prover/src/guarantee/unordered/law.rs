//! KP0005: a scan `in order` is in order.
//!
//! The order is right if it is right inside of every argument, where two keys differ in a byte of one value, and
//! wherever one key has left an argument that the other is still in. The first is known for each encoding; the
//! second is a question to the product.

use std::collections::BTreeSet;

use keyplan_plan::codec::Heights;
use keyplan_plan::dynamic::Value;
use keyplan_plan::model::{
    BytesEncoding, Frame, Framing, IntShape, NibbleEncoding, OrderRule, Scan, ScoreEncoding, Segment,
    Sequence, Shape,
};
use keyplan_plan::order::sort_by;

use crate::automaton::{Arena, Drawing, Precision, draw};
use crate::guarantee::digest::not_realised;
use crate::guarantee::leak::law::Scanned;
use crate::guarantee::listed;
use crate::guarantee::unordered::faults::faults;
use crate::guarantee::unordered::lengths::{
    few_sort, is_empty_or_one, lengths_rise, lengths_sort, right_at_one_length,
};
use crate::guarantee::unordered::merging::is_right_up_to_the_last;
use crate::guarantee::unordered::{merged, parts};
use crate::layout::MOST_NODES;
use crate::least::{least_row, least_value, with};
use crate::product::search::Search;
use crate::product::{Budget, Goal, Outcome, Product};
use crate::proof::{Reason, Side, Verdict, Witness};
use crate::reader::{Effort, read, rewritten};
use crate::sample;
use crate::sure::{mark, rest};

const MOST_WORDS: usize = 8;
const MOST_ROWS: usize = 1_500;
/// Of a key that can be read in many ways few are out of order with another key.
const MOST_READINGS: usize = 16;

/// Decides whether the rows of a scan come in the logical order of their remaining arguments.
pub(crate) fn ordered(arena: &mut Arena, scanned: Scanned<'_, '_>, budget: &mut Budget) -> Verdict {
    match by_graph(arena, scanned, budget) {
        Verdict::Unknown(_) if parts::decide(arena, scanned, budget) => Verdict::Holds,
        Verdict::Unknown(reason) => listed::ordered(scanned, budget)
            .or_else(|| {
                let bound = least_bound(arena, scanned).filter(|_| scanned.scan.part.is_none())?;
                listed::ordered_after(scanned, &bound, budget).or_else(|| {
                    let found = merged::out_of_order(arena, scanned, &bound)
                        .or_else(|| before_their_arguments(arena, scanned, budget))?;
                    Some(Verdict::Fails(Box::new(found)))
                })
            })
            .unwrap_or(Verdict::Unknown(reason)),
        verdict => verdict,
    }
}

/// Two rows in the wrong order by a part that is derived from arguments after it: equal up to that part, and after it any of the
/// values, if they are few.
fn before_their_arguments(
    arena: &mut Arena,
    scanned: Scanned<'_, '_>,
    budget: &mut Budget,
) -> Option<Witness> {
    let (sequence, from) = (scanned.layout.sequence, scanned.scan.segments);
    let early = |(index, segment): &(usize, &Segment)| match segment {
        Segment::Derived(derived) => derived.of.iter().any(|of| of > index),
        _ => false,
    };
    let (at, _) = sequence.segments().iter().enumerate().skip(from + 1).find(early)?;
    let scan = Scan { bound: sequence.arguments_before(at), segments: at, ..scanned.scan.clone() };
    let narrowed = Scanned { layout: scanned.layout, scan: &scan };
    let bound = least_bound(arena, narrowed)?;
    match listed::ordered_after(narrowed, &bound, budget)? {
        Verdict::Fails(witness) => match *witness {
            Witness::Disorder { first, second } => {
                Witness::disorder(sequence, scanned.scan.bound, first, second)
            }
            _ => None,
        },
        _ => None,
    }
}

/// The same by the graph of the layout.
pub(crate) fn by_graph(arena: &mut Arena, scanned: Scanned<'_, '_>, budget: &mut Budget) -> Verdict {
    let Some(drawing) = &scanned.layout.drawing else { return Verdict::Unknown(scanned.layout.undrawn()) };
    let rule = rows_right(scanned.layout.sequence, scanned.scan.segments);
    match attempt(arena, scanned, drawing, rule, budget) {
        Verdict::Unknown(Reason::NotRealised { .. }) if drawing.coarse => match scanned.layout.fine(arena) {
            Some(drawing) => attempt(arena, scanned, &drawing, rule, budget),
            None => Verdict::Unknown(not_realised(&[drawing])),
        },
        verdict => verdict,
    }
}

/// The segment after the first argument that the scan leaves free.
pub(crate) fn behind_next(sequence: &Sequence, segments: usize) -> Option<usize> {
    let segment = sequence.segments().get(segments)?;
    matches!(segment, Segment::Argument(_)).then_some(segments + 1)
}

fn attempt(
    arena: &mut Arena,
    scanned: Scanned<'_, '_>,
    drawing: &Drawing,
    rule: Result<(), &'static str>,
    budget: &mut Budget,
) -> Verdict {
    let sequence = scanned.layout.sequence;
    let segments = mark(scanned.scan.segments);
    let Some(region) = arena.behind_mark(drawing.start, segments) else {
        return Verdict::Unknown(Reason::TooLarge);
    };
    let goal = Goal::Disorder { stop: None };
    let outcome = Product::new(arena, goal).disorder(region, None, budget);
    let range = match behind_next(sequence, scanned.scan.segments) {
        Some(stop) if outcome == Outcome::Never => {
            let stop = u32::try_from(stop).ok();
            Product::new(arena, Goal::Disorder { stop }).disorder(region, stop, budget)
        }
        _ => Outcome::Never,
    };
    let seen = drawing.hidden.is_empty() || region_is_seen(arena, scanned);
    if rule.is_ok() && outcome == Outcome::Never && range == Outcome::Never && seen {
        return Verdict::Holds;
    }
    let Some(bound) = least_bound(arena, scanned) else {
        return Verdict::Unknown(not_realised(&[drawing]));
    };
    if budget.is_spent() {
        return Verdict::Unknown(Reason::TooManySteps);
    }
    budget.spend(2_000);
    let between = if outcome == Outcome::Never { None } else { searched(arena, scanned, region, &bound) };
    let inside = if rule.is_ok() { None } else { inside(arena, scanned, &bound) };
    let shortest = between.into_iter().chain(inside).min_by_key(Witness::length);
    if let Some(witness) = shortest.or_else(|| sampled(scanned, &bound)) {
        return Verdict::Fails(Box::new(witness));
    }
    Verdict::Unknown(match (rule, outcome, range) {
        (Err(why), ..) => Reason::Order { why },
        (_, Outcome::Exhausted, _) | (_, _, Outcome::Exhausted) => Reason::TooManySteps,
        _ => not_realised(&[drawing]),
    })
}

/// Whether nothing after the scan's prefix is drawn as plain bytes.
fn region_is_seen(arena: &mut Arena, scanned: Scanned<'_, '_>) -> bool {
    let segments = scanned.layout.sequence.segments();
    let region = Sequence::new(rest(segments, scanned.scan.segments).to_vec());
    draw(arena, &region, &BTreeSet::new(), Precision::Coarse, MOST_NODES)
        .is_some_and(|drawing| drawing.hidden.is_empty())
}

/// The bound arguments with the shortest prefix.
pub(crate) fn least_bound(arena: &mut Arena, scanned: Scanned<'_, '_>) -> Option<Side> {
    let prefix = scanned.prefix();
    let side = |row: &[Value]| {
        Side::prefix(scanned.layout.path, scanned.layout.sequence, scanned.scan.segments, row)
    };
    least_row(arena, &prefix)
        .and_then(|row| side(&row))
        .or_else(|| sample::rows(&prefix, 64).iter().find_map(|row| side(row)))
}

/// Two rows that differ in a byte of one argument, the shortest of those that are known to be in the wrong order.
fn inside(arena: &mut Arena, scanned: Scanned<'_, '_>, bound: &Side) -> Option<Witness> {
    let (path, sequence) = (scanned.layout.path, scanned.layout.sequence);
    let count = scanned.scan.bound;
    let mut base = bound.values.clone();
    for argument in sequence.arguments().skip(count) {
        base.push(least_value(arena, &argument.shape)?);
    }
    let mut best: Option<Witness> = None;
    for (index, argument) in sequence.arguments().enumerate().skip(count) {
        if right(&argument.shape).is_ok() {
            continue;
        }
        for (smaller, larger) in faults(arena, &argument.shape) {
            let side = |value: Value| Side::key(path, sequence, &with(&base, index, value));
            let (Some(a), Some(b)) = (side(smaller), side(larger)) else { continue };
            let length = a.bytes.len().max(b.bytes.len());
            if best.as_ref().is_none_or(|best| length < best.length())
                && let Some(witness) = Witness::disorder(sequence, count, a, b)
            {
                best = Some(witness);
            }
        }
    }
    best
}

fn searched(
    arena: &mut Arena,
    scanned: Scanned<'_, '_>,
    region: crate::automaton::NodeId,
    bound: &Side,
) -> Option<Witness> {
    let (path, sequence) = (scanned.layout.path, scanned.layout.sequence);
    let mut search = Search::of_one(arena, Goal::Disorder { stop: None }, region);
    let effort = &mut Effort::new();
    for _ in 0..MOST_WORDS {
        let found = search.next()?;
        let key = |tail: &[u8]| [bound.bytes.as_slice(), &found.common, tail].concat();
        let mut rows = |key: &[u8]| -> Vec<Vec<Value>> {
            let own = |row: &Vec<Value>| row.starts_with(&bound.values);
            let rows: Vec<_> = read(sequence, key, MOST_READINGS, effort).into_iter().filter(own).collect();
            if !rows.is_empty() {
                return rows;
            }
            // A copy or a derived part that does not fit is written again.
            rewritten(sequence, key, MOST_READINGS, effort).into_iter().filter(own).collect()
        };
        let (firsts, seconds) = (rows(&key(&found.first)), rows(&key(&found.second)));
        for first in &firsts {
            for second in &seconds {
                let (Some(a), Some(b)) =
                    (Side::key(path, sequence, first), Side::key(path, sequence, second))
                else {
                    continue;
                };
                if let Some(witness) = Witness::disorder(sequence, scanned.scan.bound, a, b) {
                    return Some(witness);
                }
            }
        }
    }
    None
}

/// Sampled rows in the wrong order, or on the wrong side of a range's end; the shortest.
fn sampled(scanned: Scanned<'_, '_>, bound: &Side) -> Option<Witness> {
    let (path, sequence) = (scanned.layout.path, scanned.layout.sequence);
    let count = scanned.scan.bound;
    let mut columns: Vec<Vec<Value>> = bound.values.iter().map(|value| vec![value.clone()]).collect();
    columns.extend(sequence.arguments().skip(count).map(|argument| sample::values(&argument.shape)));
    let rows = sample::combine(&columns, MOST_ROWS);
    let simplest: Vec<Side> = rows.iter().take(40).filter_map(|row| Side::key(path, sequence, row)).collect();
    let mut sides: Vec<Side> = rows.iter().filter_map(|row| Side::key(path, sequence, row)).collect();
    sort_by(&mut sides, |a, b| a.bytes.cmp(&b.bytes));
    let mut best: Option<Witness> = None;
    let keep = |best: &mut Option<Witness>, witness: Option<Witness>| {
        if let Some(witness) = witness
            && best.as_ref().is_none_or(|best| witness.length() < best.length())
        {
            *best = Some(witness);
        }
    };
    for (index, a) in simplest.iter().enumerate() {
        for b in simplest.iter().skip(index + 1) {
            keep(&mut best, Witness::disorder(sequence, count, a.clone(), b.clone()));
        }
    }
    for pair in sides.windows(2) {
        if let [a, b] = pair {
            keep(&mut best, Witness::disorder(sequence, count, a.clone(), b.clone()));
        }
    }
    if best.is_some() {
        return best;
    }
    let stop = behind_next(sequence, scanned.scan.segments)?;
    let ends: Vec<Side> = columns
        .get(count)
        .into_iter()
        .flatten()
        .filter_map(|value| {
            let mut values = bound.values.clone();
            values.push(value.clone());
            Side::prefix(path, sequence, stop, &values)
        })
        .collect();
    for end in &ends {
        for row in sides.iter().take(400) {
            keep(&mut best, Witness::range_end(sequence, count, end.clone(), row.clone()));
        }
    }
    best
}

/// Whether byte order is logical order inside of every argument from a segment on, as far as rows can tell; else why not.
fn rows_right(sequence: &Sequence, from: usize) -> Result<(), &'static str> {
    let strictly = segments_right(sequence, from, sequence.segments().len());
    if is_right_up_to_the_last(sequence, from) { Ok(()) } else { strictly }
}

/// Whether byte order is logical order inside of every argument of some segments; else why not.
pub(super) fn segments_right(sequence: &Sequence, from: usize, to: usize) -> Result<(), &'static str> {
    for (index, segment) in sequence.segments().iter().enumerate().take(to).skip(from) {
        match segment {
            // A copy is equal where its argument is.
            Segment::Literal(_) | Segment::Same(_) => {}
            Segment::Argument(argument) => right(&argument.shape)?,
            Segment::Derived(derived) => {
                if derived.of.iter().any(|&of| of > index) {
                    return Err("a part that is derived from later arguments comes before them");
                }
            }
        }
    }
    Ok(())
}

/// Whether byte order is logical order where two values of a shape differ in a byte; else why not.
///
/// `Ok` must mean that the graph of the shape keeps its ways in logical order.
pub(crate) fn right(shape: &Shape) -> Result<(), &'static str> {
    match shape {
        Shape::Int(int) => int_right(int),
        Shape::Float(encoding) => match encoding.row().order {
            OrderRule::Kept => Ok(()),
            OrderRule::FromZero => Err("negative floats sort above positive ones in IEEE-754 bits"),
            _ => Err("-0.0 and NaN sort out of place"),
        },
        Shape::Bool(encoding) if encoding.row().order != OrderRule::Kept => {
            Err("truth values do not sort in this form")
        }
        Shape::Time(encoding) if encoding.row().order != OrderRule::Kept => {
            Err("times do not sort in this form")
        }
        Shape::Score { heights, encoding } => match (encoding, encoding.row().order) {
            (_, OrderRule::Kept) => Ok(()),
            (ScoreEncoding::HeightScore, _) if heights.is_some_and(Heights::are_told) => Ok(()),
            _ if encoding.is_float() => Err("the float of a score does not keep chain order"),
            _ => Err("scores do not sort in this form"),
        },
        Shape::Bytes { lengths, encoding } => match (encoding, encoding.row().order) {
            (_, OrderRule::Kept | OrderRule::Lengths) => Ok(()),
            // All of them are filled up with equally many zeros, or with none.
            (BytesEncoding::Fit(width), _) if lengths.fixed().is_some_and(|length| length <= *width) => {
                Ok(())
            }
            (BytesEncoding::Fit(_), _) => Err("bytes that are cut or padded to a width lose their order"),
            (_, OrderRule::OneLength) if lengths.fixed().is_some() => Ok(()),
            (_, OrderRule::LowestByte) => Err("little-endian numbers sort by their least significant byte"),
            (_, OrderRule::OneSign) => Err("negative numbers sort above positive ones in two's complement"),
            (BytesEncoding::Bech32(_), _) => Err("bech32 does not keep the order of bytes"),
            (BytesEncoding::Base58 { .. }, _) => Err("base58 does not keep the order of bytes"),
            _ => Err("bytes do not sort in this form"),
        },
        Shape::Bool(_) | Shape::Time(_) | Shape::Opaque(_) | Shape::Text(_) => Ok(()),
        Shape::Nibbles { lengths, encoding } => match (encoding, encoding.row().order) {
            (_, OrderRule::Kept | OrderRule::Lengths) => Ok(()),
            (_, OrderRule::OneLength) if lengths.fixed().is_some() => Ok(()),
            (NibbleEncoding::Counted, _) if is_empty_or_one(lengths) => Ok(()),
            (NibbleEncoding::HexPrefix, _) => Err("the hex-prefix form puts paths of even length first"),
            (NibbleEncoding::Counted, _) => Err("a count in front sorts shorter paths first"),
            _ => Err("paths of different lengths do not sort in this form"),
        },
        Shape::Record(_) | Shape::Choice(_) => {
            shape.rows().try_for_each(|row| segments_right(row, 0, usize::MAX))
        }
        Shape::Option(inner) | Shape::Desc(inner) => right(inner),
        Shape::List { item, counts, framing } => match framing {
            Framing::Counted(_) if !is_empty_or_one(counts) => Err("a count sorts shorter lists first"),
            _ => right(item),
        },
        Shape::Framed { frame, inner } => match frame {
            Frame::Len(width) if lengths_rise(inner) && lengths_sort(*width, inner) => {
                right_at_one_length(inner)
            }
            Frame::Len(_) => Err("a length in front sorts shorter values first"),
            frame if frame.row().order == OrderRule::Within => right(inner),
            _ => Err("what is framed does not sort in this form"),
        },
        Shape::Hashed { .. } | Shape::HashConcat { .. } => Err("a hash does not keep order"),
    }
}

fn int_right(int: &IntShape) -> Result<(), &'static str> {
    if int.keeps_order() || few_sort(int) {
        return Ok(());
    }
    Err(match int.encoding.row().order {
        OrderRule::OneSign => "negative numbers sort above positive ones in two's complement",
        OrderRule::LowestByte => "little-endian bytes do not sort as numbers",
        OrderRule::Digits(_) => "numbers of different lengths do not sort as text",
        OrderRule::FromZero => "negative numbers are all written as 0",
        OrderRule::SameAbove => "the bytes that are left out sort first",
        OrderRule::Unlost => "numbers that are written alike have no order",
        _ => "numbers of different lengths do not sort in this form",
    })
}
