//! Findings as SARIF 2.1.0, which code scanners read.

use std::collections::BTreeSet;

use keyplan_plan::diag::{Code, Label, SourceMap, Span};
use keyplan_prover::{Found, Repair, Verdict, accepted_by, describe};
use keyplan_report::findings::{Checked, help_page, witness_json};
use serde_json::{Result, Value, json};

use super::check_json::{file_name, severity};

/// All findings as one SARIF log. Flaws that a plan accepts are results that are suppressed in the source.
pub fn sarif(plans: &[Checked]) -> Result<Vec<u8>> {
    let accepted: Vec<Vec<(Found, String)>> = plans.iter().map(accepted).collect();
    let found = || plans.iter().zip(&accepted);
    let all = || {
        found()
            .flat_map(|(plan, accepted)| plan.findings.iter().chain(accepted.iter().map(|(found, _)| found)))
    };
    let codes: Vec<Code> =
        all().map(|found| found.diagnostic.code).collect::<BTreeSet<_>>().into_iter().collect();
    let rules: Vec<Value> = codes.iter().map(|code| rule(*code)).collect();
    let mut results: Vec<Value> = Vec::new();
    for (plan, accepted) in found() {
        results.extend(plan.findings.iter().map(|found| result(plan, found, &codes)));
        results.extend(accepted.iter().map(|(found, why)| suppressed(result(plan, found, &codes), why)));
    }
    log(&rules, &results)
}

/// The log of one run: its rules, and what was found by them.
pub(crate) fn log(rules: &[Value], results: &[Value]) -> Result<Vec<u8>> {
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "keyplan",
                "version": env!("CARGO_PKG_VERSION"),
                "informationUri": env!("CARGO_PKG_REPOSITORY"),
                "rules": rules,
            } },
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    });
    let mut out = serde_json::to_vec_pretty(&log)?;
    out.push(b'\n');
    Ok(out)
}

/// The flaws that a plan accepts, and why.
fn accepted(checked: &Checked) -> Vec<(Found, String)> {
    let (Some(plan), Some((options, _))) = (&checked.compiled.plan, &checked.proof) else {
        return Vec::new();
    };
    let described = checked.accepted().filter_map(|statement| {
        let why = accepted_by(plan, statement).map(|accept| accept.why.clone()).unwrap_or_default();
        let diagnostic = describe(plan, statement, options, &checked.path)?;
        Some((Found { statement: Some(statement.clone()), ..Found::from(diagnostic) }, why))
    });
    described.collect()
}

fn suppressed(mut result: Value, why: &str) -> Value {
    if let Some(result) = result.as_object_mut() {
        let suppression = json!([{ "kind": "inSource", "justification": why }]);
        result.insert("suppressions".to_owned(), suppression);
    }
    result
}

fn rule(code: Code) -> Value {
    let mut rule = json!({
        "id": code.id(),
        "name": code.slug(),
        "shortDescription": { "text": code.explanation().split_whitespace().collect::<Vec<_>>().join(" ") },
    });
    if let (Some(page), Some(rule)) = (help_page(code), rule.as_object_mut()) {
        let uri = format!("{}/blob/main/{page}", env!("CARGO_PKG_REPOSITORY"));
        rule.insert("helpUri".to_owned(), json!(uri));
    }
    rule
}

fn result(checked: &Checked, found: &Found, codes: &[Code]) -> Value {
    let sources = &checked.compiled.sources;
    let diagnostic = &found.diagnostic;
    let mut text = diagnostic.message.clone();
    for note in &diagnostic.notes {
        put!(text, "\n{}: {}", note.kind.word(), note.text);
    }
    let mut locations = diagnostic.labels.iter().map(|label| location(sources, label));
    let primary: Vec<Value> = locations.by_ref().take(1).collect();
    let fixes: Vec<Value> = found.repairs.iter().map(|repair| fix(sources, repair)).collect();
    let mut result = json!({
        "ruleId": diagnostic.code.id(),
        "ruleIndex": codes.iter().position(|code| *code == diagnostic.code),
        "level": severity(diagnostic),
        "message": { "text": text },
        "locations": primary,
        "relatedLocations": locations.collect::<Vec<_>>(),
    });
    let statement = checked.compiled.plan.as_ref().zip(found.statement.as_ref());
    let Some(fields) = result.as_object_mut() else { return result };
    if !fixes.is_empty() {
        fields.insert("fixes".to_owned(), Value::Array(fixes));
    }
    if let Some((plan, statement)) = statement
        && let Verdict::Fails(witness) = &statement.verdict
    {
        let data = json!({
            "space": statement.space,
            "family": statement.family,
            "other": statement.other,
            "witness": witness_json(plan, statement, witness),
        });
        fields.insert("properties".to_owned(), data);
    }
    result
}

/// A repair as a change of one stretch of text.
fn fix(sources: &SourceMap, repair: &Repair) -> Value {
    let (span, text) = &repair.edit;
    json!({
        "description": { "text": repair.title },
        "artifactChanges": [{
            "artifactLocation": { "uri": uri(file_name(sources, *span)) },
            "replacements": [{ "deletedRegion": region(sources, *span), "insertedContent": { "text": text } }],
        }],
    })
}

fn region(sources: &SourceMap, span: Span) -> Value {
    let start = sources.position(span);
    let end = sources.position(Span::new(span.file, span.end, span.end));
    json!({
        "startLine": start.line,
        "startColumn": start.column,
        "endLine": end.line,
        "endColumn": end.column,
    })
}

fn location(sources: &SourceMap, label: &Label) -> Value {
    let mut location = json!({
        "physicalLocation": {
            "artifactLocation": { "uri": uri(file_name(sources, label.span)) },
            "region": region(sources, label.span),
        },
    });
    if let (Some(location), false) = (location.as_object_mut(), label.text.is_empty()) {
        location.insert("message".to_owned(), json!({ "text": label.text }));
    }
    location
}

/// A path as a URI reference: what may not be in one is written as `%20`.
pub(crate) fn uri(path: &str) -> String {
    let mut out = String::new();
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'_' | b'-' | b'~' => {
                out.push(char::from(byte));
            }
            byte => put!(out, "%{byte:02X}"),
        }
    }
    out
}
