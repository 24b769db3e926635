//! The registry of a plan: modules, who may use which number, what is free and what was given up.

mod document;

use keyplan_plan::model::{DottedPath, ModuleId, Numbers, Plan, Space};
use keyplan_plan::notation::{first_sentence, hex};
use serde::Serialize;

pub use document::{DocumentFault, check_document};

/// The modules of a plan and their numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Registry {
    /// The plan's name.
    pub plan: String,
    /// Its modules, those of a space one after the other, outer ones before inner ones.
    pub modules: Vec<ModuleEntry>,
    /// Prefixes that spaces themselves have given up.
    pub retired: Vec<RetiredPrefix>,
}

/// One module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ModuleEntry {
    /// Its path, `space.module`.
    pub path: String,
    /// The file that declares it, if it is known.
    pub file: Option<String>,
    /// What every key in it begins with, two digits a byte.
    pub prefix: String,
    /// The first sentence of its documentation.
    pub about: Option<String>,
    /// Its ranges.
    pub allotments: Vec<AllotmentEntry>,
    /// Its numbers in use.
    pub used: Vec<UsedNumber>,
    /// Its numbers that were given up.
    pub retired: Vec<RetiredNumber>,
    /// Families without a number.
    pub unnumbered: Vec<String>,
    /// How many numbers are free: in its ranges, or of all 256 if it has none.
    pub free: usize,
}

/// A range of numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AllotmentEntry {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub purpose: Option<String>,
    /// Its first number.
    pub first: u8,
    /// Its last number.
    pub last: u8,
    /// How many of its numbers are used.
    pub used: usize,
    /// How many were given up.
    pub retired: usize,
    /// How many are free.
    pub free: usize,
    /// The number to take next.
    pub next: Option<u8>,
}

/// A number in use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UsedNumber {
    /// The number.
    pub number: u8,
    /// The families and modules that begin with it.
    pub by: Vec<String>,
    /// The range that it lies in.
    pub allotment: Option<String>,
    /// The range that its family names, if that is another one.
    pub says: Option<String>,
}

/// A number that was given up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RetiredNumber {
    /// The number.
    pub number: u8,
    /// Since when.
    pub since: Option<String>,
    /// Why.
    pub why: String,
}

/// A prefix that was given up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RetiredPrefix {
    /// The space.
    pub space: String,
    /// The prefix, two digits a byte.
    pub prefix: String,
    /// Since when.
    pub since: Option<String>,
    /// Why.
    pub why: String,
}

impl Registry {
    /// Keeps the modules of a name, which may be the last part of a path; false if there are none.
    pub fn only(&mut self, module: &str) -> bool {
        self.modules.retain(|entry| DottedPath(&entry.path).ends_with(DottedPath(module)));
        !self.modules.is_empty()
    }

    /// The registry of a plan. `file` says which file a span is in.
    pub fn of(plan: &Plan, file: impl Fn(keyplan_plan::diag::Span) -> Option<String>) -> Self {
        let mut modules = Vec::new();
        let mut retired = Vec::new();
        for space in &plan.spaces {
            for index in 0..space.modules.len() {
                modules.extend(entry(space, ModuleId(index), &file));
            }
            retired.extend(space.retired.iter().map(|old| RetiredPrefix {
                space: space.name.clone(),
                prefix: hex(&old.prefix),
                since: old.since.clone(),
                why: old.why.clone(),
            }));
        }
        Self { plan: plan.name.clone(), modules, retired }
    }

    /// The registry as JSON.
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}

fn entry(
    space: &Space,
    id: ModuleId,
    file: &impl Fn(keyplan_plan::diag::Span) -> Option<String>,
) -> Option<ModuleEntry> {
    let module = space.modules.get(id.0)?;
    let numbers = Numbers::of(space, id);
    let families = || space.families.iter().filter(|family| family.module == Some(id));
    let allotments: Vec<AllotmentEntry> = module
        .allotments
        .iter()
        .map(|range| AllotmentEntry {
            name: range.name.clone(),
            purpose: range.purpose.clone(),
            first: range.first,
            last: range.last,
            used: numbers.used.range(range.first..=range.last).count(),
            retired: numbers.retired.range(range.first..=range.last).count(),
            free: numbers.free_in(range).count(),
            next: numbers.free_in(range).next(),
        })
        .collect();
    let used = numbers.used.iter().map(|(number, by)| {
        let allotment = module.allotment_of(*number).map(|range| range.name.clone());
        let named =
            families().filter(|family| family.number == Some(*number)).find_map(|f| f.allotment.clone());
        let says = named.filter(|named| allotment.as_ref() != Some(named));
        UsedNumber { number: *number, by: by.clone(), allotment, says }
    });
    let gone = numbers.retired.iter();
    let free = if allotments.is_empty() {
        (0..=u8::MAX).filter(|number| numbers.is_free(*number)).count()
    } else {
        allotments.iter().map(|range| range.free).sum()
    };
    Some(ModuleEntry {
        path: module.path.clone(),
        file: file(module.span),
        prefix: hex(&module.prefix),
        about: first_sentence(&module.doc),
        used: used.collect(),
        retired: gone
            .map(|(number, (since, why))| RetiredNumber {
                number: *number,
                since: since.clone(),
                why: why.clone(),
            })
            .collect(),
        unnumbered: families().filter(|f| f.number.is_none()).map(|f| f.path.clone()).collect(),
        allotments,
        free,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_free_number_is_neither_used_nor_given_up() {
        let text = "plan p; space s { module m = 0x03 {
            allot 0x01..=0x04 core; allot 0x20..=0x21 ibc \"packets\";
            retired 0x02 since \"v2\" \"moved\";
            key a = 0x01; key b = 0x20 allot ibc; key c = 0x21 allot core accept misallotted \"old\";
            key d = 0x03 retired since \"v3\" \"gone\";
            module inner = 0x04 { key e = x: u8; }
        } }";
        let compiled = keyplan_plan::compile("p", text, |_| Err(String::new()));
        assert_eq!(compiled.diagnostics, []);
        let registry = Registry::of(&compiled.plan.unwrap(), |_| None);
        let module = &registry.modules[0];
        let ranges: Vec<_> = module.allotments.iter().map(|r| (r.used, r.retired, r.free, r.next)).collect();
        assert_eq!(ranges, [(2, 2, 0, None), (2, 0, 0, None)]);
        let says: Vec<_> = module.used.iter().map(|n| (n.number, n.says.as_deref())).collect();
        assert_eq!(says, [(1, None), (4, None), (0x20, None), (0x21, Some("core"))]);
        let gone: Vec<_> =
            module.retired.iter().map(|n| (n.number, n.since.as_deref(), n.why.as_str())).collect();
        assert_eq!(gone, [(2, Some("v2"), "moved"), (3, Some("v3"), "gone")]);
        assert_eq!(registry.modules[1].unnumbered, ["s.m.inner.e"]);
    }
}
