use keyplan_plan::model::{
    BytesEncoding, FloatEncoding, Frame, IntEncoding, IntShape, ScoreEncoding, Sequence, Shape,
};

use crate::guarantee::lossy::law::loses;

/// The layout with each encoding that loses information replaced by one that loses neither information nor order.
///
/// What holds of the twin and not of the layout itself fails only by the loss. Segments keep their places.
pub(crate) fn lossless_twin(sequence: &Sequence) -> Sequence {
    sequence.map(&lossless)
}

fn lossless(lossy: &Shape) -> Option<Shape> {
    // What could lose something and here does not is left as it is: its order is its own.
    if lossy.is_leaf() && !loses(lossy) {
        return None;
    }
    Some(match lossy {
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
        // A digest is a loss of another kind: it is assumed away, and its argument has no order to keep.
        shape => return shape.digest().map(|_| shape.clone()),
    })
}
