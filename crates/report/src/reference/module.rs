//! Who may use which numbers of a module, counted.

use std::collections::BTreeSet;

use keyplan_plan::model::{Family, Module, Retired};

use super::counted;
use super::{Page, code, spaced};

/// The ranges of a module: what for, how many numbers are taken, and which families are in the wrong one.
pub(super) fn allotments(page: &mut Page<'_>, module: &Module, families: &[&Family]) {
    if module.allotments.is_empty() {
        return;
    }
    let numbers = Numbers::of(module, families);
    let rows: Vec<Vec<String>> = module
        .allotments
        .iter()
        .map(|allotment| {
            let within = |set: &BTreeSet<u8>| set.range(allotment.first..=allotment.last).count();
            let (used, retired) = (within(&numbers.used), within(&numbers.retired));
            let size = usize::from(allotment.last) - usize::from(allotment.first) + 1;
            vec![
                code(&format!("0x{:02x}..=0x{:02x}", allotment.first, allotment.last)),
                code(&allotment.name),
                allotment.purpose.clone().unwrap_or_default(),
                size.to_string(),
                used.to_string(),
                retired.to_string(),
                size.saturating_sub(used + retired).to_string(),
                listed(numbers.used.range(allotment.first..=allotment.last)),
            ]
        })
        .collect();
    page.table(
        &["numbers", "allotment", "purpose", "in all", "used", "retired", "free", "which are used"],
        &rows,
    );
    let free = (0..=u8::MAX)
        .filter(|n| module.allotments.iter().any(|allotment| allotment.contains(*n)))
        .filter(|n| !numbers.used.contains(n) && !numbers.retired.contains(n))
        .count();
    page.line(&format!(
        "{} used, {} retired, {free} free.",
        counted(numbers.used.len(), "number is", "numbers are"),
        numbers.retired.len(),
    ));
    misplaced(page, module, families);
}

/// The numbers of a module that are taken.
struct Numbers {
    used: BTreeSet<u8>,
    retired: BTreeSet<u8>,
}

impl Numbers {
    fn of(module: &Module, families: &[&Family]) -> Self {
        let mut numbers = Self { used: BTreeSet::new(), retired: BTreeSet::new() };
        for family in families {
            let set = if family.retired.is_some() { &mut numbers.retired } else { &mut numbers.used };
            set.extend(family.number);
        }
        for retired in &module.retired {
            let behind = retired.prefix.strip_prefix(module.prefix.as_slice()).unwrap_or_default();
            numbers.retired.extend(behind.first());
        }
        let used = &numbers.used;
        numbers.retired.retain(|n| !used.contains(n));
        numbers
    }
}

fn listed<'a>(numbers: impl Iterator<Item = &'a u8>) -> String {
    let all: Vec<String> = numbers.map(|n| format!("{n:02x}")).collect();
    code(&all.join(" "))
}

/// Families whose number lies outside of the range that they name, or of every range.
fn misplaced(page: &mut Page<'_>, module: &Module, families: &[&Family]) {
    let rows: Vec<Vec<String>> = families
        .iter()
        .filter_map(|family| {
            let number = family.number?;
            let home = module.allotments.iter().find(|allotment| allotment.contains(number));
            let named = family.allotment.as_deref();
            if home.is_some_and(|home| named.is_none_or(|named| named == home.name)) {
                return None;
            }
            Some(vec![
                code(&family.name),
                code(&format!("0x{number:02x}")),
                named.map_or("no allotment".to_owned(), code),
                home.map_or("no range".to_owned(), |home| code(&home.name)),
            ])
        })
        .collect();
    if !rows.is_empty() {
        page.line("Not in the range that they name:");
        page.table(&["family", "number", "says", "is in"], &rows);
    }
}

/// Prefixes that may not come back.
pub(super) fn retired(page: &mut Page<'_>, retired: &[Retired]) {
    if retired.iter().all(|retired| retired.since.is_none()) {
        let rows: Vec<Vec<String>> =
            retired.iter().map(|retired| vec![code(&spaced(&retired.prefix)), retired.why.clone()]).collect();
        return page.table(&["retired prefix", "why"], &rows);
    }
    let row = |retired: &Retired| {
        let since = retired.since.clone().unwrap_or_default();
        vec![code(&spaced(&retired.prefix)), since, retired.why.clone()]
    };
    let rows: Vec<Vec<String>> = retired.iter().map(row).collect();
    page.table(&["retired prefix", "since", "why"], &rows);
}
