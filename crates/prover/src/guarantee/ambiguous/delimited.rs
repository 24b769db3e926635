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

/// Looks where parts end.
pub(crate) struct Ends<'a> {
    pub(crate) arena: &'a mut Arena,
    pub(crate) budget: &'a mut Budget,
}

impl Ends<'_> {
    /// Whether the first segments of a layout are delimited, so that bytes that begin like them have one reading of them.
    pub(crate) fn are_delimited(&mut self, segments: &[Segment]) -> bool {
        segments.iter().all(|segment| match segment {
            // What was read before decides these bytes.
            Segment::Literal(_) | Segment::Same(_) => true,
            Segment::Argument(argument) => self.is_delimited(&argument.shape),
            // Whatever it says, it takes so many bytes.
            Segment::Derived(_) => is_one_length(Width::of_segment(segment)),
        })
    }

    /// Whether a layout has one reading: all of its parts are delimited but the last one, which takes the rest.
    pub(crate) fn is_read_once(&mut self, sequence: &Sequence) -> bool {
        let Some((last, front)) = sequence.segments().split_last() else { return true };
        self.are_delimited(front)
            && match last {
                Segment::Argument(argument) => self.is_read_alone(&argument.shape),
                last => self.are_delimited(std::slice::from_ref(last)),
            }
    }

    /// Whether no value's bytes are the front of another's, nor the same.
    pub(crate) fn is_delimited(&mut self, shape: &Shape) -> bool {
        self.is_delimited_at_a_glance(shape) || self.is_delimited_in_the_graph(shape)
    }

    fn is_delimited_at_a_glance(&mut self, shape: &Shape) -> bool {
        match shape {
            Shape::Int(int) => {
                !loses(shape) && (is_one_length(Width::of_shape(shape)) || is_varint(int.encoding))
            }
            Shape::Bool(_) => is_one_length(Width::of_shape(shape)),
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
            Shape::Choice(alternatives) => {
                let rows = || alternatives.iter().map(|alternative| &alternative.sequence);
                rows().all(|row| self.are_delimited(row.segments())) && are_told_apart(rows())
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
            Shape::Choice(alternatives) => {
                let rows = || alternatives.iter().map(|alternative| &alternative.sequence);
                rows().all(|row| self.is_read_once(row)) && are_told_apart(rows())
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

fn is_one_length(width: Width) -> bool {
    width.max == Some(width.min)
}
