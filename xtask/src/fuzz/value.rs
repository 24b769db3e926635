use keyplan_plan::dynamic::{Value, encode, parse};
use keyplan_plan::model::{Segment, Sequence, Shape};

use super::{Arbitrary, kept};

/// Pieces of values as people write them.
pub(super) const WORDS: &[&[u8]] = &[
    b"(",
    b")",
    b"[",
    b"]",
    b", ",
    b"=",
    b"\"",
    b"\\u{e9}",
    b"none",
    b"some(",
    b"digest:",
    b"bits:",
    b"0x",
    b"-1",
    b"850000/123",
    b"@1703097600.123456789",
    b"2006-01-02T15:04:05.000000000",
    b"true",
    b"NaN",
    b"inf",
    b"1e308",
];

/// Text that is read as a value is written as text that is read as the same value.
///
/// The first two bytes choose a plan, the next two one of its shapes. An even byte then means that the rest is the text;
/// an odd one that the rest makes a value to be written first.
///
/// # Panics
///
/// If the claim does not hold.
pub fn value(bytes: &[u8]) {
    let mut input = Arbitrary::new(bytes);
    let Some(kept) = input.pick(kept()) else { return };
    let arguments: Vec<_> = kept.layouts().iter().flat_map(|layout| layout.arguments()).collect();
    let Some(argument) = input.pick(&arguments) else { return };
    let shape = &argument.shape;
    if is_text(shape) {
        // A text by itself is taken as it is, but shown in quotes.
        return;
    }
    if input.byte() % 2 == 1 {
        let made = input.value(shape);
        let alone = Sequence::new(vec![Segment::Argument((*argument).clone())]);
        // What cannot be encoded is not a value of the shape.
        if encode(&alone, std::slice::from_ref(&made), &mut Vec::new()).is_ok() {
            written_and_read(shape, &made);
        }
        return;
    }
    let text = String::from_utf8_lossy(input.rest());
    match parse(shape, &text) {
        Ok(read) => written_and_read(shape, &read),
        Err(error) => {
            assert!(error.offset <= text.chars().count(), "{error:?} lies outside of {text:?}");
        }
    }
}

fn is_text(shape: &Shape) -> bool {
    match shape {
        Shape::Text(_) => true,
        Shape::Framed { inner, .. }
        | Shape::Desc(inner)
        | Shape::Hashed { inner, .. }
        | Shape::HashConcat { inner, .. } => is_text(inner),
        _ => false,
    }
}

fn written_and_read(shape: &Shape, value: &Value) {
    let written = value.display(shape).to_string();
    let read = parse(shape, &written);
    // Not a number is not equal to itself, and text is compared as it would be shown.
    let again = read.as_ref().map(|read| read.display(shape).to_string());
    assert_eq!(again.as_ref(), Ok(&written), "{value:?} is written {written} and read as {read:?}");
}
