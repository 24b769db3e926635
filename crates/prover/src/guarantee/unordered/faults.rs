//! Values whose bytes are in the wrong order whatever comes after them.

use std::cmp::Ordering;

use keyplan_plan::dynamic::Value;
use keyplan_plan::model::{Frame, Shape};
use keyplan_plan::order::sort_by_key;

use crate::automaton::Arena;
use crate::compare::compare;
use crate::guarantee::unordered::lengths::{of_length, turn};
use crate::least::holes;
use crate::sample;
use crate::written::written;

/// How many pairs are kept of one shape.
const MOST_PAIRS: usize = 8;

/// Pairs of values, the logically smaller first, of which the smaller has the greater byte where they differ; the
/// shortest first. Parts that do not matter are as short as they can be.
pub(crate) fn faults(arena: &mut Arena, shape: &Shape) -> Vec<(Value, Value)> {
    let mut found: Vec<(usize, Value, Value)> = Vec::new();
    let mut keep = |a: &(Vec<u8>, Value), b: &(Vec<u8>, Value)| {
        let (smaller, larger) = match compare(shape, &a.1, &b.1) {
            Some(Ordering::Less) => (a, b),
            Some(Ordering::Greater) => (b, a),
            _ => return,
        };
        if smaller.0 > larger.0 && !smaller.0.starts_with(&larger.0) {
            found.push((smaller.0.len().max(larger.0.len()), smaller.1.clone(), larger.1.clone()));
        }
    };
    for (a, b) in parts(arena, shape) {
        if let (Some(x), Some(y)) = (written(shape, &a), written(shape, &b)) {
            keep(&(x, a), &(y, b));
        }
    }
    let samples = sample::edges(shape).into_iter();
    let samples: Vec<(Vec<u8>, Value)> =
        samples.filter_map(|value| Some((written(shape, &value)?, value))).collect();
    for (index, a) in samples.iter().enumerate() {
        for b in samples.iter().skip(index + 1) {
            keep(a, b);
        }
    }
    sort_by_key(&mut found, |(length, ..)| *length);
    found.truncate(MOST_PAIRS);
    found.into_iter().map(|(_, smaller, larger)| (smaller, larger)).collect()
}

/// Pairs of values that differ in a faulty part only.
fn parts(arena: &mut Arena, shape: &Shape) -> Vec<(Value, Value)> {
    let mut all = Vec::new();
    if let Shape::Framed { frame: Frame::Len(width), inner } = shape {
        let lengths = turn(*width, inner).into_iter();
        all.extend(lengths.filter_map(|(a, b)| Some((of_length(inner, a)?, of_length(inner, b)?))));
    }
    for hole in holes(shape) {
        let pairs = faults(arena, hole.shape);
        all.extend(hole.filled(arena, pairs));
    }
    all
}
