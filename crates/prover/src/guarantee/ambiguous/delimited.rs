//! Layouts that are read from left to right without a choice.
//!
//! An encoding is *delimited* if the bytes of one value are never the front of those of another: fixed widths, varints, and
//! whatever has its length or its count in front. Behind such a part the next one begins at one place, whatever the graph says
//! of long counts and contents. What is not known to be so counts as not delimited.

use keyplan_plan::model::{
    BytesEncoding, ExtentRule, Frame, Framing, IntEncoding, NibbleEncoding, Segment, Sequence, Shape, Width,
};

use crate::layout::class_of;

/// Whether the first segments of a layout are delimited, so that bytes that begin like them have one reading of them.
pub(crate) fn are_delimited(segments: &[Segment]) -> bool {
    segments.iter().all(|segment| match segment {
        Segment::Literal(_) => true,
        Segment::Argument(argument) => is_delimited(&argument.shape),
        Segment::Same(same) => is_delimited(&same.shape),
        // Whatever it says, it takes so many bytes.
        Segment::Derived(_) => is_one_length(Width::of_segment(segment)),
    })
}

/// Whether a layout has one reading: all of its parts are delimited but the last one, which takes the rest.
pub(crate) fn is_read_once(sequence: &Sequence) -> bool {
    let Some((last, front)) = sequence.segments().split_last() else { return true };
    are_delimited(front)
        && match last {
            Segment::Argument(argument) => is_read_alone(&argument.shape),
            last => are_delimited(std::slice::from_ref(last)),
        }
}

/// Whether no value's bytes are the front of another's, nor the same.
fn is_delimited(shape: &Shape) -> bool {
    match shape {
        Shape::Int(int) => {
            !shape.loses_information() && (is_one_length(Width::of_shape(shape)) || is_varint(int.encoding))
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
        Shape::Nibbles { lengths, encoding } => match encoding {
            NibbleEncoding::Unpacked | NibbleEncoding::Packed | NibbleEncoding::HexPrefix => {
                lengths.fixed().is_some()
            }
            NibbleEncoding::Counted => true,
        },
        Shape::Record(sequence) => are_delimited(sequence.segments()),
        Shape::Choice(alternatives) => {
            let rows = || alternatives.iter().map(|alternative| &alternative.sequence);
            rows().all(|row| are_delimited(row.segments())) && are_told_apart(rows())
        }
        Shape::List { item, framing: Framing::Counted(_), .. } | Shape::Desc(item) => is_delimited(item),
        Shape::List { item, framing: Framing::ToEnd | Framing::Joined(_), counts } => {
            counts.fixed().is_some() && is_delimited(item)
        }
        // No zero in the contents; groups that say whether another follows; a mark that no contents hold.
        Shape::Framed {
            frame: Frame::Len(_) | Frame::Terminated | Frame::Memcmp | Frame::OrderedCode,
            inner,
        } => is_read_alone(inner),
        Shape::Framed { frame: Frame::Escaped, inner } => {
            !class_of(inner).contains(0) && is_read_alone(inner)
        }
        _ => false,
    }
}

/// Whether no two values have the same bytes.
fn is_read_alone(shape: &Shape) -> bool {
    match shape {
        shape if is_delimited(shape) => true,
        Shape::Int(_) => !shape.loses_information(),
        Shape::Bytes { encoding, .. } => {
            matches!(
                encoding,
                BytesEncoding::Raw | BytesEncoding::Class(_) | BytesEncoding::Hex(_) | BytesEncoding::Tuple
            )
        }
        // Escaped, or not at all: either way two texts are two keys.
        Shape::Text(_) => true,
        Shape::Nibbles { encoding, .. } => {
            matches!(encoding, NibbleEncoding::Unpacked | NibbleEncoding::HexPrefix)
        }
        Shape::Record(sequence) => is_read_once(sequence),
        Shape::Choice(alternatives) => {
            let rows = || alternatives.iter().map(|alternative| &alternative.sequence);
            rows().all(is_read_once) && are_told_apart(rows())
        }
        Shape::List { item, framing: Framing::ToEnd | Framing::Joined(_), .. } => {
            is_delimited(item) && Width::of_shape(item).min > 0
        }
        Shape::Option(inner) => is_read_alone(inner) && Width::of_shape(inner).min > 0,
        Shape::Framed { frame: Frame::Escaped, inner } | Shape::Desc(inner) => is_read_alone(inner),
        _ => false,
    }
}

/// Whether the literals that alternatives begin with tell which one it is: none is the front of another.
fn are_told_apart<'m>(rows: impl Iterator<Item = &'m Sequence>) -> bool {
    let mut literals: Vec<Vec<u8>> = rows.map(Sequence::literal_prefix).collect();
    literals.sort();
    // Whatever begins with one comes right after it.
    literals.windows(2).all(|pair| matches!(pair, [a, b] if !b.starts_with(a)))
}

fn is_varint(encoding: IntEncoding) -> bool {
    encoding.row().extent == ExtentRule::Marked
}

fn is_one_length(width: Width) -> bool {
    width.max == Some(width.min)
}
