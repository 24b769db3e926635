//! What the prover says about the plans of the project: every flaw with the keys that show it.

use std::fmt::Write as _;

use anyhow::{Context as _, Result, anyhow};
use keyplan_plan::compile;
use keyplan_plan::diag::{Diagnostic, NoteKind, Severity};
use keyplan_plan::model::Plan;
use keyplan_prover::{Options, Report, Statement, Verdict, accepted_by, describe, diagnose, prove, unproved};

use crate::workspace;

/// The page `docs/findings.md`, without its first line.
pub fn page() -> Result<String> {
    let mut out = String::from(
        "# Findings\n\n\
         Everything that the prover refutes in the plans of this project. Each counterexample is two keys that were really \
         encoded; the bars part their segments, and bytes at the same place are in one column. What is *accepted* is a flaw \
         of a layout that exists in the wild and is kept as it is, with the plan's own reason; what is *open* is not yet \
         accounted for; what is *unknown* is neither proved nor refuted.\n\n\
         | plan | families | scans | proved | assumed | accepted | open | warnings | unknown |\n\
         | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
    );
    let mut sections = String::new();
    for file in workspace::plans()? {
        let path = workspace::relative(&file);
        if path == "plans/five.keyplan" {
            // It is made of others.
            continue;
        }
        let plan = read(&path)?;
        let options = Options::default();
        let report = prove(&plan, &options);
        let open = diagnose(&plan, &report, &options, &path);
        out.push_str(&row(&path, &plan, &report, &open));
        sections.push_str(&section(&path, &plan, &report, &options, &open));
    }
    out.push_str("\nWhat is *assumed* holds unless a hash that stands for its argument collides.\n");
    out.push_str(&sections);
    Ok(out)
}

fn read(path: &str) -> Result<Plan> {
    let text = |path: &str| std::fs::read_to_string(workspace::root().join(path));
    let root = text(path).with_context(|| format!("cannot read {path}"))?;
    let compiled = compile(path, &root, |import| text(import).map_err(|error| error.to_string()));
    compiled.plan.ok_or_else(|| anyhow!("{path} does not compile"))
}

fn row(path: &str, plan: &Plan, report: &Report, open: &[Diagnostic]) -> String {
    let count = |of: fn(&Statement) -> bool| report.statements.iter().filter(|s| of(s)).count();
    let unknown = unproved(plan, report);
    let warnings = open.iter().filter(|finding| finding.severity() == Severity::Warning).count();
    format!(
        "| `{path}` | {} | {} | {} | {} | {} | {} | {warnings} | {unknown} |\n",
        plan.families().count(),
        plan.families().map(|(_, family)| family.scans.len()).sum::<usize>(),
        count(|s| s.verdict == Verdict::Holds),
        count(|s| matches!(s.verdict, Verdict::Assumed(_))),
        count(|s| s.accepted),
        open.len().saturating_sub(warnings + unknown),
    )
}

fn section(path: &str, plan: &Plan, report: &Report, options: &Options, open: &[Diagnostic]) -> String {
    let mut out = String::new();
    for diagnostic in open {
        let word = match diagnostic.severity() {
            Severity::Error => "open",
            Severity::Warning => "open, a warning",
        };
        out.push_str(&entry(diagnostic, word));
    }
    for statement in report.statements.iter().filter(|statement| statement.accepted) {
        let Some(diagnostic) = describe(plan, statement, options, path) else { continue };
        let why = accepted_by(plan, statement).map_or("", |accept| accept.why.as_str());
        out.push_str(&entry(&diagnostic, &format!("accepted: {why}")));
    }
    if out.is_empty() {
        let assumed = report.statements.iter().any(|s| matches!(s.verdict, Verdict::Assumed(_)));
        let unless = if assumed { ", some of it unless a hash collides" } else { "" };
        // Writing to a string does not fail.
        let _ = writeln!(out, "\nNothing: everything that the plan claims is proved{unless}.");
    }
    format!("\n## {path}\n{out}")
}

/// One flaw with its keys.
fn entry(diagnostic: &Diagnostic, word: &str) -> String {
    let mut out = format!("\n**{}** {} — *{word}*\n", diagnostic.code.id(), diagnostic.message);
    let shown: Vec<&str> = diagnostic
        .notes
        .iter()
        .filter(|note| matches!(note.kind, NoteKind::Witness | NoteKind::Note))
        .flat_map(|note| note.text.lines())
        .collect();
    if !shown.is_empty() {
        // Writing to a string does not fail.
        let _ = write!(out, "\n```text\n{}\n```\n", shown.join("\n"));
    }
    out
}
