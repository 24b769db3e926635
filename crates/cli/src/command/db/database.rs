use std::path::Path;
use std::sync::Arc;

use anyhow::{Result, anyhow, bail};
use keyplan_plan::model::{Plan, Space};
use keyplan_plan::{Compiled, compile};
use keyplan_postgres::Postgres;
use keyplan_report::statistics::structures;
#[cfg(feature = "slate")]
use keyplan_slate::Slate;
use keyplan_sources::{Kind, Options};
use keyplan_store::engine::{Engine, Fjall, FjallSettings, Lmdb, LmdbSettings, Redb, RedbSettings};
#[cfg(unix)]
use keyplan_store::live::Live;
use keyplan_store::structure::StructureRead;
use keyplan_store::{Access, META_SPACE, Meta, PlanFingerprint, Schema, Store, StoreError};

use super::{Opening, on_remote, remote};
use crate::args::db::{EngineName, Target};
use crate::input;

/// An open database, on whichever engine it was made with.
pub(crate) enum Database {
    /// On fjall.
    Fjall(Arc<Store<Fjall>>),
    /// On redb.
    Redb(Arc<Store<Redb>>),
    /// On PostgreSQL.
    Postgres(Arc<Store<Postgres>>),
    /// On LMDB.
    Lmdb(Arc<Store<Lmdb>>),
    /// On object storage.
    #[cfg(feature = "slate")]
    Slate(Arc<Store<Slate>>),
    /// Open in another process, which answers for it.
    #[cfg(unix)]
    Live(Arc<Store<Live>>),
}

impl From<Store<Postgres>> for Database {
    fn from(store: Store<Postgres>) -> Self {
        Self::Postgres(Arc::new(store))
    }
}

#[cfg(feature = "slate")]
impl From<Store<Slate>> for Database {
    fn from(store: Store<Slate>) -> Self {
        Self::Slate(Arc::new(store))
    }
}

/// Whether there is a database of ours on LMDB in a directory. It is looked at with a reader that checks it, and other
/// programs' databases are left to that reader.
pub(crate) fn is_lmdb(directory: &Path) -> bool {
    Lmdb::exists(directory)
        && keyplan_sources::open(directory, &Options::default().kind(Kind::Lmdb))
            .is_ok_and(|source| source.space(META_SPACE).is_some())
}

/// Does the same on whichever engine a database stands on.
macro_rules! on_engine {
    ($database:expr, $store:ident => $body:expr) => {
        match $database {
            $crate::command::db::Database::Fjall($store) => $body,
            $crate::command::db::Database::Redb($store) => $body,
            $crate::command::db::Database::Postgres($store) => $body,
            $crate::command::db::Database::Lmdb($store) => $body,
            #[cfg(feature = "slate")]
            $crate::command::db::Database::Slate($store) => $body,
            #[cfg(unix)]
            $crate::command::db::Database::Live($store) => $body,
        }
    };
}
pub(crate) use on_engine;

impl Database {
    /// Opens a database with the plan that is in it.
    pub(crate) fn open(target: &Target, access: Access) -> Result<(Self, Plan)> {
        let directory = &target.directory;
        let database = Self::on_its_engine(directory, access)?;
        let meta = on_engine!(&database, store => store.meta());
        let plan = plan_of(meta.ok_or(StoreError::NoPlan)?)?;
        if let Some(path) = &target.plan {
            let ours = PlanFingerprint::from(asked(path)?.fingerprint());
            let theirs = PlanFingerprint::from(plan.fingerprint());
            if ours != theirs {
                return Err(named(directory, StoreError::PlanMismatch { ours, theirs }));
            }
        }
        Ok((database, plan))
    }

    /// The plan that a database was made with, as its text says.
    pub(crate) fn recorded_plan(directory: &Path) -> Result<Compiled> {
        let database = Self::on_its_engine(directory, Access::ReadOnly)?;
        let meta = on_engine!(&database, store => store.meta());
        Ok(compiled(meta.ok_or(StoreError::NoPlan)?))
    }

    fn on_its_engine(directory: &Path, access: Access) -> Result<Self> {
        match Self::on_files(directory, access) {
            Err(error) if is_in_use(&error) => Self::in_use(directory, access),
            opened => opened,
        }
    }

    /// Asks the process that has a database open, if it only is to be read.
    fn in_use(directory: &Path, access: Access) -> Result<Self> {
        if access == Access::ReadWrite {
            bail!(
                "`{}` is in use by another process, and only that one writes to it: end it first",
                directory.display()
            );
        }
        #[cfg(unix)]
        if let Some(live) = Live::connect(directory).map_err(|error| named(directory, error.into()))? {
            let store = Store::open_recorded(live, access).map_err(|error| named(directory, error))?;
            return Ok(Self::Live(Arc::new(store)));
        }
        bail!("{}", unanswered(directory))
    }

    fn on_files(directory: &Path, access: Access) -> Result<Self> {
        let named = |error: StoreError| named(directory, error);
        if let Some(remote) = remote::settings(directory)? {
            return on_remote!(remote, access.into(), engine => {
                let engine = engine.map_err(|error| named(error.into()))?;
                Ok(Store::open_recorded(engine, access).map_err(named)?.into())
            });
        }
        Ok(if Fjall::exists(directory) {
            let settings = FjallSettings::default();
            let engine = match access {
                Access::ReadWrite => Fjall::open_existing(directory, settings),
                Access::ReadOnly => Fjall::open_read_only(directory, settings),
            };
            let engine = engine.map_err(|error| named(error.into()))?;
            Self::Fjall(Arc::new(Store::open_recorded(engine, access).map_err(named)?))
        } else if Redb::exists(directory) {
            let settings = RedbSettings::default();
            let engine = match access {
                Access::ReadWrite => Redb::open_existing(directory, settings),
                Access::ReadOnly => Redb::open_read_only(directory, settings),
            };
            let engine = engine.map_err(|error| named(error.into()))?;
            Self::Redb(Arc::new(Store::open_recorded(engine, access).map_err(named)?))
        } else if is_lmdb(directory) {
            let settings = LmdbSettings::default();
            let engine = match access {
                Access::ReadWrite => Lmdb::open_existing(directory, settings),
                Access::ReadOnly => Lmdb::open_read_only(directory, settings),
            };
            let engine = engine.map_err(|error| named(error.into()))?;
            Self::Lmdb(Arc::new(Store::open_recorded(engine, access).map_err(named)?))
        } else {
            bail!("`{}` is not a database; `keyplan db create {0} PLAN` makes one", directory.display());
        })
    }

    /// Makes a database in a directory that does not exist or is empty.
    pub(crate) fn create(directory: &Path, engine: EngineName, schema: &Schema) -> Result<Self> {
        let named = |error: StoreError| {
            anyhow!(error).context(format!("cannot make a database in `{}`", remote::shown(directory)))
        };
        if let Some(remote) = remote::settings(directory)? {
            return on_remote!(remote, Opening::Make, engine => {
                let engine = engine.map_err(|error| named(error.into()))?;
                Ok(Store::create(engine, schema).map_err(named)?.into())
            });
        }
        remote::refuse_directory(engine)?;
        let found = [
            (EngineName::Fjall, Fjall::exists(directory)),
            (EngineName::Redb, Redb::exists(directory)),
            (EngineName::Lmdb, Lmdb::exists(directory)),
        ];
        let found = found.into_iter().find(|(_, exists)| *exists).map(|(engine, _)| engine);
        let occupied = || directory.read_dir().is_ok_and(|mut entries| entries.next().is_some());
        if found.is_none() && occupied() {
            bail!("`{}` is not empty, and holds no database", directory.display());
        }
        // One that exists is opened on its own engine, so that the store can say what is in it.
        Ok(match found.unwrap_or(engine) {
            EngineName::Fjall | EngineName::Postgres | EngineName::Slate => {
                let engine = Fjall::open(directory, FjallSettings::default());
                let engine = engine.map_err(|error| named(error.into()))?;
                Self::Fjall(Arc::new(Store::create(engine, schema).map_err(named)?))
            }
            EngineName::Redb => {
                let engine = Redb::open(directory, RedbSettings::default());
                let engine = engine.map_err(|error| named(error.into()))?;
                Self::Redb(Arc::new(Store::create(engine, schema).map_err(named)?))
            }
            EngineName::Lmdb => {
                let engine = Lmdb::open(directory, LmdbSettings::default());
                let engine = engine.map_err(|error| named(error.into()))?;
                Self::Lmdb(Arc::new(Store::create(engine, schema).map_err(named)?))
            }
        })
    }

    /// The structures of a space as they are now.
    pub(crate) fn structures(&self, space: &Space) -> Result<Box<dyn StructureRead>> {
        Ok(on_engine!(self, store => structures(store, space)?))
    }

    /// What the engine is called.
    pub(crate) const fn engine_name(&self) -> &'static str {
        match self {
            Self::Fjall(_) => Fjall::NAME,
            Self::Redb(_) => Redb::NAME,
            Self::Postgres(_) => Postgres::NAME,
            Self::Lmdb(_) => Lmdb::NAME,
            #[cfg(feature = "slate")]
            Self::Slate(_) => Slate::NAME,
            #[cfg(unix)]
            Self::Live(_) => Live::NAME,
        }
    }
}

fn compiled(meta: &Meta) -> Compiled {
    compile(meta.plan_name(), meta.plan_text(), |path| meta.import(path))
}

/// The plan in a database, as its text says.
fn plan_of(meta: &Meta) -> Result<Plan> {
    let plan = compiled(meta).plan.ok_or_else(|| {
        anyhow!("the plan in the database cannot be read: it was written by another version of keyplan")
    })?;
    let found = PlanFingerprint::from(plan.fingerprint());
    if found != meta.fingerprint {
        bail!(
            "the plan in the database makes the fingerprint {found}, and {} was recorded with it",
            meta.fingerprint
        );
    }
    Ok(plan)
}

fn asked(path: &str) -> Result<Plan> {
    input::plan(path)?.ok_or_else(|| anyhow!("`{path}` does not compile"))
}

/// Whether another process has the database.
pub(super) fn is_in_use(error: &anyhow::Error) -> bool {
    use keyplan_store::engine::Error;
    let engine = error.chain().find_map(|cause| match cause.downcast_ref::<StoreError>() {
        Some(StoreError::Engine(error)) => Some(error),
        _ => cause.downcast_ref::<Error>(),
    });
    matches!(engine, Some(Error::AlreadyOpen { .. }))
}

/// What to do about a database that another process has and does not answer for.
pub(super) fn unanswered(directory: &Path) -> String {
    format!(
        "`{}` is in use by another process, which does not answer for it: end that process, or have it call `answer` on its store",
        directory.display()
    )
}

/// What went wrong, and with which database, unless the message says so.
fn named(directory: &Path, error: StoreError) -> anyhow::Error {
    use keyplan_store::engine::Error;
    if matches!(error, StoreError::Engine(Error::AlreadyOpen { .. } | Error::NotFound { .. })) {
        return error.into();
    }
    anyhow!(error).context(format!("cannot open `{}`", remote::shown(directory)))
}
