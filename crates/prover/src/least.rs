//! The shortest arguments of a layout, for what a witness needs beside the arguments that matter.

use std::collections::BTreeSet;

use keyplan_plan::dynamic::{Form, Value};
use keyplan_plan::model::{Sequence, Shape, Width};

use crate::automaton::{Arena, Precision, draw};
use crate::layout::MOST_NODES;
use crate::product::search::shortest_word;
use crate::reader::{Effort, alone, read};
use crate::sample;
use crate::sure::Sure as _;
use crate::written::written;

/// How many argument lists are tried where the graph has paths that are not keys.
const MOST_ROWS: usize = 64;

/// The arguments of the shortest key of a layout.
pub(crate) fn least_row(arena: &mut Arena, sequence: &Sequence) -> Option<Vec<Value>> {
    sequence.arguments().map(|argument| least_value(arena, &argument.shape)).collect()
}

/// The value of a shape that takes the fewest bytes.
pub(crate) fn least_value(arena: &mut Arena, shape: &Shape) -> Option<Value> {
    let length = |value: &Value| written(shape, value).map(|bytes| bytes.len());
    let least = Width::of_shape(shape).min;
    let samples = sample::values(shape);
    // Most of the time the simplest value is a shortest one.
    if let Some(value) = samples.iter().take(3).find(|value| length(value) == Some(least)) {
        return Some(value.clone());
    }
    let sequence = alone(shape);
    let drawn = draw(arena, &sequence, &BTreeSet::new(), Precision::Coarse, MOST_NODES).and_then(|drawing| {
        let word = shortest_word(arena, drawing.start);
        read(&sequence, &word, 1, &mut Effort::new()).into_iter().flatten().next()
    });
    let shortest = || {
        let lengths = samples.iter().take(MOST_ROWS).filter_map(|value| Some((length(value)?, value)));
        lengths.min_by_key(|(length, _)| *length).map(|(_, value)| value.clone())
    };
    drawn.filter(|value| !crate::guarantee::digest::holds_digest(value)).or_else(shortest)
}

/// A place right inside of a shape, where values of the shape may differ.
pub(crate) struct Hole<'m> {
    /// What belongs there.
    pub(crate) shape: &'m Shape,
    form: Form<'m>,
    index: usize,
}

/// The places right inside of a shape. In what is hashed there are none: a digest does not show what was there.
pub(crate) fn holes(shape: &Shape) -> Vec<Hole<'_>> {
    if let Shape::List { counts, .. } = shape {
        let count = (counts.min().max(1)..=counts.min().max(64)).find(|&count| counts.admits(count));
        // One element is as good as another.
        count.and_then(|count| places(shape.form_of_elements(count)?).next()).into_iter().collect()
    } else if shape.digest().is_some() {
        Vec::new()
    } else {
        shape.forms().into_iter().flatten().flat_map(places).collect()
    }
}

fn places(form: Form<'_>) -> impl Iterator<Item = Hole<'_>> {
    form.shapes().enumerate().map(move |(index, shape)| Hole { shape, form, index })
}

impl Hole<'_> {
    /// Pairs of values of the whole shape, which differ as these do at the place; all else is as short as it can be.
    pub(crate) fn filled(&self, arena: &mut Arena, pairs: Vec<(Value, Value)>) -> Vec<(Value, Value)> {
        if pairs.is_empty() {
            return pairs;
        }
        let base = match self.form.row() {
            Some(row) => least_row(arena, row),
            // There is no other part.
            None if self.form.count() == 1 => pairs.first().map(|(part, _)| vec![part.clone()]),
            None => least_value(arena, self.shape).map(|fill| vec![fill; self.form.count()]),
        };
        let Some(base) = base else { return Vec::new() };
        let fill =
            |value: Value| self.form.value(with(&base, self.index, value)).sure("a value for each part");
        pairs.into_iter().map(|(a, b)| (fill(a), fill(b))).collect()
    }
}

/// A row of arguments with another value for one of them.
pub(crate) fn with(row: &[Value], index: usize, value: Value) -> Vec<Value> {
    let mut row = row.to_vec();
    *row.get_mut(index).sure("a value for each argument") = value;
    row
}
