//! Repairs applied to the text of a plan, one after the other, each after a proof of the plan as it is then.

use std::collections::BTreeMap;

use keyplan_plan::Compiled;
use keyplan_plan::diag::SourceMap;
use keyplan_prover::{Found, Options, Repair};

use super::{Checked, Repairs};

/// The most changes that one run makes.
const MOST_FIXES: usize = 200;

/// Which repairs may be applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fixes {
    /// Those after which every key that is written has the same bytes as before. No scan is taken back: what a program does is no
    /// less wrong where the plan does not say it.
    Safe,
    /// All others too: first those after which a database has to be migrated, then, where nothing else helps, those that take
    /// back what a scan says, after which the program has to change.
    Any,
}

impl Fixes {
    /// The repair of a finding that is applied, if one may be.
    fn chosen(self, found: &Found) -> Option<&Repair> {
        match self {
            Self::Safe => found.repairs.iter().find(|repair| !repair.needs_migration && repair.keeps_scans),
            Self::Any => found.repairs.iter().find(|repair| repair.keeps_scans).or(found.repairs.first()),
        }
    }
}

/// A change that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// The file that it changed.
    pub file: String,
    /// The code of the finding that it cured.
    pub code: &'static str,
    /// What it did, as a sentence without its full stop.
    pub title: String,
    /// The change as a unified diff.
    pub diff: String,
}

/// A plan after its repairs.
#[derive(Clone, Debug)]
pub struct Fixed {
    /// What was done, in order.
    pub fixes: Vec<Fix>,
    /// The files that changed, by name, with their new text.
    pub files: BTreeMap<String, String>,
    /// The plan as it is now, with what is left to find.
    pub checked: Checked,
}

/// Applies the repairs of a plan that `allowed` lets through, until none is left.
///
/// Nothing is written: the caller has the text of each file that changed.
pub fn fix(checked: Checked, options: &Options, allowed: Fixes) -> Fixed {
    let mut fixed = Fixed { fixes: Vec::new(), files: BTreeMap::new(), checked };
    while fixed.fixes.len() < MOST_FIXES {
        let Some((code, repair)) = next(&fixed.checked, allowed) else { break };
        let Some((file, text)) = edited(&fixed.checked.compiled.sources, &repair) else { break };
        let compiled = with_file(&fixed.checked.compiled.sources, &file, &text);
        let again = Checked::new(&fixed.checked.path, compiled, Some(options), Repairs::Wanted);
        // A repair is proved before it is offered; one that breaks the plan is never kept.
        if again.compiled.plan.is_none() || again.findings.len() >= fixed.checked.findings.len() {
            break;
        }
        fixed.fixes.push(Fix {
            file: file.clone(),
            code,
            title: repair.title.clone(),
            diff: repair.diff().to_owned(),
        });
        fixed.files.insert(file, text);
        fixed.checked = again;
    }
    fixed
}

fn next(checked: &Checked, allowed: Fixes) -> Option<(&'static str, Repair)> {
    checked
        .findings
        .iter()
        .find_map(|found| Some((found.diagnostic.code.id(), allowed.chosen(found)?.clone())))
}

/// The file that a repair changes, and its text afterwards.
fn edited(sources: &SourceMap, repair: &Repair) -> Option<(String, String)> {
    let (span, text) = &repair.edit;
    let source = sources.get(span.file)?;
    let (before, behind) = (source.text.get(..span.range().start)?, source.text.get(span.range().end..)?);
    Some((source.name.clone(), format!("{before}{text}{behind}")))
}

/// The plan of these files with one of them changed.
fn with_file(sources: &SourceMap, file: &str, text: &str) -> Compiled {
    let text_of = |name: &str| {
        if name == file {
            return Some(text.to_owned());
        }
        sources.find(name).and_then(|id| sources.get(id)).map(|source| source.text.clone())
    };
    let root = sources.files().first().map_or("", |source| source.name.as_str());
    let fetch = |path: &str| text_of(path).ok_or_else(|| "not among the files that were read".to_owned());
    keyplan_plan::compile(root, &text_of(root).unwrap_or_default(), fetch)
}

#[cfg(test)]
mod tests {
    use super::super::tests::checked;
    use super::*;

    const FLAWED: &str = r#"plan p;

space s {
    key pool = 0x01 a: text("a", 1..=3) b: text("a", 1..=3);
    key height = 0x02 h: u64.dec
        scan all in order;
}
"#;

    #[test]
    fn safe_fixes_leave_every_byte_where_it_is() {
        let before = checked(FLAWED);
        let print = before.compiled.plan.as_ref().unwrap().fingerprint();
        let fixed = fix(before, &Options::default(), Fixes::Safe);
        let titles: Vec<(&str, &str)> =
            fixed.fixes.iter().map(|fix| (fix.code, fix.title.as_str())).collect();
        assert_eq!(titles, [("KP0005", "no longer claim the order")]);
        assert_eq!(fixed.files["demo.keyplan"], FLAWED.replace(" in order", ""));
        assert_eq!(fixed.checked.compiled.plan.unwrap().fingerprint(), print);
        let left: Vec<&str> = fixed.checked.findings.iter().map(|found| found.diagnostic.code.id()).collect();
        assert_eq!(left, ["KP0002"]);
    }

    #[test]
    fn a_scan_of_a_program_is_not_taken_back() {
        const BARE: &str = r#"plan p;

space s {
    key part = "P:" height: u64.dec ":" index: u32.dec
        scan by height bare as "P:1"
        scan by height to next;
    key last = "L" height: u64.dec
        scan by height;
}
"#;
        let fixed = fix(checked(BARE), &Options::default(), Fixes::Safe);
        assert_eq!(fixed.fixes, []);
        assert!(fixed.checked.findings.iter().any(|found| found.diagnostic.code.id() == "KP0004"));
        let fixed = fix(checked(&BARE.replace(" as \"P:1\"", "")), &Options::default(), Fixes::Any);
        let text = fixed.files.values().next().map_or(BARE, String::as_str);
        for scan in ["scan by height bare\n", "scan by height to next", "scan by height;"] {
            assert!(text.contains(scan), "{text}");
        }
        // Nothing else helps where the prefix is given by its bytes.
        let fixed = fix(checked(BARE), &Options::default(), Fixes::Any);
        assert_eq!(fixed.checked.findings, []);
        assert!(!fixed.files["demo.keyplan"].contains("bare"), "{:?}", fixed.files);
    }

    #[test]
    fn all_fixes_leave_no_finding() {
        let fixed = fix(checked(FLAWED), &Options::default(), Fixes::Any);
        assert_eq!(fixed.checked.findings, []);
        assert_eq!(
            fixed.files["demo.keyplan"],
            FLAWED.replace("1..=3) b", "1..=3) \"/\" b").replace("h: u64.dec\n", "h: u64\n")
        );
    }
}
