//! One guarantee and its verdict as JSON, with the keys that refute it.

use keyplan_plan::model::Plan;
use keyplan_prover::{Statement, Verdict, Witness, accepted_by, layout};
use keyplan_report::findings::witness_json;
use serde::Serialize;
use serde_json::Value;

/// A guarantee and its verdict.
#[derive(Serialize)]
pub(crate) struct StatementJson<'a> {
    code: &'static str,
    space: &'a str,
    family: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    other: Option<&'a str>,
    /// The names of the arguments that the scan binds.
    #[serde(skip_serializing_if = "Option::is_none")]
    scan: Option<Vec<&'a str>>,
    /// The scan as the plan states it: `by pool bare`.
    #[serde(skip_serializing_if = "Option::is_none")]
    scan_words: Option<String>,
    /// The other families whose rows the scan returns.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    more: Vec<&'a str>,
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
pub(crate) fn statement<'a>(plan: &'a Plan, statement: &'a Statement) -> StatementJson<'a> {
    let (verdict, reason, witness) = match &statement.verdict {
        Verdict::Holds => ("holds", None, None),
        Verdict::Assumed(assumption) => ("assumed", Some(assumption.to_string()), None),
        Verdict::Fails(found) => ("fails", None, Some(witness_json(plan, statement, found))),
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
        scan: statement.scan.map(|scan| bound(scan.bound)),
        scan_words: words(plan, statement),
        more: statement.more.leaks.iter().filter_map(Witness::row_family).collect(),
        verdict,
        accepted: statement
            .accepted
            .then(|| accepted_by(plan, statement).map_or("", |accept| accept.why.as_str())),
        reason,
        witness,
    }
}

fn words(plan: &Plan, statement: &Statement) -> Option<String> {
    let id = statement.scan?;
    let (_, family) = plan.families().find(|(_, family)| family.path == statement.family)?;
    family.scan(id).map(|scan| scan.words(&family.key))
}
