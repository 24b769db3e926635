//! `keyplan db prune`: rows past the retention that the plan states.

use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result, bail};
use keyplan_database::{find, on_engine};
use keyplan_plan::dynamic::{Value, parse};
use keyplan_plan::model::{Family, Keep, Plan, Shape, TimeEncoding};
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
    let families = families(args, &plan)?;
    let steps = Steps { rows: args.step.max(1), durability: Durability::SyncData, dry_run: !args.apply };
    for family in families {
        let rule = Rule::new(&plan, &family.path, now(args, family)?)?;
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

/// The families that are asked for.
fn families<'p>(args: &Prune, plan: &'p Plan) -> Result<Vec<&'p Family>> {
    if let Some(path) = &args.family {
        return Ok(vec![find::family(plan, path)?.1]);
    }
    let all: Vec<&Family> =
        plan.families().map(|(_, family)| family).filter(|family| family.retention.is_some()).collect();
    if all.is_empty() {
        bail!("no family of the plan says what is kept: write `retain 100_000 by height` or the like");
    }
    Ok(all)
}

/// The present height or time, as the argument of a family counts it.
fn now(args: &Prune, family: &Family) -> Result<Option<i128>> {
    let Some(retention) = &family.retention else { return Ok(args.at) };
    if matches!(retention.keep, Keep::Newest { .. }) {
        return Ok(None);
    }
    let timed = retention.argument(family).is_some_and(|argument| matches!(argument.shape, Shape::Time(_)));
    if !timed {
        return match args.at {
            Some(at) => Ok(Some(at)),
            None => bail!("`{}` is kept by a number: give the present one with `--at`", family.path),
        };
    }
    if let Some(text) = &args.time {
        match parse(&Shape::Time(TimeEncoding::Text9), text) {
            Ok(Value::Time(nanoseconds)) => Ok(Some(nanoseconds)),
            _ => bail!("`{text}` is no time such as 2006-01-02T15:04:05.000000000"),
        }
    } else {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).context("the clock is before 1970")?;
        Ok(i128::try_from(since.as_nanos()).ok())
    }
}
