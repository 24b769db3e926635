//! What the values of a family are, guessed from some of them.

use keyplan_values::{Data, Format, Limits, decode};

use crate::draft::parts;
use crate::guess::Guess;
use crate::guess::literal;
use crate::search::search;

/// The layout of some values in the language; `None` if nothing can be said.
pub(crate) fn value_layout(values: &[&[u8]]) -> Option<String> {
    let first = values.first()?;
    let is_same = values.iter().all(|value| value == first);
    Some(match first {
        [] if is_same => "\"\"".to_owned(),
        [_] if is_same && values.len() > 1 => literal(first),
        _ => described(values),
    })
}

fn described(values: &[&[u8]]) -> String {
    if values.iter().all(|value| is_json(value)) {
        return "json".to_owned();
    }
    if let Some(number) = number(values) {
        return number;
    }
    if values.iter().all(|value| is_cbor(value)) {
        return "cbor".to_owned();
    }
    let is_text = |text: &str| !text.chars().any(char::is_control);
    if values.iter().all(|value| str::from_utf8(value).is_ok_and(is_text)) {
        return "text: text".to_owned();
    }
    // A message says the numbers of its fields, not its name.
    let is_message =
        values.iter().all(|value| is_message(value)) && values.iter().any(|value| value.len() > 2);
    if is_message { "proto(\"Unknown\")" } else { "raw" }.to_owned()
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
            assert_eq!(value_layout(values).as_deref(), Some(expected));
        }
        assert_eq!(value_layout(&[]), None);
    }
}
