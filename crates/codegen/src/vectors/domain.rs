//! The edges of a domain: values just inside, and values just outside.

use keyplan_codec::{Alphabet, Score};
use keyplan_plan::dynamic::{Value, encode_one};
use keyplan_plan::model::{
    BytesEncoding, FloatEncoding, IntRange, IntShape, LengthSet, Sequence, Shape, TextShape,
};

/// The longest value that is made up where its length is no edge of its domain.
const LONGEST: usize = 80;

/// The greatest length and the greatest number of elements that are made up since they are edges.
const EDGE: usize = 300;

/// The longest value that is made up since there is none shorter.
pub(super) const MOST: usize = 1 << 17;

/// Values of a shape at the edges of its domain, those of every alternative among them; the plainest first.
pub(super) fn inside(shape: &Shape) -> Vec<Value> {
    let mut values = candidates(shape);
    values.retain(|value| encode_one(shape, value, &mut Vec::new()).is_ok());
    values
}

/// Values of a shape that no encoder takes.
pub(super) fn outside(shape: &Shape) -> Vec<Value> {
    let mut values: Vec<Value> = match shape {
        Shape::Int(int) => match (int.range, int.ty.range()) {
            (IntRange::Unsigned { min, max }, IntRange::Unsigned { max: most, .. }) => {
                let mut all: Vec<Value> = min.checked_sub(1).into_iter().map(Value::Unsigned).collect();
                all.extend(max.checked_add(1).filter(|next| *next <= most).map(Value::Unsigned));
                all
            }
            (IntRange::Signed { min, max }, IntRange::Signed { min: least, max: most }) => {
                let mut all: Vec<Value> =
                    min.checked_sub(1).filter(|next| *next >= least).into_iter().map(Value::Signed).collect();
                all.extend(max.checked_add(1).filter(|next| *next <= most).map(Value::Signed));
                all
            }
            _ => Vec::new(),
        },
        // A type of one length cannot hold another.
        Shape::Bytes { lengths, encoding }
            if lengths.fixed().is_none_or(|len| len > 64) || matches!(encoding, BytesEncoding::Fit(_)) =>
        {
            beyond(lengths).into_iter().map(|len| Value::Bytes(vec![0x61; len])).collect()
        }
        Shape::Text(text) => {
            let mut all: Vec<Value> =
                beyond(&text.lengths).into_iter().map(|len| Value::Text("a".repeat(len))).collect();
            all.push(Value::Text("\u{7f}".repeat(text.lengths.min().clamp(1, LONGEST))));
            all
        }
        Shape::Nibbles { lengths, .. } => {
            beyond(lengths).into_iter().map(|len| Value::Nibbles(vec![1; len])).collect()
        }
        Shape::Float(FloatEncoding::Fixed(_)) => vec![Value::Float(1e300), Value::Float(0.1 + 0.2)],
        Shape::List { item, counts, .. } => {
            let one = inside(item).into_iter().next();
            let repeat = |count| one.clone().map(|one| Value::List(vec![one; count]));
            beyond(counts).into_iter().filter_map(repeat).collect()
        }
        Shape::Record(_) | Shape::Choice(_) => in_rows(shape, outside),
        Shape::Option(inner) => {
            outside(inner).into_iter().map(|value| Value::Option(Some(Box::new(value)))).collect()
        }
        Shape::Framed { inner, .. } | Shape::Desc(inner) | Shape::HashConcat { inner, .. } => outside(inner),
        _ => Vec::new(),
    };
    values.retain(|value| encode_one(shape, value, &mut Vec::new()).is_err());
    values
}

/// An integer of the range, picked by a number.
pub(super) fn number(int: &IntShape, pick: u128) -> Value {
    match int.range {
        IntRange::Unsigned { min, max } => {
            let span = max - min;
            Value::Unsigned(min + if span == u128::MAX { pick } else { pick % (span + 1) })
        }
        IntRange::Signed { min, max } => {
            let span = max.wrapping_sub(min).cast_unsigned();
            let step = if span == u128::MAX { pick } else { pick % (span + 1) };
            Value::Signed(min.wrapping_add(step.cast_signed()))
        }
    }
}

/// Lengths just outside of a set, none too long.
fn beyond(lengths: &LengthSet) -> Vec<usize> {
    let mut all: Vec<usize> = lengths.min().checked_sub(1).filter(|len| *len <= MOST).into_iter().collect();
    let edges = lengths.max().into_iter();
    let edges =
        edges.chain(if let LengthSet::OneOf(of) = lengths { of.as_slice() } else { &[] }.iter().copied());
    all.extend(edges.filter(|len| *len <= EDGE).map(|len| len + 1));
    all.retain(|len| !lengths.admits(*len));
    all
}

/// Lengths at the edges of a set that are longer than those between.
fn long_edges(lengths: &LengthSet) -> Vec<usize> {
    let edges =
        if let LengthSet::OneOf(of) = lengths { of.clone() } else { lengths.max().into_iter().collect() };
    edges.into_iter().filter(|len| *len > LONGEST.max(lengths.min()) && *len <= EDGE).collect()
}

/// The least and the greatest length, and some between.
fn lengths_of(lengths: &LengthSet) -> Vec<usize> {
    let (min, max) = (lengths.min(), lengths.max().unwrap_or(usize::MAX));
    let mut all = vec![min.max(1).min(max), min, min.saturating_add(1), min.saturating_add(7), 8, 9, 20, 32];
    all.push(if max <= LONGEST { max } else { LONGEST });
    if let LengthSet::OneOf(of) = lengths {
        all.extend(of);
    }
    let mut seen = std::collections::BTreeSet::new();
    all.retain(|len| lengths.admits(*len) && *len <= LONGEST.max(min.min(MOST)) && seen.insert(*len));
    all
}

fn candidates(shape: &Shape) -> Vec<Value> {
    match shape {
        Shape::Int(int) => integers(int),
        Shape::Bool(_) => vec![Value::Bool(true), Value::Bool(false)],
        Shape::Float(_) => {
            [1.5, 0.0, -2.25, 1e9, -1e-3, f64::MAX, f64::MIN_POSITIVE, f64::INFINITY, f64::NEG_INFINITY]
                .map(Value::Float)
                .to_vec()
        }
        Shape::Time(_) => [
            1_709_294_400_123_456_789,
            0,
            -1,
            -62_135_596_800_000_000_000,
            253_402_300_799_999_999_999,
            i128::from(i64::MAX),
            i128::from(i64::MIN),
        ]
        .map(Value::Time)
        .to_vec(),
        Shape::Score { heights: Some(heights), encoding } => {
            let least = heights.least.max(1).min(heights.most);
            let (from, to) = heights.floats();
            if encoding.is_float() {
                [from, f64::from(least) + 1.2e-8, to].map(Value::Float).to_vec()
            } else {
                let places = [(heights.least, 0), (least, 12), (heights.most, 999_999_999)];
                places.map(|(height, index)| Value::Score(Score::Confirmed { height, index })).to_vec()
            }
        }
        // What the bytes hold is the float.
        Shape::Score { heights: None, encoding } if encoding.is_float() => {
            [850_000.000_000_012, 0.0, 1_703_097_600.25].map(Value::Float).to_vec()
        }
        Shape::Score { heights: None, .. } => vec![
            Value::Score(Score::Confirmed { height: 850_000, index: 12 }),
            Value::Score(Score::Confirmed { height: 0, index: 0 }),
            Value::Score(Score::Confirmed { height: u32::MAX, index: u64::MAX }),
            Value::Score(Score::Unconfirmed { seconds: 1_703_097_600, nanos: 123_456_789 }),
            Value::Score(Score::Unconfirmed { seconds: u64::MAX, nanos: 999_999_999 }),
        ],
        Shape::Bytes { lengths, encoding: BytesEncoding::Class(class) } => {
            let all: Vec<u8> = (0..=u8::MAX).filter(|byte| class.contains(*byte)).collect();
            let of = |len: usize| Value::Bytes(all.iter().copied().cycle().take(len).collect());
            lengths_of(lengths).into_iter().chain(long_edges(lengths)).map(of).collect()
        }
        Shape::Bytes { lengths, .. } => {
            let long = long_edges(lengths).into_iter().flat_map(|len| strings(len).into_iter().take(1));
            lengths_of(lengths).into_iter().flat_map(strings).chain(long).map(Value::Bytes).collect()
        }
        Shape::Text(text) => texts(text),
        Shape::Nibbles { lengths, .. } => lengths_of(lengths)
            .into_iter()
            .chain(long_edges(lengths))
            .map(|len| Value::Nibbles((1..=15).cycle().take(len).collect()))
            .collect(),
        Shape::Opaque(_) => {
            [&b"x"[..], b"", b"\x00\xff/|"].map(|bytes| Value::Bytes(bytes.to_vec())).to_vec()
        }
        Shape::Record(_) | Shape::Choice(_) => in_rows(shape, inside),
        Shape::Option(inner) => {
            let mut all: Vec<Value> =
                inside(inner).into_iter().map(|value| Value::Option(Some(Box::new(value)))).collect();
            all.push(Value::Option(None));
            all
        }
        Shape::List { item, counts, .. } => {
            let items = inside(item);
            let mut all = Vec::new();
            for count in lengths_of(counts).into_iter().filter(|count| *count <= counts.min().max(8)) {
                all.push(Value::List(items.iter().cycle().take(count).cloned().collect()));
            }
            // Of the plainest elements, since lists in lists would be long.
            let edges = if let LengthSet::OneOf(of) = counts {
                of.clone()
            } else {
                counts.max().into_iter().collect()
            };
            for count in edges.into_iter().filter(|count| *count > counts.min().max(8) && *count <= EDGE) {
                all.push(Value::List(items.iter().take(1).cycle().take(count).cloned().collect()));
            }
            all
        }
        Shape::Framed { inner, .. } | Shape::Desc(inner) | Shape::HashConcat { inner, .. } => inside(inner),
        Shape::Hashed { keep, known, .. } => {
            let mut all = vec![Value::Digest(vec![0xd1; *keep])];
            all.extend(known.iter().map(|(_, name)| Value::Text(name.text.clone())));
            all
        }
    }
}

fn integers(int: &IntShape) -> Vec<Value> {
    let (min, max) = match int.range {
        IntRange::Unsigned { min, max } => {
            let small =
                [7, 0, 1, 109, 110, 127, 128, 252, 253, 255, 256, 65_535, 65_536, 0xffff_ffff, 0x1_0000_0000];
            let mut all: Vec<u128> = small.into_iter().filter(|n| (min..=max).contains(n)).collect();
            all.extend([min, max, max - (max - min) / 3]);
            all.dedup();
            return all.into_iter().map(Value::Unsigned).collect();
        }
        IntRange::Signed { min, max } => (min, max),
    };
    let small = [-100, 0, 1, -1, 127, -128, 255, -256, 65_536, -65_537];
    let mut all: Vec<i128> = small.into_iter().filter(|n| (min..=max).contains(n)).collect();
    all.extend([min, max]);
    all.into_iter().map(Value::Signed).collect()
}

/// Byte strings of a length: plain, with what separators are made of, and with what escapes are made of.
fn strings(len: usize) -> Vec<Vec<u8>> {
    let of = |pattern: &[u8]| pattern.iter().copied().cycle().take(len).collect::<Vec<u8>>();
    let mut all = vec![of(&[0xa1, 0xb2, 0xc3, 0x04]), of(b"\x00\xff\x00"), of(b"/a|0")];
    all.dedup();
    all
}

fn texts(text: &TextShape) -> Vec<Value> {
    let mut all: Vec<Value> = Vec::new();
    if let Some(names) = &text.names {
        all.extend(names.names.iter().map(|name| Value::Text(name.text.clone())));
    }
    let members = |alphabet: &Alphabet| {
        let mut all: Vec<char> =
            (b'a'..=b'z').chain(0x20..0x7f).filter(|byte| alphabet.contains(*byte)).map(char::from).collect();
        all.extend((0..0x20).filter(|byte| alphabet.contains(*byte)).map(char::from));
        all
    };
    let rest = members(&text.alphabet);
    let first = text.first.as_ref().map_or_else(|| rest.clone(), members);
    let (short, long) = (lengths_of(&text.lengths), long_edges(&text.lengths));
    for (len, skips) in short.into_iter().map(|len| (len, 2)).chain(long.into_iter().map(|len| (len, 1))) {
        for skip in [0, rest.len().saturating_sub(3)].into_iter().take(skips) {
            let head = first.iter().copied().take(usize::from(len > 0));
            let tail = rest.iter().copied().cycle().skip(skip).take(len.saturating_sub(1));
            all.push(Value::Text(head.chain(tail).collect()));
        }
    }
    if text.alphabet.beyond_ascii() {
        all.extend(["é", "日本", "😀/", "\0x"].map(|text| Value::Text(text.to_owned())));
    }
    let mut seen = Vec::new();
    all.retain(|value| {
        let new = !seen.contains(value);
        seen.push(value.clone());
        new
    });
    all
}

/// Records, or choices of every alternative, where one argument varies at a time.
fn in_rows(shape: &Shape, vary: fn(&Shape) -> Vec<Value>) -> Vec<Value> {
    let forms = shape.forms().into_iter().flatten();
    let with_rows = forms.filter_map(|form| Some((form, rows(form.row()?, vary))));
    with_rows.flat_map(|(form, rows)| rows.into_iter().filter_map(move |row| form.value(row))).collect()
}

/// Argument lists of a sequence inside of another, where one argument varies at a time.
fn rows(sequence: &Sequence, vary: fn(&Shape) -> Vec<Value>) -> Vec<Vec<Value>> {
    let base: Option<Vec<Value>> =
        sequence.arguments().map(|argument| inside(&argument.shape).into_iter().next()).collect();
    let Some(base) = base else { return Vec::new() };
    let mut all = vec![base.clone()];
    for (index, argument) in sequence.arguments().enumerate() {
        for value in vary(&argument.shape) {
            let mut row = base.clone();
            if let Some(slot) = row.get_mut(index) {
                *slot = value;
            }
            all.push(row);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shapes(domains: &str) -> (Vec<Value>, Vec<Value>) {
        let text = format!("plan p; space s {{ key k = 0x01 x: {domains} accept oversize \"long\"; }}");
        let plan = keyplan_plan::compile("p", &text, |_| Err(String::new())).plan.unwrap();
        let argument = plan.spaces[0].families[0].key.arguments().next().unwrap();
        (inside(&argument.shape), outside(&argument.shape))
    }

    fn lengths(values: &[Value]) -> Vec<usize> {
        let mut all: Vec<usize> = values
            .iter()
            .map(|value| match value {
                Value::Bytes(bytes) | Value::Nibbles(bytes) => bytes.len(),
                Value::Text(text) => text.len(),
                Value::List(items) => items.len(),
                other => panic!("{other:?}"),
            })
            .collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    #[test]
    fn lengths_and_counts_are_tried_at_their_edges() {
        for (domain, edges, beyond) in [
            ("bytes(1..=255)", &[1, 255][..], &[0, 256][..]),
            ("bytes(20 | 100 | 300).len16", &[20, 100, 300], &[19, 21, 101, 301]),
            ("text(\"a-z\", 3..=128)", &[3, 128], &[2, 129]),
            ("nibbles(0..=90).counted", &[0, 90], &[91]),
            ("list(u32, 1..=16).count8", &[1, 16], &[0, 17]),
            ("list(list(u8, 0..=40).count8, 2 | 50).count16", &[2, 50], &[1, 3, 51]),
            ("bytes(\"\\\\x00a-f\", 4..=200)", &[4, 200], &[3, 201]),
        ] {
            let (inside, outside) = shapes(domain);
            let (inside, outside) = (lengths(&inside), lengths(&outside));
            assert!(edges.iter().all(|edge| inside.contains(edge)), "{domain}: {inside:?}");
            assert!(beyond.iter().all(|edge| outside.contains(edge)), "{domain}: {outside:?}");
        }
    }

    #[test]
    fn no_value_is_made_up_that_would_fill_a_memory() {
        for domain in [
            "bytes(5000000000..=5000000001)",
            "bytes(3 | 5000000000).compactlen",
            "text(4294967296..).len64",
            "list(u8, 4000000000..).count32",
            "bytes(0..=18446744073709551614).len64",
            "nibbles(3000000000..).len64",
        ] {
            let (inside, outside) = shapes(domain);
            let all = lengths(&inside).into_iter().chain(lengths(&outside));
            assert!(all.max().is_none_or(|most| most <= 300), "{domain}");
        }
    }
}
