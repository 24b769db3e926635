//! `keyplan check`: every finding about plans, and one line that sums them up.

use std::time::Instant;

use anyhow::Result;
use keyplan_plan::model::Plan;

use super::Outcome;
use crate::args::{Check, CheckFormat};
use crate::input::{self, Loaded};
use crate::render::{self, Output};

/// Checks plans.
pub(crate) fn run(args: &Check, out: &mut Output) -> Result<Outcome> {
    let started = Instant::now();
    let plans = args.plans.iter().map(|path| input::load(path)).collect::<Result<Vec<Loaded>>>()?;
    match args.format {
        CheckFormat::Text => {
            for plan in plans.iter().filter(|plan| !plan.compiled.diagnostics.is_empty()) {
                out.line(&render::findings(&plan.compiled.sources, &plan.compiled.diagnostics))?;
            }
            let tally = Tally::of(&plans);
            out.line(&render::summary(&tally, started.elapsed()))?;
        }
        CheckFormat::Json => out.raw(&render::check_json(&plans)?)?,
        CheckFormat::Sarif => out.raw(&render::sarif(&plans)?)?,
        CheckFormat::Github => out.text(&render::github(&plans))?,
    }
    let clean = plans.iter().all(|plan| plan.compiled.diagnostics.is_empty());
    Ok(if clean { Outcome::Clean } else { Outcome::Findings })
}

/// What there is and what was found, in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Plan files.
    pub(crate) plans: usize,
    /// Families of plans that have a meaning.
    pub(crate) families: usize,
    /// Scans that they claim.
    pub(crate) scans: usize,
    /// Mistakes and warnings.
    pub(crate) findings: usize,
    /// Flaws that they keep.
    pub(crate) accepted: usize,
}

impl Tally {
    /// Counts.
    pub(crate) fn of<'a>(plans: impl IntoIterator<Item = &'a Loaded>) -> Self {
        let mut tally = Self::default();
        for plan in plans {
            tally.plans += 1;
            tally.findings += plan.compiled.diagnostics.len();
            for (_, family) in plan.compiled.plan.iter().flat_map(Plan::families) {
                tally.families += 1;
                tally.scans += family.scans.len();
                tally.accepted += family.accepts.len();
            }
        }
        tally
    }
}
