//! A plan checked, as data.

use keyplan_prover::{Options, Verdict};
use keyplan_report::findings::{Checked, Repairs, finding_json};
use serde_json::{Value, json};

use crate::Text;

/// Everything that is known of a plan: what was asked, what came of it, and the findings as `keyplan check --format json`
/// has them.
pub(crate) fn check(text: &Text, repairs: bool) -> Value {
    let repairs = if repairs { Repairs::Wanted } else { Repairs::Unasked };
    let checked = Checked::new(&text.name, text.compile(), Some(&Options::default()), repairs);
    let plan = checked.compiled.plan.as_ref();
    let findings: Vec<Value> = checked
        .findings
        .iter()
        .map(|found| {
            serde_json::to_value(finding_json(plan, &checked.compiled.sources, found)).unwrap_or_default()
        })
        .collect();
    let count = |wanted: fn(&Verdict) -> bool| {
        checked.statements().filter(|statement| wanted(&statement.verdict)).count()
    };
    json!({
        "name": plan.map(|plan| plan.name.as_str()),
        "fingerprint": plan.map(|plan| plan.fingerprint().to_string()),
        "families": plan.map_or(0, |plan| plan.families().count()),
        "scans": plan.map_or(0, |plan| plan.families().map(|(_, family)| family.scans.len()).sum::<usize>()),
        "proved": count(|verdict| matches!(verdict, Verdict::Holds | Verdict::Assumed(_))),
        "refuted": count(|verdict| matches!(verdict, Verdict::Fails(_))),
        "unknown": count(|verdict| matches!(verdict, Verdict::Unknown(_))),
        "findings": findings,
    })
}
