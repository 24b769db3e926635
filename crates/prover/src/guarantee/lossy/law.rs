//! KP0009: an encoding loses nothing.

use keyplan_plan::codec::{Heights, Score};
use keyplan_plan::dynamic::Value;
use keyplan_plan::model::{
    BytesEncoding, IntEncoding, IntRange, IntShape, LengthSet, ScoreEncoding, Sequence, Shape,
};

use crate::automaton::Arena;
use crate::least::{holes, least_row, with};
use crate::proof::{Reason, Side, Verdict, Witness};

/// Decides whether two different arguments of a layout never get one encoding. `None` if no encoding of it can lose
/// anything, hashes aside.
pub(crate) fn lossless(arena: &mut Arena, path: &str, sequence: &Sequence) -> Option<Verdict> {
    let mut lossy =
        sequence.arguments().enumerate().filter(|(_, argument)| loses(&argument.shape)).peekable();
    lossy.peek()?;
    let Some(base) = least_row(arena, sequence) else {
        return Some(Verdict::Unknown(Reason::NotRealised { loose: Vec::new() }));
    };
    let mut best: Option<Witness> = None;
    for (index, argument) in lossy {
        for (a, b) in pairs(arena, &argument.shape) {
            let side = |value: Value| Side::key(path, sequence, &with(&base, index, value));
            let witness = side(a).zip(side(b)).and_then(|(first, second)| Witness::same_key(first, second));
            // Of two as short the more telling one stays.
            best = best.into_iter().chain(witness).min_by_key(Witness::length);
        }
    }
    Some(best.map_or(Verdict::Unknown(Reason::NotRealised { loose: Vec::new() }), |witness| {
        Verdict::Fails(Box::new(witness))
    }))
}

/// Whether an argument has an encoding that loses information in some domains, whether or not it does in this one.
pub(crate) fn might_lose(sequence: &Sequence) -> bool {
    let leaf = |shape: &Shape| match shape.unwrapped() {
        single @ (Shape::Int(_) | Shape::Float(_) | Shape::Score { .. } | Shape::Bytes { .. }) => {
            single.loses_information()
        }
        _ => false,
    };
    sequence.arguments().any(|argument| leaf(&argument.shape))
}

/// Whether a shape has an encoding that may lose information, hashes aside. What is lost before it is hashed is lost.
pub(crate) fn loses(shape: &Shape) -> bool {
    match shape {
        Shape::Int(int) => int.alike().is_some(),
        Shape::Float(encoding) => encoding.row().loses,
        Shape::Score { heights: Some(heights), encoding: ScoreEncoding::HeightScore } => !heights.are_told(),
        Shape::Score { encoding, .. } => encoding.row().loses,
        Shape::Bytes { lengths, encoding } => match encoding {
            BytesEncoding::Fit(width) => lengths.fixed().is_none_or(|length| length > *width),
            _ => encoding.row().loses,
        },
        // What is hashed too: two values that are written alike have one digest.
        other => other.children().any(loses),
    }
}

/// Pairs of different values of a shape that may have one encoding, the most telling first.
pub(crate) fn pairs(arena: &mut Arena, shape: &Shape) -> Vec<(Value, Value)> {
    match shape {
        // Of three places beside each other two share a float, and further up more do.
        Shape::Score { heights: Some(heights), .. } => {
            let height = heights.least.max(Heights::TOLD.saturating_add(1));
            (0..4).map(|index| (confirmed(height, index), confirmed(height, index + 1))).collect()
        }
        Shape::Score { heights: None, .. } => vec![
            (unconfirmed(1_703_097_600, 123_456_789), unconfirmed(1_703_097_600, 123_456_790)),
            (confirmed(8_388_608, 1), confirmed(8_388_608, 2)),
            (confirmed(1, 1_000_000_000), confirmed(2, 0)),
        ],
        Shape::Int(int) if int.encoding != IntEncoding::Saturating => match int.alike() {
            Some(IntRange::Unsigned { min, max }) => vec![(Value::Unsigned(min), Value::Unsigned(max))],
            Some(IntRange::Signed { min, max }) => vec![(Value::Signed(min), Value::Signed(max))],
            None => Vec::new(),
        },
        Shape::Int(IntShape { range: IntRange::Signed { min, max }, .. }) => {
            let high = (*max).min(0);
            vec![
                (Value::Signed(-1), Value::Signed(0)),
                (Value::Signed(high.saturating_sub(1)), Value::Signed(high)),
                (Value::Signed(*min), Value::Signed(min.saturating_add(1))),
            ]
        }
        Shape::Float(_) => vec![(
            Value::Float(f64::from_bits(0x7ff8_0000_0000_0000)),
            Value::Float(f64::from_bits(0x0007_ffff_ffff_ffff)),
        )],
        Shape::Bytes { lengths, encoding: BytesEncoding::Fit(width) } => fit_pairs(lengths, *width),
        // Two values that are written alike have one digest.
        Shape::Hashed { inner, .. } => pairs(arena, inner),
        other => {
            let mut all = Vec::new();
            for hole in holes(other).into_iter().filter(|hole| loses(hole.shape)) {
                let inside = pairs(arena, hole.shape);
                all.extend(hole.filled(arena, inside));
            }
            all
        }
    }
}

fn confirmed(height: u32, index: u64) -> Value {
    Value::Score(Score::Confirmed { height, index })
}

fn unconfirmed(seconds: u64, nanos: u32) -> Value {
    Value::Score(Score::Unconfirmed { seconds, nanos })
}

fn fit_pairs(lengths: &LengthSet, width: usize) -> Vec<(Value, Value)> {
    let mut all = Vec::new();
    // Two lengths: what is padding, or cut off. One length beyond the width: what is cut off differs.
    let admitted: Vec<usize> = (lengths.min()
        ..=lengths.min().saturating_add(64).max(width.saturating_add(1)))
        .filter(|&n| lengths.admits(n))
        .take(80)
        .collect();
    if let [short, long, ..] = admitted.as_slice() {
        all.push((Value::Bytes(vec![0; *short]), Value::Bytes(vec![0; *long])));
    }
    if let LengthSet::OneOf(list) = lengths
        && let [short, .., long] = list.as_slice()
    {
        all.push((Value::Bytes(vec![0; *short]), Value::Bytes(vec![0; *long])));
    }
    if let Some(&long) = admitted.iter().find(|&&n| n > width) {
        let mut other = vec![0; long];
        if let Some(last) = other.last_mut() {
            *last = 1;
        }
        all.push((Value::Bytes(vec![0; long]), Value::Bytes(other)));
    }
    all
}
