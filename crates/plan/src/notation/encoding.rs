//! Encodings in the words of the plan language.

use crate::model::{
    BoolEncoding, BytesEncoding, FloatEncoding, Frame, Framing, IntEncoding, NibbleEncoding, ScoreEncoding,
    Shape, TimeEncoding,
};
use keyplan_codec::{Case, LenWidth, WideForm};

/// The encodings of a shape, in the order in which they are applied; none if it is the default.
pub fn encodings(shape: &Shape) -> Vec<String> {
    let one = |name: &str| vec![name.to_owned()];
    match shape {
        Shape::Int(int) => int_encoding(int.encoding).into_iter().collect(),
        Shape::Bool(BoolEncoding::Tuple) | Shape::Float(FloatEncoding::Tuple) => one("tuple"),
        Shape::Float(FloatEncoding::Ordered) => one("ordered"),
        Shape::Float(FloatEncoding::Badger) => one("badger"),
        Shape::Float(FloatEncoding::Fixed(decimals)) => vec![format!("fixed({decimals})")],
        Shape::Time(TimeEncoding::Nanos) => one("nanos"),
        Shape::Score(ScoreEncoding::HeightScore) => one("height_score"),
        Shape::Bytes { encoding, .. } => match encoding {
            BytesEncoding::Raw | BytesEncoding::Class(_) => Vec::new(),
            BytesEncoding::Hex(case) => one(hex_name(*case)),
            BytesEncoding::Bech32(hrp) => vec![format!("bech32({hrp:?})")],
            BytesEncoding::Base58 { check: false } => one("base58"),
            BytesEncoding::Base58 { check: true } => one("base58check"),
            BytesEncoding::Wide { form, .. } => match form {
                WideForm::Be => Vec::new(),
                WideForm::Le => one("le"),
                WideForm::SignFlip => one("signflip"),
            },
            BytesEncoding::Fit(width) => vec![format!("fit({width})")],
            BytesEncoding::Tuple => one("tuple"),
        },
        Shape::Text(text) => {
            let quoted: Vec<String> = text.except.texts().iter().map(|text| format!("{text:?}")).collect();
            let except = (!quoted.is_empty()).then(|| format!("except({})", quoted.join(", ")));
            except.into_iter().chain(text.tuple.then(|| "tuple".to_owned())).collect()
        }
        Shape::Nibbles { encoding: NibbleEncoding::Packed, .. } => one("packed"),
        Shape::Nibbles { encoding: NibbleEncoding::HexPrefix, .. } => one("hex_prefix"),
        Shape::Nibbles { encoding: NibbleEncoding::Counted, .. } => one("counted"),
        Shape::List { framing, .. } => match framing {
            Framing::ToEnd => Vec::new(),
            Framing::Joined(separator) => vec![format!("joined(\"{}\")", super::escaped(separator))],
            Framing::Counted(width) => one(count_name(*width)),
        },
        Shape::Framed { frame, inner } => then(inner, frame_name(*frame).to_owned()),
        Shape::Desc(inner) => then(inner, "desc".to_owned()),
        Shape::Hashed { hash, keep, inner, .. } => {
            then(inner, format!("hashed({})", hash_args(hash.name(), hash.width(), *keep)))
        }
        Shape::HashConcat { hash, keep, inner } => {
            then(inner, format!("hash_concat({})", hash_args(hash.name(), hash.width(), *keep)))
        }
        Shape::Bool(_)
        | Shape::Float(_)
        | Shape::Time(_)
        | Shape::Score(_)
        | Shape::Nibbles { .. }
        | Shape::Opaque(_)
        | Shape::Record(_)
        | Shape::Choice(_)
        | Shape::Option(_) => Vec::new(),
    }
}

fn then(inner: &Shape, name: String) -> Vec<String> {
    let mut all = encodings(inner);
    all.push(name);
    all
}

fn hash_args(name: &str, width: usize, keep: usize) -> String {
    if keep == width { name.to_owned() } else { format!("{name}, {keep}") }
}

fn int_encoding(encoding: IntEncoding) -> Option<String> {
    Some(match encoding {
        IntEncoding::Be => return None,
        IntEncoding::Le => "le".to_owned(),
        IntEncoding::SignFlip => "signflip".to_owned(),
        IntEncoding::Tick9 => "tick9".to_owned(),
        IntEncoding::Dec => "dec".to_owned(),
        IntEncoding::DecPadded(width) => format!("dec({width})"),
        IntEncoding::Hex(case) => hex_name(case).to_owned(),
        IntEncoding::HexPadded(case, width) => format!("{}({width})", hex_name(case)),
        IntEncoding::Leb128 => "leb128".to_owned(),
        IntEncoding::OrdVar => "ordvar".to_owned(),
        IntEncoding::BitcoinVarint => "bitcoin_varint".to_owned(),
        IntEncoding::CompactSize => "compact_size".to_owned(),
        IntEncoding::ScaleCompact => "scale_compact".to_owned(),
        IntEncoding::OrderedCode => "orderedcode".to_owned(),
        IntEncoding::Saturating => "saturating".to_owned(),
        IntEncoding::Tuple => "tuple".to_owned(),
    })
}

fn hex_name(case: Case) -> &'static str {
    match case {
        Case::Lower => "hex",
        Case::Upper => "HEX",
    }
}

fn frame_name(frame: Frame) -> &'static str {
    match frame {
        Frame::Len(LenWidth::L8) => "len8",
        Frame::Len(LenWidth::L16) => "len16",
        Frame::Len(LenWidth::L32) => "len32",
        Frame::Len(LenWidth::L64) => "len64",
        Frame::Len(LenWidth::L16Le) => "len16le",
        Frame::Len(LenWidth::L32Le) => "len32le",
        Frame::Len(LenWidth::L64Le) => "len64le",
        Frame::Len(LenWidth::Varint) => "varlen",
        Frame::Len(LenWidth::Compact) => "compactlen",
        Frame::Len(LenWidth::Scale) => "scalelen",
        Frame::Terminated => "terminated",
        Frame::Escaped => "escaped",
        Frame::Memcmp => "memcmp",
        Frame::OrderedCode => "orderedcode",
    }
}

fn count_name(width: LenWidth) -> &'static str {
    match width {
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
    }
}
