//! Which bytes of a key belong to which of its segments, as the decoder read them.

use std::ops::Range;

use crate::dynamic::{READINGS, Unframed, Value, decode_int, list_places, located, unframe};
use crate::model::{Alternative, BytesEncoding, Frame, Framing, Segment, Sequence, Shape};
use crate::notation::printable;

/// A stretch of a key that has one meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Which bytes it is.
    pub span: Range<usize>,
    /// What kind of bytes they are.
    pub kind: PieceKind,
    /// What it is called: the path of an argument such as `owner` or `pairs[1].denom`, or what a mark is for; empty for
    /// a literal without a name.
    pub name: String,
    /// What a picture writes under it: its name, with the value where that is not plain from the bytes.
    pub label: String,
}

/// What kind of bytes a [`Piece`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PieceKind {
    /// Always the same.
    Literal,
    /// A length, a count, a hash or a derived value: there for another piece's sake.
    Mark,
    /// An argument.
    Value,
}

impl PieceKind {
    /// The word in JSON.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Literal => "literal",
            Self::Mark => "mark",
            Self::Value => "argument",
        }
    }
}

/// Splits bytes that are read as these arguments of a layout, records and choices taken apart.
///
/// The spans are those of the decoder and cover the bytes without a gap. `None` if the bytes have no such reading.
///
/// ```
/// use keyplan_plan::{dynamic::Decoder, explain::pieces};
///
/// let text = "plan demo; space s { key tick = 0x01 pool: u64 tick: i64.tick9; }";
/// let plan = keyplan_plan::compile("demo.keyplan", text, |_| Err("no imports".into())).plan.expect("sound");
/// let key = [1, 0, 0, 0, 0, 0, 0, 0, 7, 5, 255, 255, 255, 255, 255, 255, 255, 156];
/// let read = Decoder::new(&plan).decode(0, &key).expect("a tick");
/// let pieces = pieces(&read.family.key, &key, &read.values).expect("it was read");
/// let spans: Vec<_> = pieces.iter().map(|piece| (piece.span.clone(), piece.label.as_str())).collect();
/// assert_eq!(spans, [(0..1, ""), (1..9, "pool = 7"), (9..18, "tick = -100")]);
/// ```
pub fn pieces(sequence: &Sequence, bytes: &[u8], values: &[Value]) -> Option<Vec<Piece>> {
    let mut pieces = Pieces { all: Vec::new() };
    pieces.sequence(sequence, Stretch { bytes, start: 0 }, values, "")?;
    Some(pieces.all)
}

/// Bytes, and where in the key they begin.
#[derive(Clone, Copy)]
struct Stretch<'k> {
    bytes: &'k [u8],
    start: usize,
}

impl Stretch<'_> {
    fn of(self, range: Range<usize>) -> Option<Self> {
        Some(Self { start: self.start + range.start, bytes: self.bytes.get(range)? })
    }

    fn split(self, at: usize) -> Option<(Self, Self)> {
        Some((self.of(0..at)?, self.of(at..self.bytes.len())?))
    }

    fn span(self) -> Range<usize> {
        self.start..self.start + self.bytes.len()
    }
}

struct Pieces {
    all: Vec<Piece>,
}

impl Pieces {
    fn push(&mut self, at: Stretch<'_>, kind: PieceKind, name: &str, label: impl Into<String>) {
        self.all.push(Piece { span: at.span(), kind, name: name.to_owned(), label: label.into() });
    }

    /// The segments in a row; `within` is the name of the argument that they make up, if any, and a dot.
    fn sequence(
        &mut self,
        sequence: &Sequence,
        at: Stretch<'_>,
        values: &[Value],
        within: &str,
    ) -> Option<()> {
        let found = located(sequence, at.bytes, READINGS).ok()?;
        let found = found.into_iter().find(|reading| reading.values == values)?;
        for (index, segment) in sequence.segments().iter().enumerate() {
            let start = *found.starts.get(index)?;
            let end = found.starts.get(index + 1).copied().unwrap_or(at.bytes.len());
            let own = at.of(start..end)?;
            match segment {
                Segment::Literal(literal) => {
                    let label = literal_label(&literal.spelling);
                    self.push(own, PieceKind::Literal, &label, label.clone());
                }
                Segment::Argument(argument) => {
                    let name = match &argument.name {
                        Some(name) => format!("{within}{name}"),
                        None => within.strip_suffix('.').unwrap_or("value").to_owned(),
                    };
                    let value = values.get(sequence.arguments_before(index))?;
                    match argument.shown_text(value) {
                        Some(text) => self.push(own, PieceKind::Value, &name, format!("{name} = {text}")),
                        None => self.shape(&argument.shape, own, value, &name)?,
                    }
                }
                Segment::Same(same) => {
                    self.push(own, PieceKind::Mark, &same.name, format!("{} again", same.name));
                }
                Segment::Derived(derived) => {
                    let value = decode_int(&derived.shape, own.bytes).ok()?;
                    let shape = Shape::Int(derived.shape.clone());
                    let label = format!("{} = {}", derived.name, value.display(&shape));
                    self.push(own, PieceKind::Mark, &derived.name, label);
                }
            }
        }
        Some(())
    }

    fn shape(&mut self, shape: &Shape, at: Stretch<'_>, value: &Value, name: &str) -> Option<()> {
        match (shape, value) {
            (Shape::Record(sequence), Value::Record(values)) => {
                self.sequence(sequence, at, values, &format!("{name}."))
            }
            (Shape::Choice(alternatives), Value::Choice(index, values)) => {
                self.choice(alternatives.get(*index)?, at, values, name)
            }
            (Shape::Option(_), Value::Option(None)) => Some(()),
            (Shape::Option(inner), Value::Option(Some(value))) => self.shape(inner, at, value, name),
            (Shape::List { .. }, Value::List(values)) => self.list(shape, at, values, name),
            (Shape::Framed { frame: frame @ Frame::Len(_), inner }, value) => {
                let Unframed::Borrowed(head, _) = unframe(*frame, at.bytes).ok()? else { return None };
                let (mark, content) = at.split(head)?;
                self.push(mark, PieceKind::Mark, "len", "len");
                self.shape(inner, content, value, name)
            }
            (Shape::HashConcat { hash, keep, inner }, value) => {
                let (mark, content) = at.split(*keep)?;
                self.push(mark, PieceKind::Mark, hash.name(), hash.name());
                self.shape(inner, content, value, name)
            }
            (shape, value) => {
                self.push(at, PieceKind::Value, name, leaf_label(shape, value, name));
                Some(())
            }
        }
    }

    fn list(&mut self, shape: &Shape, at: Stretch<'_>, values: &[Value], name: &str) -> Option<()> {
        let Shape::List { item, framing, .. } = shape else { return None };
        let places = list_places(shape, at.bytes, values)?;
        if let Framing::Counted(_) = framing {
            let head = places.first().map_or(at.bytes.len(), |(start, _)| *start);
            self.push(at.of(0..head)?, PieceKind::Mark, name, format!("{name}: {} in all", values.len()));
        }
        let mut end = None;
        for (index, (value, (start, stop))) in values.iter().zip(places).enumerate() {
            if let (Framing::Joined(_), Some(end)) = (framing, end) {
                self.push(at.of(end..start)?, PieceKind::Literal, "", "");
            }
            self.shape(item, at.of(start..stop)?, value, &format!("{name}[{index}]"))?;
            end = Some(stop);
        }
        Some(())
    }

    /// An alternative: its first literal says which one it is, or else the names of its arguments do.
    fn choice(
        &mut self,
        alternative: &Alternative,
        at: Stretch<'_>,
        values: &[Value],
        name: &str,
    ) -> Option<()> {
        let first = self.all.len();
        let leads = matches!(alternative.sequence.segments().first(), Some(Segment::Literal(_)));
        let within = if leads { String::new() } else { format!("{name}.{}.", alternative.label) };
        self.sequence(&alternative.sequence, at, values, &within)?;
        if let (true, Some(piece)) = (leads, self.all.get_mut(first)) {
            name.clone_into(&mut piece.name);
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
        // The bytes are right above it; what reads as text is worth reading.
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::dynamic::{Decoder, encode};
    use crate::sample;

    fn plan() -> crate::model::Plan {
        let text = include_str!("../../tests/shapes.keyplan");
        crate::compile("shapes", text, |_| Err(String::new())).plan.unwrap()
    }

    /// The pieces of the example key of each family, as `len:label`.
    fn labels(family: &str) -> Vec<String> {
        let plan = plan();
        let (_, family) = plan.find(family)[0];
        let values = sample::arguments(&family.key).unwrap();
        let mut key = Vec::new();
        encode(&family.key, &values, &mut key).unwrap();
        let pieces = pieces(&family.key, &key, &values).unwrap();
        pieces.iter().map(|piece| format!("{}:{}", piece.span.len(), piece.label)).collect()
    }

    #[test]
    fn records_choices_and_lists_are_taken_apart() {
        assert_eq!(labels("nested"), ["1:", "1:a.x = 1", "1:a.y = left", "2:b[0] = 2", "2:b[1] = 3"]);
        let counted = ["1:", "1:a: 2 in all", "1:len", "5:a[0] = \"uosmo\"", "1:len", "4:a[1] = \"usdc\""];
        assert_eq!(labels("counted"), [&counted[..], &["1:b[0] = 3", "1:", "1:b[1] = 4"]].concat());
    }

    #[test]
    fn marks_say_what_they_are_for() {
        assert_eq!(labels("twice"), ["1:", "2:slot = 4129", "4:a = 1", "1:a again"]);
        assert_eq!(labels("hashed"), ["1:", "8:a = \"buyers\"", "8:twox_64", "20:b"]);
    }

    #[test]
    fn the_second_reading_has_spans_of_its_own() {
        let text = r#"plan p; space s { key k = 0x01 a: text("a", 1..=2) b: text("a", 1..=2) accept ambiguous "a test"; }"#;
        let plan = crate::compile("p", text, |_| Err(String::new())).plan.unwrap();
        let layout = &plan.find("k")[0].1.key;
        let found = crate::dynamic::readings(layout, b"\x01aaa", 8).unwrap().readings;
        let spans = |values: &[Value]| {
            let found = pieces(layout, b"\x01aaa", values).unwrap();
            found.into_iter().map(|piece| piece.span).collect::<Vec<_>>()
        };
        let all: Vec<_> = found.iter().map(|values| spans(values)).collect();
        assert_eq!(all, [[0..1, 1..2, 2..4], [0..1, 1..3, 3..4]]);
    }

    proptest! {
        #[test]
        fn pieces_cover_the_key(first in 0u8..=0x0a, rest in prop::collection::vec(any::<u8>(), 0..40)) {
            let plan = plan();
            let key = [&[first], rest.as_slice()].concat();
            for space in 0..plan.spaces.len() {
                let Ok(read) = Decoder::new(&plan).decode(space, &key) else { continue };
                let pieces = pieces(&read.family.key, &key, &read.values).unwrap();
                let mut end = 0;
                for piece in pieces {
                    prop_assert_eq!(piece.span.start, end);
                    end = piece.span.end;
                }
                prop_assert_eq!(end, key.len());
            }
        }
    }
}
