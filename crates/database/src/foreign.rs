//! Any database as a source, with the plan that is in it, if one is, or under a plan that was named.

use std::path::Path;

use keyplan_plan::model::Plan;
use keyplan_report::binding::{Binding, bind};
use keyplan_sources::Options;
use keyplan_store::engine::{Redb, RedbSettings, SpaceId};
use keyplan_store::source::{EngineSource, Source};

use crate::any::{AnyStore, unanswered};
use crate::engine::{AnyEngine, found};
use crate::error::{Context as _, Error, Result, bail, refused};
use crate::foreign_engine::refuse_structures;
use crate::remote::{self, Opening};

/// A source, and the plan that it has in it.
pub struct Opened {
    /// Its rows.
    pub source: Box<dyn Source>,
    /// The plan that is in it, if one is.
    pub plan: Option<Plan>,
    /// Why a database of ours does not tell its plan.
    pub untold: Option<Error>,
}

/// Opens what was typed: a path, or a path and a height.
pub fn open(typed: &str, height: Option<u64>) -> Result<Opened> {
    let (path, height) = place(typed, height);
    let recorded = if is_own(path) { Some(AnyStore::recorded_plan(path)) } else { None };
    let source = rows(path, &at(height))?;
    Ok(match recorded {
        Some(Ok(compiled)) => Opened { source, plan: compiled.plan, untold: None },
        Some(Err(error)) if !error.is_without_plan() => Opened { source, plan: None, untold: Some(error) },
        _ => Opened { source, plan: None, untold: None },
    })
}

/// The path and the height that were typed: `PATH@HEIGHT` is both, unless there is such a path.
pub fn place(typed: &str, height: Option<u64>) -> (&Path, Option<u64>) {
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
pub fn is_own(path: &Path) -> bool {
    remote::is_url(path) || found(path).is_some()
}

/// The rows at a path, on whichever engine: the one way in which every command opens what it only reads.
pub fn rows(path: &Path, options: &Options) -> Result<Box<dyn Source>> {
    if options.kind.is_some() || !(is_own(path) || is_redb_file(path)) {
        return Ok(keyplan_sources::open(path, options)?);
    }
    if let Some(height) = options.height {
        bail!("`{}` has no height {height}: it keeps one state", remote::shown(path));
    }
    let failed = || format!("cannot open `{}`", remote::shown(path));
    if let Some(settings) = remote::settings(path)? {
        return Ok(as_source(AnyEngine::remote(settings, Opening::Read).with_context(failed)?));
    }
    match rows_of_files(path) {
        Err(error) if error.is_in_use() => answered(path),
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
    if is_redb_file(path) {
        let engine = Redb::open_foreign_read_only(path, RedbSettings::default()).with_context(failed)?;
        return Ok(Box::new(EngineSource::new(engine)));
    }
    AnyEngine::open(path, Opening::Read).map(as_source)
}

fn as_source(engine: AnyEngine) -> Box<dyn Source> {
    on_any_engine!(engine, engine => Box::new(EngineSource::new(engine)))
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
pub struct Foreign {
    /// Its rows.
    pub source: Box<dyn Source>,
    /// The plan.
    pub plan: Plan,
    /// Which space of it is which of the source.
    pub binding: Binding,
}

impl Foreign {
    /// Opens what was named, under the plan that `named` reads. `None` if it is a database that has its plan in it, or none
    /// at all: those are for [`AnyStore`] to open, or to refuse.
    pub fn open<E: From<Error>>(
        typed: &str,
        named: Option<impl FnOnce() -> Result<Plan, E>>,
        bound: &[String],
    ) -> Result<Option<Self>, E> {
        let (path, height) = place(typed, None);
        let ours = is_own(path) && (named.is_none() || has_plan(path));
        if ours || (!is_own(path) && !is_foreign(path)) {
            return Ok(None);
        }
        let Some(named) = named else {
            bail!("`{}` has no plan in it: name one with `--plan PLAN`", remote::shown(Path::new(typed)));
        };
        let source = rows(path, &at(height))?;
        let plan = named()?;
        let binding = bind(&plan, &*source, &given(bound)?).map_err(Error::from)?;
        Ok(Some(Self { source, plan, binding }))
    }

    /// The space of the source that is bound to one of the plan.
    pub fn space(&self, index: usize) -> Result<SpaceId> {
        let found = self.binding.pairs.iter().find(|&&(bound, _)| bound == index);
        let name = || self.plan.spaces.get(index).map_or("", |space| space.name.as_str());
        found.map(|&(_, id)| id).ok_or_else(|| {
            refused!(
                "no space of the source is `{}` of the plan: say which with `--bind {0}=SOURCE_SPACE`",
                name()
            )
        })
    }

    /// The value of a key.
    pub fn get(&self, index: usize, key: &[u8]) -> Result<Option<Vec<u8>>> {
        Ok(self.source.view()?.get(self.space(index)?, key)?)
    }

    /// Refuses a family of structures: what their rows are is known of our own databases only.
    pub fn refuse_structures(&self, index: usize) -> Result<()> {
        self.plan.spaces.get(index).map_or(Ok(()), refuse_structures)
    }
}

/// A source that has no plan in it, without a plan; `None` if it has one, or is none.
pub fn planless(typed: &str) -> Result<Option<Box<dyn Source>>> {
    let (path, height) = place(typed, None);
    let there = if is_own(path) { !has_plan(path) } else { is_foreign(path) };
    if !there {
        return Ok(None);
    }
    rows(path, &at(height)).map(Some)
}

fn at(height: Option<u64>) -> Options {
    let mut options = Options::default();
    options.height = height;
    options
}

/// Whether a database of ours has a plan in it.
fn has_plan(path: &Path) -> bool {
    AnyStore::recorded_plan(path).map_or_else(|error| !error.is_without_plan(), |_| true)
}

/// The names that were typed as `PLAN_SPACE=SOURCE_SPACE`.
pub fn given(words: &[String]) -> Result<Vec<(String, String)>> {
    let pair = |word: &String| match word.split_once('=') {
        Some((ours, theirs)) => Ok((ours.to_owned(), theirs.to_owned())),
        None => Err(refused!("`--bind {word}`: write it as PLAN_SPACE=SOURCE_SPACE")),
    };
    words.iter().map(pair).collect()
}
