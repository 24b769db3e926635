use keyplan_plan::model::{
    Alternative, Argument, BytesEncoding, FloatEncoding, Frame, IntEncoding, IntShape, Same, ScoreEncoding,
    Segment, Sequence, Shape,
};

use crate::guarantee::lossy::law::loses;

/// The layout with each encoding that loses information replaced by one that loses neither information nor order.
///
/// What holds of the twin and not of the layout itself fails by the loss alone. Segments keep their places.
pub(crate) fn lossless_twin(sequence: &Sequence) -> Sequence {
    Sequence::new(sequence.segments().iter().map(segment).collect())
}

fn segment(segment: &Segment) -> Segment {
    match segment {
        Segment::Argument(argument) => {
            Segment::Argument(Argument { shape: shape(&argument.shape), ..argument.clone() })
        }
        Segment::Same(same) => Segment::Same(Same { shape: shape(&same.shape), ..same.clone() }),
        Segment::Literal(_) | Segment::Derived(_) => segment.clone(),
    }
}

fn shape(lossy: &Shape) -> Shape {
    // What could lose something and here does not is left as it is: its order is its own.
    if lossy.is_leaf() && !loses(lossy) {
        return lossy.clone();
    }
    let boxed = |inner: &Shape| Box::new(shape(inner));
    match lossy {
        Shape::Int(int) => {
            let encoding = if int.ty.signed { IntEncoding::SignFlip } else { IntEncoding::Be };
            Shape::Int(IntShape { encoding, ..int.clone() })
        }
        Shape::Float(FloatEncoding::Badger) => Shape::Float(FloatEncoding::Ordered),
        Shape::Score { heights, encoding } if encoding.row().loses => {
            Shape::Score { heights: *heights, encoding: ScoreEncoding::Exact }
        }
        Shape::Bytes { lengths, encoding: BytesEncoding::Fit(_) } => {
            let raw = Shape::Bytes { lengths: lengths.clone(), encoding: BytesEncoding::Raw };
            Shape::Framed { frame: Frame::Terminated, inner: Box::new(raw) }
        }
        Shape::Framed { frame, inner } => Shape::Framed { frame: *frame, inner: boxed(inner) },
        Shape::Desc(inner) => Shape::Desc(boxed(inner)),
        Shape::Option(inner) => Shape::Option(boxed(inner)),
        Shape::HashConcat { hash, keep, inner } => {
            Shape::HashConcat { hash: *hash, keep: *keep, inner: boxed(inner) }
        }
        Shape::List { item, counts, framing } => {
            Shape::List { item: boxed(item), counts: counts.clone(), framing: framing.clone() }
        }
        Shape::Record(sequence) => Shape::Record(lossless_twin(sequence)),
        Shape::Choice(alternatives) => Shape::Choice(
            alternatives
                .iter()
                .map(|alternative| Alternative {
                    sequence: lossless_twin(&alternative.sequence),
                    ..alternative.clone()
                })
                .collect(),
        ),
        // A digest is a loss of another kind: it is assumed away, and its argument has no order to keep.
        other => other.clone(),
    }
}
