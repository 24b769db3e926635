//! Values as JSON, appended to a buffer that is used again for the next key.
//!
//! Integers of up to 32 bits are numbers; wider ones are strings whatever their value, since many readers of JSON
//! hold numbers as floats. Bytes are hex strings. A choice is its label, or an object with the label as its only name.

use keyplan_plan::dynamic::Value;
use keyplan_plan::model::{Argument, Sequence, Shape};

use super::hex_into;

/// Appends `{"pool":"7","tick":"-100"}`.
pub(crate) fn arguments(out: &mut Vec<u8>, sequence: &Sequence, values: &[Value]) {
    out.push(b'{');
    for (index, (argument, value)) in sequence.arguments().zip(values).enumerate() {
        if index > 0 {
            out.push(b',');
        }
        string(out, argument.name.as_deref().unwrap_or("value"));
        out.push(b':');
        json_value(out, &argument.shape, value);
    }
    out.push(b'}');
}

/// Appends one value.
fn json_value(out: &mut Vec<u8>, shape: &Shape, value: &Value) {
    match (shape, value) {
        (Shape::Int(int), Value::Unsigned(n)) => {
            quoted_if(out, int.ty.bits > 32, |out| match u64::try_from(*n) {
                Ok(n) => out.extend_from_slice(itoa::Buffer::new().format(n).as_bytes()),
                Err(_) => out.extend_from_slice(itoa::Buffer::new().format(*n).as_bytes()),
            });
        }
        (Shape::Int(int), Value::Signed(n)) => {
            quoted_if(out, int.ty.bits > 32, |out| match i64::try_from(*n) {
                Ok(n) => out.extend_from_slice(itoa::Buffer::new().format(n).as_bytes()),
                Err(_) => out.extend_from_slice(itoa::Buffer::new().format(*n).as_bytes()),
            });
        }
        (_, Value::Bool(value)) => out.extend_from_slice(if *value { b"true" } else { b"false" }),
        (_, Value::Bytes(bytes)) => hex_string(out, bytes),
        (_, Value::Text(text)) => string(out, text),
        (_, Value::Float(value)) if value.is_finite() => {
            out.extend_from_slice(format!("{value:?}").as_bytes());
        }
        (_, Value::Digest(digest)) => {
            out.extend_from_slice(b"{\"digest\":");
            hex_string(out, digest);
            out.push(b'}');
        }
        (Shape::Record(sequence), Value::Record(values)) => body(out, sequence, values),
        (Shape::Choice(alternatives), Value::Choice(index, values)) => {
            let Some(alternative) = alternatives.get(*index) else { return out.extend_from_slice(b"null") };
            if values.is_empty() {
                return string(out, &alternative.label);
            }
            out.push(b'{');
            string(out, &alternative.label);
            out.push(b':');
            body(out, &alternative.sequence, values);
            out.push(b'}');
        }
        (Shape::Option(_), Value::Option(None)) => out.extend_from_slice(b"null"),
        (Shape::Option(inner), Value::Option(Some(value))) => json_value(out, inner, value),
        (Shape::List { item, .. }, Value::List(values)) => {
            out.push(b'[');
            for (index, value) in values.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                json_value(out, item, value);
            }
            out.push(b']');
        }
        (
            Shape::Framed { inner, .. }
            | Shape::Desc(inner)
            | Shape::Hashed { inner, .. }
            | Shape::HashConcat { inner, .. },
            value,
        ) => json_value(out, inner, value),
        // Times, scores, nibbles and floats beyond JSON, as `encode` takes them.
        (shape, value) => string(out, &value.display(shape).to_string()),
    }
}

/// The arguments of a record or alternative; one without a name stands alone.
fn body(out: &mut Vec<u8>, sequence: &Sequence, values: &[Value]) {
    let mut all = sequence.arguments().zip(values);
    match (all.next(), values.len()) {
        (Some((Argument { name: None, shape, .. }, value)), 1) => json_value(out, shape, value),
        _ => arguments(out, sequence, values),
    }
}

fn quoted_if(out: &mut Vec<u8>, quotes: bool, write: impl FnOnce(&mut Vec<u8>)) {
    if quotes {
        out.push(b'"');
    }
    write(out);
    if quotes {
        out.push(b'"');
    }
}

/// Appends bytes as a string of hex digits.
pub(crate) fn hex_string(out: &mut Vec<u8>, bytes: &[u8]) {
    out.push(b'"');
    hex_into(bytes, out);
    out.push(b'"');
}

/// Appends a number.
pub(crate) fn number(out: &mut Vec<u8>, n: usize) {
    out.extend_from_slice(itoa::Buffer::new().format(n).as_bytes());
}

/// Appends a string.
pub(crate) fn string(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    let mut rest = text.as_bytes();
    while let Some(at) = rest.iter().position(|&byte| byte < 0x20 || byte == b'"' || byte == b'\\') {
        let (clean, special) = rest.split_at(at);
        out.extend_from_slice(clean);
        let (&byte, behind) = special.split_first().unwrap_or((&b' ', &[]));
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            byte => {
                out.extend_from_slice(b"\\u00");
                hex_into(&[byte], out);
            }
        }
        rest = behind;
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_string_reads_back() {
        for text in ["", "plain", "\"\\\n\r\t\0\u{1f}\u{7f}", "é → 日本"] {
            let mut out = Vec::new();
            string(&mut out, text);
            assert_eq!(serde_json::from_slice::<String>(&out).unwrap(), text);
        }
    }
}
