//! Findings that are known: what a project keeps for later, so that only new ones fail.
//!
//! A line of a baseline is a finding: `PLAN CODE SUBJECT`, sorted. It has no line numbers, so that it stays true while the
//! plan is edited around the finding.
//!
//! A prefix that the plan has forgotten (KP0036) is never known: a baseline would be the way to forget it.

use std::collections::BTreeMap;
use std::fmt::Write;

use keyplan_plan::diag::Code;
use keyplan_prover::Found;

use super::Checked;

/// The first line of a baseline.
const HEADER: &str = "# Findings that are known. `keyplan check --write-baseline` writes this file.";

/// Known findings, each with how many times it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Baseline {
    known: BTreeMap<String, usize>,
}

/// Why a baseline cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line} is not a finding: `PLAN CODE SUBJECT`, with tabs between them")]
pub struct BaselineError {
    /// The line, from 1.
    pub line: usize,
}

impl Baseline {
    /// Reads a baseline.
    pub fn parse(text: &str) -> Result<Self, BaselineError> {
        let mut baseline = Self::default();
        for (index, line) in text.lines().enumerate() {
            let line = line.trim_end();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if line.split('\t').count() != 3 {
                return Err(BaselineError { line: index + 1 });
            }
            *baseline.known.entry(line.to_owned()).or_default() += 1;
        }
        Ok(baseline)
    }

    /// The text of a baseline with all findings of these plans, each with its path from the root of the project.
    pub fn text<'c>(plans: impl IntoIterator<Item = (&'c str, &'c Checked)>) -> String {
        let mut lines: Vec<String> = plans
            .into_iter()
            .flat_map(|(path, plan)| {
                plan.findings.iter().filter(|found| Self::may_hold(found)).map(move |found| line(path, found))
            })
            .collect();
        lines.sort_unstable();
        let mut out = format!("{HEADER}\n");
        for line in lines {
            out.push_str(&line);
            out.push('\n');
        }
        out
    }

    /// Whether a finding may be kept for later.
    pub fn may_hold(found: &Found) -> bool {
        found.diagnostic.code != Code::ForgottenPrefix
    }

    /// Takes the known findings out of those of the plan at `path` and returns how many there were. Each line of the
    /// baseline is good for one finding.
    pub fn take(&mut self, path: &str, plan: &mut Checked) -> usize {
        let before = plan.findings.len();
        plan.findings.retain(|found| !Self::may_hold(found) || !self.used(&line(path, found)));
        before - plan.findings.len()
    }

    /// The findings that are known and were not found again.
    pub fn gone(&self) -> usize {
        self.known.values().sum()
    }

    fn used(&mut self, line: &str) -> bool {
        let Some(count) = self.known.get_mut(line).filter(|count| **count > 0) else { return false };
        *count -= 1;
        true
    }
}

/// A finding without its place in the text.
fn line(path: &str, found: &Found) -> String {
    let subject = match &found.statement {
        Some(statement) => {
            let mut subject = statement.family.clone();
            if let Some(scan) = statement.scan {
                let _ = write!(subject, " scan {scan}");
            }
            // Which family's rows a scan returns may change with what else there is.
            if let Some(other) = statement.other.as_ref().filter(|_| statement.scan.is_none()) {
                let _ = write!(subject, " and {other}");
            }
            subject
        }
        None => found.diagnostic.message.clone(),
    };
    let clean = |text: &str| text.replace(['\t', '\n', '\r'], " ");
    format!("{}\t{}\t{}", clean(path), found.diagnostic.code.id(), clean(&subject))
}

#[cfg(test)]
mod tests {
    use keyplan_plan::diag::{Diagnostic, Span};

    use super::super::tests::checked;
    use super::*;

    const PLAN: &str = "plan p; space s { key k = 0x01 a: text(1..=9) b: text(1..=9); key h = 0x02 h: u64.dec scan all in order; }";

    #[test]
    fn what_is_in_the_baseline_is_known_wherever_it_moves() {
        let text = Baseline::text([("demo.keyplan", &checked(PLAN))]);
        assert_eq!(text, format!("{HEADER}\ndemo.keyplan\tKP0002\ts.k\ndemo.keyplan\tKP0005\ts.h scan 0\n"));
        let mut baseline = Baseline::parse(&text).unwrap();
        let mut moved = checked(&PLAN.replace("space s", "\n\n// A note.\nspace s"));
        assert_eq!((baseline.take("demo.keyplan", &mut moved), baseline.gone()), (2, 0));
        assert_eq!(moved.findings, []);
    }

    #[test]
    fn a_prefix_that_was_forgotten_is_never_known() {
        let mut plan = checked("plan p; space s { key k = 0x01; }");
        let lost = Diagnostic::new(Code::ForgottenPrefix, "forgotten", Span::default(), "here");
        plan.findings.push(lost.into());
        assert_eq!(Baseline::text([("demo.keyplan", &plan)]), format!("{HEADER}\n"));
        let mut baseline = Baseline::parse("demo.keyplan\tKP0036\tforgotten\n").unwrap();
        assert_eq!((baseline.take("demo.keyplan", &mut plan), baseline.gone()), (0, 1));
    }

    #[test]
    fn a_new_finding_is_left_and_a_cured_one_is_gone() {
        let mut baseline = Baseline::parse("demo.keyplan\tKP0002\ts.cured\n").unwrap();
        let mut plan = checked(PLAN);
        assert_eq!((baseline.take("demo.keyplan", &mut plan), baseline.gone()), (0, 1));
        assert_eq!(plan.findings.len(), 2);
    }

    #[test]
    fn a_line_that_is_no_finding_is_named() {
        assert_eq!(Baseline::parse("# x\n\nKP0002 a\n"), Err(BaselineError { line: 3 }));
    }
}
