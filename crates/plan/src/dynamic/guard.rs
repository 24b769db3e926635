//! Whether bytes that were encoded can be read in another way: where an accepted flaw does harm.
//!
//! A guarded encoder refuses such arguments and names the other reading. An encoding that loses information is no
//! second reading by itself.

use super::{Decoder, Value, encode_one, inside_both, readings};
use crate::model::{Family, Sequence, Shape};

/// How many readings are looked at before one is taken for another.
const READINGS: usize = 8;

/// Another reading of the same bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Other<'p> {
    /// Whose layout it is: the path of a family, or a field's name.
    pub owner: &'p str,
    /// The layout.
    pub sequence: &'p Sequence,
    /// Its arguments.
    pub values: Vec<Value>,
}

/// Another reading of a key in its space than that of `family` with `values`.
pub fn other_key<'p>(
    decoder: &Decoder<'p>,
    space: usize,
    family: &Family,
    values: &[Value],
    key: &[u8],
) -> Option<Other<'p>> {
    let all = decoder.decode_all(space, key, READINGS).ok()?;
    let other = all
        .readings
        .into_iter()
        .find(|read| read.family.path != family.path || !same_arguments(&family.key, values, &read.values))?;
    Some(Other { owner: &other.family.path, sequence: &other.family.key, values: other.values })
}

/// Another reading among layouts of which the bytes are to be `layout` with `values`.
pub fn other_layout<'p>(
    layouts: impl IntoIterator<Item = (&'p str, &'p Sequence)>,
    layout: &str,
    values: &[Value],
    bytes: &[u8],
) -> Option<Other<'p>> {
    layouts.into_iter().find_map(|(owner, sequence)| {
        let all = readings(sequence, bytes, READINGS).ok()?;
        let mut others = all
            .readings
            .into_iter()
            .filter(|read| owner != layout || !same_arguments(sequence, values, read));
        others.next().map(|values| Other { owner, sequence, values })
    })
}

fn same_arguments(sequence: &Sequence, given: &[Value], read: &[Value]) -> bool {
    given.len() == read.len()
        && sequence.arguments().zip(given).zip(read).all(|((a, given), read)| same(&a.shape, given, read))
}

/// Whether `read` is what `given` is read back as: equal, except where the bytes do not hold the argument.
fn same(shape: &Shape, given: &Value, read: &Value) -> bool {
    // Of what is hashed the bytes hold no part.
    let is_whole = matches!(shape, Shape::Hashed { .. });
    match inside_both(shape, given, read).filter(|_| !is_whole) {
        Some(mut both) => {
            both.forms.is_eq() && both.parts.all(|(shape, given, read)| same(shape, given, read))
        }
        None => given == read || shape.loses_information() && bytes(shape, given) == bytes(shape, read),
    }
}

fn bytes(shape: &Shape, value: &Value) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    encode_one(shape, value, &mut out).ok()?;
    Some(out)
}
