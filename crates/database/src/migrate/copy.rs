//! Copies under the new plan: of a database of ours, of another program's, and of a server.

use std::path::Path;
use std::time::Duration;

use keyplan_prover::MigrationProof;
use keyplan_store::Store;
use keyplan_store::engine::Engine;
use keyplan_store::migrate::{Migration, MigrationError, Survey};
use keyplan_store::structure::{Redis, RedisSettings, Structures};

use super::place::{CopyPlace, redis_server};
use super::{Course, Done, MigrateQuery, Migrated, Watcher, Way, told};
use crate::error::{Context as _, Result, bail};
use crate::foreign::Foreign;
use crate::remote::{EngineName, is_url, refuse_directory, shown};

/// What names the server that a copy is made on.
const INTO_URL_VARIABLE: &str = "KEYPLAN_INTO_URL";

/// Where a copy is made, and on which engine if it is a directory.
type Target<'a> = (&'a Path, EngineName);

/// Carries a database that has no plan in it into one of ours, or says what would become of its rows.
pub(super) fn from_foreign(
    foreign: Foreign,
    query: &MigrateQuery<'_>,
    watcher: &mut dyn Watcher,
) -> Result<Migrated> {
    let place = shown(query.place);
    let Some(old) = query.plan else { bail!("name its plan, `--plan OLD`") };
    let Some(new) = query.to else { bail!("name the plan to carry `{place}` to: `--to PLAN`") };
    if matches!(query.course, Course::Apply | Course::Undo) {
        bail!("`{place}` has no plan in it and is only read: `--into DIR2` makes a copy");
    }
    let way = Way::new(old, new, query)?;
    let proof = match way.proof() {
        Ok(proof) => proof,
        Err(unproved) => return Ok(*unproved),
    };
    let migration = way.migration(&proof)?;
    for name in &foreign.binding.unread {
        watcher.unread(name);
    }
    let (engine, _) = foreign.into_engine()?;
    if let Course::Copy { into, engine: kind } = query.course {
        return of_engine(&migration, proof, &engine, (into, kind), &way, watcher);
    }
    let survey = told(watcher, "reading every row", None, |told| migration.survey_of(&engine, told))?;
    Ok(surveyed(Done::LookAtForeign, proof, survey))
}

/// Carries what a server holds into a database or to another server, or says what would become of it.
pub(super) fn from_server(
    from: RedisSettings,
    query: &MigrateQuery<'_>,
    watcher: &mut dyn Watcher,
) -> Result<Migrated> {
    let (Some(old), Some(new)) = (query.plan, query.to) else {
        bail!("a server has no plan in it: name its plan, `--plan OLD`, and the next one, `--to NEW`");
    };
    if !query.bind.is_empty() {
        bail!("a server has no spaces: --bind is for the database of another program");
    }
    if matches!(query.course, Course::Apply | Course::Undo) {
        bail!("a server is only read: `--into DIR2` makes a copy");
    }
    let way = Way::new(old, new, query)?;
    let proof = match way.proof() {
        Ok(proof) => proof,
        Err(unproved) => return Ok(*unproved),
    };
    let migration = way.migration(&proof)?;
    let from =
        Redis::open(from.plan(way.before)).with_context(|| "cannot connect to the server".to_owned())?;
    let Course::Copy { into, engine } = query.course else {
        let survey = told(watcher, READING, None, |told| migration.survey_server(&from, None, told))?;
        return Ok(surveyed(Done::LookAtForeign, proof, survey));
    };
    let to = server_of_copy(into, &way)?;
    let structures = to.as_ref().map(|to| to as &dyn Structures);
    let survey = told(watcher, READING, None, |told| migration.survey_server(&from, structures, told))?;
    if let Some(to) = structures {
        return make(proof, survey, into, query, watcher, |survey, told| {
            Ok(migration.copy_between_servers(&from, to, survey, query.park, told)?)
        });
    }
    let target = CopyPlace::of(&migration, into, engine)?;
    make(proof, survey, into, query, watcher, |survey, told| {
        on_any_engine!(target.make()?, engine => {
            let store = migration.create_copy(engine)?;
            migration.copy_from_server(&from, &store, survey, query.park, told)?;
            Ok(close(&store)?)
        })
    })
}

const READING: &str = "reading everything";

/// The server that a copy is made on, if its place is one.
fn server_of_copy(into: &Path, way: &Way<'_>) -> Result<Option<Redis>> {
    let Some(settings) = redis_server(into, INTO_URL_VARIABLE)? else { return Ok(None) };
    let doing = || "cannot connect to the server of the copy".to_owned();
    Redis::open(settings.plan(way.after)).with_context(doing).map(Some)
}

/// Makes a copy of a database: on a server, or on an engine.
pub(super) fn of_engine<E: Engine>(
    migration: &Migration<'_>,
    proof: MigrationProof,
    from: &E,
    (into, engine): Target<'_>,
    way: &Way<'_>,
    watcher: &mut dyn Watcher,
) -> Result<Migrated> {
    let Some(to) = server_of_copy(into, way)? else {
        return to_engine(migration, proof, from, (into, engine), way.query, watcher);
    };
    let survey = told(watcher, READING, None, |told| migration.survey_for(from, &to, told))?;
    make(proof, survey, into, way.query, watcher, |survey, told| {
        Ok(migration.copy_to_server(from, &to, survey, way.query.park, told)?)
    })
}

/// Makes a copy, unless something has no new key and is not to be set aside.
fn make(
    proof: MigrationProof,
    survey: Survey,
    into: &Path,
    query: &MigrateQuery<'_>,
    watcher: &mut dyn Watcher,
    copy: impl FnOnce(&Survey, &mut dyn FnMut(u64)) -> Result<()>,
) -> Result<Migrated> {
    if survey.open_rows() > 0 && !query.park {
        return Ok(surveyed(Done::CopyRefused, proof, survey));
    }
    told(watcher, "copying", Some(survey.rows), |told| copy(&survey, told))?;
    copied(into, proof, survey)
}

/// Makes a copy on an engine. What becomes of its rows is found out on the way, so that they are read once.
fn to_engine<E: Engine>(
    migration: &Migration<'_>,
    proof: MigrationProof,
    from: &E,
    (into, engine): Target<'_>,
    query: &MigrateQuery<'_>,
    watcher: &mut dyn Watcher,
) -> Result<Migrated> {
    let elsewhere = is_url(into);
    if !elsewhere {
        refuse_directory(engine)?;
    }
    let target = CopyPlace::of(migration, into, engine)?;
    let survey = |watcher: &mut dyn Watcher| {
        told(watcher, "reading every row", None, |told| migration.survey_of(from, told))
    };
    // A directory is emptied again if a row has no new key. A place elsewhere is not touched before it is known.
    if elsewhere && !query.park {
        let survey = survey(watcher)?;
        if survey.open_rows() > 0 {
            return Ok(surveyed(Done::CopyRefused, proof, survey));
        }
    }
    let made = told(watcher, "copying", None, |told| {
        on_any_engine!(target.make()?, engine => {
            let store = migration.create_copy(engine)?;
            let copied = migration.copy(from, &store, query.park, told);
            copied.and_then(|survey| close(&store).map(|()| survey))
        })
    });
    match made {
        Ok(survey) => copied(into, proof, survey),
        Err(MigrationError::Unfit { .. }) => {
            CopyPlace::clear(migration, into)?;
            Ok(surveyed(Done::CopyRefused, proof, survey(watcher)?))
        }
        Err(error) => Err(error.into()),
    }
}

fn copied(into: &Path, proof: MigrationProof, survey: Survey) -> Result<Migrated> {
    // A URL may hold a password.
    let is_server = redis_server(into, INTO_URL_VARIABLE)?.is_some();
    Ok(surveyed(Done::Copied { place: (!is_server).then(|| shown(into)) }, proof, survey))
}

fn surveyed(done: Done, proof: MigrationProof, survey: Survey) -> Migrated {
    Migrated::Surveyed { done, proof: Box::new(proof), survey }
}

/// Brings a copy to rest.
fn close<E: Engine>(store: &Store<E>) -> Result<(), MigrationError> {
    Ok(store.shutdown(Duration::from_mins(1))?)
}
