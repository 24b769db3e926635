//! What is looked into.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use keyplan_plan::model::Space;
use keyplan_report::statistics::structures;
use keyplan_report::structure::is_structured;
use keyplan_sources::iavl::Iavl;
use keyplan_sources::lsm::Lsm;
use keyplan_sources::{Kind, Options, recognise};
use keyplan_store::Store;
use keyplan_store::engine::Engine;
use keyplan_store::source::{Source, SourceError, StoreSource};
use keyplan_store::structure::{StructureError, StructureRead};

use crate::server::ServerSource;

/// Opens the structures of a space as they are now.
pub type StructureOpener =
    Arc<dyn Fn(&Space) -> Result<Arc<dyn StructureRead>, StructureError> + Send + Sync>;

/// A database with everything that can be asked of it beside its rows.
#[derive(Clone)]
pub struct Database {
    pub(crate) name: String,
    pub(crate) source: Arc<dyn Source>,
    pub(crate) multistore: Option<Arc<Multistore>>,
    pub(crate) structures: Option<StructureOpener>,
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Database")
            .field("name", &self.name)
            .field("source", &self.source)
            .finish_non_exhaustive()
    }
}

/// A multistore that keeps several heights.
#[derive(Debug)]
pub(crate) struct Multistore {
    rows: Lsm,
    pub(crate) at: Arc<Iavl>,
    pub(crate) heights: Vec<u64>,
}

impl Multistore {
    /// The stores at another height.
    pub(crate) fn height(&self, height: u64) -> Result<Arc<dyn Source>, SourceError> {
        Ok(Arc::new(Iavl::open(&self.rows, self.rows.path(), Some(height))?))
    }
}

impl Database {
    /// Any source, under the name that people know it by.
    pub fn new(name: impl Into<String>, source: Arc<dyn Source>) -> Self {
        Self { name: name.into(), source, multistore: None, structures: None }
    }

    /// The database of another program, with its older heights where it keeps some.
    pub fn open(name: impl Into<String>, path: &Path, height: Option<u64>) -> Result<Self, SourceError> {
        if recognise(path) == Some(Kind::Iavl) {
            let rows = Lsm::open(path)?;
            let at = Arc::new(Iavl::open(&rows, path, height)?);
            let heights = at.commits()?;
            let source: Arc<dyn Source> = Arc::<Iavl>::clone(&at);
            let multistore = Some(Arc::new(Multistore { rows, at, heights }));
            return Ok(Self { name: name.into(), source, multistore, structures: None });
        }
        let mut options = Options::default();
        options.height = height;
        Ok(Self::new(name, keyplan_sources::open(path, &options)?.into()))
    }

    /// The keys of a server, as the rows of one space of the plan; `kind` is what it is called.
    ///
    /// Its keys are listed and sorted here, for a server has no order of keys; what its structures hold is not counted in
    /// bytes.
    pub fn of_server(
        name: impl Into<String>,
        kind: &'static str,
        space: &Space,
        read: Arc<dyn StructureRead>,
    ) -> Self {
        let source = ServerSource::new(Arc::clone(&read), kind, &space.name, is_structured(space));
        Self {
            name: name.into(),
            source: Arc::new(source),
            multistore: None,
            structures: Some(Arc::new(move |_| Ok(Arc::clone(&read)))),
        }
    }

    /// Its rows.
    pub fn source(&self) -> Arc<dyn Source> {
        Arc::clone(&self.source)
    }

    /// An open store of ours, with the structures in it; it may be written to meanwhile.
    pub fn of_store<E: Engine>(name: impl Into<String>, store: &Arc<Store<E>>) -> Self {
        let opener = Arc::clone(store);
        Self {
            name: name.into(),
            source: Arc::new(StoreSource::new(Arc::clone(store))),
            multistore: None,
            structures: Some(Arc::new(move |space| structures(&opener, space).map(Arc::from))),
        }
    }
}
