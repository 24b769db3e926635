//! Keys made, read and explained.

use keyplan_plan::dynamic::{Decoded, Decoder, encode, other_key};
use keyplan_plan::explain::{Explanation, Nearest, Reading, explain, front};
use keyplan_plan::model::Plan;
use keyplan_plan::notation::{arguments_from_json, assignments, hex, write_json};
use serde_json::{Map, Value, json};

/// Bytes from hex digits, with or without `0x` and spaces.
pub(crate) fn bytes(text: &str) -> Result<Vec<u8>, String> {
    let digits: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let digits = digits.strip_prefix("0x").unwrap_or(&digits);
    let why = |why: &str| format!("`{}` is not bytes in hex: {why}", text.trim());
    if !digits.len().is_multiple_of(2) {
        return Err(why("it has an odd number of digits"));
    }
    const_hex::decode(digits).map_err(|error| why(&error.to_string()))
}

/// The key of a family with these arguments. One that can also be read in another way is refused.
pub(crate) fn encoded(plan: &Plan, name: &str, args: &Map<String, Value>) -> Result<Value, String> {
    let (space, family) = match plan.find(name).as_slice() {
        [found] => *found,
        [] => return Err(format!("the plan has no family `{name}`")),
        several => {
            let paths: Vec<&str> = several.iter().map(|(_, family)| family.path.as_str()).collect();
            return Err(format!("`{name}` may be any of: {}", paths.join(", ")));
        }
    };
    let values = arguments_from_json(&family.key, args).map_err(|error| error.to_string())?;
    let mut key = Vec::new();
    encode(&family.key, &values, &mut key).map_err(|error| error.to_string())?;
    let decoder = Decoder::new(plan);
    let space = plan.spaces.iter().position(|one| one.name == space.name);
    if let Some(other) = space.and_then(|space| other_key(&decoder, space, family, &values, &key)) {
        let other = format!("{} {}", other.owner, assignments(other.sequence, &other.values));
        return Err(format!("{} can also be read as {}", hex(&key), other.trim_end()));
    }
    Ok(json!({ "hex": hex(&key) }))
}

/// The one reading of a key.
pub(crate) fn decoded(plan: &Plan, key: &[u8], space: Option<&str>) -> Result<Value, String> {
    let decoder = Decoder::new(plan);
    let found = explain(&decoder, &spaces(plan, space)?, key);
    match found.readings.as_slice() {
        [] => Err(unread(&found)),
        [one] => Ok(reading(&one.decoded)),
        several => {
            let all: Vec<String> = several.iter().map(|one| sentence(&one.decoded)).collect();
            Err(format!("this key has several readings: {}", all.join("; ")))
        }
    }
}

/// Every reading of a key with its pieces, or the families that get furthest.
pub(crate) fn explained(plan: &Plan, key: &[u8], space: Option<&str>) -> Result<Value, String> {
    let decoder = Decoder::new(plan);
    let found = explain(&decoder, &spaces(plan, space)?, key);
    let readings: Vec<Value> = found.readings.iter().map(|one| with_pieces(one, key)).collect();
    let nearest: Vec<Value> = found.nearest.iter().map(|one| miss(one, key)).collect();
    Ok(json!({ "hex": hex(key), "readings": readings, "more": found.more, "nearest": nearest }))
}

/// The spaces to look in: one by name, or all.
fn spaces(plan: &Plan, name: Option<&str>) -> Result<Vec<usize>, String> {
    let Some(name) = name else { return Ok((0..plan.spaces.len()).collect()) };
    let found = plan.spaces.iter().position(|space| space.name == name);
    found.map(|index| vec![index]).ok_or_else(|| format!("the plan has no space `{name}`"))
}

fn unread(found: &Explanation<'_>) -> String {
    match found.nearest.first() {
        None => "no family makes this key".to_owned(),
        Some(Nearest { family, failure, .. }) => {
            format!("no family makes this key; {} gets furthest: {failure}", family.path)
        }
    }
}

fn sentence(decoded: &Decoded<'_>) -> String {
    let args = assignments(&decoded.family.key, &decoded.values);
    format!("{} {args}", decoded.family.path).trim_end().to_owned()
}

fn reading(Decoded { space, family, values }: &Decoded<'_>) -> Value {
    let mut args = Vec::new();
    write_json(&mut args, &family.key, values);
    let args: Value = serde_json::from_slice(&args).unwrap_or_default();
    json!({ "space": space.name, "family": family.path, "args": args })
}

fn with_pieces(one: &Reading<'_>, key: &[u8]) -> Value {
    let pieces = one.pieces(key).unwrap_or_default();
    let pieces: Vec<Value> = pieces
        .iter()
        .map(|piece| {
            let bytes = hex(key.get(piece.span.clone()).unwrap_or_default());
            json!({
                "start": piece.span.start, "end": piece.span.end, "kind": piece.kind.word(),
                "name": piece.name, "label": piece.label, "hex": bytes,
            })
        })
        .collect();
    let mut out = reading(&one.decoded);
    if let Some(out) = out.as_object_mut() {
        out.insert("doc".to_owned(), json!(one.decoded.family.doc));
        out.insert("pieces".to_owned(), Value::Array(pieces));
    }
    out
}

fn miss(nearest: &Nearest<'_>, key: &[u8]) -> Value {
    let sound: Vec<Value> =
        nearest.sound(key).into_iter().map(|span| json!([span.start, span.end])).collect();
    // The beginning of a key, as iterators and logs show it.
    let prefix = front(nearest.family, key).map(|front| assignments(&front.family.key, &front.values));
    json!({
        "family": nearest.family.path,
        "offset": nearest.failure.offset,
        "why": nearest.failure.to_string(),
        "sound": sound,
        "prefix": prefix,
    })
}
