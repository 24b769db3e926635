//! Encodings that write neighbours alike, and put no two values in the wrong order.
//!
//! What is lost there does no harm to the order of rows if nothing is left to compare: the argument is the last one of the key.
//! Two rows that differ in it then have the same bytes, or sort as they should. An argument before others must tell its values
//! apart, because what follows would decide between two that are written alike; and so must the one that ranges end at.

use keyplan_plan::model::{
    BytesEncoding, IntEncoding, IntRange, IntShape, ScoreEncoding, Segment, Sequence, Shape, Width,
};

use super::law::segments_right;

/// Whether byte order is logical order inside of every argument from a segment on, but for the last one, which may write
/// neighbours alike.
pub(super) fn is_right_up_to_the_last(sequence: &Sequence, from: usize) -> bool {
    // The ends of ranges over the first free argument have to tell its values apart.
    last_argument(sequence).is_some_and(|last| last > from) && ends_with_neighbours(sequence, from)
}

/// The segment of the last argument.
fn last_argument(sequence: &Sequence) -> Option<usize> {
    sequence.segments().iter().rposition(|segment| matches!(segment, Segment::Argument(_)))
}

/// Whether the last argument of a sequence never turns two values around, and those before it sort.
fn ends_with_neighbours(sequence: &Sequence, from: usize) -> bool {
    let Some(last) = last_argument(sequence) else { return false };
    let Some((Segment::Argument(argument), rest)) =
        sequence.segments().get(last..).and_then(<[Segment]>::split_first)
    else {
        return false;
    };
    let literals = rest.iter().all(|segment| matches!(segment, Segment::Literal(_)));
    // A literal comes at one place after both, or there is none.
    let aligned = rest.is_empty() || has_one_length(&argument.shape);
    let never_turns = match &argument.shape {
        // Its parts are drawn as those of the key are.
        Shape::Record(sequence) => ends_with_neighbours(sequence, 0),
        // Nothing comes first.
        Shape::Option(inner) => never_turns(inner),
        shape => never_turns(shape),
    };
    literals && aligned && never_turns && segments_right(sequence, from, last).is_ok()
}

/// Whether the bytes of a smaller value never sort above those of a larger one.
fn never_turns(shape: &Shape) -> bool {
    match shape {
        Shape::Int(int) => int_never_turns(int),
        // Cut or filled up with the least byte: where two differ in what is left, they differ as they did. The height of a score, and
        // a part of one for the place: both are rounded, and rounding turns nothing around.
        Shape::Bytes { encoding: BytesEncoding::Fit(_), .. }
        | Shape::Score { heights: Some(_), encoding: ScoreEncoding::HeightScore } => true,
        // Of bytes of one length all frames keep the order.
        Shape::Framed { inner, .. } | Shape::Desc(inner) => has_one_length(inner) && never_turns(inner),
        _ => false,
    }
}

fn int_never_turns(int: &IntShape) -> bool {
    let from_zero = match int.range {
        IntRange::Unsigned { .. } => true,
        IntRange::Signed { min, .. } => min >= 0,
    };
    match int.encoding {
        // What is below zero is zero.
        IntEncoding::Saturating => true,
        // Cut off, or rounded: that turns nothing around.
        IntEncoding::High(_) | IntEncoding::Float => from_zero,
        _ => false,
    }
}

fn has_one_length(shape: &Shape) -> bool {
    Width::of_shape(shape).fixed().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use keyplan_plan::codec::Score;
    use keyplan_plan::dynamic::{Value, encode_one};

    fn shape(domain: &str) -> Shape {
        let text = format!("plan p; space s {{ key k = a: {domain}; }}");
        let plan = keyplan_plan::compile("p.keyplan", &text, |_| Err("none".into())).plan.expect("sound");
        plan.spaces[0].families[0].key.arguments().next().expect("one").shape.clone()
    }

    /// Neighbours are written alike or in their order: so are all others.
    fn is_shown(domain: &str, values: impl Iterator<Item = Value>) {
        let shape = shape(domain);
        assert!(never_turns(&shape), "{domain}");
        let written = values.filter_map(|value| {
            let mut bytes = Vec::new();
            encode_one(&shape, &value, &mut bytes).ok().map(|()| bytes)
        });
        let written: Vec<Vec<u8>> = written.collect();
        assert!(written.len() > 1 && written.is_sorted(), "{domain}");
    }

    #[test]
    fn what_merges_neighbours_turns_no_two_values_around() {
        is_shown("i16.saturating", (-300..300).map(Value::Signed));
        is_shown("u24.high(2)", (65_000..70_000).map(Value::Unsigned));
        is_shown("u24.high(1).desc", (65_000..70_000).rev().map(Value::Unsigned));
        let high = 1u128 << 53;
        is_shown("u64.float.len8", (high - 300..high + 300).map(Value::Unsigned));
        let places = (8_388_607..=8_388_610)
            .flat_map(|height| [0, 1, 2, 3, 500, 999_999_998, 999_999_999].map(|index| (height, index)));
        let places = places.map(|(height, index)| Value::Score(Score::Confirmed { height, index }));
        is_shown("score(1..=9000000).height_score", places);
        let mut all: Vec<Vec<u8>> = vec![Vec::new()];
        for _ in 0..3 {
            let longer: Vec<Vec<u8>> = all
                .iter()
                .flat_map(|front| [0, 1, 255].map(|byte| [front.as_slice(), &[byte]].concat()))
                .collect();
            all.extend(longer);
        }
        all.sort();
        for domain in ["bytes(0..=3).fit(2)", "bytes(0..=3).fit(1).len16", "bytes(0..=3).fit(2).terminated"] {
            is_shown(domain, all.iter().cloned().map(Value::Bytes));
        }
    }

    #[test]
    fn what_may_turn_two_values_around_is_not_taken() {
        for domain in [
            "i8(-2..=2).float",
            "u16.low(1)",
            "u16.le",
            "u64.dec",
            "bytes(0..=2).base58",
            "score.height_score",
            "bytes(0..=3).fit(2).terminated.desc",
        ] {
            assert!(!never_turns(&shape(domain)), "{domain}");
        }
    }
}
