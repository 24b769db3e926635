//! Logical order: what `in order` claims.

use std::cmp::Ordering;

use keyplan_plan::dynamic::Value;
use keyplan_plan::model::{BytesEncoding, Sequence, Shape};

/// Compares argument lists from argument `from` on: the first difference decides.
pub(crate) fn compare_rows(sequence: &Sequence, from: usize, a: &[Value], b: &[Value]) -> Option<Ordering> {
    for (argument, (x, y)) in sequence.arguments().zip(a.iter().zip(b)).skip(from) {
        match compare(&argument.shape, x, y)? {
            Ordering::Equal => {}
            decided => return Some(decided),
        }
    }
    Some(Ordering::Equal)
}

/// Compares two values of one shape: numbers by value, text and bytes bytewise, choices by position, lists and
/// records by their first difference; `desc` turns the order around. `None` where no order is claimed.
pub(crate) fn compare(shape: &Shape, a: &Value, b: &Value) -> Option<Ordering> {
    Some(match (shape, a, b) {
        (Shape::Desc(inner), a, b) => compare(inner, a, b)?.reverse(),
        (Shape::Framed { inner, .. } | Shape::HashConcat { inner, .. }, a, b) => return compare(inner, a, b),
        (_, Value::Digest(_), _) | (_, _, Value::Digest(_)) => return None,
        (Shape::Hashed { inner, .. }, a, b) => return compare(inner, a, b),
        (
            Shape::Bytes { encoding: BytesEncoding::Wide { signed: true, .. }, .. },
            Value::Bytes(a),
            Value::Bytes(b),
        ) => {
            // Two's complement with its sign turned is in the order of numbers.
            let turned =
                |bytes: &[u8]| bytes.split_first().map(|(first, rest)| (first ^ 0x80, rest.to_vec()));
            turned(a).cmp(&turned(b))
        }
        (_, Value::Unsigned(a), Value::Unsigned(b)) => a.cmp(b),
        (_, Value::Signed(a), Value::Signed(b)) | (_, Value::Time(a), Value::Time(b)) => a.cmp(b),
        (_, Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        (_, Value::Float(a), Value::Float(b)) => return a.partial_cmp(b),
        (_, Value::Bytes(a), Value::Bytes(b)) | (_, Value::Nibbles(a), Value::Nibbles(b)) => a.cmp(b),
        (_, Value::Text(a), Value::Text(b)) => a.as_bytes().cmp(b.as_bytes()),
        (_, Value::Score(a), Value::Score(b)) => a.cmp(b),
        (Shape::Record(sequence), Value::Record(a), Value::Record(b)) => {
            return compare_rows(sequence, 0, a, b);
        }
        (Shape::Choice(alternatives), Value::Choice(i, a), Value::Choice(j, b)) => match i.cmp(j) {
            Ordering::Equal => return compare_rows(&alternatives.get(*i)?.sequence, 0, a, b),
            decided => decided,
        },
        (Shape::Option(_), Value::Option(None), Value::Option(b)) => {
            if b.is_some() {
                Ordering::Less
            } else {
                Ordering::Equal
            }
        }
        (Shape::Option(_), Value::Option(Some(_)), Value::Option(None)) => Ordering::Greater,
        (Shape::Option(inner), Value::Option(Some(a)), Value::Option(Some(b))) => {
            return compare(inner, a, b);
        }
        (Shape::List { item, .. }, Value::List(a), Value::List(b)) => {
            for (x, y) in a.iter().zip(b) {
                match compare(item, x, y)? {
                    Ordering::Equal => {}
                    decided => return Some(decided),
                }
            }
            a.len().cmp(&b.len())
        }
        _ => return None,
    })
}
