//! Fields of answers.

use serde_json::Value as Json;

use crate::show::field;

/// The text of a field; nothing if it has none.
pub(super) fn text<'j>(json: &'j Json, name: &str) -> &'j str {
    field(json, name).as_str().unwrap_or_default()
}

/// The number of a field.
pub(super) fn count(json: &Json, name: &str) -> u64 {
    field(json, name).as_u64().unwrap_or_default()
}

/// The items of a field.
pub(super) fn items<'j>(json: &'j Json, name: &str) -> &'j [Json] {
    field(json, name).as_array().map(Vec::as_slice).unwrap_or_default()
}

/// A string as it is, anything else as JSON.
pub(super) fn word(json: &Json) -> String {
    match json {
        Json::String(text) => text.clone(),
        Json::Null => String::new(),
        other => other.to_string(),
    }
}

/// The lines of what is said about something, whether they came as one text or each for itself.
pub(super) fn doc(json: &Json) -> Vec<String> {
    match field(json, "doc") {
        Json::Array(lines) => lines.iter().map(word).collect(),
        other => word(other).lines().map(str::to_owned).collect(),
    }
}
