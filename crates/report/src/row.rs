//! A row as it is shown, and as a line of JSON that loads again.
//!
//! ```
//! use keyplan_plan::dynamic::Decoder;
//! use keyplan_report::row::{ValueDigits, View, row_json};
//!
//! let text = "plan p; space s { key k = 0x01 id: u8 -> n: u16; }";
//! let plan = keyplan_plan::compile("p", text, |_| Err(String::new())).plan.expect("sound");
//! let (decoder, mut line) = (Decoder::new(&plan), Vec::new());
//! let decoded = decoder.decode(0, &[1, 7]);
//! let view = View { space: "s", key: &[1, 7], value: &[0, 9], decoded: &decoded };
//! row_json(&mut line, &view, view.is_unambiguous(&decoder, 0), ValueDigits::Decoded);
//! assert_eq!(line, b"{\"family\":\"s.k\",\"args\":{\"id\":7},\"value\":{\"n\":9}}\n");
//! ```

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use keyplan_plan::dynamic::{Decoded, Decoder, Miss, other_key};
use keyplan_plan::model::{Argument, Opaque, Segment, Sequence, Shape};
use keyplan_plan::notation::{write_bytes, write_shown_json, write_string};

use crate::values;

/// What a value layout leaves to others, if it is nothing but that.
pub fn opaque(layout: &Sequence) -> Option<&Opaque> {
    match layout.segments() {
        [Segment::Argument(Argument { name: None, shape: Shape::Opaque(opaque), .. })] => Some(opaque),
        _ => None,
    }
}

/// A row as it is shown.
#[derive(Clone, Copy, Debug)]
pub struct View<'r, 'p> {
    /// The name of its space in the plan.
    pub space: &'p str,
    /// Its key.
    pub key: &'r [u8],
    /// Its value.
    pub value: &'r [u8],
    /// What the key stands for, or why no family makes it.
    pub decoded: &'r Result<Decoded<'p>, Miss<'p>>,
}

impl<'p> View<'_, 'p> {
    /// The layout of its value, if the plan gives one.
    pub fn layout(&self) -> Option<&'p Sequence> {
        self.decoded.as_ref().ok()?.family.value.as_ref()
    }

    /// Whether its arguments are enough to make the key again: another reading would be refused.
    pub fn is_unambiguous(&self, decoder: &Decoder<'p>, space: usize) -> bool {
        self.decoded.as_ref().is_ok_and(|decoded| {
            decoded.family.accepts.is_empty()
                || other_key(decoder, space, decoded.family, &decoded.values, self.key).is_none()
        })
    }
}

/// How the bytes of a value are written in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueDigits {
    /// As an object of its arguments or as the JSON that it is, where that makes the same bytes again; else as hex.
    Decoded,
    /// Two digits per byte.
    Hex,
    /// Base64 with padding, under the name `base64`.
    Base64,
}

/// Appends the object of a row as `load` takes it, and ends the line. `whole` says whether its arguments are enough.
pub fn row_json(out: &mut Vec<u8>, row: &View<'_, '_>, whole: bool, digits: ValueDigits) {
    match row.decoded {
        Ok(decoded) if whole => {
            out.extend_from_slice(b"{\"family\":");
            write_string(out, &decoded.family.path);
            out.extend_from_slice(b",\"args\":");
            write_shown_json(out, &decoded.family.key, &decoded.values);
        }
        _ => {
            out.extend_from_slice(b"{\"space\":");
            write_string(out, row.space);
            out.extend_from_slice(b",\"key\":");
            write_bytes(out, row.key);
        }
    }
    match digits {
        ValueDigits::Decoded => {
            out.push(b',');
            // An object is read by the layout of its family, so that it needs the family beside it.
            values::write_value(out, row.layout().filter(|_| whole), row.value);
        }
        ValueDigits::Hex => {
            out.extend_from_slice(b",\"value\":");
            write_bytes(out, row.value);
        }
        ValueDigits::Base64 => {
            out.extend_from_slice(b",\"base64\":");
            write_string(out, &base64(row.value));
        }
    }
    out.extend_from_slice(b"}\n");
}

/// A row as it is in the database, as a line of JSON.
pub fn raw_row(out: &mut Vec<u8>, space: &str, key: &[u8], value: &[u8], digits: ValueDigits) {
    // A string as JSON cannot fail.
    let space = serde_json::to_string(space).unwrap_or_default();
    out.extend_from_slice(b"{\"space\":");
    out.extend_from_slice(space.as_bytes());
    out.extend_from_slice(b",\"key\":\"");
    out.extend_from_slice(const_hex::encode(key).as_bytes());
    match digits {
        ValueDigits::Hex | ValueDigits::Decoded => {
            out.extend_from_slice(b"\",\"value\":\"");
            out.extend_from_slice(const_hex::encode(value).as_bytes());
        }
        ValueDigits::Base64 => {
            out.extend_from_slice(b"\",\"base64\":\"");
            out.extend_from_slice(base64(value).as_bytes());
        }
    }
    out.extend_from_slice(b"\"}\n");
}

/// Bytes as base64 with padding.
pub fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// What a database has under a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stored {
    /// A row.
    Value(Vec<u8>),
    /// None, and so many rows whose keys begin with it.
    Front(Begun),
}

/// How many rows begin with some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Begun {
    /// How many were counted.
    pub rows: u64,
    /// Whether there are more.
    pub more: bool,
}
