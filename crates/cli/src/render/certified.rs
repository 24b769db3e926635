//! What came of checking a certificate.

use anyhow::Result;
use keyplan_plan::model::Plan;
use keyplan_prover::certificate::{Rejected, Verified};
use serde_json::json;

use super::{ERROR, GOOD, counted, painted};

/// One line: how much was checked and how, or what is wrong.
pub(crate) fn certified(plan: &Plan, outcome: &Result<Verified, Rejected>) -> String {
    match outcome {
        Ok(verified) => {
            let anew = verified.recomputed.len();
            format!(
                "{}: {} of `{}`, {} checked by their reasons and {anew} proved anew",
                painted(GOOD, "verified"),
                counted(verified.statements, "statement", "statements"),
                plan.name,
                verified.statements.saturating_sub(anew),
            )
        }
        Err(rejected) => format!("{}: {rejected}", painted(ERROR, "rejected")),
    }
}

/// The same as an object.
pub(crate) fn certified_json(plan: &Plan, outcome: &Result<Verified, Rejected>) -> Result<Vec<u8>> {
    let object = match outcome {
        Ok(verified) => json!({
            "plan": plan.name,
            "verified": true,
            "statements": verified.statements,
            "recomputed": verified.recomputed,
        }),
        Err(rejected) => json!({ "plan": plan.name, "verified": false, "why": rejected.to_string() }),
    };
    let mut out = serde_json::to_vec(&object)?;
    out.push(b'\n');
    Ok(out)
}
