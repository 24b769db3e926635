//! Any database as a source, with the plan that is in it, if one is.

use std::path::Path;

use anyhow::{Context as _, Result, anyhow, bail};
use keyplan_plan::model::Plan;
use keyplan_report::binding::{Binding, bind};
use keyplan_store::engine::{Fjall, FjallSettings, Redb, RedbSettings};
use keyplan_store::source::{EngineSource, Source};

use super::Database;
use crate::args::source::Reading;
use crate::input;

/// A source, and the plan that it has in it.
pub(super) struct Opened {
    pub(super) source: Box<dyn Source>,
    pub(super) plan: Option<Plan>,
}

/// Opens what was typed: a path, or a path and a height.
pub(super) fn open(typed: &str, height: Option<u64>) -> Result<Opened> {
    let (path, height) = match typed.rsplit_once('@') {
        Some((path, digits)) if height.is_none() && !Path::new(typed).exists() => match digits.parse() {
            Ok(height) => (path, Some(height)),
            Err(_) => (typed, None),
        },
        _ => (typed, height),
    };
    let directory = Path::new(path);
    if Fjall::exists(directory) || Redb::exists(directory) {
        if let Some(height) = height {
            bail!("`{path}` has no height {height}: it keeps one state");
        }
        return own(directory);
    }
    let mut options = keyplan_sources::Options::default();
    if let Some(height) = height {
        options = options.height(height);
    }
    let source = keyplan_sources::open(directory, &options)?;
    Ok(Opened { source, plan: None })
}

/// A database on an engine of ours.
fn own(directory: &Path) -> Result<Opened> {
    let plan = Database::recorded_plan(directory).ok().and_then(|compiled| compiled.plan);
    let failed = || format!("cannot open `{}`", directory.display());
    let source: Box<dyn Source> = if Fjall::exists(directory) {
        let engine = Fjall::open_read_only(directory, FjallSettings::default()).with_context(failed)?;
        Box::new(EngineSource::new(engine))
    } else {
        let engine = Redb::open_read_only(directory, RedbSettings::default()).with_context(failed)?;
        Box::new(EngineSource::new(engine))
    };
    Ok(Opened { source, plan })
}

/// The plan that was asked for, or the one in the first database that has one.
pub(super) fn plan_of(reading: &Reading, recorded: Vec<Option<Plan>>) -> Result<Option<Plan>> {
    match &reading.plan {
        Some(path) => input::plan(path)?.map(Some).ok_or_else(|| anyhow!("`{path}` has no meaning")),
        None => Ok(recorded.into_iter().flatten().next()),
    }
}

/// Which space of the plan is which of the source.
pub(super) fn binding(reading: &Reading, plan: &Plan, source: &dyn Source) -> Result<Binding> {
    let mut given = Vec::new();
    for word in &reading.bind {
        let Some((ours, theirs)) = word.split_once('=') else {
            bail!("`--bind {word}`: write it as PLAN_SPACE=SOURCE_SPACE");
        };
        given.push((ours.to_owned(), theirs.to_owned()));
    }
    Ok(bind(plan, source, &given)?)
}
