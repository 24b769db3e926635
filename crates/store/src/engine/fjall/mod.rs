mod bytes;
mod creation;
mod failure;
mod gate;
mod hidden;
mod ingestion;
mod inspect;
mod journal;
mod keeper;
mod mark;
mod memtables;
mod overlay;
mod settings;
mod snapshot;
mod tree;

use std::fmt;
use std::fs::File;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

use fjall::{Database, Keyspace, KeyspaceCreateOptions, OwnedWriteBatch, PersistMode};

use self::failure::{failed_commit, guarded};
use self::gate::Gate;
use self::inspect::{Inspection, Lock};
use self::journal::Journal;
use self::keeper::Keeper;
use self::mark::Mark;
use self::memtables::Memtables;
use super::batch::check_expectations;
use super::{
    Action, Batch, Capabilities, Durability, Engine, Error, Setting, Space, SpaceId, SpaceKind, SpaceUsage,
    Statistics, Survives,
};

pub use bytes::FjallBytes;
pub use settings::{DamagedJournal, FjallSettings};
pub use snapshot::{FjallRange, FjallSnapshot};

/// The embedded engine that stores are on by default: a log-structured merge tree for each space.
///
/// Every read goes through a snapshot, because the engine's direct reads can see half of a batch, and no snapshot is
/// opened in the middle of one. Every batch says what it waits for. Batches are applied in the order of their keys,
/// which costs less than any other.
pub struct Fjall {
    // Taken out on drop only: the engine waits for its threads there, and must not do so for ever.
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
    memtables: Memtables,
    marks: Marks,
    // Of a database that is open for reading: the directory that the engine has instead, and the lock of the real one.
    private: Option<Private>,
}

/// What is known of the files, for the [`Mark`].
#[derive(Clone, Debug, Default)]
struct Marks(Arc<Mutex<(Vec<Journal>, Option<Mark>)>>);

impl Marks {
    /// Writes what is true of the files now, unless it is what was written last. The journals must have been synced.
    ///
    /// A mark that cannot be written is none: then less is known at the next opening.
    fn write(&self, directory: &Path) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Ok(journals) = journal::walk_all(directory, &known.0) else { return };
        let Ok(folders) = tree::read_all(directory) else { return };
        let trees: Vec<_> = folders.into_iter().filter_map(tree::Folder::whole).collect();
        let mark = Mark::of(&journals, &trees);
        if known.1.as_ref() != Some(&mark) && mark.write(directory).is_ok() {
            known.1 = Some(mark);
        }
        known.0 = journals;
    }
}

/// What a row may be.
const LIMITS: keyplan_plan::Limits = keyplan_plan::Engine::Fjall.limits();

/// Bytes committed after which the background is looked at: little beside what it can fall behind by.
const LOOK_AFTER: u64 = 64 * 1024;

/// How long a commit waits at most for memtables to go.
const LONGEST_WAIT: Duration = Duration::from_mins(1);

#[derive(Debug, Default)]
struct Pace {
    commits: AtomicU64,
    nanoseconds: AtomicU64,
    stalls: AtomicU64,
}

/// What a database that is only read has besides: the engine works in a directory of its own.
#[derive(Debug)]
struct Private {
    _directory: tempfile::TempDir,
    _lock: File,
    /// Bytes of the database's own journals, of which the directory holds only what is replayed.
    journal_bytes: u64,
}

fn length(file: &Path) -> u64 {
    std::fs::metadata(file).map_or(0, |file| file.len())
}

impl Fjall {
    /// Opens the database in a directory, and makes it if there is none.
    ///
    /// Its files are looked at before the engine sees them: one that was damaged, cut, emptied or deleted is named, and
    /// nothing is changed.
    pub fn open(path: impl AsRef<Path>, settings: FjallSettings) -> Result<Self, Error> {
        let path = path.as_ref();
        settings.check()?;
        #[cfg(feature = "redb")]
        if super::Redb::exists(path) {
            return Err(Error::OtherEngine { path: path.to_owned(), found: super::Redb::NAME });
        }
        #[cfg(feature = "lmdb")]
        if super::Lmdb::exists(path) {
            return Err(Error::OtherEngine { path: path.to_owned(), found: super::Lmdb::NAME });
        }
        creation::remove_unfinished(path)?;
        let existed = Self::exists(path);
        let inspection = if existed {
            // So that no process writes meanwhile. It goes before the engine takes it.
            let _lock = inspect::lock(path, Lock::Alone)?;
            Some(inspect::inspect(path, &settings)?)
        } else {
            None
        };
        let database = start(path, settings.workers, &settings, existed)?;
        let marks = Marks::default();
        let mut engine = Self::with(database, path, settings, Keeper::start(path.into()), None)?;
        if let Some(Inspection { journals, mark, .. }) = inspection {
            *marks.0.lock().unwrap_or_else(PoisonError::into_inner) = (journals, mark);
            marks.write(path);
        }
        engine.marks = marks;
        Ok(engine)
    }

    /// Opens the database in a directory for reading, and writes nothing there. Others may read it meanwhile.
    ///
    /// The engine cannot do that by itself, so it works in a private directory in the system's folder for temporary
    /// files, with links to the tables and copies of the batches that are not in tables yet. The directory goes with
    /// the handle.
    pub fn open_read_only(path: impl AsRef<Path>, settings: FjallSettings) -> Result<Self, Error> {
        let path = path.as_ref();
        settings.check()?;
        if !Self::exists(path) {
            return Err(Error::NotFound { path: path.to_owned() });
        }
        let lock = inspect::lock(path, Lock::Shared)?;
        let inspection = inspect::inspect(path, &settings)?;
        let private = overlay::make(path, &inspection)?;
        // Nothing is to be flushed or compacted. With very many spaces the engine waits for somebody who takes the work.
        let workers = usize::from(inspection.trees.len() > 500);
        let database = start(private.path(), workers, &settings, true)?;
        let journal_bytes =
            inspection.journals.iter().map(|journal| length(&path.join(journal.name()))).sum();
        let private = Private { _directory: private, _lock: lock, journal_bytes };
        let engine = Self::with(database, path, settings, None, Some(private))?;
        engine.closed.store(true, Ordering::Release);
        Ok(engine)
    }

    fn with(
        database: Database,
        path: &Path,
        settings: FjallSettings,
        keeper: Option<Keeper>,
        private: Option<Private>,
    ) -> Result<Self, Error> {
        let mut names: Vec<String> = database.list_keyspace_names().iter().map(ToString::to_string).collect();
        names.sort();
        let path: Arc<Path> = path.into();
        let mut engine = Self {
            database: Some(database),
            keyspaces: Arc::default(),
            spaces: Vec::new(),
            keeper,
            gate: Gate::new(path.clone()),
            path,
            settings,
            closed: AtomicBool::new(false),
            since_look: AtomicU64::new(0),
            since_sync: AtomicU64::new(0),
            since_flush: AtomicU64::new(0),
            pace: Pace::default(),
            memtables: Memtables::default(),
            marks: Marks::default(),
            private,
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
        self.keyspaces.get(self.gate.numbers.index(space)).ok_or(Error::NoSpace { number: space.0 })
    }

    fn writable(&self) -> Result<(), Error> {
        if self.closed.load(Ordering::Acquire) { Err(Error::Closed) } else { Ok(()) }
    }

    fn options(&self, usage: SpaceUsage) -> KeyspaceCreateOptions {
        let strategy =
            fjall::compaction::Leveled::default().with_l0_threshold(self.settings.first_level_tables);
        let memtable_bytes = match usage {
            SpaceUsage::Rows => self.settings.memtable_bytes,
            SpaceUsage::Structures | SpaceUsage::Mixed => self.settings.structure_memtable_bytes,
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
        if let Some(most) = self.settings.memtables_bytes {
            self.bound_memtables(most);
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
        self.paced(begun);
    }

    /// Waits until no more than so many bytes of memtables are in memory, as long as a flush or a compaction is under way.
    ///
    /// The engine keeps a memtable that it has flushed until the next one is sealed, and a compaction keeps those that were
    /// there when it began.
    fn bound_memtables(&self, most: u64) {
        let Ok(database) = self.database() else { return };
        let (begun, mut turn) = (Instant::now(), 0_u32);
        if !self.memtables.exceed(most, &self.keyspaces) {
            return;
        }
        let mut read = false;
        while self.memtables.bytes(&self.keyspaces) > most
            && begun.elapsed() < LONGEST_WAIT
            && self.writable().is_ok()
        {
            self.flush_largest(most / 2);
            read = self.gate.below_all_snapshots(database, |number| {
                self.keyspaces.iter().for_each(|keyspace| hidden::forget_versions(keyspace, number));
            });
            // It lets go of what nobody else holds.
            if let Some(keeper) = &self.keeper {
                keeper.ask(self.keyspaces.clone(), None);
            }
            let idle = hidden::queued_flushes(database) == 0
                && hidden::compactions(database) == 0
                && self.keyspaces.iter().all(|keyspace| hidden::waiting(keyspace) == 0);
            std::thread::sleep(Duration::from_millis(if idle { 20 } else { 2 }));
            turn += 1;
            // A flush that failed poisons the database, and would be waited for in vain.
            let failed = turn.is_multiple_of(64) && self.sync().is_err();
            if failed || (idle && self.memtables.bytes(&self.keyspaces) > most) {
                break;
            }
        }
        // What a reader keeps is not waited for again before it has grown.
        if read {
            self.memtables.waited(most, &self.keyspaces);
        }
        if turn > 0 {
            self.paced(begun);
        }
    }

    /// Seals the memtable with the most rows if all that are written to have more bytes than `most`, and none waits to be flushed.
    ///
    /// None may be large by itself where there are many spaces. One at a time, so that no more are flushed than have to be.
    fn flush_largest(&self, most: u64) {
        let written: u64 = self.keyspaces.iter().map(hidden::in_memory).sum();
        if written <= most || self.keyspaces.iter().any(|keyspace| hidden::waiting(keyspace) > 0) {
            return;
        }
        if let Some(largest) = self.keyspaces.iter().max_by_key(|keyspace| hidden::in_memory(keyspace)) {
            // What fails here fails again in the commit.
            let _ = guarded(&self.path, || hidden::rotate(largest));
        }
    }

    fn paced(&self, begun: Instant) {
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
            checks: true,
            ..Capabilities::PLAIN
        }
    }

    fn first_space(&self) -> u32 {
        self.gate.numbers.first()
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
        self.writable()?;
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

    fn commit(&self, mut batch: Batch<Self>, durability: Durability) -> Result<(), Error> {
        self.writable()?;
        batch.check(&self.capabilities())?;
        let bytes = batch.bytes();
        let expectations = batch.take_expectations();
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
            // Asked again, with nobody else in here: a shutdown that has begun since does not wait for this batch.
            self.writable()?;
            if !expectations.is_empty() {
                // The state before this batch, which nobody else can change now.
                check_expectations(&expectations, &self.snapshot()?)?;
            }
            guarded(&self.path, || write.commit()).map_err(failed_commit)
        });
        applied?;
        self.keep_up(bytes);
        Ok(())
    }

    fn beside(&self, directory: &Path) -> Result<Self, Error> {
        Self::open(directory, self.settings.clone())
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
        self.checkpoint(limit)?;
        self.marks.write(&self.path);
        Ok(())
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
        let engine_s = database.and_then(|database| hidden::journal_bytes(database).ok());
        let journal_bytes = self.private.as_ref().map(|private| private.journal_bytes).or(engine_s);
        let tables = database.and_then(|database| database.disk_space().ok()?.checked_sub(engine_s?));
        Statistics {
            disk_bytes: tables.zip(journal_bytes).map(|(tables, journals)| tables.saturating_add(journals)),
            journal_bytes,
            journals: database.and_then(|database| u64::try_from(database.journal_count()).ok()),
            open_snapshots,
            oldest_snapshot,
            paced_commits: self.pace.commits.load(Ordering::Relaxed),
            paced_time: Duration::from_nanos(self.pace.nanoseconds.load(Ordering::Relaxed)),
            stalled_commits: self.pace.stalls.load(Ordering::Relaxed),
            waiting_memtables: sum(hidden::waiting),
            first_level_tables: sum(hidden::first_level),
            rows: None,
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
        let marked = self.private.is_none().then(|| (self.marks.clone(), self.path.clone()));
        let (done, wait) = mpsc::channel();
        let close = move || {
            if let Some(keeper) = keeper {
                keeper.stop();
            }
            drop(keyspaces);
            // While the lock is held, and only what the disk has.
            if let Some((marks, path)) = marked
                && database.persist(PersistMode::SyncAll).is_ok()
            {
                marks.write(&path);
            }
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

/// Starts the engine in a directory.
fn start(path: &Path, workers: usize, settings: &FjallSettings, existed: bool) -> Result<Database, Error> {
    let opened = guarded(path, || {
        hidden::workers(Database::builder(path), workers)
            .cache_size(settings.cache_bytes)
            .max_journaling_size(settings.journal_bytes)
            .max_cached_files(Some(settings.open_files))
            .open()
    });
    opened.map_err(|error| if existed { failure::opening(error) } else { error })
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
