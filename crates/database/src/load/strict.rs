//! A line of JSON, read within bounds: nothing is given twice, and memory is a small multiple of the line.

use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Number, Value as Json};

/// The most values that the arguments of one row may be made of.
const MOST: usize = 1 << 16;

/// The members of an object as they are written; no two have one name.
#[derive(Debug)]
pub(super) struct Members<'l>(Vec<(String, &'l RawValue)>);

impl<'l> Members<'l> {
    /// Reads the object of a line.
    pub(super) fn read(line: &'l [u8]) -> Result<Self, String> {
        serde_json::from_slice(line).map_err(|error| why(&error))
    }

    /// The text of a member.
    pub(super) fn get(&self, name: &str) -> Option<&'l RawValue> {
        self.0.iter().find(|(member, _)| member == name).map(|(_, value)| *value)
    }

    /// The names, in their order.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }
}

/// What a member's text means.
pub(super) fn tree(text: &RawValue) -> Result<Json, String> {
    let mut left = MOST;
    let mut from = serde_json::Deserializer::from_str(text.get());
    Tree(&mut left).deserialize(&mut from).map_err(|error| why(&error))
}

/// What is wrong, and in which column: everything is on one line.
fn why(error: &serde_json::Error) -> String {
    let whole = error.to_string();
    match whole.rsplit_once(" at line ") {
        Some((why, _)) => format!("column {}: {why}", error.column()),
        None => whole,
    }
}

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(MembersVisitor)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Members<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut all: Vec<(String, &RawValue)> = Vec::new();
        while let Some(name) = map.next_key::<String>()? {
            if all.iter().any(|(other, _)| *other == name) {
                return Err(A::Error::custom(format!("`{name}` is given twice")));
            }
            // A row has six members at most; what is left over is refused by its name.
            if all.len() > 16 {
                return Err(A::Error::custom("a row has no more than six members"));
            }
            all.push((name, map.next_value()?));
        }
        Ok(Members(all))
    }
}

/// A value, counted against what is left.
struct Tree<'b>(&'b mut usize);

impl<'de> DeserializeSeed<'de> for Tree<'_> {
    type Value = Json;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Json, D::Error> {
        let Some(left) = self.0.checked_sub(1) else {
            return Err(D::Error::custom(format!("it is made of over {MOST} values")));
        };
        *self.0 = left;
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Tree<'_> {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(Json::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(Number::from_f64(value).map_or(Json::Null, Json::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(Json::String(value.to_owned()))
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Json, A::Error> {
        let mut all = Vec::new();
        while let Some(item) = seq.next_element_seed(Tree(self.0))? {
            all.push(item);
        }
        Ok(Json::Array(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Json, A::Error> {
        let mut all = Map::new();
        while let Some(name) = map.next_key::<String>()? {
            if all.contains_key(&name) {
                return Err(A::Error::custom(format!("`{name}` is given twice")));
            }
            let value = map.next_value_seed(Tree(self.0))?;
            all.insert(name, value);
        }
        Ok(Json::Object(all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Json, String> {
        let members = Members::read(line.as_bytes())?;
        tree(members.get("args").unwrap())
    }

    #[test]
    fn nothing_is_given_twice() {
        let twice = Err("column 16: `args` is given twice".to_owned());
        assert_eq!(read(r#"{"args":1,"args":2}"#), twice);
        assert_eq!(read(r#"{"args":{"a":1,"a":2}}"#), Err("column 10: `a` is given twice".to_owned()));
        assert_eq!(read(r#"{"args":{"a":1,"b":{"a":2}}}"#), Ok(serde_json::json!({"a": 1, "b": {"a": 2}})));
    }

    #[test]
    fn a_row_of_many_values_is_refused() {
        let line = |items: usize| format!(r#"{{"args":[{}0]}}"#, "0,".repeat(items - 1));
        assert!(read(&line(MOST - 1)).is_ok());
        assert!(read(&line(MOST)).unwrap_err().ends_with("it is made of over 65536 values"));
    }
}
