//! A database of ours, on whichever engine.

use std::fmt::{self, Debug};
use std::path::Path;
use std::sync::Arc;

use keyplan_plan::model::{Plan, Space};
use keyplan_plan::{Compiled, compile};
use keyplan_postgres::Postgres;
use keyplan_report::statistics::structures;
#[cfg(feature = "slate")]
use keyplan_slate::Slate;
use keyplan_store::engine::{Engine, Fjall, Lmdb, Redb};
#[cfg(unix)]
use keyplan_store::live::Live;
use keyplan_store::structure::StructureRead;
use keyplan_store::{Access, Meta, PlanFingerprint, Schema, Store, StoreError};

use crate::engine::{AnyEngine, found, refuse_inside};
use crate::error::{Context as _, Error, Result, bail, refused};
use crate::foreign::is_own;
use crate::remote::{self, EngineName, Opening};

/// An open database, on whichever engine it was made with.
pub enum AnyStore {
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

impl Debug for AnyStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AnyStore").field(&self.engine_name()).finish()
    }
}

/// Writes down the macro, with an arm for each engine that is built in: features are looked at here, and not where the macro
/// is used.
macro_rules! with_stores {
    ($d:tt $($engine:ident)*) => {
        /// Does the same on whichever engine a database is.
        #[macro_export]
        macro_rules! on_engine {
            ($d database:expr, $d store:ident => $d body:expr) => {
                match $d database {
                    $($crate::AnyStore::$engine($d store) => $d body,)*
                    #[cfg(unix)]
                    $crate::AnyStore::Live($d store) => $d body,
                }
            };
        }
    };
}
#[cfg(feature = "slate")]
with_stores!($ Fjall Redb Lmdb Postgres Slate);
#[cfg(not(feature = "slate"))]
with_stores!($ Fjall Redb Lmdb Postgres);

impl AnyStore {
    /// Opens a database with the plan that is in it. One that another process has open is asked through that process, if it
    /// only is to be read.
    pub fn open(place: &Path, access: Access) -> Result<(Self, Plan)> {
        let database = Self::on_its_engine(place, access)?;
        let plan = plan_of(database.meta().ok_or(StoreError::NoPlan)?)?;
        Ok((database, plan))
    }

    /// The plan that a database was made with, as its text says.
    pub fn recorded_plan(place: &Path) -> Result<Compiled> {
        if !is_own(place) && keyplan_sources::fits(place) {
            bail!("`{}` has no plan in it: it is another program's", place.display());
        }
        let database = Self::on_its_engine(place, Access::ReadOnly)?;
        Ok(compiled(database.meta().ok_or(StoreError::NoPlan)?))
    }

    /// What the database says of itself.
    pub fn meta(&self) -> Option<&Meta> {
        on_engine!(self, store => store.meta())
    }

    fn on_its_engine(place: &Path, access: Access) -> Result<Self> {
        match Self::on_files(place, access) {
            Err(error) if error.is_in_use() => Self::in_use(place, access),
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

    fn on_files(place: &Path, access: Access) -> Result<Self> {
        let engine = if let Some(remote) = remote::settings(place)? {
            AnyEngine::remote(remote, access.into())
        } else if let Some(found) = found(place) {
            AnyEngine::existing(place, found, access.into())
        } else {
            return Err(remote::no_database(place));
        };
        let engine = engine.map_err(|error| named(place, error.into()))?;
        on_any_engine!(engine, engine => {
            Ok(Store::open_recorded(engine, access).map_err(|error| named(place, error))?.into())
        })
    }

    /// Makes a database by a URL, or in a directory that does not exist or is empty.
    pub fn create(place: &Path, engine: EngineName, schema: &Schema) -> Result<Self> {
        let named = || format!("cannot make a database in `{}`", remote::shown(place));
        let engine = if let Some(remote) = remote::settings(place)? {
            AnyEngine::remote(remote, Opening::Make)
        } else {
            remote::refuse_directory(engine)?;
            refuse_inside(place)?;
            let found = [
                (EngineName::Fjall, Fjall::exists(place)),
                (EngineName::Redb, Redb::exists(place)),
                (EngineName::Lmdb, Lmdb::exists(place)),
            ];
            let found = found.into_iter().find(|(_, exists)| *exists).map(|(engine, _)| engine);
            let occupied = || place.read_dir().is_ok_and(|mut entries| entries.next().is_some());
            if found.is_none() && occupied() {
                bail!("`{}` is not empty, and holds no database", place.display());
            }
            // One that exists is opened on its own engine, so that the store can say what is in it.
            AnyEngine::make(place, found.unwrap_or(engine))
        };
        // What an engine said and what the store says have one form.
        let engine = engine.map_err(StoreError::from).with_context(named)?;
        on_any_engine!(engine, engine => Ok(Store::create(engine, schema).with_context(named)?.into()))
    }

    /// The value of a key of a space, which its engine's name names.
    pub fn get(&self, space: &str, key: &[u8]) -> Result<Option<Vec<u8>>> {
        on_engine!(self, store => {
            let id = store.space(space)?;
            Ok(store.snapshot()?.get(id, key)?.map(|value| value.to_vec()))
        })
    }

    /// The structures of a space as they are now.
    pub fn structures(&self, space: &Space) -> Result<Box<dyn StructureRead>> {
        Ok(on_engine!(self, store => structures(store, space)?))
    }

    /// What the engine is called.
    pub const fn engine_name(&self) -> &'static str {
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

/// The plan that a database says it was made with, compiled from its text.
pub fn compiled(meta: &Meta) -> Compiled {
    compile(meta.plan_name(), meta.plan_text(), |path| meta.import(path))
}

/// The plan in a database, as its text says.
fn plan_of(meta: &Meta) -> Result<Plan> {
    let plan = compiled(meta).plan.ok_or_else(|| {
        refused!("the plan in the database cannot be read: it was written by another version of keyplan")
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

/// Refuses a plan that is not the layout that a database was written under.
pub fn expect_plan(place: &Path, recorded: &Plan, asked: &Plan) -> Result<()> {
    let (ours, theirs) = (PlanFingerprint::from(asked.fingerprint()), recorded.fingerprint().into());
    if ours == theirs {
        return Ok(());
    }
    Err(named(place, StoreError::PlanMismatch { ours, theirs }))
}

/// What to do about a database that another process has and does not answer for.
pub(crate) fn unanswered(directory: &Path) -> String {
    format!(
        "`{}` is in use by another process, which does not answer for it: end that process, or have it call `answer` on its store",
        directory.display()
    )
}

/// What went wrong, and with which database, unless the message says so.
fn named(place: &Path, error: StoreError) -> Error {
    use keyplan_store::engine::Error as Fault;
    if matches!(error, StoreError::Engine(Fault::AlreadyOpen { .. } | Fault::NotFound { .. })) {
        return error.into();
    }
    Error::While { doing: format!("cannot open `{}`", remote::shown(place)), source: Box::new(error.into()) }
}

impl From<Store<Fjall>> for AnyStore {
    fn from(store: Store<Fjall>) -> Self {
        Self::Fjall(Arc::new(store))
    }
}

impl From<Store<Redb>> for AnyStore {
    fn from(store: Store<Redb>) -> Self {
        Self::Redb(Arc::new(store))
    }
}

impl From<Store<Lmdb>> for AnyStore {
    fn from(store: Store<Lmdb>) -> Self {
        Self::Lmdb(Arc::new(store))
    }
}

impl From<Store<Postgres>> for AnyStore {
    fn from(store: Store<Postgres>) -> Self {
        Self::Postgres(Arc::new(store))
    }
}

#[cfg(feature = "slate")]
impl From<Store<Slate>> for AnyStore {
    fn from(store: Store<Slate>) -> Self {
        Self::Slate(Arc::new(store))
    }
}
