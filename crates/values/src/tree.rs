//! The tree that every value is read as.

use std::ops::Range;
use std::sync::Arc;

/// A part of a value, and which bytes of it it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Its bytes, by their offsets in the whole value.
    pub span: Range<usize>,
    /// What they mean.
    pub data: Data,
}

/// What a part of a value means.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Data {
    /// Nothing: `null`, `None`, a unit.
    Null,
    /// CBOR's other nothing.
    Undefined,
    /// A truth value.
    Bool(bool),
    /// A number that is not negative.
    Unsigned(u128),
    /// A negative number.
    Signed(i128),
    /// A float.
    Float(f64),
    /// A number that only its digits say: JSON's, of any size.
    Number(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// Text.
    Text(String),
    /// Values in a row.
    List(Vec<Node>),
    /// Pairs, in the order in which they are written; keys may be of any kind and come again.
    Map(Vec<(Node, Node)>),
    /// A value under a number that says what it is.
    Tagged(u64, Box<Node>),
    /// CBOR's simple values without a meaning.
    Simple(u8),
    /// A variant of a type, with what it holds.
    Variant(String, Box<Node>),
    /// Fields of a message that is known by its wire only: each by its number.
    Fields(Vec<(u32, Node)>),
    /// A message of a schema.
    Message(Box<Record>),
}

/// A message of a schema, with the fields that it has.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The full name of the message.
    pub name: Arc<str>,
    /// The fields that are there, in the order of their numbers.
    pub fields: Vec<(Arc<str>, Node)>,
    /// Fields that the schema does not have, by number, in the order in which they are written.
    pub unknown: Vec<(u32, Node)>,
}

impl Node {
    pub(crate) const fn new(span: Range<usize>, data: Data) -> Self {
        Self { span, data }
    }

    /// A name that an object in this tree has twice.
    pub fn repeated_name(&self) -> Option<&str> {
        match &self.data {
            Data::List(items) => items.iter().find_map(Self::repeated_name),
            Data::Map(pairs) => {
                let mut names: Vec<&str> = pairs.iter().filter_map(|(key, _)| key.as_text()).collect();
                names.sort_unstable();
                let twice = names.windows(2).find(|two| two.first() == two.last());
                twice
                    .and_then(|two| two.first().copied())
                    .or_else(|| pairs.iter().find_map(|(_, value)| value.repeated_name()))
            }
            _ => None,
        }
    }

    /// A part that lies in no bytes.
    pub(crate) const fn made(data: Data) -> Self {
        Self::new(0..0, data)
    }

    pub(crate) fn is_null(&self) -> bool {
        self.data == Data::Null
    }

    pub(crate) const fn as_text(&self) -> Option<&str> {
        if let Data::Text(text) = &self.data { Some(text.as_str()) } else { None }
    }

    pub(crate) const fn as_list(&self) -> Option<&[Self]> {
        if let Data::List(items) = &self.data { Some(items.as_slice()) } else { None }
    }

    pub(crate) const fn as_pairs(&self) -> Option<&[(Self, Self)]> {
        if let Data::Map(pairs) = &self.data { Some(pairs.as_slice()) } else { None }
    }
}

/// The value under a name.
pub(crate) fn member<'n>(pairs: &'n [(Node, Node)], name: &str) -> Option<&'n Node> {
    pairs.iter().find(|(key, _)| key.as_text() == Some(name)).map(|(_, value)| value)
}
