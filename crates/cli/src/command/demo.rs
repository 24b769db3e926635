//! `keyplan demo`: five real plans, keys of three chains, and what to try next.

use std::time::Instant;

use anyhow::{Result, anyhow};
use keyplan_plan::compile;
use keyplan_plan::diag::Severity;
use keyplan_plan::dynamic::Decoder;
use keyplan_plan::model::Plan;
use keyplan_prover::Options;

use super::check::{Checked, Repairs, Tally};
use super::{Outcome, read};
use crate::input::Loaded;
use crate::render::{self, Output};

/// The plans of the five systems, as they stand in `plans/`.
const PLANS: [(&str, &str); 5] = [
    ("plans/osmosis_cl.keyplan", include_str!("../../../../plans/osmosis_cl.keyplan")),
    ("plans/cosmwasm.keyplan", include_str!("../../../../plans/cosmwasm.keyplan")),
    ("plans/cardano.keyplan", include_str!("../../../../plans/cardano.keyplan")),
    ("plans/paw.keyplan", include_str!("../../../../plans/paw.keyplan")),
    ("plans/onesat.keyplan", include_str!("../../../../plans/onesat.keyplan")),
];

/// A plan by its number above and a key; the last one is broken.
const KEYS: [(usize, &str); 4] = [
    (0, "01000000000000000705ffffffffffffff9c"),
    (2, "138a7b25414c083ae1d8a9d1d8a9d1d8a9d1d8a9d1d8a9d1d8a9d1d8a9d1d8a9d1d8a9d1d8a9d1d8"),
    (4, "683a000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f00000001"),
    (0, "01000000000000000706ffffffffffffff9c"),
];

/// The family whose reference is shown.
const DOCUMENTED: (usize, &str) = (3, "state.dex.liquidity");

/// Runs the demonstration.
pub(crate) fn run(out: &mut Output) -> Result<Outcome> {
    let started = Instant::now();
    let options = Options::default();
    let plans: Vec<Checked> = PLANS
        .iter()
        .map(|(path, text)| {
            let compiled = compile(path, text, |_| Err("the demonstration reads no files".to_owned()));
            Checked::new(Loaded { path: (*path).to_owned(), compiled }, Some(&options), Repairs::Unasked)
        })
        .collect();
    out.line(&render::command_line("keyplan check plans/*.keyplan"))?;
    for plan in &plans {
        let errors = plan.findings.iter().filter(|finding| finding.severity() == Severity::Error);
        let errors: Vec<_> = errors.cloned().collect();
        if !errors.is_empty() {
            out.line(&render::findings(&plan.loaded.compiled.sources, &errors))?;
        }
    }
    out.text(&render::plan_table(&plans))?;
    out.line(&render::summary(&Tally::of(&plans), started.elapsed()))?;
    for (plan, key) in KEYS {
        let (path, model) = plan_at(&plans, plan)?;
        out.line("")?;
        out.line(&render::command_line(&format!("keyplan explain {path} {key}")))?;
        let key = const_hex::decode(key)?;
        let spaces: Vec<usize> = (0..model.spaces.len()).collect();
        let explanation = read(&Decoder::new(model), &spaces, &key);
        out.text(&render::explanation(model, &spaces, &key, &explanation, out.width()))?;
    }
    let (path, model) = plan_at(&plans, DOCUMENTED.0)?;
    out.line("")?;
    out.line(&render::command_line(&format!("keyplan doc {path}")))?;
    out.text(&render::excerpt(model, DOCUMENTED.1))?;
    out.line("")?;
    out.text(&render::next_steps())?;
    let tally = Tally::of(&plans);
    Ok(if tally.findings + tally.unknown == 0 { Outcome::Clean } else { Outcome::Findings })
}

fn plan_at(plans: &[Checked], index: usize) -> Result<(&str, &Plan)> {
    let loaded = &plans.get(index).ok_or_else(|| anyhow!("there is no plan {index}"))?.loaded;
    let plan = loaded.compiled.plan.as_ref().ok_or_else(|| anyhow!("`{}` has no meaning", loaded.path))?;
    Ok((&loaded.path, plan))
}
