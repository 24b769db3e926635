//! A few values of any domain: the least ones, and those that hold the bytes that plans put between their parts.

use keyplan_plan::codec::Score;
use keyplan_plan::dynamic::Value;
use keyplan_plan::model::{Framing, IntRange, LengthSet, NibbleEncoding, Sequence, Shape, TextShape};

/// Bytes that stand between parts in the plans, or begin them.
const MARKS: &[u8] = b"/|:_.-a01\x00\x01\x02\xff";

/// The most values of one argument.
const MOST: usize = 32;

/// Argument lists of a layout, `most` or fewer, and whether they are all: never.
pub(crate) fn rows(sequence: &Sequence, most: usize) -> (Vec<Vec<Value>>, bool) {
    let columns: Vec<Vec<Value>> = sequence.arguments().map(|argument| values(&argument.shape)).collect();
    let mut keep = MOST;
    while keep > 1
        && columns.iter().fold(1, |n: usize, column| n.saturating_mul(column.len().min(keep))) > most
    {
        keep -= 1;
    }
    let mut all: Vec<Vec<Value>> = vec![Vec::new()];
    for column in columns {
        all = all
            .iter()
            .flat_map(|row| {
                column.iter().take(keep).map(move |value| [row.clone(), vec![value.clone()]].concat())
            })
            .take(most)
            .collect();
    }
    (all, false)
}

fn values(shape: &Shape) -> Vec<Value> {
    let mut all: Vec<Value> = match shape {
        Shape::Int(int) => match int.range {
            IntRange::Unsigned { min, max } => {
                let few = [min, min + 1, 10, 47, 124, 256, max];
                few.into_iter().filter(|n| (min..=max).contains(n)).map(Value::Unsigned).collect()
            }
            IntRange::Signed { min, max } => {
                let few = [0, -1, 1, 10, 256, min, max];
                few.into_iter().filter(|n| (min..=max).contains(n)).map(Value::Signed).collect()
            }
        },
        Shape::Bool(_) => vec![Value::Bool(false), Value::Bool(true)],
        Shape::Float(_) => [0.0, 1.0, -1.0].map(Value::Float).to_vec(),
        Shape::Time(_) => [0, 1, 1_700_000_000_000_000_000].map(Value::Time).to_vec(),
        Shape::Score { heights: Some(heights), .. } => {
            let places = [(heights.least.max(1), 0), (heights.most, 0), (heights.most, 7)];
            places.map(|(height, index)| Value::Score(Score::Confirmed { height, index })).to_vec()
        }
        Shape::Score { heights: None, .. } => vec![
            Value::Score(Score::Confirmed { height: 1, index: 0 }),
            Value::Score(Score::Confirmed { height: 2, index: 0 }),
            Value::Score(Score::Unconfirmed { seconds: 1, nanos: 0 }),
        ],
        Shape::Bytes { lengths, .. } => {
            strings(lengths, MARKS, MARKS).into_iter().map(Value::Bytes).collect()
        }
        Shape::Text(text) => texts(text),
        Shape::Nibbles { lengths, encoding } => {
            let even = |n: &Vec<u8>| *encoding != NibbleEncoding::Packed || n.len().is_multiple_of(2);
            strings(lengths, &[0, 1], &[0, 1]).into_iter().filter(even).map(Value::Nibbles).collect()
        }
        Shape::Opaque(_) => vec![Value::Bytes(Vec::new()), Value::Bytes(vec![0])],
        Shape::Record(sequence) => rows(sequence, MOST).0.into_iter().map(Value::Record).collect(),
        Shape::Choice(alternatives) => {
            let rows = alternatives.iter().map(|alternative| rows(&alternative.sequence, 4).0);
            rows.enumerate()
                .flat_map(|(index, rows)| rows.into_iter().map(move |row| Value::Choice(index, row)))
                .collect()
        }
        Shape::Option(inner) => {
            let some = values(inner).into_iter().map(|value| Value::Option(Some(Box::new(value))));
            std::iter::once(Value::Option(None)).chain(some).collect()
        }
        Shape::List { item, counts, framing } => {
            let most = if let Framing::Counted(width) = framing { width.limit() } else { usize::MAX };
            let items = values(item);
            let counts =
                (counts.min()..=counts.min() + 2).filter(|&count| counts.admits(count) && count <= most);
            counts
                .flat_map(|count| {
                    items.iter().take(4).map(move |item| Value::List(vec![item.clone(); count]))
                })
                .collect()
        }
        Shape::Framed { inner, .. }
        | Shape::Desc(inner)
        | Shape::HashConcat { inner, .. }
        | Shape::Hashed { inner, .. } => values(inner),
    };
    all.truncate(MOST);
    all
}

fn texts(text: &TextShape) -> Vec<Value> {
    let known = text.names.iter().flat_map(|set| set.names.iter().take(3).map(|name| name.text.clone()));
    let first = text.first.unwrap_or(text.alphabet);
    let letters = |alphabet: keyplan_plan::codec::Alphabet| -> Vec<u8> {
        let marks = MARKS.iter().copied().filter(|&byte| byte < 128 && alphabet.contains(byte));
        let least = (b'!'..=b'~').find(|&byte| alphabet.contains(byte));
        least.into_iter().chain(marks).collect()
    };
    let plain = strings(&text.lengths, &letters(first), &letters(text.alphabet));
    let plain = plain.into_iter().filter_map(|bytes| String::from_utf8(bytes).ok());
    known.chain(plain).filter(|value| text.admits(value)).map(Value::Text).collect()
}

/// Strings of the least lengths: of one letter, and with each other letter in the first or the last place.
fn strings(lengths: &LengthSet, first: &[u8], rest: &[u8]) -> Vec<Vec<u8>> {
    let least = lengths.min();
    let mut all: Vec<Vec<u8>> = Vec::new();
    let (Some(&start), Some(&fill)) = (first.first(), rest.first()) else { return all };
    for length in (least..=least.saturating_add(2)).chain([20, 32]).filter(|&n| lengths.admits(n)) {
        let mut text = vec![fill; length];
        if let Some(slot) = text.first_mut() {
            *slot = start;
        }
        let front = first.iter().map(|&letter| (0, letter));
        let back = rest.iter().map(|&letter| (length.saturating_sub(1), letter)).filter(|_| length > 1);
        all.push(text.clone());
        for (place, letter) in front.chain(back).filter(|_| length > 0 && length <= least + 1) {
            let mut text = text.clone();
            text[place] = letter;
            if !all.contains(&text) {
                all.push(text);
            }
        }
    }
    all
}
