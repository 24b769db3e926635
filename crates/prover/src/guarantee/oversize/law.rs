//! KP0010: the longest key fits the engine.

use keyplan_plan::dynamic::{Value, encode};
use keyplan_plan::model::{
    BytesEncoding, Frame, Framing, IntRange, LengthSet, NibbleEncoding, Sequence, Shape, Width,
};

use crate::proof::{Reason, Side, Verdict, Witness};
use crate::sample;
use crate::sure::Sure as _;
use crate::written::written;

/// Why a value is there: the row was made of the arguments.
const VALUE: &str = "a value for each argument";

/// Decides whether no key of a layout is longer than `limit`.
pub(crate) fn fits(path: &str, sequence: &Sequence, limit: usize) -> Verdict {
    if sequence.longest().is_some_and(|longest| longest <= limit) {
        return Verdict::Holds;
    }
    // As long as it takes and no longer: the smallest arguments, with one of them grown until the key is too long.
    let simplest = |shape: &Shape| {
        let least = || stretched(shape, Width::of_shape(shape).min);
        sample::values(shape).into_iter().next().or_else(least)
    };
    let base = sequence.arguments().map(|argument| simplest(&argument.shape));
    let Some(mut row) = base.collect::<Option<Vec<Value>>>() else {
        return Verdict::Unknown(Reason::NotRealised { loose: Vec::new() });
    };
    let short = Side::key(path, sequence, &row).map_or(0, |side| side.bytes.len());
    let mut long: Vec<(usize, Value)> = Vec::new();
    for (index, argument) in sequence.arguments().enumerate() {
        let own = Width::of_shape(&argument.shape).min;
        let mut wanted = limit.saturating_add(1).saturating_sub(short.saturating_sub(own));
        let Some(value) = stretched(&argument.shape, wanted) else {
            long.extend(widest(&argument.shape).map(|value| (index, value)));
            continue;
        };
        let slot = row.get_mut(index).sure(VALUE);
        let before = std::mem::replace(slot, value);
        let mut best: Option<Side> = None;
        // What is around the value makes the key longer than was asked for, so it is asked for less.
        while let Some(bytes) = too_long(sequence, &row, limit) {
            let over = bytes.len().saturating_sub(limit.saturating_add(1));
            if best.as_ref().is_some_and(|best| best.bytes.len() <= bytes.len()) {
                break;
            }
            best = Some(Side { family: path.to_owned(), values: row.clone(), bytes });
            wanted = wanted.saturating_sub(over);
            let less = stretched(&argument.shape, wanted).filter(|_| over > 0);
            let Some(less) = less else { break };
            *row.get_mut(index).sure(VALUE) = less;
        }
        if let Some(key) = best {
            return Verdict::Fails(Box::new(Witness::TooLong { key, limit }));
        }
        long.push((index, std::mem::replace(row.get_mut(index).sure(VALUE), before)));
    }
    for (index, value) in long {
        *row.get_mut(index).sure(VALUE) = value;
    }
    match too_long(sequence, &row, limit) {
        Some(bytes) => {
            let key = Side { family: path.to_owned(), values: row, bytes };
            Verdict::Fails(Box::new(Witness::TooLong { key, limit }))
        }
        None => Verdict::Unknown(Reason::NotRealised { loose: Vec::new() }),
    }
}

/// The bytes of an argument list, if they are more than `limit`.
fn too_long(sequence: &Sequence, row: &[Value], limit: usize) -> Option<Vec<u8>> {
    // As long as it is meant to be: growing step by step would copy it several times over.
    let mut bytes = Vec::with_capacity(limit.min(1 << 17).saturating_add(1));
    encode(sequence, row, &mut bytes).ok()?;
    (bytes.len() > limit).then_some(bytes)
}

/// The longest value that is made.
const LONGEST: usize = 1 << 22;

/// A value that takes about `wanted` bytes, or as many as the shape allows; `None` if it has none that is not too long to make.
fn stretched(shape: &Shape, wanted: usize) -> Option<Value> {
    let length = |lengths: &LengthSet, wanted: usize| {
        let length = match lengths {
            LengthSet::Range { min, max } => Some(wanted.clamp(*min, *max)),
            LengthSet::OneOf(list) => list.iter().copied().find(|&n| n >= wanted).or(list.last().copied()),
        };
        length.filter(|&length| length <= LONGEST)
    };
    match shape {
        Shape::Bytes { lengths, encoding } => {
            let wanted = if let BytesEncoding::Hex(_) = encoding { wanted.div_ceil(2) } else { wanted };
            let byte = match encoding {
                BytesEncoding::Class(class) => (0..=u8::MAX).find(|&byte| class.contains(byte))?,
                // A zero takes two bytes.
                BytesEncoding::Tuple => 1,
                _ => 0,
            };
            Some(Value::Bytes(vec![byte; length(lengths, wanted)?]))
        }
        Shape::Text(text) => {
            let length = length(&text.lengths, wanted)?;
            let one = |value: &Value| match value {
                Value::Text(text) => text.chars().last(),
                _ => None,
            };
            let samples = sample::values(shape);
            // The last of a shortest text of two characters or more may be repeated.
            let longer = samples.iter().filter(|value| matches!(value, Value::Text(text) if text.len() > 1));
            let (first, rest) = longer.chain(&samples).find_map(|value| match value {
                Value::Text(text) => text.chars().next().zip(one(value)),
                _ => None,
            })?;
            let mut long = String::from(first);
            long.push_str(&rest.to_string().repeat(length.saturating_sub(1)));
            Some(Value::Text(long))
        }
        Shape::Nibbles { lengths, encoding } => {
            let wanted =
                if *encoding == NibbleEncoding::Unpacked { wanted } else { wanted.saturating_mul(2) };
            Some(Value::Nibbles(vec![0; length(lengths, wanted)?]))
        }
        Shape::Opaque(_) => Some(Value::Bytes(vec![0; wanted])),
        Shape::Framed { frame: Frame::Len(width), inner } => within(inner, wanted, width.limit()),
        Shape::Framed { inner, .. } | Shape::Desc(inner) | Shape::HashConcat { inner, .. } => {
            stretched(inner, wanted)
        }
        Shape::Option(inner) => Some(Value::Option(Some(Box::new(stretched(inner, wanted)?)))),
        Shape::List { item, counts, framing } => {
            let longest = || sample::values(item).into_iter().max_by_key(|value| size(item, value));
            let each = stretched(item, wanted).or_else(longest)?;
            let width = size(item, &each)?.max(1);
            let most = if let Framing::Counted(width) = framing { width.limit() } else { usize::MAX };
            let count = length(counts, wanted.div_ceil(width).max(1))?.min(most).min(1 << 17);
            Some(Value::List(vec![each; count]))
        }
        Shape::Record(sequence) => Some(Value::Record(stretched_row(sequence, wanted)?)),
        Shape::Choice(alternatives) => alternatives.iter().enumerate().find_map(|(index, alternative)| {
            let long = alternative.sequence.longest().is_none_or(|longest| longest >= wanted);
            long.then(|| stretched_row(&alternative.sequence, wanted))
                .flatten()
                .map(|row| Value::Choice(index, row))
        }),
        Shape::Int(_)
        | Shape::Bool(_)
        | Shape::Float(_)
        | Shape::Time(_)
        | Shape::Score { .. }
        | Shape::Hashed { .. } => None,
    }
}

/// The number of a range that takes the most bytes.
fn widest(shape: &Shape) -> Option<Value> {
    let Shape::Int(int) = shape.values() else { return None };
    let ends = match int.range {
        IntRange::Unsigned { min, max } => [Value::Unsigned(min), Value::Unsigned(max)],
        IntRange::Signed { min, max } => [Value::Signed(min), Value::Signed(max)],
    };
    ends.into_iter().max_by_key(|value| size(shape, value))
}

/// A value that takes about `wanted` bytes, and no more than `limit`: as many as there are below it.
fn within(shape: &Shape, wanted: usize, limit: usize) -> Option<Value> {
    let fits = |wanted: usize| {
        stretched(shape, wanted).filter(|value| size(shape, value).is_none_or(|length| length <= limit))
    };
    let wanted = wanted.min(limit);
    if let Some(value) = fits(wanted) {
        return Some(value);
    }
    let (mut low, mut high) = (0, wanted);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if fits(middle).is_some() { low = middle } else { high = middle }
    }
    fits(low).or_else(|| stretched(shape, low))
}

/// How many bytes a value takes.
fn size(shape: &Shape, value: &Value) -> Option<usize> {
    written(shape, value).map(|bytes| bytes.len())
}

fn stretched_row(sequence: &Sequence, wanted: usize) -> Option<Vec<Value>> {
    let mut row = sample::rows(sequence, 1).into_iter().next()?;
    for (slot, argument) in row.iter_mut().zip(sequence.arguments()) {
        if let Some(long) = stretched(&argument.shape, wanted) {
            *slot = long;
        }
    }
    Some(row)
}
