//! Witnesses as text, and back.

use keyplan_plan::codec::Hash;
use keyplan_plan::dynamic::{Value, parse};
use keyplan_plan::model::{Argument, Scan, Sequence, Shape};
use serde::{Deserialize, Serialize};

use super::reason::Layouts;
use crate::proof::{NumberFault, Side, Witness};

/// The keys of a refutation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Keys {
    /// Two argument lists with the same bytes.
    Same(Key, Key),
    /// The bound arguments of a scan, and a row that it returns though it should not.
    Row(Key, Key),
    /// Two rows in logical order, in the other order by their bytes.
    Disorder(Key, Key),
    /// The end of a range, and a row on its wrong side.
    RangeEnd(Key, Key),
    /// The start of a range, whose end the plan gives, and a row that it holds or leaves out though it should not.
    Range(Key, Key),
    /// A number that is not allotted as it should be.
    Number {
        /// The number.
        number: u8,
        /// What is wrong.
        fault: Fault,
    },
    /// Two names, in hex, with one digest.
    Digest {
        /// One name.
        first: String,
        /// The other.
        second: String,
        /// The digest of both.
        digest: String,
    },
    /// A key in the prefix of a module that its family is not in.
    Trespass {
        /// The path of the module.
        module: String,
        /// Its prefix, in hex.
        prefix: String,
        /// The key.
        key: Key,
    },
    /// A key that is too long.
    TooLong {
        /// The key.
        key: Key,
        /// The longest that the engine takes.
        limit: usize,
    },
    /// Keys that cannot be written as text; the prover is asked again.
    Product,
}

/// What is wrong with a number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Fault {
    /// Another family of the module has it.
    Taken(String),
    /// It lies outside of this allotment.
    Outside(String),
    /// It lies outside of every allotment.
    Nowhere,
    /// The family has none.
    Absent,
    /// This key begins with a retired prefix, in hex.
    Retired(String, Key),
}

/// A key, or the front of one: arguments as `keyplan encode` takes them, and the bytes in hex.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Key {
    /// The path of the family, field or member.
    pub family: String,
    /// A value for each argument.
    pub arguments: Vec<String>,
    /// The bytes.
    pub bytes: String,
}

impl Keys {
    /// The keys of a witness; `scan` is the one that the statement is about.
    pub(super) fn new(layouts: &Layouts<'_>, witness: &Witness, scan: Option<&Scan>) -> Self {
        let two = |make: fn(Key, Key) -> Self, a: &Side, b: &Side| {
            Some(make(Key::new(layouts, a)?, Key::new(layouts, b)?))
        };
        let keys =
            match witness {
                Witness::SameKey { first, second } => two(Self::Same, first, second),
                Witness::Row { scan: front, row } => Key::of_scan(layouts, front, scan)
                    .and_then(|front| Some(Self::Row(front, Key::new(layouts, row)?))),
                Witness::Disorder { first, second } => two(Self::Disorder, first, second),
                Witness::RangeEnd { end, row } => two(Self::RangeEnd, end, row),
                Witness::Range { start, row, .. } => two(Self::Range, start, row),
                Witness::Number { number, fault, .. } => {
                    let fault = match fault {
                        NumberFault::Taken { by } => Some(Fault::Taken(by.clone())),
                        NumberFault::Outside { allotment } => Some(Fault::Outside(allotment.clone())),
                        NumberFault::Nowhere => Some(Fault::Nowhere),
                        NumberFault::Absent => Some(Fault::Absent),
                        NumberFault::Retired { prefix, key } => {
                            Key::new(layouts, key).map(|key| Fault::Retired(hex(prefix), key))
                        }
                    };
                    fault.map(|fault| Self::Number { number: *number, fault })
                }
                Witness::Digest { first, second, digest } => {
                    Some(Self::Digest { first: hex(first), second: hex(second), digest: hex(digest) })
                }
                Witness::Trespass { module, prefix, key } => Key::new(layouts, key)
                    .map(|key| Self::Trespass { module: module.clone(), prefix: hex(prefix), key }),
                Witness::TooLong { key, limit } => {
                    Key::new(layouts, key).map(|key| Self::TooLong { key, limit: *limit })
                }
            };
        keys.unwrap_or(Self::Product)
    }
}

impl Key {
    /// `None` if the values do not survive being written as text.
    fn new(layouts: &Layouts<'_>, side: &Side) -> Option<Self> {
        let (_, sequence) = layouts.anywhere(&side.family)?;
        Self::of(sequence, side)
    }

    /// The prefix of a scan.
    fn of_scan(layouts: &Layouts<'_>, side: &Side, scan: Option<&Scan>) -> Option<Self> {
        let (_, sequence) = layouts.anywhere(&side.family)?;
        Self::of(scan.map_or(sequence, |scan| scan.layout(sequence)), side)
    }

    fn of(sequence: &Sequence, side: &Side) -> Option<Self> {
        let key = Self {
            family: side.family.clone(),
            arguments: texts(sequence, &side.values),
            bytes: hex(&side.bytes),
        };
        (key.values(sequence)? == side.values).then_some(key)
    }

    /// The key, encoded again; `None` if that does not give its bytes.
    pub(super) fn whole(&self, sequence: &Sequence) -> Option<Side> {
        let values = self.values(sequence)?;
        Side::key(&self.family, sequence, &values).filter(|side| hex(&side.bytes) == self.bytes)
    }

    /// The front of a key up to a segment, encoded again.
    pub(super) fn front(&self, sequence: &Sequence, segments: usize) -> Option<Side> {
        let values = self.values(sequence)?;
        Side::prefix(&self.family, sequence, segments, &values).filter(|side| hex(&side.bytes) == self.bytes)
    }

    /// The front of a key up to what a scan binds.
    pub(super) fn scanned(&self, sequence: &Sequence, scan: &Scan) -> Option<Side> {
        self.front(scan.layout(sequence), scan.segments)
    }

    /// The values; `None` if the texts are not exactly theirs.
    fn values(&self, sequence: &Sequence) -> Option<Vec<Value>> {
        let shapes = sequence.arguments().map(|argument| &argument.shape);
        let values = shapes.zip(&self.arguments).map(|(shape, text)| parse(shape, text).ok());
        let values: Vec<Value> = values.collect::<Option<_>>()?;
        (texts(sequence, &values) == self.arguments).then_some(values)
    }
}

/// Values as `keyplan encode` takes them.
fn texts(sequence: &Sequence, values: &[Value]) -> Vec<String> {
    let text = |(argument, value): (&Argument, &Value)| match value {
        Value::Text(text) if takes_text(&argument.shape) => text.clone(),
        value => value.display(&argument.shape).to_string(),
    };
    sequence.arguments().zip(values).map(text).collect()
}

/// Whether the text of an argument has no quotes at the outermost level.
fn takes_text(shape: &Shape) -> bool {
    matches!(shape.values(), Shape::Text(_))
}

pub(super) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// Whether one hash gives both names this digest.
pub(super) fn collide(first: &str, second: &str, digest: &str) -> bool {
    let (Some(a), Some(b)) = (unhex(first), unhex(second)) else { return false };
    a != b
        && Hash::ALL.into_iter().any(|hash| {
            let starts = |name: &[u8]| hex(&hash.digest(name)).starts_with(digest);
            starts(&a) && starts(&b)
        })
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let pair = |pair: &[u8]| match pair {
        [high, low] => Some(digit(high)? << 4 | digit(low)?),
        _ => None,
    };
    text.as_bytes().chunks(2).map(pair).collect()
}
