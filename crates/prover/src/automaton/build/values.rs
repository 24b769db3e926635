//! Few values, one by one.
//!
//! A copy, a part that is derived from an argument, a checksum and a hash in front of what it is made of are free in a graph,
//! which does not know what was read elsewhere. Where the argument has few values each of them is a way of its own, and what
//! depends on it is written out as the bytes that it is.

use std::collections::{BTreeMap, BTreeSet};

use keyplan_plan::dynamic::{Value, encode};
use keyplan_plan::model::{Derived, Segment, Sequence, Shape};
use keyplan_plan::order;

use super::Pen;
use crate::automaton::NodeId;
use crate::every;
use crate::sure::mark;
use crate::written::written;

/// The most values of a shape that are written out.
const MOST_VALUES: usize = 300;

/// The most segments of a layout that are drawn when some of its arguments are written out.
const MOST_DRAWN: usize = 4_000;

/// A value and its bytes.
#[derive(Clone)]
struct Written {
    value: Value,
    bytes: Vec<u8>,
}

/// Every value of a shape, if they are few and no two of them are written alike.
fn few(shape: &Shape) -> Option<Vec<Written>> {
    let written = |value: Value| written(shape, &value).map(|bytes| Written { value, bytes });
    let all: Vec<Written> = every::values(shape, MOST_VALUES)?.into_iter().filter_map(written).collect();
    let mut different: Vec<&[u8]> = all.iter().map(|written| written.bytes.as_slice()).collect();
    order::sort(&mut different);
    different.dedup();
    (different.len() == all.len()).then_some(all)
}

/// The bytes of a part that is derived from these values.
fn derived_bytes(sequence: &Sequence, derived: &Derived, values: &[&Value]) -> Option<Vec<u8>> {
    let mut segments: Vec<Segment> = Vec::new();
    for &of in &derived.of {
        segments.push(sequence.segments().get(of)?.clone());
    }
    let front = Sequence::new(segments.clone());
    let of = (0..derived.of.len()).collect();
    segments.push(Segment::Derived(Derived { of, ..derived.clone() }));
    let values: Vec<Value> = values.iter().copied().cloned().collect();
    let (mut without, mut with) = (Vec::new(), Vec::new());
    encode(&front, &values, &mut without).ok()?;
    encode(&Sequence::new(segments), &values, &mut with).ok()?;
    with.strip_prefix(without.as_slice()).map(<[u8]>::to_vec)
}

/// A layout while it is drawn from the front.
struct Row<'m> {
    sequence: &'m Sequence,
    next: NodeId,
    flip: bool,
    marks: Option<&'m BTreeSet<usize>>,
    /// How many segments may still be drawn.
    left: usize,
}

/// The values that an argument may still have, by its segment; those that nothing depends on, or that are many, are not here.
type Known = BTreeMap<usize, Vec<Written>>;

impl Pen<'_> {
    /// A shape as the list of its values, if they are few.
    pub(super) fn written_out(&mut self, shape: &Shape, next: NodeId, flip: bool) -> Option<NodeId> {
        let all = few(shape)?;
        let ways = all.iter().map(|written| self.arena.literal_flipped(&written.bytes, next, flip)).collect();
        Some(self.arena.split(ways, flip))
    }

    /// A row in which each copy and each derived part is that of its argument, where that has few values; `None` if nothing is
    /// gained, or if it takes too much.
    pub(super) fn row_by_value(
        &mut self,
        sequence: &Sequence,
        next: NodeId,
        flip: bool,
        marks: Option<&BTreeSet<usize>>,
    ) -> Option<NodeId> {
        let mut known = Known::new();
        for segment in sequence.segments() {
            let of: &[usize] = match segment {
                Segment::Same(same) => std::slice::from_ref(&same.of),
                Segment::Derived(derived) => &derived.of,
                Segment::Literal(_) | Segment::Argument(_) => &[],
            };
            for &of in of {
                if let Some(Segment::Argument(argument)) = sequence.segments().get(of)
                    && !known.contains_key(&of)
                    && let Some(values) = few(&argument.shape)
                {
                    known.insert(of, values);
                }
            }
        }
        if known.is_empty() {
            return None;
        }
        let loose = self.loose.clone();
        let drawn = self.way(&mut Row { sequence, next, flip, marks, left: MOST_DRAWN }, 0, &known);
        if drawn.is_none() {
            self.loose = loose;
        }
        drawn
    }

    /// The row from a segment on, with what is known of the arguments.
    fn way(&mut self, row: &mut Row<'_>, index: usize, known: &Known) -> Option<NodeId> {
        row.left = row.left.checked_sub(1)?;
        if self.arena.len() > self.limit {
            return None;
        }
        let (sequence, flip) = (row.sequence, row.flip);
        let node = match sequence.segments().get(index) {
            None => row.next,
            Some(Segment::Literal(literal)) => {
                let next = self.way(row, index + 1, known)?;
                self.arena.literal_flipped(&literal.bytes, next, flip)
            }
            Some(Segment::Argument(argument)) => {
                if let Some(values) = known.get(&index) {
                    let with = |value: &Written| with(known, index, vec![value.clone()]);
                    let ways = values.iter().map(|value| (value.bytes.clone(), with(value))).collect();
                    self.ways(row, index, ways)?
                } else {
                    let next = self.way(row, index + 1, known)?;
                    self.shape(&argument.shape, next, flip)?
                }
            }
            Some(Segment::Same(same)) => {
                let next = self.way(row, index + 1, known)?;
                match known.get(&same.of).map(Vec::as_slice) {
                    Some([only]) => {
                        let bytes = written(&same.shape, &only.value)?;
                        self.arena.literal_flipped(&bytes, next, flip)
                    }
                    _ => self.free_copy(same, next, flip)?,
                }
            }
            Some(Segment::Derived(derived)) => {
                if let Some(ways) = derivations(sequence, derived, known) {
                    self.ways(row, index, ways)?
                } else {
                    let next = self.way(row, index + 1, known)?;
                    self.free_derived(derived, next, flip)
                }
            }
        };
        let marked = row.marks.is_some_and(|marks| marks.contains(&index));
        Some(if marked { self.arena.mark(mark(index), node) } else { node })
    }

    /// One of several ways on at a segment: its bytes, and what is known after them.
    fn ways(&mut self, row: &mut Row<'_>, index: usize, ways: Vec<(Vec<u8>, Known)>) -> Option<NodeId> {
        let mut nodes = Vec::new();
        for (bytes, known) in ways {
            let next = self.way(row, index + 1, &known)?;
            nodes.push(self.arena.literal_flipped(&bytes, next, row.flip));
        }
        Some(self.arena.split(nodes, row.flip))
    }
}

/// What is known once an argument has one of these values.
fn with(known: &Known, of: usize, values: Vec<Written>) -> Known {
    let mut known = known.clone();
    known.insert(of, values);
    known
}

/// What a derived part may be, and what is known of its arguments then; `None` if they have many values.
fn derivations(sequence: &Sequence, derived: &Derived, known: &Known) -> Option<Vec<(Vec<u8>, Known)>> {
    let mut lists = Vec::new();
    for of in &derived.of {
        lists.push(known.get(of)?);
    }
    if lists.iter().all(|list| list.len() == 1) {
        let values: Vec<&Value> =
            lists.iter().filter_map(|list| list.first()).map(|one| &one.value).collect();
        return Some(vec![(derived_bytes(sequence, derived, &values)?, known.clone())]);
    }
    // One argument that comes later: those of its values that have this part.
    let (&[of], [values]) = (derived.of.as_slice(), lists.as_slice()) else { return None };
    let mut all = Vec::new();
    for value in *values {
        all.push((derived_bytes(sequence, derived, &[&value.value])?, value.clone()));
    }
    order::sort_by(&mut all, |(a, _), (b, _)| a.cmp(b));
    let mut groups: Vec<(Vec<u8>, Vec<Written>)> = Vec::new();
    for (bytes, value) in all {
        match groups.last_mut() {
            Some((same, group)) if *same == bytes => group.push(value),
            _ => groups.push((bytes, vec![value])),
        }
    }
    Some(groups.into_iter().map(|(bytes, values)| (bytes, with(known, of, values))).collect())
}
