mod failure;
mod overlay;
mod rows;
mod settings;
mod snapshot;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use redb::{
    Builder, Database, DatabaseError, MultimapTableDefinition, MultimapTableHandle as _,
    ReadableDatabase as _, TableDefinition, TableHandle as _, WriteTransaction,
};

use self::failure::{check_integrity, guarded, kind, opening, translated};
use super::ages::Ages;
use super::{
    Action, Batch, Capabilities, Durability, Engine, Error, MultimapEngine, Numbers, Operation, Setting,
    SharedBytes, Space, SpaceId, SpaceKind, Statistics, Survives,
};

pub use rows::{RedbBytes, RedbRange, RedbValueRange, RedbValues};
pub use settings::RedbSettings;
pub use snapshot::RedbSnapshot;

/// An embedded engine of copy-on-write trees in one file, with spaces in which a key has several values.
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
    numbers: Numbers,
}

/// The file inside the directory of a database.
const FILE: &str = "keyplan.redb";

/// How often the lock is tried, and how long it is waited for between. A process that this one is about to start holds its files for a
/// moment.
const LOCK_TRIES: u32 = 10;
const LOCK_WAIT: Duration = Duration::from_millis(20);

type Definition<'n> = TableDefinition<'n, &'static [u8], &'static [u8]>;
type MultimapDefinition<'n> = MultimapTableDefinition<'n, &'static [u8], &'static [u8]>;

impl Redb {
    /// Opens the database in a directory, and makes it if there is none.
    pub fn open(directory: impl AsRef<Path>, settings: RedbSettings) -> Result<Self, Error> {
        let directory = directory.as_ref();
        #[cfg(feature = "fjall")]
        if super::Fjall::exists(directory) {
            return Err(Error::OtherEngine { path: directory.to_owned(), found: super::Fjall::NAME });
        }
        #[cfg(feature = "lmdb")]
        if super::Lmdb::exists(directory) {
            return Err(Error::OtherEngine { path: directory.to_owned(), found: super::Lmdb::NAME });
        }
        std::fs::create_dir_all(directory).map_err(Error::io("making the directory"))?;
        for _ in 1..LOCK_TRIES {
            match Self::open_file(&directory.join(FILE), directory, settings.clone()) {
                Err(Error::AlreadyOpen { .. }) => std::thread::sleep(LOCK_WAIT),
                decided => return decided,
            }
        }
        Self::open_file(&directory.join(FILE), directory, settings)
    }

    /// Opens the database in a directory for reading. Nothing is written, and others may read it meanwhile.
    ///
    /// What the engine would repair in the file it repairs in memory.
    pub fn open_read_only(directory: impl AsRef<Path>, settings: RedbSettings) -> Result<Self, Error> {
        let directory = directory.as_ref();
        if !Self::exists(directory) {
            return Err(Error::NotFound { path: directory.to_owned() });
        }
        Self::open_foreign_read_only(directory.join(FILE), settings)
    }

    /// Opens a database file for reading that may have been made by another program, and writes nothing.
    pub fn open_foreign_read_only(file: impl AsRef<Path>, settings: RedbSettings) -> Result<Self, Error> {
        let file = file.as_ref();
        if !file.is_file() {
            return Err(Error::NotFound { path: file.to_owned() });
        }
        let directory = file.parent().unwrap_or(Path::new("."));
        let overlay = overlay::Overlay::open(file, directory)?;
        let engine = Self::open_with(directory, settings, |builder| builder.create_with_backend(overlay))?;
        engine.closed.store(true, Ordering::Release);
        Ok(engine)
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
        let filled = std::fs::metadata(file).is_ok_and(|file| file.len() > 0);
        if settings.verify_on_open && filled {
            // First where it cannot write: it puts a damaged file back to an earlier commit before it says so.
            drop(Self::open_foreign_read_only(file, settings.clone())?);
        }
        let verified = RedbSettings { verify_on_open: false, ..settings.clone() };
        let mut engine = Self::open_with(directory, verified, |builder| builder.create(file))?;
        engine.settings = settings;
        Ok(engine)
    }

    fn open_with(
        directory: &Path,
        settings: RedbSettings,
        open: impl FnOnce(&mut Builder) -> Result<Database, DatabaseError>,
    ) -> Result<Self, Error> {
        let cache = usize::try_from(settings.cache_bytes).unwrap_or(usize::MAX);
        let mut database = guarded(|| {
            let opened = open(Database::builder().set_cache_size(cache));
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
            numbers: Numbers::default(),
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
        operations: impl Iterator<Item = Operation<SharedBytes>>,
    ) -> Result<(), Error> {
        let mut operations = operations.peekable();
        while let Some(first) = operations.peek() {
            let id = first.space;
            let space = self.spaces.get(self.numbers.index(id)).ok_or(Error::NoSpace { number: id.0 })?;
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

/// What a row may be.
const LIMITS: keyplan_plan::Limits = keyplan_plan::Engine::Redb.limits();

impl Engine for Redb {
    type Buffer = SharedBytes;
    type Snapshot = RedbSnapshot;

    const NAME: &'static str = "redb";

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            key_bytes: Some(LIMITS.key_bytes),
            value_bytes: Some(LIMITS.value_bytes),
            batch_operations: None,
            batch_bytes: Some(self.settings.batch_bytes),
            snapshot_age: self.settings.snapshot_age,
            empty_keys: LIMITS.empty_keys,
            multimap: true,
            atomic_across_spaces: true,
            buffer: Survives::Nothing,
            sync: Survives::Power,
            checks: true,
            ..Capabilities::PLAIN
        }
    }

    fn first_space(&self) -> u32 {
        self.numbers.first()
    }

    fn spaces(&self) -> Vec<Space> {
        self.spaces.to_vec()
    }

    fn create_space(&mut self, space: &Space) -> Result<SpaceId, Error> {
        if space.name.is_empty() {
            return Err(Error::SpaceName { name: space.name.clone() });
        }
        if let Some(id) = self.space(&space.name) {
            let found = self.spaces.get(self.numbers.index(id)).ok_or(Error::NoSpace { number: id.0 })?;
            return if found.kind == space.kind { Ok(id) } else { Err(kind(found, space.kind)) };
        }
        self.writable()?;
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
        Ok(RedbSnapshot::new(transaction, self.spaces.clone(), self.numbers, ticket))
    }

    fn commit(&self, batch: Batch<Self>, durability: Durability) -> Result<(), Error> {
        self.writable()?;
        if batch.is_empty() && durability == Durability::Buffer {
            return Ok(());
        }
        batch.check(&self.capabilities())?;
        let buffered = durability == Durability::Buffer
            && self.buffered.fetch_add(1, Ordering::Relaxed) < self.settings.sync_after;
        if !buffered {
            self.buffered.store(0, Ordering::Relaxed);
        }
        self.with(|database| {
            let mut write = database.begin_write().map_err(translated)?;
            let durability = if buffered { redb::Durability::None } else { redb::Durability::Immediate };
            write.set_durability(durability).map_err(translated)?;
            if !batch.expectations().is_empty() {
                // Nobody else can commit while this transaction is open.
                let now = database.begin_read().map_err(translated)?;
                let ticket = self.ages.open(None);
                batch.check_expectations(&RedbSnapshot::new(
                    now,
                    self.spaces.clone(),
                    self.numbers,
                    ticket,
                ))?;
            }
            let operations = batch.into_sorted();
            // An error drops the transaction, and with it everything that was applied.
            self.apply(&write, operations)?;
            write.commit().map_err(|error| match translated(error) {
                error @ Error::Io { .. } => Error::CommitUnknown { source: Box::new(error) },
                other => other,
            })
        })
    }

    fn beside(&self, directory: &Path) -> Result<Self, Error> {
        Self::open(directory, self.settings.clone())
    }

    fn copy_multimap(
        &self,
        from: &RedbSnapshot,
        space: SpaceId,
        to: &Self,
        into: SpaceId,
    ) -> Result<u64, Error> {
        super::copy_values(from, space, to, into)
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
