//! Layouts that are read from left to right without a choice.
//!
//! An encoding is *delimited* if the bytes of one value are never the front of those of another: fixed widths, varints, and
//! whatever has its length or its count in front. Behind such a part the next one begins at one place, whatever the graph says
//! of long counts and contents. What is not known to be so at a glance is a question to the graph of only that part.

use keyplan_plan::model::{
    BytesEncoding, ExtentRule, Frame, Framing, IntEncoding, NibbleEncoding, Segment, Sequence, Shape, Width,
};
use keyplan_plan::order::{self, sort};

use std::collections::BTreeSet;

use crate::automaton::Arena;
use crate::guarantee::ambiguous::law::contents_injective;
use crate::guarantee::lossy::law::loses;
use crate::layout::{Layout, class_of};
use crate::product::{Budget, Goal, Outcome, Product};
use crate::reader::alone;
use crate::sure::rest;

/// Looks where parts end.
pub(crate) struct Ends<'a> {
    pub(crate) arena: &'a mut Arena,
    pub(crate) budget: &'a mut Budget,
}

impl Ends<'_> {
    /// Whether the first segments of a layout are delimited, so that bytes that begin like them have one reading of them.
    pub(crate) fn are_delimited(&mut self, segments: &[Segment]) -> bool {
        self.delimited(segments) == segments.len()
    }

    /// How many of the first segments are delimited.
    fn delimited(&mut self, segments: &[Segment]) -> usize {
        let mut at = 0;
        while let Some((segment, _)) = segments.get(at..).and_then(<[Segment]>::split_first) {
            let rest = rest(segments, at);
            let taken = if self.is_delimited_alone(segment) {
                Some(1)
            } else {
                self.delimited_together(rest).or_else(|| self.told_by_a_mark(at, rest))
            };
            match taken {
                Some(taken) => at += taken,
                None => break,
            }
        }
        at
    }

    fn is_delimited_alone(&mut self, segment: &Segment) -> bool {
        match segment {
            // What was read before decides these bytes.
            Segment::Literal(_) | Segment::Same(_) => true,
            Segment::Argument(argument) => self.is_delimited(&argument.shape),
            // Whatever it says, it takes so many bytes.
            Segment::Derived(_) => Width::of_segment(segment).fixed().is_some(),
        }
    }

    /// How many segments are delimited together, as a number and the literal after it are: those before the first copy or derived
    /// part, which are free in the graph.
    fn delimited_together(&mut self, segments: &[Segment]) -> Option<usize> {
        let count = segments.iter().position(is_free).unwrap_or(segments.len());
        let run = Shape::Record(Sequence::new(segments.get(..count)?.to_vec()));
        (count > 1 && self.is_delimited_in_the_graph(&run)).then_some(count)
    }

    /// How many segments an argument, its copies and literals are, up to a literal that begins with a byte that none of them
    /// has: its place tells how many bytes the argument and each copy have.
    fn told_by_a_mark(&mut self, at: usize, segments: &[Segment]) -> Option<usize> {
        let (Segment::Argument(argument), behind) = segments.split_first()? else { return None };
        let mut bytes = class_of(&argument.shape);
        for (index, segment) in behind.iter().enumerate() {
            match segment {
                Segment::Same(same) if same.of == at && same.shape == argument.shape => {}
                Segment::Literal(literal) => {
                    if literal.bytes.first().is_some_and(|&first| !bytes.contains(first)) {
                        return self.is_read_alone(&argument.shape).then_some(index + 2);
                    }
                    bytes = literal.bytes.iter().fold(bytes, |bytes, &byte| bytes.with(byte));
                }
                _ => return None,
            }
        }
        None
    }

    /// Whether a layout has one reading: its first parts are delimited, and the others take the rest.
    pub(crate) fn is_read_once(&mut self, sequence: &Sequence) -> bool {
        let segments = sequence.segments();
        let at = self.delimited(segments);
        match rest(segments, at) {
            [] => true,
            [Segment::Argument(argument)] => self.is_read_alone(&argument.shape),
            rest if rest.iter().any(is_free) => {
                !sequence.arguments().any(|argument| is_hashed(&argument.shape))
                    && told_by_length(self.arena, rest, at, self.budget)
            }
            // Behind copies, which the graph of the whole layout does not know.
            rest => at > 0 && self.is_read_alone_in_the_graph(&Shape::Record(Sequence::new(rest.to_vec()))),
        }
    }

    /// Whether no value's bytes are the front of another's, nor the same.
    pub(crate) fn is_delimited(&mut self, shape: &Shape) -> bool {
        self.is_delimited_at_a_glance(shape) || self.is_delimited_in_the_graph(shape)
    }

    fn is_delimited_at_a_glance(&mut self, shape: &Shape) -> bool {
        match shape {
            Shape::Int(int) => {
                !loses(shape) && (Width::of_shape(shape).fixed().is_some() || is_varint(int.encoding))
            }
            Shape::Bool(_) => Width::of_shape(shape).fixed().is_some(),
            Shape::Bytes { lengths, encoding } => {
                let plain =
                    matches!(encoding, BytesEncoding::Raw | BytesEncoding::Class(_) | BytesEncoding::Hex(_));
                matches!(encoding, BytesEncoding::Wide { .. }) || plain && lengths.fixed().is_some()
            }
            // A tuple element ends with NUL, which such a text does not hold.
            Shape::Text(text) if text.tuple => {
                !text.alphabet.contains(0) && text.first.is_none_or(|first| !first.contains(0))
            }
            Shape::Text(text) => text.lengths.fixed().is_some(),
            Shape::Nibbles { lengths, encoding } => {
                encoding.row().extent == ExtentRule::Marked || lengths.fixed().is_some()
            }
            Shape::Record(sequence) => self.are_delimited(sequence.segments()),
            Shape::Choice(_) => {
                shape.rows().all(|row| self.are_delimited(row.segments())) && are_told_apart(shape.rows())
            }
            Shape::List { item, framing: Framing::Counted(_), .. } | Shape::Desc(item) => {
                self.is_delimited(item)
            }
            Shape::List { item, framing: Framing::ToEnd | Framing::Joined(_), counts } => {
                counts.fixed().is_some() && self.is_delimited(item)
            }
            // No zero in the contents; groups that say whether another follows; a mark that no contents hold.
            Shape::Framed { frame, inner } if frame.must_not_precede().is_none() => self.is_read_alone(inner),
            Shape::Framed { frame: Frame::Escaped, inner } => {
                !class_of(inner).contains(0) && self.is_read_alone(inner)
            }
            _ => false,
        }
    }

    /// Whether no two values have the same bytes.
    pub(crate) fn is_read_alone(&mut self, shape: &Shape) -> bool {
        self.is_read_alone_at_a_glance(shape)
            || self.is_delimited(shape)
            || self.is_read_alone_in_the_graph(shape)
    }

    fn is_read_alone_at_a_glance(&mut self, shape: &Shape) -> bool {
        match shape {
            shape if self.is_delimited_at_a_glance(shape) => true,
            Shape::Int(_) => !loses(shape),
            Shape::Bytes { encoding, .. } => {
                matches!(
                    encoding,
                    BytesEncoding::Raw
                        | BytesEncoding::Class(_)
                        | BytesEncoding::Hex(_)
                        | BytesEncoding::Tuple
                )
            }
            // Escaped, or not at all: either way two texts are two keys.
            Shape::Text(_) => true,
            Shape::Nibbles { encoding, .. } => {
                matches!(encoding, NibbleEncoding::Unpacked | NibbleEncoding::HexPrefix)
            }
            Shape::Record(sequence) => self.is_read_once(sequence),
            Shape::Choice(_) => {
                shape.rows().all(|row| self.is_read_once(row)) && are_told_apart(shape.rows())
            }
            Shape::List { item, framing: Framing::ToEnd | Framing::Joined(_), .. } => {
                self.is_delimited(item) && Width::of_shape(item).min > 0
            }
            Shape::Option(inner) => self.is_read_alone(inner) && Width::of_shape(inner).min > 0,
            Shape::Framed { frame: Frame::Escaped, inner } | Shape::Desc(inner) => self.is_read_alone(inner),
            _ => false,
        }
    }

    /// The same by the graph of only the shape.
    fn is_delimited_in_the_graph(&mut self, shape: &Shape) -> bool {
        const BEHIND: u32 = 1;
        let sequence = alone(shape);
        let marks = order::set([1]);
        let Some(layout) = self.drawn(shape, &sequence, marks) else { return false };
        let Some(drawing) = &layout.drawing else { return false };
        let goal = Goal::Prefix { stop: BEHIND };
        let outcome = Product::new(self.arena, goal).siblings(drawing.start, BEHIND, self.budget);
        outcome == Outcome::Never
            && drawing.hidden.iter().all(|shape| contents_injective(self.arena, shape, self.budget, 0))
    }

    /// The same by the graph of only the shape.
    fn is_read_alone_in_the_graph(&mut self, shape: &Shape) -> bool {
        let sequence = alone(shape);
        let Some(layout) = self.drawn(shape, &sequence, BTreeSet::new()) else { return false };
        let Some(drawing) = &layout.drawing else { return false };
        Product::new(self.arena, Goal::Meet).ambiguity(drawing.start, self.budget) == Outcome::Never
            && drawing.hidden.iter().all(|shape| contents_injective(self.arena, shape, self.budget, 0))
    }

    /// A shape by itself, if its graph tells values apart: neither a hash nor a lossy encoding is in it.
    fn drawn<'s>(
        &mut self,
        shape: &Shape,
        sequence: &'s Sequence,
        marks: BTreeSet<usize>,
    ) -> Option<Layout<'s>> {
        let plain = !loses(shape) && !is_hashed(shape) && !self.budget.is_spent();
        plain.then(|| Layout::new(self.arena, "contents", sequence, marks))
    }
}

/// Whether the length of what is left tells where each of its arguments is, and each has one reading by itself; `at` is the place
/// of the first of them in the layout.
///
/// It does if one argument has no fixed length, it and its copies have the same encoding, and all else has one length: so
/// many bytes are left for it and its copies, and each of them has its share. The graph cannot see that, because a copy
/// may differ from its argument there.
pub(crate) fn told_by_length(
    arena: &mut Arena,
    segments: &[Segment],
    at: usize,
    budget: &mut Budget,
) -> bool {
    let mut loose = None;
    for (index, segment) in segments.iter().enumerate() {
        match segment {
            Segment::Argument(argument) if Width::of_shape(&argument.shape).fixed().is_none() => {
                if loose.replace((at + index, &argument.shape)).is_some() {
                    return false;
                }
            }
            Segment::Same(same) if loose == Some((same.of, &same.shape)) => {}
            segment if Width::of_segment(segment).fixed().is_some() => {}
            _ => return false,
        }
    }
    let arguments = segments.iter().filter_map(|segment| match segment {
        Segment::Argument(argument) => Some(argument),
        _ => None,
    });
    loose.is_some()
        && arguments.into_iter().all(|argument| contents_injective(arena, &argument.shape, budget, 0))
}

/// Whether the graph knows less of a segment than the layout says.
fn is_free(segment: &Segment) -> bool {
    matches!(segment, Segment::Same(_) | Segment::Derived(_))
}

/// Whether a shape has a hash in place of a value.
pub(crate) fn is_hashed(shape: &Shape) -> bool {
    let row = |sequence: &Sequence| {
        sequence.arguments().any(|argument| is_hashed(&argument.shape))
            || sequence.segments().iter().any(|s| matches!(s, Segment::Same(same) if is_hashed(&same.shape)))
    };
    matches!(shape, Shape::Hashed { .. }) || shape.inner().is_some_and(is_hashed) || shape.rows().any(row)
}

/// Whether the literals that alternatives begin with tell which one it is: none is the front of another.
fn are_told_apart<'m>(rows: impl Iterator<Item = &'m Sequence>) -> bool {
    let mut literals: Vec<Vec<u8>> = rows.map(Sequence::literal_prefix).collect();
    sort(&mut literals);
    // Whatever begins with one comes right after it.
    literals.windows(2).all(|pair| matches!(pair, [a, b] if !b.starts_with(a)))
}

fn is_varint(encoding: IntEncoding) -> bool {
    encoding.row().extent == ExtentRule::Marked
}
