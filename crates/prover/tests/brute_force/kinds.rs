//! Which kinds of segments a plan has.

use std::collections::BTreeMap;

use keyplan_plan::codec::LenWidth;
use keyplan_plan::model::{
    BoolEncoding, BytesEncoding, Derivation, Family, FloatEncoding, Frame, Framing, IntEncoding,
    NibbleEncoding, ScanEnd, ScoreEncoding, Segment, Sequence, Shape, TimeEncoding,
};

/// Every kind, by the name that [`count`] gives it.
pub(crate) const KINDS: &[&str] = &[
    "literal",
    "same",
    "derived",
    "scan by part",
    "scan all",
    "scan in order",
    "bare",
    "with",
    "filtered",
    "own",
    "to next",
    "to",
    "through",
    "shown",
    "named",
    "as",
    "accept",
    "be",
    "le",
    "signflip",
    "tick9",
    "dec",
    "dec padded",
    "hex",
    "hex padded",
    "leb128",
    "ordvar",
    "bitcoin_varint",
    "compact_size",
    "scale_compact",
    "int orderedcode",
    "narrow",
    "saturating",
    "low",
    "high",
    "float",
    "int tuple",
    "bool",
    "bool tuple",
    "f64",
    "ordered",
    "badger",
    "fixed",
    "float tuple",
    "time",
    "nanos",
    "score",
    "height_score",
    "bytes",
    "bytes hex",
    "bech32",
    "base58",
    "base58check",
    "256 bits",
    "fit",
    "bytes tuple",
    "text",
    "text first",
    "text utf-8",
    "text tuple",
    "nibbles",
    "packed",
    "hex_prefix",
    "nibbles counted",
    "byte class",
    "except",
    "raw",
    "record",
    "choice",
    "option",
    "list",
    "joined",
    "counted",
    "len",
    "terminated",
    "escaped",
    "memcmp",
    "orderedcode",
    "desc",
    "hashed",
    "hash_concat",
];

/// What a name of [`KINDS`] does not tell: the forms of lengths and counts, and the hash functions.
pub(crate) const FORMS: &[&str] = &[
    "len8",
    "len16",
    "len32",
    "len64",
    "len16le",
    "len32le",
    "len64le",
    "varlen",
    "compactlen",
    "scalelen",
    "count8",
    "count16",
    "count32",
    "count64",
    "count16le",
    "count32le",
    "count64le",
    "varcount",
    "compactcount",
    "scalecount",
    "xxh3_64",
    "twox_64",
    "twox_128",
    "blake2b_128",
    "blake2b_256",
    "sha256",
    "keccak256",
    "blake2b_224",
    "hash160",
    "siphash_24",
    "derived by crc16",
    "derived by crc32",
    "derived by xxh3_64",
    "derived by twox_64",
    "derived from two",
    "derived as another number",
    "same in another encoding",
    "an alternative without a name",
    "with a module",
];

/// Counts the kinds of a family's scans.
pub(crate) fn count_scans(family: &Family, counts: &mut BTreeMap<&'static str, usize>) {
    for scan in &family.scans {
        let mut note = |kind: &'static str, is: bool| *counts.entry(kind).or_default() += usize::from(is);
        note("scan by part", scan.part.is_some());
        note("scan all", scan.bound == 0 && scan.part.is_none());
        note("scan in order", scan.in_order);
        note("bare", scan.bare);
        note("with", !scan.with.is_empty());
        note("with a module", scan.with.iter().any(|company| !company.families.contains(&company.path)));
        note("filtered", scan.filtered);
        note("own", scan.own);
        match &scan.end {
            ScanEnd::Prefix => {}
            ScanEnd::Next => note("to next", true),
            ScanEnd::Before(_) => note("to", true),
            ScanEnd::Through(_) => note("through", true),
        }
    }
}

/// The form of a length, a count, or a hash.
fn form(shape: &Shape) -> Option<&'static str> {
    Some(match shape {
        Shape::Framed { frame: Frame::Len(width), .. } => match width {
            LenWidth::L8 => "len8",
            LenWidth::L16 => "len16",
            LenWidth::L32 => "len32",
            LenWidth::L64 => "len64",
            LenWidth::L16Le => "len16le",
            LenWidth::L32Le => "len32le",
            LenWidth::L64Le => "len64le",
            LenWidth::Varint => "varlen",
            LenWidth::Compact => "compactlen",
            LenWidth::Scale => "scalelen",
        },
        Shape::List { framing: Framing::Counted(width), .. } => match width {
            LenWidth::L8 => "count8",
            LenWidth::L16 => "count16",
            LenWidth::L32 => "count32",
            LenWidth::L64 => "count64",
            LenWidth::L16Le => "count16le",
            LenWidth::L32Le => "count32le",
            LenWidth::L64Le => "count64le",
            LenWidth::Varint => "varcount",
            LenWidth::Compact => "compactcount",
            LenWidth::Scale => "scalecount",
        },
        Shape::Hashed { hash, .. } | Shape::HashConcat { hash, .. } => hash.name(),
        _ => return None,
    })
}

/// Counts the kinds of a layout's segments.
pub(crate) fn count(sequence: &Sequence, counts: &mut BTreeMap<&'static str, usize>) {
    for segment in sequence.segments() {
        match segment {
            Segment::Literal(_) => *counts.entry("literal").or_default() += 1,
            Segment::Same(same) => {
                *counts.entry("same").or_default() += 1;
                let of = sequence.segments().get(same.of);
                if matches!(of, Some(Segment::Argument(argument)) if argument.shape != same.shape) {
                    *counts.entry("same in another encoding").or_default() += 1;
                }
            }
            Segment::Derived(derived) => {
                if derived.of.len() > 1 {
                    *counts.entry("derived from two").or_default() += 1;
                }
                if derived.shape.encoding != IntEncoding::Be {
                    *counts.entry("derived as another number").or_default() += 1;
                }
                *counts.entry("derived").or_default() += 1;
                *counts.entry(function(derived.function)).or_default() += 1;
            }
            Segment::Argument(argument) => count_shape(&argument.shape, counts),
        }
    }
}

fn function(function: Derivation) -> &'static str {
    match function {
        Derivation::Crc16 => "derived by crc16",
        Derivation::Crc32 => "derived by crc32",
        Derivation::Xxh3 => "derived by xxh3_64",
        Derivation::Twox => "derived by twox_64",
    }
}

fn count_shape(shape: &Shape, counts: &mut BTreeMap<&'static str, usize>) {
    *counts.entry(kind(shape)).or_default() += 1;
    if let Some(form) = form(shape) {
        *counts.entry(form).or_default() += 1;
    }
    match shape {
        Shape::Record(sequence) => count(sequence, counts),
        Shape::Choice(alternatives) => {
            for alternative in alternatives {
                if alternative.sequence.arguments().any(|argument| argument.name.is_none()) {
                    *counts.entry("an alternative without a name").or_default() += 1;
                }
                count(&alternative.sequence, counts);
            }
        }
        Shape::Option(inner)
        | Shape::List { item: inner, .. }
        | Shape::Framed { inner, .. }
        | Shape::Desc(inner)
        | Shape::Hashed { inner, .. }
        | Shape::HashConcat { inner, .. } => count_shape(inner, counts),
        _ => {}
    }
}

fn kind(shape: &Shape) -> &'static str {
    match shape {
        Shape::Int(int) => match int.encoding {
            IntEncoding::Be | IntEncoding::Le if int.ty.is_narrow() => "narrow",
            IntEncoding::Be => "be",
            IntEncoding::Le => "le",
            IntEncoding::SignFlip => "signflip",
            IntEncoding::Tick9 => "tick9",
            IntEncoding::Dec => "dec",
            IntEncoding::DecPadded(_) => "dec padded",
            IntEncoding::Hex(_) => "hex",
            IntEncoding::HexPadded(..) => "hex padded",
            IntEncoding::Leb128 => "leb128",
            IntEncoding::OrdVar => "ordvar",
            IntEncoding::BitcoinVarint => "bitcoin_varint",
            IntEncoding::CompactSize => "compact_size",
            IntEncoding::ScaleCompact => "scale_compact",
            IntEncoding::OrderedCode => "int orderedcode",
            IntEncoding::Saturating => "saturating",
            IntEncoding::Low(_) => "low",
            IntEncoding::High(_) => "high",
            IntEncoding::Float => "float",
            IntEncoding::Tuple => "int tuple",
        },
        Shape::Bool(BoolEncoding::Byte) => "bool",
        Shape::Bool(BoolEncoding::Tuple) => "bool tuple",
        Shape::Float(FloatEncoding::Bits) => "f64",
        Shape::Float(FloatEncoding::Ordered) => "ordered",
        Shape::Float(FloatEncoding::Badger) => "badger",
        Shape::Float(FloatEncoding::Fixed(_)) => "fixed",
        Shape::Float(FloatEncoding::Tuple) => "float tuple",
        Shape::Time(TimeEncoding::Text9) => "time",
        Shape::Time(TimeEncoding::Nanos) => "nanos",
        Shape::Score { encoding: ScoreEncoding::Exact, .. } => "score",
        Shape::Score { encoding: ScoreEncoding::HeightScore, .. } => "height_score",
        Shape::Bytes { encoding, .. } => match encoding {
            BytesEncoding::Raw => "bytes",
            BytesEncoding::Class(_) => "byte class",
            BytesEncoding::Hex(_) => "bytes hex",
            BytesEncoding::Bech32(_) => "bech32",
            BytesEncoding::Base58 { check: false } => "base58",
            BytesEncoding::Base58 { check: true } => "base58check",
            BytesEncoding::Wide { .. } => "256 bits",
            BytesEncoding::Fit(_) => "fit",
            BytesEncoding::Tuple => "bytes tuple",
        },
        Shape::Text(text) if !text.except.is_empty() => "except",
        Shape::Text(text) if text.tuple => "text tuple",
        Shape::Text(text) if text.first.is_some() => "text first",
        Shape::Text(text) if text.alphabet.beyond_ascii() => "text utf-8",
        Shape::Text(_) => "text",
        Shape::Nibbles { encoding, .. } => match encoding {
            NibbleEncoding::Unpacked => "nibbles",
            NibbleEncoding::Packed => "packed",
            NibbleEncoding::HexPrefix => "hex_prefix",
            NibbleEncoding::Counted => "nibbles counted",
        },
        Shape::Opaque(_) => "raw",
        Shape::Record(_) => "record",
        Shape::Choice(_) => "choice",
        Shape::Option(_) => "option",
        Shape::List { framing, .. } => match framing {
            Framing::ToEnd => "list",
            Framing::Joined(_) => "joined",
            Framing::Counted(_) => "counted",
        },
        Shape::Framed { frame, .. } => match frame {
            Frame::Len(_) => "len",
            Frame::Terminated => "terminated",
            Frame::Escaped => "escaped",
            Frame::Memcmp => "memcmp",
            Frame::OrderedCode => "orderedcode",
        },
        Shape::Desc(_) => "desc",
        Shape::Hashed { .. } => "hashed",
        Shape::HashConcat { .. } => "hash_concat",
    }
}
