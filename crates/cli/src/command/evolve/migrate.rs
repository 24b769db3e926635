//! `keyplan migrate plan`: what becomes of every family, and what was proved of it.

use anyhow::{Result, anyhow, bail};
use keyplan_plan::Compiled;
use keyplan_plan::model::Plan;
use keyplan_prover::{Options, diagnose_migration, prove_migration};
use keyplan_report::releases::last_release;

use crate::args::ExplainFormat;
use crate::args::evolve::{Migrate, MigratePlan};
use crate::command::Outcome;
use crate::input;
use crate::render::{self, Output};

/// Does what was asked for.
pub(crate) fn run(command: &Migrate, out: &mut Output) -> Result<Outcome> {
    let Migrate::Plan(args) = command;
    plan(args, out)
}

fn plan(args: &MigratePlan, out: &mut Output) -> Result<Outcome> {
    let (old, new) = match args.plans.as_slice() {
        [old, new] => (input::previous(old, new, true)?.compiled, input::load(new)?),
        [new] => {
            let loaded = input::load(new)?;
            let (plan, _) = sound(&loaded.compiled, &loaded.compiled)?;
            let Some(release) = last_release(new, plan)? else {
                bail!("no release of `{new}` is in a lock beside it; name the older plan before it");
            };
            (release.compile(), loaded)
        }
        _ => bail!("give the older plan and the newer one"),
    };
    let (before, after) = sound(&old, &new.compiled)?;
    let proof = prove_migration(before, after, &Options::default());
    match args.format {
        ExplainFormat::Json => out.raw(&render::migration_json(before, after, &proof)?)?,
        ExplainFormat::Text => {
            out.text(&render::mapping(before, after, &proof))?;
            let findings = diagnose_migration(&proof, before, after);
            out.text(&render::findings(&new.compiled.sources, &findings))?;
            out.line(&render::migration_summary(&proof))?;
        }
    }
    Ok(if proof.findings().next().is_some() { Outcome::Findings } else { Outcome::Clean })
}

/// Two plans without mistakes; those of the first that has some are shown.
fn sound<'p>(old: &'p Compiled, new: &'p Compiled) -> Result<(&'p Plan, &'p Plan)> {
    let meaning = |compiled: &'p Compiled| compiled.sound().ok_or_else(|| mistaken(compiled));
    Ok((meaning(old)?, meaning(new)?))
}

/// Shows the mistakes of a plan that nothing can be carried from or to.
pub(crate) fn mistaken(compiled: &Compiled) -> anyhow::Error {
    render::message(&render::findings(&compiled.sources, &compiled.diagnostics));
    anyhow!("a plan has mistakes, so that nothing can be carried from it or to it")
}
