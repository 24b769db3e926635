//! Order argument by argument.
//!
//! Two rows of a scan are alike up to the first argument in which they differ, and so are the copies of what comes before it
//! and what is derived from that. If the values of each argument sort by their bytes, and none is the front of another, that
//! argument decides, whatever the graph says of what follows. The last part of a key has nothing after it: its values need
//! only differ.

use keyplan_plan::dynamic::Value;
use keyplan_plan::model::{Scan, ScanEnd, Segment, Sequence, Shape};
use keyplan_plan::order;
use std::cmp::Ordering;

use crate::automaton::Arena;
use crate::compare::compare;
use crate::every;
use crate::guarantee::ambiguous::delimited::Ends;
use crate::guarantee::leak::law::Scanned;
use crate::guarantee::unordered::law::by_graph;
use crate::layout::Layout;
use crate::product::Budget;
use crate::proof::Verdict;
use crate::reader::alone;
use crate::sure::neighbours;
use crate::written::written;

/// The most values of an argument that are put in order one by one.
const MOST_VALUES: usize = 2_000;

/// How deep records are looked into.
const MOST_DEPTH: u32 = 8;

/// Whether each argument that a scan leaves free decides the order of its rows by itself.
pub(crate) fn decide(arena: &mut Arena, scanned: Scanned<'_, '_>, budget: &mut Budget) -> bool {
    let (sequence, scan) = (scanned.layout.sequence, scanned.scan);
    scan.part.is_none()
        && sequence.arguments_before(scan.segments) == scan.bound
        && Parts { arena, budget, scan }.decide(sequence, scan.segments, 0)
}

struct Parts<'a> {
    arena: &'a mut Arena,
    budget: &'a mut Budget,
    scan: &'a Scan,
}

impl Parts<'_> {
    fn decide(&mut self, sequence: &Sequence, from: usize, depth: u32) -> bool {
        let segments = sequence.segments();
        segments.iter().enumerate().skip(from).all(|(index, segment)| match segment {
            Segment::Literal(_) => true,
            Segment::Same(same) => same.of < index,
            Segment::Derived(derived) => derived.of.iter().all(|&of| of < index),
            Segment::Argument(argument) => {
                let last = index + 1 == segments.len();
                self.sorts(&argument.shape, depth) && self.differs(&argument.shape, last)
            }
        })
    }

    /// Whether no value is the front of another, or at the end of all no two values are written alike.
    fn differs(&mut self, shape: &Shape, last: bool) -> bool {
        let mut ends = Ends { arena: self.arena, budget: self.budget };
        ends.is_delimited(shape) || last && ends.is_read_alone(shape)
    }

    /// Whether values of a shape, each a key by itself, sort by their bytes.
    fn sorts(&mut self, shape: &Shape, depth: u32) -> bool {
        if depth > MOST_DEPTH || self.budget.is_spent() {
            return false;
        }
        match one_by_one(shape) {
            Some(sorts) => sorts,
            None => match shape {
                Shape::Record(sequence) if self.decide(sequence, 0, depth + 1) => true,
                shape => self.sorts_in_the_graph(shape),
            },
        }
    }

    fn sorts_in_the_graph(&mut self, shape: &Shape) -> bool {
        let sequence = alone(shape);
        let layout = Layout::new(self.arena, "contents", &sequence, order::set([0, 1]));
        let scan = Scan { bound: 0, segments: 0, part: None, end: ScanEnd::Prefix, ..self.scan.clone() };
        let scanned = Scanned { layout: &layout, scan: &scan };
        by_graph(self.arena, scanned, self.budget) == Verdict::Holds
    }
}

/// Whether values of a shape sort by their bytes, from a list of all of them; `None` if they are many, or have no order.
fn one_by_one(shape: &Shape) -> Option<bool> {
    let values = every::values(shape, MOST_VALUES)?.into_iter();
    let mut all: Vec<(Vec<u8>, Value)> =
        values.filter_map(|value| Some((written(shape, &value)?, value))).collect();
    order::sort_by(&mut all, |a, b| a.0.cmp(&b.0));
    // Logical order is one order of all values: neighbours decide.
    for ((first, a), (second, b)) in neighbours(&all) {
        if first == second || compare(shape, a, b)? != Ordering::Less {
            return Some(false);
        }
    }
    Some(true)
}
