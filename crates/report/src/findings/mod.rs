//! What is wrong with a plan, as data: every finding with its keys, its place and its repairs.
//!
//! [`Checked::new`] reads what was proved of a plan. [`json`](finding_json) is a finding for programs, [`fix`] applies
//! repairs, [`baseline`] tells new findings from known ones, [`junit`](junit::junit) is a report for build servers.

pub mod baseline;
mod compared;
pub mod fix;
mod json;
pub mod junit;
mod told;
mod witness;

use keyplan_plan::Compiled;
use keyplan_plan::diag::{Code, Severity};
use keyplan_prover::{Found, Guarantee, Options, Report, Statement, found, found_and_repaired, page, prove};

pub use compared::{Against, Previous, RevisionError, Tally};
pub use json::{FindingJson, RepairJson, finding_json, help_page};
pub use witness::witness_json;

/// Whether to look for changes to the plan that cure a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repairs {
    /// For every refuted guarantee.
    Wanted,
    /// For none.
    Unasked,
}

/// A plan with everything that is known of it.
#[derive(Clone, Debug)]
pub struct Checked {
    /// What people know its file by.
    pub path: String,
    /// The plan; its diagnostics are among the findings.
    pub compiled: Compiled,
    /// What was asked of it, and what came of it, unless it has mistakes or nothing was to be proved.
    pub proof: Option<(Options, Report)>,
    /// Mistakes, then refuted and unproved guarantees.
    pub findings: Vec<Found>,
    /// The earlier version that it was compared with.
    pub against: Option<Against>,
}

impl Checked {
    /// Proves a plan, if it has a meaning and `options` say how.
    pub fn new(path: &str, mut compiled: Compiled, options: Option<&Options>, repairs: Repairs) -> Self {
        let sound = compiled.errors().next().is_none();
        let plan = compiled.plan.as_ref().filter(|_| sound);
        let proof = plan.zip(options).map(|(plan, options)| (options.clone(), prove(plan, options)));
        let mut findings = Vec::new();
        if let (Some(plan), Some((options, report))) = (plan, &proof) {
            findings = match repairs {
                Repairs::Wanted => found_and_repaired(&compiled, report, options, path),
                Repairs::Unasked => found(plan, report, options, path),
            };
        }
        #[cfg(feature = "rows")]
        if let Some(plan) = plan {
            findings.splice(0..0, crate::values::diagnose(plan).into_iter().map(Found::from));
        }
        findings.splice(0..0, std::mem::take(&mut compiled.diagnostics).into_iter().map(Found::from));
        Self { path: path.to_owned(), compiled, proof, findings, against: None }
    }

    /// Everything that was asked of the plan.
    pub fn statements(&self) -> impl Iterator<Item = &Statement> {
        self.proof.iter().flat_map(|(_, report)| &report.statements)
    }

    /// Whether a finding is an error, or a warning where those count.
    pub fn fails(&self, deny_warnings: bool) -> bool {
        self.findings.iter().any(|found| deny_warnings || found.diagnostic.severity() == Severity::Error)
    }
}

/// The pages of a code, of its name, or of a word that follows `accept`; `None` if it is none of these.
pub fn code_page(typed: &str) -> Option<String> {
    let accepts = |code: Code| {
        let guarantee = Guarantee::ALL.iter().find(|guarantee| guarantee.code() == code.id());
        guarantee.and_then(|guarantee| guarantee.accepted_as()).is_some_and(|kind| kind.word() == typed)
    };
    let named = |code: Code| code.id().eq_ignore_ascii_case(typed) || code.slug() == typed;
    let pages: Vec<String> = Code::ALL
        .iter()
        .filter(|code| named(**code) || accepts(**code))
        .map(|code| own_page(*code))
        .collect();
    (!pages.is_empty()).then(|| pages.join("\n"))
}

/// The page of a code, or what it finds if it has none.
fn own_page(code: Code) -> String {
    if let Some(page) = page(code) {
        return page.text.to_owned();
    }
    let lines: Vec<&str> = code.explanation().trim().lines().map(str::trim).collect();
    format!("# {}: {}\n\n{}\n", code.id(), code.slug(), lines.join("\n"))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A plan that was checked with repairs.
    pub(crate) fn checked(text: &str) -> Checked {
        let compiled = keyplan_plan::compile("demo.keyplan", text, |_| Err("no imports".to_owned()));
        Checked::new("demo.keyplan", compiled, Some(&Options::default()), Repairs::Wanted)
    }

    #[test]
    fn mistakes_come_before_what_is_refuted() {
        let plan = checked("plan p; type Unused = u8; space s { key k = a: text(1..=9) b: text(1..=9); }");
        let codes: Vec<&str> = plan.findings.iter().map(|found| found.diagnostic.code.id()).collect();
        assert_eq!(codes, ["KP0217", "KP0002"]);
        assert!(plan.fails(false));
        let broken = checked("plan p; space s { key k = ; }");
        assert!(broken.proof.is_none() && broken.fails(false));
        let clean = checked("plan p; type Unused = u8; space s { key k = 0x01; }");
        assert!(!clean.fails(false) && clean.fails(true));
    }
}
