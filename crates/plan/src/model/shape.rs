use std::sync::Arc;

use keyplan_codec::{Alphabet, Hash, Heights, Lengths};

use super::table::{
    self, BoolEncoding, BytesEncoding, Encoding, FloatEncoding, Frame, Framing, IntEncoding, NibbleEncoding,
    ScoreEncoding, TimeEncoding,
};
use super::{Coded, Extent, ProtoMessage, Sequence};
use crate::diag::Span;
use crate::order::sort;

/// The values of an argument and the bytes they are written as.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// An integer.
    Int(IntShape),
    /// A truth value.
    Bool(BoolEncoding),
    /// A float.
    Float(FloatEncoding),
    /// Nanoseconds since 1970.
    Time(TimeEncoding),
    /// A place in chain order.
    Score {
        /// The heights of the blocks that it is in; without them it may be any place.
        heights: Option<Heights>,
        /// How it is written.
        encoding: ScoreEncoding,
    },
    /// A byte string.
    Bytes {
        /// Its lengths.
        lengths: LengthSet,
        /// How it is written.
        encoding: BytesEncoding,
    },
    /// A text.
    Text(TextShape),
    /// A path of 4-bit digits.
    Nibbles {
        /// How many digits.
        lengths: LengthSet,
        /// How they are written.
        encoding: NibbleEncoding,
    },
    /// The rest of a value, in a codec that the plan only names.
    Opaque(Opaque),
    /// Parts in a row, as one argument.
    Record(Sequence),
    /// One of several labelled layouts.
    Choice(Vec<Alternative>),
    /// Present, or absent and written as nothing.
    Option(Box<Shape>),
    /// Elements in a row.
    List {
        /// One element.
        item: Box<Shape>,
        /// How many there may be.
        counts: LengthSet,
        /// What tells one from the next and where the list ends.
        framing: Framing,
    },
    /// An inner layout with its end marked.
    Framed {
        /// How.
        frame: Frame,
        /// What is inside.
        inner: Box<Shape>,
    },
    /// An inner layout with every byte complemented.
    Desc(Box<Shape>),
    /// Only the hash of an inner layout.
    Hashed {
        /// The function.
        hash: Hash,
        /// How many bytes of the digest are kept.
        keep: usize,
        /// What is hashed.
        inner: Box<Shape>,
        /// The digests of the known names, if a name set is hashed; ascending.
        known: Arc<Vec<(Vec<u8>, Name)>>,
    },
    /// The hash of an inner layout, then the layout itself.
    HashConcat {
        /// The function.
        hash: Hash,
        /// How many bytes of the digest are kept.
        keep: usize,
        /// What is hashed.
        inner: Box<Shape>,
    },
}

/// An integer: its type, its range, its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IntShape {
    /// Width and signedness.
    pub ty: IntType,
    /// The values allowed.
    pub range: IntRange,
    /// How it is written.
    pub encoding: IntEncoding,
}

/// Width and signedness of an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IntType {
    /// Whether it has a sign.
    pub signed: bool,
    /// 8, 16, 32, 64 or 128; of an unsigned type also 24, 40, 48 or 56.
    pub bits: u32,
}

impl IntType {
    /// The type called `name`, such as `u64`.
    pub fn from_name(name: &str) -> Option<Self> {
        let (signed, bits) = match name {
            "u8" => (false, 8),
            "u16" => (false, 16),
            "u24" => (false, 24),
            "u32" => (false, 32),
            "u40" => (false, 40),
            "u48" => (false, 48),
            "u56" => (false, 56),
            "u64" => (false, 64),
            "u128" => (false, 128),
            "i8" => (true, 8),
            "i16" => (true, 16),
            "i32" => (true, 32),
            "i64" => (true, 64),
            "i128" => (true, 128),
            _ => return None,
        };
        Some(Self { signed, bits })
    }

    /// Its name, such as `u64`.
    pub fn name(self) -> String {
        format!("{}{}", if self.signed { 'i' } else { 'u' }, self.bits)
    }

    /// How many bytes it takes at full width.
    pub const fn bytes(self) -> usize {
        (self.bits / 8) as usize
    }

    /// The bits of the type that programming languages have for it: the next power of two.
    pub const fn native_bits(self) -> u32 {
        self.bits.next_power_of_two()
    }

    /// Whether no built-in type has its width.
    pub const fn is_narrow(self) -> bool {
        self.bits != self.native_bits()
    }

    /// Every value of the type.
    pub const fn range(self) -> IntRange {
        if self.signed {
            let max = i128::MAX >> (128 - self.bits);
            IntRange::Signed { min: -max - 1, max }
        } else {
            IntRange::Unsigned { min: 0, max: u128::MAX >> (128 - self.bits) }
        }
    }
}

/// A range of integers, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntRange {
    /// Of an unsigned type.
    Unsigned {
        /// The least value.
        min: u128,
        /// The greatest value.
        max: u128,
    },
    /// Of a signed type.
    Signed {
        /// The least value.
        min: i128,
        /// The greatest value.
        max: i128,
    },
}

/// A text: its characters, its lengths, its known values.
#[derive(Clone, Debug, PartialEq)]
pub struct TextShape {
    /// The characters it is made of.
    pub alphabet: Alphabet,
    /// The characters it may begin with, where they are others.
    pub first: Option<Alphabet>,
    /// Its lengths in bytes.
    pub lengths: LengthSet,
    /// The values known by name.
    pub names: Option<Arc<NameSet>>,
    /// Whether it is written as a tuple element.
    pub tuple: bool,
    /// The values that are left out.
    pub except: Arc<Except>,
}

/// Texts that are left out of a domain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Except {
    texts: Vec<String>,
    packed: Vec<u8>,
}

impl Except {
    /// These texts, of which none is longer than 65,535 bytes.
    pub fn new(mut texts: Vec<String>) -> Self {
        sort(&mut texts);
        texts.dedup();
        let mut packed = Vec::new();
        for text in &texts {
            packed.extend(u16::try_from(text.len()).unwrap_or(u16::MAX).to_be_bytes());
            packed.extend_from_slice(text.as_bytes());
        }
        Self { texts, packed }
    }

    /// The texts, in the order of their bytes.
    pub fn texts(&self) -> &[String] {
        &self.texts
    }

    /// The form that the codec takes.
    pub fn packed(&self) -> &[u8] {
        &self.packed
    }

    /// Whether nothing is left out.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }
}

impl TextShape {
    /// What is known of how it is written.
    pub fn row(&self) -> &'static Encoding {
        if self.tuple { &table::TEXT_TUPLE } else { &table::TEXT }
    }

    /// Whether a byte may be in a text.
    pub fn may_hold(&self, byte: u8) -> bool {
        self.alphabet.contains(byte) || self.first.is_some_and(|first| first.contains(byte))
    }
}

/// A set of known names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameSet {
    /// What the set is called.
    pub name: String,
    /// What it is for.
    pub doc: Vec<String>,
    /// The names, as declared.
    pub names: Vec<Name>,
}

/// A known name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The name.
    pub text: String,
    /// What it stands for.
    pub doc: Vec<String>,
    /// Whether it is no longer written.
    pub retired: bool,
    /// Where it is declared.
    pub span: Span,
}

/// A value in a codec of its own, which keys do not look into.
#[derive(Clone, Debug, PartialEq)]
pub enum Opaque {
    /// CBOR.
    Cbor,
    /// JSON.
    Json,
    /// Ethereum's RLP.
    Rlp,
    /// A protobuf message.
    Proto(ProtoMessage),
    /// A value of a type that the plan gives: SCALE, BCS, Borsh, bincode, CBOR by names.
    Coded(Coded),
    /// Unspecified bytes.
    Raw,
}

impl Opaque {
    /// Its name, such as `proto("TickInfo")`; of a value by its type, only the codec.
    pub fn name(&self) -> String {
        match self {
            Self::Cbor => "cbor".to_owned(),
            Self::Json => "json".to_owned(),
            Self::Rlp => "rlp".to_owned(),
            Self::Proto(message) => format!("proto({:?})", message.name),
            Self::Coded(coded) => coded.codec.word().to_owned(),
            Self::Raw => "raw".to_owned(),
        }
    }

    /// Its name in fingerprints, which never changes.
    pub(super) const fn tag(&self) -> &'static str {
        match self {
            Self::Cbor => "cbor",
            Self::Json => "json",
            Self::Rlp => "rlp",
            Self::Proto(_) => "proto",
            Self::Coded(_) => "coded",
            Self::Raw => "raw",
        }
    }
}

/// One alternative of a choice.
#[derive(Clone, Debug, PartialEq)]
pub struct Alternative {
    /// Its label.
    pub label: String,
    /// What it is for.
    pub doc: Vec<String>,
    /// Its layout.
    pub sequence: Sequence,
    /// Where it is declared.
    pub span: Span,
}

/// The lengths or counts that something may have.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum LengthSet {
    /// Every number from `min` to `max`, both included; `usize::MAX` stands for "no limit".
    Range {
        /// The least.
        min: usize,
        /// The greatest.
        max: usize,
    },
    /// Exactly these, ascending.
    OneOf(Vec<usize>),
}

impl LengthSet {
    /// Any number at all.
    pub const ANY: Self = Self::Range { min: 0, max: usize::MAX };

    /// The form that the codecs take.
    pub fn lengths(&self) -> Lengths<'_> {
        match self {
            Self::Range { min, max } => Lengths::Range { min: *min, max: *max },
            Self::OneOf(lengths) => Lengths::OneOf(lengths),
        }
    }

    /// Whether `n` is one of them.
    pub fn admits(&self, n: usize) -> bool {
        self.lengths().admits(n)
    }

    /// The least.
    pub fn min(&self) -> usize {
        self.lengths().min()
    }

    /// The greatest; `None` without a limit.
    pub fn max(&self) -> Option<usize> {
        let max = self.lengths().max();
        (max != usize::MAX).then_some(max)
    }

    /// The only one, if there is just one.
    pub fn fixed(&self) -> Option<usize> {
        self.lengths().fixed()
    }
}

impl Shape {
    /// Where its bytes end.
    pub fn extent(&self) -> Extent {
        Extent::of_shape(self)
    }

    /// Whether its values are integers, of which each but the last has a next one.
    pub const fn is_counted(&self) -> bool {
        matches!(self.unwrapped(), Self::Int(_))
    }

    /// Whether two different arguments may be written as the same bytes.
    pub fn loses_information(&self) -> bool {
        match self {
            Self::Int(int) => int.encoding.row().loses,
            Self::Bool(encoding) => encoding.row().loses,
            Self::Float(encoding) => encoding.row().loses,
            Self::Time(encoding) => encoding.row().loses,
            Self::Score { encoding, .. } => encoding.row().loses,
            Self::Bytes { encoding, .. } => encoding.row().loses,
            Self::Text(text) => text.row().loses,
            Self::Nibbles { encoding, .. } => encoding.row().loses,
            Self::Hashed { .. } => table::HASHED.loses,
            Self::Opaque(_) => false,
            composite => composite.children().any(Self::loses_information),
        }
    }
}
