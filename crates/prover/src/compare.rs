//! Logical order: what `in order` claims.

use std::cmp::Ordering;

use keyplan_plan::dynamic::{Value, inside_both};
use keyplan_plan::model::{BytesEncoding, Sequence, Shape};

/// Compares argument lists from argument `from` on: the first difference decides.
pub(crate) fn compare_rows(sequence: &Sequence, from: usize, a: &[Value], b: &[Value]) -> Option<Ordering> {
    let parts = sequence.arguments().zip(a.iter().zip(b)).skip(from);
    first_difference(parts.map(|(argument, (a, b))| (&argument.shape, a, b)))
}

/// Compares parts: the first two that differ decide.
fn first_difference<'v>(parts: impl Iterator<Item = (&'v Shape, &'v Value, &'v Value)>) -> Option<Ordering> {
    for (shape, a, b) in parts {
        match compare(shape, a, b)? {
            Ordering::Equal => {}
            decided => return Some(decided),
        }
    }
    Some(Ordering::Equal)
}

/// Compares two values of one shape: numbers by value, text and bytes bytewise, choices by position, lists and
/// records by their first difference; `desc` turns the order around. `None` where no order is claimed.
pub(crate) fn compare(shape: &Shape, a: &Value, b: &Value) -> Option<Ordering> {
    if shape.is_leaf() {
        return compare_single(shape, a, b);
    }
    // Of a digest nothing is known.
    let both = inside_both(shape, a, b)?;
    let order = first_difference(both.parts)?.then(both.forms);
    Some(if shape.turned().is_some() { order.reverse() } else { order })
}

/// The same of values that nothing is inside of.
fn compare_single(shape: &Shape, a: &Value, b: &Value) -> Option<Ordering> {
    Some(match (a, b) {
        (Value::Bytes(a), Value::Bytes(b)) if is_signed(shape) => {
            // Two's complement with its sign turned is in the order of numbers.
            let turned =
                |bytes: &[u8]| bytes.split_first().map(|(first, rest)| (first ^ 0x80, rest.to_vec()));
            turned(a).cmp(&turned(b))
        }
        (Value::Unsigned(a), Value::Unsigned(b)) => a.cmp(b),
        (Value::Signed(a), Value::Signed(b)) | (Value::Time(a), Value::Time(b)) => a.cmp(b),
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        (Value::Float(a), Value::Float(b)) => return a.partial_cmp(b),
        (Value::Bytes(a), Value::Bytes(b)) | (Value::Nibbles(a), Value::Nibbles(b)) => a.cmp(b),
        (Value::Text(a), Value::Text(b)) => a.as_bytes().cmp(b.as_bytes()),
        (Value::Score(a), Value::Score(b)) => a.cmp(b),
        _ => return None,
    })
}

/// Whether bytes are numbers with a sign.
const fn is_signed(shape: &Shape) -> bool {
    matches!(shape, Shape::Bytes { encoding: BytesEncoding::Wide { signed: true, .. }, .. })
}
