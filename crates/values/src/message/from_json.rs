//! JSON as the tree of a message, under the names of its schema.

use std::sync::Arc;

use serde_json::{Map, Value as Json};

use super::encode::{Unwritable, held_by};
use super::{Field, Form, Kind, Many, Message, Messages};
use crate::time;
use crate::tree::{Data, Node, Record};

/// How deep JSON is followed.
const MAX_DEPTH: usize = 64;

impl Messages {
    /// The tree of a message from what [`json`](crate::json) makes of one. Names are those of the schema or their JSON forms,
    /// bytes hex digits, times of `google.protobuf.Timestamp` texts; a member that is `null` is left out.
    pub fn from_json(&self, name: &str, json: &Json) -> Result<Node, Unwritable> {
        let index = self.index(name).map_err(|error| Unwritable::new(error.to_string()))?;
        let message = self.messages.get(index).ok_or_else(|| Unwritable::new("there is no such message"))?;
        self.read_message(message, json, 0)
    }

    fn read_message(&self, message: &Message, json: &Json, depth: usize) -> Result<Node, Unwritable> {
        if depth > MAX_DEPTH {
            return Err(Unwritable::new("messages are nested too deeply"));
        }
        let record = match json {
            Json::Object(object) => self.members(message, object, depth)?,
            Json::String(text) if message.form == Form::Timestamp => moment(message, text)?,
            _ => {
                return Err(Unwritable::new(format!(
                    "an object with fields of {} belongs here",
                    message.name
                )));
            }
        };
        Ok(node(Data::Message(Box::new(record))))
    }

    fn members(
        &self,
        message: &Message,
        object: &Map<String, Json>,
        depth: usize,
    ) -> Result<Record, Unwritable> {
        let mut record = empty(message);
        let mut groups = Vec::new();
        for field in &message.fields {
            let given = object.iter().find(|(name, _)| **name == *field.name || **name == field.json_name);
            let Some((name, json)) = given.filter(|(_, json)| !json.is_null()) else { continue };
            if let Some(group) = field.oneof {
                if groups.contains(&group) {
                    return Err(Unwritable::new("another field of the same oneof is given").within(name));
                }
                groups.push(group);
            }
            let value = if message.form == Form::Any && field.number == 2 && json.is_object() {
                let held = self.index(held_by(&record)).ok().and_then(|index| self.messages.get(index));
                let held = held.ok_or_else(|| {
                    Unwritable::new("its `type_url` is not a message of the schema: write it as hex")
                        .within(name)
                })?;
                self.read_message(held, json, depth + 1)
            } else {
                self.read_field(field, json, depth)
            };
            record.fields.push((Arc::clone(&field.name), value.map_err(|error| error.within(name))?));
        }
        if let Some(name) = object.keys().find(|name| message.named(name).is_none()) {
            let known: Vec<&str> = message.fields.iter().map(|field| &*field.name).take(12).collect();
            return Err(Unwritable::new(format!(
                "{} has no field `{name}`; it has: {}",
                message.name,
                known.join(", ")
            )));
        }
        Ok(record)
    }

    fn read_field(&self, field: &Field, json: &Json, depth: usize) -> Result<Node, Unwritable> {
        match (field.many, json) {
            (Many::Once, json) => self.read_one(field.kind, json, depth),
            (Many::List { .. }, Json::Array(items)) => {
                let items = items.iter().enumerate().map(|(at, item)| {
                    self.read_one(field.kind, item, depth).map_err(|error| error.within(at.to_string()))
                });
                Ok(node(Data::List(items.collect::<Result<_, _>>()?)))
            }
            (Many::Map, Json::Object(members)) => {
                let parts = self.entry(field.kind).map(|entry| entry.fields.as_slice());
                let Some([key, value]) = parts else { return Err(Unwritable::new("no map")) };
                let pairs = members.iter().map(|(name, json)| {
                    let of_key = match key.kind {
                        Kind::Bool => Json::Bool(name == "true"),
                        _ => Json::String(name.clone()),
                    };
                    let key = self.read_one(key.kind, &of_key, depth).map_err(|error| error.within(name))?;
                    let value = self.read_one(value.kind, json, depth).map_err(|error| error.within(name))?;
                    Ok((key, value))
                });
                Ok(node(Data::Map(pairs.collect::<Result<_, Unwritable>>()?)))
            }
            (Many::List { .. }, _) => Err(Unwritable::new("a list belongs here")),
            (Many::Map, _) => Err(Unwritable::new("an object belongs here")),
        }
    }

    fn read_one(&self, kind: Kind, json: &Json, depth: usize) -> Result<Node, Unwritable> {
        let wrong = |what: &str| Unwritable::new(format!("{what} belongs here, not {}", shortened(json)));
        let data = match (kind, json) {
            (Kind::Message(index), json) => {
                let message = self.messages.get(index).ok_or_else(|| wrong("a message"))?;
                return self.read_message(message, json, depth + 1);
            }
            (Kind::Text, Json::String(text)) => Data::Text(text.clone()),
            (Kind::Text, _) => return Err(wrong("a text")),
            (Kind::Bytes, Json::String(digits)) => {
                Data::Bytes(const_hex::decode(digits).map_err(|_| wrong("a string of hex digits"))?)
            }
            (Kind::Bytes, _) => return Err(wrong("a string of hex digits")),
            (Kind::Bool, Json::Bool(value)) => Data::Bool(*value),
            (Kind::Bool, _) => return Err(wrong("true or false")),
            (Kind::Double | Kind::Float, json) => Data::Float(float(json).ok_or_else(|| wrong("a number"))?),
            (Kind::Enum(index), Json::String(name)) => {
                let known = self.enums.get(index);
                if known.and_then(|known| known.number(name)).is_none() {
                    let all = known.map(|known| known.values.iter().map(|(_, name)| name.as_str()).take(12));
                    let all: Vec<&str> = all.into_iter().flatten().collect();
                    return Err(wrong(&format!("one of {}", all.join(", "))));
                }
                Data::Variant(name.clone(), Box::new(node(Data::Null)))
            }
            (_, json) => {
                let digits = match json {
                    Json::Number(number) => number.to_string(),
                    Json::String(digits) => digits.clone(),
                    _ => return Err(wrong("a whole number")),
                };
                let number: i128 = digits.parse().map_err(|_| wrong("a whole number"))?;
                u128::try_from(number).map_or(Data::Signed(number), Data::Unsigned)
            }
        };
        Ok(node(data))
    }
}

fn node(data: Data) -> Node {
    Node::new(0..0, data)
}

fn empty(message: &Message) -> Record {
    Record { name: Arc::clone(&message.name), fields: Vec::new(), unknown: Vec::new() }
}

/// A time as the two fields that it is written as.
fn moment(message: &Message, text: &str) -> Result<Record, Unwritable> {
    let (seconds, nanos) = time::parse(text)
        .ok_or_else(|| Unwritable::new("a time belongs here, such as 2023-12-20T18:40:00Z"))?;
    let mut record = empty(message);
    let mut put = |number: u32, data: Data| {
        if let Some((_, field)) = message.field(number) {
            record.fields.push((Arc::clone(&field.name), node(data)));
        }
    };
    if seconds != 0 {
        put(1, u128::try_from(seconds).map_or(Data::Signed(seconds.into()), Data::Unsigned));
    }
    if nanos != 0 {
        put(2, Data::Unsigned(nanos.into()));
    }
    Ok(record)
}

pub(crate) fn float(json: &Json) -> Option<f64> {
    match json {
        Json::Number(number) => number.as_f64(),
        Json::String(text) => match text.as_str() {
            "NaN" => Some(f64::NAN),
            "Infinity" => Some(f64::INFINITY),
            "-Infinity" => Some(f64::NEG_INFINITY),
            _ => None,
        },
        _ => None,
    }
}

/// JSON in a message, cut where it is long.
pub(crate) fn shortened(json: &Json) -> String {
    let text = json.to_string();
    if text.chars().count() <= 40 { text } else { text.chars().take(40).chain(['…']).collect() }
}
