//! `keyplan db migrate`: a database under the next plan.

use std::path::Path;

use anyhow::{Context as _, Result, bail};
use keyplan_database::migrate::{CopyPlace, close_copy, pending, redis_server, to_the_end};
use keyplan_database::{
    AnyEngine, Foreign, Opening, compiled, is_url, on_any_engine, refuse_directory, shown,
};
use keyplan_plan::Compiled;
use keyplan_plan::model::Plan;
use keyplan_prover::{MigrationProof, Options, diagnose_migration, prove_migration};
use keyplan_store::engine::Engine;
use keyplan_store::migrate::{Attached, Migration, MigrationError, Phase, Running, Survey, pending_plan};
use keyplan_store::structure::{Redis, RedisSettings, Structures, URL_VARIABLE};
use keyplan_store::{Meta, Schema, StoreError};

use crate::args::ExplainFormat;
use crate::args::evolve::DbMigrate;
use crate::command::{Outcome, evolve};
use crate::input;
use crate::render::{self, Output, Progress};

/// Carries a database to another plan, or says what would become of it.
pub(super) fn run(args: &DbMigrate, out: &mut Output) -> Result<Outcome> {
    let directory = &args.directory;
    if let Some(from) = redis_server(directory, URL_VARIABLE)? {
        return from_server(from, args, out);
    }
    let mut old = None;
    let named = args.plan.as_ref().map(|path| {
        || -> Result<Plan> {
            let compiled = old.insert(input::load(path)?.compiled);
            Ok(evolve::sound(compiled, compiled)?.0.clone())
        }
    });
    let typed = directory.to_str().unwrap_or_default();
    if let Some(foreign) = Foreign::open(typed, named, &args.bind)? {
        let Some(old) = old else { bail!("name its plan, `--plan OLD`") };
        return from_foreign(foreign, &old, args, out);
    }
    if args.plan.is_some() {
        bail!("`{}` has its plan in it: --plan is for one that has not", shown(directory));
    }
    // A dry run and a copy only read.
    let opening = if args.apply || args.undo { Opening::Rewrite } else { Opening::Read };
    let engine = AnyEngine::open(directory, opening)?;
    on_any_engine!(engine, engine => on(engine, args, out))
}

fn on<E: Engine>(engine: E, args: &DbMigrate, out: &mut Output) -> Result<Outcome> {
    let meta = Meta::read(&engine)?.ok_or(StoreError::NoPlan)?;
    let old = compiled(&meta);
    let files = pending_plan(&engine)?;
    let new = match (&args.to, files.is_empty()) {
        (Some(path), _) => input::load(path)?.compiled,
        (None, false) => pending(&files),
        (None, true) if meta.migration.is_some() => {
            bail!("the plan that the database is on the way to is not in it")
        }
        (None, true) if args.undo => {
            bail!("the database is not in the middle of a migration: there is nothing to undo")
        }
        (None, true) => bail!("the database is not in the middle of a migration; name a plan: `--to PLAN`"),
    };
    let (before, after) = evolve::sound(&old, &new)?;
    let Some(proof) = proved(before, after, &new, out)? else { return Ok(Outcome::Findings) };
    let mut migration = Migration::between(&old, &new, proof.mapping.clone())?;
    prefer(&mut migration, args)?;
    if let Some(into) = &args.into {
        if let Some(mark) = &meta.migration {
            return Err(StoreError::Migrating { from: mark.from, to: mark.to }.into());
        }
        return copied(&migration, &proof, &engine, (into, after), args, out);
    }
    if args.undo && meta.migration.is_none() {
        if meta.fingerprint == after.fingerprint().into() {
            bail!(
                "the migration has ended, and the database has this plan: the way back is a migration to the old one"
            );
        }
        bail!("the database is not in the middle of a migration: there is nothing to undo");
    }
    // A plan with the same layout and another text takes the place of what is there.
    let has_it =
        meta.migration.is_none() && Schema::of(&new).is_some_and(|schema| schema.files == meta.files);
    match migration.attach(engine)? {
        Attached::Ready(mut running) if has_it && args.apply => purged(&mut running, args, out),
        Attached::Done(mut running) => purged(&mut running, args, out),
        Attached::Ready(running) => carry(*running, &proof, args, out),
    }
}

/// Says that the database has the plan. It may have been killed after its last batch, with rows of dropped families still there.
fn purged<E: Engine>(
    running: &mut Running<'_, '_, E>,
    args: &DbMigrate,
    out: &mut Output,
) -> Result<Outcome> {
    while args.apply && running.purge(args.batch)? > 0 {}
    ended("done", "the database has this plan already", args.format, out)
}

/// Makes a copy of a database: on a server, or on an engine.
fn copied<E: Engine>(
    migration: &Migration<'_>,
    proof: &MigrationProof,
    engine: &E,
    (into, after): (&Path, &Plan),
    args: &DbMigrate,
    out: &mut Output,
) -> Result<Outcome> {
    let Some(settings) = redis_server(into, INTO_URL_VARIABLE)? else {
        return copy(migration, proof, engine, into, args, out);
    };
    let to = Redis::open(settings.plan(after)).context("cannot connect to the server of the copy")?;
    let progress = Progress::rows("reading everything");
    let survey = migration.survey_for(engine, &to, |rows| progress.set(rows))?;
    progress.end();
    make_copy(proof, &survey, into, args, out, |progress| {
        migration.copy_to_server(engine, &to, &survey, args.park, |rows| progress.set(rows))
    })
}

/// Carries a database that has no plan in it into one of ours, or says what would become of its rows.
fn from_foreign(foreign: Foreign, old: &Compiled, args: &DbMigrate, out: &mut Output) -> Result<Outcome> {
    let place = shown(&args.directory);
    let Some(new) = &args.to else { bail!("name the plan to carry `{place}` to: `--to PLAN`") };
    if args.apply || args.undo {
        bail!("`{place}` has no plan in it and is only read: `--into DIR2` makes a copy");
    }
    let new = input::load(new)?.compiled;
    let (before, after) = evolve::sound(old, &new)?;
    let Some(proof) = proved(before, after, &new, out)? else { return Ok(Outcome::Findings) };
    let mut migration = Migration::between(old, &new, proof.mapping.clone())?;
    prefer(&mut migration, args)?;
    for name in &foreign.binding.unread {
        render::message(&format!("not read: the space `{name}`, which is none of the plan\n"));
    }
    let (engine, _) = foreign.into_engine()?;
    if let Some(into) = &args.into {
        return copied(&migration, &proof, &engine, (into, after), args, out);
    }
    let progress = Progress::rows("reading every row");
    let survey = migration.survey_of(&engine, |rows| progress.set(rows))?;
    progress.end();
    dry(&proof, &survey, args, out)
}

/// What names the server that a copy is made on.
const INTO_URL_VARIABLE: &str = "KEYPLAN_INTO_URL";

/// What is proved of a migration, unless something is in its way.
fn proved(before: &Plan, after: &Plan, new: &Compiled, out: &mut Output) -> Result<Option<MigrationProof>> {
    let proof = prove_migration(before, after, &Options::default());
    if proof.blockers().next().is_none() {
        return Ok(Some(proof));
    }
    out.text(&render::findings(&new.sources, &diagnose_migration(&proof, before, after)))?;
    out.line("nothing was touched: `keyplan migrate plan` shows what is not proved")?;
    Ok(None)
}

fn prefer(migration: &mut Migration<'_>, args: &DbMigrate) -> Result<()> {
    for path in &args.prefer {
        migration.prefer(path)?;
    }
    Ok(())
}

/// Carries what a server holds into a database or to another server, or says what would become of it.
fn from_server(from: RedisSettings, args: &DbMigrate, out: &mut Output) -> Result<Outcome> {
    let (Some(old), Some(new)) = (&args.plan, &args.to) else {
        bail!("a server has no plan in it: name its plan, `--plan OLD`, and the next one, `--to NEW`");
    };
    if !args.bind.is_empty() {
        bail!("a server has no spaces: --bind is for the database of another program");
    }
    if args.apply || args.undo {
        bail!("a server is only read: `--into DIR2` makes a copy");
    }
    let (old, new) = (input::load(old)?.compiled, input::load(new)?.compiled);
    let (before, after) = evolve::sound(&old, &new)?;
    let Some(proof) = proved(before, after, &new, out)? else { return Ok(Outcome::Findings) };
    let mut migration = Migration::between(&old, &new, proof.mapping.clone())?;
    prefer(&mut migration, args)?;
    let from = Redis::open(from.plan(before)).context("cannot connect to the server")?;
    let to = args.into.as_deref().map(|into| redis_server(into, INTO_URL_VARIABLE)).transpose()?.flatten();
    let to = to.map(|to| Redis::open(to.plan(after)).context("cannot connect to the server of the copy"));
    let to = to.transpose()?;
    let progress = Progress::rows("reading everything");
    let structures = to.as_ref().map(|to| to as &dyn Structures);
    let survey = migration.survey_server(&from, structures, |rows| progress.set(rows))?;
    progress.end();
    match (&args.into, structures) {
        (None, _) => dry(&proof, &survey, args, out),
        (Some(into), Some(to)) => make_copy(&proof, &survey, into, args, out, |progress| {
            migration.copy_between_servers(&from, to, &survey, args.park, |rows| progress.set(rows))
        }),
        (Some(into), None) => {
            let target = CopyPlace::of(&migration, into, args.engine)?;
            make_copy(&proof, &survey, into, args, out, |progress| {
                on_any_engine!(target.make()?, engine => {
                    let store = migration.create_copy(engine)?;
                    migration.copy_from_server(&from, &store, &survey, args.park, |rows| progress.set(rows))?;
                    close_copy(&store)
                })
            })
        }
    }
}

/// Says what would become of everything.
fn dry(proof: &MigrationProof, survey: &Survey, args: &DbMigrate, out: &mut Output) -> Result<Outcome> {
    tell(proof, survey, "dry run", args.format, out)?;
    if args.format == ExplainFormat::Text {
        out.line("nothing was written: --into DIR2 makes a copy")?;
    }
    Ok(if survey.open_rows() > 0 { Outcome::Findings } else { Outcome::Clean })
}

/// Makes a copy, unless something has no new key and is not to be set aside.
fn make_copy(
    proof: &MigrationProof,
    survey: &Survey,
    into: &Path,
    args: &DbMigrate,
    out: &mut Output,
    copy: impl FnOnce(&Progress) -> Result<(), MigrationError>,
) -> Result<Outcome> {
    if survey.open_rows() > 0 && !args.park {
        return refuse_copy(proof, survey, args, out);
    }
    let progress = Progress::rows_of("copying", survey.rows);
    copy(&progress)?;
    progress.end();
    tell_copied(proof, survey, into, args, out)
}

fn refuse_copy(
    proof: &MigrationProof,
    survey: &Survey,
    args: &DbMigrate,
    out: &mut Output,
) -> Result<Outcome> {
    tell(proof, survey, "refused", args.format, out)?;
    render::message("nothing was written: --park sets rows aside that have no new key\n");
    Ok(Outcome::Findings)
}

fn tell_copied(
    proof: &MigrationProof,
    survey: &Survey,
    into: &Path,
    args: &DbMigrate,
    out: &mut Output,
) -> Result<Outcome> {
    tell(proof, survey, "done", args.format, out)?;
    if args.format == ExplainFormat::Text {
        // A URL may hold a password.
        let named = if redis_server(into, INTO_URL_VARIABLE)?.is_some() {
            "the server".to_owned()
        } else {
            format!("`{}`", shown(into))
        };
        out.line(&format!("copied to {named}: counts and checksums of both sides agree"))?;
    }
    Ok(Outcome::Clean)
}

fn carry<E: Engine>(
    mut running: Running<'_, '_, E>,
    proof: &MigrationProof,
    args: &DbMigrate,
    out: &mut Output,
) -> Result<Outcome> {
    let directory = shown(&args.directory);
    if args.undo {
        running.turn_back()?;
        let total = running.rows()?;
        steps(&mut running, args.batch, total)?;
        return ended("undone", "the database is as it was before the migration", args.format, out);
    }
    if let Some(mark) = running.mark() {
        if !args.apply || mark.phase.is_back() {
            let ways = if mark.phase.is_back() {
                "--undo continues it"
            } else {
                "--apply continues it, --undo takes it back"
            };
            bail!("`{directory}` is in the middle of this migration, {}: {ways}", mark.phase.word());
        }
        let total = running.rows()?;
        steps(&mut running, args.batch, total)?;
        let text = "the rest of the migration is done, and every row was counted and compared";
        return ended("done", text, args.format, out);
    }
    let progress = Progress::rows("reading every row");
    let survey = running.survey(|rows| progress.set(rows))?;
    progress.end();
    let open = survey.open_rows() > 0 && !args.park;
    if !args.apply || open {
        let state = if args.apply { "refused" } else { "dry run" };
        tell(proof, &survey, state, args.format, out)?;
        if args.format == ExplainFormat::Text {
            out.line(match (args.apply, open) {
                (_, true) => "nothing was written: --park sets rows aside that have no new key",
                (false, false) => "nothing was written: --apply does it",
                (true, false) => "",
            })?;
        }
        return Ok(if survey.open_rows() > 0 { Outcome::Findings } else { Outcome::Clean });
    }
    running.begin(&survey, args.park)?;
    steps(&mut running, args.batch, Some(survey.rows))?;
    tell(proof, &survey, "done", args.format, out)?;
    if args.format == ExplainFormat::Text {
        out.line("done: counts and checksums of both sides agree, and the database has the new plan")?;
    }
    Ok(Outcome::Clean)
}

/// Says how a migration ended of which no survey was made.
fn ended(state: &str, text: &str, format: ExplainFormat, out: &mut Output) -> Result<Outcome> {
    match format {
        ExplainFormat::Json => out.raw(&render::state_json(state)?)?,
        ExplainFormat::Text => out.line(text)?,
    }
    Ok(Outcome::Clean)
}

fn tell(
    proof: &MigrationProof,
    survey: &Survey,
    state: &str,
    format: ExplainFormat,
    out: &mut Output,
) -> Result<()> {
    match format {
        ExplainFormat::Json => out.raw(&render::survey_json(proof, survey, state)?)?,
        ExplainFormat::Text => {
            out.text(&render::survey(proof, survey))?;
            out.line(&render::survey_summary(survey))?;
        }
    }
    Ok(())
}

/// Takes steps until the database has the new plan, or the old one again.
fn steps<E: Engine>(running: &mut Running<'_, '_, E>, rows: usize, total: Option<u64>) -> Result<()> {
    let mut shown: Option<(Option<Phase>, Progress)> = None;
    to_the_end(running, rows, |phase, done| {
        if shown.as_ref().is_none_or(|(of, _)| *of != phase) {
            let word = phase.map_or("", Phase::word);
            let progress = total.map_or_else(|| Progress::rows(word), |total| Progress::rows_of(word, total));
            shown = Some((phase, progress));
        }
        if let Some((_, progress)) = &shown {
            progress.set(done);
        }
    })?;
    Ok(())
}

/// Makes a copy under the new plan. What becomes of its rows is found out on the way, so that they are read once.
fn copy<E: Engine>(
    migration: &Migration<'_>,
    proof: &MigrationProof,
    from: &E,
    into: &Path,
    args: &DbMigrate,
    out: &mut Output,
) -> Result<Outcome> {
    let elsewhere = is_url(into);
    if !elsewhere {
        refuse_directory(args.engine)?;
    }
    let target = CopyPlace::of(migration, into, args.engine)?;
    let survey = || -> Result<Survey> {
        let progress = Progress::rows("reading every row");
        let survey = migration.survey_of(from, |rows| progress.set(rows))?;
        progress.end();
        Ok(survey)
    };
    // A directory is emptied again if a row has no new key. A place elsewhere is not touched before it is known.
    if elsewhere && !args.park {
        let survey = survey()?;
        if survey.open_rows() > 0 {
            return refuse_copy(proof, &survey, args, out);
        }
    }
    let progress = Progress::rows("copying");
    let copied = on_any_engine!(target.make()?, engine => {
        let store = migration.create_copy(engine)?;
        let copied = migration.copy(from, &store, args.park, |rows| progress.set(rows));
        copied.and_then(|survey| close_copy(&store).map(|()| survey))
    });
    progress.end();
    match copied {
        Ok(survey) => tell_copied(proof, &survey, into, args, out),
        Err(MigrationError::Unfit { .. }) => {
            CopyPlace::clear(migration, into)?;
            refuse_copy(proof, &survey()?, args, out)
        }
        Err(error) => Err(error.into()),
    }
}
