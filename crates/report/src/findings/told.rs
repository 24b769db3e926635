//! Findings as a person reads them: those of one cause once.

use std::collections::BTreeMap;

use keyplan_plan::diag::{Code, Diagnostic, NoteKind};
use keyplan_prover::{Found, Guarantee};

use super::Checked;

/// From how many findings on one cause is worth a group: two are read as fast one by one.
const MANY: usize = 3;

/// How many findings of a group are named.
const NAMED: usize = 12;

impl Checked {
    /// What a person is told, in order. Where many families or scans meet the same other family, the first is told whole, and
    /// the rest are named in a note of it; [`Self::diagnostics`] has each by itself.
    pub fn told(&self) -> Vec<Diagnostic> {
        let mut groups: BTreeMap<(Code, &str), Vec<&Found>> = BTreeMap::new();
        for found in &self.findings {
            if let Some(cause) = cause(found) {
                groups.entry(cause).or_default().push(found);
            }
        }
        groups.retain(|_, group| group.len() >= MANY);
        let tell = |found: &Found| {
            let Some((cause, group)) = cause(found).and_then(|cause| groups.get_key_value(&cause)) else {
                return Some(found.diagnostic.clone());
            };
            let rest = group.split_first().filter(|(first, _)| std::ptr::eq(**first, found))?.1;
            Some(found.diagnostic.clone().with_note(NoteKind::Note, named(cause.1, rest)))
        };
        self.findings.iter().filter_map(tell).collect()
    }
}

/// The family that a finding has from others, if it is about one.
fn cause(found: &Found) -> Option<(Code, &str)> {
    let statement = found.statement.as_ref()?;
    let meets = matches!(statement.guarantee, Guarantee::NoForeignRows | Guarantee::Disjoint);
    Some((found.diagnostic.code, statement.other.as_deref().filter(|_| meets)?))
}

fn named(other: &str, rest: &[&Found]) -> String {
    let mut lines = vec![format!("`{other}` is the cause of {} more findings:", rest.len())];
    lines.extend(rest.iter().take(NAMED).map(|found| found.diagnostic.message.clone()));
    if let Some(more) = rest.len().checked_sub(NAMED).filter(|more| *more > 0) {
        lines.push(format!("and {more} more"));
    }
    lines.push("`--format json` has each of them with its keys".to_owned());
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::super::tests::checked;

    fn plan(scans: usize) -> String {
        let family = |n| format!("key k{n} = 0x{n:02x} num: u64 hash: bytes(32) scan by num;");
        let families: Vec<String> = (1..=scans).map(family).collect();
        format!("plan p; space s {{ key node = hash: bytes(32); {}}}", families.join(" "))
    }

    #[test]
    fn findings_of_one_cause_are_told_once() {
        let five = checked(&plan(5));
        assert_eq!((five.findings.len(), five.told().len()), (5, 1));
        let told = five.told();
        let note = &told[0].notes.iter().find(|note| note.text.contains("is the cause")).unwrap().text;
        assert!(
            note.starts_with("`s.node` is the cause of 4 more findings:\nthe scan `s.k2 by num`"),
            "{note}"
        );
        let two = checked(&plan(2));
        assert_eq!((two.findings.len(), two.told().len()), (2, 2));
    }
}
