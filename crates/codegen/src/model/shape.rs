//! Layouts and shapes as JSON.

use keyplan_codec::{Alphabet, LenWidth};
use keyplan_plan::model::{
    BytesEncoding, Extent, FloatEncoding, Frame, Framing, IntRange, IntShape, LengthSet, Opaque, Segment,
    Sequence, Shape, TextShape,
};
use keyplan_plan::program::{End, Program};
use serde_json::{Value as Json, json};

use super::hex;

/// A layout: its segments, each with the place where it ends.
pub(super) fn sequence(sequence: &Sequence) -> Json {
    let steps = Program::of(sequence).steps;
    Json::Array(steps.iter().map(|step| segment(step.segment, step.end)).collect())
}

fn segment(segment: &Segment, end: End) -> Json {
    let end = match end {
        End::Fixed(size) => json!({"kind": "fixed", "size": size}),
        End::Marked => json!({"kind": "marked"}),
        End::Rest => json!({"kind": "rest"}),
        End::Run => json!({"kind": "run"}),
        End::Tried => json!({"kind": "tried"}),
    };
    match segment {
        Segment::Literal(literal) => {
            let hashed =
                literal.hashed.as_ref().map(|(hash, of)| json!({"function": hash.name(), "of": hex(of)}));
            json!({"kind": "literal", "end": end, "bytes": hex(&literal.bytes), "spelling": literal.spelling, "hashed": hashed})
        }
        Segment::Argument(argument) => json!({
            "kind": "argument", "end": end, "name": argument.name, "type": argument.type_name, "doc": argument.doc,
            "shape": shape(&argument.shape),
        }),
        Segment::Same(same) => {
            json!({"kind": "same", "end": end, "name": same.name, "of": same.of, "shape": shape(&same.shape)})
        }
        Segment::Derived(derived) => json!({
            "kind": "derived", "end": end, "name": derived.name, "function": derived.function.name(), "of": derived.of,
            "modulus": derived.modulus.map(|modulus| modulus.to_string()), "shape": int(&derived.shape),
        }),
    }
}

/// A shape: what values there are, and their bytes.
pub(super) fn shape(of: &Shape) -> Json {
    match of {
        Shape::Int(of) => int(of),
        Shape::Bool(encoding) => json!({"kind": "bool", "encoding": encoding.row().tag}),
        Shape::Float(FloatEncoding::Fixed(decimals)) => {
            json!({"kind": "float", "encoding": "fixed", "decimals": decimals})
        }
        Shape::Float(encoding) => json!({"kind": "float", "encoding": encoding.row().word}),
        Shape::Time(encoding) => json!({"kind": "time", "encoding": encoding.row().word}),
        Shape::Score { heights: None, encoding } => {
            json!({"kind": "score", "encoding": encoding.row().word})
        }
        Shape::Score { heights: Some(heights), encoding } => json!({
            "kind": "score", "encoding": encoding.row().word,
            "heights": {"min": heights.least, "max": heights.most},
        }),
        Shape::Bytes { lengths: of, encoding } => {
            let lengths = lengths(of);
            match encoding {
                BytesEncoding::Class(class) => {
                    json!({"kind": "bytes", "lengths": lengths, "encoding": "raw", "alphabet": alphabet(class)})
                }
                BytesEncoding::Wide { signed, .. } => {
                    let ty = if *signed { "i256" } else { "u256" };
                    json!({"kind": "wide", "type": ty, "encoding": encoding.row().word})
                }
                encoding => {
                    let word = encoding.row().word;
                    match (encoding.number(), encoding.text()) {
                        (Some(width), _) => {
                            json!({"kind": "bytes", "lengths": lengths, "encoding": word, "width": width})
                        }
                        (None, Some(hrp)) => {
                            json!({"kind": "bytes", "lengths": lengths, "encoding": word, "hrp": hrp})
                        }
                        (None, None) => json!({"kind": "bytes", "lengths": lengths, "encoding": word}),
                    }
                }
            }
        }
        Shape::Text(text) => of_text(text),
        Shape::Nibbles { lengths: of, encoding } => {
            let row = encoding.row();
            let encoding = if row.word.is_empty() { row.tag } else { row.word };
            json!({"kind": "nibbles", "lengths": lengths(of), "encoding": encoding})
        }
        Shape::Opaque(Opaque::Coded(coded)) => {
            json!({"kind": "opaque", "codec": coded.codec.word(), "type": shape(&coded.shape)})
        }
        Shape::Opaque(opaque) => json!({"kind": "opaque", "codec": opaque.name()}),
        Shape::Record(of) => json!({"kind": "record", "segments": sequence(of)}),
        Shape::Choice(alternatives) => json!({
            "kind": "choice",
            "alternatives": alternatives.iter().map(|one| json!({
                "label": one.label, "doc": one.doc, "segments": sequence(&one.sequence),
            })).collect::<Vec<_>>(),
        }),
        Shape::Option(inner) => json!({"kind": "option", "inner": shape(inner)}),
        Shape::List { item, counts, framing } => {
            let framing = match framing {
                Framing::ToEnd => json!({"kind": "to_end"}),
                Framing::Joined(separator) => json!({"kind": "joined", "separator": hex(separator)}),
                Framing::Counted(width) => json!({"kind": "counted", "width": len_word(*width)}),
            };
            json!({"kind": "list", "counts": lengths(counts), "framing": framing, "inner": shape(item)})
        }
        Shape::Framed { frame, inner } => {
            let frame = match frame {
                Frame::Len(width) => json!({"kind": "length", "width": len_word(*width)}),
                frame => json!({"kind": frame.row().word}),
            };
            json!({"kind": "framed", "frame": frame, "inner": shape(inner)})
        }
        Shape::Desc(inner) => json!({"kind": "desc", "inner": shape(inner)}),
        Shape::Hashed { hash, keep, inner, known } => json!({
            "kind": "hashed", "function": hash.name(), "keep": keep, "inner": shape(inner),
            "known": known.iter().map(|(digest, name)| json!({"digest": hex(digest), "name": name.text})).collect::<Vec<_>>(),
        }),
        Shape::HashConcat { hash, keep, inner } => {
            json!({"kind": "hash_concat", "function": hash.name(), "keep": keep, "inner": shape(inner)})
        }
    }
}

fn int(int: &IntShape) -> Json {
    let (min, max) = match int.range {
        IntRange::Unsigned { min, max } => (min.to_string(), max.to_string()),
        IntRange::Signed { min, max } => (min.to_string(), max.to_string()),
    };
    let (encoding, width) = (int.encoding.row().word, int.encoding.number());
    let size = match Extent::of_int(int) {
        Extent::Fixed(size) => Some(size),
        Extent::Delimited | Extent::Open => None,
    };
    json!({"kind": "int", "type": int.ty.name(), "min": min, "max": max, "encoding": encoding, "width": width, "size": size})
}

fn of_text(text: &TextShape) -> Json {
    json!({
        "kind": "text",
        "lengths": lengths(&text.lengths),
        "alphabet": alphabet(&text.alphabet),
        "first": text.first.as_ref().map(alphabet),
        "except": text.except.texts(),
        "names": text.names.as_ref().map(|set| set.name.clone()),
        "encoding": if text.tuple { "tuple" } else { "raw" },
    })
}

/// The bytes that texts are made of, as ranges; all of UTF-8 is one range from 0 to 255.
fn alphabet(alphabet: &Alphabet) -> Json {
    let mut ranges: Vec<(u8, u8)> = Vec::new();
    for byte in (0..=255).filter(|byte| alphabet.contains(*byte)) {
        match ranges.last_mut() {
            Some((_, last)) if u16::from(*last) + 1 == u16::from(byte) => *last = byte,
            _ => ranges.push((byte, byte)),
        }
    }
    Json::Array(ranges.into_iter().map(|(first, last)| json!([first, last])).collect())
}

fn lengths(lengths: &LengthSet) -> Json {
    match lengths {
        LengthSet::Range { min, .. } => json!({"min": min, "max": lengths.max()}),
        LengthSet::OneOf(of) => json!({"one_of": of}),
    }
}

/// How a length is written: `8`, `16le`, `varint`.
fn len_word(width: LenWidth) -> String {
    let tag = Frame::Len(width).row().tag;
    let first = tag.split_once(' ').map_or(tag, |(first, _)| first);
    if width.is_little_endian() { format!("{first}le") } else { first.to_owned() }
}
