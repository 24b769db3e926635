use std::time::Duration;

use keyplan_plan::diag::{Diagnostic, SourceMap, Style, render};

use super::{ERROR, GOOD, painted};
use crate::command::Tally;

/// Findings for people: each with the lines of the plan, what is wrong there and what to do.
pub(crate) fn findings(sources: &SourceMap, diagnostics: &[Diagnostic]) -> String {
    render(diagnostics, sources, Style::Color)
}

/// The whole truth in one line.
pub(crate) fn summary(tally: &Tally, took: Duration) -> String {
    let found = counted(tally.findings, "finding", "findings");
    format!(
        "{}, {}, {}: {}, {}, in {}",
        counted(tally.plans, "plan", "plans"),
        counted(tally.families, "family", "families"),
        counted(tally.scans, "scan", "scans"),
        painted(if tally.findings == 0 { GOOD } else { ERROR }, found),
        counted(tally.accepted, "accepted flaw", "accepted flaws"),
        duration(took),
    )
}

/// `1 plan`, `2 plans`
pub(crate) fn counted(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

fn duration(took: Duration) -> String {
    match took.as_millis() {
        0 => "under 1 ms".to_owned(),
        millis @ 1..10_000 => format!("{millis} ms"),
        millis => format!("{} s", millis / 1000),
    }
}
