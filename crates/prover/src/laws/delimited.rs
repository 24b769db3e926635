//! Layouts that are read from left to right without a choice.
//!
//! An encoding is *delimited* if the bytes of one value are never the front of those of another: fixed widths, varints, and
//! whatever has its length or its count in front. Behind such a part the next one begins at one place, whatever the graph says
//! of long counts and contents. What is not known to be so counts as not delimited.

use keyplan_plan::model::{
    BytesEncoding, Frame, Framing, IntEncoding, NibbleEncoding, Segment, Sequence, Shape, Width,
};

/// Whether the first segments of a layout are delimited, so that bytes that begin like them have one reading of them.
pub(super) fn are_delimited(segments: &[Segment]) -> bool {
    segments.iter().all(|segment| match segment {
        Segment::Literal(_) => true,
        Segment::Argument(argument) => is_delimited(&argument.shape),
        Segment::Same(same) => is_delimited(&same.shape),
        // Whatever it says, it takes so many bytes.
        Segment::Derived(_) => is_one_length(Width::of_segment(segment)),
    })
}

/// Whether a layout has one reading: all of its parts are delimited but the last one, which takes the rest.
pub(super) fn is_read_once(sequence: &Sequence) -> bool {
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
            lengths.fixed().is_some()
                && matches!(encoding, BytesEncoding::Raw | BytesEncoding::Class(_) | BytesEncoding::Hex(_))
        }
        Shape::Text(text) => text.lengths.fixed().is_some() && !text.tuple,
        Shape::Nibbles { lengths, encoding } => match encoding {
            NibbleEncoding::Unpacked => lengths.fixed().is_some(),
            NibbleEncoding::Counted => true,
            NibbleEncoding::Packed | NibbleEncoding::HexPrefix => false,
        },
        Shape::Record(sequence) => are_delimited(sequence.segments()),
        Shape::List { item, framing: Framing::Counted(_), .. } | Shape::Desc(item) => is_delimited(item),
        Shape::Framed { frame: Frame::Len(_), inner } => is_read_alone(inner),
        _ => false,
    }
}

/// Whether no two values have the same bytes.
fn is_read_alone(shape: &Shape) -> bool {
    match shape {
        shape if is_delimited(shape) => true,
        Shape::Int(_) => !shape.loses_information(),
        Shape::Bytes { encoding, .. } => {
            matches!(encoding, BytesEncoding::Raw | BytesEncoding::Class(_) | BytesEncoding::Hex(_))
        }
        Shape::Text(text) => !text.tuple,
        Shape::Nibbles { encoding, .. } => *encoding == NibbleEncoding::Unpacked,
        Shape::Record(sequence) => is_read_once(sequence),
        Shape::List { item, framing: Framing::ToEnd, .. } => {
            is_delimited(item) && Width::of_shape(item).min > 0
        }
        Shape::Option(inner) => is_read_alone(inner) && Width::of_shape(inner).min > 0,
        Shape::Desc(inner) => is_read_alone(inner),
        _ => false,
    }
}

fn is_varint(encoding: IntEncoding) -> bool {
    matches!(
        encoding,
        IntEncoding::Leb128
            | IntEncoding::BitcoinVarint
            | IntEncoding::CompactSize
            | IntEncoding::ScaleCompact
    )
}

fn is_one_length(width: Width) -> bool {
    width.max == Some(width.min)
}
