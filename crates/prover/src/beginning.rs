//! Argument lists whose key begins with given bytes.
//!
//! A row of a scan begins with its prefix, and how it goes on does not matter. The graph finds such rows but for what it is
//! blind to: a count of some thousand elements, a copy, a derived part. Here a row is put together from the front: what the bytes
//! stand for as far as they go, and the shortest values after that. What comes out is a guess, to be written and looked at.

use std::collections::BTreeSet;

use keyplan_plan::codec::{Count, LenWidth, Segment as _, complement};
use keyplan_plan::dynamic::Value;
use keyplan_plan::model::{Framing, LengthSet, Segment, Sequence, Shape, Width};

use crate::automaton::{Arena, ByteSet, END, Numbers, Precision, UNLIMITED, draw};
use crate::layout::MOST_NODES;
use crate::least::least_value;
use crate::product::Goal;
use crate::product::search::Search;
use crate::reader::{Effort, alone, read};
use crate::sure::{self, rest};
use crate::written::written;

/// The most elements of a list that are made.
const MOST_ELEMENTS: usize = 1 << 16;

/// How many values are tried for one argument.
const MOST_VALUES: usize = 4;

/// How many arguments are tried for one row.
const MOST_TRIED: u32 = 400;

/// The arguments of a key that begins with `front`, if the first guesses find one.
pub(crate) fn beginning(
    arena: &mut Arena,
    sequence: &Sequence,
    front: &[u8],
    effort: &mut Effort,
) -> Option<Vec<Value>> {
    let mut guess = Guess { arena, effort, left: MOST_TRIED };
    let (values, used) = guess.row(sequence, 0, front, &mut Vec::new())?;
    (used == front.len()).then_some(values)
}

struct Guess<'a> {
    arena: &'a mut Arena,
    effort: &'a mut Effort,
    left: u32,
}

/// How much of `front` some bytes are, if either begins with the other.
fn overlap(bytes: &[u8], front: &[u8]) -> Option<usize> {
    let both = bytes.len().min(front.len());
    (bytes.get(..both) == front.get(..both)).then_some(both)
}

impl Guess<'_> {
    /// The arguments of a row from a segment on, and how many bytes of `front` they are.
    fn row(
        &mut self,
        sequence: &Sequence,
        index: usize,
        front: &[u8],
        values: &mut Vec<Value>,
    ) -> Option<(Vec<Value>, usize)> {
        let Some(segment) = sequence.segments().get(index) else { return Some((values.clone(), 0)) };
        let rest = |used: usize| rest(front, used);
        let used = match segment {
            Segment::Literal(literal) => overlap(&literal.bytes, front)?,
            Segment::Same(same) => {
                let of = values.get(sequence.arguments_before(same.of))?;
                overlap(&written(&same.shape, of)?, front)?
            }
            Segment::Derived(_) => Width::of_segment(segment).min.min(front.len()),
            Segment::Argument(argument) => {
                for (value, used) in self.values(&argument.shape, front) {
                    self.left = self.left.checked_sub(1)?;
                    values.push(value);
                    let found = self.row(sequence, index + 1, rest(used), values);
                    values.pop();
                    if let Some((row, more)) = found {
                        return Some((row, used + more));
                    }
                }
                return None;
            }
        };
        let (row, more) = self.row(sequence, index + 1, rest(used), values)?;
        Some((row, used + more))
    }

    /// Values of a shape that are the front of the bytes, or begin with them; and how many of the bytes each is.
    fn values(&mut self, shape: &Shape, front: &[u8]) -> Vec<(Value, usize)> {
        if front.is_empty() {
            return least_value(self.arena, shape).map(|value| (value, 0)).into_iter().collect();
        }
        match shape {
            Shape::Record(sequence) => {
                let row = self.row(sequence, 0, front, &mut Vec::new());
                row.map(|(values, used)| (Value::Record(values), used)).into_iter().collect()
            }
            Shape::Choice(alternatives) => {
                let mut all = Vec::new();
                for (index, alternative) in alternatives.iter().enumerate() {
                    let row = self.row(&alternative.sequence, 0, front, &mut Vec::new());
                    all.extend(row.map(|(values, used)| (Value::Choice(index, values), used)));
                }
                all
            }
            Shape::Option(inner) => {
                let some = self.values(inner, front).into_iter();
                let mut all: Vec<_> =
                    some.map(|(value, used)| (Value::Option(Some(Box::new(value))), used)).collect();
                all.push((Value::Option(None), 0));
                all
            }
            Shape::Desc(inner) => {
                let mut turned = front.to_vec();
                complement(&mut turned);
                self.values(inner, &turned)
            }
            Shape::List { item, counts, framing: Framing::Counted(width) } => {
                self.lists(item, counts, *width, front)
            }
            shape => self.leaves(shape, front),
        }
    }

    /// Lists with a count in front.
    fn lists(
        &mut self,
        item: &Shape,
        counts: &LengthSet,
        width: LenWidth,
        front: &[u8],
    ) -> Vec<(Value, usize)> {
        let codec = Count { width };
        let written = |count: usize| {
            let mut bytes = Vec::new();
            codec.encode(count, &mut bytes).ok().map(|()| bytes)
        };
        let whole = (1..=front.len().min(10)).find_map(|head| codec.decode(front.get(..head)?).ok());
        let begun = || {
            let all = (counts.min()..=MOST_ELEMENTS).filter(|&count| counts.admits(count));
            all.into_iter().find(|&count| written(count).is_some_and(|bytes| bytes.starts_with(front)))
        };
        let count = whole.or_else(begun).filter(|&count| counts.admits(count) && count <= MOST_ELEMENTS);
        let Some((count, head)) = count.and_then(|count| Some((count, written(count)?.len()))) else {
            return Vec::new();
        };
        let mut used = head.min(front.len());
        let mut items = Vec::new();
        while items.len() < count && used < front.len() && self.left > 0 {
            self.left -= 1;
            let next = self.values(item, rest(front, used));
            // The one that goes farthest: an empty one leads nowhere.
            let Some((value, more)) = next.into_iter().max_by_key(|(_, more)| *more) else {
                return Vec::new();
            };
            if more == 0 {
                break;
            }
            items.push(value);
            used += more;
        }
        let Some(fill) = least_value(self.arena, item) else { return Vec::new() };
        items.resize(count, fill);
        vec![(Value::List(items), used)]
    }

    /// Values of a shape that the graph knows.
    fn leaves(&mut self, shape: &Shape, front: &[u8]) -> Vec<(Value, usize)> {
        let sequence = alone(shape);
        let width = Width::of_shape(shape);
        let mut all = Vec::new();
        if let Some(value) = self.covering(&sequence, front) {
            all.push((value, front.len()));
        }
        let least = width.min;
        let most = width.max.unwrap_or(usize::MAX).min(front.len());
        for length in (least..=most).rev() {
            if all.len() >= MOST_VALUES || self.effort.is_spent() {
                break;
            }
            let values = read(&sequence, sure::front(front, length), 1, self.effort).into_iter().flatten();
            all.extend(values.map(|value| (value, length)));
        }
        all
    }

    /// A value whose bytes begin with these, and go on.
    fn covering(&mut self, sequence: &Sequence, front: &[u8]) -> Option<Value> {
        let drawing = draw(self.arena, sequence, &BTreeSet::new(), Precision::Coarse, MOST_NODES)?;
        let anything = self.arena.run(ByteSet::FULL, Numbers::range(0, UNLIMITED), END, false);
        let other = self.arena.literal(front, anything);
        let mut search = Search::of_two(self.arena, Goal::Meet, drawing.start, other);
        for _ in 0..2 {
            let word = search.next()?.common;
            if let Some(value) = read(sequence, &word, 1, self.effort).into_iter().flatten().next() {
                return Some(value);
            }
        }
        None
    }
}
