//! Bytes of somebody else as text that is short and safe to show.

use keyplan_plan::dynamic::{Value, readings};
use keyplan_plan::explain::{Piece, pieces};
use keyplan_plan::model::{Sequence, Shape};
use keyplan_plan::notation::{argument_name, escaped, hex, visible, write_json};
use keyplan_report::values::{opaque_text, read, whole_opaque};
use keyplan_values::{Data, Fault, Format, Limits, Node};
use serde_json::{Value as Json, json};

/// How many characters of a cell are shown.
pub(crate) const CELL: usize = 160;
/// How many bytes of a value are shown at once.
pub(crate) const SHOWN: usize = 4096;
/// How many parts of a value are shown.
const PARTS: usize = 2000;
/// How many bytes a value may have to be taken apart while a page waits.
const TAKEN_APART: usize = 1 << 20;

/// At most `most` characters, with a mark where some are left out, and nothing hidden in them.
pub(crate) fn cut(text: &str, most: usize) -> String {
    let mut end = text.char_indices().map(|(at, _)| at);
    match end.nth(most) {
        Some(end) => format!("{}…", visible(text.get(..end).unwrap_or_default())),
        None => visible(text).into_owned(),
    }
}

/// A field of an object; nothing if there is none.
pub(crate) fn field<'j>(json: &'j Json, name: &str) -> &'j Json {
    json.get(name).unwrap_or(&Json::Null)
}

/// Arguments by name, as JSON that was checked for hidden characters.
pub(crate) fn arguments(layout: &Sequence, values: &[Value]) -> Json {
    let mut text = Vec::new();
    write_json(&mut text, layout, values);
    let mut json = serde_json::from_slice(&text).unwrap_or_default();
    make_visible(&mut json);
    json
}

/// Writes hidden characters of all strings as their numbers.
pub(crate) fn make_visible(json: &mut Json) {
    match json {
        Json::String(text) => {
            if let std::borrow::Cow::Owned(changed) = visible(text) {
                *text = changed;
            }
        }
        Json::Array(items) => items.iter_mut().for_each(make_visible),
        Json::Object(fields) => {
            let names: Vec<String> = fields
                .keys()
                .filter(|name| matches!(visible(name), std::borrow::Cow::Owned(_)))
                .cloned()
                .collect();
            for name in names {
                if let Some(value) = fields.remove(&name) {
                    fields.insert(visible(&name).into_owned(), value);
                }
            }
            fields.values_mut().for_each(make_visible);
        }
        Json::Null | Json::Bool(_) | Json::Number(_) => {}
    }
}

/// One cell per argument.
pub(crate) fn cells(layout: &Sequence, values: &[Value]) -> Vec<String> {
    let object = arguments(layout, values);
    let cell = |json: &Json| match json {
        Json::String(text) => cut(text, CELL),
        other => cut(&other.to_string(), CELL),
    };
    let names = layout.arguments().map(argument_name);
    names.map(|name| object.get(name).map(cell).unwrap_or_default()).collect()
}

/// The whole text of one argument, by which rows are grouped.
pub(crate) fn argument_text(value: &Value, shape: &Shape) -> String {
    match value {
        Value::Text(text) => text.clone(),
        value => value.display(shape).to_string(),
    }
}

/// Which bytes are what: start, end, kind, name and label of each piece.
pub(crate) fn lanes(found: &[Piece]) -> Json {
    found.iter().map(lane).collect()
}

fn lane(piece: &Piece) -> Json {
    json!({
        "start": piece.span.start,
        "end": piece.span.end,
        "kind": piece.kind.word(),
        "name": cut(&piece.name, CELL),
        "label": cut(&piece.label, CELL),
    })
}

/// A value in one short line.
pub(crate) fn preview(layout: Option<&Sequence>, bytes: &[u8]) -> String {
    let short = bytes.get(..bytes.len().min(2048)).unwrap_or_default();
    if let Some(layout) = layout {
        if let Some(form) = whole_opaque(layout) {
            if bytes.len() <= 16 << 10
                && let Some(Ok(text)) = opaque_text(form, bytes)
            {
                return cut(&text, CELL);
            }
        } else if bytes.len() <= 16 << 10
            && let Some(values) = readings(layout, bytes, 1).ok().and_then(|mut found| found.readings.pop())
        {
            let names = layout.arguments().map(argument_name);
            let pairs = names.zip(cells(layout, &values)).map(|(name, cell)| format!("{name} {cell}"));
            return cut(&pairs.collect::<Vec<_>>().join("  "), CELL);
        }
    }
    plain(short)
}

/// Bytes as text if they are text, else as hex digits.
pub(crate) fn plain(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.is_empty() && text.chars().filter(|c| c.is_control()).count() * 8 <= text.len() => {
            cut(text, CELL)
        }
        _ => cut(&hex(bytes), CELL),
    }
}

fn limits() -> Limits {
    Limits::default()
}

/// How a person asks for a value to be read.
fn named(form: &str) -> Option<Format> {
    match form {
        "json" => Some(Format::Json),
        "cbor" => Some(Format::Cbor),
        "proto" => Some(Format::ProtoWire),
        "rlp" => Some(Format::Rlp),
        _ => None,
    }
}

/// A value with its raw bytes beside what they mean. `form` is the format that somebody wants to see it in.
pub(crate) fn value(
    layout: Option<&Sequence>,
    words: Option<&str>,
    bytes: &[u8],
    form: Option<&str>,
) -> Json {
    let shown = bytes.get(..bytes.len().min(SHOWN)).unwrap_or_default();
    let mut out = json!({
        "length": bytes.len(),
        "hex": hex(shown),
        "text": cut(&escaped(shown), SHOWN),
        "layout": words,
    });
    let (how, tree) = taken_apart(layout, bytes, form);
    if let Some(object) = out.as_object_mut() {
        object.insert("read_as".to_owned(), how);
        object.insert("tree".to_owned(), tree);
    }
    out
}

/// How a value was read, and its parts.
fn taken_apart(layout: Option<&Sequence>, bytes: &[u8], form: Option<&str>) -> (Json, Json) {
    if bytes.len() > TAKEN_APART {
        let why = format!("{} bytes are more than what is taken apart on a page", bytes.len());
        return (json!({ "how": "bytes", "why": why }), Json::Null);
    }
    if let Some(format) = form.and_then(named) {
        return by_format(form.unwrap_or_default(), "asked", format, bytes);
    }
    if form == Some("bytes") {
        return (json!({ "how": "bytes", "why": "asked" }), Json::Null);
    }
    if let Some(layout) = layout {
        if let Some(form) = whole_opaque(layout) {
            return match read(form, bytes) {
                Some(seen) => {
                    let why = if seen.as_ref().is_ok_and(|seen| seen.by_wire) {
                        "plan, by its wire"
                    } else {
                        "plan"
                    };
                    told(&form.name(), why, seen.map(|seen| seen.node))
                }
                None => (json!({ "how": form.name(), "why": "the plan does not look into it" }), Json::Null),
            };
        }
        return by_layout(layout, bytes);
    }
    guessed(bytes)
}

fn by_format(how: &str, why: &str, format: Format, bytes: &[u8]) -> (Json, Json) {
    told(how, why, keyplan_values::decode(format, bytes, &limits()))
}

fn told(how: &str, why: &str, read: Result<Node, Fault>) -> (Json, Json) {
    match read {
        Ok(node) => {
            let mut left = PARTS;
            (json!({ "how": how, "why": why }), tree("", &node, &mut left))
        }
        Err(fault) => (
            json!({ "how": how, "why": why, "fault": fault.to_string(), "offset": fault.offset }),
            Json::Null,
        ),
    }
}

fn by_layout(layout: &Sequence, bytes: &[u8]) -> (Json, Json) {
    match readings(layout, bytes, 2) {
        Err(failure) => (
            json!({ "how": "layout", "why": "plan", "fault": failure.to_string(), "offset": failure.offset }),
            Json::Null,
        ),
        Ok(found) => {
            let Some(first) = found.readings.first() else { return (Json::Null, Json::Null) };
            let parts = pieces(layout, bytes, first).unwrap_or_default();
            let part = |piece: &Piece| {
                let own = bytes.get(piece.span.clone()).unwrap_or_default();
                json!({
                    "name": cut(&piece.name, CELL), "start": piece.span.start, "end": piece.span.end,
                    "text": cut(piece.label.split_once(" = ").map_or(&hex(own), |(_, value)| value), SHOWN),
                })
            };
            let children: Vec<Json> = parts.iter().take(PARTS).map(part).collect();
            let how = json!({ "how": "layout", "why": "plan", "several": found.readings.len() > 1 });
            (how, json!({ "name": "", "start": 0, "end": bytes.len(), "text": "", "children": children }))
        }
    }
}

/// The first format that the bytes are, where the plan says nothing. It is called a guess.
fn guessed(bytes: &[u8]) -> (Json, Json) {
    if bytes.is_empty() {
        return (json!({ "how": "nothing", "why": "guess" }), Json::Null);
    }
    let forms: &[(&str, Format)] = match bytes.first() {
        Some(b'{' | b'[') => &[("json", Format::Json)],
        _ => &[("proto", Format::ProtoWire), ("cbor", Format::Cbor), ("rlp", Format::Rlp)],
    };
    for (name, format) in forms {
        if let Ok(node) = keyplan_values::decode(*format, bytes, &limits())
            && !matches!(node.data, Data::Unsigned(_) | Data::Signed(_) | Data::Bytes(_))
        {
            let mut left = PARTS;
            return (json!({ "how": name, "why": "guess" }), tree("", &node, &mut left));
        }
    }
    (json!({ "how": "bytes", "why": "guess" }), Json::Null)
}

/// A part with its bytes, its text and the parts in it, as long as there is room.
fn tree(name: &str, node: &Node, left: &mut usize) -> Json {
    *left = left.saturating_sub(1);
    let children: Vec<(String, &Node)> = match &node.data {
        Data::List(items) => items.iter().enumerate().map(|(at, item)| (at.to_string(), item)).collect(),
        Data::Map(pairs) => pairs.iter().map(|(key, value)| (keyplan_values::text(key), value)).collect(),
        Data::Fields(fields) => fields.iter().map(|(number, value)| (number.to_string(), value)).collect(),
        Data::Tagged(tag, inner) => vec![(format!("tag {tag}"), inner.as_ref())],
        Data::Variant(variant, inner) => vec![(variant.clone(), inner.as_ref())],
        Data::Message(record) => {
            let known = record.fields.iter().map(|(name, value)| (name.to_string(), value));
            let unknown = record.unknown.iter().map(|(number, value)| (format!("{number}, unknown"), value));
            known.chain(unknown).collect()
        }
        _ => Vec::new(),
    };
    let count = children.len();
    let text = if count == 0 { keyplan_values::text(node) } else { String::new() };
    let mut shown = Vec::new();
    for (name, child) in children {
        if *left == 0 {
            break;
        }
        shown.push(tree(&name, child, left));
    }
    json!({
        "name": cut(name, CELL), "start": node.span.start, "end": node.span.end, "text": cut(&text, SHOWN),
        "children": shown, "parts": count,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use keyplan_values::Record;

    #[test]
    fn what_would_act_on_a_screen_is_written_as_its_number() {
        assert_eq!(cut("a\u{202e}b\u{1b}[2J", 10), "a\\u{202e}b\\u{1b}[2J");
        assert_eq!(cut("abcdef", 3), "abc…");
        let mut json = json!({ "\u{202e}x": ["\u{1b}"] });
        make_visible(&mut json);
        assert_eq!(json, json!({ "\\u{202e}x": ["\\u{1b}"] }));
    }

    #[test]
    fn a_message_is_shown_field_by_field() {
        let leaf = |at: usize, text: &str| Node { span: at..at + 2, data: Data::Text(text.to_owned()) };
        let record = Record {
            name: "TickInfo".into(),
            fields: vec![("net".into(), leaf(0, "7"))],
            unknown: vec![(9, leaf(2, "x"))],
        };
        let node = Node { span: 0..4, data: Data::Message(Box::new(record)) };
        let shown = tree("", &node, &mut 100);
        let names: Vec<&str> = shown["children"]
            .as_array()
            .unwrap()
            .iter()
            .map(|child| child["name"].as_str().unwrap())
            .collect();
        assert_eq!(names, ["net", "9, unknown"]);
        assert_eq!(shown["children"][0]["end"], 2);
    }

    #[test]
    fn a_value_is_shown_in_parts_of_bounded_number() {
        let many = format!("[{}]", vec!["1"; 5000].join(","));
        let shown = value(None, None, many.as_bytes(), None);
        assert_eq!(shown["read_as"], json!({ "how": "json", "why": "guess" }));
        assert_eq!(shown["tree"]["parts"], 5000);
        assert!(shown["tree"]["children"].as_array().unwrap().len() <= PARTS);
        let broken = value(None, None, b"{\"a\":", Some("json"));
        assert_eq!(broken["read_as"]["how"], "json");
        assert!(broken["read_as"]["fault"].is_string(), "{broken}");
    }
}
