//! What a list of keys says about a guarantee.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashSet};

use keyplan_plan::dynamic::{Value, encode, prefix};
use keyplan_plan::model::{BytesEncoding, Family, Scan, ScanEnd, Segment, Sequence, Shape};
use keyplan_prover::{Guarantee, Options, Statement, Verdict};

use crate::values::rows;

/// The most keys of one family that are listed.
const MOST_KEYS: usize = 400;

/// How many rows behind a row are compared with it where there are too many to compare them all.
const MOST_NEIGHBOURS: usize = 24;

/// Logical order, written apart from the prover's.
fn logical(shape: &Shape, a: &Value, b: &Value) -> Option<Ordering> {
    Some(match (shape, a, b) {
        (Shape::Desc(inner), ..) => logical(inner, a, b)?.reverse(),
        (Shape::Framed { inner, .. } | Shape::Hashed { inner, .. } | Shape::HashConcat { inner, .. }, ..) => {
            logical(inner, a, b)?
        }
        (Shape::Record(sequence), Value::Record(a), Value::Record(b)) => logical_rows(sequence, 0, a, b)?,
        (Shape::Choice(list), Value::Choice(i, a), Value::Choice(j, b)) => {
            if i == j {
                logical_rows(&list[*i].sequence, 0, a, b)?
            } else {
                i.cmp(j)
            }
        }
        (Shape::Option(inner), Value::Option(a), Value::Option(b)) => match (a, b) {
            (Some(a), Some(b)) => logical(inner, a, b)?,
            _ => a.is_some().cmp(&b.is_some()),
        },
        (Shape::List { item, .. }, Value::List(a), Value::List(b)) => {
            for (x, y) in a.iter().zip(b) {
                let order = logical(item, x, y)?;
                if order.is_ne() {
                    return Some(order);
                }
            }
            a.len().cmp(&b.len())
        }
        (
            Shape::Bytes { encoding: BytesEncoding::Wide { signed: true, .. }, .. },
            Value::Bytes(a),
            Value::Bytes(b),
        ) => {
            // The first byte has the sign.
            a[0].cast_signed().cmp(&b[0].cast_signed()).then(a[1..].cmp(&b[1..]))
        }
        (_, Value::Unsigned(a), Value::Unsigned(b)) => a.cmp(b),
        (_, Value::Signed(a), Value::Signed(b)) | (_, Value::Time(a), Value::Time(b)) => a.cmp(b),
        (_, Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        (_, Value::Float(a), Value::Float(b)) => a.partial_cmp(b)?,
        (_, Value::Bytes(a) | Value::Nibbles(a), Value::Bytes(b) | Value::Nibbles(b)) => a.cmp(b),
        (_, Value::Text(a), Value::Text(b)) => a.cmp(b),
        (_, Value::Score(a), Value::Score(b)) => a.cmp(b),
        _ => return None,
    })
}

pub(crate) fn logical_rows(sequence: &Sequence, from: usize, a: &[Value], b: &[Value]) -> Option<Ordering> {
    for (argument, (x, y)) in sequence.arguments().zip(a.iter().zip(b)).skip(from) {
        let order = logical(&argument.shape, x, y)?;
        if order.is_ne() {
            return Some(order);
        }
    }
    Some(Ordering::Equal)
}

/// A key and its arguments.
pub(crate) type Row = (Vec<u8>, Vec<Value>);

/// A family with its keys.
pub(crate) struct Listed<'p> {
    pub(crate) family: &'p Family,
    pub(crate) keys: Vec<Row>,
    pub(crate) complete: bool,
}

pub(crate) fn list(family: &Family) -> Listed<'_> {
    let (rows, complete) = rows(&family.key, MOST_KEYS);
    let mut keys: Vec<Row> = rows
        .into_iter()
        .filter_map(|row| {
            let mut key = Vec::new();
            encode(&family.key, &row, &mut key).ok().map(|()| (key, row))
        })
        .collect();
    keys.sort_by(|a, b| a.0.cmp(&b.0));
    Listed { family, keys, complete }
}

/// A counterexample among the listed keys.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    /// The bytes of its longest key; no other has fewer.
    pub(crate) length: usize,
    /// Whether it is a row beyond the end of a range, where no two rows are in the wrong order.
    pub(crate) at_an_end: bool,
}

/// How many of the listed keys are compared with one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Care {
    /// All, but for the rows and the ends of ranges of a large family, of which some are.
    Quick,
    /// Each with each, so that nothing found means that nothing is there.
    Every,
}

/// What enumeration says of a statement: the shortest counterexample, if there is one, and whether all keys were listed.
pub(crate) fn enumerate(statement: &Statement, all: &[Listed<'_>]) -> (Option<Found>, bool) {
    let find = |path: &str| all.iter().find(|listed| listed.family.path == path).unwrap();
    let own = find(&statement.family);
    let complete = all.iter().all(|listed| listed.complete);
    let shortest = match statement.guarantee {
        Guarantee::Disjoint => {
            // Without another family the statement is about all of them.
            let others = all.iter().filter(|listed| match &statement.other {
                Some(other) => listed.family.path == *other,
                None => listed.family.path != statement.family,
            });
            let keys: HashSet<&[u8]> = own.keys.iter().map(|(key, _)| key.as_slice()).collect();
            others
                .flat_map(|other| &other.keys)
                .map(|(key, _)| key)
                .filter(|key| keys.contains(key.as_slice()))
                .map(Vec::len)
                .min()
        }
        Guarantee::Unambiguous => own
            .keys
            .windows(2)
            .filter(|pair| pair[0].0 == pair[1].0 && pair[0].1 != pair[1].1)
            .map(|pair| pair[0].0.len())
            .min(),
        Guarantee::NoForeignRows => {
            let others = all.iter().filter(|listed| listed.family.path != statement.family);
            let scan = own.family.scan(statement.scan.unwrap()).unwrap();
            let others = others.filter(|other| !scan.wants(&other.family.path));
            let mut rows: Vec<&Row> = others.flat_map(|other| &other.keys).collect();
            if scan.filtered {
                let keys: HashSet<&[u8]> = own.keys.iter().map(|(key, _)| key.as_slice()).collect();
                rows.retain(|(key, _)| keys.contains(key.as_slice()));
            }
            leaks(own, scan, &rows, false)
        }
        Guarantee::NoSiblingRows => {
            let scan = own.family.scan(statement.scan.unwrap()).unwrap();
            leaks(own, scan, &own.keys.iter().collect::<Vec<_>>(), true)
        }
        Guarantee::NoMissingRows => missing(own, own.family.scan(statement.scan.unwrap()).unwrap()),
        Guarantee::InOrder => {
            let scan = own.family.scan(statement.scan.unwrap()).unwrap();
            let found = disorder(own, scan, Care::Quick);
            // Only where a refutation would be contradicted does it matter that nothing was passed over.
            let doubted = found.is_none() && matches!(statement.verdict, Verdict::Fails(_));
            return (if doubted { disorder(own, scan, Care::Every) } else { found }, complete);
        }
        Guarantee::Fits => {
            let limit = Options::default().engine.longest_key();
            own.keys.iter().map(|(key, _)| key.len()).filter(|&length| length > limit).min()
        }
        _ => return (None, false),
    };
    (shortest.map(|length| Found { length, at_an_end: false }), complete)
}

/// The shortest row that a scan returns though it should not.
fn leaks(own: &Listed<'_>, scan: &Scan, rows: &[&Row], siblings: bool) -> Option<usize> {
    let mut rows = rows.to_vec();
    rows.sort_by(|a, b| a.0.cmp(&b.0));
    if scan.end != ScanEnd::Prefix {
        return leaks_of_range(own, scan, &rows, siblings);
    }
    let mut prefixes: Vec<(Vec<u8>, Vec<Value>)> = Vec::new();
    let front = scan.prefix(&own.family.key);
    // A derived part may be scanned by a value that no listed row has.
    let others = scan.part.iter().flat_map(|_| crate::values::rows(&front, MOST_KEYS).0);
    for bound in own.keys.iter().map(|(_, values)| bound_of(own.family, scan, values)).chain(others) {
        let mut bytes = Vec::new();
        if encode(&front, &bound, &mut bytes).is_ok() {
            prefixes.push((bytes, bound));
        }
    }
    prefixes.sort_by(|a, b| a.0.cmp(&b.0));
    prefixes.dedup();
    let mut best = None;
    for (prefix, bound) in prefixes {
        let from = rows.partition_point(|(key, _)| key.as_slice() < prefix.as_slice());
        for (key, values) in rows[from..].iter().take_while(|(key, _)| key.starts_with(&prefix)) {
            if !siblings || bound_of(own.family, scan, values) != bound {
                best = best.min(Some(key.len())).or(Some(key.len()));
            }
        }
    }
    best
}

/// By what a row is scanned, written apart from the model's: the number of a derived part is read from the row's own bytes.
pub(crate) fn bound_of(family: &Family, scan: &Scan, row: &[Value]) -> Vec<Value> {
    let mut bound = row[..scan.bound].to_vec();
    if let Some(part) = &scan.part {
        let mut front = Vec::new();
        prefix(&family.key, part.segment, &bound, &mut front).unwrap();
        let mut key = Vec::new();
        encode(&family.key, row, &mut key).unwrap();
        // The random plans write it as one byte.
        bound.push(Value::Unsigned(key[front.len()].into()));
    }
    bound
}

/// The first key of a range, its end, and whether the end is in it.
pub(crate) type Ends = (Vec<u8>, Vec<u8>, bool);

/// The start and the end of a range, and whether the end is in it; written apart from the prover's.
pub(crate) fn range(family: &Family, scan: &Scan, bound: &[Value]) -> Option<Ends> {
    let front = |bound: &[Value]| {
        let mut bytes = Vec::new();
        prefix(&family.key, scan.segments, bound, &mut bytes).ok().map(|()| bytes)
    };
    let start = front(bound)?;
    let (end, included) = match &scan.end {
        ScanEnd::Prefix => return None,
        ScanEnd::Next => {
            let mut next = bound.to_vec();
            match next.last_mut()? {
                Value::Unsigned(number) => *number = number.checked_add(1)?,
                Value::Signed(number) => *number = number.checked_add(1)?,
                _ => return None,
            }
            (front(&next)?, false)
        }
        ScanEnd::Before(end) => ([start.as_slice(), end].concat(), false),
        ScanEnd::Through(end) => ([start.as_slice(), end].concat(), true),
    };
    Some((start, end, included))
}

/// The ranges of a scan, with their bound arguments.
fn ranges<'l>(own: &'l Listed<'_>, scan: &Scan) -> Vec<(&'l [Value], Ends)> {
    let mut all: Vec<_> = own
        .keys
        .iter()
        .filter_map(|(_, values)| {
            Some((&values[..scan.bound], range(own.family, scan, &values[..scan.bound])?))
        })
        .collect();
    all.dedup();
    all
}

fn within((start, end, included): &Ends, key: &Vec<u8>) -> bool {
    key >= start && (key < end || *included && key == end)
}

/// The shortest row that a range holds though it should not.
fn leaks_of_range(own: &Listed<'_>, scan: &Scan, rows: &[&Row], siblings: bool) -> Option<usize> {
    let mut best: Option<usize> = None;
    for (bound, range) in ranges(own, scan) {
        for (key, values) in rows {
            if within(&range, key) && (!siblings || !values.starts_with(bound)) {
                let length = key.len().max(range.0.len());
                best = Some(best.map_or(length, |best| best.min(length)));
            }
        }
    }
    best
}

/// The shortest row that a range leaves out though it belongs to it.
fn missing(own: &Listed<'_>, scan: &Scan) -> Option<usize> {
    let rows = own.keys.iter().filter_map(|(key, values)| {
        let range = range(own.family, scan, &values[..scan.bound])?;
        (!within(&range, key)).then_some(key.len())
    });
    rows.min()
}

/// The shortest of the longer keys of two rows in the wrong order; without such, of the end of a range and a row on
/// its wrong side.
fn disorder(own: &Listed<'_>, scan: &Scan, care: Care) -> Option<Found> {
    let key = &own.family.key;
    let (segments, bound) = (scan.segments, scan.bound);
    let mut groups: BTreeMap<String, Vec<&Row>> = BTreeMap::new();
    for row in &own.keys {
        groups.entry(format!("{:?}", &row.1[..bound])).or_default().push(row);
    }
    let next = match key.segments().get(segments) {
        Some(Segment::Argument(argument)) => Some(argument),
        _ => None,
    };
    let (mut of_rows, mut of_ends): (Option<usize>, Option<usize>) = (None, None);
    let keep =
        |best: &mut Option<usize>, length: usize| *best = Some(best.map_or(length, |best| best.min(length)));
    for rows in groups.values() {
        let few = |most: usize| if care == Care::Every { 1 } else { 1 + rows.len() / most };
        let near = if rows.len() <= 64 || care == Care::Every { rows.len() } else { MOST_NEIGHBOURS };
        for (index, (a, x)) in rows.iter().enumerate() {
            for (b, y) in rows.iter().skip(index + 1).take(near) {
                if logical_rows(key, bound, x, y) == Some(Ordering::Greater) && a < b {
                    keep(&mut of_rows, a.len().max(b.len()));
                }
            }
        }
        let Some(argument) = next else { continue };
        for (_, x) in rows.iter().step_by(few(40)) {
            let mut end = Vec::new();
            prefix(key, segments + 1, &x[..=bound], &mut end).unwrap();
            for (b, y) in rows.iter().step_by(few(120)) {
                let Some(order) = logical(&argument.shape, &y[bound], &x[bound]) else { continue };
                if (order != Ordering::Less) != (*b >= end) {
                    keep(&mut of_ends, b.len().max(end.len()));
                }
            }
        }
    }
    let found = |at_an_end: bool| move |length: usize| Found { length, at_an_end };
    of_rows.map(found(false)).or(of_ends.map(found(true)))
}
