//! Cosmos' multistore of IAVL trees, as in the `application.db` of a node.
//!
//! Each store is a space. Its rows are those of the last committed version, or of any other that is kept: read from the
//! fast index where that is complete for the version, and else by walking the tree. iavl 0.x, 1.x and databases that hold
//! nodes of both are read alike.

mod commit;
mod history;
mod node;
mod report;
mod store;
mod verify;
mod walk;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use keyplan_store::Direction;
use keyplan_store::engine::{KeyRange, Space, SpaceId};
use keyplan_store::source::{Source, SourceError, View, Walk};

pub use commit::{Commit, StoreCommit};
pub use history::Change;
pub use node::Hash;
pub use report::{Report, StoreReport};
pub use verify::Checked;

use node::Body;
use store::{Root, Store};
use walk::{FastWalk, TreeWalk};

/// The space of the rows that a multistore is made of.
const ROWS: &str = "default";

/// Whether `rows` are those of a multistore.
pub(crate) fn fits(rows: &impl Source) -> bool {
    let Ok(view) = rows.view() else { return false };
    rows.space(ROWS).is_some_and(|space| view.get(space, commit::LATEST).is_ok_and(|value| value.is_some()))
}

/// The stores of a multistore at one version.
#[derive(Debug)]
pub struct Iavl {
    path: PathBuf,
    view: Arc<dyn View>,
    rows: SpaceId,
    latest: u64,
    commit: Commit,
    stores: Arc<[Opened]>,
}

/// A store at the version that is read.
#[derive(Debug)]
struct Opened {
    store: Store,
    root: Root,
    /// Whether the fast index is complete for the version.
    fast: bool,
}

impl Iavl {
    /// Reads the multistore whose rows `source` has: its last committed version, or the one asked for.
    pub fn open(source: &dyn Source, path: &Path, height: Option<u64>) -> Result<Self, SourceError> {
        let absent = |what: String| SourceError::Absent { what: format!("{}: {what}", path.display()) };
        let view: Arc<dyn View> = source.view()?.into();
        let rows = source.space(ROWS).ok_or_else(|| SourceError::NoSpace { name: ROWS.to_owned() })?;
        let latest = Commit::latest(&*view, rows)?
            .ok_or_else(|| absent("there is no `s/latest`: this is not a multistore".to_owned()))?;
        let version = height.unwrap_or(latest);
        if version > latest {
            return Err(absent(format!("there is no height {version}: the last commit is {latest}")));
        }
        let commit = match Commit::read(&*view, rows, version)? {
            Some(commit) => commit.map_err(|what| SourceError::damaged(path, 0, what))?,
            None => return Err(absent(format!("there is no commit of height {version}"))),
        };
        let mut stores = Vec::new();
        for entry in commit.stores.iter().filter(|entry| entry.has_tree()) {
            let store = Store::new(&entry.name, &view, rows, path);
            let Some(root) = store.root(entry.version)? else {
                return Err(absent(not_kept(&store, version)?));
            };
            let fast = store.fast_version()? == Some(entry.version);
            stores.push(Opened { store, root, fast });
        }
        Ok(Self { path: path.to_owned(), view, rows, latest, commit, stores: stores.into() })
    }

    /// The last version that was committed.
    pub const fn latest(&self) -> u64 {
        self.latest
    }

    /// The commit that is read.
    pub const fn commit(&self) -> &Commit {
        &self.commit
    }

    fn store(&self, name: &str) -> Store {
        Store::new(name, &self.view, self.rows, &self.path)
    }
}

/// Why a height cannot be read.
fn not_kept(store: &Store, version: u64) -> Result<String, SourceError> {
    let kept = store.versions()?;
    let kept = match (kept.first(), kept.last()) {
        (Some(first), Some(last)) => format!("versions {first} to {last} are kept"),
        _ => "none is kept".to_owned(),
    };
    Ok(format!("store `{}` does not keep height {version}: {kept}", store.name))
}

impl Source for Iavl {
    fn kind(&self) -> &'static str {
        "iavl"
    }

    fn spaces(&self) -> Vec<Space> {
        self.stores.iter().map(|opened| Space::map(&opened.store.name)).collect()
    }

    fn view(&self) -> Result<Box<dyn View>, SourceError> {
        Ok(Box::new(IavlView(Arc::clone(&self.stores))))
    }
}

#[derive(Debug)]
struct IavlView(Arc<[Opened]>);

impl IavlView {
    fn opened(&self, space: SpaceId) -> Result<&Opened, SourceError> {
        let place = usize::try_from(space.0).ok();
        place.and_then(|place| self.0.get(place)).ok_or_else(|| SourceError::no_space(space))
    }
}

impl View for IavlView {
    fn get(&self, space: SpaceId, key: &[u8]) -> Result<Option<Vec<u8>>, SourceError> {
        let opened = self.opened(space)?;
        if opened.fast {
            return opened.store.fast(key);
        }
        Ok(opened.store.leaf(opened.root, key)?.and_then(|leaf| match leaf.body {
            Body::Leaf { value } => Some(value),
            Body::Inner { .. } => None,
        }))
    }

    fn walk(
        &self,
        space: SpaceId,
        range: KeyRange<'_>,
        direction: Direction,
    ) -> Result<Box<dyn Walk>, SourceError> {
        let opened = self.opened(space)?;
        let range = range.to_owned();
        if opened.fast && !range.borrow().is_empty() {
            return Ok(Box::new(FastWalk::new(&opened.store, &range, direction)?));
        }
        Ok(Box::new(TreeWalk::new(&opened.store, opened.root, range, direction)))
    }
}
