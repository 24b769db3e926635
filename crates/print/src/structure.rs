//! What keys of structures hold.

use keyplan_codec::Score;
use keyplan_plan::dynamic::{Decoded, Value, readings};
use keyplan_plan::model::Sequence;
use keyplan_plan::notation::write_shown_json;
use keyplan_report::structure::Part;
use keyplan_report::values::write_value;
use keyplan_store::structure::{Kind, QueueItem, QueueSize, QueueState, SetScore};
use serde_json::{Map, Result, json};

use super::row::{Length, cut, laid_out, many};
use super::{DIM, ERROR, NAME, assignments, hex, painted};

/// One line: the key, the thing, and its value or score.
pub fn part_text(key: &Decoded<'_>, part: &Part<'_>, length: Length) -> String {
    let mut out = named(key);
    let arrow = painted(DIM, "→");
    match part {
        Part::Value(value) => put!(out, "  {arrow} {}", laid_out(key.family.value.as_ref(), value, length)),
        Part::Field { field, value } => {
            let Some((known, values)) = key.family.decode_field(field) else {
                put!(out, "  {} {}  {arrow} {}", painted(ERROR, "unknown field"), hex(field), cut(value));
                return out;
            };
            put!(out, "  {}", painted(NAME, &known.name));
            if !values.is_empty() {
                put!(out, " {}", assignments(&known.key, &values));
            }
            put!(out, "  {arrow} {}", laid_out(known.value.as_ref(), value, length));
        }
        Part::Member { member, score, item } => {
            put!(out, "  {}", laid_out(key.family.member.as_ref(), member, length));
            if let Some(score) = score {
                put!(out, "  {} {}", painted(DIM, "at"), score_text(*score));
            }
            if let Some(item) = item {
                put!(out, "  {}", painted(DIM, item_text(item)));
            }
        }
    }
    out
}

/// The same as an object on a line of its own.
pub fn part_object(key: &Decoded<'_>, part: &Part<'_>) -> Result<Vec<u8>> {
    let mut object = key_object(key)?;
    let mut put = |name: &str, value: serde_json::Value| drop(object.insert(name.to_owned(), value));
    match part {
        Part::Value(value) => object.extend(value_members(key.family.value.as_ref(), value)),
        Part::Field { field, value } => {
            let mut layout = None;
            match key.family.decode_field(field) {
                Some((known, values)) => {
                    put("field", json!(known.name));
                    put("field_args", parsed(&known.key, &values)?);
                    layout = known.value.as_ref();
                }
                None => put("field_bytes", json!(hex(field))),
            }
            object.extend(value_members(layout, value));
        }
        Part::Member { member, score, item } => {
            match key.family.member.as_ref().and_then(|layout| reading(layout, member).map(|v| (layout, v))) {
                Some((layout, values)) => put("member", parsed(layout, &values)?),
                None => put("member_bytes", json!(hex(member))),
            }
            match score {
                Some(SetScore::Number(number)) if number.is_finite() => put("score", json!(number)),
                Some(score) => put("score", json!(score_text(*score))),
                None => {}
            }
            if let Some(item) = item {
                put("attempts", json!(item.attempts));
                put("state", json!(state_word(item.state)));
            }
        }
    }
    ended(&object)
}

/// A key and how much it holds.
pub fn key_size(key: &Decoded<'_>, kind: Kind, size: u64) -> String {
    let what = match kind {
        Kind::Value => return format!("{}  {}", named(key), painted(DIM, "a value")),
        Kind::Hash => many(size, "field", "fields"),
        Kind::Set | Kind::Zset => many(size, "member", "members"),
        Kind::Queue => many(size, "item", "items"),
    };
    format!("{}  {}", named(key), painted(DIM, what))
}

/// The same as an object.
pub fn key_size_json(key: &Decoded<'_>, kind: Kind, size: u64) -> Result<Vec<u8>> {
    let mut object = key_object(key)?;
    object.insert("kind".to_owned(), json!(kind.word()));
    object.insert("size".to_owned(), json!(size));
    ended(&object)
}

/// A key that no family makes.
pub fn unknown_key(space: &str, kind: Kind, key: &[u8]) -> String {
    format!(
        "{} {}  {}",
        painted(ERROR, format!("{space}: unknown")),
        hex(key),
        painted(DIM, format!("a {kind}"))
    )
}

/// The same as an object.
pub fn unknown_key_json(space: &str, kind: Kind, key: &[u8]) -> Vec<u8> {
    let object = json!({ "space": space, "key": hex(key), "kind": kind.word() });
    format!("{object}\n").into_bytes()
}

/// A thing under a key that no family makes, in bytes.
pub fn unknown_part_json(space: &str, kind: Kind, key: &[u8], part: &Part<'_>) -> Vec<u8> {
    let mut object = json!({ "space": space, "key": hex(key), "kind": kind.word() });
    let mut add = |name: &str, value: String| {
        if let Some(object) = object.as_object_mut() {
            object.insert(name.to_owned(), json!(value));
        }
    };
    match part {
        Part::Value(value) => add("value", hex(value)),
        Part::Field { field, value } => {
            add("field", hex(field));
            add("value", hex(value));
        }
        Part::Member { member, score, item } => {
            add("member", hex(member));
            if let Some(score) = score {
                add("score", score_text(*score));
            }
            if let Some(item) = item {
                add("state", state_word(item.state).to_owned());
            }
        }
    }
    format!("{object}\n").into_bytes()
}

/// How many items a queue has, and where they are.
pub fn queue_size(size: &QueueSize) -> String {
    painted(DIM, format!("{} waiting, {} claimed, {} dead", size.waiting, size.claimed, size.dead))
}

fn named(key: &Decoded<'_>) -> String {
    let mut out = painted(NAME, &key.family.path);
    if !key.values.is_empty() {
        put!(out, " {}", assignments(&key.family.key, &key.values));
    }
    out
}

fn reading(layout: &Sequence, bytes: &[u8]) -> Option<Vec<Value>> {
    readings(layout, bytes, 1).ok()?.readings.pop()
}

fn score_text(score: SetScore) -> String {
    match score {
        SetScore::Number(number) => number.to_string(),
        SetScore::Place(Score::Confirmed { height, index }) => format!("{height}/{index}"),
        SetScore::Place(Score::Unconfirmed { seconds, nanos }) => format!("@{seconds}.{nanos:09}"),
    }
}

fn item_text(item: &QueueItem) -> String {
    match item.state {
        QueueState::Waiting if item.attempts == 0 => "waiting".to_owned(),
        state => {
            format!("{}, claimed {}", state_word(state), many(u64::from(item.attempts), "time", "times"))
        }
    }
}

const fn state_word(state: QueueState) -> &'static str {
    match state {
        QueueState::Waiting => "waiting",
        QueueState::Claimed { .. } => "claimed",
        QueueState::Dead => "dead",
    }
}

fn key_object(key: &Decoded<'_>) -> Result<Map<String, serde_json::Value>> {
    let mut object = Map::new();
    object.insert("family".to_owned(), json!(key.family.path));
    object.insert("args".to_owned(), parsed(&key.family.key, &key.values)?);
    Ok(object)
}

/// Arguments as rows have them in JSON everywhere.
fn parsed(layout: &Sequence, values: &[Value]) -> Result<serde_json::Value> {
    let mut text = Vec::new();
    write_shown_json(&mut text, layout, values);
    serde_json::from_slice(&text)
}

/// `value`, and what rows have beside it.
fn value_members(layout: Option<&Sequence>, value: &[u8]) -> Map<String, serde_json::Value> {
    let mut text = b"{".to_vec();
    write_value(&mut text, layout, value);
    text.push(b'}');
    let in_hex = || Map::from_iter([("value".to_owned(), json!(hex(value)))]);
    serde_json::from_slice(&text).unwrap_or_else(|_| in_hex())
}

fn ended(object: &Map<String, serde_json::Value>) -> Result<Vec<u8>> {
    let mut out = serde_json::to_vec(object)?;
    out.push(b'\n');
    Ok(out)
}

#[cfg(test)]
mod tests {
    use keyplan_plan::dynamic::Decoder;

    use super::*;

    #[test]
    fn values_of_structures_are_json_as_those_of_rows_are() {
        let text = r#"plan p; space s { hash user = "u:" id: u8
            field seen = "seen" -> count: u16
            field card = "card" -> cbor; }"#;
        let plan = keyplan_plan::compile("p", text, |_| Err(String::new())).plan.expect("sound");
        let decoder = Decoder::new(&plan);
        let key = decoder.decode(0, b"u:\x07").unwrap();
        let shown = |field: &[u8], value: &[u8]| {
            let line = part_object(&key, &Part::Field { field, value }).unwrap();
            serde_json::from_slice::<serde_json::Value>(&line).unwrap()
        };
        assert_eq!(shown(b"seen", &[1, 2])["value"], json!({ "count": 258 }));
        assert_eq!(shown(b"card", &[0x41, 0xff])["value"], json!({ "$bytes": "ff" }));
        let long = shown(b"card", &[0x18, 0x01]);
        assert_eq!((&long["value"], &long["decoded"]), (&json!("1801"), &json!(1)));
        assert_eq!(shown(b"none", &[1])["value"], json!("01"));
    }
}
