//! A database of any kind under the next plan: carried on and back where it is, copied to another place, or only looked at.
//!
//! ```
//! use keyplan_database::migrate::{MigrateQuery, Migrated, Watcher, migrate};
//! use keyplan_database::{AnyStore, EngineName};
//! use keyplan_store::Schema;
//!
//! /// One that shows nothing.
//! struct Silent;
//!
//! impl Watcher for Silent {
//!     fn unread(&mut self, _space: &str) {}
//!     fn begins(&mut self, _doing: &str, _total: Option<u64>) {}
//!     fn done(&mut self, _rows: u64) {}
//!     fn ends(&mut self) {}
//! }
//!
//! let compiled = |text| keyplan_plan::compile("demo.keyplan", text, |_| Err("no imports".into()));
//! let old = compiled("plan demo; space s { key k = 0x01 id: u8; }");
//! let new = compiled("plan demo; space s { key k = 0x02 id: u8; }");
//! # let folder = tempfile::tempdir()?;
//! let place = folder.path().join("data");
//! drop(AnyStore::create(&place, EngineName::Redb, &Schema::of(&old).expect("sound"))?);
//!
//! let query = MigrateQuery { to: Some(&new), ..MigrateQuery::of(&place) };
//! let Migrated::Surveyed { survey, .. } = migrate(&query, &mut Silent)? else { panic!("all of it is proved") };
//! assert_eq!(survey.rows, 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod copy;
mod place;

use std::path::Path;

use keyplan_plan::diag::Diagnostic;
use keyplan_plan::model::Plan;
use keyplan_plan::{Compiled, compile};
use keyplan_prover::{MigrationProof, Options, diagnose_migration, prove_migration};
use keyplan_store::engine::Engine;
use keyplan_store::migrate::{Attached, Migration, Phase, Running, Step, Survey, pending_plan};
use keyplan_store::structure::URL_VARIABLE;
use keyplan_store::{Meta, PlanFile, Schema, StoreError};

use crate::any::compiled;
use crate::engine::AnyEngine;
use crate::error::{Error, Result, bail};
use crate::foreign::Foreign;
use crate::remote::{EngineName, Opening, shown};

use place::redis_server;

/// What is asked of a migration.
#[derive(Clone, Copy, Debug)]
pub struct MigrateQuery<'a> {
    /// The directory of the database, or a server.
    pub place: &'a Path,
    /// The plan of a server, or of a database without a plan in it.
    pub plan: Option<&'a Compiled>,
    /// Which spaces of that plan are called otherwise in the database.
    pub bind: &'a [String],
    /// The plan to carry it to; not needed to go on or back.
    pub to: Option<&'a Compiled>,
    /// What is to be done.
    pub course: Course<'a>,
    /// Whether rows without a new key are set aside.
    pub park: bool,
    /// Families and fields of the older plan that are taken where a key has several readings.
    pub prefer: &'a [String],
    /// How many rows one step has.
    pub batch: usize,
}

/// What a migration is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Course<'a> {
    /// Say what would become of every row, and write nothing.
    Look,
    /// Carry the database to the new plan, or go on with that.
    Apply,
    /// Bring every row back to where it was.
    Undo,
    /// Make a copy under the new plan.
    Copy {
        /// A directory, or a server.
        into: &'a Path,
        /// The engine of the copy, where it is a directory.
        engine: EngineName,
    },
}

impl<'a> MigrateQuery<'a> {
    /// A look at a database, with nothing else said.
    pub fn of(place: &'a Path) -> Self {
        Self {
            place,
            plan: None,
            bind: &[],
            to: None,
            course: Course::Look,
            park: false,
            prefer: &[],
            batch: 10_000,
        }
    }
}

/// How a migration ended.
#[derive(Debug)]
pub enum Migrated {
    /// Something is in its way, and nothing was touched.
    Unproved {
        /// The new plan.
        new: Box<Compiled>,
        /// What is not proved.
        findings: Vec<Diagnostic>,
    },
    /// The database has the plan already.
    There,
    /// The rest of a migration that had begun is done.
    Finished,
    /// Every row is where it was before.
    Undone,
    /// Every row was looked at.
    Surveyed {
        /// What was done then.
        done: Done,
        /// What is proved of the migration.
        proof: Box<MigrationProof>,
        /// What became of the rows, or would.
        survey: Survey,
    },
}

/// What was done when every row had been looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Done {
    /// Nothing; the database can be carried to the plan.
    Look,
    /// Nothing; the database is only read, and a copy can be made.
    LookAtForeign,
    /// Nothing: rows have no new key, and are not to be set aside.
    Refused,
    /// As [`Done::Refused`], of a copy.
    CopyRefused,
    /// The database has the new plan.
    Carried,
    /// A copy was made.
    Copied {
        /// The name of its place, without a password; none of a server.
        place: Option<String>,
    },
}

impl Done {
    /// What became of the migration, in a word or two.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Look | Self::LookAtForeign => "dry run",
            Self::Refused | Self::CopyRefused => "refused",
            Self::Carried | Self::Copied { .. } => "done",
        }
    }

    /// Whether nothing was written.
    pub const fn is_nothing(&self) -> bool {
        !matches!(self, Self::Carried | Self::Copied { .. })
    }
}

/// Who is told how a migration goes.
pub trait Watcher {
    /// A space of the database is none of the plan, and is not read.
    fn unread(&mut self, space: &str);
    /// Something long begins, with so many rows if that is known.
    fn begins(&mut self, doing: &str, total: Option<u64>);
    /// So many rows of it are done.
    fn done(&mut self, rows: u64);
    /// It has ended.
    fn ends(&mut self);
}

/// Does something long, and tells how far it has come.
fn told<T, E>(
    watcher: &mut dyn Watcher,
    doing: &str,
    total: Option<u64>,
    work: impl FnOnce(&mut dyn FnMut(u64)) -> Result<T, E>,
) -> Result<T, E> {
    watcher.begins(doing, total);
    let done = work(&mut |rows| watcher.done(rows));
    watcher.ends();
    done
}

/// Carries a database to another plan, or says what would become of it.
pub fn migrate(query: &MigrateQuery<'_>, watcher: &mut dyn Watcher) -> Result<Migrated> {
    let place = query.place;
    if let Some(from) = redis_server(place, URL_VARIABLE)? {
        return copy::from_server(from, query, watcher);
    }
    let named = query.plan.map(|plan| || sound(plan).cloned());
    if let Some(foreign) = Foreign::open(place.to_str().unwrap_or_default(), named, query.bind)? {
        return copy::from_foreign(foreign, query, watcher);
    }
    if query.plan.is_some() {
        bail!("`{}` has its plan in it: --plan is for one that has not", shown(place));
    }
    let opening = match query.course {
        Course::Apply | Course::Undo => Opening::Rewrite,
        Course::Look | Course::Copy { .. } => Opening::Read,
    };
    let engine = AnyEngine::open(place, opening)?;
    on_any_engine!(engine, engine => own(engine, query, watcher))
}

/// Carries a database with its plan in it.
fn own<E: Engine>(engine: E, query: &MigrateQuery<'_>, watcher: &mut dyn Watcher) -> Result<Migrated> {
    let meta = Meta::read(&engine)?.ok_or(StoreError::NoPlan)?;
    let old = compiled(&meta);
    let pending = pending(&meta, &pending_plan(&engine)?, query)?;
    let Some(new) = query.to.or(pending.as_ref()) else {
        bail!("the database is not in the middle of a migration; name a plan: `--to PLAN`")
    };
    let way = Way::new(&old, new, query)?;
    let proof = match way.proof() {
        Ok(proof) => proof,
        Err(unproved) => return Ok(*unproved),
    };
    let migration = way.migration(&proof)?;
    if let Course::Copy { into, engine: kind } = query.course {
        if let Some(mark) = &meta.migration {
            return Err(StoreError::Migrating { from: mark.from, to: mark.to }.into());
        }
        return copy::of_engine(&migration, proof, &engine, (into, kind), &way, watcher);
    }
    if query.course == Course::Undo && meta.migration.is_none() {
        if meta.fingerprint == way.after.fingerprint().into() {
            bail!(
                "the migration has ended, and the database has this plan: the way back is a migration to the old one"
            );
        }
        bail!("{NOTHING_TO_UNDO}");
    }
    // A plan with the same layout and another text takes the place of what is there.
    let has_it = meta.migration.is_none() && Schema::of(new).is_some_and(|schema| schema.files == meta.files);
    match migration.attach(engine)? {
        Attached::Ready(mut running) if has_it && query.course == Course::Apply => there(&mut running, query),
        Attached::Done(mut running) => there(&mut running, query),
        Attached::Ready(running) => carry(*running, proof, query, watcher),
    }
}

const NOTHING_TO_UNDO: &str = "the database is not in the middle of a migration: there is nothing to undo";

/// The plan that a database is on the way to, as it is kept in it, where none was named.
fn pending(meta: &Meta, files: &[PlanFile], query: &MigrateQuery<'_>) -> Result<Option<Compiled>> {
    let Some(root) = files.first().filter(|_| query.to.is_none()) else {
        if query.to.is_none() && meta.migration.is_some() {
            bail!("the plan that the database is on the way to is not in it");
        }
        if query.to.is_none() && query.course == Course::Undo {
            bail!("{NOTHING_TO_UNDO}");
        }
        return Ok(None);
    };
    Ok(Some(compile(&root.name, &root.text, |path| {
        let found = files.iter().find(|file| file.name == path);
        found.map(|file| file.text.clone()).ok_or_else(|| format!("`{path}` is not in the database"))
    })))
}

/// The meaning of a plan without mistakes.
fn sound(compiled: &Compiled) -> Result<&Plan> {
    compiled.sound().ok_or_else(|| Error::Mistaken(Box::new(compiled.clone())))
}

/// Two plans, and what was asked.
struct Way<'a> {
    old: &'a Compiled,
    new: &'a Compiled,
    before: &'a Plan,
    after: &'a Plan,
    query: &'a MigrateQuery<'a>,
}

impl<'a> Way<'a> {
    fn new(old: &'a Compiled, new: &'a Compiled, query: &'a MigrateQuery<'a>) -> Result<Self> {
        Ok(Self { old, new, before: sound(old)?, after: sound(new)?, query })
    }

    /// What is proved of the migration, unless something is in its way.
    fn proof(&self) -> Result<MigrationProof, Box<Migrated>> {
        let proof = prove_migration(self.before, self.after, &Options::default());
        if proof.blockers().next().is_none() {
            return Ok(proof);
        }
        let findings = diagnose_migration(&proof, self.before, self.after);
        Err(Box::new(Migrated::Unproved { new: Box::new(self.new.clone()), findings }))
    }

    /// The migration, with what was said of keys that have several readings.
    fn migration(&self, proof: &MigrationProof) -> Result<Migration<'a>> {
        let mut migration = Migration::between(self.old, self.new, proof.mapping.clone())?;
        for path in self.query.prefer {
            migration.prefer(path)?;
        }
        Ok(migration)
    }
}

/// The database has the plan. It may have been killed after its last batch, with rows of dropped families still there.
fn there<E: Engine>(running: &mut Running<'_, '_, E>, query: &MigrateQuery<'_>) -> Result<Migrated> {
    while query.course == Course::Apply && running.purge(query.batch)? > 0 {}
    Ok(Migrated::There)
}

fn carry<E: Engine>(
    mut running: Running<'_, '_, E>,
    proof: MigrationProof,
    query: &MigrateQuery<'_>,
    watcher: &mut dyn Watcher,
) -> Result<Migrated> {
    if query.course == Course::Undo {
        running.turn_back()?;
        let total = running.rows()?;
        steps(&mut running, query.batch, total, watcher)?;
        return Ok(Migrated::Undone);
    }
    let apply = query.course == Course::Apply;
    if let Some(mark) = running.mark() {
        if !apply || mark.phase.is_back() {
            let ways = if mark.phase.is_back() {
                "--undo continues it"
            } else {
                "--apply continues it, --undo takes it back"
            };
            bail!(
                "`{}` is in the middle of this migration, {}: {ways}",
                shown(query.place),
                mark.phase.word()
            );
        }
        let total = running.rows()?;
        steps(&mut running, query.batch, total, watcher)?;
        return Ok(Migrated::Finished);
    }
    let survey = told(watcher, "reading every row", None, |told| running.survey(told))?;
    let done = match (apply, survey.open_rows() > 0 && !query.park) {
        (false, _) => Done::Look,
        (true, true) => Done::Refused,
        (true, false) => {
            running.begin(&survey, query.park)?;
            steps(&mut running, query.batch, Some(survey.rows), watcher)?;
            Done::Carried
        }
    };
    Ok(Migrated::Surveyed { done, proof: Box::new(proof), survey })
}

/// Takes steps until the database has the new plan, or the old one again.
fn steps<E: Engine>(
    running: &mut Running<'_, '_, E>,
    rows: usize,
    total: Option<u64>,
    watcher: &mut dyn Watcher,
) -> Result<()> {
    let mut phase = None;
    loop {
        let now = running.mark().map(|mark| mark.phase);
        if now != phase {
            phase = now;
            watcher.begins(now.map_or("", Phase::word), total);
        }
        let step = if now == Some(Phase::Check) {
            running.check(|rows| watcher.done(rows))?
        } else {
            running.step(rows)?
        };
        match step {
            Step::More { done, .. } => watcher.done(done),
            Step::Finished => break,
            Step::Undone => {
                watcher.ends();
                return Ok(());
            }
        }
    }
    while running.purge(rows)? > 0 {}
    watcher.ends();
    Ok(())
}
