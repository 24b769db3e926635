//! What a migration needs beside the store's own: the places that it reads from and copies to, and its steps to the end.

use std::path::Path;
use std::time::Duration;

use keyplan_plan::{Compiled, compile};
use keyplan_store::engine::{self, Engine};
use keyplan_store::migrate::{Migration, MigrationError, Phase, Running, Step};
use keyplan_store::structure::RedisSettings;
use keyplan_store::{PlanFile, Store};

use crate::engine::{AnyEngine, found, refuse_inside};
use crate::error::{Context as _, Result, bail, refused};
use crate::remote::{EngineName, Opening, Remote, is_server, is_url, settings};

/// The server that was named in place of a directory, if one was: a URL, or `redis` for the one that a variable names.
pub fn redis_server(named: &Path, variable: &str) -> Result<Option<RedisSettings>> {
    let Some(text) = named.to_str() else { return Ok(None) };
    if text == "redis" && !named.exists() {
        let url = std::env::var(variable).map_err(|_| refused!("set {variable} to the URL of the server"))?;
        return Ok(Some(RedisSettings::new(&url)?));
    }
    Ok(if is_server(named) { Some(RedisSettings::new(text)?) } else { None })
}

/// Where a copy is made.
#[derive(Debug)]
pub enum CopyPlace<'a> {
    /// Where a URL says.
    Remote(Remote),
    /// In a directory, on an engine.
    Directory(&'a Path, EngineName),
}

impl<'a> CopyPlace<'a> {
    /// A place with nothing in it but an unfinished copy of this migration.
    pub fn of(migration: &Migration<'_>, into: &'a Path, engine: EngineName) -> Result<Self> {
        if let Some(remote) = settings(into)? {
            return Ok(Self::Remote(remote));
        }
        refuse_inside(into)?;
        empty(migration, into)?;
        Ok(Self::Directory(into, engine))
    }

    /// Takes an unfinished copy of this migration out of a directory again.
    pub fn clear(migration: &Migration<'_>, into: &Path) -> Result<()> {
        if is_url(into) { Ok(()) } else { empty(migration, into) }
    }

    /// Makes it.
    pub fn make(self) -> Result<AnyEngine, engine::Error> {
        match self {
            Self::Remote(remote) => AnyEngine::remote(remote, Opening::Make),
            Self::Directory(into, engine) => AnyEngine::make(into, engine),
        }
    }
}

/// Refuses a directory with something in it; a copy of this migration that was not finished is made again.
fn empty(migration: &Migration<'_>, into: &Path) -> Result<()> {
    let occupied = into.read_dir().is_ok_and(|mut entries| entries.next().is_some());
    if !occupied {
        return Ok(());
    }
    let engine = found(into).and_then(|found| AnyEngine::existing(into, found, Opening::Read).ok());
    let unfinished =
        engine.map(|engine| on_any_engine!(engine, engine => migration.is_unfinished_copy(&engine)));
    if let Some(Ok(true)) = unfinished {
        return std::fs::remove_dir_all(into)
            .with_context(|| format!("cannot remove the unfinished copy in `{}`", into.display()));
    }
    bail!("`{}` is not empty: a copy is made in a directory of its own", into.display());
}

/// The plan that a database is on the way to, as it is kept in it.
pub fn pending(files: &[PlanFile]) -> Compiled {
    let none = PlanFile { name: String::new(), text: String::new() };
    let root = files.first().unwrap_or(&none);
    compile(&root.name, &root.text, |path| {
        let found = files.iter().find(|file| file.name == path);
        found.map(|file| file.text.clone()).ok_or_else(|| format!("`{path}` is not in the database"))
    })
}

/// Brings a copy to rest.
pub fn close_copy<E: Engine>(store: &Store<E>) -> Result<(), MigrationError> {
    Ok(store.shutdown(Duration::from_mins(1))?)
}

/// Takes steps until the database has the new plan, or the old one again.
///
/// `told` hears the phase and how many rows of it are done; a phase begins with 0.
pub fn to_the_end<E: Engine>(
    running: &mut Running<'_, '_, E>,
    rows: usize,
    mut told: impl FnMut(Option<Phase>, u64),
) -> Result<(), MigrationError> {
    let mut phase = None;
    loop {
        let now = running.mark().map(|mark| mark.phase);
        if now != phase {
            phase = now;
            told(now, 0);
        }
        let step = if now == Some(Phase::Check) {
            running.check(|rows| told(now, rows))?
        } else {
            running.step(rows)?
        };
        match step {
            Step::More { done, .. } => told(now, done),
            Step::Finished => break,
            Step::Undone => return Ok(()),
        }
    }
    while running.purge(rows)? > 0 {}
    Ok(())
}
