use keyplan_plan::model::{Plan, Scan};
use serde::{Deserialize, Serialize};

use super::{Certified, Ruling};
use crate::guarantee::Guarantee;

/// A family whose rows are pruned by a rule, and what shows that a range goes and nothing else.
///
/// The rows that are looked at together are those of a scan by a prefix. That no row of another family (KP0003) and none with other
/// bound arguments (KP0004) is among them, that they come in the order of the argument which says how old they are (KP0005), and that a
/// key has one reading (KP0002), makes those which go a range: all rows of the scan up to a place, or from one on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pruned {
    /// The space.
    pub space: String,
    /// The path of the family.
    pub family: String,
    /// The rule, as the plan states it: `retain 100 by height`.
    pub rule: String,
    /// How many arguments the scan binds.
    pub scan: usize,
    /// Which of the scans that bind so many, where it is not the first.
    #[serde(default, skip_serializing_if = "super::is_zero")]
    pub nth: usize,
    /// The codes of the statements that it rests on, of the family and of the scan.
    pub rests_on: Vec<String>,
    /// Whether all of them hold.
    pub a_range: bool,
}

/// What may be pruned under a plan, by statements about it.
pub(super) fn pruned(plan: &Plan, statements: &[Certified]) -> Vec<Pruned> {
    let mut all = Vec::new();
    for (space, family) in plan.families() {
        let Some(retention) = &family.retention else { continue };
        let called = |scan: &&Scan| scan.is_called() && !scan.bare && !scan.filtered && scan.with.is_empty();
        let by = family.scans.iter().filter(called);
        let Some(scan) = by.clone().find(|scan| scan.bound == retention.bound && scan.in_order) else {
            continue;
        };
        let about = |code: Guarantee, statement: &Certified| {
            let of_scan = code != Guarantee::Unambiguous;
            statement.code == code.code()
                && statement.space == space.name
                && statement.family == family.path
                && statement.scan_id() == of_scan.then_some(scan.id)
        };
        let found: Vec<(Guarantee, &Certified)> = NEEDED
            .iter()
            .flat_map(|code| {
                let of = statements.iter().filter(|statement| about(*code, statement));
                of.map(|statement| (*code, statement))
            })
            .collect();
        let holds = |statement: &Certified| {
            matches!(statement.verdict, Ruling::Holds(_) | Ruling::Assumed { .. }) && !statement.accepted
        };
        let stated = |code: Guarantee| found.iter().any(|(found, _)| *found == code);
        all.push(Pruned {
            space: space.name.clone(),
            family: family.path.clone(),
            rule: retention.words(family),
            scan: scan.id.bound,
            nth: scan.id.nth,
            rests_on: found.iter().map(|(code, _)| code.code().to_owned()).collect(),
            a_range: found.iter().all(|(_, statement)| holds(statement)) && NEEDED.into_iter().all(stated),
        });
    }
    all
}

/// What it rests on.
const NEEDED: [Guarantee; 4] =
    [Guarantee::Unambiguous, Guarantee::NoForeignRows, Guarantee::NoSiblingRows, Guarantee::InOrder];
