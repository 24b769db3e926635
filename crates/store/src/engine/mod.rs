//! What a store is on: named spaces of ordered bytes, snapshots over all of them, and atomic batches.
//!
//! [`Engine`] is small and synchronous, so that a database in this process and one after a network both fit: nothing
//! that it returns borrows from it, and its errors say what a caller of a remote one must know. What an engine cannot do
//! is in its [`Capabilities`] and is refused by name; nothing is imitated.

mod ages;
mod batch;
mod capabilities;
mod error;
mod expectation;
#[cfg(feature = "fjall")]
mod fjall;
pub mod kit;
#[cfg(feature = "lmdb")]
mod lmdb;
mod memory;
mod range;
#[cfg(feature = "redb")]
mod redb;
mod row_range;
mod settings;
mod shared_bytes;

use std::fmt::Debug;
use std::ops::Deref;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

pub use batch::{Action, Batch, Operation};
pub use capabilities::{Capabilities, Statistics, Survives, Writers};
pub(crate) use error::Cause;
pub use error::{Error, TooLarge};
pub use expectation::{Expectation, Expected, RowsDigest, ValueDigest};
#[cfg(feature = "fjall")]
pub use fjall::{DamagedJournal, Fjall, FjallBytes, FjallRange, FjallSettings, FjallSnapshot};
#[cfg(feature = "lmdb")]
pub use lmdb::{
    Lmdb, LmdbBuffer, LmdbBytes, LmdbRange, LmdbSettings, LmdbSnapshot, LmdbValueRange, LmdbValues,
};
pub use memory::{Memory, MemoryRange, MemorySnapshot};
pub use range::{KeyRange, OwnedKeyRange};
#[cfg(feature = "redb")]
pub use redb::{Redb, RedbBytes, RedbRange, RedbSettings, RedbSnapshot, RedbValueRange, RedbValues};
pub use row_range::RowRange;
pub(crate) use settings::cache_bytes as default_memory;
pub use settings::{Setting, machine_memory};
pub use shared_bytes::SharedBytes;

/// An ordered key-value engine with named spaces.
pub trait Engine: Debug + Send + Sync + Sized + 'static {
    /// An owned byte string as the engine keeps it: what a batch is filled with.
    type Buffer: Buffer;
    /// A point in time over all spaces.
    type Snapshot: Snapshot;

    /// The name that databases are marked with.
    const NAME: &'static str;

    /// The name that this database is marked with: of the engine below, where one stands for several.
    fn name(&self) -> &'static str {
        Self::NAME
    }

    /// What this engine can do, and its limits.
    fn capabilities(&self) -> Capabilities;

    /// The spaces that exist, in the order of their [`SpaceId`]s; those that other handles made are among them.
    fn spaces(&self) -> Vec<Space>;

    /// Opens a space, and makes it if it does not exist.
    ///
    /// Refused if the space exists and is of another kind, or if the engine has no such kind.
    fn create_space(&mut self, space: &Space) -> Result<SpaceId, Error>;

    /// Opens a snapshot: it sees every batch committed before, whole, and none committed later.
    fn snapshot(&self) -> Result<Self::Snapshot, Error>;

    /// Applies a batch as one step and returns when it is visible, and as durable as asked for.
    ///
    /// A batch over a limit is refused and leaves nothing behind; it is never split.
    fn commit(&self, batch: Batch<Self>, durability: Durability) -> Result<(), Error>;

    /// Told before a batch of about so many bytes is committed that a snapshot will be open meanwhile. For engines that can
    /// make room only while there is none.
    fn make_room(&self, _bytes: u64) {}

    /// Makes everything committed so far durable.
    fn sync(&self) -> Result<(), Error>;

    /// Moves everything committed so far to where opening again finds it at once, within `limit`.
    fn checkpoint(&self, limit: Duration) -> Result<(), Error>;

    /// Rewrites all spaces without what was overwritten or deleted. Takes as long as it takes.
    fn compact(&self) -> Result<(), Error>;

    /// Makes everything durable, checkpoints, and refuses every later commit. Ends after about `limit` in any case.
    ///
    /// If the time runs out the error says so; what was committed is durable all the same, and the next opening is
    /// slower. Other processes can open the database once this handle and all its snapshots are dropped.
    fn shutdown(&self, limit: Duration) -> Result<(), Error>;

    /// Fills a space with rows in ascending order, as cheaply as the engine can, and returns how many there were.
    ///
    /// This is not one step with anything else, and is not promised to be one step at all: if it fails, rows may stay.
    /// Write what says that the rows are there, such as a cursor, afterwards.
    fn ingest<I>(&self, space: SpaceId, rows: I) -> Result<u64, Error>
    where
        I: IntoIterator<Item = Result<(Self::Buffer, Self::Buffer), Error>>,
    {
        let mut last: Option<Self::Buffer> = None;
        let mut batch = Batch::new();
        let mut count = 0_u64;
        for row in rows {
            let (key, value) = row?;
            if last.as_ref().is_some_and(|last| *last >= key) {
                return Err(unsorted(&key));
            }
            last = Some(key.clone());
            batch.put(space, key, value);
            count += 1;
            if batch.len() >= INGESTED_AT_ONCE || batch.bytes() >= INGESTED_BYTES {
                self.commit(std::mem::take(&mut batch), Durability::Buffer)?;
            }
        }
        self.commit(batch, Durability::SyncAll)?;
        Ok(count)
    }

    /// Reads everything, and checks what the engine has to check it with. Takes as long as it takes.
    fn verify(&mut self) -> Result<(), Error> {
        let snapshot = self.snapshot()?;
        for space in self.spaces().iter().filter(|space| space.kind == SpaceKind::Map) {
            if let Some(id) = self.space(&space.name) {
                snapshot.range(id, KeyRange::ALL)?.try_for_each(|row| row.map(drop))?;
            }
        }
        Ok(())
    }

    /// Figures of the running engine.
    fn statistics(&self) -> Statistics;

    /// The settings in force, for the record in the database.
    fn settings(&self) -> Vec<Setting>;

    /// The directory that the engine keeps its files in, if it has one.
    fn directory(&self) -> Option<&Path> {
        None
    }

    /// Opens a database of the same engine with the same settings in another directory, and makes it if there is none: what
    /// a backup is written to. Refused by engines without files.
    fn beside(&self, _directory: &Path) -> Result<Self, Error> {
        Err(Error::Unsupported { engine: Self::NAME, what: "backup to a directory" })
    }

    /// Makes the keys of a space of another database, each with its values, those of a snapshot of this one. Refused by
    /// engines in which no key has several values.
    fn copy_multimap(
        &self,
        _from: &Self::Snapshot,
        _space: SpaceId,
        _to: &Self,
        _into: SpaceId,
    ) -> Result<u64, Error> {
        Err(Error::Unsupported { engine: Self::NAME, what: "spaces with several values for a key" })
    }

    /// The number of the first space; the others follow it.
    ///
    /// Engines of this crate take another for each database that is opened, so that a space of one is none of another.
    fn first_space(&self) -> u32 {
        0
    }

    /// Finds a space by name.
    fn space(&self, name: &str) -> Option<SpaceId> {
        let found = self.spaces().iter().position(|space| space.name == name)?;
        u32::try_from(found).ok().map(|found| SpaceId(self.first_space().wrapping_add(found)))
    }
}

/// How many rows, and how many bytes, one batch of an ingestion holds.
const INGESTED_AT_ONCE: usize = 16 * 1024;
const INGESTED_BYTES: u64 = 16 * 1024 * 1024;

/// Makes the keys of a space, each with its values, those of a snapshot; returns how many keys there are.
#[cfg(any(feature = "redb", feature = "lmdb"))]
pub(crate) fn copy_values<E: MultimapEngine>(
    from: &E::Snapshot,
    space: SpaceId,
    to: &E,
    into: SpaceId,
) -> Result<u64, Error> {
    let mut batch = Batch::<E>::new();
    let committed = |batch: &mut Batch<E>, least: usize| -> Result<(), Error> {
        if batch.len() > least || batch.bytes() >= INGESTED_BYTES {
            to.commit(std::mem::take(batch), Durability::Buffer)?;
        }
        Ok(())
    };
    for row in to.snapshot()?.iter_multi(into, KeyRange::ALL)? {
        batch.delete(into, &row?.0[..]);
        committed(&mut batch, INGESTED_AT_ONCE)?;
    }
    committed(&mut batch, 0)?;
    let mut count = 0;
    for row in from.iter_multi(space, KeyRange::ALL)? {
        let (key, values) = row?;
        for value in values {
            batch.put_multi(into, &key[..], &value?[..]);
            committed(&mut batch, INGESTED_AT_ONCE)?;
        }
        count += 1;
    }
    committed(&mut batch, 0)?;
    Ok(count)
}

/// The refusal of a row that does not come after the one before it.
#[cold]
pub(crate) fn unsorted(key: &[u8]) -> Error {
    use std::fmt::Write as _;
    let mut text = String::new();
    for byte in key {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
    }
    Error::Unsorted { key: text }
}

/// A point in time over all spaces. Clones are cheap and see the same.
///
/// A snapshot keeps old versions from being given back: hold it no longer than the reads it is for.
pub trait Snapshot: Clone + Debug + Send + Sync + 'static {
    /// A key or a value, without a copy where the engine can.
    type Bytes: Bytes;
    /// Rows in the order of their keys, from either end. It keeps its snapshot alive and is not tied to it.
    type Range: RowRange<Bytes = Self::Bytes> + Debug + Send + 'static;

    /// Reads the value of a key.
    fn get(&self, space: SpaceId, key: &[u8]) -> Result<Option<Self::Bytes>, Error>;

    /// Lends the value of a key to `with`, if there is one, and returns what `with` makes of it.
    ///
    /// Nothing is copied that is only looked at. `with` may read the same snapshot. It must not wait for another thread that
    /// does: an engine may keep others out meanwhile.
    #[inline]
    fn get_with<T>(
        &self,
        space: SpaceId,
        key: &[u8],
        with: impl FnOnce(&[u8]) -> T,
    ) -> Result<Option<T>, Error> {
        Ok(self.get(space, key)?.map(|value| with(&value)))
    }

    /// Iterates over the rows of a range, lazily. An inverted range is empty.
    ///
    /// The first error ends the iteration: no row is left out in silence.
    fn range(&self, space: SpaceId, range: KeyRange<'_>) -> Result<Self::Range, Error>;

    /// How long ago the snapshot was opened.
    fn age(&self) -> Duration;

    /// Whether a key exists.
    fn contains(&self, space: SpaceId, key: &[u8]) -> Result<bool, Error> {
        self.get(space, key).map(|value| value.is_some())
    }

    /// Reads several keys: one slot for each, in the order given.
    fn multi_get<K: AsRef<[u8]>>(
        &self,
        space: SpaceId,
        keys: &[K],
    ) -> Result<Vec<Option<Self::Bytes>>, Error> {
        // Collecting results would not know how many there will be.
        let mut found = Vec::with_capacity(keys.len());
        for key in keys {
            found.push(self.get(space, key.as_ref())?);
        }
        Ok(found)
    }

    /// Iterates over the rows whose keys begin with `prefix`.
    fn prefix(&self, space: SpaceId, prefix: &[u8]) -> Result<Self::Range, Error> {
        self.range(space, OwnedKeyRange::prefix(prefix).borrow())
    }
}

/// An engine with spaces in which a key has several values.
pub trait MultimapEngine: Engine<Snapshot: MultimapSnapshot> {}

/// Reads of spaces in which a key has several values.
pub trait MultimapSnapshot: Snapshot {
    /// The values of one key, ascending, from either end.
    type Values: DoubleEndedIterator<Item = Result<Self::Bytes, Error>> + Send + 'static;
    /// Keys in order, each with its values.
    type ValueRange: DoubleEndedIterator<Item = Result<(Self::Bytes, Self::Values), Error>> + Send + 'static;

    /// Iterates over the values of a key; over nothing if there is no such key.
    fn iter_values(&self, space: SpaceId, key: &[u8]) -> Result<Self::Values, Error>;

    /// Iterates over the keys of a range with their values.
    fn iter_multi(&self, space: SpaceId, range: KeyRange<'_>) -> Result<Self::ValueRange, Error>;
}

/// Bytes that a snapshot gave out.
pub trait Bytes: Deref<Target = [u8]> + AsRef<[u8]> + Debug + Send + Sync + 'static {}

impl<T: Deref<Target = [u8]> + AsRef<[u8]> + Debug + Send + Sync + 'static> Bytes for T {}

/// Bytes that an engine takes in. They order and compare as the bytes themselves do.
pub trait Buffer:
    Bytes + Clone + Ord + std::borrow::Borrow<[u8]> + From<Vec<u8>> + for<'a> From<&'a [u8]>
{
    /// Copies the key and the value of a row: together, where that is cheaper.
    fn row(key: &[u8], value: &[u8]) -> (Self, Self) {
        (key.into(), value.into())
    }
}

/// The number of a space in the engine that it was opened on. In another engine it is the number of no space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SpaceId(pub u32);

/// The numbers of one open database's spaces.
#[derive(Clone, Copy, Debug)]
pub struct Numbers(u32);

/// How many spaces a database may have before its numbers meet those of the next one.
const SPACES_EACH: u32 = 1 << 16;

impl Default for Numbers {
    fn default() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(SPACES_EACH);
        Self(NEXT.fetch_add(SPACES_EACH, Ordering::Relaxed))
    }
}

impl Numbers {
    /// The number of the first space.
    pub const fn first(self) -> u32 {
        self.0
    }

    /// The place of a space in the list of spaces; past its end for a space of another database.
    #[inline]
    pub fn index(self, space: SpaceId) -> usize {
        usize::try_from(space.0.wrapping_sub(self.0)).unwrap_or(usize::MAX)
    }
}

/// A named space of an engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Space {
    /// The name that the engine stores it under.
    pub name: String,
    /// How many values a key has in it.
    pub kind: SpaceKind,
    /// What it is set up for when it is made.
    pub usage: SpaceUsage,
}

impl Space {
    /// A space in which a key has one value.
    pub fn map(name: impl Into<String>) -> Self {
        Self { name: name.into(), kind: SpaceKind::Map, usage: SpaceUsage::Rows }
    }

    /// A space for hashes, sets and queues.
    pub fn structures(name: impl Into<String>) -> Self {
        Self { usage: SpaceUsage::Structures, ..Self::map(name) }
    }

    /// A space in which a key has several values.
    pub fn multimap(name: impl Into<String>) -> Self {
        Self { name: name.into(), kind: SpaceKind::Multimap, usage: SpaceUsage::Rows }
    }
}

/// What a space is set up for. Whatever it is, everything works in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SpaceUsage {
    /// Rows that are written in batches.
    #[default]
    Rows,
    /// Hashes, sets and queues: a few rows at a time, each looked for before it is written.
    Structures,
    /// Both in one space, where a row of one can have the key of the other. A store refuses it.
    Mixed,
}

/// How many values a key has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SpaceKind {
    /// One.
    #[default]
    Map,
    /// A set of them.
    Multimap,
}

impl SpaceKind {
    /// The word in messages and in the metadata.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Map => "map",
            Self::Multimap => "multimap",
        }
    }
}

/// What a commit waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Durability {
    /// Visible to every later snapshot. What it survives is [`Capabilities::buffer`].
    #[default]
    Buffer,
    /// Also on the disk, with what is needed to read it back.
    SyncData,
    /// Also on the disk, with all of the files' metadata.
    SyncAll,
}
