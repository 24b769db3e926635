//! What becomes of a database, as text and as JSON: version 1 of a format of its own.

use keyplan_plan::diag::grouped;
use keyplan_plan::dynamic::{Value, encode};
use keyplan_plan::mapping::{Course, Leaf, Passage, Route, Source, Way, leaves};
use keyplan_plan::model::{Family, Plan, Sequence};
use keyplan_plan::sample::arguments;
use keyplan_prover::{Decision, Duty, MigrationProof, Obligation};
use keyplan_store::migrate::{Parked, Survey};
use serde::Serialize;
use serde_json::Result;

use super::{DIM, ERROR, GOOD, NAME, counted, hex, painted};

/// How the keys of a family are written anew.
struct Moved {
    /// For each argument of the new key what it is.
    sources: Vec<(String, String)>,
    /// A key of the old plan, and the new one of the same row.
    example: Option<(Vec<u8>, Vec<u8>)>,
}

impl Moved {
    fn of(old: &Plan, new: &Plan, route: &Route) -> Option<Self> {
        let Course::Moved(passage) = &route.course else { return None };
        let (_, before) = route.from.find(old)?;
        let (_, after) = passage.to.find(new)?;
        let (was, is) = leaves(&before.key, &after.key);
        let name = |name: &str| if name.is_empty() { "(unnamed)".to_owned() } else { name.to_owned() };
        let source = |leaf: &Leaf<'_>, source: &Source| match source {
            Source::Key(path) => was.iter().find(|leaf| leaf.path == *path).map(|leaf| name(&leaf.name)),
            Source::Value(path) => {
                let argument = before.value.as_ref()?.arguments().nth(*path.first()?)?;
                Some(format!("value.{}", argument.name.as_deref().unwrap_or_default()))
            }
            Source::Constant(value) => Some(format!("always {}", value.display(leaf.shape))),
        };
        let of = |leaf: &Leaf<'_>| {
            let found = passage.key.sources.iter().find(|(path, _)| *path == leaf.path);
            let from = found.and_then(|(_, found)| source(leaf, found));
            (name(&leaf.name), from.unwrap_or_else(|| "absent".to_owned()))
        };
        Some(Self { sources: is.iter().map(of).collect(), example: example(before, after, passage) })
    }

    /// The arguments that do not come from one of the same name.
    fn told(&self) -> Vec<String> {
        let other = self.sources.iter().filter(|(argument, source)| argument != source);
        other.map(|(argument, source)| format!("{argument} = {source}")).collect()
    }
}

/// A simple key of a family, and the new one.
fn example(before: &Family, after: &Family, passage: &Passage) -> Option<(Vec<u8>, Vec<u8>)> {
    let way = Way::new(before, after, passage);
    let bytes = |layout: &Sequence, values: &[Value]| {
        let mut out = Vec::new();
        encode(layout, values, &mut out).ok().map(|()| out)
    };
    let value = before.value.as_ref().and_then(|layout| bytes(layout, &arguments(layout)?));
    let row = arguments(&before.key)?;
    let mut new = Vec::new();
    way.key(&row, &value.unwrap_or_default(), &mut new).ok()?;
    Some((bytes(&before.key, &row)?, new))
}

/// A line for each family of the old plan.
pub fn mapping(old: &Plan, new: &Plan, proof: &MigrationProof) -> String {
    let width = old.families().map(|(_, family)| family.path.len()).max().unwrap_or_default();
    let mut out = String::new();
    for route in &proof.mapping.routes {
        let path = format!("{:width$}", route.from.path);
        put!(out, "{}  {}", painted(NAME, path), course(route));
        if let Some(moved) = Moved::of(old, new, route) {
            let told = moved.told();
            if !told.is_empty() {
                put!(out, "\n{:width$}    {}", "", told.join(", "));
            }
            if let Some((was, is)) = moved.example {
                put!(
                    out,
                    "\n{:width$}    {}",
                    "",
                    painted(DIM, format!("{} becomes {}", short(&was), short(&is)))
                );
            }
        }
        let duties: Vec<String> = proof
            .duties
            .iter()
            .filter(|duty| duty.from == route.from.path && duty.obligation != Obligation::Complete)
            .map(shown)
            .collect();
        if !duties.is_empty() {
            put!(out, "\n{:width$}    {}", "", duties.join("  "));
        }
        out.push('\n');
    }
    out
}

/// The bytes of a key, without the middle of a long one.
fn short(key: &[u8]) -> String {
    match (key.get(..12), key.get(key.len().saturating_sub(8)..)) {
        (Some(head), Some(tail)) if key.len() > 24 => format!("{}…{}", hex(head), hex(tail)),
        _ => hex(key),
    }
}

fn course(route: &Route) -> String {
    match &route.course {
        Course::Kept { to } if to.path == route.from.path => "kept".to_owned(),
        Course::Kept { to } => format!("kept as {}", to.path),
        Course::Moved(passage) => {
            let staged = if passage.staged { ", by a place of its own" } else { "" };
            format!("moved to {}{staged}", passage.to.path)
        }
        Course::Retired { prefix } => format!("stays under the retired prefix {}", hex(prefix)),
        Course::Dropped { why } => format!("dropped: {why}"),
        Course::Unspoken => painted(ERROR, "not said"),
    }
}

fn shown(duty: &Duty) -> String {
    let word = duty.obligation.word();
    match (&duty.decision, duty.rule) {
        (Decision::Proved | Decision::Assumed(_), _) => painted(GOOD, format!("{word} proved")),
        (_, Some(rule)) => format!("{word} by rule: {}", rule.word()),
        (Decision::Refuted(_), None) if !duty.is_finding() => painted(DIM, format!("{word} refuted")),
        (Decision::Refuted(_), None) => painted(ERROR, format!("{word} refuted")),
        (Decision::Unknown(_), None) => painted(ERROR, format!("{word} unknown")),
    }
}

/// How many families move, and how many obligations are proved.
pub fn migration_summary(proof: &MigrationProof) -> String {
    let count = |of: &dyn Fn(&Route) -> bool| proof.mapping.routes.iter().filter(|route| of(route)).count();
    let moved = count(&|route| matches!(route.course, Course::Moved(_)));
    let kept = count(&|route| matches!(route.course, Course::Kept { .. }));
    let proved = |duty: &&Duty| matches!(duty.decision, Decision::Proved | Decision::Assumed(_));
    format!(
        "{}: {kept} kept, {moved} moved; {} of {} obligations proved, {}",
        counted(proof.mapping.routes.len(), "family", "families"),
        proof.duties.iter().filter(proved).count(),
        proof.duties.len(),
        counted(proof.findings().count(), "finding", "findings"),
    )
}

#[derive(Serialize)]
struct ProofJson<'a> {
    version: u32,
    from: PlanJson<'a>,
    to: PlanJson<'a>,
    routes: Vec<RouteJson<'a>>,
    obligations: Vec<DutyJson<'a>>,
    findings: usize,
}

#[derive(Serialize)]
struct PlanJson<'a> {
    name: &'a str,
    fingerprint: String,
}

#[derive(Serialize)]
struct RouteJson<'a> {
    from: &'a str,
    course: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    staged: Option<bool>,
    readable: bool,
    /// Where the arguments of new keys come from.
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments: Option<Vec<ArgumentJson>>,
    /// A key before and after.
    #[serde(skip_serializing_if = "Option::is_none")]
    example: Option<ExamplePairJson>,
}

#[derive(Serialize)]
struct ArgumentJson {
    argument: String,
    from: String,
}

#[derive(Serialize)]
struct ExamplePairJson {
    old: String,
    new: String,
}

#[derive(Serialize)]
struct DutyJson<'a> {
    obligation: &'static str,
    code: &'static str,
    from: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<&'a str>,
    verdict: &'static str,
    finding: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shown: Option<String>,
}

/// The mapping and what was proved of it as JSON.
pub fn migration_json(old: &Plan, new: &Plan, proof: &MigrationProof) -> Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec_pretty(&proof_json(old, new, proof))?;
    bytes.push(b'\n');
    Ok(bytes)
}

fn proof_json<'a>(old: &'a Plan, new: &'a Plan, proof: &'a MigrationProof) -> ProofJson<'a> {
    let plan = |plan: &'_ Plan| plan.fingerprint().to_string();
    ProofJson {
        version: 1,
        from: PlanJson { name: &old.name, fingerprint: plan(old) },
        to: PlanJson { name: &new.name, fingerprint: plan(new) },
        routes: proof.mapping.routes.iter().map(|route| route_json(old, new, route)).collect(),
        obligations: proof.duties.iter().map(duty_json).collect(),
        findings: proof.findings().count(),
    }
}

/// The same as a value, to be part of something else.
pub(crate) fn migration_value(old: &Plan, new: &Plan, proof: &MigrationProof) -> Result<serde_json::Value> {
    serde_json::to_value(proof_json(old, new, proof))
}

fn route_json<'a>(old: &'a Plan, new: &'a Plan, route: &'a Route) -> RouteJson<'a> {
    let (course, to, rule, staged) = match &route.course {
        Course::Kept { to } => ("kept", Some(to.path.as_str()), None, None),
        Course::Moved(passage) => {
            ("moved", Some(passage.to.path.as_str()), Some(passage.rule.word()), Some(passage.staged))
        }
        Course::Retired { .. } => ("retired", None, None, None),
        Course::Dropped { .. } => ("dropped", None, None, None),
        Course::Unspoken => ("unspoken", None, None, None),
    };
    let moved = Moved::of(old, new, route);
    let arguments = moved.as_ref().map(|moved| {
        let sources = moved.sources.iter();
        sources
            .map(|(argument, source)| ArgumentJson { argument: argument.clone(), from: source.clone() })
            .collect()
    });
    let example = moved
        .and_then(|moved| moved.example)
        .map(|(old, new)| ExamplePairJson { old: hex(&old), new: hex(&new) });
    RouteJson {
        from: &route.from.path,
        course,
        to,
        rule,
        staged,
        readable: route.readable,
        arguments,
        example,
    }
}

fn duty_json(duty: &Duty) -> DutyJson<'_> {
    let (verdict, shown) = match &duty.decision {
        Decision::Proved => ("proved", None),
        Decision::Assumed(assumption) => ("assumed", Some(assumption.to_string())),
        Decision::Refuted(found) => ("refuted", Some(found.to_string())),
        Decision::Unknown(why) => ("unknown", Some(why.clone())),
    };
    DutyJson {
        obligation: duty.obligation.word(),
        code: duty.obligation.code().id(),
        from: &duty.from,
        to: duty.to.as_deref(),
        verdict,
        finding: duty.is_finding(),
        rule: duty.rule.map(keyplan_plan::model::MisfitRule::word),
        shown,
    }
}

/// What a migration does with the rows of a database.
pub fn survey(proof: &MigrationProof, survey: &Survey) -> String {
    let width = proof.mapping.routes.iter().map(|route| route.from.path.len()).max().unwrap_or_default();
    let mut out = String::new();
    for (route, figures) in proof.mapping.routes.iter().zip(&survey.routes) {
        let mut counts = Vec::new();
        for (count, word) in [
            (figures.kept, "kept"),
            (figures.moved.rows, "moved"),
            (figures.dropped, "dropped"),
            (figures.aside, "without a new key"),
        ] {
            if count > 0 {
                counts.push(format!("{} {word}", grouped(count)));
            }
        }
        if counts.is_empty() {
            continue;
        }
        put!(out, "{}  {}\n", painted(NAME, format!("{:width$}", route.from.path)), counts.join(", "));
        if figures.moved.rows > 0 {
            put!(out, "{:width$}  {}\n", "", painted(DIM, format!("checksum {:016x}", figures.moved.sum)));
        }
    }
    for problem in &survey.problems {
        let family = problem.family.as_deref().unwrap_or("no family");
        let (kind, rows) = (problem.kind.word(), rows(problem.rows));
        put!(out, "{} {kind}: {rows} of {family}\n", painted(ERROR, "!"));
        for example in &problem.examples {
            put!(out, "    {} {}: {}\n", example.space, hex(&example.key), example.why);
        }
    }
    out
}

fn rows(count: u64) -> String {
    format!("{} {}", grouped(count), if count == 1 { "row" } else { "rows" })
}

/// The last line of a list of rows that are set aside.
pub fn parked_summary(count: u64) -> String {
    format!("{} set aside", rows(count))
}

/// One line about a survey.
pub fn survey_summary(survey: &Survey) -> String {
    format!(
        "{}: {} moved, {} dropped, {} without a new key",
        rows(survey.rows),
        grouped(survey.moved()),
        grouped(survey.dropped()),
        grouped(survey.aside())
    )
}

#[derive(Serialize)]
struct SurveyJson<'a> {
    version: u32,
    state: &'a str,
    rows: u64,
    families: Vec<FamilyJson<'a>>,
    problems: Vec<ProblemJson<'a>>,
}

#[derive(Serialize)]
struct FamilyJson<'a> {
    family: &'a str,
    kept: u64,
    moved: u64,
    checksum: String,
    dropped: u64,
    aside: u64,
}

#[derive(Serialize)]
struct ProblemJson<'a> {
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    family: Option<&'a str>,
    rows: u64,
    examples: Vec<ExampleJson<'a>>,
}

#[derive(Serialize)]
struct ExampleJson<'a> {
    space: &'a str,
    key: String,
    why: &'a str,
}

/// What a migration did or would do, as JSON.
pub fn survey_json(proof: &MigrationProof, survey: &Survey, state: &str) -> Result<Vec<u8>> {
    let families = proof.mapping.routes.iter().zip(&survey.routes).map(|(route, figures)| FamilyJson {
        family: &route.from.path,
        kept: figures.kept,
        moved: figures.moved.rows,
        checksum: format!("{:016x}", figures.moved.sum),
        dropped: figures.dropped,
        aside: figures.aside,
    });
    let problems = survey.problems.iter().map(|problem| ProblemJson {
        kind: problem.kind.word(),
        family: problem.family.as_deref(),
        rows: problem.rows,
        examples: problem
            .examples
            .iter()
            .map(|example| ExampleJson { space: &example.space, key: hex(&example.key), why: &example.why })
            .collect(),
    });
    let json = SurveyJson {
        version: 1,
        state,
        rows: survey.rows,
        families: families.collect(),
        problems: problems.collect(),
    };
    let mut bytes = serde_json::to_vec_pretty(&json)?;
    bytes.push(b'\n');
    Ok(bytes)
}

#[derive(Serialize)]
struct StateJson<'a> {
    version: u32,
    state: &'a str,
}

/// How a migration ended that went on or back, as JSON.
pub fn state_json(state: &str) -> Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec_pretty(&StateJson { version: 1, state })?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// A row that is set aside, in a line.
pub fn parked(row: &Parked<'_>) -> String {
    format!("{}  0x{}: {}", painted(NAME, row.space), hex(row.key), row.why)
}

#[derive(Serialize)]
struct ParkedJson<'a> {
    space: &'a str,
    key: String,
    value: String,
    why: &'a str,
}

/// A row that is set aside, as an object in a line.
pub fn parked_json(row: &Parked<'_>) -> Result<Vec<u8>> {
    let json = ParkedJson { space: row.space, key: hex(row.key), value: hex(row.value), why: row.why };
    let mut bytes = serde_json::to_vec(&json)?;
    bytes.push(b'\n');
    Ok(bytes)
}
