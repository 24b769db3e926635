//! The shortest arguments of a layout, for what a witness needs beside the arguments that matter.

use std::collections::BTreeSet;

use keyplan_plan::dynamic::{Value, encode};
use keyplan_plan::model::{Sequence, Shape, Width};

use crate::automaton::{Arena, Precision, draw};
use crate::layout::MOST_NODES;
use crate::product::search::shortest_word;
use crate::reader::{Effort, alone, read};
use crate::sample;
use crate::sure::Sure as _;

/// How many argument lists are tried where the graph has paths that are not keys.
const MOST_ROWS: usize = 64;

/// The arguments of the shortest key of a layout.
pub(crate) fn least_row(arena: &mut Arena, sequence: &Sequence) -> Option<Vec<Value>> {
    sequence.arguments().map(|argument| least_value(arena, &argument.shape)).collect()
}

/// The value of a shape that takes the fewest bytes.
pub(crate) fn least_value(arena: &mut Arena, shape: &Shape) -> Option<Value> {
    let sequence = alone(shape);
    let written = |value: &Value| {
        let mut bytes = Vec::new();
        encode(&sequence, std::slice::from_ref(value), &mut bytes).ok().map(|()| bytes.len())
    };
    let least = Width::of_shape(shape).min;
    let samples = sample::values(shape);
    // Most of the time the simplest value is a shortest one.
    if let Some(value) = samples.iter().take(3).find(|value| written(value) == Some(least)) {
        return Some(value.clone());
    }
    let drawn = draw(arena, &sequence, &BTreeSet::new(), Precision::Coarse, MOST_NODES).and_then(|drawing| {
        let word = shortest_word(arena, drawing.start);
        read(&sequence, &word, 1, &mut Effort::new()).into_iter().flatten().next()
    });
    let shortest = || {
        let lengths = samples.iter().take(MOST_ROWS).filter_map(|value| Some((written(value)?, value)));
        lengths.min_by_key(|(length, _)| *length).map(|(_, value)| value.clone())
    };
    drawn.filter(|value| !crate::guarantee::digest::holds_digest(value)).or_else(shortest)
}

/// A place right inside of a shape, where values of the shape may differ.
pub(crate) struct Hole<'m> {
    /// What belongs there.
    pub(crate) shape: &'m Shape,
    around: Around<'m>,
}

/// What is around a place.
enum Around<'m> {
    /// Nothing that is seen in the value.
    Bytes,
    /// An option.
    Option,
    /// The other elements of a list.
    List(usize),
    /// The other arguments of a record, or of an alternative.
    Row(Option<usize>, &'m Sequence, usize),
}

/// The places right inside of a shape. In what is hashed there are none: a digest does not show what was there.
pub(crate) fn holes(shape: &Shape) -> Vec<Hole<'_>> {
    if let Some(inner) = shape.wrapped() {
        return vec![Hole { shape: inner, around: Around::Bytes }];
    }
    match shape {
        Shape::Option(inner) => vec![Hole { shape: inner, around: Around::Option }],
        Shape::List { item, counts, .. } => {
            let count = (counts.min().max(1)..=counts.min().max(64)).find(|&count| counts.admits(count));
            count.map(|count| Hole { shape: item, around: Around::List(count) }).into_iter().collect()
        }
        shape => {
            let chosen = |row: usize| matches!(shape, Shape::Choice(_)).then_some(row);
            let rows = shape.rows().enumerate().flat_map(|(row, sequence)| {
                sequence
                    .arguments()
                    .enumerate()
                    .map(move |(index, argument)| (row, sequence, index, argument))
            });
            rows.map(|(row, sequence, index, argument)| Hole {
                shape: &argument.shape,
                around: Around::Row(chosen(row), sequence, index),
            })
            .collect()
        }
    }
}

impl Hole<'_> {
    /// Pairs of values of the whole shape, which differ as these do at the place; all else is as short as it can be.
    pub(crate) fn filled(&self, arena: &mut Arena, pairs: Vec<(Value, Value)>) -> Vec<(Value, Value)> {
        let base = match self.around {
            _ if pairs.is_empty() => return pairs,
            Around::Bytes | Around::Option => Some(Vec::new()),
            Around::List(count) => least_value(arena, self.shape).map(|fill| vec![fill; count]),
            Around::Row(_, sequence, _) => least_row(arena, sequence),
        };
        let Some(base) = base else { return Vec::new() };
        let fill = |value: Value| match self.around {
            Around::Bytes => value,
            Around::Option => Value::Option(Some(Box::new(value))),
            Around::List(_) => Value::List(with(&base, 0, value)),
            Around::Row(None, _, index) => Value::Record(with(&base, index, value)),
            Around::Row(Some(row), _, index) => Value::Choice(row, with(&base, index, value)),
        };
        pairs.into_iter().map(|(a, b)| (fill(a), fill(b))).collect()
    }
}

/// A row of arguments with another value for one of them.
pub(crate) fn with(row: &[Value], index: usize, value: Value) -> Vec<Value> {
    let mut row = row.to_vec();
    *row.get_mut(index).sure("a value for each argument") = value;
    row
}
