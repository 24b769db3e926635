use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::StreamExt as _;
use keyplan_store::engine::kit::{Ages, Numbers};
use keyplan_store::engine::{
    Action, Batch, Capabilities, Durability, Engine, Error, Setting, Space, SpaceId, SpaceKind, SpaceUsage,
    Statistics, Survives, Writers,
};
use slatedb::admin::AdminBuilder;
use slatedb::config::{
    CheckpointOptions, CheckpointScope, CloseOptions, DbReaderOptions, FlushOptions, FlushType,
    GarbageCollectorOptions, ObjectStoreCacheOptions, Settings,
};
use slatedb::db_cache::moka::{MokaCache, MokaCacheOptions};
use slatedb::object_store::path::Path;
use slatedb::object_store::{ObjectStore, ObjectStoreExt as _, PutMode, PutOptions};
use slatedb::{CloseReason, Db, DbReader, DbReaderMode, ErrorKind, WriteBatch, WriteHandle};

use crate::bytes::SlateBytes;
use crate::failure::translated;
use crate::layout;
use crate::link::Link;
use crate::settings::SlateSettings;
use crate::snapshot::{Base, SlateSnapshot};
use crate::still::Still;

/// A database on object storage.
pub struct Slate {
    shared: Arc<Shared>,
    spaces: RwLock<Arc<Vec<Space>>>,
    ages: Ages,
    numbers: Numbers,
}

/// What snapshots keep alive: the database is closed when the last of them is gone.
pub(crate) struct Shared {
    pub(crate) link: Link,
    store: Arc<dyn ObjectStore>,
    settings: SlateSettings,
    handle: Handle,
    closed: AtomicBool,
    // Held by whoever commits, from the checks of its batch until it is visible.
    commits: Mutex<()>,
    // Whether the outcome of a commit is not known.
    lost: AtomicBool,
}

enum Handle {
    Writer(Db),
    // The state that is given out, and since when it is.
    Reader(Mutex<Option<(Arc<DbReader>, Instant)>>),
    // A state that never changes.
    Pinned(Arc<DbReader>),
}

/// A state of a database that is kept until it is removed or its time is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint(String);

impl fmt::Display for Checkpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::str::FromStr for Checkpoint {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Ok(Self(text.to_owned()))
    }
}

/// A third of the time for which the writer keeps a state that a reader has noted. Another one is opened long before.
const READER_POLL: Duration = Duration::from_hours(1);

impl Slate {
    /// Opens a database for reading and writing, and makes it if there is none. Whoever wrote before is fenced.
    pub fn open(settings: SlateSettings) -> Result<Self, Error> {
        let (link, store) = prepared(&settings, true)?;
        let fresh = !present(&link, &*store, &settings)?;
        if fresh {
            knows_conditions(&link, &*store, &settings)?;
        }
        let db = link.wait(async {
            let mut builder = Db::builder(settings.path().to_owned(), store.clone())
                .with_settings(engine_settings(&settings))
                .with_db_cache(cache(&settings), 1);
            if let Some(epoch) = settings.expected_epoch {
                builder = builder.with_expected_epoch(epoch);
            }
            builder.build().await
        });
        let db = db.ok_or_else(|| link.late())?.map_err(|error| translated(error, "opening"))?;
        Self::with(link, store, settings, Handle::Writer(db))
    }

    /// Opens a database for reading and writing, and makes none.
    pub fn open_existing(settings: SlateSettings) -> Result<Self, Error> {
        if Self::exists(&settings)? { Self::open(settings) } else { Err(not_found(&settings)) }
    }

    /// Opens a database for reading, beside its writer. A snapshot is of a state that is no older than the
    /// [poll interval](SlateSettings::poll_interval).
    ///
    /// A reader notes in the database which state it reads, so that the writer keeps it: it must be allowed to write there.
    pub fn open_reader(settings: SlateSettings) -> Result<Self, Error> {
        if !Self::exists(&settings)? {
            return Err(not_found(&settings));
        }
        let (link, store) = prepared(&settings, false)?;
        Self::with(link, store, settings, Handle::Reader(Mutex::new(None)))
    }

    /// Opens the state of a checkpoint for reading. Nothing is written.
    pub fn open_checkpoint(settings: SlateSettings, checkpoint: &Checkpoint) -> Result<Self, Error> {
        let (link, store) = prepared(&settings, false)?;
        let id = checkpoint
            .0
            .parse()
            .map_err(|_| Error::Format { what: "no checkpoint has this name".to_owned() })?;
        let reader = open_reader(&link, &store, &settings, DbReaderMode::Checkpoint(id))?;
        Self::with(link, store, settings, Handle::Pinned(Arc::new(reader)))
    }

    /// Whether there is a database.
    pub fn exists(settings: &SlateSettings) -> Result<bool, Error> {
        if settings.is_file() && !PathBuf::from(settings.shown().trim_start_matches("file://")).is_dir() {
            return Ok(false);
        }
        let (link, store) = prepared(settings, false)?;
        present(&link, &*store, settings)
    }

    /// Keeps the state as it is now, for a time or until it is removed. Everything committed is in it.
    pub fn create_checkpoint(&self, lifetime: Option<Duration>) -> Result<Checkpoint, Error> {
        let db = self.shared.writer()?;
        let options = CheckpointOptions { lifetime, ..CheckpointOptions::default() };
        let made = self.shared.link.wait(db.create_checkpoint(CheckpointScope::All, &options));
        let made = made.ok_or_else(|| self.shared.link.late())?;
        Ok(Checkpoint(made.map_err(|error| translated(error, "making a checkpoint"))?.id.to_string()))
    }

    /// Removes a checkpoint.
    pub fn remove_checkpoint(&self, checkpoint: &Checkpoint) -> Result<(), Error> {
        let id = checkpoint
            .0
            .parse()
            .map_err(|_| Error::Format { what: "no checkpoint has this name".to_owned() })?;
        let admin =
            AdminBuilder::new(self.shared.settings.path().to_owned(), self.shared.store.clone()).build();
        let removed =
            self.shared.link.wait(admin.delete_checkpoint(id)).ok_or_else(|| self.shared.link.late())?;
        removed.map_err(|error| translated(error, "removing a checkpoint"))
    }

    fn with(
        link: Link,
        store: Arc<dyn ObjectStore>,
        settings: SlateSettings,
        handle: Handle,
    ) -> Result<Self, Error> {
        let writer = matches!(handle, Handle::Writer(_));
        let shared = Shared {
            link,
            store,
            settings,
            handle,
            closed: AtomicBool::new(!writer),
            commits: Mutex::default(),
            lost: AtomicBool::new(false),
        };
        let engine = Self {
            shared: Arc::new(shared),
            spaces: RwLock::default(),
            ages: Ages::default(),
            numbers: Numbers::default(),
        };
        match engine.base()?.get(&engine.shared, &layout::LAYOUT)? {
            Some(version) if version == layout::VERSION => {}
            Some(_) => return Err(Error::Format { what: "a layout of keys that is not known".to_owned() }),
            None if writer => {
                let (start, end) = (std::ops::Bound::Unbounded, std::ops::Bound::Unbounded);
                if engine.base()?.first(&engine.shared, (start, end))? {
                    return Err(Error::Format { what: "rows of another program".to_owned() });
                }
                let mut batch = WriteBatch::new();
                batch.put_bytes(Bytes::from_static(&layout::LAYOUT), Bytes::from_static(layout::VERSION));
                engine.write(batch, Durability::SyncAll)?;
            }
            None => return Err(not_found(&engine.shared.settings)),
        }
        engine.refresh()?;
        Ok(engine)
    }

    fn base(&self) -> Result<Base, Error> {
        self.shared.base()
    }

    /// Reads which spaces there are.
    fn refresh(&self) -> Result<(), Error> {
        let mut spaces = Vec::new();
        for (key, value) in self.base()?.rows(&self.shared, layout::names())? {
            let expected = u16::try_from(spaces.len()).map(layout::name);
            let damaged = || Error::Corrupt { what: "the list of spaces".to_owned(), source: None };
            if expected.as_ref().map(|expected| &expected[..]) != Ok(&key[..]) {
                return Err(damaged());
            }
            let (usage, name) = value.split_first().ok_or_else(damaged)?;
            let usage = match usage {
                1 => SpaceUsage::Structures,
                2 => SpaceUsage::Mixed,
                _ => SpaceUsage::Rows,
            };
            let name = String::from_utf8(name.to_vec()).map_err(|_| damaged())?;
            spaces.push(Space { usage, ..Space::map(name) });
        }
        *self.spaces.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(spaces);
        Ok(())
    }

    fn known(&self) -> Arc<Vec<Space>> {
        self.spaces.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Writes a batch of the engine below, and says what became of it.
    fn write(&self, batch: WriteBatch, durability: Durability) -> Result<(), Error> {
        let written = self.make_visible(batch)?;
        self.make_durable(&written, durability)
    }

    fn make_visible(&self, batch: WriteBatch) -> Result<WriteHandle, Error> {
        let shared = &self.shared;
        let db = shared.writer()?;
        shared.alive(db)?;
        match shared.link.wait(db.write(batch)) {
            None => Err(shared.unknown(shared.link.late())),
            Some(Err(error)) => Err(match error.kind() {
                // These are told before anything is done.
                ErrorKind::Transaction | ErrorKind::Invalid => translated(error, "committing"),
                ErrorKind::Closed(CloseReason::Fenced) => Error::Fenced,
                _ => shared.unknown(error),
            }),
            Some(Ok(written)) => Ok(written),
        }
    }

    fn make_durable(&self, written: &WriteHandle, durability: Durability) -> Result<(), Error> {
        if durability == Durability::Buffer {
            return Ok(());
        }
        match self.shared.link.wait(written.await_durable()) {
            None => Err(self.shared.unknown(self.shared.link.late())),
            Some(Ok(())) => Ok(()),
            // Another writer's object may be in the place of ours, or ours may be there and its answer lost.
            Some(Err(error)) => Err(self.shared.unknown(error)),
        }
    }
}

impl Shared {
    fn writer(&self) -> Result<&Db, Error> {
        match &self.handle {
            Handle::Writer(db) => Ok(db),
            Handle::Reader(_) | Handle::Pinned(_) => Err(Error::Closed),
        }
    }

    /// Refuses where nothing can be written any more: the kind of a later error does not tell.
    fn alive(&self, db: &Db) -> Result<(), Error> {
        match db.status().close_reason {
            None if self.lost.load(Ordering::Acquire) => Err(Error::Poisoned { source: None }),
            None => Ok(()),
            Some(CloseReason::Fenced) => Err(Error::Fenced),
            Some(CloseReason::Clean) => Err(Error::Closed),
            Some(_) => Err(Error::Poisoned { source: None }),
        }
    }

    /// Notes that the outcome of a commit is not known: nothing more is written through this handle.
    fn unknown(&self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
        self.lost.store(true, Ordering::Release);
        Error::CommitUnknown { source: source.into() }
    }

    /// The state that a snapshot opened now is of.
    fn base(&self) -> Result<Base, Error> {
        match &self.handle {
            Handle::Writer(db) => {
                Ok(Base::Snapshot(db.snapshot().map_err(|error| translated(error, "opening a snapshot"))?))
            }
            Handle::Pinned(reader) => Ok(Base::Reader(reader.clone())),
            Handle::Reader(current) => {
                let mut current = current.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some((reader, since)) = &*current
                    && since.elapsed() < self.settings.poll_interval
                {
                    return Ok(Base::Reader(reader.clone()));
                }
                let since = Instant::now();
                let reader =
                    open_reader(&self.link, &self.store, &self.settings, DbReaderMode::ManagedCheckpoint)?;
                let reader = Arc::new(reader);
                *current = Some((reader.clone(), since));
                Ok(Base::Reader(reader))
            }
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if let Handle::Writer(db) = &self.handle {
            // What was only visible is made durable; tables are made of it when it is opened again.
            let options = CloseOptions::default().with_flush_type(Some(FlushType::Wal));
            let limit = self.settings.limit.min(Duration::from_secs(10));
            let _ = self.link.wait_for(limit, db.close_with_options(options));
        }
    }
}

fn prepared(settings: &SlateSettings, create: bool) -> Result<(Link, Arc<dyn ObjectStore>), Error> {
    let link = Link::new(settings.limit)?;
    let store = settings.store(create).map_err(|error| Error::Engine { source: error.into() })?;
    Ok((link, store))
}

/// Whether there is anything of a database.
fn present(link: &Link, store: &dyn ObjectStore, settings: &SlateSettings) -> Result<bool, Error> {
    let manifests = Path::from(settings.path()).join("manifest");
    let found = link.wait(async { store.list(Some(&manifests)).next().await.transpose() });
    match found {
        None => Err(link.late()),
        Some(Ok(found)) => Ok(found.is_some()),
        Some(Err(source)) => {
            Err(Error::Unavailable { doing: "looking for the database", source: source.into() })
        }
    }
}

/// Refuses a store that writes over an object that it was told not to write over: two writers would not be kept apart.
fn knows_conditions(link: &Link, store: &dyn ObjectStore, settings: &SlateSettings) -> Result<(), Error> {
    let moment = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let name = format!("probe-{}-{}", std::process::id(), moment.as_nanos());
    let path = Path::from(settings.path()).join("keyplan").join(name);
    let create = || PutOptions { mode: PutMode::Create, ..PutOptions::default() };
    let tried = link.wait(async {
        store.put_opts(&path, "1".into(), create()).await?;
        let second = store.put_opts(&path, "2".into(), create()).await;
        store.delete(&path).await?;
        Ok::<_, slatedb::object_store::Error>(second)
    });
    match tried {
        None => Err(link.late()),
        Some(Err(source)) => Err(Error::Unavailable { doing: "trying the storage", source: source.into() }),
        Some(Ok(Err(slatedb::object_store::Error::AlreadyExists { .. }))) => Ok(()),
        Some(Ok(_)) => Err(Error::Unsupported {
            engine: Slate::NAME,
            what: "safety on storage without conditional puts",
        }),
    }
}

fn open_reader(
    link: &Link,
    store: &Arc<dyn ObjectStore>,
    settings: &SlateSettings,
    mode: DbReaderMode,
) -> Result<DbReader, Error> {
    let options = DbReaderOptions {
        manifest_poll_interval: READER_POLL,
        checkpoint_lifetime: 3 * READER_POLL,
        object_store_cache_options: disk_cache(settings),
        ..DbReaderOptions::default()
    };
    let opened = link.wait(async {
        DbReader::builder(settings.path().to_owned(), store.clone())
            .with_reader_mode(mode)
            .with_options(options)
            .with_system_clock(Arc::new(Still::default()))
            .with_db_cache(cache(settings), 1)
            .build()
            .await
    });
    opened.ok_or_else(|| link.late())?.map_err(|error| translated(error, "opening for reading"))
}

fn cache(settings: &SlateSettings) -> Arc<MokaCache> {
    let options = MokaCacheOptions { max_capacity: settings.memory_cache, ..MokaCacheOptions::default() };
    Arc::new(MokaCache::new_with_opts(options))
}

fn disk_cache(settings: &SlateSettings) -> ObjectStoreCacheOptions {
    let mut options = ObjectStoreCacheOptions::default();
    if let Some((directory, bytes)) = &settings.disk_cache {
        options.root_folder = Some(directory.clone());
        options.max_cache_size_bytes = usize::try_from(*bytes).ok();
    }
    options
}

fn engine_settings(settings: &SlateSettings) -> Settings {
    let table = usize::try_from(settings.table_bytes).unwrap_or(64 << 20);
    let defaults = Settings::default();
    let collector = GarbageCollectorOptions {
        // A directory cannot change an object on a condition, which these files need.
        boundary_files_enabled: !settings.is_file(),
        ..GarbageCollectorOptions::default()
    };
    Settings {
        flush_interval: Some(settings.flush_interval),
        l0_sst_size_bytes: table,
        max_unflushed_bytes: defaults.max_unflushed_bytes.max(table.saturating_mul(2)),
        garbage_collector_options: Some(collector),
        object_store_cache_options: disk_cache(settings),
        ..defaults
    }
}

fn not_found(settings: &SlateSettings) -> Error {
    Error::NotFound { path: PathBuf::from(settings.shown()) }
}

/// What a row may be.
const LIMITS: keyplan_plan::Limits = keyplan_plan::Engine::Slate.limits();

impl Engine for Slate {
    type Buffer = SlateBytes;
    type Snapshot = SlateSnapshot;

    const NAME: &'static str = "slate";

    fn capabilities(&self) -> Capabilities {
        let mut capabilities = Capabilities::PLAIN;
        capabilities.key_bytes = Some(LIMITS.key_bytes);
        capabilities.value_bytes = Some(LIMITS.value_bytes);
        capabilities.batch_bytes = Some(self.shared.settings.batch_bytes);
        capabilities.empty_keys = LIMITS.empty_keys;
        capabilities.snapshot_age = match &self.shared.handle {
            Handle::Reader(_) => Some(self.shared.settings.snapshot_age),
            Handle::Writer(_) | Handle::Pinned(_) => None,
        };
        capabilities.buffer = Survives::Nothing;
        capabilities.sync = Survives::Power;
        capabilities.writers = Writers::Newest;
        // A writer that was taken over from reads its own state until it notices, and then nothing.
        capabilities.foreign_commits = matches!(self.shared.handle, Handle::Reader(_));
        capabilities.checks = true;
        capabilities
    }

    fn first_space(&self) -> u32 {
        self.numbers.first()
    }

    fn spaces(&self) -> Vec<Space> {
        if !matches!(self.shared.handle, Handle::Writer(_)) {
            // The writer may have made one since. Those that are known are all that can be used if that cannot be seen.
            let _ = self.refresh();
        }
        self.known().to_vec()
    }

    fn create_space(&mut self, space: &Space) -> Result<SpaceId, Error> {
        if space.kind == SpaceKind::Multimap {
            return Err(Error::Unsupported {
                engine: Self::NAME,
                what: "spaces with several values for a key",
            });
        }
        if space.name.is_empty() {
            return Err(Error::SpaceName { name: space.name.clone() });
        }
        if let Some(known) = self.space(&space.name) {
            return Ok(known);
        }
        if self.shared.closed.load(Ordering::Acquire) {
            return Err(Error::Closed);
        }
        let number = u16::try_from(self.known().len());
        let number = number.map_err(|_| Error::SpaceName { name: space.name.clone() })?;
        let usage = match space.usage {
            SpaceUsage::Rows => 0,
            SpaceUsage::Structures => 1,
            SpaceUsage::Mixed => 2,
        };
        let mut value = vec![usage];
        value.extend(space.name.as_bytes());
        let mut batch = WriteBatch::new();
        batch.put_bytes(layout::name(number), Bytes::from(value));
        self.write(batch, Durability::SyncAll)?;
        self.refresh()?;
        self.space(&space.name).ok_or_else(|| Error::SpaceName { name: space.name.clone() })
    }

    fn snapshot(&self) -> Result<SlateSnapshot, Error> {
        let base = self.base()?;
        let ticket = self.ages.open(self.capabilities().snapshot_age);
        Ok(SlateSnapshot::new(base, self.shared.clone(), self.known().len(), self.numbers, ticket))
    }

    fn commit(&self, mut batch: Batch<Self>, durability: Durability) -> Result<(), Error> {
        if self.shared.closed.load(Ordering::Acquire) {
            return Err(Error::Closed);
        }
        batch.check(&self.capabilities())?;
        let expectations = batch.take_expectations();
        let spaces = self.known().len();
        let mut write = WriteBatch::new();
        let empty = batch.is_empty();
        for operation in batch.into_sorted() {
            let index = self.numbers.index(operation.space);
            let number = u16::try_from(index).ok().filter(|_| index < spaces);
            let number = number.ok_or(Error::NoSpace { number: operation.space.0 })?;
            let key = layout::row(number, &operation.key);
            match operation.action {
                Action::Put(value) => write.put_bytes(key, value.0),
                Action::Delete => write.delete(key),
                Action::AddValue(_) | Action::RemoveValue(_) => {
                    return Err(Error::Unsupported { engine: Self::NAME, what: "several values for a key" });
                }
            }
        }
        let commits = self.shared.commits.lock().unwrap_or_else(PoisonError::into_inner);
        if self.shared.closed.load(Ordering::Acquire) {
            return Err(Error::Closed);
        }
        if !expectations.is_empty() {
            // Nobody else of this process can commit now, and another process would fence this one first.
            let now = self.snapshot()?;
            for expectation in &expectations {
                if !expectation.holds(&now)? {
                    return Err(Error::Conflict);
                }
            }
        }
        if empty {
            drop(commits);
            return if durability == Durability::Buffer { Ok(()) } else { self.sync() };
        }
        let written = self.make_visible(write)?;
        drop(commits);
        self.make_durable(&written, durability)
    }

    fn sync(&self) -> Result<(), Error> {
        let Ok(db) = self.shared.writer() else { return Ok(()) };
        self.shared.alive(db)?;
        let flushed = self.shared.link.wait(db.flush()).ok_or_else(|| self.shared.link.late())?;
        flushed.map_err(|error| translated(error, "writing out"))
    }

    fn checkpoint(&self, limit: Duration) -> Result<(), Error> {
        let Ok(db) = self.shared.writer() else { return Ok(()) };
        self.sync()?;
        let options = FlushOptions { flush_type: FlushType::MemTable };
        let flushed =
            self.shared.link.wait_for(limit.min(Duration::from_hours(24)), db.flush_with_options(options));
        flushed.ok_or(Error::Deadline { limit })?.map_err(|error| translated(error, "writing out"))
    }

    /// Moves what is in memory to tables. They are compacted in the background, and that is not waited for.
    fn compact(&self) -> Result<(), Error> {
        self.checkpoint(Duration::MAX)
    }

    fn shutdown(&self, limit: Duration) -> Result<(), Error> {
        if !matches!(self.shared.handle, Handle::Writer(_)) {
            return Ok(());
        }
        // A batch that is being committed is one of those that are made durable.
        let commits = self.shared.commits.lock().unwrap_or_else(PoisonError::into_inner);
        self.shared.closed.store(true, Ordering::Release);
        drop(commits);
        self.checkpoint(limit)
    }

    fn statistics(&self) -> Statistics {
        let (open_snapshots, oldest_snapshot) = self.ages.oldest();
        let mut statistics = Statistics::default();
        statistics.open_snapshots = open_snapshots;
        statistics.oldest_snapshot = oldest_snapshot;
        let place = Path::from(self.shared.settings.path());
        let size = self.shared.link.wait(async {
            let mut objects = self.shared.store.list(Some(&place));
            let mut bytes = 0_u64;
            while let Some(object) = objects.next().await {
                bytes = bytes.saturating_add(object.ok()?.size);
            }
            Some(bytes)
        });
        statistics.disk_bytes = size.flatten();
        statistics
    }

    fn settings(&self) -> Vec<Setting> {
        vec![
            Setting::per_open("flush_interval_ms", &self.shared.settings.flush_interval.as_millis()),
            Setting::per_open("memory_cache", &self.shared.settings.memory_cache),
            Setting::per_open("table_bytes", &self.shared.settings.table_bytes),
        ]
    }
}

impl fmt::Debug for Slate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slate").field("settings", &self.shared.settings).finish_non_exhaustive()
    }
}

#[cfg(feature = "chains")]
impl keyplan_chains::cardano::StateEngine for Slate {
    type Values = std::iter::Empty<Result<SlateBytes, Error>>;
}
