use std::sync::Arc;

use anyhow::Result;
use keyplan_plan::dynamic::{Decoded, Decoder};
use keyplan_plan::model::Plan;
use keyplan_store::Access;
use keyplan_store::Store;
use keyplan_store::engine::{Engine, KeyRange};

use super::server::Server;
use super::structure::{self, is_structured};
use super::{Database, View, on_engine, structures};
use crate::args::db::{RowFormat, Verify};
use crate::command::Outcome;
use crate::render::{self, Output, Progress};

/// What is wrong with a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Flaw {
    /// No family makes its key.
    Unknown(String),
    /// Its value is not what its family says.
    Value(String),
}

/// How often progress is told.
const REPORT_EVERY: u64 = 10_000;

/// Decodes everything.
pub(super) fn run(args: &Verify, out: &mut Output) -> Result<Outcome> {
    if let Some(server) = Server::open(&args.source)? {
        return server.verify(args, out);
    }
    let (database, plan) = Database::open(&args.source.target(), Access::ReadOnly)?;
    on_engine!(&database, store => verify(store, &plan, args, out))
}

fn verify<E: Engine>(store: &Arc<Store<E>>, plan: &Plan, args: &Verify, out: &mut Output) -> Result<Outcome> {
    let snapshot = store.snapshot()?;
    let decoder = Decoder::new(plan);
    let progress = Progress::rows("verifying");
    let mut line = Vec::new();
    let (mut done, mut unknown, mut malformed) = (0_u64, 0_u64, 0_u64);
    for (index, space) in plan.spaces.iter().enumerate() {
        if is_structured(space) {
            let before = done;
            let read = structures(store, space)?;
            let mut shown = |key: &[u8], value: &[u8], decoded: Option<&Decoded<'_>>, flaw: Flaw| {
                match flaw {
                    Flaw::Unknown(_) => unknown += 1,
                    Flaw::Value(_) => malformed += 1,
                }
                if usize::try_from(unknown + malformed).unwrap_or(usize::MAX) > args.limit {
                    return Ok(());
                }
                structure::show_flaw(out, args.format, &space.name, decoded, key, value, &flaw)
            };
            let told = |now: u64| {
                if now.is_multiple_of(REPORT_EVERY) {
                    progress.set(before + now);
                }
            };
            done += structure::verify(&*read, plan, index, told, &mut shown)?;
            continue;
        }
        for row in snapshot.range(snapshot.space(space.engine_name())?, KeyRange::ALL)? {
            let (key, value) = row?;
            let read = decoder.decode(index, &key);
            let view = View { space: &space.name, key: &key, value: &value, decoded: &read };
            done += 1;
            if done.is_multiple_of(REPORT_EVERY) {
                progress.set(done);
            }
            let flaw = if let Err(miss) = &read {
                unknown += 1;
                Flaw::Unknown(miss.to_string())
            } else {
                let Some(Err(why)) = view.value_arguments() else { continue };
                malformed += 1;
                Flaw::Value(why)
            };
            let shown = usize::try_from(unknown + malformed).unwrap_or(usize::MAX);
            if shown > args.limit {
                continue;
            }
            match args.format {
                RowFormat::Text => out.text(&render::flaw(&view, &flaw))?,
                RowFormat::Json => {
                    line.clear();
                    render::flaw_json(&mut line, &view, &flaw);
                    out.raw(&line)?;
                }
            }
        }
    }
    progress.end();
    let found = unknown + malformed;
    match args.format {
        RowFormat::Text => out.line(&render::verified(done, unknown, malformed, args.limit))?,
        RowFormat::Json => out.raw(&render::verified_json(done, unknown, malformed))?,
    }
    Ok(if found == 0 { Outcome::Clean } else { Outcome::Findings })
}
