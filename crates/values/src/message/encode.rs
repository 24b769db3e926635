//! A tree as the bytes of a message: fields by number, defaults left out, lists packed where the schema says so.

use super::{DELIMITED, EIGHT, FOUR, Field, Form, Kind, Many, Message, MessageId, Messages};
use crate::tree::{Data, Node, Record};

/// Why a tree is not one of a schema.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{what}", self.place())]
pub struct Unwritable {
    /// The names that lead there, the outermost first.
    pub path: Vec<String>,
    /// What is wrong.
    pub what: String,
}

impl Unwritable {
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self { path: Vec::new(), what: what.into() }
    }

    pub(crate) fn within(mut self, name: impl Into<String>) -> Self {
        self.path.insert(0, name.into());
        self
    }

    fn place(&self) -> String {
        if self.path.is_empty() { String::new() } else { format!("`{}`: ", self.path.join(".")) }
    }
}

impl Messages {
    /// The bytes that a message is written as. Unknown fields have no place in them.
    pub fn encode(&self, name: &str, node: &Node) -> Result<Vec<u8>, Unwritable> {
        self.encode_as(self.id(name).map_err(|error| Unwritable::new(error.to_string()))?, node)
    }

    /// As [`Self::encode`], of a message that was found by [`Messages::id`].
    pub fn encode_as(&self, id: MessageId, node: &Node) -> Result<Vec<u8>, Unwritable> {
        let mut out = Vec::with_capacity(node.span.len());
        match (self.messages.get(id.0), &node.data) {
            (Some(message), Data::Message(record)) => self.put_message(message, record, &mut out)?,
            _ => return Err(Unwritable::new("it is not a message of the schema")),
        }
        Ok(out)
    }

    fn put_message(&self, message: &Message, record: &Record, out: &mut Vec<u8>) -> Result<(), Unwritable> {
        if !record.unknown.is_empty() {
            return Err(Unwritable::new("it has fields that the schema does not"));
        }
        for field in &message.fields {
            let found = record.fields.iter().find(|(name, _)| *name == field.name);
            let Some((_, node)) = found else { continue };
            self.put_field(message, field, node, record, out)
                .map_err(|error| error.within(field.name.to_string()))?;
        }
        Ok(())
    }

    fn put_field(
        &self,
        message: &Message,
        field: &Field,
        node: &Node,
        record: &Record,
        out: &mut Vec<u8>,
    ) -> Result<(), Unwritable> {
        match (field.many, &node.data) {
            (Many::Once, Data::Message(held)) if message.form == Form::Any && field.number == 2 => {
                let index =
                    self.index(held_by(record)).map_err(|error| Unwritable::new(error.to_string()))?;
                let mut inside = Vec::new();
                if let Some(message) = self.messages.get(index) {
                    self.put_message(message, held, &mut inside)?;
                }
                if !inside.is_empty() {
                    tag(field, DELIMITED, out);
                    blob(&inside, out);
                }
                Ok(())
            }
            (Many::Once, data) => {
                if field.presence || !is_default(data, field.kind, self) {
                    tag(field, field.kind.wire(), out);
                    self.put(field.kind, data, out)?;
                }
                Ok(())
            }
            (Many::List { packed: true }, Data::List(items)) if field.kind.wire() != DELIMITED => {
                let mut inside = Vec::new();
                for item in items {
                    self.put(field.kind, &item.data, &mut inside)?;
                }
                if !items.is_empty() {
                    tag(field, DELIMITED, out);
                    blob(&inside, out);
                }
                Ok(())
            }
            (Many::List { .. }, Data::List(items)) => items.iter().try_for_each(|item| {
                tag(field, field.kind.wire(), out);
                self.put(field.kind, &item.data, out)
            }),
            (Many::Map, Data::Map(pairs)) => {
                let Some(entry) = self.entry(field.kind) else { return Err(Unwritable::new("no map")) };
                for (key, value) in pairs {
                    let mut inside = Vec::new();
                    for (part, node) in entry.fields.iter().zip([key, value]) {
                        // Both parts of an entry are written, whatever they are.
                        tag(part, part.kind.wire(), &mut inside);
                        self.put(part.kind, &node.data, &mut inside)?;
                    }
                    tag(field, DELIMITED, out);
                    blob(&inside, out);
                }
                Ok(())
            }
            _ => Err(Unwritable::new("a list or a map belongs here")),
        }
    }

    fn put(&self, kind: Kind, data: &Data, out: &mut Vec<u8>) -> Result<(), Unwritable> {
        let wrong = || Unwritable::new("a value of another kind belongs here");
        match (kind, data) {
            (Kind::Message(index), Data::Message(record)) => {
                let mut inside = Vec::new();
                let message = self.messages.get(index).ok_or_else(wrong)?;
                self.put_message(message, record, &mut inside)?;
                blob(&inside, out);
            }
            (Kind::Text, Data::Text(text)) => blob(text.as_bytes(), out),
            (Kind::Bytes, Data::Bytes(bytes)) => blob(bytes, out),
            (Kind::Bool, Data::Bool(value)) => out.push(u8::from(*value)),
            (Kind::Double, Data::Float(value)) => put_fixed(value.to_bits(), 8, out),
            #[expect(
                clippy::cast_possible_truncation,
                reason = "the nearest float of 32 bits is what the field holds"
            )]
            (Kind::Float, Data::Float(value)) => put_fixed((*value as f32).to_bits().into(), 4, out),
            (Kind::Enum(index), Data::Variant(name, _)) => {
                let number = self.enums.get(index).and_then(|known| known.number(name)).ok_or_else(wrong)?;
                varint(i64::from(number).cast_unsigned(), out);
            }
            (kind, Data::Unsigned(_) | Data::Signed(_)) => {
                let number: i128 = match data {
                    Data::Unsigned(n) => i128::try_from(*n).map_err(|_| wrong())?,
                    Data::Signed(n) => *n,
                    _ => return Err(wrong()),
                };
                put_number(kind, number, out)
                    .ok_or_else(|| Unwritable::new(format!("{number} does not fit a field of its type")))?;
            }
            _ => return Err(wrong()),
        }
        Ok(())
    }
}

/// The name that an `Any` gives to what it holds.
pub(super) fn held_by(record: &Record) -> &str {
    let url = record.fields.iter().find_map(|(name, node)| match &node.data {
        Data::Text(url) if **name == *"type_url" => Some(url.as_str()),
        _ => None,
    });
    url.and_then(|url| url.rsplit('/').next()).unwrap_or_default()
}

fn put_number(kind: Kind, number: i128, out: &mut Vec<u8>) -> Option<()> {
    match kind {
        Kind::Int32 | Kind::Enum(_) => varint(i64::from(i32::try_from(number).ok()?).cast_unsigned(), out),
        Kind::Int64 => varint(i64::try_from(number).ok()?.cast_unsigned(), out),
        Kind::Uint32 => varint(u32::try_from(number).ok()?.into(), out),
        Kind::Uint64 => varint(u64::try_from(number).ok()?, out),
        Kind::Sint32 => {
            let n = i32::try_from(number).ok()?;
            varint(((n << 1) ^ (n >> 31)).cast_unsigned().into(), out);
        }
        Kind::Sint64 => {
            let n = i64::try_from(number).ok()?;
            varint(((n << 1) ^ (n >> 63)).cast_unsigned(), out);
        }
        Kind::Fixed32 => put_fixed(u32::try_from(number).ok()?.into(), 4, out),
        Kind::Fixed64 => put_fixed(u64::try_from(number).ok()?, 8, out),
        Kind::Sfixed32 => put_fixed(i32::try_from(number).ok()?.cast_unsigned().into(), 4, out),
        Kind::Sfixed64 => put_fixed(i64::try_from(number).ok()?.cast_unsigned(), 8, out),
        _ => return None,
    }
    Some(())
}

/// Whether a field of this value is the same as none.
fn is_default(data: &Data, kind: Kind, messages: &Messages) -> bool {
    match data {
        Data::Unsigned(n) => *n == 0,
        Data::Float(float) => float.to_bits() == 0,
        Data::Bool(value) => !value,
        Data::Text(text) => text.is_empty(),
        Data::Bytes(bytes) => bytes.is_empty(),
        Data::Variant(name, _) => match kind {
            Kind::Enum(index) => messages.enums.get(index).and_then(|known| known.number(name)) == Some(0),
            _ => false,
        },
        _ => false,
    }
}

fn tag(field: &Field, wire: u64, out: &mut Vec<u8>) {
    varint(u64::from(field.number) << 3 | wire, out);
}

fn blob(bytes: &[u8], out: &mut Vec<u8>) {
    varint(u64::try_from(bytes.len()).unwrap_or(u64::MAX), out);
    out.extend_from_slice(bytes);
}

fn varint(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(u8::try_from(number & 0x7f).unwrap_or(0) | 0x80);
        number >>= 7;
    }
    out.push(u8::try_from(number).unwrap_or(0));
}

/// A number of `width` bytes, the lowest first.
fn put_fixed(number: u64, width: usize, out: &mut Vec<u8>) {
    debug_assert!(matches!(width, 4 | 8), "{EIGHT} and {FOUR} are the wire's fixed kinds");
    out.extend(number.to_be_bytes().iter().rev().take(width));
}
