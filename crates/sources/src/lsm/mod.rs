//! LevelDB, goleveldb, RocksDB and Pebble: one reader of all their files.
//!
//! A state of the database is put together without a lock: the manifest, the logs into memory, a descriptor for each table,
//! and then the manifest again. If it is the same, nothing was moved meanwhile, and the descriptors keep the tables readable
//! whatever the writer does next. A log is read up to where it ends at that moment, between two batches.
//!
//! Column families are spaces; an engine without them has one, `default`.

mod batch;
mod block;
mod bytes;
mod cache;
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
use std::time::Duration;

use keyplan_store::Direction;
use keyplan_store::engine::{KeyRange, Space, SpaceId};
use keyplan_store::source::{Source, SourceError, View, Walk};

pub(crate) use bytes::Bytes;
pub(crate) use directory::fits;

use directory::{Directory, Flavour};
use merge::Merge;
use state::{FamilyState, State};

/// A database of LevelDB, goleveldb, RocksDB or Pebble, at the moment when it was opened.
#[derive(Debug)]
pub struct Lsm {
    path: PathBuf,
    flavour: Flavour,
    state: Arc<State>,
}

/// How often a state is tried for while the writer moves on.
const ATTEMPTS: u32 = 100;
/// How often it is tried for when the manifest stays the same: what was wrong may have been a write that was under way.
const STILL_WRONG: u32 = 4;

impl Lsm {
    /// Opens the database in the directory `path`.
    pub fn open(path: &Path) -> Result<Self, SourceError> {
        let mut still_wrong = 0;
        for attempt in 0..ATTEMPTS {
            match attempt_at(path) {
                Attempt::Done(opened) => return Ok(opened),
                Attempt::Moved => {}
                Attempt::Wrong(error) => {
                    still_wrong += 1;
                    if still_wrong == STILL_WRONG || !may_pass(&error) {
                        return Err(named_by_manifest(error));
                    }
                }
            }
            std::thread::sleep(Duration::from_millis(u64::from(attempt.min(20))));
        }
        let what = format!("its manifest changed during each of {ATTEMPTS} attempts");
        Err(SourceError::Changing { path: path.to_owned(), what })
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

enum Attempt {
    Done(Lsm),
    /// The manifest changed meanwhile.
    Moved,
    /// It did not, and the files do not fit it.
    Wrong(SourceError),
}

fn attempt_at(path: &Path) -> Attempt {
    let read = || {
        let directory = Directory::look(path)?;
        let manifest = files::read(&directory.manifest)?;
        Ok((directory, manifest))
    };
    let (directory, before) = match read() {
        Ok(found) => found,
        Err(error) => return Attempt::Wrong(error),
    };
    let state = State::build(&directory, &before);
    match read() {
        Ok((after, bytes)) if after.manifest == directory.manifest && bytes == before => {}
        Ok(_) => return Attempt::Moved,
        Err(error) => return Attempt::Wrong(error),
    }
    match state {
        Ok(state) => {
            Attempt::Done(Lsm { path: path.to_owned(), flavour: directory.flavour, state: Arc::new(state) })
        }
        Err(error) => Attempt::Wrong(error),
    }
}

/// Whether an error may be one of the moment.
const fn may_pass(error: &SourceError) -> bool {
    matches!(error, SourceError::Io { .. } | SourceError::Damaged { .. } | SourceError::Changing { .. })
}

/// A file that is missing is damage: the manifest names it.
fn named_by_manifest(error: SourceError) -> SourceError {
    match error {
        SourceError::Io { path, source } if source.kind() == std::io::ErrorKind::NotFound => {
            SourceError::damaged(&path, 0, "the file is missing")
        }
        error => error,
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
