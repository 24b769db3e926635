//! What a digest may be the digest of.
//!
//! A reader of a key learns a digest and no argument. Two keys that agree in a digest need no collision of the hash for that: both
//! may have hashed the same bytes, or one of them a name that the plan gives. Such bytes are known, and so is their argument.

use keyplan_plan::codec::Hash;
use keyplan_plan::dynamic::{Value, inside_mut};
use keyplan_plan::model::{Sequence, Shape};
use keyplan_plan::order;

use super::digest::{grounded, holds_digest};
use super::name_collision::law::Names;
use crate::reader::{Effort, alone, read};
use crate::sample;
use crate::written::written;

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
        in_row(sequence, &mut values, &mut |digest| {
            let of = |(other, _): &&(Hash, Vec<u8>)| *other == digest.hash;
            self.known.iter().filter(of).find_map(|(_, bytes)| {
                let same = digest.hash.digest(bytes).get(..digest.keep) == Some(digest.bytes);
                same.then(|| argument(digest.inner, bytes, effort)).flatten()
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
            in_row(sequence, &mut values, &mut |digest| {
                let of = self.known.iter().filter(|(other, _)| *other == digest.hash);
                of.filter_map(|(_, bytes)| argument(digest.inner, bytes, effort)).nth(nth)
            });
            values
        };
        let rows: Vec<Vec<Value>> = (0..MOST_GROUNDED).map(|nth| row(nth, effort)).collect();
        rows.into_iter().filter(|values| grounded(values)).collect()
    }
}

/// What a shape hashes, as samples.
fn sampled(shape: &Shape, known: &mut Vec<(Hash, Vec<u8>)>) {
    if let Shape::Hashed { hash, inner, .. } = shape {
        let samples = sample::values(shape).into_iter();
        known.extend(samples.filter_map(|value| Some((*hash, written(inner, &value)?))));
    }
    shape.inner().into_iter().for_each(|inner| sampled(inner, known));
    shape.rows().flat_map(Sequence::shapes).for_each(|inner| sampled(inner, known));
}

/// The argument that is written as these bytes before it is hashed.
fn argument(inner: &Shape, bytes: &[u8], effort: &mut Effort) -> Option<Value> {
    let row = read(&alone(inner), bytes, 1, effort).into_iter().next()?;
    row.into_iter().next().filter(|value| !holds_digest(value))
}

/// A digest in place of an argument.
pub(crate) struct Digested<'a> {
    pub(crate) hash: Hash,
    /// How many bytes of it are kept.
    keep: usize,
    /// What is hashed.
    pub(crate) inner: &'a Shape,
    pub(crate) bytes: &'a [u8],
}

/// Puts what `name` gives in place of each digest.
pub(crate) fn in_row(
    sequence: &Sequence,
    values: &mut [Value],
    name: &mut dyn FnMut(Digested<'_>) -> Option<Value>,
) {
    for (argument, value) in sequence.arguments().zip(values) {
        in_shape(&argument.shape, value, name);
    }
}

fn in_shape(shape: &Shape, value: &mut Value, name: &mut dyn FnMut(Digested<'_>) -> Option<Value>) {
    if let Shape::Hashed { hash, keep, inner, .. } = shape {
        if let Value::Digest(bytes) = value
            && let Some(argument) = name(Digested { hash: *hash, keep: *keep, inner, bytes })
        {
            *value = argument;
        }
        return;
    }
    for (shape, value) in inside_mut(shape, value).into_iter().flatten() {
        in_shape(shape, value, name);
    }
}
