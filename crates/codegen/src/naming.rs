//! Names of what is made, the same way in every language: unique in their scope, and stable when a plan grows.

use std::collections::{BTreeMap, BTreeSet};

use keyplan_plan::model::{Family, Plan};

/// The names of one scope. One that is taken gets `_` and the least number from 2 on that is free; names are asked for in the
/// order of the plan.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scope {
    taken: BTreeSet<String>,
}

impl Scope {
    pub(crate) fn reserve<'n>(&mut self, names: impl IntoIterator<Item = &'n str>) {
        self.taken.extend(names.into_iter().map(str::to_owned));
    }

    pub(crate) fn fresh(&mut self, wanted: &str) -> String {
        let mut name = wanted.to_owned();
        let mut number = 2;
        while !self.taken.insert(name.clone()) {
            name = format!("{wanted}_{number}");
            number += 1;
        }
        name
    }
}

/// `owner_position` as `OwnerPosition`.
pub(crate) fn pascal(name: &str) -> String {
    let mut out = String::new();
    for word in name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()) {
        let mut letters = word.chars();
        out.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        out.push_str(letters.as_str());
    }
    if out.is_empty() || out.starts_with(|first: char| first.is_ascii_digit()) {
        out.insert(0, 'N');
    }
    out
}

/// Every family of a plan with the name that it wants, which `spell` makes of a path.
///
/// Families that would be called alike are all called by a longer path, so that a new one changes the names of those that it
/// meets and of no other.
pub(crate) fn wanted_names(plan: &Plan, spell: fn(&str) -> String) -> Vec<(&Family, String)> {
    let all: Vec<&Family> = plan.families().map(|(_, family)| family).collect();
    let forms = |family: &Family| [&family.name, family.local_path(), &family.path].map(spell);
    let mut counts: [BTreeMap<String, usize>; 3] = Default::default();
    for family in &all {
        for (name, count) in forms(family).into_iter().zip(&mut counts) {
            *count.entry(name).or_default() += 1;
        }
    }
    let wanted = |family: &Family| {
        let mut unique = forms(family).into_iter().zip(&counts);
        let unique = unique.find(|(name, count)| count.get(name) == Some(&1));
        unique.map_or_else(|| spell(&family.path), |(name, _)| name)
    };
    all.into_iter().map(|family| (family, wanted(family))).collect()
}
