//! What a key means, as data: every reading of it with the bytes of each segment, or how far the nearest families get.
//!
//! [`explain`] reads a key in some spaces of a plan. [`Reading::pieces`] says which bytes are what, by the places at which
//! the decoder read them; [`Nearest::sound`] says what was read before a key broke.
//!
//! ```
//! use keyplan_plan::{dynamic::Decoder, explain::explain};
//!
//! let text = "plan demo; space s { key tick = 0x01 pool: u64 tick: i64.tick9; }";
//! let plan = keyplan_plan::compile("demo.keyplan", text, |_| Err("no imports".into())).plan.expect("sound");
//! let decoder = Decoder::new(&plan);
//!
//! let found = explain(&decoder, &[0], &[1, 0, 0, 0, 0, 0, 0, 0, 7, 6, 0, 0, 0, 0, 0, 0, 0, 1]);
//! assert_eq!(found.readings[0].decoded.family.path, "s.tick");
//! let broken = explain(&decoder, &[0], &[1, 0, 0, 0, 0, 0, 0, 0, 7, 9]);
//! assert_eq!((broken.nearest[0].family.name.as_str(), broken.nearest[0].failure.offset), ("tick", 10));
//! ```

mod anatomy;
mod prefix;

pub use anatomy::{Piece, PieceKind, pieces};
pub use prefix::{Front, front};

use std::ops::Range;

use crate::dynamic::{Decoded, Decoder, Failure, READINGS, located};
use crate::model::{Family, Sequence, Space};
use crate::order::sort_by;

/// Everything that is known of a key.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation<'p> {
    /// All readings, by space.
    pub readings: Vec<Reading<'p>>,
    /// Whether there may be more.
    pub more: bool,
    /// Without a reading: the families that get furthest, and what breaks each; nearest first.
    pub nearest: Vec<Nearest<'p>>,
}

/// One meaning of a key.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading<'p> {
    /// Its space, family and arguments.
    pub decoded: Decoded<'p>,
}

/// A family that does not make a key, and how far it gets.
#[derive(Clone, Debug, PartialEq)]
pub struct Nearest<'p> {
    /// The space of the family.
    pub space: &'p Space,
    /// The family.
    pub family: &'p Family,
    /// The byte that breaks it, and why.
    pub failure: Failure,
}

/// How many families an explanation names that do not make the key.
const NEAREST: usize = 3;

/// Reads a key in each of these spaces, which are given by their index in the plan.
pub fn explain<'p>(decoder: &Decoder<'p>, spaces: &[usize], key: &[u8]) -> Explanation<'p> {
    let mut all = Explanation { readings: Vec::new(), more: false, nearest: Vec::new() };
    let mut misses = Vec::new();
    for &space in spaces {
        match decoder.decode_all(space, key, READINGS) {
            Ok(found) => {
                all.more |= found.more;
                all.readings.extend(found.readings.into_iter().map(|decoded| Reading { decoded }));
            }
            Err(miss) => misses.push(miss),
        }
    }
    if all.readings.is_empty() {
        let found = misses.iter().filter_map(|miss| Some((miss.space?, miss.nearest_families())));
        let mut nearest: Vec<Nearest<'p>> = found
            .flat_map(|(space, found)| {
                found.into_iter().map(move |(family, failure)| Nearest { space, family, failure })
            })
            .collect();
        rank(&mut nearest, |nearest| (nearest.failure.offset, nearest.family));
        nearest.truncate(NEAREST);
        all.nearest = nearest;
    }
    all
}

/// Puts those first that get furthest, and leaves out who explains nothing.
pub(crate) fn rank<T>(all: &mut Vec<T>, reach: impl Fn(&T) -> (usize, &Family)) {
    sort_by(all, |a, b| {
        let ((a, one), (b, other)) = (reach(a), reach(b));
        b.cmp(&a).then_with(|| one.path.cmp(&other.path))
    });
    // A family that does not even share the first byte explains nothing beside one that does.
    if all.first().is_some_and(|first| reach(first).0 > 0) {
        all.retain(|one| reach(one).0 > 0);
    }
}

impl Reading<'_> {
    /// Which bytes of the key are what, with the literals in front named for the modules and the family.
    pub fn pieces(&self, key: &[u8]) -> Option<Vec<Piece>> {
        let Decoded { space, family, values } = &self.decoded;
        let mut pieces = pieces(&family.key, key, values)?;
        name_lead(space, family, &mut pieces);
        Some(pieces)
    }
}

impl Nearest<'_> {
    /// The pieces that were read before the one that broke.
    pub fn sound(&self, key: &[u8]) -> Vec<Range<usize>> {
        sound(&self.family.key, key)
    }
}

/// The pieces of a layout that were read before the one that broke; none if nothing breaks.
pub fn sound(sequence: &Sequence, bytes: &[u8]) -> Vec<Range<usize>> {
    let Err(reached) = located(sequence, bytes, 1) else { return Vec::new() };
    let Some((&end, before)) = reached.starts.split_last() else { return Vec::new() };
    let whole = Sequence::new(sequence.segments().iter().take(before.len()).cloned().collect());
    let bytes = bytes.get(..end).unwrap_or_default();
    // What is derived may be of segments that are not there yet: then only the segments are known.
    let read = located(&whole, bytes, 1).ok().and_then(|mut found| found.pop());
    let pieces = read.and_then(|read| pieces(&whole, bytes, &read.values));
    match pieces {
        Some(pieces) => pieces.into_iter().map(|piece| piece.span).collect(),
        None => before.iter().zip(before.iter().skip(1).chain([&end])).map(|(&a, &b)| a..b).collect(),
    }
}

/// Labels the literals in front with the modules and the family that they are the bytes of.
fn name_lead(space: &Space, family: &Family, pieces: &mut [Piece]) {
    let mut modules: Vec<(usize, &str)> = Vec::new();
    let mut module = family.module.and_then(|id| space.modules.get(id.0));
    while let Some(outer) = module {
        modules.push((outer.prefix.len(), &outer.name));
        module = outer.parent.and_then(|id| space.modules.get(id.0));
    }
    let mut named = false;
    for piece in pieces.iter_mut().take_while(|piece| piece.kind == PieceKind::Literal) {
        let end = piece.span.end;
        let module = modules.iter().rev().find(|(prefix, _)| *prefix == end);
        if let Some((_, name)) = module {
            (*name).clone_into(&mut piece.label);
        } else if !named && modules.iter().all(|(prefix, _)| *prefix < end) {
            named = true;
            piece.label.clone_from(&family.name);
        }
        piece.name.clone_from(&piece.label);
    }
}
