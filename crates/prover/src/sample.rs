//! Small values of a shape, the simplest first.

use keyplan_plan::codec::{Alphabet, Score};
use keyplan_plan::dynamic::Value;
use keyplan_plan::model::{
    BytesEncoding, FloatEncoding, Framing, IntRange, LengthSet, ScoreEncoding, Sequence, Shape, TextShape,
};
use keyplan_plan::order;

use crate::automaton::ByteSet;

/// The most values that are given of one shape.
const MOST: usize = 24;

/// The most argument lists that are given of one layout.
const MOST_ROWS: usize = 3_000;

/// Numbers at which encodings change their form.
const EDGES: &[u128] = &[
    0, 1, 2, 8, 9, 10, 11, 15, 16, 99, 100, 109, 110, 126, 127, 128, 252, 253, 254, 255, 256, 511, 512, 999,
    1000, 16_383, 16_384, 16_511, 16_512, 65_535, 65_536,
];

/// Values of a shape, simplest first; never more than a few.
pub(crate) fn values(shape: &Shape) -> Vec<Value> {
    let mut all = raw(shape);
    all.truncate(MOST);
    all
}

/// Every value at which the form of an encoding may change; more than [`values`] for numbers.
pub(crate) fn edges(shape: &Shape) -> Vec<Value> {
    match shape {
        Shape::Int(int) => integers(int.range),
        shape => values(shape),
    }
}

fn raw(shape: &Shape) -> Vec<Value> {
    match shape {
        Shape::Int(int) => integers(int.range),
        Shape::Bool(_) => vec![Value::Bool(false), Value::Bool(true)],
        Shape::Float(encoding) => {
            let mut all = vec![0.0, 1.0, -1.0, 2.0, -2.0, 0.5, 100.0];
            if *encoding == FloatEncoding::Badger {
                all.extend([-0.0, f64::NEG_INFINITY]);
            }
            all.into_iter().map(Value::Float).collect()
        }
        Shape::Time(_) => {
            [0i128, 1, -1, 1_000_000_000, -1_000_000_000].into_iter().map(Value::Time).collect()
        }
        Shape::Score { heights: Some(heights), encoding } => {
            let least = heights.least.max(u32::from(*encoding == ScoreEncoding::HeightScore));
            let places = [(least, 0), (least, 1), (least, 2), (heights.most, 0), (heights.most, 999_999_999)];
            places.map(|(height, index)| Value::Score(Score::Confirmed { height, index })).to_vec()
        }
        Shape::Score { heights: None, encoding } => {
            let least = u32::from(*encoding == ScoreEncoding::HeightScore);
            vec![
                Value::Score(Score::Confirmed { height: least, index: 0 }),
                Value::Score(Score::Confirmed { height: least, index: 1 }),
                Value::Score(Score::Confirmed { height: 2, index: 0 }),
                Value::Score(Score::Unconfirmed { seconds: 0, nanos: 0 }),
                Value::Score(Score::Unconfirmed { seconds: 0, nanos: 1 }),
                Value::Score(Score::Unconfirmed { seconds: 1, nanos: 0 }),
                Value::Score(Score::Confirmed { height: 1 << 30, index: 1 }),
                Value::Score(Score::Confirmed { height: 1 << 30, index: 2 }),
                Value::Score(Score::Confirmed { height: 2, index: 2_000_000_000 }),
            ]
        }
        Shape::Bytes { lengths, encoding } => {
            let class = match encoding {
                BytesEncoding::Class(class) => ByteSet::from_bits(class.bits()),
                _ => ByteSet::FULL,
            };
            let mut all = strings(lengths, class, class);
            if let BytesEncoding::Wide { .. } = encoding {
                // Numbers at the ends, and those that differ in the first byte or the last.
                all.extend(
                    [(0, 0, 0), (0, 0, 1), (0, 0, 2), (1, 0, 0), (0x7f, 0xff, 0xff), (0x80, 0, 0)].map(
                        |(first, fill, last)| {
                            let mut bytes = vec![fill; 32];
                            if let [start, .., end] = bytes.as_mut_slice() {
                                (*start, *end) = (first, last);
                            }
                            bytes
                        },
                    ),
                );
            }
            if let BytesEncoding::Bech32(_) | BytesEncoding::Base58 { .. } = encoding {
                // The order of its characters is not that of their values.
                let length = lengths.min().max(1);
                if lengths.admits(length) {
                    all.extend((0..=255u8).step_by(8).map(|byte| vec![byte; length]));
                }
            }
            all.into_iter().map(Value::Bytes).collect()
        }
        Shape::Text(text) => texts(text),
        Shape::Nibbles { lengths, .. } => strings(lengths, ByteSet::range(0, 15), ByteSet::range(0, 15))
            .into_iter()
            .map(Value::Nibbles)
            .collect(),
        Shape::Opaque(_) => vec![Value::Bytes(Vec::new()), Value::Bytes(vec![0]), Value::Bytes(vec![1])],
        Shape::Record(sequence) => rows(sequence, MOST).into_iter().map(Value::Record).collect(),
        Shape::Choice(alternatives) => {
            let each = (MOST / alternatives.len().max(1)).max(3);
            let of = |(index, rows): (usize, Vec<Vec<Value>>)| {
                rows.into_iter().map(move |values| Value::Choice(index, values))
            };
            let all = alternatives.iter().take(MOST).map(|alternative| rows(&alternative.sequence, each));
            all.enumerate().flat_map(of).collect()
        }
        Shape::Option(inner) => {
            let some = values(inner).into_iter().map(|value| Value::Option(Some(Box::new(value))));
            std::iter::once(Value::Option(None)).chain(some).collect()
        }
        Shape::List { item, counts, framing } => lists(&values(item), counts, framing),
        Shape::Framed { inner, .. } | Shape::Desc(inner) | Shape::HashConcat { inner, .. } => values(inner),
        Shape::Hashed { inner, known, .. } => {
            let mut names: Vec<Value> =
                known.iter().map(|(_, name)| Value::Text(name.text.clone())).take(MOST / 2).collect();
            names.extend(values(inner));
            names
        }
    }
}

fn integers(range: IntRange) -> Vec<Value> {
    let mut all = Vec::new();
    match range {
        IntRange::Unsigned { min, max } => {
            let near = [min, min.saturating_add(1), min | 0xff, (min | 0xff).saturating_add(1)];
            let seven = [min | 0x7f, (min | 0x7f).saturating_add(1)];
            let far = [max.saturating_sub(1), max, max / 2];
            let candidates = EDGES.iter().copied().chain(near).chain(seven).chain(far);
            for n in candidates.filter(|n| (min..=max).contains(n)) {
                if !all.contains(&Value::Unsigned(n)) {
                    all.push(Value::Unsigned(n));
                }
            }
        }
        IntRange::Signed { min, max } => {
            let edges = EDGES.iter().filter_map(|&n| i128::try_from(n).ok());
            let small = edges.clone().take(8).flat_map(|n| [n, -n]);
            let near = [
                min,
                min.saturating_add(1),
                max.saturating_sub(1),
                max,
                -10,
                -9,
                -100,
                -256,
                -255,
                127,
                128,
                255,
                256,
            ];
            let more = [min | 0xff, (min | 0xff).saturating_add(1)];
            for n in small.chain(near).chain(more).chain(edges).filter(|n| (min..=max).contains(n)) {
                if !all.contains(&Value::Signed(n)) {
                    all.push(Value::Signed(n));
                }
            }
        }
    }
    all
}

/// A few lengths of a set, the least first.
fn some_lengths(lengths: &LengthSet) -> Vec<usize> {
    let least = lengths.min();
    let mut all: Vec<usize> = (least..least.saturating_add(4)).filter(|&n| lengths.admits(n)).collect();
    if let LengthSet::OneOf(list) = lengths {
        all.extend(list.iter().take(4));
        order::sort(&mut all);
        all.dedup();
    }
    all.retain(|&n| n <= 70_000);
    all
}

/// Strings over a class, of a few lengths.
fn strings(lengths: &LengthSet, first: ByteSet, rest: ByteSet) -> Vec<Vec<u8>> {
    let letters = |set: ByteSet| {
        let mut few: Vec<u8> = set.simplest().into_iter().collect();
        few.extend(set.min());
        few.extend(set.max());
        few.extend(set.iter().skip(1).take(1));
        let mut unique = Vec::new();
        few.retain(|byte| {
            let new = !unique.contains(byte);
            unique.push(*byte);
            new
        });
        few
    };
    let (first, rest) = (letters(first), letters(rest));
    let mut all: Vec<Vec<u8>> = Vec::new();
    for length in some_lengths(lengths) {
        let Some(&fill) = rest.first() else { continue };
        if length == 0 {
            all.push(Vec::new());
            continue;
        }
        for &start in &first {
            let mut text = vec![fill; length];
            if let Some(slot) = text.first_mut() {
                *slot = start;
            }
            for &end in &rest {
                let mut text = text.clone();
                if length > 1
                    && let Some(slot) = text.last_mut()
                {
                    *slot = end;
                }
                if !all.contains(&text) {
                    all.push(text);
                }
                if length == 1 {
                    break;
                }
            }
        }
    }
    all
}

fn texts(text: &TextShape) -> Vec<Value> {
    let ascii = |alphabet: Alphabet| ByteSet::from_bits(alphabet.bits()).and(ByteSet::range(0, 0x7f));
    let known = text.names.iter().flat_map(|set| set.names.iter().map(|name| name.text.clone()));
    let (first, rest) = (ascii(text.first.unwrap_or(text.alphabet)), ascii(text.alphabet));
    let plain = strings(&text.lengths, first, rest);
    let plain = plain.into_iter().filter_map(|bytes| String::from_utf8(bytes).ok());
    plain.chain(known).filter(|value| text.admits(value)).map(Value::Text).collect()
}

fn lists(items: &[Value], counts: &LengthSet, framing: &Framing) -> Vec<Value> {
    let most = if let Framing::Counted(width) = framing { width.limit() } else { usize::MAX };
    let mut all = Vec::new();
    for count in some_lengths(counts).into_iter().filter(|&n| n <= most && n <= 4_096) {
        if count == 0 {
            all.push(Value::List(Vec::new()));
            continue;
        }
        let Some(fill) = items.first() else { continue };
        for item in items.iter().take(6) {
            let mut list = vec![fill.clone(); count];
            if let Some(slot) = list.first_mut() {
                *slot = item.clone();
            }
            all.push(Value::List(list));
        }
    }
    all
}

/// Argument lists of a layout, the simplest first.
pub(crate) fn rows(sequence: &Sequence, most: usize) -> Vec<Vec<Value>> {
    let columns: Vec<Vec<Value>> = sequence.arguments().map(|argument| values(&argument.shape)).collect();
    combine(&columns, most.min(MOST_ROWS))
}

/// Every choice of one value a column, the first ones first, each column cut so that there are not too many.
pub(crate) fn combine(columns: &[Vec<Value>], most: usize) -> Vec<Vec<Value>> {
    if columns.iter().any(Vec::is_empty) {
        return Vec::new();
    }
    let mut keep = columns.iter().map(Vec::len).max().unwrap_or(1).max(1);
    let count =
        |keep: usize| columns.iter().fold(1usize, |n, column| n.saturating_mul(column.len().min(keep)));
    while keep > 1 && count(keep) > most {
        keep -= 1;
    }
    let mut all: Vec<Vec<Value>> = vec![Vec::new()];
    for column in columns {
        let mut longer = Vec::new();
        for row in &all {
            for value in column.iter().take(keep) {
                let mut row = row.clone();
                row.push(value.clone());
                longer.push(row);
            }
        }
        all = longer;
        all.truncate(most.max(1));
    }
    all
}
