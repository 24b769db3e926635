//! Values as JSON, for reading or exactly, and back.

use keyplan_plan::dynamic::{Value, encode, readings};
use keyplan_plan::model::{Opaque, Sequence, Shape};
use keyplan_plan::notation::{
    argument_name, arguments_from_json, hex, is_hidden, write_argument_json, write_bytes, write_shown_json,
    write_string,
};
use keyplan_values::{
    Codec, Data, Format, Limits, Node, Type, encode_rlp, has_verbatim, json, text, write_json,
};
use serde_json::{Map, Value as Json};

use super::reading::{cbor_type, codec, is_by_wire, read, type_of, whole_opaque, with_schema};

/// A value as JSON that makes the same bytes again with [`bytes_of`]. `None` where only its bytes do.
pub fn exact_json(layout: &Sequence, bytes: &[u8]) -> Option<Vec<u8>> {
    exact_parts(layout, bytes).map(|exact| exact.text)
}

/// JSON that makes the same bytes again.
struct Exact {
    text: Vec<u8>,
    /// Whether a part of it that has a format is there as its bytes only.
    unread: bool,
}

fn exact_parts(layout: &Sequence, bytes: &[u8]) -> Option<Exact> {
    if let Some(opaque) = whole_opaque(layout) {
        return exact_opaque_json(opaque, bytes);
    }
    let found = readings(layout, bytes, 2).ok()?;
    let [values] = found.readings.as_slice() else { return None };
    let mut out = Exact { text: Vec::new(), unread: false };
    if layout.arguments().all(|argument| !matches!(argument.shape, Shape::Opaque(_))) {
        write_shown_json(&mut out.text, layout, values);
        return Some(out);
    }
    out.text.push(b'{');
    for (at, (argument, value)) in layout.arguments().zip(values).enumerate() {
        if at > 0 {
            out.text.push(b',');
        }
        write_string(&mut out.text, argument_name(argument));
        out.text.push(b':');
        let inside = match (&argument.shape, value) {
            (Shape::Opaque(opaque), Value::Bytes(bytes)) => exact_opaque_json(opaque, bytes)
                .filter(|exact| *opaque != Opaque::Json || is_json_tree(&exact.text)),
            _ => None,
        };
        if let Some(inside) = inside {
            out.text.extend_from_slice(&inside.text);
            out.unread |= inside.unread;
        } else {
            out.unread |= matches!(&argument.shape, Shape::Opaque(opaque) if *opaque != Opaque::Raw);
            write_argument_json(&mut out.text, argument, value);
        }
    }
    out.text.push(b'}');
    Some(out)
}

fn exact_opaque_json(opaque: &Opaque, bytes: &[u8]) -> Option<Exact> {
    let whole = |text| Exact { text, unread: false };
    match opaque {
        Opaque::Raw => None,
        Opaque::Json => is_plain_json(bytes).then(|| whole(bytes.to_vec())),
        Opaque::Proto(message) => with_schema(message, |known, id| {
            let node = known.decode_as(id, bytes, &Limits::default()).ok()?;
            let again = known.encode_as(id, &node).ok()?;
            if again != bytes || !is_plain(&node) {
                return None;
            }
            let text = json_line(&node, 4 * bytes.len());
            text.starts_with(b"{").then(|| whole(text))
        })
        .flatten(),
        Opaque::Cbor | Opaque::Rlp | Opaque::Coded(_) => {
            let node = read(opaque, bytes)?.ok()?.node;
            let tree = cbor_type(opaque).map_or_else(|| node.clone(), |ty| ty.exact(&node, bytes));
            let text = json_line(&tree, 4 * bytes.len());
            // A string would be read as hex digits.
            if text.starts_with(b"\"") || opaque_bytes(opaque, str::from_utf8(&text).ok()?).ok()? != bytes {
                return None;
            }
            // What is its bytes and nothing else is written as such.
            (!text.starts_with(b"{\"$cbor\"")).then(|| Exact { text, unread: has_verbatim(&tree) })
        }
    }
}

/// A tree as JSON on one line, with what a terminal might act on escaped.
fn json_line(tree: &Node, size: usize) -> Vec<u8> {
    let mut line = Vec::with_capacity(size);
    write_json(&mut line, tree);
    escaped(line)
}

fn escaped(line: Vec<u8>) -> Vec<u8> {
    match str::from_utf8(&line) {
        Ok(text) if line.iter().any(|byte| *byte >= 0x7f) && text.chars().any(is_hidden) => {
            let mut out = Vec::with_capacity(line.len());
            let mut units = [0; 2];
            for c in text.chars() {
                if is_hidden(c) {
                    for unit in c.encode_utf16(&mut units) {
                        out.extend_from_slice(format!("\\u{unit:04x}").as_bytes());
                    }
                } else {
                    out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                }
            }
            out
        }
        _ => line,
    }
}

/// Whether JSON keeps everything of a tree: not which NaN it is, nor a key that comes twice.
fn is_plain(node: &Node) -> bool {
    match &node.data {
        Data::Float(float) => !float.is_nan(),
        Data::List(items) => items.iter().all(is_plain),
        Data::Map(pairs) => {
            let mut keys: Vec<String> = pairs.iter().map(|(key, _)| text(key)).collect();
            keys.sort_unstable();
            // An object of JSON has its names in order.
            let ordered = pairs.iter().map(|(key, _)| text(key)).eq(keys.iter().cloned());
            keys.dedup();
            ordered && keys.len() == pairs.len() && pairs.iter().all(|(_, value)| is_plain(value))
        }
        Data::Message(record) => {
            record.unknown.is_empty() && record.fields.iter().all(|(_, node)| is_plain(node))
        }
        _ => true,
    }
}

/// Whether bytes are an object or a list of JSON on one line, which can be part of another without a change.
fn is_plain_json(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    text.starts_with(['{', '['])
        && text.ends_with(['}', ']'])
        && !text.contains(['\n', '\r'])
        && !text.chars().any(is_hidden)
        && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

/// A value as JSON for reading, whether or not the same bytes can be made of it; `None` if it does not decode, or says nothing of
/// itself.
pub fn readable_json(layout: &Sequence, bytes: &[u8]) -> Option<Json> {
    if let Some(opaque) = whole_opaque(layout) {
        return readable_opaque_json(opaque, bytes);
    }
    let values = readings(layout, bytes, 1).ok()?.readings.pop()?;
    let mut object = Map::new();
    for (argument, value) in layout.arguments().zip(&values) {
        let inside = match (&argument.shape, value) {
            (Shape::Opaque(opaque), Value::Bytes(bytes)) => readable_opaque_json(opaque, bytes),
            _ => None,
        };
        let inside = inside.or_else(|| {
            let mut out = Vec::new();
            write_argument_json(&mut out, argument, value);
            serde_json::from_slice(&out).ok()
        });
        object.insert(argument_name(argument).to_owned(), inside?);
    }
    Some(Json::Object(object))
}

fn readable_opaque_json(opaque: &Opaque, bytes: &[u8]) -> Option<Json> {
    let node = read(opaque, bytes)?.ok()?.node;
    Some(cbor_type(opaque).map_or_else(|| json(&node), |ty| json(&ty.readable(&node))))
}

/// The bytes of a value from JSON: an object with its arguments, or what the format of the value has for it. An argument with a
/// format of its own is hex digits where it is a string.
pub fn bytes_of(layout: &Sequence, text: &str) -> Result<Vec<u8>, String> {
    if let Some(opaque) = whole_opaque(layout) {
        return opaque_bytes(opaque, text);
    }
    let tree = json_tree(text)?;
    let Data::Map(members) = &tree.data else {
        return Err("write an object with the arguments of the value, or its bytes as hex".to_owned());
    };
    let mut given = Map::new();
    for (name, node) in members {
        let (Data::Text(name), Some(own)) = (&name.data, text.get(node.span.clone())) else { continue };
        let opaque = layout.arguments().find_map(|argument| match &argument.shape {
            Shape::Opaque(opaque) if argument_name(argument) == name => Some(opaque),
            _ => None,
        });
        let value = match opaque.filter(|_| !own.starts_with('"')) {
            Some(opaque) => {
                Json::String(hex(&opaque_bytes(opaque, own).map_err(|why| format!("`{name}`: {why}"))?))
            }
            None => serde_json::from_str(own).map_err(|error| format!("`{name}`: {error}"))?,
        };
        given.insert(name.clone(), value);
    }
    let values = arguments_from_json(layout, &given).map_err(|error| error.to_string())?;
    let mut out = Vec::new();
    encode(layout, &values, &mut out).map_err(|error| error.to_string())?;
    Ok(out)
}

/// JSON as a tree in which no name comes twice.
pub(super) fn json_tree(text: &str) -> Result<Node, String> {
    let tree = keyplan_values::decode(Format::Json, text.as_bytes(), &Limits::of_json());
    let tree = tree.map_err(|fault| fault.to_string())?;
    match tree.repeated_name() {
        Some(name) => Err(format!("`{name}` is given twice")),
        None => Ok(tree),
    }
}

fn is_json_tree(text: &[u8]) -> bool {
    str::from_utf8(text).is_ok_and(|text| json_tree(text).is_ok())
}

/// The bytes of a value in a format of its own, from JSON.
pub fn opaque_bytes(opaque: &Opaque, text: &str) -> Result<Vec<u8>, String> {
    let tree = json_tree(text)?;
    match opaque {
        Opaque::Json => Ok(text.trim().as_bytes().to_vec()),
        Opaque::Cbor => Type::Any.encode(Codec::Cbor, &tree).map_err(|error| error.to_string()),
        Opaque::Rlp => encode_rlp(&json(&tree)).ok_or_else(|| "RLP is lists of hex digits".to_owned()),
        Opaque::Coded(coded) => {
            type_of(coded).encode(codec(coded.codec), &tree).map_err(|error| error.to_string())
        }
        Opaque::Proto(message) => with_schema(message, |known, id| {
            let node = known.from_json(&message.name, &json(&tree)).map_err(|error| error.to_string())?;
            known.encode_as(id, &node).map_err(|error| error.to_string())
        })
        .unwrap_or_else(|| {
            Err(format!("the plan has no schema of `{}`: write its bytes as hex", message.name))
        }),
        Opaque::Raw => Err("the plan says nothing of these bytes: write them as hex".to_owned()),
    }
}

/// Appends the value of a row under `"value"`: as JSON that makes it again, or as hex. Where it, or a part of it, is there as
/// hex and does decode, JSON for reading follows under `"decoded"`.
pub fn write_value(out: &mut Vec<u8>, layout: Option<&Sequence>, bytes: &[u8]) {
    out.extend_from_slice(b"\"value\":");
    let Some(layout) = layout else { return write_bytes(out, bytes) };
    match exact_parts(layout, bytes) {
        Some(exact) => {
            out.extend_from_slice(&exact.text);
            if !exact.unread {
                return;
            }
        }
        None => write_bytes(out, bytes),
    }
    let has_format = layout.arguments().any(|argument| matches!(argument.shape, Shape::Opaque(_)));
    if let Some(readable) = readable_json(layout, bytes).filter(|_| has_format && !is_by_wire(layout)) {
        out.extend_from_slice(b",\"decoded\":");
        out.extend_from_slice(&escaped(readable.to_string().into_bytes()));
    }
}
