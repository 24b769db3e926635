//! How rows of an earlier version are carried over, and what is proved of that.

use keyplan_plan::mapping::{Course, Route};
use keyplan_plan::model::Plan;
use keyplan_prover::{Decision, Duty, MigrationProof, Obligation};

use super::{Page, code, spaced};

/// A section about the way from an earlier version of a plan, to follow its reference.
///
/// ```
/// use keyplan_prover::{Options, prove_migration};
///
/// let plan = |text| keyplan_plan::compile("p.keyplan", text, |_| Err("none".into())).plan.expect("sound");
/// let old = plan("plan p; space s { key pool = 0x03 id: u64.dec; }");
/// let new = plan("plan p; space s { key pool = 0x13 id: u64; }");
/// let proof = prove_migration(&old, &new, &Options::default());
/// let section = keyplan_report::reference::carried("v1", &new, &proof);
/// assert!(section.contains("| `s.pool` | moved to `s.pool` | proved | proved | proved | proved | proved |"));
/// ```
pub fn carried(release: &str, new: &Plan, proof: &MigrationProof) -> String {
    let mut page = Page::of(new);
    page.line(&format!("## From release {}", code(release)));
    page.line(
        "What becomes of the rows of that release, and what is proved of it: every key has a new one (total), no two become one \
         (injective), each tells its arguments (readable), none is an old key that may still be there (apart), and nothing is \
         forgotten (complete).",
    );
    let head = ["family", "becomes"].into_iter().chain(Obligation::ALL.map(Obligation::word));
    let head: Vec<&str> = head.collect();
    let rows = proof.mapping.routes.iter().map(|route| {
        let decided = Obligation::ALL.map(|obligation| decided(proof, route, obligation));
        [code(&route.from.path), course(route)].into_iter().chain(decided).collect()
    });
    page.table(&head, &rows.collect::<Vec<_>>());
    page.text
}

fn course(route: &Route) -> String {
    match &route.course {
        Course::Kept { to } => format!("kept as {}", code(&to.path)),
        Course::Moved(passage) => format!("moved to {}", code(&passage.to.path)),
        Course::Retired { prefix } => format!("stays under the retired prefix {}", code(&spaced(prefix))),
        Course::Dropped { why } => format!("dropped: {why}"),
        Course::Unspoken => "not said".to_owned(),
    }
}

fn decided(proof: &MigrationProof, route: &Route, obligation: Obligation) -> String {
    let about = |duty: &&Duty| duty.from == route.from.path && duty.obligation == obligation;
    let Some(duty) = proof.duties.iter().find(about) else { return String::new() };
    let rule = duty.rule.map(|rule| format!(", by rule: {}", rule.word())).unwrap_or_default();
    match &duty.decision {
        Decision::Proved => "proved".to_owned(),
        Decision::Assumed(assumption) => format!("proved {assumption}"),
        Decision::Unknown(_) => format!("unknown{rule}"),
        Decision::Refuted(_) if rule.is_empty() && !duty.is_finding() => {
            "refuted: by a place of its own".to_owned()
        }
        Decision::Refuted(found) => format!("refuted{rule}: {}", code(&found.to_string())),
    }
}
