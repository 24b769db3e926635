//! Encodings in the words of the plan language.

use crate::model::table::{self, Encoding, Part};
use crate::model::{BytesEncoding, Framing, Shape};

/// The encodings of a shape, in the order in which they are applied; none if it is the default.
pub fn encodings(shape: &Shape) -> Vec<String> {
    match shape {
        _ if is_default(shape) => Vec::new(),
        Shape::Int(int) => vec![written(int.encoding.parts())],
        Shape::Bool(encoding) => vec![written(encoding.parts())],
        Shape::Float(encoding) => vec![written(encoding.parts())],
        Shape::Time(encoding) => vec![written(encoding.parts())],
        Shape::Score { encoding, .. } => vec![written(encoding.parts())],
        Shape::Bytes { encoding, .. } => vec![written(encoding.parts())],
        Shape::Nibbles { encoding, .. } => vec![written(encoding.parts())],
        Shape::Text(text) => {
            let quoted: Vec<String> = text.except.texts().iter().map(|text| format!("{text:?}")).collect();
            let except =
                (!quoted.is_empty()).then(|| format!("{}({})", table::EXCEPT.word, quoted.join(", ")));
            except.into_iter().chain(text.tuple.then(|| text.row().word.to_owned())).collect()
        }
        Shape::List { framing: Framing::Joined(separator), .. } => {
            vec![format!("joined(\"{}\")", super::escaped(separator))]
        }
        Shape::List { framing, .. } => vec![written(framing.parts())],
        Shape::Framed { frame, inner } => then(inner, written(frame.parts())),
        Shape::Desc(inner) => then(inner, table::DESC.word.to_owned()),
        Shape::Hashed { hash, keep, inner, .. } => {
            let of = hash_args(hash.name(), hash.width(), *keep);
            then(inner, format!("{}({of})", table::HASHED.word))
        }
        Shape::HashConcat { hash, keep, inner } => {
            let of = hash_args(hash.name(), hash.width(), *keep);
            then(inner, format!("{}({of})", table::HASH_CONCAT.word))
        }
        Shape::Opaque(_) | Shape::Record(_) | Shape::Choice(_) | Shape::Option(_) => Vec::new(),
    }
}

/// Whether a shape has what its domain is written as without a word.
fn is_default(shape: &Shape) -> bool {
    match shape {
        Shape::Text(_) => false,
        Shape::Bytes { encoding: BytesEncoding::Class(_), .. }
        | Shape::List { framing: Framing::ToEnd, .. } => true,
        shape => shape.is_plain(),
    }
}

/// An encoding with what is in its brackets.
fn written((row, part): (&Encoding, Option<Part<'_>>)) -> String {
    match part {
        Some(Part::Number(number)) => format!("{}({number})", row.word),
        Some(Part::Text(text)) => format!("{}({text:?})", row.word),
        None => row.word.to_owned(),
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
