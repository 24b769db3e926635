//! `keyplan demo`: five real plans, one database with state of all of them, and what to try next.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use keyplan::store::Store;
use keyplan::store::engine::Engine;
use keyplan_chains::demo::{PLANS, imported};
use keyplan_chains::{demo, five};
use keyplan_database::{AnyEngine, Opening, compiled, on_any_engine, refuse_directory, settings, shown};
use keyplan_plan::compile;
use keyplan_plan::diag::Severity;
use keyplan_plan::dynamic::Decoder;
use keyplan_plan::explain::explain as explain_key;
use keyplan_plan::model::Plan;
use keyplan_prover::Options;
use keyplan_report::findings::{Checked, Repairs, Tally};
use keyplan_report::statistics::Census;

use super::Outcome;
use crate::args::Demo;
use crate::render::{self, Output, Progress};

/// A plan by its number above and a key; the last one is broken.
const KEYS: [(usize, &str); 4] = [
    (0, "01000000000000000705ffffffffffffff9c"),
    (2, "138a7b25414c083ae1d8a9d1d8a9d1d8a9d1d8a9d1d8a9d1d8a9d1d8a9d1d8a9d1d8a9d1d8a9d1d8"),
    (4, "683a000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f00000001"),
    (0, "01000000000000000706ffffffffffffff9c"),
];

/// The two worst flaws that the plans keep: a plan, the guarantee and the family.
const WORST: [(usize, &str, &str); 2] =
    [(3, "KP0002", "state.dex.pool_by_tokens"), (4, "KP0001", "store.sorted_sets.event")];

/// How long the database may take to come to rest.
const REST: Duration = Duration::from_secs(20);

/// Runs the demonstration.
pub(crate) fn run(args: &Demo, out: &mut Output) -> Result<Outcome> {
    let plans = proved(out)?;
    fill(args, out)?;
    explain(&plans, out)?;
    out.line("")?;
    let place = shown(&args.directory);
    let browser = (format!("keyplan explore {place} --open"), "the same database in the browser");
    let more = [browser];
    let more = if cfg!(feature = "explore") { more.as_slice() } else { &[] };
    out.text(&render::next_steps(Path::new(&place), more))?;
    let tally = Tally::of(&plans);
    Ok(if tally.findings + tally.unknown == 0 { Outcome::Clean } else { Outcome::Findings })
}

/// Proves the five plans, and shows what was found.
fn proved(out: &mut Output) -> Result<Vec<Checked>> {
    let started = Instant::now();
    let options = Options::default();
    let plans: Vec<Checked> = PLANS
        .iter()
        .map(|(path, text)| {
            let compiled = compile(path, text, |import| {
                let known = imported(import).map(str::to_owned);
                known.ok_or_else(|| "the demonstration reads no files".to_owned())
            });
            Checked::new(path, compiled, Some(&options), Repairs::Unasked)
        })
        .collect();
    let took = started.elapsed();
    out.line(&render::command_line("keyplan check plans/*.keyplan"))?;
    for plan in &plans {
        let errors = plan.diagnostics().filter(|finding| finding.severity() == Severity::Error);
        let errors: Vec<_> = errors.cloned().collect();
        if !errors.is_empty() {
            out.line(&render::findings(&plan.compiled.sources, &errors))?;
        }
    }
    for (index, code, family) in WORST {
        let checked = plans.get(index).ok_or_else(|| anyhow!("there is no plan {index}"))?;
        out.text(&render::flaw_of(checked, code, family))?;
    }
    out.text(&render::plan_table(&plans))?;
    out.line(&render::summary(&Tally::of(&plans), took))?;
    Ok(plans)
}

/// Fills the database, and counts what is in it.
fn fill(args: &Demo, out: &mut Output) -> Result<()> {
    let directory = &args.directory;
    let named = || unfillable(args);
    // Rows that are written once need no cache.
    let engine = if let Some(remote) = settings(directory)? {
        AnyEngine::remote(remote, Opening::Make)
    } else {
        refuse_directory(args.engine)?;
        AnyEngine::make(directory, args.engine)
    };
    on_any_engine!(engine.with_context(named)?, engine => fill_on(engine, args, out))
}

fn unfillable(args: &Demo) -> String {
    format!("cannot fill `{}`; name another directory: `keyplan demo DIR`", shown(&args.directory))
}

fn fill_on<E: Engine>(engine: E, args: &Demo, out: &mut Output) -> Result<()> {
    let named = || unfillable(args);
    let place = shown(&args.directory);
    let directory = Path::new(&place);
    let started = Instant::now();
    let store = Store::open_on(engine, &five::PLAN).with_context(named)?;
    let progress = Progress::rows_of("filling", args.rows);
    let rows = demo::fill(&store, args.rows, &mut |rows| progress.set(rows)).with_context(named)?;
    progress.end();
    out.line("")?;
    out.line(&render::filled(rows, directory, started.elapsed()))?;
    let plan = store.raw().meta().and_then(|meta| compiled(meta).plan);
    let plan = plan.ok_or_else(|| anyhow!("the plan of the demonstration does not compile"))?;
    out.line("")?;
    out.line(&render::command_line(&format!("keyplan db stats {}", directory.display())))?;
    out.text(&render::census(directory, &Census::take(store.raw(), &plan, |_| ControlFlow::Continue(()))?))?;
    store.shutdown(REST)?;
    Ok(())
}

/// Explains keys of three chains, and one that is broken.
fn explain(plans: &[Checked], out: &mut Output) -> Result<()> {
    for (plan, key) in KEYS {
        let (path, model) = plan_at(plans, plan)?;
        out.line("")?;
        out.line(&render::command_line(&format!("keyplan explain {path} {key}")))?;
        let key = const_hex::decode(key)?;
        let spaces: Vec<usize> = (0..model.spaces.len()).collect();
        let explanation = explain_key(&Decoder::new(model), &spaces, &key);
        out.text(&render::explanation(model, &spaces, &key, &explanation, out.width()))?;
    }
    Ok(())
}

fn plan_at(plans: &[Checked], index: usize) -> Result<(&str, &Plan)> {
    let loaded = plans.get(index).ok_or_else(|| anyhow!("there is no plan {index}"))?;
    let plan = loaded.compiled.plan.as_ref().ok_or_else(|| anyhow!("`{}` does not compile", loaded.path))?;
    Ok((&loaded.path, plan))
}
