use keyplan_plan::diag::Diagnostic;
use keyplan_plan::model::Plan;
use keyplan_prover::{Guarantee, Options, Statement, Verdict, describe};

/// The guarantees of a plan that are refuted and that nothing in it accepts. `path` is what the plan's file is known by.
///
/// What the prover can neither prove nor refute does not stop a program from being compiled: `keyplan check` lists it.
/// Whether the longest key fits is left to the engine that is opened, since a plan does not know which one that is.
#[must_use]
pub fn prove(plan: &Plan, path: &str) -> Vec<Diagnostic> {
    let options = Options::default();
    let report = keyplan_prover::prove(plan, &options);
    let refuted = report.findings().filter(|statement| is_refuted(statement));
    refuted.filter_map(|statement| describe(plan, statement, &options, path)).collect()
}

fn is_refuted(statement: &Statement) -> bool {
    matches!(statement.verdict, Verdict::Fails(_)) && statement.guarantee != Guarantee::Fits
}
