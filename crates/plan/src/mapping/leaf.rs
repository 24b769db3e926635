//! The values of an argument list, records taken apart, and which of two lists are the same.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{DottedPath, Sequence, Shape};

/// Where a value is in an argument list: the index of the argument, then the indices inside of records.
pub type Path = Vec<usize>;

/// The shape whose values an argument takes, without what is done to their bytes.
pub fn bare(shape: &Shape) -> &Shape {
    shape.values()
}

/// A value that is not a record, with its name.
#[derive(Clone, Debug)]
pub struct Leaf<'m> {
    /// The names from the argument down, joined by dots; empty where there are none.
    pub name: String,
    /// Where it is.
    pub path: Path,
    /// What it may be, and its bytes.
    pub shape: &'m Shape,
}

/// The values of two argument lists, records taken apart, save for those that are optional in one of the lists.
pub fn leaves<'m>(old: &'m Sequence, new: &'m Sequence) -> (Vec<Leaf<'m>>, Vec<Leaf<'m>>) {
    let taken_apart = |sequence: &'m Sequence, whole: &BTreeSet<String>| {
        let mut all = Vec::new();
        gather(sequence, "", &[], whole, &mut all);
        all
    };
    let optional = |leaves: Vec<Leaf<'_>>| -> BTreeSet<String> {
        let record = |leaf: &Leaf<'_>| bare(leaf.shape).optional().and_then(Shape::record).is_some();
        leaves.into_iter().filter(record).map(|leaf| leaf.name).collect()
    };
    let none = BTreeSet::new();
    let whole = (optional(taken_apart(old, &none)), optional(taken_apart(new, &none)));
    (taken_apart(old, &whole.1), taken_apart(new, &whole.0))
}

fn gather<'m>(
    sequence: &'m Sequence,
    name: &str,
    base: &[usize],
    whole: &BTreeSet<String>,
    all: &mut Vec<Leaf<'m>>,
) {
    for (index, argument) in sequence.arguments().enumerate() {
        let own = argument.name.as_deref().unwrap_or_default();
        let name = if name.is_empty() { own.to_owned() } else { format!("{name}.{own}") };
        let path: Path = base.iter().copied().chain([index]).collect();
        match argument.shape.record().filter(|_| !whole.contains(&name)) {
            Some(inner) => gather(inner, &name, &path, whole, all),
            None => all.push(Leaf { name, path, shape: &argument.shape }),
        }
    }
}

/// Which value of the old list each value of the new one is. Values that are not in it are new and may be absent.
#[derive(Clone, Debug, Default)]
pub struct Pairing {
    old_of: BTreeMap<Path, Path>,
}

impl Pairing {
    /// Values with the same name are the same; what is left over is matched in order. What the new list has beyond
    /// that must be optional. `Err` says which argument is new or gone.
    pub fn between(old: &[Leaf<'_>], new: &[Leaf<'_>]) -> Result<Self, String> {
        let mut pairing = Self::default();
        let mut before: Vec<&Leaf<'_>> = old.iter().collect();
        let mut after: Vec<&Leaf<'_>> = new.iter().collect();
        // The whole name first; then the last part of it, for records that were written out or drawn together.
        let last = |name: &str| DottedPath(name).last().to_owned();
        let names: [&dyn Fn(&str) -> String; 2] = [&str::to_owned, &last];
        for name in names {
            after.retain(|leaf| {
                let own = name(&leaf.name);
                match before.iter().position(|other| !own.is_empty() && name(&other.name) == own) {
                    Some(index) => {
                        pairing.old_of.insert(leaf.path.clone(), before.remove(index).path.clone());
                        false
                    }
                    None => true,
                }
            });
        }
        let mut surplus = after.len().saturating_sub(before.len());
        for index in (0..after.len()).rev() {
            if surplus > 0 && after.get(index).is_some_and(|leaf| leaf.shape.optional().is_some()) {
                after.remove(index);
                surplus -= 1;
            }
        }
        if let Some(leaf) = after.get(before.len()) {
            return Err(format!("argument `{}` is new", leaf.name));
        }
        if let Some(leaf) = before.get(after.len()) {
            return Err(format!("argument `{}` is gone", leaf.name));
        }
        let pairs = after.into_iter().zip(before);
        pairing.old_of.extend(pairs.map(|(new, old)| (new.path.clone(), old.path.clone())));
        Ok(pairing)
    }

    /// The old place of a new value.
    pub fn old_of(&self, new: &[usize]) -> Option<&Path> {
        self.old_of.get(new)
    }

    /// Whether the value at `new` is the one that was at `old`.
    pub fn agrees(&self, old: &[usize], new: &[usize]) -> bool {
        self.old_of(new).is_some_and(|path| path == old)
    }
}
