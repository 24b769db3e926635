//! Schemas that a plan names, and what they tell of its values.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, OnceLock};

use keyplan_codec::Hash;

use super::Shape;
use crate::diag::Span;
use crate::notation::hex;
use crate::order;

/// A format whose values need a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SchemaFormat {
    /// Protobuf: `.proto` files, or a descriptor set.
    Proto,
}

impl SchemaFormat {
    /// The word in a plan.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Proto => "proto",
        }
    }
}

/// A file of a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaFile {
    /// Its format.
    pub format: SchemaFormat,
    /// Its path, as the files of the plan are named.
    pub path: String,
    /// The name that another file of the schema imports it by, if one does.
    pub import: Option<String>,
    /// Its text; of a file that is not text, `hex:` and its bytes.
    pub text: String,
    /// Where the plan names it, or the file that leads to it.
    pub span: Span,
}

impl SchemaFile {
    /// The bytes of a file that is not text.
    pub fn bytes(&self) -> Option<Vec<u8>> {
        let digits = self.text.strip_prefix("hex:")?.trim_end();
        let nibble = |digit: u8| char::from(digit).to_digit(16).and_then(|nibble| u8::try_from(nibble).ok());
        let pairs = digits.as_bytes().chunks(2).map(|pair| match pair {
            [high, low] => Some(nibble(*high)? << 4 | nibble(*low)?),
            _ => None,
        });
        pairs.collect()
    }
}

/// A file of a schema that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingSchema {
    /// Which, and why.
    pub message: String,
    /// Where the plan names it, or the file that leads to it.
    pub span: Span,
}

/// Every file of the schemas of a plan.
#[derive(Clone, Debug, Default)]
pub struct Schemas {
    /// The files, in the order in which they are named.
    pub files: Vec<SchemaFile>,
    /// Files that could not be read. Keys have their meaning without them.
    pub missing: Vec<MissingSchema>,
    /// What a tool made of them.
    pub made: Made,
}

impl PartialEq for Schemas {
    fn eq(&self, other: &Self) -> bool {
        self.files == other.files && self.missing == other.missing
    }
}

impl Schemas {
    /// Whether there are none: the plan names none, or none could be read.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// The hash of all files, in hex: it moves with every change of one, and with nothing else. `None` without files.
    pub fn digest(&self) -> Option<String> {
        if self.files.is_empty() {
            return None;
        }
        let mut files: Vec<(&str, &str)> = self
            .files
            .iter()
            .map(|file| (file.import.as_deref().unwrap_or_else(|| base(&file.path)), file.text.as_str()))
            .collect();
        order::sort(&mut files);
        let mut all = b"keyplan schemas 1".to_vec();
        for part in files.iter().flat_map(|(name, text)| [name, text]) {
            all.extend_from_slice(&(part.len() as u128).to_be_bytes());
            all.extend_from_slice(part.as_bytes());
        }
        Some(hex(&Hash::Blake2b256.digest(&all)))
    }
}

/// The last name of a path: where a plan lies does not change what its schema says.
fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// A message of protobuf.
#[derive(Clone, Debug)]
pub struct ProtoMessage {
    /// Its name, in full or the end of it.
    pub name: String,
    /// The schemas of the plan.
    pub schemas: Arc<Schemas>,
}

/// Values of one message are the same bytes whatever is known of it.
impl PartialEq for ProtoMessage {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// A value of a type that the plan gives, in a format that writes nothing but its parts.
#[derive(Clone, Debug)]
pub struct Coded {
    /// The format.
    pub codec: ValueCodec,
    /// The type.
    pub shape: Arc<Shape>,
    /// What a tool made of it.
    pub made: Made,
}

impl PartialEq for Coded {
    fn eq(&self, other: &Self) -> bool {
        self.codec == other.codec && self.shape == other.shape
    }
}

/// A format that writes the parts of a type one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ValueCodec {
    /// Substrate's SCALE.
    Scale,
    /// BCS, of Diem, Aptos and Sui.
    Bcs,
    /// Borsh, of NEAR and Solana.
    Borsh,
    /// The form of bincode 1.
    Bincode,
    /// CBOR, with names for what its arrays hold by position.
    Cbor,
}

impl ValueCodec {
    /// Every format.
    pub const ALL: [Self; 5] = [Self::Scale, Self::Bcs, Self::Borsh, Self::Bincode, Self::Cbor];

    /// The word in a plan.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Scale => "scale",
            Self::Bcs => "bcs",
            Self::Borsh => "borsh",
            Self::Bincode => "bincode",
            Self::Cbor => "cbor",
        }
    }

    /// What people call it.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Scale => "SCALE",
            Self::Bcs => "BCS",
            Self::Borsh => "Borsh",
            Self::Bincode => "bincode",
            Self::Cbor => "CBOR",
        }
    }
}

/// A place for what a tool makes of a part of a plan, so that it is made once. It is not part of the plan.
#[derive(Clone, Default)]
pub struct Made(OnceLock<Arc<dyn Any + Send + Sync>>);

impl Made {
    /// What was made, or what `make` makes now. One place keeps one type: another one is made again each time.
    pub fn get_or_make<T: Any + Send + Sync>(&self, make: impl Fn() -> T) -> Arc<T> {
        let kept = self.0.get_or_init(|| Arc::new(make()));
        Arc::clone(kept).downcast().unwrap_or_else(|_| Arc::new(make()))
    }
}

impl fmt::Debug for Made {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.get().is_some() { "Made(..)" } else { "Made" })
    }
}
