//! The way from a release of a plan: what was proved of it, and its check by proving it again.

use keyplan_plan::model::{MisfitRule, Plan};
use serde::{Deserialize, Serialize};

use super::verify::Rejected;
use super::{Certificate, Standing};
use crate::compat::{Decision, MigrationProof, prove_migration};
use crate::prove::Options;

/// What was proved of the way from a release to the plan. Each obligation is a record that is proved anew where it is checked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Carried {
    /// The name of the release.
    pub release: String,
    /// The fingerprint of its plan, in hex.
    pub fingerprint: String,
    /// What must hold of each family of it.
    pub obligations: Vec<CarriedObligation>,
}

/// One obligation of one family.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CarriedObligation {
    /// The obligation, such as `injective`.
    pub obligation: String,
    /// The family of the release.
    pub from: String,
    /// The family that has its rows, if one has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// `proved`, `assumed`, `refuted` or `unknown`.
    pub verdict: String,
    /// What shows it, or why it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown: Option<String>,
    /// What the plan says is to become of rows for which it does not hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Whether a person must look at it.
    pub finding: bool,
}

impl Carried {
    /// Writes down what was proved of the way from a release with the plan `old`.
    pub fn of(release: &str, old: &Plan, proof: &MigrationProof) -> Self {
        let owed = proof.duties.iter().map(|duty| {
            let (verdict, shown) = match &duty.decision {
                Decision::Proved => ("proved", None),
                Decision::Assumed(assumption) => ("assumed", Some(assumption.to_string())),
                Decision::Refuted(found) => ("refuted", Some(found.to_string())),
                Decision::Unknown(why) => ("unknown", Some(why.clone())),
            };
            CarriedObligation {
                obligation: duty.obligation.word().to_owned(),
                from: duty.from.clone(),
                to: duty.to.clone(),
                verdict: verdict.to_owned(),
                shown,
                rule: duty.rule.map(MisfitRule::word).map(str::to_owned),
                finding: duty.is_finding(),
            }
        });
        Self {
            release: release.to_owned(),
            fingerprint: old.fingerprint().to_string(),
            obligations: owed.collect(),
        }
    }

    /// Adds the obligations to what a certificate says.
    pub(super) fn count(&self, standing: &mut Standing) {
        for owed in &self.obligations {
            let count = match (owed.verdict.as_str(), owed.finding) {
                ("proved" | "assumed", _) => &mut standing.hold,
                (_, false) => &mut standing.accepted,
                ("refuted", true) => &mut standing.refuted,
                (_, true) => &mut standing.unknown,
            };
            *count += 1;
        }
    }
}

/// Proves the way from a release anew and compares, if a certificate speaks of one; gives the statements about it. `old` is the plan
/// of that release.
pub fn verify_carried(
    certificate: &Certificate,
    old: Option<&Plan>,
    plan: &Plan,
) -> Result<Vec<String>, Rejected> {
    let Some(carried) = &certificate.carried else { return Ok(Vec::new()) };
    let about = format!("release {:?}", carried.release);
    let old = old.filter(|old| old.fingerprint().to_string() == carried.fingerprint);
    let Some(old) = old else {
        let why = "its plan, by which it would be checked, is not in a lock beside the plan";
        return Err(Rejected::Wrong { statement: about, why });
    };
    let shown = |owed: &CarriedObligation| format!("{} {}", owed.obligation, owed.from);
    let again = Carried::of(&carried.release, old, &prove_migration(old, plan, &Options::default()));
    for (owed, found) in again.obligations.iter().zip(&carried.obligations) {
        if owed != found {
            return Err(Rejected::Wrong { statement: shown(found), why: "it is not what is proved of it" });
        }
    }
    if let Some(missing) = again.obligations.get(carried.obligations.len()) {
        return Err(Rejected::Missing(shown(missing)));
    }
    if let Some(surplus) = carried.obligations.get(again.obligations.len()) {
        return Err(Rejected::Surplus(shown(surplus)));
    }
    Ok(carried.obligations.iter().map(shown).collect())
}
