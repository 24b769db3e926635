use std::collections::BTreeSet;

use keyplan_plan::codec::Hash;
use keyplan_plan::model::{Extent, Segment, Sequence, Shape, Width};

use crate::automaton::{Arena, ByteSet, Drawing, Precision, draw};
use crate::proof::Reason;

/// The most nodes of one layout.
pub(crate) const MOST_NODES: usize = 60_000;

/// A layout to prove things about: its model, its graph, and what rules out most others at a glance.
pub(crate) struct Layout<'p> {
    pub(crate) path: &'p str,
    pub(crate) sequence: &'p Sequence,
    pub(crate) marks: BTreeSet<usize>,
    /// `None` if it cannot be drawn.
    pub(crate) drawing: Option<Drawing>,
    /// Whether the prover itself failed to draw it.
    broken: bool,
    pub(crate) literal: Vec<u8>,
    /// What its last bytes may be, the last first.
    tail: Vec<ByteSet>,
}

/// How many bytes from the end are looked at.
const TAIL: usize = 24;

impl<'p> Layout<'p> {
    pub(crate) fn new(
        arena: &mut Arena,
        path: &'p str,
        sequence: &'p Sequence,
        marks: BTreeSet<usize>,
    ) -> Self {
        let drawing = draw(arena, sequence, &marks, Precision::Coarse, MOST_NODES);
        let broken = drawing.is_none() && std::mem::take(&mut arena.broken);
        let literal = sequence.literal_prefix();
        Self { path, sequence, marks, drawing, broken, literal, tail: tail(sequence) }
    }

    /// Why there is no drawing.
    pub(crate) fn undrawn(&self) -> Reason {
        if self.broken { Reason::Internal } else { Reason::TooLarge }
    }

    /// The layout drawn as exactly as it can be.
    pub(crate) fn fine(&self, arena: &mut Arena) -> Option<Drawing> {
        self.drawn(arena, Precision::Fine)
    }

    /// The layout drawn in another way.
    pub(crate) fn drawn(&self, arena: &mut Arena, precision: Precision) -> Option<Drawing> {
        draw(arena, self.sequence, &self.marks, precision, MOST_NODES)
    }

    /// Whether its graph has more paths than it has keys, so that another drawing may tell more.
    pub(crate) fn is_loose(&self) -> bool {
        self.drawing.as_ref().is_some_and(|drawing| !drawing.loose.is_empty())
    }

    /// Whether only lengths, first or last bytes show that no key is of both.
    pub(crate) fn apart(&self, other: &Self) -> bool {
        let (a, b) = (self.sequence.width(), other.sequence.width());
        if a.max.is_some_and(|max| max < b.min) || b.max.is_some_and(|max| max < a.min) {
            return true;
        }
        if self.literal.iter().zip(&other.literal).any(|(a, b)| a != b) {
            return true;
        }
        self.tail.iter().zip(&other.tail).any(|(a, b)| !a.meets(*b))
    }

    /// The hashes that stand for their arguments.
    pub(crate) fn hashes(&self) -> impl Iterator<Item = (Hash, usize)> {
        self.drawing.iter().flat_map(|drawing| drawing.hashes.iter().copied())
    }
}

/// The sets of the last bytes, the last first, as far as their places are fixed.
fn tail(sequence: &Sequence) -> Vec<ByteSet> {
    let mut tail = Vec::new();
    for (segment, extent) in sequence.segments().iter().zip(sequence.extents()).rev() {
        if tail.len() >= TAIL {
            break;
        }
        let (class, shape) = match segment {
            Segment::Literal(literal) => {
                tail.extend(literal.bytes.iter().rev().map(|&byte| ByteSet::of(byte)));
                continue;
            }
            Segment::Argument(argument) => (class_of(&argument.shape), Width::of_shape(&argument.shape)),
            Segment::Same(same) => (class_of(&same.shape), Width::of_shape(&same.shape)),
            Segment::Derived(_) => (ByteSet::FULL, Width::of_segment(segment)),
        };
        let sure = shape.min.min(TAIL);
        tail.extend(std::iter::repeat_n(class, sure));
        if !matches!(extent, Extent::Fixed(_)) {
            break;
        }
    }
    tail.truncate(TAIL);
    tail
}

/// Every byte that a shape may hold; all of them where that takes thought.
pub(crate) fn class_of(shape: &Shape) -> ByteSet {
    use keyplan_plan::model::{BytesEncoding, IntEncoding, NibbleEncoding};
    match shape {
        Shape::Int(int) => match int.encoding {
            IntEncoding::Dec | IntEncoding::DecPadded(_) => ByteSet::range(b'0', b'9').with(b'-'),
            IntEncoding::Hex(_) | IntEncoding::HexPadded(..) => hex(),
            _ => ByteSet::FULL,
        },
        Shape::Bool(_) => ByteSet::range(0, 1).or(ByteSet::range(0x26, 0x27)),
        Shape::Bytes { encoding: BytesEncoding::Hex(_), .. } => hex(),
        Shape::Bytes { encoding: BytesEncoding::Class(class), .. } => ByteSet::from_bits(class.bits()),
        Shape::Text(text) if !text.tuple => {
            let first = text.first.map_or(ByteSet::EMPTY, |first| ByteSet::from_bits(first.bits()));
            let all = ByteSet::from_bits(text.alphabet.bits()).or(first);
            if text.first.is_some_and(|first| first.beyond_ascii()) {
                all.or(ByteSet::range(0x80, 0xff))
            } else {
                all
            }
        }
        Shape::Nibbles { encoding: NibbleEncoding::Unpacked, .. } => ByteSet::range(0, 15),
        Shape::Desc(inner) => class_of(inner).flipped(),
        _ => ByteSet::FULL,
    }
}

fn hex() -> ByteSet {
    ByteSet::range(b'0', b'9').or(ByteSet::range(b'a', b'f')).or(ByteSet::range(b'A', b'F'))
}
