//! A tree as text for people, and as JSON for programs.

use std::fmt::Write as _;

use serde_json::{Map, Number, Value, json as value};

use crate::time;
use crate::tree::{Data, Node, Record};

/// The tree in CBOR's diagnostic notation, also where it came from elsewhere: fields of a message are `1: …`, variants
/// `Name(…)`. A message of a schema is `{name: …}`, and a field that the schema does not have is `?7: …`.
pub fn text(node: &Node) -> String {
    let mut out = String::new();
    put(&mut out, node);
    out
}

fn put(out: &mut String, node: &Node) {
    // Writing to a string does not fail.
    let _ = match &node.data {
        Data::Null => write!(out, "null"),
        Data::Undefined => write!(out, "undefined"),
        Data::Bool(b) => write!(out, "{b}"),
        Data::Unsigned(n) => write!(out, "{n}"),
        Data::Signed(n) => write!(out, "{n}"),
        Data::Float(float) => write!(out, "{}", float_text(*float)),
        Data::Number(digits) => write!(out, "{digits}"),
        Data::Bytes(bytes) => write!(out, "h'{}'", const_hex::encode(bytes)),
        Data::Text(text) => {
            put_quoted(out, text);
            Ok(())
        }
        Data::Simple(n) => write!(out, "simple({n})"),
        Data::List(items) => {
            listed(out, "[", items, "]", put);
            Ok(())
        }
        Data::Map(pairs) => {
            listed(out, "{", pairs, "}", |out, (key, value)| {
                put(out, key);
                out.push_str(": ");
                put(out, value);
            });
            Ok(())
        }
        Data::Fields(fields) => {
            listed(out, "{", fields, "}", |out, (number, value)| {
                let _ = write!(out, "{number}: ");
                put(out, value);
            });
            Ok(())
        }
        Data::Message(record) => {
            put_record(out, record);
            Ok(())
        }
        Data::Tagged(tag, inner) => {
            let _ = write!(out, "{tag}(");
            put(out, inner);
            write!(out, ")")
        }
        Data::Variant(name, inner) => {
            out.push_str(name);
            if inner.data == Data::Null {
                Ok(())
            } else {
                out.push('(');
                put(out, inner);
                write!(out, ")")
            }
        }
    };
}

/// A text as JSON writes it, with every character escaped that a terminal might act on: JSON leaves some as they are.
fn put_quoted(out: &mut String, text: &str) {
    for c in Value::from(text).to_string().chars() {
        if c.is_control() {
            let _ = write!(out, "\\u{:04x}", u32::from(c));
        } else {
            out.push(c);
        }
    }
}

fn put_record(out: &mut String, record: &Record) {
    if let Some(moment) = moment(record) {
        out.push_str(&moment);
        return;
    }
    let known = record.fields.iter().map(|(name, node)| (name.to_string(), node));
    let unknown = record.unknown.iter().map(|(number, node)| (format!("?{number}"), node));
    let all: Vec<(String, &Node)> = known.chain(unknown).collect();
    listed(out, "{", &all, "}", |out, (name, node)| {
        out.push_str(name);
        out.push_str(": ");
        put(out, node);
    });
}

/// The time that a `google.protobuf.Timestamp` is, if it is nothing else.
fn moment(record: &Record) -> Option<String> {
    if *record.name != *"google.protobuf.Timestamp" || !record.unknown.is_empty() {
        return None;
    }
    let (mut seconds, mut nanos) = (0, 0);
    for (name, node) in &record.fields {
        match (&**name, &node.data) {
            ("seconds", Data::Unsigned(n)) => seconds = i64::try_from(*n).ok()?,
            ("seconds", Data::Signed(n)) => seconds = i64::try_from(*n).ok()?,
            ("nanos", Data::Unsigned(n)) => nanos = u32::try_from(*n).ok()?,
            _ => return None,
        }
    }
    time::show(seconds, nanos)
}

fn listed<T>(out: &mut String, open: &str, items: &[T], close: &str, mut put: impl FnMut(&mut String, &T)) {
    out.push_str(open);
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            out.push_str(", ");
        }
        put(out, item);
    }
    out.push_str(close);
}

fn float_text(float: f64) -> String {
    if float.is_nan() {
        "NaN".to_owned()
    } else if float.is_infinite() {
        if float > 0.0 { "Infinity" } else { "-Infinity" }.to_owned()
    } else {
        format!("{float:?}")
    }
}

/// The tree as JSON. Numbers of more than 53 bits and floats without a JSON form are strings, bytes strings of hex digits;
/// tags and variants are objects of one key. A key of a map that is not text is written as text, and of two that are then
/// alike the later one stays. A field of a message that its schema does not have is `?7`. It is for reading: not every value
/// can be made of it again.
pub fn json(node: &Node) -> Value {
    match &node.data {
        Data::Null | Data::Undefined => Value::Null,
        Data::Bool(b) => Value::Bool(*b),
        Data::Unsigned(n) => u64::try_from(*n)
            .ok()
            .filter(|n| *n <= 1 << 53)
            .map_or_else(|| Value::String(n.to_string()), Value::from),
        Data::Signed(n) => i64::try_from(*n)
            .ok()
            .filter(|n| *n >= -(1 << 53))
            .map_or_else(|| Value::String(n.to_string()), Value::from),
        Data::Float(float) => {
            Number::from_f64(*float).map_or_else(|| Value::String(float_text(*float)), Value::Number)
        }
        Data::Number(digits) => {
            serde_json::from_str(digits).unwrap_or_else(|_| Value::String(digits.clone()))
        }
        Data::Bytes(bytes) => Value::String(const_hex::encode(bytes)),
        Data::Text(text) => Value::String(text.clone()),
        Data::Simple(n) => value!({ "$simple": n }),
        Data::List(items) => Value::Array(items.iter().map(json).collect()),
        Data::Map(pairs) => {
            Value::Object(pairs.iter().map(|(key, value)| (name(key), json(value))).collect())
        }
        Data::Fields(fields) => Value::Object(grouped(fields.iter().map(|(n, node)| (n.to_string(), node)))),
        Data::Message(record) => moment(record).map_or_else(
            || {
                let mut object = grouped(record.unknown.iter().map(|(n, node)| (format!("?{n}"), node)));
                object.extend(record.fields.iter().map(|(name, node)| (name.to_string(), json(node))));
                Value::Object(object)
            },
            Value::String,
        ),
        Data::Tagged(tag, inner) => value!({ "$tag": tag, "$value": json(inner) }),
        Data::Variant(variant, inner) if inner.data == Data::Null => Value::String(variant.clone()),
        Data::Variant(variant, inner) => Value::Object(Map::from_iter([(variant.clone(), json(inner))])),
    }
}

/// Appends what [`json`] gives, with the fields of a message in the order of their numbers and those of an object in their own, and
/// without the tree between.
pub fn write_json(out: &mut Vec<u8>, node: &Node) {
    match &node.data {
        Data::Unsigned(n) if *n <= 1 << 53 => put_text(out, &n.to_string()),
        Data::Bytes(bytes) => {
            out.push(b'"');
            put_text(out, &const_hex::encode(bytes));
            out.push(b'"');
        }
        Data::Text(text) => put_string(out, text),
        Data::List(items) => put_all(out, *b"[]", items, write_json),
        Data::Map(pairs) if pairs.iter().all(|(key, _)| key.as_text().is_some()) => {
            put_all(out, *b"{}", pairs, |out, (key, node)| {
                put_member(out, key.as_text().unwrap_or_default(), node);
            });
        }
        Data::Variant(name, inner) if !inner.is_null() => {
            put_all(out, *b"{}", &[(name, inner)], |out, (name, node)| put_member(out, name, node));
        }
        Data::Message(record) if record.unknown.is_empty() => match moment(record) {
            Some(moment) => put_string(out, &moment),
            None => put_all(out, *b"{}", &record.fields, |out, (name, node)| put_member(out, name, node)),
        },
        _ => put_text(out, &json(node).to_string()),
    }
}

fn put_member(out: &mut Vec<u8>, name: &str, node: &Node) {
    put_string(out, name);
    out.push(b':');
    write_json(out, node);
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(text.as_bytes());
}

fn put_string(out: &mut Vec<u8>, text: &str) {
    let is_plain = |byte: u8| matches!(byte, 0x20..=0x7e) && !matches!(byte, b'"' | b'\\');
    if text.bytes().all(is_plain) {
        out.push(b'"');
        put_text(out, text);
        out.push(b'"');
    } else {
        put_text(out, &Value::from(text).to_string());
    }
}

fn put_all<T>(out: &mut Vec<u8>, [open, close]: [u8; 2], all: &[T], mut put: impl FnMut(&mut Vec<u8>, &T)) {
    out.push(open);
    for (at, item) in all.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        put(out, item);
    }
    out.push(close);
}

/// A name that comes again is a list.
fn grouped<'n>(fields: impl Iterator<Item = (String, &'n Node)>) -> Map<String, Value> {
    let mut object: Map<String, Value> = Map::new();
    let mut many = std::collections::BTreeSet::new();
    for (name, node) in fields {
        match object.get_mut(&name) {
            None => {
                object.insert(name, json(node));
            }
            Some(Value::Array(all)) if many.contains(&name) => all.push(json(node)),
            Some(one) => {
                let first = one.take();
                *one = Value::Array(vec![first, json(node)]);
                many.insert(name);
            }
        }
    }
    object
}

pub(crate) fn name(key: &Node) -> String {
    match &key.data {
        Data::Text(text) => text.clone(),
        Data::Bytes(bytes) => const_hex::encode(bytes),
        _ => text(key),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_does_nothing_on_a_terminal() {
        let mut shown = String::new();
        put_quoted(&mut shown, "a\u{7f}\u{9b}\u{1b}é\"");
        assert_eq!(shown, r#""a\u007f\u009b\u001bé\"""#);
    }
}
