//! Scans: what may be asked of a family, what is proved of each, and the bytes of one.

use keyplan_plan::dynamic::{Value, parse, prefix};
use keyplan_plan::model::{Argument, Family, Plan, Scan, Segment, Sequence};
use keyplan_plan::notation::{self, argument_name};
use keyplan_prover::{Guarantee, Statement, Verdict, layout};
use keyplan_report::findings::witness_json;
use serde_json::{Value as Json, json};

use crate::params::{Params, Problem};
use crate::reading::Reading;
use crate::show::{field, make_visible};

/// The scans of a family, each with what is proved of it.
pub(super) fn scans(reading: &Reading, family: &Family) -> Vec<Json> {
    family.scans.iter().map(|scan| one(reading, family, scan)).collect()
}

fn one(reading: &Reading, family: &Family, scan: &Scan) -> Json {
    let about = reading
        .checked
        .statements()
        .filter(|statement| statement.family == family.path && statement.scan == Some(scan.id));
    let claims: Vec<Json> = about.map(|statement| claim(reading, statement)).collect();
    let worst = ["refuted", "unknown", "accepted", "endless", "assumed"]
        .into_iter()
        .find(|mark| claims.iter().any(|claim| field(claim, "verdict") == *mark))
        .unwrap_or("proved");
    let bound = scan.layout(&family.key).arguments().take(scan.value_count());
    let bound: Vec<&str> = bound.map(argument_name).collect();
    json!({
        "id": scan.id.to_string(),
        "words": notation::scan(family, scan),
        "bound": bound,
        "in_order": scan.in_order,
        "called": scan.is_called(),
        "mark": worst,
        "claims": claims,
        "place": reading.place(scan.span),
    })
}

/// A statement with its verdict, and the keys that refute it.
pub(super) fn claim(reading: &Reading, statement: &Statement) -> Json {
    let (verdict, why) = verdict(&reading.plan, statement);
    let witness = match &statement.verdict {
        Verdict::Fails(witness) => {
            let mut json = witness_json(&reading.plan, statement, witness);
            make_visible(&mut json);
            json
        }
        _ => Json::Null,
    };
    json!({
        "code": statement.guarantee.code(),
        "guarantee": words(statement.guarantee.code()),
        "space": statement.space,
        "family": statement.family,
        "other": statement.other,
        "scan": statement.scan.map(|id| id.to_string()),
        "verdict": verdict,
        "why": why,
        "witness": witness,
        "place": reading.place(statement.span),
    })
}

fn verdict(plan: &Plan, statement: &Statement) -> (&'static str, Option<String>) {
    match &statement.verdict {
        Verdict::Fails(_) if is_endless(plan, statement) => (
            "endless",
            Some("there is no longest key: what the engine takes is up to the program".to_owned()),
        ),
        Verdict::Holds => ("proved", None),
        Verdict::Assumed(assumption) => ("assumed", Some(assumption.to_string())),
        Verdict::Fails(_) if statement.accepted => ("accepted", None),
        Verdict::Fails(_) => ("refuted", None),
        Verdict::Unknown(reason) if statement.accepted => ("accepted", Some(reason.to_string())),
        Verdict::Unknown(reason) => ("unknown", Some(reason.to_string())),
    }
}

/// The state of a statement, in a word.
pub(super) fn mark_of(plan: &Plan, statement: &Statement) -> &'static str {
    verdict(plan, statement).0
}

/// Whether all that is wrong is that keys have no longest one, which a program may well see to itself.
fn is_endless(plan: &Plan, statement: &Statement) -> bool {
    statement.guarantee == Guarantee::Fits
        && !statement.accepted
        && layout(plan, statement, &statement.family).is_some_and(|layout| layout.width().max.is_none())
}

/// What a guarantee says, in a few words.
pub(super) fn words(code: &str) -> &'static str {
    match code {
        "KP0001" => "no key of another family",
        "KP0002" => "one reading per key",
        "KP0003" => "no rows of other families",
        "KP0004" => "no rows of other arguments",
        "KP0005" => "in order",
        "KP0006" => "numbers as allotted",
        "KP0008" => "hashed names are distinct",
        "KP0009" => "nothing is lost",
        "KP0010" => "keys fit the engine",
        "KP0013" => "out of other modules",
        "KP0016" => "no rows left out",
        _ => "",
    }
}

/// The first bytes of the rows that are asked for, and whether a declared scan asks for them.
#[derive(Debug)]
pub(super) struct Asked<'f> {
    pub(super) prefix: Vec<u8>,
    pub(super) from: Option<Vec<u8>>,
    pub(super) to: Option<Vec<u8>>,
    pub(super) scan: Option<&'f Scan>,
}

/// Reads `scan`, `a.NAME=VALUE`, `from` and `to`.
pub(super) fn asked<'f>(family: &'f Family, params: &Params) -> Result<Asked<'f>, Problem> {
    let given = params.behind("a.");
    let wanted = params.get("scan");
    let scan = match wanted {
        Some(id) => {
            let found = family.scans.iter().find(|scan| scan.id.to_string() == id);
            Some(found.ok_or_else(|| Problem::Absent(format!("`{}` has no scan {id}", family.path)))?)
        }
        None if given.is_empty() => family.scan_by(0),
        None => {
            let names: Vec<&str> = given.iter().map(|(name, _)| *name).collect();
            let declared = family.scan_named(&names);
            let none = || {
                let all: Vec<String> = family.scans.iter().map(|scan| notation::scan(family, scan)).collect();
                let has = if all.is_empty() { "none".to_owned() } else { all.join("; ") };
                Problem::Asked(format!(
                    "`{}` declares no scan that binds these arguments; its scans: {has}",
                    family.path
                ))
            };
            Some(declared.ok_or_else(none)?)
        }
    };
    let Some(scan) = scan else {
        return Ok(Asked { prefix: family.key.literal_prefix(), from: None, to: None, scan: None });
    };
    let values = leading(scan.layout(&family.key), scan.value_count(), &given)?;
    let mut bytes = Vec::new();
    scan.write(&family.key, &values, &mut bytes).map_err(|error| Problem::Asked(error.to_string()))?;
    let end = |name: &str| -> Result<Option<Vec<u8>>, Problem> {
        let Some(text) = params.get(name) else { return Ok(None) };
        if !scan.in_order {
            return Err(Problem::Asked(
                "only a scan `in order` has rows from one value to another".to_owned(),
            ));
        }
        let Some(argument) = family.key.arguments().nth(scan.bound) else {
            return Err(Problem::Asked("the scan binds every argument".to_owned()));
        };
        let mut values = values.clone();
        values.push(typed(argument, text)?);
        let mut bytes = Vec::new();
        let segments = behind(&family.key, values.len());
        prefix(&family.key, segments, &values, &mut bytes)
            .map_err(|error| Problem::Asked(error.to_string()))?;
        Ok(Some(bytes))
    };
    Ok(Asked { prefix: bytes, from: end("from")?, to: end("to")?, scan: Some(scan) })
}

/// The number of segments up to the last of the first `count` arguments.
fn behind(layout: &Sequence, count: usize) -> usize {
    let all = layout.segments().iter().enumerate();
    let arguments = all.filter(|(_, segment)| matches!(segment, Segment::Argument(_)));
    arguments.take(count).last().map_or(0, |(index, _)| index + 1)
}

/// The first arguments of a layout, as they were typed.
fn leading(layout: &Sequence, count: usize, given: &[(&str, &str)]) -> Result<Vec<Value>, Problem> {
    let value = |argument: &Argument| {
        let name = argument_name(argument);
        let Some((_, text)) = given.iter().find(|(known, _)| *known == name) else {
            return Err(Problem::Asked(format!("the scan needs `{name}`")));
        };
        typed(argument, text)
    };
    layout.arguments().take(count).map(value).collect()
}

/// One argument as it was typed.
pub(super) fn typed(argument: &Argument, text: &str) -> Result<Value, Problem> {
    parse(&argument.shape, text)
        .map_err(|error| Problem::Asked(format!("`{}={text}`: {error}", argument_name(argument))))
}
