//! `keyplan db verify`: every key, value, member and score, held against the plan.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::Result;
use keyplan_plan::dynamic::{Decoded, Decoder};
use keyplan_plan::model::Plan;
use keyplan_report::statistics::structures;
use keyplan_report::structure::{QUEUE_ITEM, queue_item};
use keyplan_store::engine::{Engine, KeyRange, OwnedKeyRange};
use keyplan_store::{Access, Direction, Store, StoreSnapshot};

use super::foreign::Foreign;
use super::look::{Looked, look};
use super::server::Server;
use super::structure::{self, Queues, is_structured};
use super::{Database, on_engine};
use crate::args::db::{RowFormat, Verify};
use crate::command::Outcome;
use crate::interrupt;
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
    if let Some(foreign) = Foreign::open(&args.source)? {
        return of_foreign(&foreign, args, out);
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
    ambiguous: u64,
    unseen: BTreeMap<&'static str, u64>,
}

impl<'a> Review<'a> {
    pub(super) fn new(args: &'a Verify, out: &'a mut Output) -> Self {
        Self { args, out, unknown: 0, malformed: 0, ambiguous: 0, unseen: BTreeMap::new() }
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

    /// Counts a key that can be read in several ways.
    pub(super) fn ambiguous(&mut self) {
        self.ambiguous += 1;
    }

    /// Counts what was not looked at.
    pub(super) fn unseen(&mut self, what: &'static str, count: u64) {
        if count > 0 {
            *self.unseen.entry(what).or_default() += count;
        }
    }

    /// Ends a verification that was interrupted: says what was looked at, and what was found.
    fn goes_on(&mut self, rows: u64) -> Result<()> {
        if !interrupt::came() {
            return Ok(());
        }
        self.out.flush()?;
        let (unknown, malformed) = (self.unknown, self.malformed);
        let found =
            format!("{rows} rows are verified, with {unknown} unknown keys and {malformed} malformed values");
        Err(interrupt::ended(found))
    }

    fn found(&self) -> u64 {
        self.unknown + self.malformed
    }

    /// Prints what became of it.
    pub(super) fn end(self, rows: u64) -> Result<Outcome> {
        let verified = Verified {
            rows,
            unknown: self.unknown,
            malformed: self.malformed,
            ambiguous: self.ambiguous,
            unseen: self.unseen,
        };
        match self.args.format {
            RowFormat::Text => self.out.line(&render::verified(&verified, self.args.limit))?,
            RowFormat::Json => self.out.json(&render::verified_json(&verified))?,
        }
        Ok(if verified.unknown + verified.malformed == 0 { Outcome::Clean } else { Outcome::Findings })
    }
}

/// What became of a verification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Verified {
    /// Rows read; of structures their keys, fields, members and items.
    pub(crate) rows: u64,
    /// Keys that no family makes.
    pub(crate) unknown: u64,
    /// Values, members and scores that are none of the plan.
    pub(crate) malformed: u64,
    /// Keys that can be read in several ways.
    pub(crate) ambiguous: u64,
    /// What was not looked at, and how often.
    pub(crate) unseen: BTreeMap<&'static str, u64>,
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
            let told = |now: u64| {
                if now.is_multiple_of(REPORT_EVERY) {
                    progress.set(before + now);
                }
            };
            done += structure::verify(&*read, plan, index, Queues::Rows, told, &mut review)?;
            done += items(&snapshot, &decoder, index, &mut review)?;
            review.goes_on(done)?;
            continue;
        }
        for row in snapshot.range(snapshot.space(space.engine_name())?, KeyRange::ALL)? {
            let (key, value) = row?;
            row_of(&decoder, index, &key, &value, &mut review)?;
            done += 1;
            if done.is_multiple_of(REPORT_EVERY) {
                progress.set(done);
                review.goes_on(done)?;
            }
        }
    }
    progress.end();
    review.end(done)
}

/// Decodes every row of a source that has no plan in it.
fn of_foreign(foreign: &Foreign, args: &Verify, out: &mut Output) -> Result<Outcome> {
    let decoder = Decoder::new(&foreign.plan);
    let view = foreign.source.view()?;
    let progress = Progress::rows("verifying");
    let mut review = Review::new(args, out);
    let mut done = 0_u64;
    for &(index, space) in &foreign.binding.pairs {
        foreign.refuse_structures(index)?;
        let mut walk = view.walk(space, KeyRange::ALL, Direction::Ascending)?;
        while let Some(row) = walk.next()? {
            row_of(&decoder, index, row.key, row.value, &mut review)?;
            done += 1;
            if done.is_multiple_of(REPORT_EVERY) {
                progress.set(done);
                review.goes_on(done)?;
            }
        }
    }
    progress.end();
    review.end(done)
}

/// Looks at a row of a space that holds no structures.
fn row_of(
    decoder: &Decoder<'_>,
    index: usize,
    key: &[u8],
    value: &[u8],
    review: &mut Review<'_>,
) -> Result<()> {
    let read = decoder.decode_all(index, key, 2).map(|mut all| {
        if all.readings.len() > 1 {
            review.ambiguous();
        }
        all.readings.swap_remove(0)
    });
    let flaw = match &read {
        Err(miss) => Flaw::Unknown(miss.to_string()),
        Ok(found) => match found.family.value.as_ref().map(|layout| look(layout, value)) {
            Some(Looked::Unsound(why)) => Flaw::Value(why),
            Some(Looked::Unseen(what)) => {
                review.unseen(what, 1);
                return Ok(());
            }
            Some(Looked::Sound) | None => return Ok(()),
        },
    };
    let space = decoder.plan().spaces.get(index).map_or("", |space| space.name.as_str());
    review.take(space, read.as_ref().ok(), key, value, &flaw)
}

/// Looks at every item of a queue, wherever it is: in waiting, held by a worker, or given up. Returns how many there are.
fn items<E: Engine>(
    snapshot: &StoreSnapshot<E>,
    decoder: &Decoder<'_>,
    index: usize,
    review: &mut Review<'_>,
) -> Result<u64> {
    let Some(space) = decoder.plan().spaces.get(index) else { return Ok(0) };
    let mut done = 0;
    let range = OwnedKeyRange::prefix(&[QUEUE_ITEM]);
    for row in snapshot.range(snapshot.space(space.engine_name())?, range.borrow())? {
        let (row, _) = row?;
        let Some((key, member)) = queue_item(&row) else {
            review.take(
                &space.name,
                None,
                &row,
                &[],
                &Flaw::Unknown("it is no row of a queue".to_owned()),
            )?;
            continue;
        };
        done += 1;
        // A key that no family makes is told once, for the whole queue.
        let Ok(queue) = decoder.decode(index, key) else { continue };
        match queue.family.member.as_ref().map(|layout| look(layout, member)) {
            Some(Looked::Unsound(why)) => {
                let flaw = Flaw::Value(format!("member: {why}"));
                review.take(&space.name, Some(&queue), key, member, &flaw)?;
            }
            Some(Looked::Unseen(what)) => review.unseen(what, 1),
            Some(Looked::Sound) | None => {}
        }
    }
    Ok(done)
}
