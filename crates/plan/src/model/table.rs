//! The table of encodings: one row each.
//!
//! What is a fact of an encoding is a column here and nothing else: its word, the domains that it is for, what it takes, where its
//! bytes end, what becomes of order, whether it loses information, its tag in fingerprints, and what it writes in the words of the
//! reference. The language reads its words here, tools their lists, the reference its table, the layouts their extents, the prover
//! its rules of order. Only the checker of certificates has definitions of its own, so that it finds what is wrong with these.

use std::sync::LazyLock;

use keyplan_codec::{Case, LenWidth, WideForm};

use ExtentRule::{After, Argument, Inside, Length, Marked, Open, Type};
use OrderRule::{
    Below, Digits, FromZero, Kept, Lengths, Lost, LowestByte, OneLength, OneSign, Reversed, SameAbove,
    Unlost, Within,
};
use Takes::{Form, Hash, Nothing, Number, Text};

use super::{
    BoolEncoding, BytesEncoding, FloatEncoding, Frame, Framing, IntEncoding, IntRange, IntShape,
    NibbleEncoding, ScoreEncoding, Shape, TimeEncoding,
};

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
            Self::Score => matches!(shape, Shape::Score(_)),
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

/// What stands in the brackets of an encoding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Given {
    Nothing,
    Number(usize),
    Text(String),
    Other,
}

/// A part of an encoding that its brackets give.
trait FromGiven: Sized {
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

const KEEPS: bool = false;
const LOSES: bool = true;

macro_rules! row {
    ($word:literal, $domain:ident, $takes:expr, $extent:expr, $order:expr, $loses:expr, $tag:literal, $bytes:literal) => {
        Encoding {
            word: $word,
            domain: DomainKind::$domain,
            takes: $takes,
            extent: $extent,
            order: $order,
            loses: $loses,
            tag: $tag,
            bytes: $bytes,
        }
    };
}

/// How an encoding is made: of nothing, of what its brackets give, or only by the resolver.
macro_rules! maker {
    ($ty:ident, [$($form:tt)*], ()) => { |given| (*given == Given::Nothing).then(|| $ty::$($form)*) };
    ($ty:ident, [$($form:tt)*], (_)) => { |_| None };
    ($ty:ident, [$($form:tt)*], ($given:ident)) => {
        |given| FromGiven::from_given(given).map(|$given| $ty::$($form)*)
    };
}

macro_rules! part {
    (()) => {
        None
    };
    ((_)) => {
        None
    };
    (($given:ident)) => {
        Some(Part::from($given))
    };
}

/// Per encoding its form in the code, what of it is in brackets, and its row.
macro_rules! table {
    ($($ty:ident { $([$($form:tt)*] $given:tt $row:expr;)* })*) => {
        $(
            impl $ty {
                /// The rows of these encodings.
                pub(super) const TABLE: &[Maker<Self>] =
                    &[$(Maker { row: $row, make: maker!($ty, [$($form)*], $given) }),*];

                /// The row of the encoding, and what is in its brackets.
                pub(crate) fn parts(&self) -> (&'static Encoding, Option<Part<'_>>) {
                    match self {
                        $(Self::$($form)* => {
                            const ROW: Encoding = $row;
                            (&ROW, part!($given))
                        })*
                    }
                }

                /// What is known of the encoding.
                pub fn row(&self) -> &'static Encoding {
                    self.parts().0
                }
            }
        )*
    };
}

// The columns: word, domain, what it takes, where it ends, order, loss, tag, and what is written.
table! {
    IntEncoding {
        [Be] () row!("be", Integers, Nothing, Type, OneSign, KEEPS, "be",
            "fixed width, most significant byte first, signed integers as two's complement; the default");
        [Le] () row!("le", Integers, Nothing, Type, LowestByte, KEEPS, "le",
            "fixed width, least significant byte first, signed integers as two's complement");
        [SignFlip] () row!("signflip", Signed, Nothing, Type, Kept, KEEPS, "signflip",
            "big-endian with the top bit flipped, so that byte order is numeric order");
        [Tick9] () row!("tick9", I64, Nothing, After(9), Kept, KEEPS, "tick9",
            "`05` (negative) or `06`, then big-endian two's complement");
        [Dec] () row!("dec", Integers, Nothing, Open, Digits(10), KEEPS, "dec",
            "base-10 text, no leading zeros");
        [DecPadded(width)] (width) row!("dec", Unsigned, Number(20), Argument, Kept, KEEPS, "dec padded",
            "base-10 text padded with zeros to a width");
        [Hex(Case::Lower)] () row!("hex", Unsigned, Nothing, Open, Digits(16), KEEPS, "hex lower",
            "base-16 text without leading zeros, in lower case");
        [Hex(Case::Upper)] () row!("HEX", Unsigned, Nothing, Open, Digits(16), KEEPS, "hex upper",
            "base-16 text without leading zeros, in upper case");
        [HexPadded(Case::Lower, width)] (width) row!("hex", Unsigned, Number(16), Argument, Kept, KEEPS, "hex padded",
            "base-16 text padded with zeros to a width, in lower case");
        [HexPadded(Case::Upper, width)] (width) row!("HEX", Unsigned, Number(16), Argument, Kept, KEEPS, "hex padded",
            "base-16 text padded with zeros to a width, in upper case");
        [Leb128] () row!("leb128", Unsigned, Nothing, Marked, Below(128), KEEPS, "leb128",
            "LEB128, shortest form only");
        [OrdVar] () row!("ordvar", UnsignedTo64, Nothing, Marked, Kept, KEEPS, "ordvar",
            "order-preserving variable length: `88`+v up to 109, else `f5`+n and n big-endian bytes");
        [BitcoinVarint] () row!("bitcoin_varint", Unsigned, Nothing, Marked, Below(16_512), KEEPS, "bitcoin varint",
            "bijective base 128, most significant first");
        [CompactSize] () row!("compact_size", U64, Nothing, Marked, Below(253), KEEPS, "compact size",
            "Bitcoin's CompactSize, shortest form only");
        [ScaleCompact] () row!("scale_compact", Unsigned, Nothing, Marked, Below(64), KEEPS, "scale compact",
            "Substrate's SCALE compact form, shortest form only");
        [OrderedCode] () row!("orderedcode", IntegersTo64, Nothing, Marked, Kept, KEEPS, "orderedcode",
            "as Google's orderedcode writes them: an unsigned one as the count of its bytes and the bytes, a signed one with its length in the first bits");
        [Saturating] () row!("saturating", Signed, Nothing, Type, FromZero, LOSES, "saturating",
            "as the unsigned integer of that width, negative numbers as 0");
        [Low(width)] (width) row!("low", Unsigned, Number(3), Argument, SameAbove, LOSES, "low",
            "its lowest bytes, so many of them, most significant first: what a cast to a narrower type leaves");
        [High(width)] (width) row!("high", Unsigned, Number(4), Argument, Unlost, LOSES, "high",
            "the highest bytes of its type, so many of them, most significant first");
        [Float] () row!("float", IntegersTo64, Nothing, After(8), Unlost, LOSES, "float",
            "IEEE-754 bits of the nearest float, big-endian: what a server of floats keeps of a score. Nothing is lost up to 2⁵³");
        [Tuple] () row!("tuple", Integers, Nothing, Marked, Kept, KEEPS, "tuple",
            "a FoundationDB tuple element, type code first");
    }
    BoolEncoding {
        [Byte] (_) row!("", Bool, Nothing, After(1), Kept, KEEPS, "byte", "`00` or `01`; the default");
        [Tuple] () row!("tuple", Bool, Nothing, After(1), Kept, KEEPS, "tuple", "a FoundationDB tuple element, `26` or `27`");
    }
    FloatEncoding {
        [Bits] () row!("bits", Float, Nothing, After(8), FromZero, KEEPS, "bits",
            "IEEE-754 bits, big-endian; the default");
        [Ordered] () row!("ordered", Float, Nothing, After(8), Kept, KEEPS, "ordered",
            "the same bits made order-preserving");
        [Badger] () row!("badger", Float, Nothing, After(8), Lost, LOSES, "badger",
            "the sortable form that 1Sat's Badger store writes: −0.0 sorts below −∞ and NaN meets a denormal");
        [Fixed(decimals)] (decimals) row!("fixed", Float, Number(9), After(8), Kept, KEEPS, "fixed",
            "fixed point with so many decimals: value × 10⁹ as a sign-flipped i64; what does not fit exactly is refused");
        [Tuple] () row!("tuple", Float, Nothing, After(9), Kept, KEEPS, "tuple",
            "a FoundationDB tuple element, type code first");
    }
    TimeEncoding {
        [Text9] () row!("text9", Time, Nothing, After(29), Kept, KEEPS, "text9",
            "`2006-01-02T15:04:05.000000000`, years 0000 to 9999; the default");
        [Nanos] () row!("nanos", Time, Nothing, After(8), Kept, KEEPS, "nanos", "sign-flipped i64 of nanoseconds");
    }
    ScoreEncoding {
        [Exact] () row!("exact", Score, Nothing, After(13), Kept, KEEPS, "exact",
            "13 bytes: `00` height u32 index u64, or `01` seconds u64 nanoseconds u32; the default");
        [HeightScore] () row!("height_score", Score, Nothing, After(8), Lost, LOSES, "height score",
            "IEEE-754 bits of 1Sat's float score");
    }
    BytesEncoding {
        [Class(_)] (_) row!("", Bytes, Nothing, Length, Lengths, KEEPS, "class", "the bytes themselves, all of one class");
        [Hex(Case::Lower)] () row!("hex", Bytes, Nothing, Length, Lengths, KEEPS, "hex lower",
            "two digits per byte, in lower case");
        [Hex(Case::Upper)] () row!("HEX", Bytes, Nothing, Length, Lengths, KEEPS, "hex upper",
            "two digits per byte, in upper case");
        [Bech32(prefix)] (prefix) row!("bech32", Bytes, Text("osmo"), Length, Lost, KEEPS, "bech32",
            "bech32 text with this human-readable part; the checksum is verified");
        [Base58 { check: false }] () row!("base58", Bytes, Nothing, Open, Lost, KEEPS, "base58",
            "base58 text of at most 128 bytes, as Bitcoin, Solana and IPFS write it");
        [Base58 { check: true }] () row!("base58check", Bytes, Nothing, Open, Lost, KEEPS, "base58check",
            "the same with the first four bytes of the double SHA-256 after the bytes, of which a version byte is the first");
        [Wide { signed: false, form: WideForm::Be }] () row!("be", U256, Nothing, After(32), Kept, KEEPS, "u256 big",
            "32 bytes, most significant first; the default");
        [Wide { signed: false, form: WideForm::Le }] () row!("le", U256, Nothing, After(32), LowestByte, KEEPS, "u256 little",
            "32 bytes, least significant first");
        [Wide { signed: false, form: WideForm::SignFlip }] (_) row!("", U256, Nothing, After(32), Lost, KEEPS, "u256 sign-flipped", "");
        [Wide { signed: true, form: WideForm::Be }] () row!("be", I256, Nothing, After(32), OneSign, KEEPS, "i256 big",
            "32 bytes of the two's complement, most significant first; the default");
        [Wide { signed: true, form: WideForm::Le }] () row!("le", I256, Nothing, After(32), LowestByte, KEEPS, "i256 little",
            "32 bytes of the two's complement, least significant first");
        [Wide { signed: true, form: WideForm::SignFlip }] () row!("signflip", I256, Nothing, After(32), Kept, KEEPS, "i256 sign-flipped",
            "big-endian with the top bit flipped");
        [Tuple] () row!("tuple", Bytes, Nothing, Marked, Kept, KEEPS, "tuple", "a FoundationDB tuple element, type code first");
        [Fit(width)] (width) row!("fit", Bytes, Number(32), Argument, OneLength, LOSES, "fit",
            "padded on the right with `00`, or cut, to this length");
        [Raw] () row!("raw", Bytes, Nothing, Length, Lengths, KEEPS, "raw", "the bytes themselves; the default");
    }
    NibbleEncoding {
        [Unpacked] (_) row!("", Nibbles, Nothing, Length, Lengths, KEEPS, "unpacked", "one byte per nibble; the default");
        [Packed] () row!("packed", Nibbles, Nothing, Length, Lengths, KEEPS, "packed", "two per byte, even counts only");
        [HexPrefix] () row!("hex_prefix", Nibbles, Nothing, Length, OneLength, KEEPS, "hex prefix",
            "Ethereum's hex-prefix form");
        [Counted] () row!("counted", Nibbles, Nothing, Marked, OneLength, KEEPS, "counted",
            "their count in one byte, then two per byte, an odd one with `0` after it");
    }
    Frame {
        [Len(LenWidth::L8)] () row!("len8", Anything, Nothing, Marked, OneLength, KEEPS, "8", "the byte length in one byte, then the bytes");
        [Len(LenWidth::L16)] () row!("len16", Anything, Nothing, Marked, OneLength, KEEPS, "16", "the length in two bytes, big-endian, then the bytes");
        [Len(LenWidth::L32)] () row!("len32", Anything, Nothing, Marked, OneLength, KEEPS, "32", "the length in four bytes, big-endian");
        [Len(LenWidth::L64)] () row!("len64", Anything, Nothing, Marked, OneLength, KEEPS, "64", "the length in eight bytes, big-endian");
        [Len(LenWidth::L16Le)] () row!("len16le", Anything, Nothing, Marked, OneLength, KEEPS, "16 le", "the length in two bytes, little-endian");
        [Len(LenWidth::L32Le)] () row!("len32le", Anything, Nothing, Marked, OneLength, KEEPS, "32 le", "the length in four bytes, little-endian");
        [Len(LenWidth::L64Le)] () row!("len64le", Anything, Nothing, Marked, OneLength, KEEPS, "64 le", "the length in eight bytes, little-endian");
        [Len(LenWidth::Varint)] () row!("varlen", Anything, Nothing, Marked, OneLength, KEEPS, "varint", "the length in LEB128, then the bytes");
        [Len(LenWidth::Compact)] () row!("compactlen", Anything, Nothing, Marked, OneLength, KEEPS, "compact size", "the length as a CompactSize, below 2³²");
        [Len(LenWidth::Scale)] () row!("scalelen", Anything, Nothing, Marked, OneLength, KEEPS, "scale compact", "the length in the SCALE compact form, below 2³²");
        [Terminated] () row!("terminated", Anything, Nothing, Marked, Within, KEEPS, "terminated", "`00` → `00 ff`, ended by `00 00`; keeps order before anything");
        [Escaped] () row!("escaped", Anything, Nothing, Marked, Within, KEEPS, "escaped", "`00` → `00 ff`, ended by `00`");
        [OrderedCode] () row!("orderedcode", AnythingElse, Nothing, Marked, Within, KEEPS, "orderedcode",
            "`00` → `00 ff`, `ff` → `ff 00`, ended by `00 01`; keeps order before anything");
        [Memcmp] () row!("memcmp", Anything, Nothing, Marked, Within, KEEPS, "memcmp", "groups of 8, zero-padded, each with a marker byte");
    }
    Framing {
        [ToEnd] (_) row!("", List, Nothing, Length, Within, KEEPS, "to end", "the elements in a row; the default");
        [Joined(_)] (_) row!("joined", List, Text("/"), Length, Within, KEEPS, "joined", "the elements with a separator between them");
        [Counted(LenWidth::L8)] () row!("count8", List, Nothing, Marked, OneLength, KEEPS, "8", "the number of elements in one byte, then the elements");
        [Counted(LenWidth::L16)] () row!("count16", List, Nothing, Marked, OneLength, KEEPS, "16", "their number in two bytes, big-endian");
        [Counted(LenWidth::L32)] () row!("count32", List, Nothing, Marked, OneLength, KEEPS, "32", "their number in four bytes, big-endian");
        [Counted(LenWidth::L64)] () row!("count64", List, Nothing, Marked, OneLength, KEEPS, "64", "their number in eight bytes, big-endian");
        [Counted(LenWidth::L16Le)] () row!("count16le", List, Nothing, Marked, OneLength, KEEPS, "16 le", "their number in two bytes, little-endian");
        [Counted(LenWidth::L32Le)] () row!("count32le", List, Nothing, Marked, OneLength, KEEPS, "32 le", "their number in four bytes, little-endian");
        [Counted(LenWidth::L64Le)] () row!("count64le", List, Nothing, Marked, OneLength, KEEPS, "64 le", "their number in eight bytes, little-endian");
        [Counted(LenWidth::Varint)] () row!("varcount", List, Nothing, Marked, OneLength, KEEPS, "varint", "their number in LEB128");
        [Counted(LenWidth::Compact)] () row!("compactcount", List, Nothing, Marked, OneLength, KEEPS, "compact size", "their number as a CompactSize");
        [Counted(LenWidth::Scale)] () row!("scalecount", List, Nothing, Marked, OneLength, KEEPS, "scale compact", "their number in the SCALE compact form");
    }
}

/// The word for big-endian integers, which is what `raw` means of them.
pub(super) const BE: &str = "be";

/// Texts without some values.
pub(crate) const EXCEPT: Encoding = row!(
    "except",
    Text,
    Text("tx.height"),
    Length,
    Lengths,
    KEEPS,
    "except",
    "the same texts without these: they are refused, and so prove that two families never meet"
);
/// Texts as tuple elements.
pub(crate) const TEXT_TUPLE: Encoding = row!(
    "tuple",
    Text,
    Nothing,
    Marked,
    Kept,
    KEEPS,
    "text tuple",
    "a FoundationDB tuple element, type code first"
);
/// Texts themselves.
pub(super) const TEXT: Encoding =
    row!("raw", Text, Nothing, Length, Lengths, KEEPS, "text", "the text itself; the default");
/// Every byte complemented.
pub(crate) const DESC: Encoding = row!(
    "desc",
    Anything,
    Nothing,
    Inside,
    Reversed,
    KEEPS,
    "desc",
    "every byte complemented: the order is reversed"
);
/// A digest instead of what it is of.
pub(crate) const HASHED: Encoding = row!(
    "hashed",
    Anything,
    Hash("sha256, 20"),
    Argument,
    Lost,
    LOSES,
    "hashed",
    "only the hash of the bytes, or its first bytes; the argument cannot be read back"
);
/// A digest and what it is of.
pub(crate) const HASH_CONCAT: Encoding = row!(
    "hash_concat",
    Anything,
    Hash("twox_64"),
    Inside,
    Lost,
    KEEPS,
    "hash concat",
    "the hash, then the bytes"
);
/// A display form.
pub(super) const SHOWN: Encoding = row!(
    "shown",
    BytesAndIntegers,
    Form,
    Inside,
    Within,
    KEEPS,
    "",
    "the same bytes: only how people write the argument; see below"
);

/// The table of encodings, domain by domain.
pub fn table() -> impl Iterator<Item = &'static Encoding> {
    const OTHERS: &[Encoding] = &[DESC, HASHED, HASH_CONCAT, SHOWN];
    const TEXTS: &[Encoding] = &[EXCEPT, TEXT_TUPLE, TEXT];
    fn rows<E>(table: &'static [Maker<E>]) -> impl Iterator<Item = &'static Encoding> {
        table.iter().map(|maker| &maker.row)
    }
    rows(IntEncoding::TABLE)
        .chain(rows(BoolEncoding::TABLE))
        .chain(rows(FloatEncoding::TABLE))
        .chain(rows(TimeEncoding::TABLE))
        .chain(rows(ScoreEncoding::TABLE))
        .chain(rows(BytesEncoding::TABLE))
        .chain(TEXTS)
        .chain(rows(NibbleEncoding::TABLE))
        .chain(rows(Frame::TABLE))
        .chain(rows(Framing::TABLE))
        .chain(OTHERS)
}

/// The words for encodings, each once.
pub fn encodings() -> &'static [&'static str] {
    static WORDS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
        let mut words = Vec::new();
        for row in table().filter(|row| !row.word.is_empty()) {
            if !words.contains(&row.word) {
                words.push(row.word);
            }
        }
        words
    });
    &WORDS
}

/// The encoding that a word means for a shape that has none yet.
pub(super) fn read<E>(table: &[Maker<E>], word: &str, given: &Given, shape: &Shape) -> Option<E> {
    let fits = |maker: &&Maker<E>| maker.row.word == word && maker.row.domain.admits(shape);
    table.iter().filter(fits).find_map(|maker| (maker.make)(given))
}

impl IntEncoding {
    /// The number in its brackets, which is a count of bytes or digits.
    pub fn number(&self) -> Option<usize> {
        match self.parts().1 {
            Some(Part::Number(number)) => Some(number),
            Some(Part::Text(_)) | None => None,
        }
    }
}

impl IntShape {
    /// Whether byte order is numeric order among all numbers of the range.
    pub fn keeps_order(&self) -> bool {
        let same = |shift: u32| match self.range {
            IntRange::Unsigned { min, max } => min >> shift == max >> shift,
            IntRange::Signed { min, max } => min >> shift == max >> shift,
        };
        let below = |limit: u128| match self.range {
            IntRange::Unsigned { max, .. } => max < limit,
            IntRange::Signed { min, max } => min >= 0 && max.unsigned_abs() < limit,
        };
        let signs_differ = matches!(self.range, IntRange::Signed { min, max } if min < 0 && max >= 0);
        let from_zero = !matches!(self.range, IntRange::Signed { min, .. } if min < 0);
        match self.encoding.row().order {
            Kept => true,
            OneSign => !signs_differ,
            LowestByte => self.ty.bits == 8 && !signs_differ || same(8),
            Digits(base) => self.range.have_equally_many_digits(base.into()),
            Below(limit) => below(limit.into()),
            FromZero => from_zero,
            SameAbove => match self.range {
                IntRange::Unsigned { min, max } => {
                    let bits = 8 * u32::try_from(self.encoding.number().unwrap_or(16)).unwrap_or(16);
                    min.checked_shr(bits) == max.checked_shr(bits)
                }
                IntRange::Signed { .. } => false,
            },
            Unlost => from_zero && self.alike().is_none(),
            OneLength | Lengths | Within | Reversed | Lost => false,
        }
    }
}

impl IntShape {
    /// Two numbers of the range that are written as the same bytes, as the ends of a range; none if there are no such numbers.
    pub fn alike(&self) -> Option<IntRange> {
        match (self.encoding, self.range) {
            (IntEncoding::Saturating, IntRange::Signed { min, max }) if min < 0 && max > min => {
                Some(IntRange::Signed { min, max: min + 1 })
            }
            (IntEncoding::Low(width), IntRange::Unsigned { min, max }) => {
                let beside = 1u128.checked_shl(8 * u32::try_from(width).ok()?)?;
                let other = min.checked_add(beside).filter(|other| *other <= max)?;
                Some(IntRange::Unsigned { min, max: other })
            }
            (IntEncoding::High(width), IntRange::Unsigned { min, max }) => {
                let bits = 8 * u32::try_from(self.ty.bytes().checked_sub(width)?).ok()?;
                let high = |number: u128| number.checked_shr(bits).unwrap_or_default();
                neighbours(min, max, |a, b| high(a) == high(b))
            }
            (IntEncoding::Float, IntRange::Unsigned { min, max }) => {
                neighbours(min.max(EXACT), max, |a, b| float(a).total_cmp(&float(b)).is_eq())
            }
            (IntEncoding::Float, IntRange::Signed { min, max }) => {
                let same = |a: u128, b: u128| float(a).total_cmp(&float(b)).is_eq();
                let above = u128::try_from(max)
                    .ok()
                    .and_then(|most| neighbours(min.max(0).unsigned_abs().max(EXACT), most, same));
                let below =
                    || neighbours(max.min(0).unsigned_abs().max(EXACT), min.min(0).unsigned_abs(), same);
                let signed = |n: u128| i128::try_from(n).ok();
                match above {
                    Some(IntRange::Unsigned { min, max }) => {
                        Some(IntRange::Signed { min: signed(min)?, max: signed(max)? })
                    }
                    _ => match below()? {
                        IntRange::Unsigned { min, max } => {
                            Some(IntRange::Signed { min: -signed(max)?, max: -signed(min)? })
                        }
                        IntRange::Signed { .. } => None,
                    },
                }
            }
            _ => None,
        }
    }
}

/// The first integer whose next one has no float of its own.
const EXACT: u128 = 1 << f64::MANTISSA_DIGITS;

#[expect(clippy::cast_precision_loss, reason = "what is lost is what is asked for")]
fn float(number: u128) -> f64 {
    number as f64
}

/// Two numbers beside each other from `min` on that are the same to `same`: of any three, two are, if any are.
fn neighbours(min: u128, max: u128, same: impl Fn(u128, u128) -> bool) -> Option<IntRange> {
    let pair = |min: u128| Some((min, min.checked_add(1).filter(|next| *next <= max)?));
    let both = [Some(min), min.checked_add(1)].into_iter().flatten().filter_map(pair);
    both.into_iter().find(|(a, b)| same(*a, *b)).map(|(min, max)| IntRange::Unsigned { min, max })
}

impl IntRange {
    /// Whether all numbers are written with equally many digits in a base, and none with a sign.
    fn have_equally_many_digits(self, base: u128) -> bool {
        let count = |mut number: u128| {
            let mut count = 1u32;
            while number >= base {
                number /= base;
                count += 1;
            }
            count
        };
        match self {
            Self::Unsigned { min, max } => count(min) == count(max),
            Self::Signed { min, max } => min >= 0 && count(min.unsigned_abs()) == count(max.unsigned_abs()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_two_encodings_of_a_domain_share_a_tag() {
        fn tags<E>(table: &[Maker<E>]) {
            // The padded forms of base 16 have their case after the tag.
            let all: Vec<(&str, bool)> = table
                .iter()
                .map(|maker| (maker.row.tag, maker.row.tag == "hex padded" && maker.row.word == "HEX"))
                .collect();
            let distinct: BTreeSet<_> = all.iter().collect();
            assert_eq!(distinct.len(), all.len(), "{all:?}");
        }
        tags(IntEncoding::TABLE);
        tags(BoolEncoding::TABLE);
        tags(FloatEncoding::TABLE);
        tags(TimeEncoding::TABLE);
        tags(ScoreEncoding::TABLE);
        tags(BytesEncoding::TABLE);
        tags(NibbleEncoding::TABLE);
        tags(Frame::TABLE);
        tags(Framing::TABLE);
    }

    #[test]
    fn a_word_is_read_as_the_encoding_that_is_written_with_it() {
        fn both_ways<E: PartialEq + std::fmt::Debug>(table: &[Maker<E>], row: fn(&E) -> &'static Encoding) {
            for maker in table {
                let given = match maker.row.takes {
                    Nothing => Given::Nothing,
                    Number(number) => Given::Number(number.into()),
                    Text(text) => Given::Text(text.to_owned()),
                    Hash(_) | Form => Given::Other,
                };
                if let Some(made) = (maker.make)(&given) {
                    assert_eq!(*row(&made), maker.row);
                }
            }
        }
        both_ways(IntEncoding::TABLE, IntEncoding::row);
        both_ways(FloatEncoding::TABLE, FloatEncoding::row);
        both_ways(BytesEncoding::TABLE, BytesEncoding::row);
        both_ways(Frame::TABLE, Frame::row);
        both_ways(Framing::TABLE, Framing::row);
    }
}
