//! Databases that a URL names in place of a directory.

use std::path::Path;

use keyplan_postgres::PostgresSettings;
#[cfg(feature = "slate")]
use keyplan_slate::SlateSettings;
use keyplan_store::Access;

use crate::error::{Error, Result, bail, refused};

/// The variable of the environment that holds a URL: a password in an argument is seen by everybody who lists processes.
const VARIABLE: &str = "KEYPLAN_URL";

/// The engines that keep rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[non_exhaustive]
pub enum EngineName {
    /// A log-structured merge tree: cheap writes
    #[default]
    Fjall,
    /// A copy-on-write tree in one file: cheap reads and opening
    Redb,
    /// Copy-on-write trees in one mapped file: reads at the speed of memory, keys of up to 511 bytes
    Lmdb,
    /// A server, which a URL names in place of DIR
    Postgres,
    /// Object storage, which a URL names in place of DIR
    Slate,
}

/// A database that a URL names.
#[derive(Debug)]
pub enum Remote {
    /// On a server.
    Postgres(Box<PostgresSettings>),
    /// On object storage.
    #[cfg(feature = "slate")]
    Slate(Box<SlateSettings>),
}

/// What a database is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// Reading.
    Read,
    /// Reading and writing, if it is there.
    Write,
    /// The same, to change most of its rows: in bounded memory, whatever its size.
    Rewrite,
    /// As [`Opening::Write`], and it is made if it is not there.
    Make,
}

impl From<Access> for Opening {
    fn from(access: Access) -> Self {
        match access {
            Access::ReadOnly => Self::Read,
            Access::ReadWrite => Self::Write,
        }
    }
}

/// Whether what was typed in place of a directory is the URL of a database.
pub fn is_url(typed: &Path) -> bool {
    parsed(typed).is_some()
}

/// Whether what was typed in place of a directory is the URL of a Redis server.
pub fn is_server(typed: &Path) -> bool {
    let scheme = typed.to_str().and_then(|url| url.split_once("://")).map(|(scheme, _)| scheme);
    matches!(scheme, Some("redis" | "rediss" | "redis-cluster" | "rediss-cluster"))
}

/// That no database of ours is at a place.
pub(crate) fn no_database(place: &Path) -> Error {
    let name = shown(place);
    if is_server(place) {
        return refused!(
            "`{name}` is a server of another program: `db get`, `scan`, `dump`, `stats`, `verify` and `migrate` read it, with `--plan`"
        );
    }
    let is_free = match std::fs::read_dir(place) {
        Ok(mut entries) => entries.next().is_none(),
        Err(_) => !place.exists(),
    };
    if is_free {
        return refused!("`{name}` is not a database; `keyplan db create {name} PLAN` makes one");
    }
    let what = if place.is_dir() { "a directory with other files in it" } else { "a file" };
    refused!("`{name}` is not a database: it is {what}")
}

/// The database that a URL names; `None` if it is the path of a directory. `postgres:` and `slate:` by themselves are the one that
/// the variable `KEYPLAN_URL` names.
pub fn settings(typed: &Path) -> Result<Option<Remote>> {
    let Some((engine, url)) = parsed(typed) else { return Ok(None) };
    let Some(url) = url else {
        let url = std::env::var(VARIABLE).map_err(|_| refused!("the variable `{VARIABLE}` is not set"))?;
        return of(engine, &url).map(Some);
    };
    of(engine, url).map(Some)
}

/// Refuses an engine that a URL has to name, where a directory was typed.
pub fn refuse_directory(engine: EngineName) -> Result<()> {
    match engine {
        EngineName::Postgres => bail!(
            "a database on PostgreSQL is named by a URL in place of DIR: `postgres://USER@HOST/DATABASE?schema=NAME`"
        ),
        EngineName::Slate => bail!(
            "a database on object storage is named by a URL in place of DIR: `s3://BUCKET/PATH` or `file:///PATH`"
        ),
        EngineName::Fjall | EngineName::Redb | EngineName::Lmdb => Ok(()),
    }
}

fn of(engine: EngineName, url: &str) -> Result<Remote> {
    if engine == EngineName::Postgres {
        return Ok(Remote::Postgres(Box::new(PostgresSettings::new(url)?)));
    }
    #[cfg(feature = "slate")]
    let remote = Ok(Remote::Slate(Box::new(SlateSettings::new(url)?)));
    #[cfg(not(feature = "slate"))]
    let remote =
        Err(refused!("this `keyplan` was built without object storage: build it with `--features slate`"));
    remote
}

/// What was typed, for people: a URL without its credentials.
pub fn shown(typed: &Path) -> String {
    match settings(typed) {
        Ok(Some(Remote::Postgres(settings))) => settings.shown(),
        #[cfg(feature = "slate")]
        Ok(Some(Remote::Slate(settings))) => settings.shown(),
        Ok(None) if is_server(typed) => {
            let url = typed.to_string_lossy();
            let (scheme, rest) = url.split_once("://").unwrap_or_default();
            format!("{scheme}://{}", rest.rsplit_once('@').map_or(rest, |(_, hosts)| hosts))
        }
        Ok(None) => typed.display().to_string(),
        Err(_) => {
            let scheme = typed.to_str().and_then(|url| url.split_once(':')).map_or("", |(scheme, _)| scheme);
            format!("{scheme}://…")
        }
    }
}

/// The engine that a URL is of, and the URL, unless it only names the engine.
fn parsed(typed: &Path) -> Option<(EngineName, Option<&str>)> {
    let url = typed.to_str()?;
    let (scheme, rest) = url.split_once(':')?;
    let engine = match scheme {
        "postgres" | "postgresql" => EngineName::Postgres,
        "slate" if rest.trim_end_matches('/').is_empty() => EngineName::Slate,
        "s3" | "file" | "memory" if rest.starts_with("//") => EngineName::Slate,
        _ => return None,
    };
    let alone = rest.trim_end_matches('/').is_empty() && matches!(scheme, "postgres" | "slate");
    Some((engine, (!alone).then_some(url)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_shown_without_its_credentials() {
        let shown = |typed: &str| super::shown(Path::new(typed));
        assert_eq!(shown("postgres://u:secret@h/d?schema=s"), "postgres://h/d?schema=s");
        assert_eq!(shown("postgres://u:secret@h:x/d"), "postgres://…");
        assert_eq!(shown("redis://u:sec@ret@h:1/0"), "redis://h:1/0");
        assert_eq!(shown("s3://u:secret@b/d"), "s3://…");
        assert_eq!(shown("some/directory"), "some/directory");
        for url in ["postgresql://h", "s3://b/p", "file:///p", "memory://m", "postgres:", "slate:"] {
            assert!(is_url(Path::new(url)), "{url}");
        }
        for path in ["data", "file:x", "s3", "slate://x", "redis://h", "C:/data"] {
            assert!(!is_url(Path::new(path)), "{path}");
        }
    }

    #[cfg(feature = "slate")]
    #[test]
    fn the_url_of_a_bucket_is_shown_without_its_options() {
        let shown = shown(Path::new("s3://b/p?access_key_id=secret&secret_access_key=secret"));
        assert_eq!(shown, "s3://b/p");
    }
}
