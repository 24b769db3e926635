//! The verdict above the plan and above each family.

use keyplan_plan::diag::FileId;
use keyplan_prover::{Statement, Verdict};
use serde_json::{Value, json};

use crate::analysis::Document;

/// The lenses of a document.
pub(crate) fn lenses(document: &Document) -> Value {
    let Some(plan) = document.plan() else { return json!([]) };
    let text = document.text();
    let lens = |start: u32, title: String| {
        let at = start as usize;
        json!({ "range": document.lines.range_of(text, at, at), "command": { "title": title, "command": "" } })
    };
    let families = plan.families().count();
    let scans: usize = plan.families().map(|(_, family)| family.scans.len()).sum();
    let counted = |n: usize, one: &str, many: &str| format!("{n} {}", if n == 1 { one } else { many });
    let size = format!("{}, {}", counted(families, "family", "families"), counted(scans, "scan", "scans"));
    let start = document.tree().and_then(|tree| tree.name.as_ref()).map_or(0, |name| name.span.start);
    let Some(checked) = &document.checked else {
        return json!([lens(start, format!("{size}: not proved yet"))]);
    };
    let statements: Vec<&Statement> = checked.statements().collect();
    let mut all = vec![lens(start, format!("{size}: {}", verdict(&statements)))];
    // Those of imported files have theirs there.
    for (_, family) in plan.families().filter(|(_, family)| family.span.file == FileId(0)) {
        let own: Vec<&Statement> =
            statements.iter().copied().filter(|statement| statement.family == family.path).collect();
        all.push(lens(family.span.start, verdict(&own)));
    }
    Value::Array(all)
}

fn verdict(statements: &[&Statement]) -> String {
    let count = |wanted: fn(&Statement) -> bool| statements.iter().filter(|one| wanted(one)).count();
    let accepted = count(|one| one.accepted);
    let refuted = count(|one| !one.accepted && matches!(one.verdict, Verdict::Fails(_)));
    let unknown = count(|one| !one.accepted && matches!(one.verdict, Verdict::Unknown(_)));
    let mut parts: Vec<String> = Vec::new();
    for (n, what) in [(refuted, "refuted"), (unknown, "unknown"), (accepted, "accepted")] {
        if n > 0 {
            parts.push(format!("{n} {what}"));
        }
    }
    if refuted + unknown == 0 {
        parts.insert(0, "proved".to_owned());
    }
    parts.join(", ")
}
