//! An engine by the path or the URL of its database, whichever it is.

use std::path::Path;

use keyplan_postgres::Postgres;
#[cfg(feature = "slate")]
use keyplan_slate::Slate;
use keyplan_sources::{Kind, Options};
use keyplan_store::META_SPACE;
use keyplan_store::engine::{self, Fjall, FjallSettings, Lmdb, LmdbSettings, Redb, RedbSettings};

use crate::error::{Context as _, Result, bail};
use crate::remote::{self, EngineName, Opening, Remote};

/// An open engine, whichever it is. [`on_any_engine!`](crate::on_any_engine) does the same with each.
pub enum AnyEngine {
    /// fjall, in a directory.
    Fjall(Box<Fjall>),
    /// redb, in a directory.
    Redb(Box<Redb>),
    /// LMDB, in a directory.
    Lmdb(Box<Lmdb>),
    /// `PostgreSQL`, on a server.
    Postgres(Box<Postgres>),
    /// `SlateDB`, on object storage.
    #[cfg(feature = "slate")]
    Slate(Box<Slate>),
}

/// Writes down the macro, with an arm for each engine that is built in: features are looked at here, and not where the macro
/// is used.
macro_rules! with_engines {
    ($d:tt $($engine:ident)*) => {
        /// Does the same with whichever engine it is; the engine is the block's own.
        #[macro_export]
        macro_rules! on_any_engine {
            ($d any:expr, $d engine:ident => $d body:expr) => {
                match $d any {
                    $($crate::AnyEngine::$engine(engine) => {
                        let $d engine = *engine;
                        $d body
                    })*
                }
            };
        }
    };
}
#[cfg(feature = "slate")]
with_engines!($ Fjall Redb Lmdb Postgres Slate);
#[cfg(not(feature = "slate"))]
with_engines!($ Fjall Redb Lmdb Postgres);

impl AnyEngine {
    /// Opens the database at a path or a URL for reading, or for writing to what is there.
    pub fn open(place: &Path, opening: Opening) -> Result<Self> {
        let failed = || format!("cannot open `{}`", remote::shown(place));
        if let Some(remote) = remote::settings(place)? {
            return Self::remote(remote, opening).with_context(failed);
        }
        let Some(found) = found(place) else {
            return Err(remote::no_database(place));
        };
        Self::existing(place, found, opening).with_context(failed)
    }

    /// Makes a database, or opens one that was made: by its URL, or in a directory on the engine that is named.
    pub fn make(place: &Path, engine: EngineName) -> Result<Self, engine::Error> {
        Ok(match engine {
            EngineName::Redb => Self::Redb(Box::new(Redb::open(place, redb())?)),
            EngineName::Lmdb => Self::Lmdb(Box::new(Lmdb::open(place, LmdbSettings::default())?)),
            EngineName::Fjall | EngineName::Postgres | EngineName::Slate => {
                Self::Fjall(Box::new(Fjall::open(place, fjall())?))
            }
        })
    }

    /// Opens a database that a URL names.
    pub fn remote(remote: Remote, opening: Opening) -> Result<Self, engine::Error> {
        Ok(match remote {
            Remote::Postgres(settings) => Self::Postgres(Box::new(match opening {
                Opening::Read => Postgres::open_read_only(*settings)?,
                Opening::Write | Opening::Rewrite => Postgres::open_existing(*settings)?,
                Opening::Make => Postgres::open(*settings)?,
            })),
            #[cfg(feature = "slate")]
            Remote::Slate(settings) => Self::Slate(Box::new(match opening {
                Opening::Read => Slate::open_reader(*settings)?,
                Opening::Write | Opening::Rewrite => Slate::open_existing(*settings)?,
                Opening::Make => Slate::open(*settings)?,
            })),
        })
    }

    /// Opens what was [found](found) in a directory.
    pub(crate) fn existing(place: &Path, found: EngineName, opening: Opening) -> Result<Self, engine::Error> {
        let writes = opening != Opening::Read;
        Ok(match (found, writes) {
            (EngineName::Redb, true) => Self::Redb(Box::new(Redb::open_existing(place, redb())?)),
            (EngineName::Redb, false) => Self::Redb(Box::new(Redb::open_read_only(place, redb())?)),
            (EngineName::Lmdb, true) => {
                Self::Lmdb(Box::new(Lmdb::open_existing(place, LmdbSettings::default())?))
            }
            (EngineName::Lmdb, false) => {
                Self::Lmdb(Box::new(Lmdb::open_read_only(place, LmdbSettings::default())?))
            }
            (_, true) => {
                let settings = if opening == Opening::Rewrite { FjallSettings::rewriting() } else { fjall() };
                Self::Fjall(Box::new(Fjall::open_existing(place, settings)?))
            }
            (_, false) => Self::Fjall(Box::new(Fjall::open_read_only(place, fjall())?)),
        })
    }
}

/// Bytes of blocks or pages that a command keeps in memory, whatever the machine has: commands go over rows once, and what was read
/// is not read again.
const CACHE_BYTES: u64 = 64 << 20;

fn fjall() -> FjallSettings {
    let mut settings = FjallSettings::default();
    settings.cache_bytes = CACHE_BYTES;
    settings
}

fn redb() -> RedbSettings {
    let mut settings = RedbSettings::default();
    settings.cache_bytes = CACHE_BYTES;
    settings
}

/// The engine that a database of ours in a directory was made with, if there is one.
pub fn found(directory: &Path) -> Option<EngineName> {
    if Fjall::exists(directory) {
        Some(EngineName::Fjall)
    } else if Redb::exists(directory) {
        Some(EngineName::Redb)
    } else {
        is_lmdb(directory).then_some(EngineName::Lmdb)
    }
}

/// Refuses a place inside a database: its engine would take what is made there for a part of it, and not open again.
pub(crate) fn refuse_inside(place: &Path) -> Result<()> {
    let full = std::path::absolute(place).unwrap_or_else(|_| place.to_owned());
    // What is not there yet has the folders that it will be in.
    let Some(there) = full.ancestors().find_map(|up| up.canonicalize().ok()) else { return Ok(()) };
    let above = if full.exists() { there.parent() } else { Some(there.as_path()) };
    let around = above.and_then(|above| above.ancestors().find(|up| found(up).is_some()));
    match around {
        Some(around) => bail!(
            "`{}` is inside the database in `{}`: choose a place outside of it",
            place.display(),
            around.display()
        ),
        None => Ok(()),
    }
}

/// Whether there is a database of ours on LMDB in a directory. It is looked at with a reader that checks it, and other
/// programs' databases are left to that reader.
fn is_lmdb(directory: &Path) -> bool {
    Lmdb::exists(directory)
        && keyplan_sources::open(directory, &Options::default().kind(Kind::Lmdb))
            .is_ok_and(|source| source.space(META_SPACE).is_some())
}
