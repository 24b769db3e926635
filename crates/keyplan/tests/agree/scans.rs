use std::cmp::Ordering;
use std::ops::Bound;

use keyplan::laws::{Limit, Rows, ScanEntry, Window};
use keyplan::plan::dynamic::{Value, prefix};
use keyplan::plan::model::{Plan, Shape};

/// A key that was made, and of what.
pub(crate) struct Sample {
    pub(crate) family: &'static str,
    pub(crate) values: Vec<Value>,
    pub(crate) key: Vec<u8>,
}

/// How many bindings of a scan are tried.
const BINDINGS: usize = 12;

/// Among all keys of a space, those in the range of a scan are the keys of the family with the bound arguments, and no
/// others; limits, directions and cursors keep to the order of the arguments.
pub(crate) fn scans_return_exactly_their_rows(plan: &Plan, entry: &ScanEntry, keys: &[&Sample]) {
    let family = plan.families().find(|(_, family)| family.path == entry.family).unwrap().1;
    let mut by_arguments = family.scans.iter().filter(|scan| scan.part.is_none());
    let declared = by_arguments.find(|scan| (scan.bound, scan.bare) == (entry.bound, entry.bare)).unwrap();
    let own: Vec<&Sample> = keys.iter().copied().filter(|sample| sample.family == entry.family).collect();
    for sample in own.iter().take(BINDINGS) {
        let bound = &sample.values[..entry.bound];
        let mut expected_prefix = Vec::new();
        prefix(&family.key, declared.segments, bound, &mut expected_prefix).unwrap();
        let rows = (entry.rows)(bound, &Window::default()).unwrap();
        assert_eq!(rows.prefix, expected_prefix, "{} by {bound:?}", entry.family);
        let mut wanted: Vec<&Sample> = own
            .iter()
            .copied()
            // What an encoding loses it loses in the prefix too: the rows are those that begin with the same bytes.
            .filter(|other| {
                let mut other_prefix = Vec::new();
                let bound = &other.values[..entry.bound];
                prefix(&family.key, declared.segments, bound, &mut other_prefix).unwrap();
                other_prefix == expected_prefix
            })
            .collect();
        for other in &wanted {
            let differs = other.values[..entry.bound] != *bound;
            assert!(
                !differs || family.key.arguments().any(|argument| super::loses(&argument.shape)),
                "{}: {:?} has the prefix of {bound:?}",
                entry.family,
                other.values
            );
        }
        wanted.sort_by(|left, right| left.key.cmp(&right.key));
        wanted.dedup_by(|left, right| left.key == right.key);
        let all: Vec<&[u8]> = wanted.iter().map(|sample| sample.key.as_slice()).collect();
        assert_eq!(inside(&rows, keys), all, "{} by {bound:?}", entry.family);
        pages(entry, bound, &all);
        if entry.ordered {
            let next = family.key.arguments().nth(entry.bound).unwrap();
            limits(entry, bound, &next.shape, &wanted, keys);
        }
    }
}

/// The keys in a range, in their order.
fn inside<'s>(rows: &Rows, keys: &[&'s Sample]) -> Vec<&'s [u8]> {
    let mut found: Vec<&[u8]> =
        keys.iter().map(|sample| sample.key.as_slice()).filter(|key| contains(rows, key)).collect();
    found.sort_unstable();
    found.dedup();
    found
}

fn contains(rows: &Rows, key: &[u8]) -> bool {
    let start = match &rows.range.0 {
        Bound::Included(start) => start.as_slice() <= key,
        Bound::Excluded(start) => start.as_slice() < key,
        Bound::Unbounded => true,
    };
    start
        && match &rows.range.1 {
            Bound::Included(end) => key <= end.as_slice(),
            Bound::Excluded(end) => key < end.as_slice(),
            Bound::Unbounded => true,
        }
}

/// Goes through the rows one at a time, each after the last, in both directions.
fn pages(entry: &ScanEntry, bound: &[Value], all: &[&[u8]]) {
    for reverse in [false, true] {
        let mut cursor: Option<&[u8]> = None;
        let mut seen = Vec::new();
        loop {
            let rows = (entry.rows)(bound, &Window { cursor, reverse, ..Window::default() }).unwrap();
            let mut left = all.iter().copied().filter(|key| contains(&rows, key));
            let Some(next) = (if reverse { left.next_back() } else { left.next() }) else { break };
            seen.push(next);
            cursor = Some(next);
            assert!(seen.len() <= all.len(), "{}: the cursor does not move", entry.family);
        }
        if reverse {
            seen.reverse();
        }
        assert_eq!(seen, all, "{} by {bound:?}, reverse: {reverse}", entry.family);
    }
}

fn limits(entry: &ScanEntry, bound: &[Value], shape: &Shape, wanted: &[&Sample], keys: &[&Sample]) {
    let next = |sample: &Sample| sample.values[entry.bound].clone();
    for sample in wanted.iter().take(BINDINGS) {
        let at = next(sample);
        for limit in [Limit::AtOrAbove, Limit::Above, Limit::Below, Limit::AtOrBelow] {
            let window = Window { limits: &[(limit, at.clone())], ..Window::default() };
            let rows = (entry.rows)(bound, &window).unwrap();
            let kept: Vec<&[u8]> = wanted
                .iter()
                .filter(|other| {
                    let order = compared(shape, &next(other), &at);
                    match limit {
                        Limit::AtOrAbove => order.is_ge(),
                        Limit::Above => order.is_gt(),
                        Limit::Below => order.is_lt(),
                        Limit::AtOrBelow => order.is_le(),
                    }
                })
                .map(|sample| sample.key.as_slice())
                .collect();
            assert_eq!(inside(&rows, keys), kept, "{} by {bound:?} {limit:?} {at:?}", entry.family);
        }
    }
}

/// The order of two arguments that a scan may be limited by.
fn compared(shape: &Shape, left: &Value, right: &Value) -> Ordering {
    match (shape, left, right) {
        (Shape::Hashed { .. }, left, right) => {
            let digest = |value: &Value| {
                let mut digest = Vec::new();
                keyplan::plan::dynamic::encode_one(shape, value, &mut digest).unwrap();
                digest
            };
            digest(left).cmp(&digest(right))
        }
        (_, Value::Unsigned(left), Value::Unsigned(right)) => left.cmp(right),
        (_, Value::Signed(left), Value::Signed(right)) | (_, Value::Time(left), Value::Time(right)) => {
            left.cmp(right)
        }
        (_, Value::Bool(left), Value::Bool(right)) => left.cmp(right),
        (_, Value::Text(left), Value::Text(right)) => left.cmp(right),
        (_, Value::Bytes(left), Value::Bytes(right)) | (_, Value::Nibbles(left), Value::Nibbles(right)) => {
            left.cmp(right)
        }
        (_, left, right) => panic!("{left:?} and {right:?} bound no scan"),
    }
}
