use std::borrow::Borrow;
use std::fmt;
use std::ops::{Bound, ControlFlow, Deref};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};
use std::time::Duration;

use redb::{
    AccessGuard, Database, MultimapTableDefinition, MultimapTableHandle as _, ReadOnlyMultimapTable,
    ReadOnlyTable, ReadTransaction, ReadableDatabase as _, ReadableTableMetadata as _, StorageError,
    TableDefinition, TableHandle as _, WriteTransaction,
};

use super::ages::{Ages, Ticket};
use super::{
    Action, Batch, Capabilities, Durability, Engine, Error, KeyRange, MultimapEngine, MultimapSnapshot,
    Operation, RowRange, Setting, Snapshot, Space, SpaceId, SpaceKind, Statistics, Survives, machine_memory,
};
use crate::page::Direction;

const MIB: u64 = 1024 * 1024;

/// How a [`Redb`] database is set up.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RedbSettings {
    /// Bytes of pages kept in memory. The default is a sixteenth of the machine's memory, at least 64 MiB and at most
    /// 1 GiB; 256 MiB where the system does not tell.
    pub cache_bytes: u64,
    /// Commits with [`Durability::Buffer`] after which one is made durable all the same, so that pages can be given
    /// back.
    pub sync_after: u32,
    /// Whether opening checks the checksum of every page, which reads all of the file.
    ///
    /// Reads do not check them: without this, a flipped bit inside a page gives wrong data.
    pub verify_on_open: bool,
    /// The age at which snapshots end, if they do: an old snapshot keeps old pages.
    pub snapshot_age: Option<Duration>,
    /// The most bytes of keys and values in one batch.
    pub batch_bytes: u64,
}

impl Default for RedbSettings {
    fn default() -> Self {
        let cache_bytes =
            machine_memory().map_or(256 * MIB, |memory| (memory / 16).clamp(64 * MIB, 1024 * MIB));
        Self {
            cache_bytes,
            sync_after: 64,
            verify_on_open: false,
            snapshot_age: None,
            batch_bytes: 512 * MIB,
        }
    }
}

/// An embedded engine of copy-on-write trees in one file. It opens at once, and has spaces in which a key has several
/// values.
///
/// A commit with [`Durability::Buffer`] is visible at once, but if the process ends before a later commit is durable
/// the database is found at the last durable one.
pub struct Redb {
    database: RwLock<Option<Database>>,
    spaces: Arc<Vec<Space>>,
    directory: PathBuf,
    settings: RedbSettings,
    ages: Ages,
    closed: AtomicBool,
    buffered: AtomicU32,
}

/// The file inside the directory of a database.
const FILE: &str = "keyplan.redb";

type Definition<'n> = TableDefinition<'n, &'static [u8], &'static [u8]>;
type MultimapDefinition<'n> = MultimapTableDefinition<'n, &'static [u8], &'static [u8]>;

impl Redb {
    /// Opens the database in a directory, and makes it if there is none.
    pub fn open(directory: impl AsRef<Path>, settings: RedbSettings) -> Result<Self, Error> {
        let directory = directory.as_ref();
        std::fs::create_dir_all(directory).map_err(Error::io("making the directory"))?;
        Self::open_file(&directory.join(FILE), directory, settings)
    }

    /// Opens the database in a directory, and makes none.
    pub fn open_existing(directory: impl AsRef<Path>, settings: RedbSettings) -> Result<Self, Error> {
        let directory = directory.as_ref();
        if Self::exists(directory) {
            Self::open(directory, settings)
        } else {
            Err(Error::NotFound { path: directory.to_owned() })
        }
    }

    /// Opens a database file that may have been made by another program. Its tables must hold plain bytes.
    pub fn open_foreign(file: impl AsRef<Path>, settings: RedbSettings) -> Result<Self, Error> {
        let file = file.as_ref();
        if !file.is_file() {
            return Err(Error::NotFound { path: file.to_owned() });
        }
        Self::open_file(file, file.parent().unwrap_or(Path::new(".")), settings)
    }

    /// Whether there is a database of this engine in a directory.
    pub fn exists(directory: impl AsRef<Path>) -> bool {
        directory.as_ref().join(FILE).is_file()
    }

    fn open_file(file: &Path, directory: &Path, settings: RedbSettings) -> Result<Self, Error> {
        let cache = usize::try_from(settings.cache_bytes).unwrap_or(usize::MAX);
        let mut database = guarded(|| {
            let opened = Database::builder().set_cache_size(cache).create(file);
            opened.map_err(|error| opening(error, directory))
        })?;
        if settings.verify_on_open {
            check_integrity(&mut database)?;
        }
        let spaces = guarded(|| {
            let read = database.begin_read().map_err(translated)?;
            let maps = read.list_tables().map_err(translated)?.map(|table| Space::map(table.name()));
            let mut spaces: Vec<Space> = maps.collect();
            let multimaps = read.list_multimap_tables().map_err(translated)?;
            spaces.extend(multimaps.map(|table| Space::multimap(table.name())));
            spaces.sort_by(|a, b| a.name.cmp(&b.name));
            Ok(spaces)
        })?;
        Ok(Self {
            database: RwLock::new(Some(database)),
            spaces: Arc::new(spaces),
            directory: directory.to_owned(),
            settings,
            ages: Ages::default(),
            closed: AtomicBool::new(false),
            buffered: AtomicU32::new(0),
        })
    }

    fn with<T>(&self, call: impl FnOnce(&Database) -> Result<T, Error>) -> Result<T, Error> {
        let database = self.database.read().unwrap_or_else(PoisonError::into_inner);
        let database = database.as_ref().ok_or(Error::Closed)?;
        guarded(|| call(database))
    }

    fn writable(&self) -> Result<(), Error> {
        if self.closed.load(Ordering::Acquire) { Err(Error::Closed) } else { Ok(()) }
    }

    fn apply(
        &self,
        write: &WriteTransaction,
        operations: impl Iterator<Item = Operation<RedbBuffer>>,
    ) -> Result<(), Error> {
        let mut operations = operations.peekable();
        while let Some(first) = operations.peek() {
            let id = first.space;
            let space = self.spaces.get(id.index()).ok_or(Error::NoSpace { number: id.0 })?;
            let run = std::iter::from_fn(|| operations.next_if(|operation| operation.space == id));
            match space.kind {
                SpaceKind::Map => {
                    let mut table = write.open_table(Definition::new(&space.name)).map_err(translated)?;
                    for operation in run {
                        match operation.action {
                            Action::Put(value) => {
                                table.insert(&*operation.key, &*value).map_err(translated)?;
                            }
                            Action::Delete => {
                                table.remove(&*operation.key).map_err(translated)?;
                            }
                            _ => return Err(kind(space, SpaceKind::Multimap)),
                        }
                    }
                }
                SpaceKind::Multimap => {
                    let definition = MultimapDefinition::new(&space.name);
                    let mut table = write.open_multimap_table(definition).map_err(translated)?;
                    for operation in run {
                        match operation.action {
                            Action::AddValue(value) => {
                                table.insert(&*operation.key, &*value).map_err(translated)?;
                            }
                            Action::RemoveValue(value) => {
                                table.remove(&*operation.key, &*value).map_err(translated)?;
                            }
                            Action::Delete => {
                                table.remove_all(&*operation.key).map_err(translated)?;
                            }
                            Action::Put(_) => return Err(kind(space, SpaceKind::Map)),
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

impl Engine for Redb {
    type Buffer = RedbBuffer;
    type Snapshot = RedbSnapshot;

    const NAME: &'static str = "redb";

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            key_bytes: Some(256 * MIB),
            value_bytes: Some(1024 * MIB),
            batch_operations: None,
            batch_bytes: Some(self.settings.batch_bytes),
            snapshot_age: self.settings.snapshot_age,
            empty_keys: true,
            multimap: true,
            atomic_across_spaces: true,
            buffer: Survives::Nothing,
            sync: Survives::Power,
        }
    }

    fn spaces(&self) -> Vec<Space> {
        self.spaces.to_vec()
    }

    fn create_space(&mut self, space: &Space) -> Result<SpaceId, Error> {
        if space.name.is_empty() {
            return Err(Error::SpaceName { name: space.name.clone() });
        }
        if let Some(id) = self.space(&space.name) {
            let found = self.spaces.get(id.index()).ok_or(Error::NoSpace { number: id.0 })?;
            return if found.kind == space.kind { Ok(id) } else { Err(kind(found, space.kind)) };
        }
        self.with(|database| {
            let write = database.begin_write().map_err(translated)?;
            match space.kind {
                SpaceKind::Map => drop(write.open_table(Definition::new(&space.name)).map_err(translated)?),
                SpaceKind::Multimap => {
                    drop(
                        write
                            .open_multimap_table(MultimapDefinition::new(&space.name))
                            .map_err(translated)?,
                    );
                }
            }
            write.commit().map_err(translated)
        })?;
        Arc::make_mut(&mut self.spaces).push(space.clone());
        self.space(&space.name).ok_or_else(|| Error::SpaceName { name: space.name.clone() })
    }

    fn snapshot(&self) -> Result<RedbSnapshot, Error> {
        let transaction = self.with(|database| database.begin_read().map_err(translated))?;
        let ticket = self.ages.open(self.settings.snapshot_age);
        let tables = self.spaces.iter().map(|_| OnceLock::new()).collect();
        let spaces = self.spaces.clone();
        Ok(RedbSnapshot(Arc::new(Inner { transaction: Mutex::new(transaction), spaces, tables, ticket })))
    }

    fn commit(&self, batch: Batch<Self>, durability: Durability) -> Result<(), Error> {
        self.writable()?;
        if batch.is_empty() && durability == Durability::Buffer {
            return Ok(());
        }
        batch.check(&self.capabilities())?;
        let operations = batch.into_sorted();
        let buffered = durability == Durability::Buffer
            && self.buffered.fetch_add(1, Ordering::Relaxed) < self.settings.sync_after;
        if !buffered {
            self.buffered.store(0, Ordering::Relaxed);
        }
        self.with(|database| {
            let mut write = database.begin_write().map_err(translated)?;
            let durability = if buffered { redb::Durability::None } else { redb::Durability::Immediate };
            write.set_durability(durability).map_err(translated)?;
            // An error drops the transaction, and with it everything that was applied.
            self.apply(&write, operations)?;
            write.commit().map_err(|error| match translated(error) {
                error @ Error::Io { .. } => Error::CommitUnknown { source: Box::new(error) },
                other => other,
            })
        })
    }

    fn sync(&self) -> Result<(), Error> {
        self.with(|database| {
            let mut write = database.begin_write().map_err(translated)?;
            write.set_durability(redb::Durability::Immediate).map_err(translated)?;
            write.commit().map_err(translated)
        })
    }

    fn checkpoint(&self, _: Duration) -> Result<(), Error> {
        self.sync()
    }

    /// Refused while a snapshot is open: the pages it reads cannot be moved.
    fn compact(&self) -> Result<(), Error> {
        let mut database = self.database.write().unwrap_or_else(PoisonError::into_inner);
        let database = database.as_mut().ok_or(Error::Closed)?;
        guarded(|| {
            loop {
                match database.compact() {
                    Ok(true) => {}
                    Ok(false) => return Ok(()),
                    Err(error) => return Err(translated(error)),
                }
            }
        })
    }

    fn shutdown(&self, _: Duration) -> Result<(), Error> {
        self.closed.store(true, Ordering::Release);
        self.sync()
    }

    /// Checks the checksum of every page. Reads do not: without this, damage inside a page is not seen.
    ///
    /// Refused while a snapshot is open.
    fn verify(&mut self) -> Result<(), Error> {
        let mut database = self.database.write().unwrap_or_else(PoisonError::into_inner);
        let database = database.as_mut().ok_or(Error::Closed)?;
        check_integrity(database)
    }

    fn statistics(&self) -> Statistics {
        let (open_snapshots, oldest_snapshot) = self.ages.oldest();
        let disk_bytes = std::fs::metadata(self.directory.join(FILE)).ok().map(|file| file.len());
        Statistics { disk_bytes, open_snapshots, oldest_snapshot, ..Statistics::default() }
    }

    fn settings(&self) -> Vec<Setting> {
        vec![
            Setting::per_open("cache_bytes", &self.settings.cache_bytes),
            Setting::per_open("sync_after", &self.settings.sync_after),
        ]
    }

    fn directory(&self) -> Option<&Path> {
        Some(&self.directory)
    }
}

impl MultimapEngine for Redb {}

impl Drop for Redb {
    /// Makes durable what was only visible. The engine has no threads of its own to wait for.
    fn drop(&mut self) {
        if self.buffered.load(Ordering::Relaxed) > 0 {
            // There is nobody left to tell; a caller who must know calls `shutdown`.
            let _ = self.sync();
        }
    }
}

impl fmt::Debug for Redb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redb")
            .field("directory", &self.directory)
            .field("spaces", &self.spaces)
            .finish_non_exhaustive()
    }
}

/// A point in time of a [`Redb`] database.
#[derive(Clone)]
pub struct RedbSnapshot(Arc<Inner>);

struct Inner {
    transaction: Mutex<ReadTransaction>,
    // Tables are opened when they are first read, and once.
    tables: Vec<OnceLock<Table>>,
    spaces: Arc<Vec<Space>>,
    ticket: Ticket,
}

enum Table {
    Map(ReadOnlyTable<&'static [u8], &'static [u8]>),
    Multimap(ReadOnlyMultimapTable<&'static [u8], &'static [u8]>),
}

impl RedbSnapshot {
    fn table(&self, id: SpaceId) -> Result<(&Space, &Table), Error> {
        self.0.ticket.check()?;
        let index = id.index();
        let found = self.0.spaces.get(index).zip(self.0.tables.get(index));
        let (space, table) = found.ok_or_else(|| Error::NoSpace { number: id.0 })?;
        if let Some(table) = table.get() {
            return Ok((space, table));
        }
        let opened = guarded(|| {
            let transaction = self.0.transaction.lock().unwrap_or_else(PoisonError::into_inner);
            Ok(match space.kind {
                SpaceKind::Map => {
                    Table::Map(transaction.open_table(Definition::new(&space.name)).map_err(translated)?)
                }
                SpaceKind::Multimap => {
                    let definition = MultimapDefinition::new(&space.name);
                    Table::Multimap(transaction.open_multimap_table(definition).map_err(translated)?)
                }
            })
        })?;
        Ok((space, table.get_or_init(|| opened)))
    }

    #[inline]
    fn map(&self, id: SpaceId) -> Result<&ReadOnlyTable<&'static [u8], &'static [u8]>, Error> {
        // Mostly it is open already.
        if let Some(Table::Map(table)) = self.0.tables.get(id.index()).and_then(OnceLock::get) {
            self.0.ticket.check()?;
            return Ok(table);
        }
        self.first_map(id)
    }

    #[cold]
    fn first_map(&self, id: SpaceId) -> Result<&ReadOnlyTable<&'static [u8], &'static [u8]>, Error> {
        match self.table(id)? {
            (_, Table::Map(table)) => Ok(table),
            (space, Table::Multimap(_)) => Err(kind(space, SpaceKind::Map)),
        }
    }

    fn multimap(&self, id: SpaceId) -> Result<&ReadOnlyMultimapTable<&'static [u8], &'static [u8]>, Error> {
        match self.table(id)? {
            (_, Table::Multimap(table)) => Ok(table),
            (space, Table::Map(_)) => Err(kind(space, SpaceKind::Multimap)),
        }
    }

    /// How many rows a space has.
    pub fn len(&self, id: SpaceId) -> Result<u64, Error> {
        match self.table(id)?.1 {
            Table::Map(table) => table.len().map_err(translated),
            Table::Multimap(table) => table.len().map_err(translated),
        }
    }
}

impl Snapshot for RedbSnapshot {
    type Bytes = RedbBytes;
    type Range = RedbRange;

    #[inline]
    fn get(&self, space: SpaceId, key: &[u8]) -> Result<Option<RedbBytes>, Error> {
        let table = self.map(space)?;
        let mut found = Ok(None);
        guarded(|| {
            found = table.get(key);
            Ok(())
        })?;
        match found {
            Ok(value) => Ok(value.map(RedbBytes)),
            Err(error) => Err(translated(error)),
        }
    }

    fn range(&self, space: SpaceId, range: KeyRange<'_>) -> Result<RedbRange, Error> {
        let table = self.map(space)?;
        let rows = if range.is_empty() {
            None
        } else {
            let bounds: (Bound<&[u8]>, Bound<&[u8]>) = (range.start, range.end);
            Some(guarded(|| table.range::<&[u8]>(bounds).map_err(translated))?)
        };
        Ok(RedbRange(Lazy { inner: rows }, self.clone()))
    }

    fn age(&self) -> Duration {
        self.0.ticket.age()
    }
}

impl MultimapSnapshot for RedbSnapshot {
    type Values = RedbValues;
    type ValueRange = RedbValueRange;

    fn iter_values(&self, space: SpaceId, key: &[u8]) -> Result<RedbValues, Error> {
        let table = self.multimap(space)?;
        let values = guarded(|| table.get(key).map_err(translated))?;
        Ok(RedbValues(Lazy { inner: Some(values) }, self.clone()))
    }

    fn iter_multi(&self, space: SpaceId, range: KeyRange<'_>) -> Result<RedbValueRange, Error> {
        let table = self.multimap(space)?;
        let rows = if range.is_empty() {
            None
        } else {
            let bounds: (Bound<&[u8]>, Bound<&[u8]>) = (range.start, range.end);
            Some(guarded(|| table.range::<&[u8]>(bounds).map_err(translated))?)
        };
        Ok(RedbValueRange(Lazy { inner: rows }, self.clone()))
    }
}

impl fmt::Debug for RedbSnapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedbSnapshot").field("age", &self.age()).finish_non_exhaustive()
    }
}

/// An iterator of the engine; `None` once it has ended or failed.
struct Lazy<I> {
    inner: Option<I>,
}

impl<I, T> Lazy<I>
where
    I: DoubleEndedIterator<Item = Result<T, StorageError>>,
{
    #[inline]
    fn step<U>(
        &mut self,
        step: impl FnOnce(&mut I) -> Option<I::Item>,
        map: impl FnOnce(T) -> U,
    ) -> Option<Result<U, Error>> {
        let inner = self.inner.as_mut()?;
        // Left where the engine puts it: a row is large, and would be moved with every result that it is wrapped in.
        let mut row = None;
        let ended = guarded(|| {
            row = step(inner);
            Ok(())
        });
        if let Err(panicked) = ended {
            return self.end(Some(panicked));
        }
        match row {
            Some(Ok(row)) => Some(Ok(map(row))),
            Some(Err(error)) => self.end(Some(translated(error))),
            None => self.end(None),
        }
    }

    /// Nothing comes after the last row, nor after an error.
    #[cold]
    fn end<U>(&mut self, error: Option<Error>) -> Option<Result<U, Error>> {
        self.inner = None;
        error.map(Err)
    }
}

/// Rows of a [`RedbSnapshot`].
pub struct RedbRange(Lazy<redb::Range<'static, &'static [u8], &'static [u8]>>, RedbSnapshot);

/// The values of one key of a [`RedbSnapshot`].
pub struct RedbValues(Lazy<redb::MultimapValue<'static, &'static [u8]>>, RedbSnapshot);

/// Keys of a [`RedbSnapshot`], each with its values.
pub struct RedbValueRange(Lazy<redb::MultimapRange<'static, &'static [u8], &'static [u8]>>, RedbSnapshot);

macro_rules! rows {
    ($name:ident, $item:ty, |$row:ident, $snapshot:ident| $map:expr) => {
        impl Iterator for $name {
            type Item = Result<$item, Error>;

            #[inline]
            fn next(&mut self) -> Option<Self::Item> {
                let $snapshot = &self.1;
                self.0.step(Iterator::next, |$row| $map)
            }
        }

        impl DoubleEndedIterator for $name {
            #[inline]
            fn next_back(&mut self) -> Option<Self::Item> {
                let $snapshot = &self.1;
                self.0.step(DoubleEndedIterator::next_back, |$row| $map)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_tuple(stringify!($name)).field(&self.1).finish()
            }
        }
    };
}

rows!(RedbRange, (RedbBytes, RedbBytes), |row, _snapshot| (RedbBytes(row.0), RedbBytes(row.1)));
rows!(RedbValues, RedbBytes, |row, _snapshot| RedbBytes(row));
rows!(RedbValueRange, (RedbBytes, RedbValues), |row, snapshot| {
    (RedbBytes(row.0), RedbValues(Lazy { inner: Some(row.1) }, snapshot.clone()))
});

impl RowRange for RedbRange {
    type Bytes = RedbBytes;

    #[inline]
    fn visit<T>(
        &mut self,
        direction: Direction,
        each: impl FnMut(&[u8], &[u8]) -> ControlFlow<T>,
    ) -> Result<ControlFlow<T>, Error> {
        let Some(rows) = &mut self.0.inner else { return Ok(ControlFlow::Continue(())) };
        let visited = match direction {
            Direction::Ascending => lend(rows, Iterator::next, each),
            Direction::Descending => lend(rows, DoubleEndedIterator::next_back, each),
        };
        // Nothing comes after the last row, nor after an error.
        if !matches!(visited, Ok(ControlFlow::Break(_))) {
            self.0.inner = None;
        }
        visited
    }
}

type Rows = redb::Range<'static, &'static [u8], &'static [u8]>;
type Row = Result<(AccessGuard<'static, &'static [u8]>, AccessGuard<'static, &'static [u8]>), StorageError>;

/// Lends rows to `each` until it breaks off.
#[inline]
fn lend<T>(
    rows: &mut Rows,
    step: impl Fn(&mut Rows) -> Option<Row>,
    mut each: impl FnMut(&[u8], &[u8]) -> ControlFlow<T>,
) -> Result<ControlFlow<T>, Error> {
    // One guard for all rows instead of one for each. A panic of `each` itself is not the engine's, and goes on.
    let mut lent = false;
    let visited = catch_unwind(AssertUnwindSafe(|| {
        while let Some(row) = step(rows) {
            let (key, value) = match row {
                Ok(row) => row,
                Err(error) => return Err(translated(error)),
            };
            lent = true;
            let flow = each(key.value(), value.value());
            lent = false;
            if let ControlFlow::Break(end) = flow {
                return Ok(ControlFlow::Break(end));
            }
        }
        Ok(ControlFlow::Continue(()))
    }));
    match visited {
        Err(panic) if lent => resume_unwind(panic),
        Err(panic) => Err(panicked(panic.as_ref())),
        Ok(visited) => visited,
    }
}

/// Bytes inside a page of a [`RedbSnapshot`].
pub struct RedbBytes(AccessGuard<'static, &'static [u8]>);

impl Deref for RedbBytes {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        self.0.value()
    }
}

impl AsRef<[u8]> for RedbBytes {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl fmt::Debug for RedbBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RedbBytes").field(&&**self).finish()
    }
}

/// Shared bytes on their way into a [`Redb`] database.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RedbBuffer(Arc<[u8]>);

impl Deref for RedbBuffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl AsRef<[u8]> for RedbBuffer {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Borrow<[u8]> for RedbBuffer {
    fn borrow(&self) -> &[u8] {
        &self.0
    }
}

impl super::Buffer for RedbBuffer {}

impl From<&[u8]> for RedbBuffer {
    fn from(bytes: &[u8]) -> Self {
        Self(bytes.into())
    }
}

impl From<Vec<u8>> for RedbBuffer {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes.into())
    }
}

/// Runs a call of the engine. It asserts what it expects of its own file, and panics on a damaged one; that ends here.
#[inline]
fn guarded<T>(call: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|panic| Err(panicked(panic.as_ref())))
}

#[cold]
fn panicked(panic: &(dyn std::any::Any + Send)) -> Error {
    let message = panic.downcast_ref::<String>().cloned();
    let message =
        message.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string)).unwrap_or_default();
    Error::corrupt(format!("the engine met what it does not expect: {message}"))
}

fn check_integrity(database: &mut Database) -> Result<(), Error> {
    guarded(|| match database.check_integrity() {
        Ok(true) => Ok(()),
        Ok(false) => {
            Err(Error::corrupt("a checksum did not match, and the file was put back to an earlier commit"))
        }
        Err(error) => Err(opening(error, Path::new(""))),
    })
}

#[cold]
fn kind(space: &Space, expected: SpaceKind) -> Error {
    Error::SpaceKind { space: space.name.clone(), expected: expected.word(), found: space.kind.word() }
}

#[cold]
fn opening(error: redb::DatabaseError, path: &Path) -> Error {
    match error {
        redb::DatabaseError::DatabaseAlreadyOpen => Error::AlreadyOpen { path: path.to_owned() },
        redb::DatabaseError::UpgradeRequired(version) => Error::Format { what: format!("version {version}") },
        other => translated(other),
    }
}

#[cold]
fn translated(error: impl Into<redb::Error>) -> Error {
    match error.into() {
        redb::Error::Io(source)
            if matches!(
                source.kind(),
                std::io::ErrorKind::InvalidData | std::io::ErrorKind::UnexpectedEof
            ) =>
        {
            Error::Corrupt {
                what: "a file is shorter or other than it says".into(),
                source: Some(Box::new(source)),
            }
        }
        redb::Error::Io(source) => Error::Io { doing: "reading or writing the database", source },
        redb::Error::PreviousIo | redb::Error::LockPoisoned(_) => Error::Poisoned,
        redb::Error::DatabaseClosed => Error::Closed,
        redb::Error::Corrupted(what) => Error::corrupt(what),
        redb::Error::TableIsMultimap(space) => {
            Error::SpaceKind { space, expected: SpaceKind::Map.word(), found: SpaceKind::Multimap.word() }
        }
        redb::Error::TableIsNotMultimap(space) => {
            Error::SpaceKind { space, expected: SpaceKind::Multimap.word(), found: SpaceKind::Map.word() }
        }
        other => Error::Engine { source: Box::new(other) },
    }
}
