//! `keyplan db prune`: rows past the retention that the plan states.

use anyhow::Result;
use keyplan_database::{on_engine, present, pruned_families};
use keyplan_store::engine::Durability;
use keyplan_store::{Access, Prune as Rule, Removed, Steps};

use super::opened;
use crate::args::db::Prune;
use crate::command::Outcome;
use crate::render::{self, Output, Progress};
use crate::{input, interrupt};

/// Removes rows past their retention, or says how many there are.
pub(super) fn run(args: &Prune, out: &mut Output) -> Result<Outcome> {
    let access = if args.apply { Access::ReadWrite } else { Access::ReadOnly };
    let (database, recorded) = opened(&args.target, access)?;
    let plan = match args.target.plan.as_ref().filter(|_| args.rules_of_plan) {
        // It has the layout of the one in the database, or opening would have failed.
        Some(path) => input::asked(path)?,
        None => recorded,
    };
    let families = pruned_families(&plan, args.family.as_deref())?;
    let steps = Steps { rows: args.step.max(1), durability: Durability::SyncData, dry_run: !args.apply };
    for family in families {
        let rule = Rule::new(&plan, &family.path, present(family, args.at, args.time.as_deref())?)?;
        let progress = Progress::rows(if args.apply { "pruning" } else { "counting" });
        let told = |removed: &Removed| {
            progress.set(removed.rows);
            interrupt::goes_on()
        };
        let removed = on_engine!(&database, store => rule.run(store, &steps, told)?);
        progress.end();
        out.text(&render::pruned(family, &removed, args.apply))?;
    }
    Ok(Outcome::Clean)
}
