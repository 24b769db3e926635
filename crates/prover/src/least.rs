//! The shortest arguments of a layout, for what a witness needs beside the arguments that matter.

use std::collections::BTreeSet;

use keyplan_plan::dynamic::{Value, encode};
use keyplan_plan::model::{Sequence, Shape, Width};

use crate::automaton::{Arena, Precision, draw};
use crate::layout::MOST_NODES;
use crate::product::search::shortest_word;
use crate::reader::{Effort, alone, read};
use crate::sample;

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
