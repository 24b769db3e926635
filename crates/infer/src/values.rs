//! What the values of a family are, guessed from some of them.

use keyplan_values::{Data, Format, Limits, decode};

use crate::draft::parts;
use crate::guess::Guess;
use crate::guess::literal;
use crate::search::search;

/// The share of values, in percent, that must be of a format for it to be named: there may be damaged ones among them.
const NAMED: usize = 80;
/// How many values there must be for some of them to be damaged.
const ENOUGH: usize = 8;

/// What some values are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ValueGuess {
    /// The layout in the language.
    pub(crate) layout: String,
    /// What is not sure.
    pub(crate) unsure: Option<String>,
}

impl ValueGuess {
    fn sure(layout: impl Into<String>) -> Self {
        Self { layout: layout.into(), unsure: None }
    }
}

/// The layout of some values; `None` if nothing can be said.
pub(crate) fn value_layout(values: &[&[u8]]) -> Option<ValueGuess> {
    let first = values.first()?;
    let is_same = values.iter().all(|value| value == first);
    Some(match first {
        [] if is_same => ValueGuess::sure("\"\""),
        [_] if is_same && values.len() > 1 => ValueGuess::sure(literal(first)),
        _ => described(values),
    })
}

fn described(values: &[&[u8]]) -> ValueGuess {
    if values.iter().all(|value| is_json(value)) {
        return ValueGuess::sure("json");
    }
    if let Some(number) = number(values) {
        return ValueGuess::sure(number);
    }
    if values.iter().all(|value| is_cbor(value)) {
        return ValueGuess::sure("cbor");
    }
    let is_text = |text: &str| !text.chars().any(char::is_control);
    if values.iter().all(|value| str::from_utf8(value).is_ok_and(is_text)) {
        return ValueGuess::sure("text: text");
    }
    // A message says the numbers of its fields, not its name.
    let is_long = values.iter().any(|value| value.len() > 2);
    if is_long && values.iter().all(|value| is_message(value)) {
        return ValueGuess::sure("proto(\"Unknown\")");
    }
    mostly(values).unwrap_or_else(|| ValueGuess::sure("raw"))
}

/// The format that most values are of, where some of them are not.
fn mostly(values: &[&[u8]]) -> Option<ValueGuess> {
    // Of bytes by chance, few are long messages.
    let long_message: fn(&[u8]) -> bool = |value| value.len() > 2 && is_message(value);
    let formats = [
        ("json", "JSON", is_json as fn(&[u8]) -> bool),
        ("cbor", "CBOR", is_cbor),
        ("proto(\"Unknown\")", "protobuf messages", long_message),
    ];
    formats.into_iter().find_map(|(layout, name, is_one)| {
        let wrong = values.iter().filter(|value| !value.is_empty() && !is_one(value)).count();
        let right = values.iter().filter(|value| is_one(value)).count();
        (values.len() >= ENOUGH && right * 100 >= values.len() * NAMED).then(|| ValueGuess {
            layout: layout.to_owned(),
            unsure: Some(format!("{wrong} of {} values that were looked at are not {name}", values.len())),
        })
    })
}

/// Numbers of one width.
fn number(values: &[&[u8]]) -> Option<String> {
    let layout = search(values, 0);
    let [piece] = layout.pieces.as_slice() else { return None };
    matches!(piece.guess, Guess::Int { .. } | Guess::Dec | Guess::Time).then(|| parts(&layout.pieces))
}

fn is_json(value: &[u8]) -> bool {
    let is_open = matches!(value.trim_ascii().first(), Some(b'{' | b'['));
    is_open && decode(Format::Json, value, &Limits::default()).is_ok()
}

/// Numbers and short texts are CBOR by chance; lists, maps and tags hardly.
fn is_cbor(value: &[u8]) -> bool {
    let node = decode(Format::Cbor, value, &Limits::default());
    node.is_ok_and(|node| match node.data {
        Data::List(items) => !items.is_empty(),
        Data::Map(pairs) => !pairs.is_empty(),
        Data::Tagged(..) => true,
        _ => false,
    })
}

/// Numbers of fields are small in what people write.
fn is_message(value: &[u8]) -> bool {
    let node = decode(Format::ProtoWire, value, &Limits::default());
    node.is_ok_and(|node| match node.data {
        Data::Fields(fields) => fields.iter().all(|(number, _)| *number < 1_000),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_told_apart() {
        let numbers: Vec<[u8; 8]> = (900..980_u64).map(u64::to_be_bytes).collect();
        let numbers: Vec<&[u8]> = numbers.iter().map(<[u8; 8]>::as_slice).collect();
        for (values, expected) in [
            (&[&b"{\"a\":1}"[..], b"[]"][..], "json"),
            (&[b"", b""], "\"\""),
            (&[b"\x01", b"\x01"], "0x01"),
            (&numbers, "number: u64"),
            (&[b"\xa1\x61a\x01", b"\x82\x01\x02"], "cbor"),
            (&[b"premium", b"basic"], "text: text"),
            (&[b"\x08\x01\x12\x02\xff\xfe", b"\x08\x07"], "proto(\"Unknown\")"),
            (&[b"\xff\x00\x01", b"\xfe"], "raw"),
        ] {
            assert_eq!(value_layout(values), Some(ValueGuess::sure(expected)));
        }
        assert_eq!(value_layout(&[]), None);
    }

    #[test]
    fn damaged_values_among_others_are_counted() {
        let messages: Vec<Vec<u8>> = (0..18_u8).map(|n| vec![0x08, n, 0x12, 2, 0xff, n]).collect();
        let mut values: Vec<&[u8]> = messages.iter().map(Vec::as_slice).collect();
        values.extend([&b"\xff\xfe"[..], b"\x12\x09cut"]);
        let guess = ValueGuess {
            layout: "proto(\"Unknown\")".to_owned(),
            unsure: Some("2 of 20 values that were looked at are not protobuf messages".to_owned()),
        };
        assert_eq!(value_layout(&values), Some(guess));
        let half: Vec<&[u8]> =
            values.iter().copied().skip(16).chain([&b"\xff"[..], b"\xfd", b"\xfc", b"\xfb"]).collect();
        assert_eq!(value_layout(&half), Some(ValueGuess::sure("raw")));
    }
}
