use std::sync::Arc;

use anyhow::Result;
use keyplan_plan::dynamic::{Decoded, Decoder};
use keyplan_plan::model::Plan;
use keyplan_report::statistics::structures;
use keyplan_store::Access;
use keyplan_store::Store;
use keyplan_store::engine::{Engine, KeyRange};

use super::server::Server;
use super::structure::{self, is_structured};
use super::{Database, View, on_engine};
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

/// What a verification has found so far; it is shown up to a limit.
pub(super) struct Review<'a> {
    args: &'a Verify,
    out: &'a mut Output,
    unknown: u64,
    malformed: u64,
}

impl<'a> Review<'a> {
    pub(super) fn new(args: &'a Verify, out: &'a mut Output) -> Self {
        Self { args, out, unknown: 0, malformed: 0 }
    }

    /// Counts a flaw, and shows it if few were shown.
    pub(super) fn take(
        &mut self,
        space: &str,
        decoded: Option<&Decoded<'_>>,
        key: &[u8],
        value: &[u8],
        flaw: &Flaw,
    ) -> Result<()> {
        match flaw {
            Flaw::Unknown(_) => self.unknown += 1,
            Flaw::Value(_) => self.malformed += 1,
        }
        if usize::try_from(self.found()).unwrap_or(usize::MAX) > self.args.limit {
            return Ok(());
        }
        let family = decoded.map(|decoded| decoded.family);
        match self.args.format {
            RowFormat::Text => self.out.text(&render::flaw(space, family, key, value, flaw))?,
            RowFormat::Json => self.out.json(&render::flaw_json(space, family, key, value, flaw))?,
        }
        Ok(())
    }

    fn found(&self) -> u64 {
        self.unknown + self.malformed
    }

    /// Prints what became of it.
    pub(super) fn end(self, rows: u64) -> Result<Outcome> {
        let Self { args, out, unknown, malformed } = self;
        match args.format {
            RowFormat::Text => out.line(&render::verified(rows, unknown, malformed, args.limit))?,
            RowFormat::Json => out.json(&render::verified_json(rows, unknown, malformed))?,
        }
        Ok(if unknown + malformed == 0 { Outcome::Clean } else { Outcome::Findings })
    }
}

fn verify<E: Engine>(store: &Arc<Store<E>>, plan: &Plan, args: &Verify, out: &mut Output) -> Result<Outcome> {
    let snapshot = store.snapshot()?;
    let decoder = Decoder::new(plan);
    let progress = Progress::rows("verifying");
    let mut review = Review::new(args, out);
    let mut done = 0_u64;
    for (index, space) in plan.spaces.iter().enumerate() {
        if is_structured(space) {
            let before = done;
            let read = structures(store, space)?;
            let show = |key: &[u8], value: &[u8], decoded: Option<&Decoded<'_>>, flaw: Flaw| {
                review.take(&space.name, decoded, key, value, &flaw)
            };
            let told = |now: u64| {
                if now.is_multiple_of(REPORT_EVERY) {
                    progress.set(before + now);
                }
            };
            done += structure::verify(&*read, plan, index, told, show)?;
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
            let flaw = match (&read, view.value_arguments()) {
                (Err(miss), _) => Flaw::Unknown(miss.to_string()),
                (Ok(_), Some(Err(why))) => Flaw::Value(why),
                (Ok(_), _) => continue,
            };
            review.take(&space.name, read.as_ref().ok(), &key, &value, &flaw)?;
        }
    }
    progress.end();
    review.end(done)
}
