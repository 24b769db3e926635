//! The read side of every database: named spaces of ordered bytes, seen at one moment.
//!
//! [`Source`] is what tools read: our own engines, a dump, a Redis server and the databases of other programs all
//! implement it. It is dyn-safe and has no write side at all. [`EngineSource`] makes a source of any [`Engine`].

use std::fmt::{self, Debug};
use std::io;
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::Store;
use crate::engine::{self, Engine, KeyRange, Snapshot, Space, SpaceId};
use crate::page::Direction;

/// Named spaces of ordered rows that can be read and not changed.
pub trait Source: Debug + Send + Sync {
    /// What is read, in one word: `fjall`, `leveldb`, `rocksdb`, `iavl`.
    fn kind(&self) -> &str;

    /// The spaces, in the order of their [`SpaceId`]s.
    fn spaces(&self) -> Vec<Space>;

    /// Opens one moment over all spaces. What it gives never changes.
    fn view(&self) -> Result<Box<dyn View>, SourceError>;

    /// Finds a space by name.
    fn space(&self, name: &str) -> Option<SpaceId> {
        let found = self.spaces().iter().position(|space| space.name == name)?;
        u32::try_from(found).ok().map(SpaceId)
    }
}

/// One moment of a [`Source`].
pub trait View: Debug + Send + Sync {
    /// Reads the value of a key; in a multimap, its first value.
    ///
    /// Sources that find one key more cheaply than they begin a walk have their own.
    fn get(&self, space: SpaceId, key: &[u8]) -> Result<Option<Vec<u8>>, SourceError> {
        let only = KeyRange { start: Bound::Included(key), end: Bound::Included(key) };
        let mut walk = self.walk(space, only, Direction::Ascending)?;
        Ok(walk.next()?.map(|row| row.value.to_vec()))
    }

    /// Opens a walk over the rows of a range, in the order of their keys or against it. An inverted range is empty.
    ///
    /// In a multimap a key comes once for each of its values.
    fn walk(
        &self,
        space: SpaceId,
        range: KeyRange<'_>,
        direction: Direction,
    ) -> Result<Box<dyn Walk>, SourceError>;
}

/// Rows of a range, lent one after the other. It keeps its moment alive and is not tied to the [`View`].
pub trait Walk: Send {
    /// The next row, lent until the next call; `None` at the end.
    ///
    /// The first error ends the walk: no row is left out in silence.
    fn next(&mut self) -> Result<Option<RowRef<'_>>, SourceError>;
}

/// A row that a [`Walk`] lends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowRef<'r> {
    /// The key.
    pub key: &'r [u8],
    /// The value.
    pub value: &'r [u8],
}

/// Why a source could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// A file does not hold what its format asks for.
    #[error("{}: byte {offset}: {what}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where in the file.
        offset: u64,
        /// What is wrong there.
        what: String,
    },
    /// The file is well-formed, and uses something that is not read here.
    #[error("{}: {what} is not supported", path.display())]
    Unsupported {
        /// The file.
        path: PathBuf,
        /// What it uses, by name.
        what: String,
    },
    /// The system could not read a file.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The writer changed the files faster than they could be read as one state.
    #[error("{}: it changes faster than it can be read: {what}", path.display())]
    Changing {
        /// The directory.
        path: PathBuf,
        /// What changed.
        what: String,
    },
    /// There is no such space.
    #[error("there is no space `{name}`")]
    NoSpace {
        /// The name, or the number after a `#`.
        name: String,
    },
    /// What is asked for is not in the source, such as a height that was pruned.
    #[error("{what}")]
    Absent {
        /// What is missing, and what is there instead.
        what: String,
    },
    /// An engine of ours could not read.
    #[error(transparent)]
    Engine(#[from] engine::Error),
}

impl SourceError {
    /// A file that does not hold what its format asks for.
    pub fn damaged(path: &Path, offset: u64, what: impl fmt::Display) -> Self {
        Self::Damaged { path: path.to_owned(), offset, what: what.to_string() }
    }

    /// Something that is not read here, by name.
    pub fn unsupported(path: &Path, what: impl fmt::Display) -> Self {
        Self::Unsupported { path: path.to_owned(), what: what.to_string() }
    }

    /// A file that the system could not read.
    pub fn io(path: &Path, source: io::Error) -> Self {
        Self::Io { path: path.to_owned(), source }
    }

    /// A number that is not a space.
    pub fn no_space(space: SpaceId) -> Self {
        Self::NoSpace { name: format!("#{}", space.0) }
    }
}

/// An engine of ours as a source.
#[derive(Debug)]
pub struct EngineSource<E>(E);

impl<E: Engine> EngineSource<E> {
    /// Reads `engine` as a source.
    pub const fn new(engine: E) -> Self {
        Self(engine)
    }

    /// The engine.
    pub const fn engine(&self) -> &E {
        &self.0
    }
}

impl<E: Engine> Source for EngineSource<E> {
    fn kind(&self) -> &str {
        self.0.name()
    }

    fn spaces(&self) -> Vec<Space> {
        self.0.spaces()
    }

    fn space(&self, name: &str) -> Option<SpaceId> {
        self.0.space(name)
    }

    fn view(&self) -> Result<Box<dyn View>, SourceError> {
        Ok(Box::new(EngineView(self.0.snapshot()?)))
    }
}

/// An open store as a source: each view is the store at that moment, also while it is written to.
#[derive(Debug)]
pub struct StoreSource<E: Engine>(Arc<Store<E>>);

impl<E: Engine> StoreSource<E> {
    /// Reads `store` as a source.
    pub const fn new(store: Arc<Store<E>>) -> Self {
        Self(store)
    }
}

impl<E: Engine> Source for StoreSource<E> {
    fn kind(&self) -> &str {
        E::NAME
    }

    fn spaces(&self) -> Vec<Space> {
        self.0.engine().spaces()
    }

    fn space(&self, name: &str) -> Option<SpaceId> {
        self.0.engine().space(name)
    }

    fn view(&self) -> Result<Box<dyn View>, SourceError> {
        Ok(Box::new(EngineView(self.0.engine().snapshot()?)))
    }
}

#[derive(Debug)]
struct EngineView<S>(S);

impl<S: Snapshot> View for EngineView<S> {
    fn get(&self, space: SpaceId, key: &[u8]) -> Result<Option<Vec<u8>>, SourceError> {
        Ok(self.0.get_with(space, key, <[u8]>::to_vec)?)
    }

    fn walk(
        &self,
        space: SpaceId,
        range: KeyRange<'_>,
        direction: Direction,
    ) -> Result<Box<dyn Walk>, SourceError> {
        Ok(Box::new(EngineWalk::<S> { rows: self.0.range(space, range)?, direction, row: None }))
    }
}

struct EngineWalk<S: Snapshot> {
    rows: S::Range,
    direction: Direction,
    row: Option<(S::Bytes, S::Bytes)>,
}

impl<S: Snapshot> Walk for EngineWalk<S> {
    fn next(&mut self) -> Result<Option<RowRef<'_>>, SourceError> {
        let row = match self.direction {
            Direction::Ascending => self.rows.next(),
            Direction::Descending => self.rows.next_back(),
        };
        self.row = row.transpose()?;
        Ok(self.row.as_ref().map(|(key, value)| RowRef { key, value }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Batch, Durability, Memory};

    #[test]
    fn an_engine_is_walked_in_both_directions() {
        let mut engine = Memory::new();
        let space = engine.create_space(&Space::map("a")).expect("made");
        let mut batch = Batch::new();
        for key in 1_u8..=3 {
            batch.put(space, vec![key], vec![key, key]);
        }
        engine.commit(batch, Durability::Buffer).expect("committed");
        let source: Box<dyn Source> = Box::new(EngineSource::new(engine));
        assert_eq!(source.space("a"), Some(space));
        let view = source.view().expect("opened");
        assert_eq!(view.get(space, &[2]).expect("read"), Some(vec![2, 2]));
        for (direction, expected) in [(Direction::Ascending, [2, 3]), (Direction::Descending, [3, 2])] {
            let mut walk = view.walk(space, KeyRange::from(&[2]), direction).expect("opened");
            for key in expected {
                let row = walk.next().expect("read").expect("a row");
                assert_eq!((row.key, row.value), (&[key][..], &[key, key][..]));
            }
            assert_eq!(walk.next().expect("read"), None);
        }
    }
}
