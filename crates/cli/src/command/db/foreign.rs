//! Any database as a source, with the plan that is in it, if one is, or under a plan that was named.

use std::path::Path;

use anyhow::{Context as _, Result, anyhow, bail};
use keyplan_plan::model::Plan;
use keyplan_report::binding::{Binding, bind};
use keyplan_report::structure::is_structured;
use keyplan_sources::Options;
use keyplan_store::StoreError;
use keyplan_store::engine::{Fjall, FjallSettings, Lmdb, LmdbSettings, Redb, RedbSettings, SpaceId};
use keyplan_store::source::{EngineSource, Source};

use super::database::{is_in_use, unanswered};
use super::{Database, Opening, on_remote, remote};
use crate::args::db;
use crate::args::source::Reading;
use crate::input;

/// A source, and the plan that it has in it.
pub(crate) struct Opened {
    pub(crate) source: Box<dyn Source>,
    pub(super) plan: Option<Plan>,
}

/// Opens what was typed: a path, or a path and a height.
pub(crate) fn open(typed: &str, height: Option<u64>) -> Result<Opened> {
    let (path, height) = place(typed, height);
    let plan = if is_own(path) { Database::recorded_plan(path).ok() } else { None };
    let mut options = Options::default();
    options.height = height;
    Ok(Opened { source: rows(path, &options)?, plan: plan.and_then(|compiled| compiled.plan) })
}

/// The path and the height that were typed: `PATH@HEIGHT` is both, unless there is such a path.
pub(crate) fn place(typed: &str, height: Option<u64>) -> (&Path, Option<u64>) {
    // What follows the `@` of a URL is a host.
    let both = typed
        .rsplit_once('@')
        .filter(|_| !remote::is_url(Path::new(typed)))
        .and_then(|(path, digits)| Some((path, digits.parse().ok()?)));
    match both {
        Some((path, found)) if height.is_none() && !Path::new(typed).exists() => {
            (Path::new(path), Some(found))
        }
        _ => (Path::new(typed), height),
    }
}

/// Whether a database on an engine of ours is at a path; it need not have a plan in it.
pub(crate) fn is_own(path: &Path) -> bool {
    remote::is_url(path) || Fjall::exists(path) || Redb::exists(path) || super::is_lmdb(path)
}

/// The rows at a path, on whichever engine: the one way in which every command opens what it only reads.
pub(super) fn rows(path: &Path, options: &Options) -> Result<Box<dyn Source>> {
    if options.kind.is_some() || !(is_own(path) || is_redb_file(path)) {
        return Ok(keyplan_sources::open(path, options)?);
    }
    if let Some(height) = options.height {
        bail!("`{}` has no height {height}: it keeps one state", remote::shown(path));
    }
    let failed = || format!("cannot open `{}`", remote::shown(path));
    if let Some(settings) = remote::settings(path)? {
        return on_remote!(settings, Opening::Read, engine => {
            Ok(Box::new(EngineSource::new(engine.with_context(failed)?)))
        });
    }
    match rows_of_files(path) {
        Err(error) if is_in_use(&error) => answered(path),
        opened => opened,
    }
}

/// The rows of a database that another process has open, if that one answers.
fn answered(path: &Path) -> Result<Box<dyn Source>> {
    #[cfg(unix)]
    if let Some(live) = keyplan_store::live::Live::connect(path)? {
        return Ok(Box::new(EngineSource::new(live)));
    }
    bail!("{}", unanswered(path))
}

fn rows_of_files(path: &Path) -> Result<Box<dyn Source>> {
    let failed = || format!("cannot open `{}`", remote::shown(path));
    if Fjall::exists(path) {
        let engine = Fjall::open_read_only(path, FjallSettings::default()).with_context(failed)?;
        return Ok(Box::new(EngineSource::new(engine)));
    }
    if Lmdb::exists(path) {
        let engine = Lmdb::open_read_only(path, LmdbSettings::default()).with_context(failed)?;
        return Ok(Box::new(EngineSource::new(engine)));
    }
    let settings = RedbSettings::default();
    let engine = if is_redb_file(path) {
        Redb::open_foreign_read_only(path, settings)
    } else {
        Redb::open_read_only(path, settings)
    };
    Ok(Box::new(EngineSource::new(engine.with_context(failed)?)))
}

/// Whether a file is a database of redb, as other programs keep it.
fn is_redb_file(path: &Path) -> bool {
    const MAGIC: &[u8] = b"redb\x1a\x0a\xa9\x0d\x0a";
    let mut head = [0; MAGIC.len()];
    let read = |file: std::fs::File| std::io::Read::read_exact(&mut &file, &mut head);
    path.is_file() && std::fs::File::open(path).and_then(read).is_ok() && head == *MAGIC
}

/// Whether something that is read here seems to be at a path, other than a database of ours.
fn is_foreign(path: &Path) -> bool {
    !is_own(path) && (is_redb_file(path) || keyplan_sources::fits(path))
}

/// A source that has no plan in it, under the plan that was named.
pub(crate) struct Foreign {
    pub(crate) source: Box<dyn Source>,
    pub(crate) plan: Plan,
    pub(super) binding: Binding,
}

impl Foreign {
    /// Opens what was named. `None` if it is a database that has its plan in it, or none at all: those are for
    /// [`Database`] to open, or to refuse.
    pub(crate) fn open(args: &db::Source) -> Result<Option<Self>> {
        let Some(typed) = args.directory.as_deref().filter(|_| !args.is_server()) else { return Ok(None) };
        let (path, height) = place(typed, None);
        let ours = is_own(path) && (args.plan.is_none() || has_plan(path));
        if ours || (!is_own(path) && !is_foreign(path)) {
            return Ok(None);
        }
        let Some(named) = &args.plan else {
            bail!("`{}` has no plan in it: name one with `--plan PLAN`", remote::shown(Path::new(typed)));
        };
        let mut options = Options::default();
        options.height = height;
        let source = rows(path, &options)?;
        let plan = input::plan(named)?.ok_or_else(|| anyhow!("`{named}` does not compile"))?;
        let binding = bind(&plan, &*source, &given(&args.bind)?)?;
        Ok(Some(Self { source, plan, binding }))
    }

    /// The space of the source that is bound to one of the plan.
    pub(crate) fn space(&self, index: usize) -> Result<SpaceId> {
        let found = self.binding.pairs.iter().find(|&&(bound, _)| bound == index);
        let name = || self.plan.spaces.get(index).map_or("", |space| space.name.as_str());
        found.map(|&(_, id)| id).ok_or_else(|| {
            anyhow!(
                "no space of the source is `{}` of the plan: say which with `--bind {0}=SOURCE_SPACE`",
                name()
            )
        })
    }

    /// The value of a key.
    pub(crate) fn get(&self, index: usize, key: &[u8]) -> Result<Option<Vec<u8>>> {
        Ok(self.source.view()?.get(self.space(index)?, key)?)
    }

    /// Refuses a family of structures: what their rows are is known of our own databases only.
    pub(super) fn refuse_structures(&self, index: usize) -> Result<()> {
        match self.plan.spaces.get(index).filter(|space| is_structured(space)) {
            Some(space) => {
                bail!("`{}` holds structures, which another program's database has no rows of", space.name)
            }
            None => Ok(()),
        }
    }
}

/// A source that has no plan in it, without a plan; `None` if it has one, or is none.
pub(super) fn planless(args: &db::Source) -> Result<Option<Box<dyn Source>>> {
    let Some(typed) = args.directory.as_deref().filter(|_| !args.is_server() && args.plan.is_none()) else {
        return Ok(None);
    };
    let (path, height) = place(typed, None);
    let there = if is_own(path) { !has_plan(path) } else { is_foreign(path) };
    if !there {
        return Ok(None);
    }
    let mut options = Options::default();
    options.height = height;
    rows(path, &options).map(Some)
}

/// Whether a database of ours has a plan in it.
fn has_plan(path: &Path) -> bool {
    match Database::recorded_plan(path) {
        Ok(_) => true,
        Err(error) => {
            !error.chain().any(|cause| matches!(cause.downcast_ref::<StoreError>(), Some(StoreError::NoPlan)))
        }
    }
}

/// The plan that was asked for, or the one in the first database that has one.
pub(super) fn plan_of(reading: &Reading, recorded: Vec<Option<Plan>>) -> Result<Option<Plan>> {
    match &reading.plan {
        Some(path) => input::plan(path)?.map(Some).ok_or_else(|| anyhow!("`{path}` does not compile")),
        None => Ok(recorded.into_iter().flatten().next()),
    }
}

/// Which space of the plan is which of the source.
pub(super) fn binding(reading: &Reading, plan: &Plan, source: &dyn Source) -> Result<Binding> {
    Ok(bind(plan, source, &given(&reading.bind)?)?)
}

/// The names that were typed as `PLAN_SPACE=SOURCE_SPACE`.
pub(crate) fn given(words: &[String]) -> Result<Vec<(String, String)>> {
    let pair = |word: &String| match word.split_once('=') {
        Some((ours, theirs)) => Ok((ours.to_owned(), theirs.to_owned())),
        None => Err(anyhow!("`--bind {word}`: write it as PLAN_SPACE=SOURCE_SPACE")),
    };
    words.iter().map(pair).collect()
}
