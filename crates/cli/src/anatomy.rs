//! Which bytes of a key belong to which of its segments.

use keyplan_plan::dynamic::{Value, derive, encode_one};
use keyplan_plan::model::{Alternative, BytesEncoding, Framing, Segment, Sequence, Shape};

/// A stretch of a key that has one meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    /// How many bytes it has.
    pub(crate) len: usize,
    /// What kind of bytes they are.
    pub(crate) kind: PieceKind,
    /// What they stand for; empty where the bytes speak for themselves.
    pub(crate) label: String,
}

/// What kind of bytes a [`Piece`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PieceKind {
    /// Always the same.
    Literal,
    /// A length, a count, a hash or a derived value: there for another piece's sake.
    Mark,
    /// An argument.
    Value,
}

/// Splits the bytes of a layout with these arguments, records and choices taken apart.
///
/// `None` if the arguments do not fit the layout.
pub(crate) fn dissect(sequence: &Sequence, values: &[Value]) -> Option<Vec<Piece>> {
    let mut pieces = Pieces::default();
    pieces.sequence(sequence, values, "")?;
    Some(pieces.all)
}

#[derive(Default)]
struct Pieces {
    all: Vec<Piece>,
}

impl Pieces {
    fn push(&mut self, len: usize, kind: PieceKind, label: impl Into<String>) {
        self.all.push(Piece { len, kind, label: label.into() });
    }

    /// The segments in a row; `within` is the name of the argument that they make up, if any, and a dot.
    fn sequence(&mut self, sequence: &Sequence, values: &[Value], within: &str) -> Option<()> {
        for (index, segment) in sequence.segments().iter().enumerate() {
            let argument = sequence.arguments_before(index);
            match segment {
                Segment::Literal(literal) => {
                    self.push(literal.bytes.len(), PieceKind::Literal, literal_label(&literal.spelling));
                }
                Segment::Argument(argument_of) => {
                    let name = match &argument_of.name {
                        Some(name) => format!("{within}{name}"),
                        None => within.strip_suffix('.').unwrap_or("value").to_owned(),
                    };
                    self.shape(&argument_of.shape, values.get(argument)?, &name)?;
                }
                Segment::Same(same) => {
                    let value = values.get(sequence.arguments_before(same.of))?;
                    let len = width(&same.shape, value)?;
                    self.push(len, PieceKind::Mark, format!("{} again", same.name));
                }
                Segment::Derived(derived) => {
                    let mut bytes = Vec::new();
                    for &of in &derived.of {
                        let Some(Segment::Argument(argument)) = sequence.segments().get(of) else { continue };
                        let value = values.get(sequence.arguments_before(of))?;
                        bytes.extend(alone(&argument.shape, value)?);
                    }
                    let value = Value::Unsigned(derive(derived, &bytes));
                    let shape = Shape::Int(derived.shape.clone());
                    let label = format!("{} = {}", derived.name, value.display(&shape));
                    self.push(width(&shape, &value)?, PieceKind::Mark, label);
                }
            }
        }
        Some(())
    }

    fn shape(&mut self, shape: &Shape, value: &Value, name: &str) -> Option<()> {
        match (shape, value) {
            (Shape::Record(sequence), Value::Record(values)) => {
                self.sequence(sequence, values, &format!("{name}."))
            }
            (Shape::Choice(alternatives), Value::Choice(index, values)) => {
                self.choice(alternatives.get(*index)?, values, name)
            }
            (Shape::Option(_), Value::Option(None)) => Some(()),
            (Shape::Option(inner), Value::Option(Some(value))) => self.shape(inner, value, name),
            (Shape::List { item, framing, .. }, Value::List(values)) => {
                if let Framing::Counted(_) = framing {
                    let items = values.iter().map(|value| width(item, value)).sum::<Option<usize>>()?;
                    let label = format!("{name}: {} in all", values.len());
                    self.push(width(shape, value)?.checked_sub(items)?, PieceKind::Mark, label);
                }
                for (index, value) in values.iter().enumerate() {
                    if let (Framing::Joined(separator), 1..) = (framing, index) {
                        self.push(separator.len(), PieceKind::Literal, "");
                    }
                    self.shape(item, value, &format!("{name}[{index}]"))?;
                }
                Some(())
            }
            (Shape::Framed { frame: keyplan_plan::model::Frame::Len(_), inner }, value) => {
                let len = width(inner, value)?;
                self.push(width(shape, value)?.checked_sub(len)?, PieceKind::Mark, "len");
                self.shape(inner, value, name)
            }
            (Shape::HashConcat { hash, keep, inner }, value) => {
                self.push(*keep, PieceKind::Mark, hash.name());
                self.shape(inner, value, name)
            }
            (shape, value) => {
                self.push(width(shape, value)?, PieceKind::Value, leaf_label(shape, value, name));
                Some(())
            }
        }
    }

    /// An alternative: its first literal says which one it is, or else the names of its arguments do.
    fn choice(&mut self, alternative: &Alternative, values: &[Value], name: &str) -> Option<()> {
        let first = self.all.len();
        let leads = matches!(alternative.sequence.segments().first(), Some(Segment::Literal(_)));
        let within = if leads { String::new() } else { format!("{name}.{}.", alternative.label) };
        self.sequence(&alternative.sequence, values, &within)?;
        if let (true, Some(piece)) = (leads, self.all.get_mut(first)) {
            piece.label = format!("{name} = {}", alternative.label);
            piece.kind = PieceKind::Value;
        }
        Some(())
    }
}

/// A literal that is more than a separator is worth its name; hex already looks like itself.
fn literal_label(spelling: &str) -> String {
    let separator = spelling.starts_with('"') && spelling.chars().count() <= 4;
    if separator || spelling.starts_with("0x") { String::new() } else { spelling.to_owned() }
}

fn leaf_label(shape: &Shape, value: &Value, name: &str) -> String {
    match (shape, value) {
        // The bytes stand right above it; what reads as text is worth reading.
        (Shape::Bytes { encoding: BytesEncoding::Raw, .. } | Shape::Opaque(_), Value::Bytes(bytes))
            if !bytes.is_empty() =>
        {
            match printable(bytes) {
                Some(text) if bytes.len() >= 3 => format!("{name} {text:?}"),
                _ => name.to_owned(),
            }
        }
        (_, Value::Digest(_)) => format!("{name} (a hash)"),
        _ => format!("{name} = {}", value.display(shape)),
    }
}

/// Bytes as text, if they are nothing but printable ASCII.
pub(crate) fn printable(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok().filter(|text| text.bytes().all(|byte| (b' '..=b'~').contains(&byte)))
}

fn width(shape: &Shape, value: &Value) -> Option<usize> {
    alone(shape, value).map(|bytes| bytes.len())
}

/// The bytes of one value by itself.
pub(crate) fn alone(shape: &Shape, value: &Value) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    encode_one(shape, value, &mut out).ok()?;
    Some(out)
}

#[cfg(test)]
mod tests {
    use keyplan_plan::dynamic::{Decoder, encode};
    use proptest::prelude::*;

    use super::*;
    use crate::sample;

    /// The pieces of the example key of each family, as `len:label`.
    fn pieces(family: &str) -> Vec<String> {
        let text = include_str!("../tests/plans/shapes.keyplan");
        let plan = keyplan_plan::compile("shapes", text, |_| Err(String::new())).plan.unwrap();
        let (_, family) = plan.find(family)[0];
        let values = sample::arguments(&family.key).unwrap();
        let pieces = dissect(&family.key, &values).unwrap();
        let mut key = Vec::new();
        encode(&family.key, &values, &mut key).unwrap();
        assert_eq!(pieces.iter().map(|piece| piece.len).sum::<usize>(), key.len());
        pieces.iter().map(|piece| format!("{}:{}", piece.len, piece.label)).collect()
    }

    #[test]
    fn records_choices_and_lists_are_taken_apart() {
        assert_eq!(pieces("nested"), ["1:", "1:a.x = 1", "1:a.y = left", "2:b[0] = 2", "2:b[1] = 3"]);
        let counted = ["1:", "1:a: 2 in all", "1:len", "5:a[0] = \"uosmo\"", "1:len", "4:a[1] = \"usdc\""];
        assert_eq!(pieces("counted"), [&counted[..], &["1:b[0] = 3", "1:", "1:b[1] = 4"]].concat());
    }

    #[test]
    fn marks_say_what_they_are_for() {
        assert_eq!(pieces("twice"), ["1:", "2:slot = 4129", "4:a = 1", "1:a again"]);
        assert_eq!(pieces("hashed"), ["1:", "8:a = \"buyers\"", "8:twox_64", "20:b"]);
    }

    proptest! {
        #[test]
        fn pieces_cover_the_key(first in 0u8..=0x0a, rest in prop::collection::vec(any::<u8>(), 0..40)) {
            let text = include_str!("../tests/plans/shapes.keyplan");
            let plan = keyplan_plan::compile("shapes", text, |_| Err(String::new())).plan.unwrap();
            let key = [&[first], rest.as_slice()].concat();
            for space in 0..plan.spaces.len() {
                let Ok(read) = Decoder::new(&plan).decode(space, &key) else { continue };
                let pieces = dissect(&read.family.key, &read.values).unwrap();
                prop_assert_eq!(pieces.iter().map(|piece| piece.len).sum::<usize>(), key.len());
            }
        }
    }
}
