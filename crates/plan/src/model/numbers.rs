//! The numbers of a module: which are used, which are given up, which are free.

use std::collections::BTreeMap;

use super::{Allotment, Family, Module, ModuleId, Space};

/// The numbers of a module, which are the first bytes after its prefix.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Numbers {
    /// Each number in use, with the paths of the families and modules that begin with it.
    pub used: BTreeMap<u8, Vec<String>>,
    /// Each number that was given up and that nothing uses, with since when, if the plan says so, and why.
    pub retired: BTreeMap<u8, (Option<String>, String)>,
}

impl Numbers {
    /// The numbers of a module of a space.
    pub fn of(space: &Space, id: ModuleId) -> Self {
        let mut numbers = Self::default();
        let Some(module) = space.modules.get(id.0) else { return numbers };
        for family in space.families.iter().filter(|family| family.module == Some(id)) {
            let Some(number) = family.number else { continue };
            match &family.retired {
                None => numbers.used.entry(number).or_default().push(family.path.clone()),
                Some(why) => {
                    let entry = (family.retired_since.clone(), why.clone());
                    numbers.retired.entry(number).or_insert(entry);
                }
            }
        }
        for inner in space.modules.iter().filter(|inner| inner.parent == Some(id)) {
            let behind = inner.prefix.strip_prefix(module.prefix.as_slice()).unwrap_or_default();
            if let Some(number) = behind.first() {
                numbers.used.entry(*number).or_default().push(inner.path.clone());
            }
        }
        // A prefix may be given up by the space or by a module around.
        for retired in space.retired.iter().chain(space.modules.iter().flat_map(|other| &other.retired)) {
            let behind = retired.prefix.strip_prefix(module.prefix.as_slice()).unwrap_or_default();
            if let [number] = behind {
                let entry = (retired.since.clone(), retired.why.clone());
                numbers.retired.entry(*number).or_insert(entry);
            }
        }
        numbers.retired.retain(|number, _| !numbers.used.contains_key(number));
        numbers
    }

    /// Whether a number is neither used nor given up.
    pub fn is_free(&self, number: u8) -> bool {
        !self.used.contains_key(&number) && !self.retired.contains_key(&number)
    }

    /// The free numbers of a range, in order.
    pub fn free_in(&self, allotment: &Allotment) -> impl Iterator<Item = u8> {
        (allotment.first..=allotment.last).filter(|number| self.is_free(*number))
    }
}

impl Module {
    /// The allotment of this name.
    pub fn allotment(&self, name: &str) -> Option<&Allotment> {
        self.allotments.iter().find(|allotment| allotment.name == name)
    }

    /// The allotment that a number lies in.
    pub fn allotment_of(&self, number: u8) -> Option<&Allotment> {
        self.allotments.iter().find(|allotment| allotment.contains(number))
    }
}

impl Space {
    /// The first number that nothing uses or has used, of the range that a family names; where it names none, of the first
    /// range that has one. With it, the range.
    pub fn next_free(&self, family: &Family) -> Option<(u8, &Allotment)> {
        let id = family.module?;
        let module = self.modules.get(id.0)?;
        let numbers = Numbers::of(self, id);
        let first = |allotment| Some((numbers.free_in(allotment).next()?, allotment));
        match &family.allotment {
            Some(name) => first(module.allotment(name)?),
            None => module.allotments.iter().find_map(first),
        }
    }
}
