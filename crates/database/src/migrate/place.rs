//! The places that a migration reads from and copies to.

use std::path::Path;

use keyplan_store::engine;
use keyplan_store::migrate::Migration;
use keyplan_store::structure::RedisSettings;

use crate::engine::{AnyEngine, found, refuse_inside};
use crate::error::{Context as _, Result, bail, refused};
use crate::remote::{EngineName, Opening, Remote, is_server, is_url, settings};

/// The server that was named in place of a directory, if one was: a URL, or `redis` for the one that a variable names.
pub(super) fn redis_server(named: &Path, variable: &str) -> Result<Option<RedisSettings>> {
    let Some(text) = named.to_str() else { return Ok(None) };
    if text == "redis" && !named.exists() {
        let url = std::env::var(variable).map_err(|_| refused!("set {variable} to the URL of the server"))?;
        return Ok(Some(RedisSettings::new(&url)?));
    }
    Ok(if is_server(named) { Some(RedisSettings::new(text)?) } else { None })
}

/// Where a copy is made.
pub(super) enum CopyPlace<'a> {
    /// Where a URL says.
    Remote(Remote),
    /// In a directory, on an engine.
    Directory(&'a Path, EngineName),
}

impl<'a> CopyPlace<'a> {
    /// A place with nothing in it but an unfinished copy of this migration.
    pub(super) fn of(migration: &Migration<'_>, into: &'a Path, engine: EngineName) -> Result<Self> {
        if let Some(remote) = settings(into)? {
            return Ok(Self::Remote(remote));
        }
        refuse_inside(into)?;
        empty(migration, into)?;
        Ok(Self::Directory(into, engine))
    }

    /// Takes an unfinished copy of this migration out of a directory again.
    pub(super) fn clear(migration: &Migration<'_>, into: &Path) -> Result<()> {
        if is_url(into) { Ok(()) } else { empty(migration, into) }
    }

    /// Makes it.
    pub(super) fn make(self) -> Result<AnyEngine, engine::Error> {
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
