//! What `check` has found and proved as JSON: version 1 of a format of its own, whatever the model becomes.

use keyplan_plan::diag::{Diagnostic, Severity, SourceMap, Span};
use keyplan_plan::model::Plan;
use keyplan_report::findings::{Against, Checked, FindingJson, Tally, finding_json};
use serde::Serialize;
use serde_json::Result;

use super::migration::migration_value;
use super::statement_json::{StatementJson, statement};

#[derive(Serialize)]
struct Report<'a> {
    version: u32,
    plans: Vec<PlanReport<'a>>,
    summary: Summary,
}

#[derive(Serialize)]
struct Summary {
    plans: usize,
    families: usize,
    scans: usize,
    findings: usize,
    warnings: usize,
    accepted: usize,
    unknown: usize,
}

#[derive(Serialize)]
struct PlanReport<'a> {
    path: &'a str,
    name: Option<&'a str>,
    fingerprint: Option<String>,
    families: usize,
    scans: usize,
    findings: Vec<FindingJson<'a>>,
    accepted: Vec<Accepted<'a>>,
    /// Every guarantee and its verdict; nothing if nothing was proved.
    statements: Option<Vec<StatementJson<'a>>>,
    /// What became of an earlier version, if the plan was compared with one.
    #[serde(skip_serializing_if = "Option::is_none")]
    against: Option<Evolution<'a>>,
}

#[derive(Serialize)]
struct Evolution<'a> {
    path: &'a str,
    changes: Vec<ChangeJson<'a>>,
    /// How its rows would be carried over and what is proved of it, if the layout has moved since.
    #[serde(skip_serializing_if = "Option::is_none")]
    migration: Option<serde_json::Value>,
}

#[derive(Serialize)]
struct ChangeJson<'a> {
    space: &'a str,
    subject: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    previous: Option<&'a str>,
    part: &'static str,
    breaking: bool,
    fate: String,
}

#[derive(Serialize)]
struct Accepted<'a> {
    family: &'a str,
    kind: &'static str,
    of: &'a [String],
    why: &'a str,
}

/// All plans and findings as one object.
pub fn check_json(plans: &[Checked]) -> Result<Vec<u8>> {
    let tally = Tally::of(plans);
    let report = Report {
        version: 1,
        plans: plans.iter().map(plan_report).collect::<Result<_>>()?,
        summary: Summary {
            plans: tally.plans,
            families: tally.families,
            scans: tally.scans,
            findings: tally.findings,
            warnings: tally.warnings,
            accepted: tally.accepted,
            unknown: tally.unknown,
        },
    };
    let mut out = serde_json::to_vec_pretty(&report)?;
    out.push(b'\n');
    Ok(out)
}

fn plan_report(checked: &Checked) -> Result<PlanReport<'_>> {
    let plan = checked.compiled.plan.as_ref();
    let tally = Tally::of([checked]);
    let accepted = plan.into_iter().flat_map(Plan::families).flat_map(|(_, family)| {
        family.accepts.iter().map(|accept| Accepted {
            family: &family.path,
            kind: accept.kind.word(),
            of: &accept.of,
            why: &accept.why,
        })
    });
    let against = checked.against.as_ref().map(|against| evolution(against, plan)).transpose()?;
    Ok(PlanReport {
        path: &checked.path,
        name: plan.map(|plan| plan.name.as_str()),
        fingerprint: plan.map(|plan| plan.fingerprint().to_string()),
        families: tally.families,
        scans: tally.scans,
        findings: checked
            .findings
            .iter()
            .map(|found| finding_json(plan, &checked.compiled.sources, found))
            .collect(),
        accepted: accepted.collect(),
        statements: plan
            .filter(|_| checked.proof.is_some())
            .map(|plan| checked.statements().map(|one| statement(plan, one)).collect()),
        against,
    })
}

fn evolution<'a>(against: &'a Against, plan: Option<&Plan>) -> Result<Evolution<'a>> {
    let changes = against.changes.iter().map(|change| ChangeJson {
        space: &change.space,
        subject: &change.subject,
        previous: change.previous.as_deref(),
        part: change.part.noun(),
        breaking: change.is_breaking(),
        fate: change.fate.to_string(),
    });
    let proof = plan.and_then(|plan| Some((plan, against.migration(plan)?)));
    let migration = proof.map(|(plan, proof)| migration_value(&against.before, plan, &proof)).transpose()?;
    Ok(Evolution { path: &against.path, changes: changes.collect(), migration })
}

/// The name of the file that a span is in.
pub(crate) fn file_name(sources: &SourceMap, span: Span) -> &str {
    sources.get(span.file).map_or("", |file| file.name.as_str())
}

/// `error` or `warning`: also what SARIF and GitHub call them.
pub(crate) fn severity(diagnostic: &Diagnostic) -> &'static str {
    match diagnostic.severity() {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}
