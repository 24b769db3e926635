//! The table of encodings: one row each.
//!
//! What is a fact of an encoding is a column here and nothing else: its word, the domains that it is for, what it takes, where its
//! bytes end, what becomes of order, whether it loses information, its tag in fingerprints, and what it writes in the words of the
//! reference; and its codec is named beside it. The language reads its words here, tools their lists, the
//! reference its table, the layouts their extents, the prover its rules of order, `dynamic` and generated Rust the codecs. Only the
//! checker of certificates has definitions of its own, so that it finds what is wrong with these.

use std::sync::LazyLock;

use keyplan_codec::{Alphabet, Base58, Case, LenWidth, WideForm};

use super::column::ExtentRule::{After, Argument, Inside, Length, Marked, Open, Type};
use super::column::OrderRule::{
    Below, Digits, FromZero, Kept, Lengths, Lost, LowestByte, OneLength, OneSign, Reversed, SameAbove,
    Unlost, Within,
};
use super::column::Takes::{Form, Hash, Nothing, Number, Text};
use super::column::{FromGiven, Maker};
use super::{IntShape, Shape};

pub(super) use super::column::Given;
pub(crate) use super::column::Part;
pub use super::column::{DomainKind, Encoding, ExtentRule, OrderRule, Takes};

/// How an integer is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntEncoding {
    /// Big-endian; two's complement if signed.
    Be,
    /// Little-endian; two's complement if signed.
    Le,
    /// Big-endian with the top bit flipped.
    SignFlip,
    /// A sign byte, then big-endian two's complement.
    Tick9,
    /// Base 10 without leading zeros.
    Dec,
    /// Base 10 padded to a width.
    DecPadded(usize),
    /// Base 16 without leading zeros.
    Hex(Case),
    /// Base 16 padded to a width.
    HexPadded(Case, usize),
    /// LEB128.
    Leb128,
    /// Order-preserving variable length.
    OrdVar,
    /// Bijective base 128.
    BitcoinVarint,
    /// Bitcoin's `CompactSize`.
    CompactSize,
    /// Substrate's SCALE compact form.
    ScaleCompact,
    /// As Google's orderedcode writes integers.
    OrderedCode,
    /// Unsigned, with negative numbers as 0.
    Saturating,
    /// The lowest bytes, so many of them.
    Low(usize),
    /// The highest bytes, so many of them.
    High(usize),
    /// The float that is nearest to it.
    Float,
    /// A tuple element.
    Tuple,
}

/// How a truth value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoolEncoding {
    /// `00` or `01`.
    Byte,
    /// A tuple element.
    Tuple,
}

/// How a float is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FloatEncoding {
    /// IEEE-754 bits, big-endian.
    Bits,
    /// The same, made order-preserving.
    Ordered,
    /// The sortable form of 1Sat's Badger store.
    Badger,
    /// Fixed point with this many decimals.
    Fixed(u8),
    /// A tuple element.
    Tuple,
}

/// How a time is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeEncoding {
    /// Fixed-width text.
    Text9,
    /// Nanoseconds as a sign-flipped `i64`.
    Nanos,
}

/// How a score is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScoreEncoding {
    /// Thirteen order-preserving bytes.
    Exact,
    /// 1Sat's float.
    HeightScore,
}

/// How a byte string is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BytesEncoding {
    /// As it is.
    Raw,
    /// As it is, with bytes of this class only.
    Class(Alphabet),
    /// Two digits a byte.
    Hex(Case),
    /// Bech32 with this human-readable part.
    Bech32(String),
    /// Base58 text, with a checksum after the bytes or without.
    Base58 {
        /// Whether there is a checksum.
        check: bool,
    },
    /// An integer of 256 bits, whose bytes are its two's complement, most significant first.
    Wide {
        /// Whether it has a sign.
        signed: bool,
        /// How it is written.
        form: WideForm,
    },
    /// Padded or cut to this length.
    Fit(usize),
    /// A tuple element.
    Tuple,
}

/// How a nibble path is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NibbleEncoding {
    /// One byte a nibble.
    Unpacked,
    /// Two nibbles a byte.
    Packed,
    /// Ethereum's hex-prefix form.
    HexPrefix,
    /// Their count in one byte, then two nibbles a byte.
    Counted,
}

/// How the end of an inner layout is marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame {
    /// By its length before it.
    Len(LenWidth),
    /// By `00 00`, with `00` escaped.
    Terminated,
    /// By `00`, with `00` escaped.
    Escaped,
    /// By groups of eight.
    Memcmp,
    /// By `00 01`, with `00` and `ff` escaped.
    OrderedCode,
}

/// What tells the elements of a list apart and where it ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Framing {
    /// Nothing: it goes to the end of what holds it.
    ToEnd,
    /// These bytes between two elements.
    Joined(Vec<u8>),
    /// The number of elements before them.
    Counted(LenWidth),
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
                pub const ROWS: &[Encoding] = &[$($row),*];

                /// The rows, each with how its encoding is made.
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

/// The codec of each encoding of unsigned integers, given to a macro that makes something of them all.
///
/// `Int` is the type of the numbers, `all` its bytes, `first` and `last` are the ends of its range, `kept` is the number in brackets.
/// What is run where a plan is known at run time is the same as what generated Rust names: there is no other list. Codecs that
/// `end` know where; `open` ones do not; there is `none` for what the resolver gives to no such integer, or to those of one type.
macro_rules! unsigned_codecs {
    ($then:ident $given:tt) => {
        $then! { $given [all first last]
            (IntEncoding::Be, true) => end(keyplan_codec::Narrow::<Int>::be(all));
            (IntEncoding::Le, true) => end(keyplan_codec::Narrow::<Int>::le(all));
            (IntEncoding::Be, false) => end(keyplan_codec::Be::<Int>::new());
            (IntEncoding::Le, false) => end(keyplan_codec::Le::<Int>::new());
            (IntEncoding::Dec, _) => open(keyplan_codec::Decimal::<Int>::full());
            (IntEncoding::DecPadded(kept), _) => end(keyplan_codec::PaddedDecimal::<Int>::full(kept));
            (IntEncoding::Hex(case), _) => open(keyplan_codec::HexInt::<Int>::full(case));
            (IntEncoding::HexPadded(case, kept), _) => end(keyplan_codec::PaddedHexInt::<Int>::full(case, kept));
            (IntEncoding::Leb128, _) => end(keyplan_codec::Leb128::<Int>::new());
            (IntEncoding::OrdVar, _) => end(keyplan_codec::OrdVar::<Int>::new());
            (IntEncoding::BitcoinVarint, _) => end(keyplan_codec::BitcoinVarint::<Int>::new());
            (IntEncoding::ScaleCompact, _) => end(keyplan_codec::ScaleCompact::<Int>::new());
            (IntEncoding::OrderedCode, _) => end(keyplan_codec::OrderedCodeInt::<Int>::new());
            (IntEncoding::Low(kept), _) => end(keyplan_codec::LowBytes::<Int> { width: kept, least: first, most: last });
            (IntEncoding::High(kept), _) =>
                end(keyplan_codec::HighBytes::<Int> { bytes: all, width: kept, least: first, most: last });
            (IntEncoding::Float, _) => end(keyplan_codec::IntFloat::<Int> { least: first, most: last });
            (IntEncoding::Tuple, _) => end(keyplan_codec::TupleInt::<Int>::new());
            (IntEncoding::CompactSize | IntEncoding::SignFlip | IntEncoding::Tick9 | IntEncoding::Saturating, _) => none();
        }
    };
}

/// The same of signed integers.
macro_rules! signed_codecs {
    ($then:ident $given:tt) => {
        $then! { $given [all first last]
            (IntEncoding::Be, _) => end(keyplan_codec::Be::<Int>::new());
            (IntEncoding::Le, _) => end(keyplan_codec::Le::<Int>::new());
            (IntEncoding::SignFlip, _) => end(keyplan_codec::SignFlip::<Int>::new());
            (IntEncoding::Saturating, _) => end(keyplan_codec::Saturating::<Int>::new());
            (IntEncoding::Dec, _) => open(keyplan_codec::Decimal::<Int>::full());
            (IntEncoding::OrderedCode, _) => end(keyplan_codec::OrderedCodeInt::<Int>::new());
            (IntEncoding::Float, _) => end(keyplan_codec::IntFloat::<Int> { least: first, most: last });
            (IntEncoding::Tuple, _) => end(keyplan_codec::TupleInt::<Int>::new());
            (
                IntEncoding::DecPadded(_)
                | IntEncoding::Hex(_)
                | IntEncoding::HexPadded(..)
                | IntEncoding::Leb128
                | IntEncoding::OrdVar
                | IntEncoding::BitcoinVarint
                | IntEncoding::CompactSize
                | IntEncoding::ScaleCompact
                | IntEncoding::Low(_)
                | IntEncoding::High(_)
                | IntEncoding::Tick9,
                _
            ) => none();
        }
    };
}

/// The same of truth values.
macro_rules! bool_codecs {
    ($then:ident $given:tt) => {
        $then! { $given
            BoolEncoding::Byte => keyplan_codec::Bool;
            BoolEncoding::Tuple => keyplan_codec::TupleBool;
        }
    };
}

/// The same of floats.
macro_rules! float_codecs {
    ($then:ident $given:tt) => {
        $then! { $given
            FloatEncoding::Bits => keyplan_codec::FloatBits;
            FloatEncoding::Ordered => keyplan_codec::FloatOrdered;
            FloatEncoding::Badger => keyplan_codec::FloatBadger;
            FloatEncoding::Fixed(kept) => keyplan_codec::Fixed { decimals: kept };
            FloatEncoding::Tuple => keyplan_codec::TupleFloat;
        }
    };
}

/// The same of times.
macro_rules! time_codecs {
    ($then:ident $given:tt) => {
        $then! { $given
            TimeEncoding::Text9 => keyplan_codec::TimeText9;
            TimeEncoding::Nanos => keyplan_codec::TimeNanos;
        }
    };
}

/// The same of nibble paths, of which `lengths` are allowed. A `plain` codec reads them as they are, a `coded` one by a view, and a
/// `marked` one also knows where they end.
macro_rules! nibble_codecs {
    ($then:ident $given:tt) => {
        $then! { $given [lengths]
            NibbleEncoding::Unpacked => plain(keyplan_codec::Nibbles { lengths });
            NibbleEncoding::Packed => coded(keyplan_codec::PackedNibbles { lengths });
            NibbleEncoding::HexPrefix => coded(keyplan_codec::HexPrefix { lengths });
            NibbleEncoding::Counted => marked(keyplan_codec::CountedNibbles { lengths });
        }
    };
}

/// The same of scores: the codec of all of them, and the one of those in blocks of some `heights`. A `place` is read as a place in the
/// chain, a `float` as the float that is written for it.
macro_rules! score_codecs {
    ($then:ident $given:tt) => {
        $then! { $given
            ScoreEncoding::Exact => place(ScoreExact, ScoreWithin);
            ScoreEncoding::HeightScore => float(HeightScore, HeightScoreWithin);
        }
    };
}

/// The same of byte strings, of which `lengths` are allowed.
///
/// A `plain` codec reads them as they are, a `coded` one by a view; without a length of their own they end where something else
/// begins. What is `wide` has only one length, what is `cut` is not written whole, and what is `marked` says in its bytes where it
/// ends: these codecs know no lengths.
macro_rules! bytes_codecs {
    ($then:ident $given:tt) => {
        $then! { $given [lengths]
            BytesEncoding::Raw => plain(keyplan_codec::Bytes { lengths });
            BytesEncoding::Class(class) => plain(keyplan_codec::ByteClass { class, lengths });
            BytesEncoding::Hex(case) => coded(keyplan_codec::HexBytes { case, lengths });
            BytesEncoding::Bech32(ref hrp) => coded(keyplan_codec::Bech32 { hrp, lengths });
            BytesEncoding::Base58 { check } => coded(keyplan_codec::Base58 { check, lengths });
            BytesEncoding::Wide { form, .. } => wide(keyplan_codec::Wide { form });
            BytesEncoding::Fit(width) => cut(keyplan_codec::Fit { width });
            BytesEncoding::Tuple => marked(keyplan_codec::TupleBytes);
        }
    };
}

/// The same of frames. After a `prefix` the contents are as they are, `coded` ones are read by a view.
macro_rules! frame_codecs {
    ($then:ident $given:tt) => {
        $then! { $given
            Frame::Len(width) => prefix(keyplan_codec::LenPrefix { width });
            Frame::Terminated => coded(keyplan_codec::Terminated);
            Frame::Escaped => coded(keyplan_codec::Escaped);
            Frame::Memcmp => coded(keyplan_codec::Memcmp);
            Frame::OrderedCode => coded(keyplan_codec::OrderedCode);
        }
    };
}

pub(crate) use {
    bool_codecs, bytes_codecs, float_codecs, frame_codecs, nibble_codecs, score_codecs, signed_codecs,
    time_codecs, unsigned_codecs,
};

macro_rules! nibbles_spelled {
    ({ $encoding:expr } $names:tt $($pattern:pat => $kind:ident($codec:expr);)*) => {
        match $encoding {
            $($pattern => stringify!($codec),)*
        }
    };
}

macro_rules! scores_spelled {
    ($given:tt $($form:path => $kind:ident($any:ident, $within:ident);)*) => {
        /// The codecs of scores: that of all of them, and that of those in blocks of some heights.
        #[doc(hidden)]
        pub const CODECS: &[[&str; 2]] = &[$([stringify!($any), stringify!($within)]),*];

        /// The codec, without heights and with them.
        #[doc(hidden)]
        pub const fn codecs(self) -> [&'static str; 2] {
            match self {
                $($form => [stringify!($any), stringify!($within)],)*
            }
        }

        /// Whether what is read is the float that was written for a score, and not its place in the chain.
        pub const fn is_float(self) -> bool {
            match self {
                $($form => scores_spelled!(kind $kind),)*
            }
        }
    };
    (kind float) => { true };
    (kind place) => { false };
}

macro_rules! bytes_spelled {
    ({ $encoding:expr } $names:tt $($pattern:pat => $kind:ident($codec:expr);)*) => {
        match *$encoding {
            $($pattern => (bytes_spelled!($kind), stringify!($codec)),)*
        }
    };
    (plain) => { BytesCodec::Plain };
    (coded) => { BytesCodec::Coded };
    (wide) => { BytesCodec::Wide };
    (cut) => { BytesCodec::Cut };
    (marked) => { BytesCodec::Marked };
}

macro_rules! frames_spelled {
    ({ $encoding:expr } $($pattern:pat => $kind:ident($codec:expr);)*) => {
        match $encoding {
            $($pattern => stringify!($codec),)*
        }
    };
}

macro_rules! spelled {
    ({ $encoding:expr } $($pattern:pat => $codec:expr;)*) => {
        match $encoding {
            $($pattern => stringify!($codec),)*
        }
    };
}

macro_rules! written {
    ({ $pair:expr } $names:tt $($pattern:pat => $kind:ident($($codec:expr)?);)*) => {
        match $pair {
            $($pattern => written!(one $($codec)?),)*
        }
    };
    (one) => { None };
    (one $codec:expr) => { Some(stringify!($codec)) };
}

impl IntShape {
    /// The codec, as the table writes it; none if it has none of its own type.
    #[doc(hidden)]
    #[expect(unused_variables, reason = "the codec is written down and not made")]
    pub fn codec(&self) -> Option<&'static str> {
        let pair = (self.encoding, self.ty.is_narrow());
        if self.ty.signed { signed_codecs!(written { pair }) } else { unsigned_codecs!(written { pair }) }
    }
}

impl BoolEncoding {
    /// The codec, as the table writes it.
    #[doc(hidden)]
    pub fn codec(self) -> &'static str {
        bool_codecs!(spelled { self })
    }
}

impl FloatEncoding {
    /// The codec, as the table writes it.
    #[doc(hidden)]
    #[expect(unused_variables, reason = "the codec is written down and not made")]
    pub fn codec(self) -> &'static str {
        float_codecs!(spelled { self })
    }

    /// The number in its brackets.
    pub fn number(&self) -> Option<usize> {
        number(self.parts().1)
    }
}

impl TimeEncoding {
    /// The codec, as the table writes it.
    #[doc(hidden)]
    pub fn codec(self) -> &'static str {
        time_codecs!(spelled { self })
    }
}

impl NibbleEncoding {
    /// The codec, as the table writes it.
    #[doc(hidden)]
    pub fn codec(self) -> &'static str {
        nibble_codecs!(nibbles_spelled { self })
    }

    /// How many bytes so many nibbles take.
    pub(super) fn width(self, nibbles: usize) -> usize {
        match self {
            Self::Unpacked => nibbles,
            Self::Packed => nibbles.div_ceil(2),
            Self::HexPrefix => nibbles / 2 + 1,
            Self::Counted => nibbles.min(Self::COUNTED).div_ceil(2) + 1,
        }
    }

    /// The most nibbles that it can write; `None` without a limit.
    pub fn most(self) -> Option<usize> {
        (self == Self::Counted).then_some(Self::COUNTED)
    }

    const COUNTED: usize = 255;
}

impl ScoreEncoding {
    score_codecs!(scores_spelled {});
}

/// What a codec of byte strings knows, and how it gives them.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BytesCodec {
    /// As they are, and their lengths are known to it.
    Plain,
    /// By a view, and their lengths are known to it.
    Coded,
    /// By a view, and all have one length.
    Wide,
    /// As they are, but not whole.
    Cut,
    /// By a view, and their bytes say where they end.
    Marked,
}

impl BytesEncoding {
    /// The codec, as the table writes it, and of which kind it is.
    #[doc(hidden)]
    #[expect(unused_variables, reason = "the codec is written down and not made")]
    pub fn codec(&self) -> (BytesCodec, &'static str) {
        bytes_codecs!(bytes_spelled { self })
    }

    /// The number in its brackets, which is a count of bytes.
    pub fn number(&self) -> Option<usize> {
        number(self.parts().1)
    }

    /// The text in its brackets.
    pub fn text(&self) -> Option<&str> {
        match self.parts().1 {
            Some(Part::Text(text)) => Some(text),
            Some(Part::Number(_)) | None => None,
        }
    }

    /// The least and the greatest number of bytes that so many bytes are written as.
    pub(super) fn width(&self, bytes: usize) -> (usize, usize) {
        let always = |width: usize| (width, width);
        match self {
            Self::Raw | Self::Class(_) => always(bytes),
            Self::Hex(_) => always(bytes.saturating_mul(2)),
            // The prefix, `1`, five bits per character, and six characters of checksum.
            Self::Bech32(prefix) => {
                always(prefix.len().saturating_add(1 + 6).saturating_add(bytes.saturating_mul(8).div_ceil(5)))
            }
            Self::Base58 { check } => {
                Base58 { check: *check, lengths: keyplan_codec::Lengths::ANY }.text_lengths(bytes)
            }
            Self::Wide { .. } => always(32),
            Self::Fit(width) => always(*width),
            Self::Tuple => (bytes.saturating_add(2), bytes.saturating_mul(2).saturating_add(2)),
        }
    }

    /// The most bytes that it can write; `None` without a limit.
    pub const fn most(&self) -> Option<usize> {
        match self {
            Self::Bech32(_) => Some(633),
            Self::Base58 { .. } => Some(Base58::MOST),
            _ => None,
        }
    }
}

impl Frame {
    /// The codec, as the table writes it.
    #[doc(hidden)]
    #[expect(unused_variables, reason = "the codec is written down and not made")]
    pub fn codec(self) -> &'static str {
        frame_codecs!(frames_spelled { self })
    }

    /// The least and the greatest number of bytes that contents of so many bytes are written as, a length before them aside.
    pub(super) fn width(self, bytes: usize) -> (usize, usize) {
        let doubled = bytes.saturating_mul(2);
        match self {
            Self::Len(_) => (bytes, bytes),
            Self::Terminated | Self::OrderedCode => (bytes.saturating_add(2), doubled.saturating_add(2)),
            Self::Escaped => (bytes.saturating_add(1), doubled.saturating_add(1)),
            Self::Memcmp => {
                let groups = (bytes / 8).saturating_add(1).saturating_mul(9);
                (groups, groups)
            }
        }
    }

    /// The most bytes that its contents may have; the greatest number without a limit.
    pub fn longest(self) -> usize {
        if let Self::Len(width) = self { width.limit() } else { usize::MAX }
    }

    /// The byte that must not come after it, since its end would then be the front of something else.
    pub const fn must_not_precede(self) -> Option<u8> {
        match self {
            Self::Escaped => Some(0xff),
            Self::Len(_) | Self::Terminated | Self::Memcmp | Self::OrderedCode => None,
        }
    }

    /// Whether it sorts as its contents do, whatever comes after it.
    pub fn sorts_before_anything(self) -> bool {
        self.row().order == Within && self.must_not_precede().is_none()
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
        number(self.parts().1)
    }
}

fn number(part: Option<Part<'_>>) -> Option<usize> {
    match part {
        Some(Part::Number(number)) => Some(number),
        Some(Part::Text(_)) | None => None,
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
