//! What a digest may be the digest of.
//!
//! A reader of a key learns a digest and no argument. Two keys that agree in a digest need no collision of the hash for that: both
//! may have hashed the same bytes, or one of them a name that the plan gives. Such bytes are known, and so is their argument.

use keyplan_plan::codec::Hash;
use keyplan_plan::dynamic::{Value, encode_one};
use keyplan_plan::model::{Sequence, Shape};
use keyplan_plan::order;

use super::digest::{grounded, holds_digest};
use super::name_collision::law::Names;
use crate::reader::{Effort, alone, read};
use crate::sample;

/// How many samples are put in place of the digests of a word.
const MOST_GROUNDED: usize = 8;

/// Bytes that some layouts hash, or may hash.
pub(crate) struct Preimages {
    known: Vec<(Hash, Vec<u8>)>,
}

impl Preimages {
    /// Those of some layouts: constants, known names, and samples of what is hashed.
    pub(crate) fn of(sequences: &[&Sequence]) -> Self {
        let mut names = Names::default();
        let mut known = Vec::new();
        for sequence in sequences {
            names.add(sequence);
            sequence.shapes().for_each(|shape| sampled(shape, &mut known));
        }
        known.extend(names.known.into_iter().map(|name| (name.hash, name.name)));
        order::sort(&mut known);
        known.dedup();
        Self { known }
    }

    /// The values with the argument of every digest whose bytes are known.
    pub(crate) fn named(
        &self,
        sequence: &Sequence,
        mut values: Vec<Value>,
        effort: &mut Effort,
    ) -> Vec<Value> {
        if grounded(&values) {
            return values;
        }
        in_row(sequence, &mut values, &mut |shape, digest| {
            let Shape::Hashed { hash, keep, inner, .. } = shape else { return None };
            let of = |(other, _): &&(Hash, Vec<u8>)| other == hash;
            self.known.iter().filter(of).find_map(|(_, bytes)| {
                let same = hash.digest(bytes).get(..*keep) == Some(digest);
                same.then(|| argument(inner, bytes, effort)).flatten()
            })
        });
        values
    }

    /// The same row with other arguments in place of its digests: each time those of other bytes that may be hashed.
    pub(crate) fn grounded(
        &self,
        sequence: &Sequence,
        values: &[Value],
        effort: &mut Effort,
    ) -> Vec<Vec<Value>> {
        let row = |nth: usize, effort: &mut Effort| {
            let mut values = values.to_vec();
            in_row(sequence, &mut values, &mut |shape, _| {
                let Shape::Hashed { hash, inner, .. } = shape else { return None };
                let of = self.known.iter().filter(|(other, _)| other == hash);
                of.filter_map(|(_, bytes)| argument(inner, bytes, effort)).nth(nth)
            });
            values
        };
        let rows: Vec<Vec<Value>> = (0..MOST_GROUNDED).map(|nth| row(nth, effort)).collect();
        rows.into_iter().filter(|values| grounded(values)).collect()
    }
}

/// What a shape hashes, as samples.
fn sampled(shape: &Shape, known: &mut Vec<(Hash, Vec<u8>)>) {
    if let Shape::Hashed { hash, .. } = shape {
        for value in sample::values(shape) {
            let mut bytes = Vec::new();
            if let Some(inner) = shape.inner()
                && encode_one(inner, &value, &mut bytes).is_ok()
            {
                known.push((*hash, bytes));
            }
        }
    }
    shape.inner().into_iter().for_each(|inner| sampled(inner, known));
    shape.rows().flat_map(Sequence::shapes).for_each(|inner| sampled(inner, known));
}

/// The argument that is written as these bytes before it is hashed.
fn argument(inner: &Shape, bytes: &[u8], effort: &mut Effort) -> Option<Value> {
    let row = read(&alone(inner), bytes, 1, effort).into_iter().next()?;
    row.into_iter().next().filter(|value| !holds_digest(value))
}

/// Puts what `name` gives in place of each digest.
pub(crate) fn in_row(
    sequence: &Sequence,
    values: &mut [Value],
    name: &mut dyn FnMut(&Shape, &[u8]) -> Option<Value>,
) {
    for (argument, value) in sequence.arguments().zip(values) {
        in_shape(&argument.shape, value, name);
    }
}

fn in_shape(shape: &Shape, value: &mut Value, name: &mut dyn FnMut(&Shape, &[u8]) -> Option<Value>) {
    match (shape.unwrapped(), value) {
        (hashed @ Shape::Hashed { .. }, value) => {
            if let Value::Digest(digest) = value
                && let Some(argument) = name(hashed, digest)
            {
                *value = argument;
            }
        }
        (Shape::Record(sequence), Value::Record(values)) => in_row(sequence, values, name),
        (Shape::Choice(alternatives), Value::Choice(index, values)) => {
            if let Some(alternative) = alternatives.get(*index) {
                in_row(&alternative.sequence, values, name);
            }
        }
        (Shape::Option(inner), Value::Option(Some(value))) => in_shape(inner, value, name),
        (Shape::List { item, .. }, Value::List(values)) => {
            for value in values {
                in_shape(item, value, name);
            }
        }
        _ => {}
    }
}
