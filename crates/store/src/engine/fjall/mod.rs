mod bytes;
mod creation;
mod failure;
mod gate;
mod hidden;
mod ingestion;
mod journal;
mod keeper;
mod settings;
mod snapshot;

use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use fjall::{Database, Keyspace, KeyspaceCreateOptions, OwnedWriteBatch, PersistMode};

use self::failure::{failed_commit, guarded};
use self::gate::Gate;
use self::keeper::Keeper;
use super::{
    Action, Batch, Capabilities, Durability, Engine, Error, Setting, Space, SpaceId, SpaceKind, SpaceUsage,
    Statistics, Survives,
};

pub use bytes::FjallBytes;
pub use settings::{DamagedJournal, FjallSettings};
pub use snapshot::{FjallRange, FjallSnapshot};

/// The embedded engine that stores stand on by default: a log-structured merge tree for each space.
///
/// Every read goes through a snapshot, because the engine's direct reads can see half of a batch, and no snapshot is
/// opened in the middle of one. Every batch says what it waits for. Batches are applied in the order of their keys,
/// which costs less than any other.
pub struct Fjall {
    // Taken out on drop alone: the engine waits for its threads there, and must not do so for ever.
    database: Option<Database>,
    keyspaces: Arc<Vec<Keyspace>>,
    spaces: Vec<Space>,
    path: Arc<Path>,
    settings: FjallSettings,
    gate: Gate,
    closed: AtomicBool,
    since_look: AtomicU64,
    since_sync: AtomicU64,
    since_flush: AtomicU64,
    keeper: Option<Keeper>,
    pace: Pace,
}

/// What a row may be.
const LIMITS: keyplan_plan::Limits = keyplan_plan::Engine::Fjall.limits();

/// Bytes committed after which the background is looked at: little beside what it can fall behind by.
const LOOK_AFTER: u64 = 64 * 1024;

#[derive(Debug, Default)]
struct Pace {
    commits: AtomicU64,
    nanoseconds: AtomicU64,
    stalls: AtomicU64,
}

impl Fjall {
    /// Opens the database in a directory, and makes it if there is none.
    pub fn open(path: impl AsRef<Path>, settings: FjallSettings) -> Result<Self, Error> {
        let path = path.as_ref();
        settings.check()?;
        creation::remove_unfinished(path)?;
        let existed = Self::exists(path);
        if existed && settings.damaged_journal == DamagedJournal::Refuse {
            journal::check(path)?;
        }
        let opened = guarded(path, || {
            Database::builder(path)
                .cache_size(settings.cache_bytes)
                .worker_threads(settings.workers)
                .max_journaling_size(settings.journal_bytes)
                .max_cached_files(Some(settings.open_files))
                .open()
        });
        let database = opened.map_err(|error| if existed { failure::opening(error) } else { error })?;
        let mut names: Vec<String> = database.list_keyspace_names().iter().map(ToString::to_string).collect();
        names.sort();
        let path: Arc<Path> = path.into();
        let mut engine = Self {
            database: Some(database),
            keyspaces: Arc::default(),
            spaces: Vec::new(),
            keeper: Keeper::start(path.clone()),
            gate: Gate::new(path.clone()),
            path,
            settings,
            closed: AtomicBool::new(false),
            since_look: AtomicU64::new(0),
            since_sync: AtomicU64::new(0),
            since_flush: AtomicU64::new(0),
            pace: Pace::default(),
        };
        for name in names {
            engine.create_space(&Space::map(name))?;
        }
        Ok(engine)
    }

    /// Opens the database in a directory, and makes none.
    pub fn open_existing(path: impl AsRef<Path>, settings: FjallSettings) -> Result<Self, Error> {
        let path = path.as_ref();
        if Self::exists(path) {
            Self::open(path, settings)
        } else {
            Err(Error::NotFound { path: path.to_owned() })
        }
    }

    /// Whether there is a database of this engine in a directory.
    pub fn exists(path: impl AsRef<Path>) -> bool {
        path.as_ref().join("version").is_file() && path.as_ref().join("keyspaces").is_dir()
    }

    fn database(&self) -> Result<&Database, Error> {
        self.database.as_ref().ok_or(Error::Closed)
    }

    fn keyspace(&self, space: SpaceId) -> Result<&Keyspace, Error> {
        self.keyspaces.get(space.index()).ok_or(Error::NoSpace { number: space.0 })
    }

    fn writable(&self) -> Result<(), Error> {
        if self.closed.load(Ordering::Acquire) { Err(Error::Closed) } else { Ok(()) }
    }

    fn options(&self, usage: SpaceUsage) -> KeyspaceCreateOptions {
        let strategy =
            fjall::compaction::Leveled::default().with_l0_threshold(self.settings.first_level_tables);
        let memtable_bytes = match usage {
            SpaceUsage::Rows => self.settings.memtable_bytes,
            SpaceUsage::Structures => self.settings.structure_memtable_bytes,
        };
        KeyspaceCreateOptions::default()
            .max_memtable_size(memtable_bytes)
            .compaction_strategy(Arc::new(strategy))
    }

    /// Makes the writer wait a little when flushing falls behind.
    ///
    /// The engine itself waits in steps of a tenth of a second once four memtables are sealed, and in busy loops once
    /// the first level is long. Short waits right before that point spread the same time over many commits; earlier ones
    /// would hold up writers of small batches for nothing.
    /// They are looked for every so many bytes: a look at every space costs as much as a small batch.
    fn pace(&self, written: u64) {
        if !passed(&self.since_look, written, LOOK_AFTER) {
            return;
        }
        let behind = self.keyspaces.iter().map(hidden::waiting).max().unwrap_or(0);
        let levels = self.keyspaces.iter().map(hidden::first_level).max().unwrap_or(0);
        if behind >= 4 || levels >= 20 {
            self.pace.stalls.fetch_add(1, Ordering::Relaxed);
        }
        let steps = match (behind, levels) {
            (0..=2, 0..12) => return,
            (3, 0..12) => 4,
            (..=3, 0..16) => 16,
            _ => 40,
        };
        let begun = Instant::now();
        for _ in 0..steps {
            std::thread::sleep(Duration::from_millis(1));
            if self.keyspaces.iter().all(|keyspace| hidden::waiting(keyspace) < behind) {
                break;
            }
        }
        let nanoseconds = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.pace.commits.fetch_add(1, Ordering::Relaxed);
        self.pace.nanoseconds.fetch_add(nanoseconds, Ordering::Relaxed);
    }

    /// Hands the journal to the disk and flushes the spaces that were written little, now and then and elsewhere.
    ///
    /// A journal is given back only when every space with rows in it has been flushed, and one row in a quiet space holds
    /// back all of it.
    fn keep_up(&self, written: u64) {
        let Some(keeper) = &self.keeper else { return };
        let sync = passed(&self.since_sync, written, self.settings.sync_journal_after);
        let flush = passed(&self.since_flush, written, self.settings.flush_small_after);
        if sync || flush {
            let below = flush.then_some(self.settings.flush_small_after / 4);
            if !keeper.ask(self.keyspaces.clone(), below) && flush {
                // The next commit asks again.
                self.since_flush.store(self.settings.flush_small_after, Ordering::Relaxed);
            }
        }
    }
}

impl Engine for Fjall {
    type Buffer = FjallBytes;
    type Snapshot = FjallSnapshot;

    const NAME: &'static str = "fjall";

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            key_bytes: Some(LIMITS.key_bytes),
            value_bytes: Some(LIMITS.value_bytes),
            batch_operations: Some(u32::MAX.into()),
            batch_bytes: Some(self.settings.batch_bytes),
            snapshot_age: self.settings.snapshot_age,
            empty_keys: LIMITS.empty_keys,
            multimap: false,
            atomic_across_spaces: true,
            buffer: Survives::Process,
            sync: Survives::Power,
        }
    }

    fn spaces(&self) -> Vec<Space> {
        self.spaces.clone()
    }

    fn create_space(&mut self, space: &Space) -> Result<SpaceId, Error> {
        if space.kind == SpaceKind::Multimap {
            return Err(Error::Unsupported {
                engine: Self::NAME,
                what: "spaces with several values for a key",
            });
        }
        if space.name.is_empty() || space.name.len() > usize::from(u8::MAX) {
            return Err(Error::SpaceName { name: space.name.clone() });
        }
        if let Some(found) = self.space(&space.name) {
            return Ok(found);
        }
        let keyspace = {
            let database = self.database()?;
            guarded(&self.path, || database.keyspace(&space.name, || self.options(space.usage)))?
        };
        Arc::make_mut(&mut self.keyspaces).push(keyspace);
        self.gate.forget();
        self.spaces.push(space.clone());
        self.space(&space.name).ok_or_else(|| Error::SpaceName { name: space.name.clone() })
    }

    fn snapshot(&self) -> Result<FjallSnapshot, Error> {
        let state = self.gate.state(self.database()?, &self.keyspaces);
        Ok(FjallSnapshot::new(state, self.settings.snapshot_age))
    }

    fn commit(&self, batch: Batch<Self>, durability: Durability) -> Result<(), Error> {
        self.writable()?;
        batch.check(&self.capabilities())?;
        let bytes = batch.bytes();
        let mut write = OwnedWriteBatch::with_capacity(self.database()?.clone(), batch.len())
            .durability(Some(mode(durability)));
        for operation in batch.into_sorted() {
            let keyspace = self.keyspace(operation.space)?;
            match operation.action {
                Action::Put(value) => write.insert(keyspace, operation.key.0, value.0),
                Action::Delete => write.remove(keyspace, operation.key.0),
                Action::AddValue(_) | Action::RemoveValue(_) => {
                    return Err(Error::Unsupported { engine: Self::NAME, what: "several values for a key" });
                }
            }
        }
        self.pace(bytes);
        // A commit that fails half-way may be in the journal: whether it happened shows when the database is opened.
        let applied = self.gate.apply(self.database()?, &self.keyspaces, || {
            // Asked again, alone: a shutdown that has begun since does not wait for this batch.
            self.writable()?;
            guarded(&self.path, || write.commit()).map_err(failed_commit)
        });
        applied?;
        self.keep_up(bytes);
        Ok(())
    }

    fn sync(&self) -> Result<(), Error> {
        let database = self.database()?;
        guarded(&self.path, || database.persist(PersistMode::SyncAll))
    }

    fn checkpoint(&self, limit: Duration) -> Result<(), Error> {
        let begun = Instant::now();
        let database = self.database()?;
        self.sync()?;
        for keyspace in self.keyspaces.iter() {
            guarded(&self.path, || hidden::rotate(keyspace))?;
        }
        let flushed = || {
            hidden::queued_flushes(database) == 0
                && self.keyspaces.iter().all(|keyspace| hidden::waiting(keyspace) == 0)
        };
        for turn in 1_u32.. {
            if flushed() {
                break;
            }
            if begun.elapsed() > limit {
                return Err(Error::Deadline { limit });
            }
            std::thread::sleep(Duration::from_millis(1));
            if turn.is_multiple_of(64) {
                // A flush that failed poisons the database, and would be waited for in vain.
                self.sync()?;
            }
        }
        Ok(())
    }

    fn compact(&self) -> Result<(), Error> {
        self.checkpoint(Duration::MAX)?;
        self.keyspaces.iter().try_for_each(|keyspace| guarded(&self.path, || hidden::compact(keyspace)))
    }

    fn shutdown(&self, limit: Duration) -> Result<(), Error> {
        self.closed.store(true, Ordering::Release);
        // A batch that is being applied is one of those that are made durable.
        self.gate.wait();
        self.checkpoint(limit)
    }

    fn ingest<I>(&self, space: SpaceId, rows: I) -> Result<u64, Error>
    where
        I: IntoIterator<Item = Result<(FjallBytes, FjallBytes), Error>>,
    {
        self.writable()?;
        self.ingest_into(self.keyspace(space)?, rows)
    }

    fn statistics(&self) -> Statistics {
        let (open_snapshots, oldest_snapshot) = self.gate.oldest();
        let database = self.database.as_ref();
        let sum = |figure: fn(&Keyspace) -> usize| {
            u64::try_from(self.keyspaces.iter().map(figure).sum::<usize>()).unwrap_or(u64::MAX)
        };
        Statistics {
            disk_bytes: database.and_then(|database| database.disk_space().ok()),
            journal_bytes: database.and_then(|database| hidden::journal_bytes(database).ok()),
            journals: database.and_then(|database| u64::try_from(database.journal_count()).ok()),
            open_snapshots,
            oldest_snapshot,
            paced_commits: self.pace.commits.load(Ordering::Relaxed),
            paced_time: Duration::from_nanos(self.pace.nanoseconds.load(Ordering::Relaxed)),
            stalled_commits: self.pace.stalls.load(Ordering::Relaxed),
            waiting_memtables: sum(hidden::waiting),
            first_level_tables: sum(hidden::first_level),
        }
    }

    fn settings(&self) -> Vec<Setting> {
        self.settings.record()
    }

    fn directory(&self) -> Option<&Path> {
        Some(&self.path)
    }
}

impl Drop for Fjall {
    /// Closes the database. The engine waits for its threads when it goes, which a long compaction can hold up: that
    /// happens on a thread of its own, and is waited for no longer than [`FjallSettings::drop_wait`].
    fn drop(&mut self) {
        let Some(database) = self.database.take() else { return };
        self.gate.forget();
        let (keyspaces, keeper) = (std::mem::take(&mut self.keyspaces), self.keeper.take());
        let (done, wait) = mpsc::channel();
        let close = move || {
            if let Some(keeper) = keeper {
                keeper.stop();
            }
            drop(keyspaces);
            drop(database);
            // Nobody may be waiting any longer.
            let _ = done.send(());
        };
        if std::thread::Builder::new().name("keyplan:close".into()).spawn(close).is_ok() {
            let _ = wait.recv_timeout(self.settings.drop_wait);
        }
    }
}

impl fmt::Debug for Fjall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fjall")
            .field("path", &self.path)
            .field("spaces", &self.spaces)
            .finish_non_exhaustive()
    }
}

/// Counts bytes, and says whether there are `after` since it last did.
fn passed(count: &AtomicU64, written: u64, after: u64) -> bool {
    let due = count.fetch_add(written, Ordering::Relaxed).saturating_add(written) >= after;
    if due {
        count.store(0, Ordering::Relaxed);
    }
    due
}

const fn mode(durability: Durability) -> PersistMode {
    match durability {
        Durability::Buffer => PersistMode::Buffer,
        Durability::SyncData => PersistMode::SyncData,
        Durability::SyncAll => PersistMode::SyncAll,
    }
}
