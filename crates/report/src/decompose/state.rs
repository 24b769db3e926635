//! The JSON that `contract-state all` prints.

use std::borrow::Cow;
use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// One row of the state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The key.
    pub key: Vec<u8>,
    /// The value.
    pub value: Vec<u8>,
}

/// Why text is not a contract's state.
#[derive(Debug, PartialEq, Eq)]
pub enum BadState {
    /// It is not JSON, or not of the right form.
    Json {
        /// The offset of the byte that breaks it.
        offset: usize,
        /// What is wrong there.
        why: String,
    },
    /// A row whose key is not hex or whose value is not base64.
    Row {
        /// Which, counted from 0.
        index: usize,
        /// What is wrong with it.
        why: String,
    },
}

impl fmt::Display for BadState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json { offset, why } => write!(f, "byte {offset}: {why}"),
            Self::Row { index, why } => write!(f, "models[{index}]: {why}"),
        }
    }
}

/// Reads `{"models":[{"key":HEX,"value":BASE64},…]}`, or only the list.
pub fn parse(text: &[u8]) -> Result<Vec<Entry>, BadState> {
    let state: State<'_> = serde_json::from_slice(text).map_err(|error| {
        let whole = error.to_string();
        let why = whole.rsplit_once(" at line ").map_or(whole.as_str(), |(why, _)| why).to_owned();
        BadState::Json { offset: offset(text, error.line(), error.column()), why }
    })?;
    state.0.iter().enumerate().map(|(index, model)| entry(index, model)).collect()
}

fn entry(index: usize, model: &Model<'_>) -> Result<Entry, BadState> {
    let key = const_hex::decode(model.key.as_bytes())
        .map_err(|error| BadState::Row { index, why: format!("the key is not hex: {error}") })?;
    let value = STANDARD
        .decode(model.value.as_bytes())
        .map_err(|error| BadState::Row { index, why: format!("the value is not base64: {error}") })?;
    Ok(Entry { key, value })
}

/// Lines and columns count from 1, columns in bytes.
fn offset(text: &[u8], line: usize, column: usize) -> usize {
    let start: usize =
        text.split_inclusive(|&byte| byte == b'\n').take(line.saturating_sub(1)).map(<[u8]>::len).sum();
    (start + column.saturating_sub(1)).min(text.len())
}

#[derive(Deserialize)]
struct Model<'t> {
    #[serde(borrow)]
    key: Cow<'t, str>,
    #[serde(borrow, default)]
    value: Cow<'t, str>,
}

struct State<'t>(Vec<Model<'t>>);

impl<'de> Deserialize<'de> for State<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(StateVisitor)
    }
}

struct StateVisitor;

impl<'de> Visitor<'de> for StateVisitor {
    type Value = State<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with `models`, or a list of keys and values")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut models = Vec::new();
        while let Some(model) = seq.next_element()? {
            models.push(model);
        }
        Ok(State(models))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut models: Option<Vec<Model<'de>>> = None;
        while let Some(name) = map.next_key::<Cow<'de, str>>()? {
            if name == "models" {
                models = Some(map.next_value()?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        models.map(State).ok_or_else(|| serde::de::Error::missing_field("models"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_are_read() {
        let row = Entry { key: vec![1, 0xff], value: b"{}".to_vec() };
        let list = br#"[{"key":"01FF","value":"e30="}]"#;
        assert_eq!(parse(list), Ok(vec![row.clone()]));
        let whole = br#"{"pagination":{"total":"1"},"models":[{"key":"01FF","value":"e30="}]}"#;
        assert_eq!(parse(whole), Ok(vec![row]));
    }

    #[test]
    fn what_is_broken_is_named_with_its_place() {
        let cut = parse(b"{\"models\":\n[{]}").unwrap_err();
        assert_eq!(cut, BadState::Json { offset: 13, why: "key must be a string".to_owned() });
        let other = parse(b"{}").unwrap_err();
        assert_eq!(other, BadState::Json { offset: 1, why: "missing field `models`".to_owned() });
        let row = parse(br#"[{"key":"0g","value":""}]"#).unwrap_err();
        let why = "the key is not hex: invalid character 'g' at position 1".to_owned();
        assert_eq!(row, BadState::Row { index: 0, why });
    }

    #[test]
    fn deep_nesting_is_refused() {
        let deep = [b"[".repeat(100_000), b"]".repeat(100_000)].concat();
        assert!(matches!(parse(&deep), Err(BadState::Json { .. })), "not a state");
    }
}
