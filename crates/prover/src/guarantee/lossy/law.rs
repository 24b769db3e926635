//! KP0009: an encoding loses nothing.

use keyplan_plan::codec::{Heights, Score};
use keyplan_plan::dynamic::Value;
use keyplan_plan::model::{
    BytesEncoding, IntEncoding, IntRange, IntShape, LengthSet, ScoreEncoding, Sequence, Shape,
};

use crate::automaton::Arena;
use crate::least::{least_row, least_value};
use crate::proof::{Reason, Side, Verdict, Witness};

/// Decides whether two different arguments of a layout never get one encoding. `None` if no encoding of it can lose
/// anything, hashes aside.
pub(crate) fn lossless(arena: &mut Arena, path: &str, sequence: &Sequence) -> Option<Verdict> {
    let lossy: Vec<usize> = sequence
        .arguments()
        .enumerate()
        .filter(|(_, argument)| loses(&argument.shape))
        .map(|(index, _)| index)
        .collect();
    if lossy.is_empty() {
        return None;
    }
    let base = least_row(arena, sequence).unwrap_or_default();
    let mut best: Option<Witness> = None;
    for index in lossy {
        let Some(argument) = sequence.arguments().nth(index) else { continue };
        for (a, b) in pairs(arena, &argument.shape) {
            let side = |value: Value| {
                let mut row = base.clone();
                *row.get_mut(index)? = value;
                Side::key(path, sequence, &row)
            };
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
        Shape::Framed { inner, .. }
        | Shape::Desc(inner)
        | Shape::Hashed { inner, .. }
        | Shape::HashConcat { inner, .. } => pairs(arena, inner),
        Shape::Option(inner) => {
            let some = |value: Value| Value::Option(Some(Box::new(value)));
            pairs(arena, inner).into_iter().map(|(a, b)| (some(a), some(b))).collect()
        }
        Shape::List { item, counts, .. } => {
            let count = (1..=64).find(|&count| counts.admits(count)).unwrap_or(counts.min());
            let Some(fill) = least_value(arena, item) else { return Vec::new() };
            let list = |value: Value| {
                let mut list = vec![fill.clone(); count];
                if let Some(slot) = list.first_mut() {
                    *slot = value;
                }
                Value::List(list)
            };
            pairs(arena, item).into_iter().map(|(a, b)| (list(a), list(b))).collect()
        }
        Shape::Record(sequence) => row_pairs(arena, sequence)
            .into_iter()
            .map(|(a, b)| (Value::Record(a), Value::Record(b)))
            .collect(),
        Shape::Choice(alternatives) => alternatives
            .iter()
            .enumerate()
            .flat_map(|(index, alternative)| {
                row_pairs(arena, &alternative.sequence)
                    .into_iter()
                    .map(move |(a, b)| (Value::Choice(index, a), Value::Choice(index, b)))
            })
            .collect(),
        _ => Vec::new(),
    }
}

fn row_pairs(arena: &mut Arena, sequence: &Sequence) -> Vec<(Vec<Value>, Vec<Value>)> {
    let Some(base) = least_row(arena, sequence) else { return Vec::new() };
    let with = |index: usize, value: Value| {
        let mut row = base.clone();
        if let Some(slot) = row.get_mut(index) {
            *slot = value;
        }
        row
    };
    let arguments = sequence.arguments().enumerate().filter(|(_, argument)| loses(&argument.shape));
    arguments
        .flat_map(|(index, argument)| {
            pairs(arena, &argument.shape).into_iter().map(move |pair| (index, pair))
        })
        .map(|(index, (a, b))| (with(index, a), with(index, b)))
        .collect()
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
