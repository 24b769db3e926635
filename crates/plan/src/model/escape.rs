//! Where an end looks like an escape.
//!
//! `escaped`, and text and bytes of `tuple`, write a zero inside as `00 ff` and end with `00`. So what comes after them must not
//! begin with `ff`, or the end is taken for a zero inside, and under `desc` not with `00`. A part before such bytes does not
//! mark its own end: it is looked for, as that of a text without a length is.

use super::{
    BytesEncoding, Extent, Frame, Framing, IntEncoding, IntRange, NibbleEncoding, Segment, Sequence, Shape,
    Width,
};
use keyplan_codec::LenWidth;

/// The bytes that are a part of an escape.
const ESCAPES: [u8; 2] = [0x00, 0xff];

/// Where the segments of a row end, each before what comes after it.
pub(super) fn extents(segments: &[Segment], widths: &[Width]) -> Vec<Extent> {
    let alone = segments.iter().map(Extent::of_segment).enumerate();
    alone
        .map(|(index, extent)| {
            let (Extent::Delimited, Some(shape)) = (extent, segments.get(index).and_then(shape)) else {
                return extent;
            };
            let after = segments.iter().zip(widths).skip(index + 1);
            let runs_on = |&byte: &u8| goes_on(shape, byte) && any_begins(after.clone(), byte);
            if ESCAPES.iter().any(runs_on) { Extent::Open } else { extent }
        })
        .collect()
}

/// Where an element of a list ends, before the next one.
pub(super) fn extent_of_item(item: &Shape, framing: &Framing) -> Extent {
    let extent = item.extent();
    let next = |byte: u8| match framing {
        Framing::Joined(separator) => separator.first() == Some(&byte),
        Framing::ToEnd | Framing::Counted(_) => begins(item, byte),
    };
    let runs_on = |&byte: &u8| goes_on(item, byte) && next(byte);
    if extent == Extent::Delimited && ESCAPES.iter().any(runs_on) { Extent::Open } else { extent }
}

impl Sequence {
    /// Whether the end of a segment is also the first byte of a zero inside it: only what comes after it tells the two apart.
    pub fn ends_like_a_zero(&self, segment: usize) -> bool {
        const SECOND_BYTE_OF_A_ZERO: u8 = 0xff;
        self.segments()
            .get(segment)
            .and_then(shape)
            .is_some_and(|shape| goes_on(shape, SECOND_BYTE_OF_A_ZERO))
    }
}

fn shape(segment: &Segment) -> Option<&Shape> {
    match segment {
        Segment::Argument(argument) => Some(&argument.shape),
        Segment::Same(same) => Some(&same.shape),
        Segment::Literal(_) | Segment::Derived(_) => None,
    }
}

/// Whether the bytes of a shape seem to go on where `byte` follows them.
fn goes_on(shape: &Shape, byte: u8) -> bool {
    match shape {
        Shape::Framed { frame, .. } => frame.must_not_precede() == Some(byte),
        Shape::Bytes { encoding: BytesEncoding::Tuple, .. } => byte == 0xff,
        Shape::Text(text) => text.tuple && byte == 0xff,
        Shape::Desc(inner) => goes_on(inner, !byte),
        Shape::HashConcat { inner, .. } | Shape::Option(inner) => goes_on(inner, byte),
        Shape::List { item, framing: Framing::Counted(_), .. } => goes_on(item, byte),
        Shape::Record(sequence) => sequence_goes_on(sequence, byte),
        Shape::Choice(alternatives) => {
            alternatives.iter().any(|alternative| sequence_goes_on(&alternative.sequence, byte))
        }
        _ => false,
    }
}

fn sequence_goes_on(sequence: &Sequence, byte: u8) -> bool {
    for (segment, width) in sequence.segments().iter().zip(sequence.widths()).rev() {
        if shape(segment).is_some_and(|shape| goes_on(shape, byte)) {
            return true;
        }
        if width.min > 0 {
            break;
        }
    }
    false
}

fn any_begins<'s>(segments: impl Iterator<Item = (&'s Segment, &'s Width)>, byte: u8) -> bool {
    for (segment, width) in segments {
        let begins = match segment {
            Segment::Literal(literal) => literal.bytes.first() == Some(&byte),
            Segment::Argument(argument) => begins(&argument.shape, byte),
            Segment::Same(same) => begins(&same.shape, byte),
            Segment::Derived(_) => true,
        };
        if begins || width.min > 0 {
            return begins;
        }
    }
    false
}

fn sequence_begins(sequence: &Sequence, byte: u8) -> bool {
    any_begins(sequence.segments().iter().zip(sequence.widths()), byte)
}

/// Whether the bytes of a shape may begin with one of [`ESCAPES`]; true where that takes thought.
fn begins(shape: &Shape, byte: u8) -> bool {
    match shape {
        Shape::Int(int) => match (int.encoding, int.range) {
            (
                IntEncoding::Dec
                | IntEncoding::DecPadded(_)
                | IntEncoding::Hex(_)
                | IntEncoding::HexPadded(..),
                _,
            ) => false,
            (IntEncoding::Be, IntRange::Unsigned { min, max }) => {
                let first = |n: u128| n >> (8 * (int.ty.bytes().max(1) - 1));
                (first(min)..=first(max)).contains(&u128::from(byte))
            }
            _ => true,
        },
        // No character has a byte `ff`.
        Shape::Text(text) => byte != 0xff && !text.tuple && text.may_hold(byte),
        Shape::Bytes { encoding, .. } => match encoding {
            BytesEncoding::Class(class) => class.contains(byte),
            BytesEncoding::Hex(_) | BytesEncoding::Tuple => false,
            _ => true,
        },
        Shape::Bool(_) | Shape::Nibbles { encoding: NibbleEncoding::Unpacked, .. } => byte == 0,
        Shape::Record(sequence) => sequence_begins(sequence, byte),
        Shape::Choice(alternatives) => {
            alternatives.iter().any(|alternative| sequence_begins(&alternative.sequence, byte))
        }
        Shape::Option(inner) => begins(inner, byte),
        Shape::List { item, counts, framing } => match framing {
            Framing::Counted(width) => number_begins(*width, counts.min(), counts.max(), byte),
            Framing::ToEnd => begins(item, byte),
            Framing::Joined(separator) => {
                begins(item, byte) || (Width::of_shape(item).min == 0 && separator.first() == Some(&byte))
            }
        },
        Shape::Framed { frame: Frame::Len(width), inner } => {
            let inside = Width::of_shape(inner);
            number_begins(*width, inside.min, inside.max, byte)
        }
        // An end or a filling of zeros.
        Shape::Framed { inner, .. } => byte == 0 || begins(inner, byte),
        Shape::Desc(inner) => begins(inner, !byte),
        Shape::Float(_)
        | Shape::Time(_)
        | Shape::Score { .. }
        | Shape::Nibbles { .. }
        | Shape::Opaque(_)
        | Shape::Hashed { .. }
        | Shape::HashConcat { .. } => true,
    }
}

/// Whether a length or a count may begin with a byte.
fn number_begins(width: LenWidth, min: usize, max: Option<usize>, byte: u8) -> bool {
    match (width, byte) {
        (LenWidth::L8, 0) => min == 0,
        (LenWidth::L8, _) => max.is_none_or(|max| max >= usize::from(byte)),
        (LenWidth::L16, 0xff) => max.is_none_or(|max| max >= 0xff00),
        (LenWidth::L32 | LenWidth::L64, 0xff) => max.is_none_or(|max| max >= 0xff00_0000),
        _ => true,
    }
}
