//! What an audit has looked at and found.

use keyplan_plan::diag::grouped;
use keyplan_report::audit::{Audit, Finding, FindingKind};
use serde_json::{Value, json};

use super::row::many;
use super::{DIM, ERROR, GOOD, NAME, painted};

/// For people.
pub fn audit(audit: &Audit) -> String {
    let mut out = String::new();
    for finding in &audit.findings {
        put_finding(&mut out, finding);
    }
    put!(
        out,
        "{} of {} under plan {} (fingerprint {})\n",
        many(audit.rows(), "row", "rows"),
        audit.source,
        painted(NAME, &audit.plan),
        audit.fingerprint
    );
    for space in &audit.spaces {
        let named: u64 = space.families.values().sum();
        put!(
            out,
            "  {}  {}, {} of {}, {} compared with a layout",
            painted(NAME, &space.space),
            many(space.rows, "row", "rows"),
            grouped(named),
            many(u64::try_from(space.families.len()).unwrap_or(u64::MAX), "family", "families"),
            many(space.values, "value", "values"),
        );
        if space.references > 0 {
            put!(out, ", {} looked for", many(space.references, "reference", "references"));
        }
        out.push('\n');
    }
    for what in &audit.not_looked_at {
        put!(out, "  {}\n", painted(DIM, format!("not looked at: {what}")));
    }
    let counts: Vec<String> = FindingKind::ALL
        .into_iter()
        .filter(|kind| audit.count(*kind) > 0)
        .map(|kind| format!("{} {}", grouped(audit.count(kind)), kind.word()))
        .collect();
    match counts.as_slice() {
        [] => put!(out, "{}\n", painted(GOOD, "no findings")),
        counts => put!(out, "{}\n", painted(ERROR, format!("findings: {}", counts.join(", ")))),
    }
    out
}

fn put_finding(out: &mut String, finding: &Finding) {
    let head = painted(ERROR, format!("{}: {}", finding.space, finding.kind.word()));
    put!(out, "{head}  {}  {}\n", many(finding.rows, "row", "rows"), finding.message);
    for example in &finding.examples {
        put!(out, "    {}", example.key);
        if let Some(value) = &example.value {
            put!(out, "  {} {value}", painted(DIM, "→"));
        }
        out.push('\n');
        for reading in &example.readings {
            put!(out, "      {reading}\n");
        }
        if let Some(target) = &example.target {
            put!(out, "      {} {target}\n", painted(DIM, "missing:"));
        }
    }
}

/// One object.
pub fn audit_json(audit: &Audit) -> serde_json::Result<Vec<u8>> {
    let mut object = serde_json::to_value(audit)?;
    if let Some(object) = object.as_object_mut() {
        object.insert("version".to_owned(), json!(1));
        object.insert("rows".to_owned(), json!(audit.rows()));
    }
    let mut out = serde_json::to_vec(&object)?;
    out.push(b'\n');
    Ok(out)
}

/// A SARIF log: a result per group of rows, at a key of the source.
pub fn audit_sarif(source: &str, audit: &Audit) -> serde_json::Result<Vec<u8>> {
    let rules: Vec<Value> = FindingKind::ALL
        .into_iter()
        .map(|kind| json!({ "id": kind.word(), "shortDescription": { "text": kind.title() } }))
        .collect();
    let result = |finding: &Finding| {
        let key = finding.examples.first().map(|example| example.key.as_str()).unwrap_or_default();
        json!({
            "ruleId": finding.kind.word(),
            "level": "error",
            "message": { "text": format!("{}: {}", many(finding.rows, "row", "rows"), finding.message) },
            "locations": [{
                "physicalLocation": { "artifactLocation": { "uri": super::sarif::uri(source) } },
                "logicalLocations": [{
                    "fullyQualifiedName": format!("{}/0x{key}", finding.space),
                    "kind": "key",
                }],
            }],
            "properties": finding,
        })
    };
    super::sarif::log(&rules, &audit.findings.iter().map(result).collect::<Vec<_>>())
}
