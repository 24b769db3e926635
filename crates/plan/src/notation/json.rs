//! Values as JSON, appended to a buffer that is used again for the next key.
//!
//! Integers of up to 32 bits are numbers; wider ones are strings whatever their value, since many readers of JSON
//! hold numbers as floats. Bytes are hex strings. A choice is its label, or an object with the label as its only name. What is
//! absent is `null`; an option in an option is in a list where the outer one is there, `[null]`.

use crate::dynamic::Value;
use crate::model::{Argument, BytesEncoding, Sequence, Shape};

use super::{argument_name, hex_into, is_hidden};

/// Appends the arguments of a layout as one object, `{"pool":"7","tick":"-100"}`.
///
/// ```
/// use keyplan_plan::{dynamic::Value, notation::write_json};
///
/// let text = "plan demo; space s { key tick = 0x01 pool: u64 tick: i64.tick9; }";
/// let plan = keyplan_plan::compile("demo.keyplan", text, |_| Err("no imports".into())).plan.expect("sound");
/// let mut out = Vec::new();
/// write_json(&mut out, &plan.find("tick")[0].1.key, &[Value::Unsigned(7), Value::Signed(-100)]);
/// assert_eq!(out, br#"{"pool":"7","tick":"-100"}"#);
/// ```
pub fn write_json(out: &mut Vec<u8>, sequence: &Sequence, values: &[Value]) {
    write_arguments(out, sequence, values, false);
}

/// As [`write_json`], with each argument in the form that the plan shows it in; `arguments_from_json` reads both.
///
/// ```
/// use keyplan_plan::{dynamic::Value, notation::write_shown_json};
///
/// let text = "plan demo; space s { key tx = id: bytes(3).shown(reversed); }";
/// let plan = keyplan_plan::compile("demo.keyplan", text, |_| Err("no imports".into())).plan.expect("sound");
/// let mut out = Vec::new();
/// write_shown_json(&mut out, &plan.find("tx")[0].1.key, &[Value::Bytes(vec![1, 2, 3])]);
/// assert_eq!(out, br#"{"id":"030201"}"#);
/// ```
pub fn write_shown_json(out: &mut Vec<u8>, sequence: &Sequence, values: &[Value]) {
    write_arguments(out, sequence, values, true);
}

fn write_arguments(out: &mut Vec<u8>, sequence: &Sequence, values: &[Value], shown: bool) {
    out.push(b'{');
    for (index, (argument, value)) in sequence.arguments().zip(values).enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write_string(out, argument_name(argument));
        out.push(b':');
        write_argument(out, argument, value, shown);
    }
    out.push(b'}');
}

/// Appends a value of an argument in the form that the plan shows it in.
pub fn write_argument_json(out: &mut Vec<u8>, argument: &Argument, value: &Value) {
    write_argument(out, argument, value, true);
}

fn write_argument(out: &mut Vec<u8>, argument: &Argument, value: &Value, shown: bool) {
    match argument.shown_text(value).filter(|_| shown) {
        Some(text) => write_string(out, &text),
        None => write_value(out, &argument.shape, value, shown),
    }
}

/// Appends one value.
fn write_value(out: &mut Vec<u8>, shape: &Shape, value: &Value, shown: bool) {
    let shape = shape.values();
    let inner = shape.inner().unwrap_or(shape);
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
        (Shape::Bytes { encoding: BytesEncoding::Wide { signed, .. }, .. }, Value::Bytes(bytes)) => {
            write_string(out, &crate::dynamic::wide_decimal(bytes, *signed));
        }
        (_, Value::Bytes(bytes)) => write_bytes(out, bytes),
        (_, Value::Text(text)) => write_string(out, text),
        // Between quotes nothing is a value, too.
        (_, Value::Nibbles(nibbles)) if nibbles.is_empty() => write_string(out, ""),
        (_, Value::Float(value)) if value.is_finite() => {
            out.extend_from_slice(format!("{value:?}").as_bytes());
        }
        (_, Value::Digest(digest)) => {
            out.extend_from_slice(b"{\"digest\":");
            write_bytes(out, digest);
            out.push(b'}');
        }
        (_, Value::Record(values)) => row(out, shape, 0, values, shown),
        (_, Value::Choice(index, values)) => row(out, shape, *index, values, shown),
        (_, Value::Option(None)) => out.extend_from_slice(b"null"),
        // It may be `null` itself.
        (_, Value::Option(Some(value))) if inner.optional().is_some() => {
            out.push(b'[');
            write_value(out, inner, value, shown);
            out.push(b']');
        }
        (_, Value::Option(Some(value))) => write_value(out, inner, value, shown),
        (_, Value::List(values)) => {
            out.push(b'[');
            for (index, value) in values.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                write_value(out, inner, value, shown);
            }
            out.push(b']');
        }
        // Times, scores, nibbles and floats beyond JSON, as `encode` takes them.
        (shape, value) => write_string(out, &value.display(shape).to_string()),
    }
}

/// Appends the arguments of a record, or of an alternative after its label.
fn row(out: &mut Vec<u8>, shape: &Shape, index: usize, values: &[Value], shown: bool) {
    match shape.labelled().nth(index) {
        None => out.extend_from_slice(b"null"),
        Some((None, sequence)) => body(out, sequence, values, shown),
        Some((Some(label), _)) if values.is_empty() => write_string(out, label),
        Some((Some(label), sequence)) => {
            out.push(b'{');
            write_string(out, label);
            out.push(b':');
            body(out, sequence, values, shown);
            out.push(b'}');
        }
    }
}

/// The arguments of a record or alternative; one without a name is written by itself.
fn body(out: &mut Vec<u8>, sequence: &Sequence, values: &[Value], shown: bool) {
    let mut all = sequence.arguments().zip(values);
    match (all.next(), values.len()) {
        (Some((argument @ Argument { name: None, .. }, value)), 1) => {
            write_argument(out, argument, value, shown);
        }
        _ => write_arguments(out, sequence, values, shown),
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
pub fn write_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    out.push(b'"');
    hex_into(bytes, out);
    out.push(b'"');
}

/// Appends a number.
pub fn write_number(out: &mut Vec<u8>, n: usize) {
    out.extend_from_slice(itoa::Buffer::new().format(n).as_bytes());
}

/// Appends a string. Characters that would act on a terminal are written as their numbers.
pub fn write_string(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    let mut rest = text;
    // Hidden characters beyond ASCII begin with one of three bytes.
    let special = |byte: u8| byte < 0x20 || matches!(byte, b'"' | b'\\' | 0x7f | 0xc2 | 0xd8 | 0xe2);
    while let Some(at) = rest.bytes().position(special) {
        let (clean, from) = rest.split_at(at);
        out.extend_from_slice(clean.as_bytes());
        let mut chars = from.chars();
        let Some(c) = chars.next() else { break };
        match c {
            '"' => out.extend_from_slice(b"\\\""),
            '\\' => out.extend_from_slice(b"\\\\"),
            '\n' => out.extend_from_slice(b"\\n"),
            '\r' => out.extend_from_slice(b"\\r"),
            '\t' => out.extend_from_slice(b"\\t"),
            c if is_hidden(c) => out.extend_from_slice(format!("\\u{:04x}", u32::from(c)).as_bytes()),
            c => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
        rest = chars.as_str();
    }
    out.extend_from_slice(rest.as_bytes());
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_string_reads_back() {
        for text in ["", "plain", "\"\\\n\r\t\0\u{1f}\u{7f}", "é → 日本 ¢ \u{9b}\u{202e}\u{61c}"] {
            let mut out = Vec::new();
            write_string(&mut out, text);
            assert_eq!(serde_json::from_slice::<String>(&out).unwrap(), text);
            assert!(!String::from_utf8(out).unwrap().chars().any(is_hidden), "{text:?}");
        }
    }
}
