//! Which way the bytes of a number go when the number goes up by one, whatever comes after them.
//!
//! A range up to the next value begins with the bytes `E q(x)` and ends before `E q(x + 1)`, where `E` are the arguments before the
//! number. If `q(x)` and `q(x + 1)` differ in a byte, and in the right way, every row of `x` lies in the range, and no row that
//! begins with `E` and has another number does. If they differ in the wrong way the range ends before it begins, and holds nothing.

use std::cmp::Ordering;

use keyplan_plan::model::{Frame, OrderRule, Segment, Shape};

use crate::automaton::Arena;
use crate::guarantee::ambiguous::delimited::Ends;
use crate::guarantee::leak::law::Scanned;
use crate::guarantee::lossy::law::loses;
use crate::guarantee::missing::law::before_last;
use crate::guarantee::unordered::law::right;
use crate::product::Budget;

/// How the bytes of each number of the last bound argument lie to those of every greater one: they differ in a byte, and that of the
/// smaller number is less, or greater. `None` if neither is known of all of them.
pub(super) fn course(arena: &mut Arena, scanned: Scanned<'_, '_>, budget: &mut Budget) -> Option<Ordering> {
    let outer = before_last(scanned);
    // Not if a part that is derived from the number comes before it.
    let Segment::Argument(argument) = scanned.layout.sequence.segments().get(outer.segments)? else {
        return None;
    };
    let is_last = outer.bound.checked_add(1) == Some(scanned.scan.bound);
    if !is_last || loses(&argument.shape) {
        return None;
    }
    of_shape(&mut Ends { arena, budget }, &argument.shape)
}

fn of_shape(ends: &mut Ends<'_>, shape: &Shape) -> Option<Ordering> {
    match shape {
        // Sorted where two differ in a byte, and none is the front of another.
        Shape::Int(_) => (right(shape).is_ok() && ends.is_delimited(shape)).then_some(Ordering::Less),
        // Lengths sort, and so do numbers of one length.
        Shape::Framed { frame: Frame::Len(_), inner } => {
            (matches!(**inner, Shape::Int(_)) && right(shape).is_ok()).then_some(Ordering::Less)
        }
        // Up to the first byte in which two differ they are written alike, and there as the two bytes lie.
        Shape::Framed { frame, inner } if frame.row().order == OrderRule::Within => of_shape(ends, inner),
        shape => of_shape(ends, shape.turned()?).map(Ordering::reverse),
    }
}
