//! Which files of a plan see each other's types, and which bring their spaces into it.

use std::collections::BTreeSet;

use super::resolve::Part;
use crate::order::set;

/// For each file, the files whose types it sees: itself, and all that it imports, directly or not.
pub(super) struct Sight {
    seen: Vec<BTreeSet<usize>>,
}

impl Sight {
    pub(super) fn of(parts: &[Part]) -> Self {
        let seen = (0..parts.len()).map(|place| reached(parts, place)).collect();
        Self { seen }
    }

    /// Whether the file at `place` sees the types of the file at `other`.
    pub(super) fn sees(&self, place: usize, other: usize) -> bool {
        self.seen.get(place).is_some_and(|seen| seen.contains(&other))
    }
}

fn reached(parts: &[Part], from: usize) -> BTreeSet<usize> {
    let mut seen = set([from]);
    let mut waiting = vec![from];
    while let Some(place) = waiting.pop() {
        for import in parts.get(place).into_iter().flat_map(|part| &part.imports) {
            if seen.insert(import.file) {
                waiting.push(import.file);
            }
        }
    }
    seen
}

/// The files whose spaces are part of the plan: each after what it imports, in the order of the imports.
pub(super) fn composed(parts: &[Part]) -> Vec<usize> {
    let mut order = Vec::new();
    let mut met = set([0]);
    // A file, and how many of its imports have been looked at.
    let mut open = vec![(0, 0)];
    while let Some((place, next)) = open.pop() {
        let imports = parts.get(place).map_or(&[][..], |part| part.imports.as_slice());
        let Some(import) = imports.get(next) else {
            order.push(place);
            continue;
        };
        open.push((place, next + 1));
        if !import.types_only && met.insert(import.file) {
            open.push((import.file, 0));
        }
    }
    order
}
