//! One family.

use std::sync::Arc;

use keyplan_plan::notation::{Notation, assignments};
use keyplan_plan::sample;
use keyplan_prover::Verdict;
use serde_json::{Value as Json, json};

use super::{columns, scan};
use crate::explorer::Explorer;
use crate::params::{Params, Problem};

/// Its layout, its scans, and what is proved of it.
pub(super) fn family(explorer: &Arc<Explorer>, params: &Params) -> Result<Json, Problem> {
    let reading = explorer.reading_of(params)?;
    let path = params.need("family")?;
    let found = reading.family(path);
    let (index, family) = found.ok_or_else(|| Problem::Absent(format!("there is no family `{path}`")))?;
    let notation = Notation::of(&reading.plan);
    let statements: Vec<Json> = reading
        .statements(path)
        .filter(|statement| statement.scan.is_none())
        .filter(|statement| statement.other.is_none() || statement.verdict != Verdict::Holds)
        .take(200)
        .map(|statement| scan::claim(&reading, statement))
        .collect();
    let space = reading.plan.spaces.get(index);
    let width = family.key.width();
    let example = sample::arguments(&family.key).map(|values| assignments(&family.key, &values));
    let fields: Vec<Json> = family
        .fields
        .iter()
        .map(|field| {
            json!({
                "name": field.name, "layout": notation.parts(&field.key),
                "value": field.value.as_ref().map(|value| notation.value_layout(value)), "doc": field.doc,
            })
        })
        .collect();
    Ok(json!({
        "path": family.path,
        "name": family.name,
        "space": space.map(|space| space.name.as_str()),
        "kind": family.kind.keyword(),
        "doc": family.doc,
        "layout": notation.parts(&family.key),
        "columns": columns(&reading, family),
        "value": family.value.as_ref().map(|value| notation.value_layout(value)),
        "fields": fields,
        "member": family.member.as_ref().map(|member| notation.parts(member)),
        "score": family.score.as_ref().map(|score| notation.parts(score)),
        "width": { "least": width.min, "most": width.max },
        "scans": scan::scans(&reading, family),
        "statements": statements,
        "accepts": family.accepts.iter().map(|accept| json!({
            "kind": accept.kind.word(), "of": accept.of, "why": accept.why,
        })).collect::<Vec<_>>(),
        "retired": family.retired,
        "example": example,
        "plan": reading.declaration(family),
    }))
}
