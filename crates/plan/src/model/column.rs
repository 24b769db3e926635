//! What the columns of the table of encodings may say, and how an encoding is made of what is in its brackets.

use super::{BytesEncoding, IntShape, Shape};

/// What is known of an encoding, whatever it is applied to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Encoding {
    /// The word for it; empty if it is what a domain has without one.
    pub word: &'static str,
    /// What it encodes.
    pub domain: DomainKind,
    /// What is in its brackets.
    pub takes: Takes,
    /// Where its bytes end.
    pub extent: ExtentRule,
    /// What becomes of the order of values.
    pub order: OrderRule,
    /// Whether two values may be written as the same bytes.
    pub loses: bool,
    /// Its name in fingerprints, among the encodings of its domain. Databases keep fingerprints: a tag never changes and is never given
    /// to another encoding.
    pub tag: &'static str,
    /// What it writes.
    pub bytes: &'static str,
}

/// The domains that an encoding is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DomainKind {
    /// Integers up to 128 bits.
    Integers,
    /// Those without a sign.
    Unsigned,
    /// Those with one.
    Signed,
    /// Integers up to 64 bits.
    IntegersTo64,
    /// Unsigned integers up to 64 bits.
    UnsignedTo64,
    /// `u64`.
    U64,
    /// `i64`.
    I64,
    /// `u256`.
    U256,
    /// `i256`.
    I256,
    /// `bool`.
    Bool,
    /// `f64`.
    Float,
    /// `time`.
    Time,
    /// `score`.
    Score,
    /// `bytes`.
    Bytes,
    /// `text`.
    Text,
    /// `nibbles`.
    Nibbles,
    /// `list`.
    List,
    /// Anything.
    Anything,
    /// Anything but integers, of which the word has another meaning.
    AnythingElse,
    /// Bytes and integers.
    BytesAndIntegers,
}

impl DomainKind {
    /// Whether a shape without an encoding is of these domains.
    pub fn admits(self, shape: &Shape) -> bool {
        let int = |fits: fn(&IntShape) -> bool| matches!(shape, Shape::Int(int) if fits(int));
        let wide = |is: bool| matches!(shape, Shape::Bytes { encoding: BytesEncoding::Wide { signed, .. }, .. } if *signed == is);
        let bytes = || {
            let wide = matches!(shape, Shape::Bytes { encoding: BytesEncoding::Wide { .. }, .. });
            matches!(shape, Shape::Bytes { .. }) && !wide
        };
        match self {
            Self::Integers => int(|_| true),
            Self::Unsigned => int(|int| !int.ty.signed),
            Self::Signed => int(|int| int.ty.signed),
            Self::IntegersTo64 => int(|int| int.ty.bits <= 64),
            Self::UnsignedTo64 => int(|int| !int.ty.signed && int.ty.bits <= 64),
            Self::U64 => int(|int| !int.ty.signed && int.ty.bits == 64),
            Self::I64 => int(|int| int.ty.signed && int.ty.bits == 64),
            Self::U256 => wide(false),
            Self::I256 => wide(true),
            Self::Bool => matches!(shape, Shape::Bool(_)),
            Self::Float => matches!(shape, Shape::Float(_)),
            Self::Time => matches!(shape, Shape::Time(_)),
            Self::Score => matches!(shape, Shape::Score { .. }),
            Self::Bytes => bytes(),
            Self::Text => matches!(shape, Shape::Text(_)),
            Self::Nibbles => matches!(shape, Shape::Nibbles { .. }),
            Self::List => matches!(shape, Shape::List { .. }),
            Self::Anything => true,
            Self::AnythingElse => !int(|_| true),
            Self::BytesAndIntegers => bytes() || int(|_| true),
        }
    }

    /// Whether it is a domain of single values, rather than of whatever has bytes.
    pub(super) const fn is_leaf(self) -> bool {
        !matches!(self, Self::List | Self::Anything | Self::AnythingElse | Self::BytesAndIntegers)
    }

    /// The domains, as the reference names them.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Integers => "integers",
            Self::Unsigned => "unsigned integers",
            Self::Signed => "signed integers",
            Self::IntegersTo64 => "integers up to 64 bits",
            Self::UnsignedTo64 => "unsigned integers up to 64 bits",
            Self::U64 => "`u64`",
            Self::I64 => "`i64`",
            Self::U256 => "`u256`",
            Self::I256 => "`i256`",
            Self::Bool => "`bool`",
            Self::Float => "`f64`",
            Self::Time => "`time`",
            Self::Score => "`score`",
            Self::Bytes => "`bytes`",
            Self::Text => "`text`",
            Self::Nibbles => "`nibbles`",
            Self::List => "`list`",
            Self::Anything => "anything",
            Self::AnythingElse => "anything but integers",
            Self::BytesAndIntegers => "`bytes`, integers",
        }
    }
}

/// What an encoding takes in brackets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Takes {
    /// Nothing, and no brackets.
    Nothing,
    /// A number, such as this one.
    Number(u8),
    /// A text, such as this one.
    Text(&'static str),
    /// A hash function, and how many bytes of the digest are kept.
    Hash(&'static str),
    /// A display form.
    Form,
}

/// Where the bytes of an encoding end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExtentRule {
    /// After this many bytes.
    After(usize),
    /// After as many bytes as the type has.
    Type,
    /// After as many bytes as its argument says.
    Argument,
    /// Where the length of the value says, if there is only one; otherwise only where something else begins.
    Length,
    /// Where its own bytes say.
    Marked,
    /// Only where something else begins.
    Open,
    /// Where what is inside ends, after a part of fixed length if there is one.
    Inside,
}

impl ExtentRule {
    /// The rule, as the reference says it.
    pub fn name(self) -> String {
        match self {
            Self::After(1) => "1 byte".to_owned(),
            Self::After(bytes) => format!("{bytes} bytes"),
            Self::Type => "the width of the type".to_owned(),
            Self::Argument => "the number given".to_owned(),
            Self::Length => "fixed at one length, otherwise open".to_owned(),
            Self::Marked => "marked".to_owned(),
            Self::Open => "open".to_owned(),
            Self::Inside => "as what is inside".to_owned(),
        }
    }
}

/// What becomes of the order of values. The rule says where byte order is their logical order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OrderRule {
    /// Everywhere.
    Kept,
    /// Where all numbers have one sign.
    OneSign,
    /// Where numbers differ in the lowest byte only.
    LowestByte,
    /// Where all numbers have equally many digits in this base.
    Digits(u8),
    /// Where all numbers are below this one.
    Below(u32),
    /// Where no number is negative.
    FromZero,
    /// Where all numbers have the same bytes above those that are written.
    SameAbove,
    /// Where no number is negative and no two are written alike.
    Unlost,
    /// Where all values have one length.
    OneLength,
    /// Where values of different lengths cannot meet what comes after them.
    Lengths,
    /// Where it is kept inside.
    Within,
    /// Where it is kept inside, turned around.
    Reversed,
    /// Nowhere in general.
    Lost,
}

impl OrderRule {
    /// The rule, as the reference says it.
    pub fn name(self) -> String {
        match self {
            Self::Kept => "kept".to_owned(),
            Self::OneSign => "kept within one sign".to_owned(),
            Self::LowestByte => "kept within the lowest byte".to_owned(),
            Self::Digits(_) => "kept among numbers of equally many digits".to_owned(),
            Self::Below(limit) => format!("kept below {limit}"),
            Self::FromZero => "kept from 0 on".to_owned(),
            Self::SameAbove => "kept where only these bytes differ".to_owned(),
            Self::Unlost => "kept from 0 on where nothing is lost".to_owned(),
            Self::OneLength => "kept at one length".to_owned(),
            Self::Lengths => "kept at one length, or at the end of a key".to_owned(),
            Self::Within => "as inside".to_owned(),
            Self::Reversed => "turned around".to_owned(),
            Self::Lost => "lost".to_owned(),
        }
    }
}

impl Encoding {
    /// The encoding as a plan writes it, with an example of what it takes.
    pub fn example(&self) -> String {
        match self.takes {
            Takes::Nothing => self.word.to_owned(),
            Takes::Number(number) => format!("{}({number})", self.word),
            Takes::Text(text) => format!("{}({text:?})", self.word),
            Takes::Hash(hash) => format!("{}({hash})", self.word),
            Takes::Form => format!("{}(FORM)", self.word),
        }
    }
}

/// What is in the brackets of an encoding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Given {
    Nothing,
    Number(usize),
    Text(String),
    Other,
}

/// A part of an encoding that its brackets give.
pub(super) trait FromGiven: Sized {
    fn from_given(given: &Given) -> Option<Self>;
}

impl FromGiven for usize {
    fn from_given(given: &Given) -> Option<Self> {
        if let Given::Number(number) = given { Some(*number) } else { None }
    }
}

impl FromGiven for u8 {
    fn from_given(given: &Given) -> Option<Self> {
        usize::from_given(given).and_then(|number| number.try_into().ok())
    }
}

impl FromGiven for String {
    fn from_given(given: &Given) -> Option<Self> {
        if let Given::Text(text) = given { Some(text.clone()) } else { None }
    }
}

/// What an encoding was given, to be written again.
#[derive(Clone, Copy)]
pub(crate) enum Part<'e> {
    Number(usize),
    Text(&'e str),
}

impl<'e> From<&'e usize> for Part<'e> {
    fn from(number: &'e usize) -> Self {
        Self::Number(*number)
    }
}

impl<'e> From<&'e u8> for Part<'e> {
    fn from(number: &'e u8) -> Self {
        Self::Number(usize::from(*number))
    }
}

impl<'e> From<&'e String> for Part<'e> {
    fn from(text: &'e String) -> Self {
        Self::Text(text)
    }
}

/// A row and how the encoding is made of what is in its brackets.
pub(super) struct Maker<E> {
    pub(super) row: Encoding,
    pub(super) make: fn(&Given) -> Option<E>,
}
