//! Protobuf messages by their schema: a table of messages, and values read and written by it.
//!
//! The table is made of `.proto` files or of a descriptor set by the feature `proto`. Reading needs no more than the table: it
//! follows the wire itself, since what others read tells no offsets.

#[cfg(feature = "proto")]
mod compile;
mod decode;
mod encode;
mod from_json;

use std::collections::BTreeMap;
use std::sync::Arc;

#[cfg(feature = "proto")]
pub use compile::{MessagesError, SchemaText};
pub use encode::Unwritable;
pub(crate) use from_json::shortened;

/// The most messages and enums that a schema may have.
#[cfg(feature = "proto")]
pub(crate) const MAX_MESSAGES: usize = 20_000;
/// The most fields of all its messages together.
#[cfg(feature = "proto")]
pub(crate) const MAX_FIELDS: usize = 400_000;

/// Every message of a schema.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Messages {
    #[expect(clippy::struct_field_names, reason = "there are enums beside them")]
    messages: Vec<Message>,
    enums: Vec<Enum>,
    names: BTreeMap<String, usize>,
    /// What the ends of these names mean: every value asks for its message, mostly by its last name.
    ends: BTreeMap<String, End>,
}

/// One message.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Message {
    name: Arc<str>,
    /// By number.
    fields: Vec<Field>,
    form: Form,
}

/// What a message is apart from its fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "proto"), expect(dead_code, reason = "only a schema that is compiled has any"))]
enum Form {
    Plain,
    /// `google.protobuf.Timestamp`, which people write as a time.
    Timestamp,
    /// `google.protobuf.Any`, which holds a message of a name that it gives.
    Any,
}

/// One field of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Field {
    number: u32,
    name: Arc<str>,
    json_name: String,
    kind: Kind,
    many: Many,
    /// Which group of fields it is in of which only one is set.
    oneof: Option<usize>,
    /// Whether a default value that is written differs from none.
    presence: bool,
}

/// How often a field may come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "proto"), expect(dead_code, reason = "only a schema that is compiled has any"))]
enum Many {
    Once,
    List { packed: bool },
    Map,
}

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "proto"), expect(dead_code, reason = "only a schema that is compiled has any"))]
enum Kind {
    Double,
    Float,
    Int32,
    Int64,
    Uint32,
    Uint64,
    Sint32,
    Sint64,
    Fixed32,
    Fixed64,
    Sfixed32,
    Sfixed64,
    Bool,
    Text,
    Bytes,
    Message(usize),
    Enum(usize),
}

/// The kinds of the wire.
const VARINT: u64 = 0;
const EIGHT: u64 = 1;
const DELIMITED: u64 = 2;
const FOUR: u64 = 5;

impl Kind {
    const fn wire(self) -> u64 {
        match self {
            Self::Double | Self::Fixed64 | Self::Sfixed64 => EIGHT,
            Self::Float | Self::Fixed32 | Self::Sfixed32 => FOUR,
            Self::Text | Self::Bytes | Self::Message(_) => DELIMITED,
            _ => VARINT,
        }
    }
}

/// One enum: its values by number.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Enum {
    values: Vec<(i32, String)>,
}

impl Enum {
    fn name(&self, number: i32) -> Option<&str> {
        self.values.iter().find(|(known, _)| *known == number).map(|(_, name)| name.as_str())
    }

    fn number(&self, name: &str) -> Option<i32> {
        self.values.iter().find(|(_, known)| known == name).map(|(number, _)| *number)
    }
}

impl Message {
    fn field(&self, number: u32) -> Option<(usize, &Field)> {
        // Most messages number their fields from one on.
        let guess = usize::try_from(number).ok()?.checked_sub(1)?;
        if let Some(field) = self.fields.get(guess).filter(|field| field.number == number) {
            return Some((guess, field));
        }
        let at = self.fields.binary_search_by_key(&number, |field| field.number).ok()?;
        self.fields.get(at).map(|field| (at, field))
    }

    fn named(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| *field.name == *name || field.json_name == name)
    }
}

impl Messages {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// The full names of all messages, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.keys().map(String::as_str)
    }

    /// The message that is called `name`, for [`Self::decode_as`] and [`Self::encode_as`]: in full, or by the end of its full name
    /// if only one ends so.
    pub fn id(&self, name: &str) -> Result<MessageId, NoMessage> {
        self.index(name).map(MessageId)
    }

    /// The full name of the message that is called `name`: in full, or by the end of its full name if only one ends so.
    pub fn find(&self, name: &str) -> Result<&str, NoMessage> {
        let index = self.index(name)?;
        self.messages.get(index).map(|message| &*message.name).ok_or(NoMessage::Unknown)
    }

    fn index(&self, name: &str) -> Result<usize, NoMessage> {
        let name = name.strip_prefix('.').unwrap_or(name);
        if let Some(index) = self.names.get(name) {
            return Ok(*index);
        }
        match self.ends.get(name) {
            Some(End::One(index)) => Ok(*index),
            Some(End::Several(one, other)) => {
                let full = |index: &usize| {
                    self.messages.get(*index).map(|message| message.name.to_string()).unwrap_or_default()
                };
                Err(NoMessage::Several(full(one), full(other)))
            }
            None => Err(NoMessage::Unknown),
        }
    }
}

/// A message of one schema, found by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MessageId(usize);

/// Which messages have a name that ends in the same way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "proto"), expect(dead_code, reason = "only a schema that is compiled has any"))]
enum End {
    /// The one at this place.
    One(usize),
    /// Several: the first two by name.
    Several(usize, usize),
}

/// The ends of names, each after a dot.
#[cfg(feature = "proto")]
fn ends(names: &BTreeMap<String, usize>) -> BTreeMap<String, End> {
    let mut ends: BTreeMap<String, End> = BTreeMap::new();
    for (name, index) in names {
        for (dot, _) in name.match_indices('.') {
            let Some(end) = name.get(dot + 1..).filter(|end| !end.is_empty()) else { continue };
            let several = match ends.get(end) {
                None => End::One(*index),
                Some(End::One(first)) => End::Several(*first, *index),
                Some(several) => *several,
            };
            ends.insert(end.to_owned(), several);
        }
    }
    ends
}

/// Why a name is not that of a message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoMessage {
    /// There is none.
    #[error("the schema has no such message")]
    Unknown,
    /// There are several of which it is the end of the name.
    #[error("the schema has several: {0} and {1}")]
    Several(String, String),
}
