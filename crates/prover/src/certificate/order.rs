//! Byte order, as the checker defines it.
//!
//! Nothing is asked of a graph. Of each encoding it is written down whether a smaller value is told from a larger one by a
//! byte, whatever comes after the two, or whether it may also be the front of the larger one; then what follows has to sort
//! below whatever the larger one goes on with. Encodings of which that takes thought have no order here.

use keyplan_plan::codec::{Alphabet, WideForm};
use keyplan_plan::model::{BytesEncoding, Framing, NibbleEncoding, Segment, Shape, Width};

use super::ends::{End, FrameOrder, frame_order, int_sorts};
use super::reason::{class, first_byte, told_apart, union};
use crate::sure::rest;

/// How the bytes of a smaller value lie to those of a larger one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// Where they first differ both go on, and the smaller value has the smaller byte.
    Byte,
    /// As [`Order::Byte`]; or the smaller value is the front of the larger, which goes on with one of these.
    Front(Alphabet),
}

/// How rows that are alike before the segment `from` sort by the arguments from there on; `None` if that is not known.
///
/// The rows of a scan are in order if this is known, and so are the ends of ranges over the next argument: what is smaller
/// than the end differs from it in a byte, or is the front of it and goes on with less, or ends.
pub(super) fn row_order(segments: &[Segment], from: usize) -> Option<Order> {
    let mut row = Order::Byte;
    for (index, segment) in segments.iter().enumerate().skip(from) {
        match segment {
            Segment::Literal(_) => {}
            // Equal where what it was made from is, if that comes before.
            Segment::Same(same) if same.of < index => {}
            Segment::Derived(derived) if derived.of.iter().all(|&of| of < index) => {}
            Segment::Same(_) | Segment::Derived(_) => return None,
            Segment::Argument(argument) => {
                let behind = rest(segments, index + 1);
                match order(&argument.shape)? {
                    Order::Byte => {}
                    front @ Order::Front(_) if behind.is_empty() => row = front,
                    Order::Front(on) => {
                        if !below(first_byte(behind)?, on) {
                            return None;
                        }
                    }
                }
            }
        }
    }
    Some(row)
}

/// Whether every byte of one set is below every byte of another.
fn below(a: Alphabet, b: Alphabet) -> bool {
    let most = (0..=u8::MAX).rev().find(|&byte| a.contains(byte));
    let least = (0..=u8::MAX).find(|&byte| b.contains(byte));
    most.zip(least).is_some_and(|(most, least)| most < least)
}

/// How values of a shape sort.
fn order(shape: &Shape) -> Option<Order> {
    // A value that is the front of another is shorter.
    let unless_fixed = |on: Alphabet| {
        Some(if matches!(End::of_shape(shape), End::Fixed(_)) { Order::Byte } else { Order::Front(on) })
    };
    match shape {
        Shape::Int(int) => int_sorts(int).then_some(Order::Byte),
        Shape::Bool(_) | Shape::Time(_) => Some(Order::Byte),
        Shape::Bytes { encoding, .. } => match encoding {
            BytesEncoding::Raw | BytesEncoding::Class(_) | BytesEncoding::Hex(_) => {
                unless_fixed(class(shape))
            }
            BytesEncoding::Wide { signed: false, form: WideForm::Be }
            | BytesEncoding::Wide { signed: true, form: WideForm::SignFlip } => Some(Order::Byte),
            // `00` ends it, and `00 ff` does not.
            BytesEncoding::Tuple => unless_fixed(Alphabet::EMPTY.with(0xff)),
            _ => None,
        },
        Shape::Text(text) if text.tuple => Some(if End::of_shape(shape).is_marked() {
            Order::Byte
        } else {
            Order::Front(Alphabet::EMPTY.with(0xff))
        }),
        Shape::Text(_) | Shape::Nibbles { encoding: NibbleEncoding::Unpacked, .. } => {
            unless_fixed(class(shape))
        }
        Shape::Opaque(_) => Some(Order::Front(class(shape))),
        Shape::Record(sequence) => row_order(sequence.segments(), 0),
        Shape::Choice(alternatives) => {
            let literals: Vec<Vec<u8>> =
                alternatives.iter().map(|alternative| alternative.sequence.literal_prefix()).collect();
            if !told_apart(shape) || !literals.is_sorted() {
                return None;
            }
            let mut all = Order::Byte;
            for alternative in alternatives {
                all = match (all, row_order(alternative.sequence.segments(), 0)?) {
                    (Order::Byte, order) | (order, Order::Byte) => order,
                    (Order::Front(a), Order::Front(b)) => Order::Front(union(a, b)),
                };
            }
            Some(all)
        }
        // Nothing comes first, and is the front of everything.
        Shape::Option(inner) if Width::of_shape(inner).min > 0 => {
            let on = match order(inner)? {
                Order::Byte => class(inner),
                Order::Front(on) => union(on, class(inner)),
            };
            Some(Order::Front(on))
        }
        Shape::List { item, counts, framing } if Width::of_shape(item).min > 0 => {
            match (framing, order(item)?) {
                // The count is always the same.
                (Framing::Counted(_) | Framing::ToEnd, Order::Byte) if counts.fixed().is_some() => {
                    Some(Order::Byte)
                }
                (Framing::ToEnd | Framing::Joined(_), Order::Byte) => Some(Order::Front(class(shape))),
                (Framing::Joined(separator), Order::Front(on)) => {
                    let first = separator.first().map(|&byte| Alphabet::EMPTY.with(byte))?;
                    below(first, on).then(|| Order::Front(union(on, class(shape))))
                }
                _ => None,
            }
        }
        Shape::Framed { frame, inner } => match frame_order(*frame) {
            // The length is always the same.
            FrameOrder::OneLength if matches!(End::of_shape(inner), End::Fixed(_)) => {
                order(inner).filter(|order| *order == Order::Byte)
            }
            FrameOrder::OneLength => None,
            FrameOrder::Anywhere => order(inner).map(|_| Order::Byte),
            FrameOrder::Front(on) => order(inner).map(|_| {
                if class(inner).contains(0) { Order::Front(Alphabet::EMPTY.with(on)) } else { Order::Byte }
            }),
        },
        // The complement turns bytes around, and leaves a front in front.
        Shape::Desc(inner) => order(inner).filter(|order| *order == Order::Byte),
        _ => None,
    }
}
