//! Every value of a small domain, and some of a large one.

use keyplan_plan::codec::Score;
use keyplan_plan::dynamic::Value;
use keyplan_plan::model::{BytesEncoding, IntRange, LengthSet, NibbleEncoding, Sequence, Shape};

/// Values of a shape, and whether they are all.
#[expect(clippy::too_many_lines, reason = "a table over the shapes")]
fn values(shape: &Shape) -> (Vec<Value>, bool) {
    match shape {
        Shape::Int(int) => match int.range {
            IntRange::Unsigned { min, max } if max - min <= 256 => {
                ((min..=max).map(Value::Unsigned).collect(), true)
            }
            IntRange::Unsigned { max, .. } => {
                let edges = [0u128, 1, 9, 10, 97, 127, 128, 255, 256, 257, 12_336, 65_535, 65_536];
                (edges.into_iter().filter(|n| *n <= max).map(Value::Unsigned).collect(), false)
            }
            IntRange::Signed { min, max } if max - min <= 256 => {
                ((min..=max).map(Value::Signed).collect(), true)
            }
            IntRange::Signed { .. } => ([-256, -2, -1, 0, 1, 2, 255, 256].map(Value::Signed).to_vec(), false),
        },
        Shape::Bool(_) => (vec![Value::Bool(false), Value::Bool(true)], true),
        Shape::Float(_) => ([0.0, 1.0, -1.0, 0.25, -2.5, 1e300].map(Value::Float).to_vec(), false),
        Shape::Time(_) => ([0, 1, -1, 1_700_000_000_000_000_000].map(Value::Time).to_vec(), false),
        Shape::Score { heights: Some(heights), .. } => {
            let places =
                [(heights.least, 0), (heights.least, 1), (heights.most, 0), (heights.most, 999_999_999)];
            (places.map(|(height, index)| Value::Score(Score::Confirmed { height, index })).to_vec(), false)
        }
        Shape::Score { heights: None, .. } => {
            let confirmed = |height, index| Value::Score(Score::Confirmed { height, index });
            let pending = |seconds, nanos| Value::Score(Score::Unconfirmed { seconds, nanos });
            (vec![confirmed(1, 0), confirmed(1, 1), confirmed(2, 0), pending(0, 0), pending(1, 5)], false)
        }
        Shape::Bytes { lengths, encoding: BytesEncoding::Class(class) } => {
            let letters: Vec<u8> = (0..=255).filter(|&byte| class.contains(byte)).collect();
            let few: Vec<u8> = match letters.as_slice() {
                few if few.len() <= 3 => few.to_vec(),
                [first, second, .., last] => vec![*first, *second, *last],
                _ => unreachable!(),
            };
            let most = lengths.max().unwrap_or(2).min(3);
            let complete = letters.len() <= 3 && lengths.max().is_some_and(|max| max <= 3);
            (strings(lengths, &few, &few, most).into_iter().map(Value::Bytes).collect(), complete)
        }
        Shape::Bytes { encoding: BytesEncoding::Wide { .. }, .. } => {
            let ends =
                [(0, 0, 0), (0, 0, 1), (0, 1, 0), (1, 0, 0), (0x7f, 255, 255), (0x80, 0, 0), (255, 255, 255)];
            let of = |(first, fill, last)| {
                let mut bytes = vec![fill; 32];
                (bytes[0], bytes[31]) = (first, last);
                Value::Bytes(bytes)
            };
            (ends.map(of).to_vec(), false)
        }
        Shape::Bytes { lengths, encoding } => {
            let few: &[u8] =
                if matches!(encoding, BytesEncoding::Bech32(_) | BytesEncoding::Base58 { check: true }) {
                    &[0, 97]
                } else {
                    &[0, 1, 48, 97, 128, 255]
                };
            (strings(lengths, few, few, 2).into_iter().map(Value::Bytes).collect(), false)
        }
        Shape::Text(text) => {
            let letters: Vec<u8> = (0..128).filter(|&byte| text.alphabet.contains(byte)).collect();
            let first: Vec<u8> = (0..128)
                .filter(|&byte| {
                    text.first.as_ref().map_or(text.alphabet.contains(byte), |first| first.contains(byte))
                })
                .collect();
            let few = |letters: &[u8]| -> Vec<u8> {
                if letters.len() <= 4 {
                    letters.to_vec()
                } else {
                    letters.iter().copied().filter(|byte| b"\x00a/1".contains(byte)).collect()
                }
            };
            let most = text.lengths.max().unwrap_or(2);
            let complete = letters.len() <= 4
                && first.len() <= 4
                && (most <= 3 || letters.len() == 1)
                && text.lengths.max().is_some();
            let list = strings(&text.lengths, &few(&first), &few(&letters), if complete { most } else { 2 });
            let mut list: Vec<Value> = list
                .into_iter()
                .map(|bytes| String::from_utf8(bytes).unwrap())
                .filter(|value| text.admits(value))
                .map(Value::Text)
                .collect();
            if text.alphabet.beyond_ascii() {
                list.extend(
                    ["é", "aé"].iter().filter(|t| text.admits(t)).map(|t| Value::Text((*t).to_owned())),
                );
            }
            (list, complete)
        }
        Shape::Nibbles { lengths, encoding } => {
            let all: Vec<u8> = (0..16).collect();
            let complete = lengths.max().is_some_and(|max| max <= 1);
            let few = if complete { all } else { vec![0, 1, 2, 6, 15] };
            let list = strings(lengths, &few, &few, 2);
            let even = |n: &Vec<u8>| *encoding != NibbleEncoding::Packed || n.len().is_multiple_of(2);
            (list.into_iter().filter(even).map(Value::Nibbles).collect(), complete)
        }
        Shape::Opaque(_) => {
            (vec![Value::Bytes(vec![]), Value::Bytes(vec![0]), Value::Bytes(vec![97, 1])], false)
        }
        Shape::Record(sequence) => {
            let (rows, complete) = rows(sequence, 60);
            (rows.into_iter().map(Value::Record).collect(), complete)
        }
        Shape::Choice(alternatives) => {
            let mut all = Vec::new();
            let mut complete = true;
            for (index, alternative) in alternatives.iter().enumerate() {
                let (rows, whole) = rows(&alternative.sequence, 60);
                complete &= whole;
                all.extend(rows.into_iter().map(|row| Value::Choice(index, row)));
            }
            (all, complete)
        }
        Shape::Option(inner) => {
            let (inner, complete) = values(inner);
            let some = inner.into_iter().map(|value| Value::Option(Some(Box::new(value))));
            (std::iter::once(Value::Option(None)).chain(some).collect(), complete)
        }
        Shape::List { item, counts, .. } => {
            let (items, mut complete) = values(item);
            let most = counts.max().unwrap_or(2).min(2);
            complete &= counts.max() == Some(most);
            let mut all = Vec::new();
            for count in (0..=most).filter(|&count| counts.admits(count)) {
                let mut lists: Vec<Vec<Value>> = vec![Vec::new()];
                for _ in 0..count {
                    lists = lists
                        .iter()
                        .flat_map(|list| {
                            items.iter().map(move |item| [list.clone(), vec![item.clone()]].concat())
                        })
                        .take(400)
                        .collect();
                    complete &= lists.len() < 400;
                }
                all.extend(lists.into_iter().map(Value::List));
            }
            (all, complete)
        }
        Shape::Framed { inner, .. } | Shape::Desc(inner) | Shape::HashConcat { inner, .. } => values(inner),
        Shape::Hashed { inner, .. } => (values(inner).0, false),
    }
}

fn strings(lengths: &LengthSet, first: &[u8], rest: &[u8], most: usize) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    let least = lengths.min();
    for length in (least..=most.max(least)).filter(|&length| lengths.admits(length)) {
        let mut list: Vec<Vec<u8>> = vec![Vec::new()];
        for index in 0..length {
            let letters = if index == 0 { first } else { rest };
            list = list
                .iter()
                .flat_map(|text| letters.iter().map(move |&letter| [text.as_slice(), &[letter]].concat()))
                .take(300)
                .collect();
        }
        all.extend(list);
    }
    all
}

/// Argument lists of a layout, `most` or fewer, and whether they are all.
pub(crate) fn rows(sequence: &Sequence, most: usize) -> (Vec<Vec<Value>>, bool) {
    let mut all: Vec<Vec<Value>> = vec![Vec::new()];
    let mut complete = true;
    for argument in sequence.arguments() {
        let (values, whole) = values(&argument.shape);
        complete &= whole;
        let wanted = all.len() * values.len();
        // Spread what is left out, so that the kept ones are not all alike.
        let step = wanted.div_ceil(most.max(1)).max(1);
        complete &= step == 1;
        let row = |index: usize| {
            let mut row = all[index / values.len()].clone();
            row.push(values[index % values.len()].clone());
            row
        };
        all = (0..wanted).step_by(step).map(row).collect();
    }
    (all, complete)
}
