//! LevelDB, goleveldb, RocksDB and Pebble: one reader of all their files.
//!
//! A state of the database is taken without a lock, also while an engine writes to it: the module `capture` says how. The
//! descriptors of its tables keep them readable whatever the writer does next.
//!
//! Column families are spaces; an engine without them has one, `default`.

mod batch;
mod block;
mod bytes;
mod cache;
mod capture;
mod checksum;
mod compression;
mod cursor;
mod directory;
mod edit;
mod files;
mod footer;
mod index;
mod journal;
mod key;
mod memtable;
mod merge;
mod settings;
mod state;
mod table;
mod tombstone;
mod value_block;
mod version;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use keyplan_store::Direction;
use keyplan_store::engine::{KeyRange, Space, SpaceId};
use keyplan_store::source::{Source, SourceError, View, Walk};

pub(crate) use bytes::Bytes;
pub(crate) use compression::{snappy, zstd_frame as zstd};
pub(crate) use directory::fits;

use directory::Flavour;
use merge::Merge;
use state::{FamilyState, State};

/// A database of LevelDB, goleveldb, RocksDB or Pebble, at the moment when it was opened.
#[derive(Debug)]
pub struct Lsm {
    path: PathBuf,
    flavour: Flavour,
    state: Arc<State>,
}

impl Lsm {
    /// Opens the database in the directory `path`.
    pub fn open(path: &Path) -> Result<Self, SourceError> {
        let (flavour, state) = capture::capture(path)?;
        Ok(Self { path: path.to_owned(), flavour, state: Arc::new(state) })
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Source for Lsm {
    fn kind(&self) -> &'static str {
        self.flavour.word()
    }

    fn spaces(&self) -> Vec<Space> {
        self.state.families.iter().map(|family| Space::map(&family.name)).collect()
    }

    fn view(&self) -> Result<Box<dyn View>, SourceError> {
        Ok(Box::new(LsmView(Arc::clone(&self.state))))
    }
}

#[derive(Debug)]
struct LsmView(Arc<State>);

impl LsmView {
    fn family(&self, space: SpaceId) -> Result<&Arc<FamilyState>, SourceError> {
        let place = usize::try_from(space.0).ok();
        place.and_then(|place| self.0.families.get(place)).ok_or_else(|| SourceError::no_space(space))
    }
}

impl View for LsmView {
    fn get(&self, space: SpaceId, key: &[u8]) -> Result<Option<Vec<u8>>, SourceError> {
        self.family(space)?.get(key)
    }

    fn walk(
        &self,
        space: SpaceId,
        range: KeyRange<'_>,
        direction: Direction,
    ) -> Result<Box<dyn Walk>, SourceError> {
        Ok(Box::new(Merge::new(self.family(space)?, range.to_owned(), direction)?))
    }
}
