//! What came of checking a certificate.

use keyplan_plan::model::Plan;
use keyplan_prover::certificate::{Rejected, Standing, Verified};
use serde_json::json;

use super::{ERROR, GOOD, STRONG, counted, painted};

/// One line: how much was checked and how, or what is wrong.
pub fn certified(plan: &Plan, outcome: &Result<Verified, Rejected>, standing: Standing) -> String {
    match outcome {
        Ok(verified) => {
            let anew = verified.recomputed.len();
            let Standing { hold, refuted, unknown, accepted } = standing;
            let bad = |n: usize, word: &str| match n {
                0 => format!("0 {word}"),
                n => painted(ERROR, format!("{n} {word}")),
            };
            format!(
                "{}: {} of `{}`, {} checked by their reasons and {anew} proved again: {hold} hold, {}, {}, {accepted} accepted",
                painted(if refuted + unknown == 0 { GOOD } else { STRONG }, "the certificate is right"),
                counted(verified.statements, "statement", "statements"),
                plan.name,
                verified.statements.saturating_sub(anew),
                bad(refuted, "refuted"),
                bad(unknown, "unknown"),
            )
        }
        Err(rejected) => format!("{}: {rejected}", painted(ERROR, "rejected")),
    }
}

/// The same as an object.
pub fn certified_json(
    plan: &Plan,
    outcome: &Result<Verified, Rejected>,
    standing: Standing,
) -> serde_json::Result<Vec<u8>> {
    let object = match outcome {
        Ok(verified) => json!({
            "plan": plan.name,
            "verified": true,
            "statements": verified.statements,
            "recomputed": verified.recomputed,
            "hold": standing.hold,
            "refuted": standing.refuted,
            "unknown": standing.unknown,
            "accepted": standing.accepted,
        }),
        Err(rejected) => json!({ "plan": plan.name, "verified": false, "why": rejected.to_string() }),
    };
    let mut out = serde_json::to_vec(&object)?;
    out.push(b'\n');
    Ok(out)
}
