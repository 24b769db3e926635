//! `keyplan demo`: five real plans, one database with state of all of them, and what to try next.

mod cardano;
mod cosmwasm;
mod fill;
mod message;
mod onesat;
mod osmosis;
mod paw;
mod random;

use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use keyplan::store::Store;
use keyplan::store::engine::{Engine, Fjall, FjallSettings};
use keyplan_chains::five;
use keyplan_plan::compile;
use keyplan_plan::diag::Severity;
use keyplan_plan::dynamic::Decoder;
use keyplan_plan::explain::explain as explain_key;
use keyplan_plan::model::Plan;
use keyplan_prover::Options;
use keyplan_report::findings::Repairs;
use keyplan_report::statistics::Census;
use keyplan_store::engine::{Lmdb, LmdbSettings, Redb, RedbSettings};

use self::fill::Filler;
use super::Outcome;
use super::checked::{Checked, Tally};
use super::db::{Opening, on_remote, refuse_directory, settings, shown};
use crate::args::Demo;
use crate::args::db::EngineName;
use crate::render::{self, Output};

/// The plans of the five systems, as they stand in `plans/`.
const PLANS: [(&str, &str); 5] = [
    ("plans/osmosis_cl.keyplan", include_str!("../../../plans/osmosis_cl.keyplan")),
    ("plans/cosmwasm.keyplan", include_str!("../../../plans/cosmwasm.keyplan")),
    ("plans/cardano.keyplan", include_str!("../../../plans/cardano.keyplan")),
    ("plans/paw.keyplan", include_str!("../../../plans/paw.keyplan")),
    ("plans/onesat.keyplan", include_str!("../../../plans/onesat.keyplan")),
];

/// The schemas of their values.
const SCHEMAS: [(&str, &str); 6] = [
    ("plans/proto/cosmos/coin.proto", include_str!("../../../plans/proto/cosmos/coin.proto")),
    ("plans/proto/osmosis/accum.proto", include_str!("../../../plans/proto/osmosis/accum.proto")),
    (
        "plans/proto/osmosis/concentrated_liquidity.proto",
        include_str!("../../../plans/proto/osmosis/concentrated_liquidity.proto"),
    ),
    ("plans/proto/paw/compute.proto", include_str!("../../../plans/proto/paw/compute.proto")),
    ("plans/proto/paw/dex.proto", include_str!("../../../plans/proto/paw/dex.proto")),
    ("plans/proto/paw/oracle.proto", include_str!("../../../plans/proto/paw/oracle.proto")),
];

/// The files that these plans are made of beside their own.
const PARTS: [(&str, &str); 4] = [
    ("plans/paw/house.keyplan", include_str!("../../../plans/paw/house.keyplan")),
    ("plans/paw/compute.keyplan", include_str!("../../../plans/paw/compute.keyplan")),
    ("plans/paw/dex.keyplan", include_str!("../../../plans/paw/dex.keyplan")),
    ("plans/paw/oracle.keyplan", include_str!("../../../plans/paw/oracle.keyplan")),
];

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
    out.text(&render::next_steps(Path::new(&shown(&args.directory))))?;
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
                let mut known = SCHEMAS.iter().chain(&PARTS).filter(|(path, _)| *path == import);
                let known = known.next().map(|(_, text)| (*text).to_owned());
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
    if let Some(remote) = settings(directory)? {
        return on_remote!(remote, Opening::Make, engine => fill_on(engine.with_context(named)?, args, out));
    }
    refuse_directory(args.engine)?;
    match args.engine {
        EngineName::Redb => {
            fill_on(Redb::open(directory, RedbSettings::default()).with_context(named)?, args, out)
        }
        EngineName::Lmdb => {
            fill_on(Lmdb::open(directory, LmdbSettings::default()).with_context(named)?, args, out)
        }
        EngineName::Fjall | EngineName::Postgres | EngineName::Slate => {
            fill_on(Fjall::open(directory, FjallSettings::default()).with_context(named)?, args, out)
        }
    }
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
    let mut filler = Filler::new(&store, args.rows)?;
    cardano::fill(&mut filler, args.rows / 4)?;
    osmosis::fill(&mut filler, args.rows / 4)?;
    cosmwasm::fill(&mut filler, args.rows / 6)?;
    paw::fill(&mut filler, args.rows / 6)?;
    onesat::fill(&store, &mut filler, args.rows / 6)?;
    let rows = filler.end().with_context(named)?;
    out.line("")?;
    out.line(&render::filled(rows, directory, started.elapsed()))?;
    let (name, text) = five::PLAN.files.first().copied().unwrap_or_default();
    let compiled = compile(name, text, |import| {
        let file = five::PLAN.files.iter().find(|(name, _)| *name == import);
        file.map(|(_, text)| (*text).to_owned()).ok_or_else(|| format!("`{import}` was not compiled in"))
    });
    let plan = compiled.plan.ok_or_else(|| anyhow!("the plan of the demonstration does not compile"))?;
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
