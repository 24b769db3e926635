//! What a plan may not say, and what it means when it says it well.
#![cfg(test)]

mod clauses;
mod fingerprint;
mod limits;
mod names;
mod references;
mod scans;

use keyplan_plan::compile;
use keyplan_plan::model::Plan;

fn no_imports(_: &str) -> Result<String, String> {
    Err("no imports".into())
}

/// The findings on a plan: code, the text that is underlined, the message.
#[track_caller]
fn check(body: &str, expected: &[(&str, &str, &str)]) {
    let text = format!("plan p;\n{body}");
    let compiled = compile("p.keyplan", &text, no_imports);
    let found: Vec<(&str, &str, &str)> = compiled
        .diagnostics
        .iter()
        .map(|d| (d.code.id(), compiled.sources.slice(d.span()), d.message.as_str()))
        .collect();
    assert_eq!(found, expected);
}

fn plan(body: &str) -> Plan {
    let compiled = compile("p.keyplan", &format!("plan p; {body}"), no_imports);
    assert_eq!(compiled.errors().collect::<Vec<_>>(), Vec::<&keyplan_plan::diag::Diagnostic>::new());
    compiled.plan.unwrap()
}

/// The families that a text declares, counted by its keywords.
fn compiled(text: &str) -> (Option<usize>, Vec<String>) {
    let compiled = compile("p", &format!("plan p; {text}"), no_imports);
    let families = compiled.plan.map(|plan| plan.families().count());
    (families, compiled.diagnostics.iter().map(|d| format!("{} {}", d.code.id(), d.message)).collect())
}
