//! Layouts in a form in which what moves no byte is not to be seen.
//!
//! Records are written out, neighbouring literals joined, and the length before contents of a fixed length is the
//! literal that it always is. A value that is written twice is two pieces with one path.

use std::collections::BTreeSet;

use keyplan_plan::codec::{Count, LenWidth, Segment as _, complement};
use keyplan_plan::mapping::{Pairing, Path, bare};
use keyplan_plan::model::{
    Derivation, Extent, Frame, Framing, IntEncoding, IntShape, Segment, Sequence, Shape,
};

/// A piece of a layout.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Piece {
    Literal(Vec<u8>),
    Value { path: Path, shape: Shape },
    Derived { function: Derivation, modulus: Option<u128>, shape: IntShape, of: Vec<Piece> },
}

/// The pieces of a layout. Lengths and counts at the paths of `kept` stay what they are, even where they are always
/// the same.
pub(super) fn pieces(sequence: &Sequence, kept: &BTreeSet<Path>) -> Vec<Piece> {
    let mut row = Row { pieces: Vec::new(), kept };
    row.sequence(sequence, &[], false);
    row.pieces
}

/// The pieces of one shape whose value is at `path`.
pub(super) fn pieces_of(shape: &Shape, path: &[usize], kept: &BTreeSet<Path>) -> Vec<Piece> {
    let mut row = Row { pieces: Vec::new(), kept };
    row.shape(shape, path, false);
    row.pieces
}

struct Row<'k> {
    pieces: Vec<Piece>,
    kept: &'k BTreeSet<Path>,
}

impl Row<'_> {
    fn literal(&mut self, bytes: &[u8], flip: bool) {
        if bytes.is_empty() {
            return;
        }
        let mut bytes = bytes.to_vec();
        if flip {
            complement(&mut bytes);
        }
        match self.pieces.last_mut() {
            Some(Piece::Literal(before)) => before.extend(bytes),
            _ => self.pieces.push(Piece::Literal(bytes)),
        }
    }

    fn sequence(&mut self, sequence: &Sequence, base: &[usize], flip: bool) {
        let below = |index: usize| -> Path { base.iter().copied().chain([index]).collect() };
        let mut argument = 0;
        for segment in sequence.segments() {
            match segment {
                Segment::Literal(literal) => self.literal(&literal.bytes, flip),
                Segment::Argument(value) => {
                    self.shape(&value.shape, &below(argument), flip);
                    argument += 1;
                }
                Segment::Same(same) => {
                    self.shape(&same.shape, &below(sequence.arguments_before(same.of)), flip);
                }
                Segment::Derived(derived) => {
                    let mut of = Row { pieces: Vec::new(), kept: self.kept };
                    for &index in &derived.of {
                        if let Some(Segment::Argument(value)) = sequence.segments().get(index) {
                            of.shape(&value.shape, &below(sequence.arguments_before(index)), false);
                        }
                    }
                    self.pieces.push(Piece::Derived {
                        function: derived.function,
                        modulus: derived.modulus,
                        shape: derived.shape.clone(),
                        of: of.pieces,
                    });
                }
            }
        }
    }

    fn shape(&mut self, shape: &Shape, path: &[usize], flip: bool) {
        match shape {
            // A computed part has no complement of its own.
            Shape::Record(inner) if !(flip && derives(inner)) => self.sequence(inner, path, flip),
            Shape::Desc(inner) => self.shape(inner, path, !flip),
            shape => {
                match counted(shape).and_then(|counted| counted.always).filter(|_| !self.kept.contains(path))
                {
                    Some(prefix) => {
                        self.literal(&prefix, flip);
                        match shape {
                            Shape::List { item, counts, .. } => {
                                let (item, counts) = (item.clone(), counts.clone());
                                self.value(Shape::List { item, counts, framing: Framing::ToEnd }, path, flip);
                            }
                            Shape::Framed { inner, .. } => self.shape(inner, path, flip),
                            shape => self.value(shape.clone(), path, flip),
                        }
                    }
                    None => self.value(shape.clone(), path, flip),
                }
            }
        }
    }

    fn value(&mut self, mut shape: Shape, path: &[usize], flip: bool) {
        if let Shape::Int(int) = &mut shape
            && int.ty.bits == 8
            && int.encoding == IntEncoding::Le
        {
            // One byte has no order of bytes.
            int.encoding = IntEncoding::Be;
        }
        if flip {
            shape = Shape::Desc(Box::new(shape));
        }
        self.pieces.push(Piece::Value { path: path.to_vec(), shape });
    }
}

/// Whether a record holds a computed part, at any depth.
fn derives(sequence: &Sequence) -> bool {
    sequence.segments().iter().any(|segment| match segment {
        Segment::Derived(_) => true,
        Segment::Argument(argument) => {
            matches!(bare(&argument.shape), Shape::Record(inner) if derives(inner))
        }
        Segment::Same(_) | Segment::Literal(_) => false,
    })
}

/// A shape that begins with a length or a count.
struct Counted {
    width: LenWidth,
    /// The prefix, if it is always the same.
    always: Option<Vec<u8>>,
}

fn counted(shape: &Shape) -> Option<Counted> {
    match shape {
        Shape::Framed { frame: Frame::Len(width), inner } => {
            let length = if let Extent::Fixed(n) = inner.extent() { Some(n) } else { None };
            Some(Counted { width: *width, always: length.and_then(|n| count(*width, n)) })
        }
        Shape::List { counts, framing: Framing::Counted(width), .. } => {
            Some(Counted { width: *width, always: counts.fixed().and_then(|n| count(*width, n)) })
        }
        _ => None,
    }
}

/// The values at whose front both layouts have a length or count, in one of them always the same: there it is
/// no literal, but a bound that has moved. Old paths first.
pub(super) fn kept(old: &Sequence, new: &Sequence, pairing: &Pairing) -> (BTreeSet<Path>, BTreeSet<Path>) {
    let (mut before, mut after) = (Vec::new(), Vec::new());
    prefixes(old, &[], &mut before);
    prefixes(new, &[], &mut after);
    let mut kept = (BTreeSet::new(), BTreeSet::new());
    for (q, first, new) in &after {
        let Some(from) = pairing.old_of(first) else { continue };
        let same = before.iter().find(|(_, first, old)| first == from && old.width == new.width);
        if let Some((p, _, old)) = same
            && old.always.is_some() != new.always.is_some()
        {
            kept.0.insert(p.clone());
            kept.1.insert(q.clone());
        }
    }
    kept
}

/// Each value that begins with a length or count: its path, the path of the first leaf in it, and the prefix.
fn prefixes(sequence: &Sequence, base: &[usize], all: &mut Vec<(Path, Path, Counted)>) {
    for (index, argument) in sequence.arguments().enumerate() {
        let path: Path = base.iter().copied().chain([index]).collect();
        let mut shape = &argument.shape;
        while let Some(inner) = shape.turned() {
            shape = inner;
        }
        if let Some(counted) = counted(shape) {
            all.push((path.clone(), first_leaf(shape, path.clone()), counted));
        }
        if let Shape::Record(inner) = bare(shape) {
            prefixes(inner, &path, all);
        }
    }
}

fn first_leaf(shape: &Shape, mut path: Path) -> Path {
    if let Shape::Record(inner) = bare(shape)
        && let Some(argument) = inner.arguments().next()
    {
        path.push(0);
        return first_leaf(&argument.shape, path);
    }
    path
}

/// A length or count as a literal.
fn count(width: LenWidth, n: usize) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    Count { width }.encode(n, &mut out).ok()?;
    Some(out)
}
