//! `keyplan db retire`: rows of what the plan has given up.

use anyhow::Result;
use keyplan_database::on_engine;
use keyplan_store::engine::Durability;
use keyplan_store::{Access, Removed, Retire as Rule, Steps, retired_targets};

use super::opened;
use crate::args::db::Retire;
use crate::command::Outcome;
use crate::interrupt;
use crate::render::{self, Output, Progress};

/// Lists what is retired, or removes the rows of one of them.
pub(super) fn run(args: &Retire, out: &mut Output) -> Result<Outcome> {
    let access = if args.apply { Access::ReadWrite } else { Access::ReadOnly };
    let (database, plan) = opened(&args.target, access)?;
    let steps = Steps { rows: args.step.max(1), durability: Durability::SyncData, dry_run: !args.apply };
    let names: Vec<String> = match &args.name {
        Some(name) => vec![name.clone()],
        None => retired_targets(&plan).into_iter().map(|target| target.name).collect(),
    };
    if names.is_empty() {
        out.line("the plan has retired nothing")?;
    }
    for name in names {
        let rule = Rule::new(&plan, &name)?;
        let progress = Progress::rows(if args.apply { "removing" } else { "counting" });
        let told = |removed: &Removed| {
            progress.set(removed.rows);
            interrupt::goes_on()
        };
        let mut listed = Vec::new();
        let look = |key: &[u8], _: &[u8]| {
            if args.list {
                listed.push(key.to_vec());
            }
        };
        let (removed, kept) = on_engine!(&database, store => rule.run(store, &steps, look, told)?);
        progress.end();
        for key in &listed {
            out.line(&render::hex(key))?;
        }
        out.text(&render::retired(rule.target(), &removed, kept, args.apply))?;
    }
    Ok(Outcome::Clean)
}
