//! One guarantee and its verdict as JSON, with the keys that refute it.

use keyplan_plan::model::Plan;
use keyplan_plan::notation::write_json;
use keyplan_prover::{NumberFault, Side, Statement, Verdict, Witness, accepted_by, layout};
use serde::Serialize;
use serde_json::{Value, json};

use super::hex;

/// A guarantee and its verdict.
#[derive(Serialize)]
pub(super) struct StatementJson<'a> {
    code: &'static str,
    space: &'a str,
    family: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    other: Option<&'a str>,
    /// The names of the arguments that the scan binds.
    #[serde(skip_serializing_if = "Option::is_none")]
    scan: Option<Vec<&'a str>>,
    verdict: &'static str,
    /// Why the plan keeps the flaw.
    #[serde(skip_serializing_if = "Option::is_none")]
    accepted: Option<&'a str>,
    /// What a verdict of `assumed` rests on, and why one is `unknown`.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    witness: Option<Value>,
}

/// One statement of a report.
pub(super) fn statement<'a>(plan: &'a Plan, statement: &'a Statement) -> StatementJson<'a> {
    let (verdict, reason, witness) = match &statement.verdict {
        Verdict::Holds => ("holds", None, None),
        Verdict::Assumed(assumption) => ("assumed", Some(assumption.to_string()), None),
        Verdict::Fails(found) => ("fails", None, Some(witness(plan, statement, found))),
        Verdict::Unknown(reason) => ("unknown", Some(reason.to_string()), None),
    };
    let bound = |count: usize| -> Vec<&'a str> {
        let sequence = layout(plan, statement, &statement.family);
        let all = sequence.into_iter().flat_map(keyplan_plan::model::Sequence::arguments);
        all.take(count).map(|argument| argument.name.as_deref().unwrap_or("value")).collect()
    };
    StatementJson {
        code: statement.guarantee.code(),
        space: &statement.space,
        family: &statement.family,
        other: statement.other.as_deref(),
        scan: statement.scan.map(bound),
        verdict,
        accepted: statement
            .accepted
            .then(|| accepted_by(plan, statement).map_or("", |accept| accept.why.as_str())),
        reason,
        witness,
    }
}

fn witness(plan: &Plan, statement: &Statement, witness: &Witness) -> Value {
    let side = |side: &Side| side_json(plan, statement, side);
    match witness {
        Witness::SameKey { first, second } => {
            json!({ "kind": "same_key", "first": side(first), "second": side(second) })
        }
        Witness::Row { scan, row } => json!({ "kind": "row", "scan": side(scan), "row": side(row) }),
        Witness::Disorder { first, second } => {
            json!({ "kind": "disorder", "first": side(first), "second": side(second) })
        }
        Witness::RangeEnd { end, row } => json!({ "kind": "range_end", "end": side(end), "row": side(row) }),
        Witness::Number { number, fault, .. } => {
            let mut out = json!({ "kind": "number", "number": number });
            let (name, value) = match fault {
                NumberFault::Taken { by } => ("taken_by", json!(by)),
                NumberFault::Outside { allotment } => ("outside", json!(allotment)),
                NumberFault::Retired { prefix, key } => {
                    ("retired", json!({ "prefix": hex(prefix), "key": side(key) }))
                }
            };
            if let Some(out) = out.as_object_mut() {
                out.insert(name.to_owned(), value);
            }
            out
        }
        Witness::Digest { first, second, digest } => json!({
            "kind": "digest",
            "first": String::from_utf8_lossy(first),
            "second": String::from_utf8_lossy(second),
            "hex": hex(digest),
        }),
        Witness::Trespass { module, prefix, key } => {
            json!({ "kind": "trespass", "module": module, "prefix": hex(prefix), "key": side(key) })
        }
        Witness::TooLong { key, limit } => {
            json!({ "kind": "too_long", "limit": limit, "length": key.bytes.len(), "key": side(key) })
        }
        _ => Value::Null,
    }
}

fn side_json(plan: &Plan, statement: &Statement, side: &Side) -> Value {
    let mut text = Vec::new();
    match layout(plan, statement, &side.family) {
        Some(sequence) => write_json(&mut text, sequence, &side.values),
        None => text.extend_from_slice(b"null"),
    }
    let arguments: Value = serde_json::from_slice(&text).unwrap_or_default();
    json!({ "family": side.family, "args": arguments, "hex": hex(&side.bytes) })
}
