mod failure;
mod rows;
mod settings;
mod snapshot;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use keyplan_lmdb::heed::types::Bytes;
use keyplan_lmdb::heed::{self, Database, DatabaseFlags, PutFlags, RwTxn};
use keyplan_lmdb::{Access, Environment, FILE, MAP_STEP, Options, Seed, Sync, Tally, tree_flags};

use self::failure::{Stopped, full, kind, opening, translated};
use super::ages::Ages;
use super::{
    Action, Batch, Capabilities, Durability, Engine, Error, Expectation, MultimapEngine, Numbers, Operation,
    Setting, SharedBytes, Space, SpaceId, SpaceKind, Statistics, Survives, TooLarge, unsorted,
};

pub use rows::{LmdbBytes, LmdbRange, LmdbValueRange, LmdbValues};
pub use settings::{LmdbBuffer, LmdbSettings};
pub use snapshot::LmdbSnapshot;

/// An embedded engine of copy-on-write trees in one mapped file, with spaces in which a key has several values.
///
/// It reads at the speed of memory and opens at once; commits are dearer than fjall's. One writes at a time. A database
/// that is open can be read by other processes, with [`Lmdb::open_read_only`].
///
/// Pages of rows that are gone are used again, and not given back: [`Engine::compact`] does nothing here, and a backup is
/// a compacted copy. The engine trusts its file, so it is looked through before the engine has it
/// ([`LmdbSettings::verify_on_open`]).
pub struct Lmdb {
    environment: Environment,
    spaces: Arc<Vec<Opened>>,
    directory: PathBuf,
    settings: LmdbSettings,
    ages: Ages,
    closed: AtomicBool,
    // After a commit that may or may not have been applied: the next one could hide which.
    poisoned: AtomicBool,
    // Whether it was opened to read: another process may write meanwhile.
    reads: bool,
    numbers: Numbers,
}

type Rows = Database<Bytes, Bytes>;

/// A space, and the engine's handle on it.
#[derive(Clone, Debug)]
struct Opened {
    space: Space,
    rows: Rows,
    // What it adds to the checksum of its rows.
    seed: Seed,
}

/// What a row may be.
const LIMITS: keyplan_plan::Limits = keyplan_plan::Engine::Lmdb.limits();

/// Bytes that one transaction of an ingestion has.
const INGESTED_BYTES: u64 = 32 * 1024 * 1024;

impl Lmdb {
    /// Opens the database in a directory, and makes it if there is none.
    pub fn open(directory: impl AsRef<Path>, settings: LmdbSettings) -> Result<Self, Error> {
        let directory = directory.as_ref();
        #[cfg(feature = "fjall")]
        if super::Fjall::exists(directory) {
            return Err(Error::OtherEngine { path: directory.to_owned(), found: super::Fjall::NAME });
        }
        #[cfg(feature = "redb")]
        if super::Redb::exists(directory) {
            return Err(Error::OtherEngine { path: directory.to_owned(), found: super::Redb::NAME });
        }
        std::fs::create_dir_all(directory).map_err(Error::io("making the directory"))?;
        Self::open_with(directory, settings, Access::Write)
    }

    /// Opens the database in a directory for reading. Others may read it meanwhile, and one may write it.
    ///
    /// Nothing is written, unless another process has it open to write: then this one is entered into the list of readers
    /// beside the database, so that no page that it reads is used again.
    pub fn open_read_only(directory: impl AsRef<Path>, settings: LmdbSettings) -> Result<Self, Error> {
        let directory = directory.as_ref();
        if !Self::exists(directory) {
            return Err(Error::NotFound { path: directory.to_owned() });
        }
        let engine = Self::open_with(directory, settings, Access::Read)?;
        engine.closed.store(true, Ordering::Release);
        Ok(engine)
    }

    /// Opens the database in a directory, and makes none.
    pub fn open_existing(directory: impl AsRef<Path>, settings: LmdbSettings) -> Result<Self, Error> {
        let directory = directory.as_ref();
        if Self::exists(directory) {
            Self::open(directory, settings)
        } else {
            Err(Error::NotFound { path: directory.to_owned() })
        }
    }

    /// Whether there is a database of this engine in a directory.
    pub fn exists(directory: impl AsRef<Path>) -> bool {
        std::fs::metadata(directory.as_ref().join(FILE)).is_ok_and(|file| file.is_file() && file.len() > 0)
    }

    fn open_with(directory: &Path, settings: LmdbSettings, access: Access) -> Result<Self, Error> {
        let environment = environment(directory, &settings, access)?;
        let mut engine = Self {
            environment,
            spaces: Arc::default(),
            directory: directory.to_owned(),
            settings,
            ages: Ages::default(),
            closed: AtomicBool::new(false),
            poisoned: AtomicBool::new(false),
            reads: access == Access::Read,
            numbers: Numbers::default(),
        };
        engine.spaces = Arc::new(engine.stored()?);
        Ok(engine)
    }

    /// The spaces that are in the file, by name.
    fn stored(&self) -> Result<Vec<Opened>, Error> {
        let names = self.environment.with(|env| -> Result<Vec<(String, SpaceKind, Seed)>, heed::Error> {
            let read = env.read_txn()?;
            let Some(root) = env.open_database::<Bytes, Bytes>(&read, None)? else { return Ok(Vec::new()) };
            let mut names = Vec::new();
            for row in root.iter(&read)? {
                let (name, record) = row?;
                // The flags of a plain row of that length are anything; it is not a database then, and does not open as one.
                if let Some(flags) = tree_flags(record)
                    && let Ok(text) = std::str::from_utf8(name)
                {
                    let several = flags & SEVERAL != 0;
                    let kind = if several { SpaceKind::Multimap } else { SpaceKind::Map };
                    names.push((text.to_owned(), kind, Seed::new(name, flags)));
                }
            }
            // A handle that is opened in a transaction lasts if that is committed.
            read.commit()?;
            Ok(names)
        });
        let mut stored = Vec::new();
        for (name, kind, seed) in names.map_err(translated)? {
            let opened = self.environment.with(|env| -> Result<Option<Rows>, heed::Error> {
                let read = env.read_txn()?;
                let rows = env.database_options().types::<Bytes, Bytes>().name(&name).open(&read)?;
                read.commit()?;
                Ok(rows)
            });
            match opened {
                Ok(Some(rows)) => {
                    stored.push(Opened { space: Space { kind, ..Space::map(name) }, rows, seed });
                }
                Ok(None) | Err(heed::Error::Mdb(heed::MdbError::Incompatible)) => {}
                Err(error) => return Err(translated(error)),
            }
        }
        stored.sort_by(|a, b| a.space.name.cmp(&b.space.name));
        Ok(stored)
    }

    fn writable(&self) -> Result<(), Error> {
        if self.closed.load(Ordering::Acquire) {
            return Err(Error::Closed);
        }
        if self.poisoned.load(Ordering::Acquire) { Err(Error::Poisoned { source: None }) } else { Ok(()) }
    }

    /// Runs a change in a transaction; again with a larger map, if the map was full.
    fn write<T>(
        &self,
        mut change: impl FnMut(&mut RwTxn<'_>, &mut Tally) -> Result<T, Stopped>,
    ) -> Result<T, Error> {
        loop {
            match self.environment.write(&mut change) {
                Ok(done) => return Ok(done),
                Err(Stopped::Failed(error)) => return Err(error),
                Err(Stopped::Full) => {
                    let (map, _) = self.environment.map_bytes().map_err(translated)?;
                    let grown = map.checked_mul(2).ok_or_else(full)?;
                    match self.environment.grow(grown) {
                        Ok(true) => {}
                        Ok(false) | Err(_) => return Err(full()),
                    }
                }
            }
        }
    }

    /// Doubles a map that is half full, if nobody reads it just now: later somebody may.
    fn keep_room(&self) {
        if let Ok((map, used)) = self.environment.map_bytes()
            && used > map / 2
            && let Some(grown) = map.checked_mul(2)
        {
            // If it cannot be done now, it is tried again; if the map is full before that, the commit says so.
            let _ = self.environment.grow(grown);
        }
    }

    /// Refuses as a conflict what is otherwise than a batch expects.
    fn check(&self, write: &RwTxn<'_>, expectations: &[Expectation]) -> Result<(), Stopped> {
        for Expectation { space, expected } in expectations {
            let opened = self.spaces.get(self.numbers.index(*space));
            let opened = opened.ok_or(Error::NoSpace { number: space.0 })?;
            if opened.space.kind != SpaceKind::Map {
                return Err(kind(&opened.space, SpaceKind::Map).into());
            }
            if !snapshot::holds(opened.rows, write, expected)? {
                return Err(Error::Conflict.into());
            }
        }
        Ok(())
    }

    fn apply(
        &self,
        write: &mut RwTxn<'_>,
        tally: &mut Tally,
        operations: &[Operation<SharedBytes>],
    ) -> Result<(), Stopped> {
        for Operation { space, key, action } in operations {
            let index = self.numbers.index(*space);
            let opened = self.spaces.get(index).ok_or(Error::NoSpace { number: space.0 })?;
            match (action, opened.space.kind) {
                // Several values of a key are keys of a tree themselves, and none of those is empty.
                (Action::AddValue(value), SpaceKind::Multimap) if value.is_empty() => {
                    let what = "empty values where a key has several";
                    return Err(Error::Unsupported { engine: Self::NAME, what }.into());
                }
                (Action::Put(value), SpaceKind::Map) => opened.put(write, tally, key, value)?,
                (Action::AddValue(value), SpaceKind::Multimap) => opened.add(write, tally, key, value)?,
                (Action::Delete, _) => opened.delete(write, tally, key)?,
                (Action::RemoveValue(value), SpaceKind::Multimap) if value.is_empty() => {}
                (Action::RemoveValue(value), SpaceKind::Multimap) => {
                    if opened.rows.delete_one_duplicate(write, key, value)? {
                        tally.take(opened.seed, key, value);
                    }
                }
                (Action::Put(_), SpaceKind::Multimap) => {
                    return Err(kind(&opened.space, SpaceKind::Map).into());
                }
                (Action::AddValue(_) | Action::RemoveValue(_), SpaceKind::Map) => {
                    return Err(kind(&opened.space, SpaceKind::Multimap).into());
                }
            }
        }
        Ok(())
    }
}

/// Of the flags in the engine's record of a database: a key may have several values.
const SEVERAL: u16 = 0x04;

/// Changes of rows, which the checksum of all rows takes part in: it needs what was there before.
impl Opened {
    fn put(
        &self,
        write: &mut RwTxn<'_>,
        tally: &mut Tally,
        key: &[u8],
        value: &[u8],
    ) -> Result<(), heed::Error> {
        if tally.counts() {
            // One way down the tree, for a row that is new.
            match self.rows.get_or_put(write, key, value)? {
                Some(same) if same == value => return Ok(()),
                Some(old) => tally.take(self.seed, key, old),
                None => {
                    tally.add(self.seed, key, value);
                    return Ok(());
                }
            }
            tally.add(self.seed, key, value);
        }
        self.rows.put(write, key, value)
    }

    fn add(
        &self,
        write: &mut RwTxn<'_>,
        tally: &mut Tally,
        key: &[u8],
        value: &[u8],
    ) -> Result<(), heed::Error> {
        match self.rows.put_with_flags(write, PutFlags::NO_DUP_DATA, key, value) {
            Ok(()) => tally.add(self.seed, key, value),
            // It is among the values.
            Err(heed::Error::Mdb(heed::MdbError::KeyExist)) => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }

    fn delete(&self, write: &mut RwTxn<'_>, tally: &mut Tally, key: &[u8]) -> Result<(), heed::Error> {
        if tally.counts() {
            if self.space.kind == SpaceKind::Map {
                match self.rows.get(write, key)? {
                    Some(old) => tally.take(self.seed, key, old),
                    None => return Ok(()),
                }
            } else {
                for row in self.rows.get_duplicates(write, key)?.into_iter().flatten() {
                    tally.take(self.seed, key, row?.1);
                }
            }
        }
        self.rows.delete(write, key).map(drop)
    }
}

/// Opens the file, with as many addresses as asked for or as the process may have.
fn environment(directory: &Path, settings: &LmdbSettings, access: Access) -> Result<Environment, Error> {
    let sync = match settings.buffer {
        settings::LmdbBuffer::Rows => Sync::Rows,
        settings::LmdbBuffer::Nothing => Sync::None,
    };
    let filled = std::fs::metadata(directory.join(FILE)).map_or(0, |file| file.len());
    let filled = usize::try_from(filled).unwrap_or(usize::MAX);
    let least = filled.max(MAP_STEP).next_multiple_of(MAP_STEP);
    let asked = usize::try_from(settings.map_bytes).unwrap_or(usize::MAX / 2);
    let map = asked.max(least).next_multiple_of(MAP_STEP);
    let options = Options {
        map_bytes: (access == Access::Write).then_some(map),
        least_map_bytes: least,
        readers: settings.snapshots,
        databases: settings.spaces,
        sync,
        access,
        verify: settings.verify_on_open,
    };
    Environment::open(directory, &options).map_err(|refused| opening(refused, directory))
}

impl Engine for Lmdb {
    type Buffer = SharedBytes;
    type Snapshot = LmdbSnapshot;

    const NAME: &'static str = "lmdb";

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
            checks: true,
            buffer: Survives::Process,
            sync: match self.settings.buffer {
                LmdbBuffer::Rows => Survives::Power,
                // What was synced may be damaged by what is written later.
                LmdbBuffer::Nothing => Survives::Process,
            },
            foreign_commits: self.reads,
            ..Capabilities::PLAIN
        }
    }

    fn first_space(&self) -> u32 {
        self.numbers.first()
    }

    fn spaces(&self) -> Vec<Space> {
        self.spaces.iter().map(|opened| opened.space.clone()).collect()
    }

    fn create_space(&mut self, space: &Space) -> Result<SpaceId, Error> {
        let longest = usize::try_from(LIMITS.key_bytes).unwrap_or(usize::MAX);
        if space.name.is_empty() || space.name.len() > longest || space.name.contains('\0') {
            return Err(Error::SpaceName { name: space.name.clone() });
        }
        if let Some(id) = self.space(&space.name) {
            let found = self.spaces.get(self.numbers.index(id)).ok_or(Error::NoSpace { number: id.0 })?;
            return if found.space.kind == space.kind { Ok(id) } else { Err(kind(&found.space, space.kind)) };
        }
        self.writable()?;
        let flags = match space.kind {
            SpaceKind::Map => DatabaseFlags::empty(),
            SpaceKind::Multimap => DatabaseFlags::DUP_SORT,
        };
        // A handle belongs to the environment, and lasts if its transaction is committed.
        let rows = self.write(|write, _| {
            let mut options = self.environment.options();
            Ok(options.name(&space.name).flags(flags).create(write)?)
        })?;
        self.sync()?;
        let seed = Seed::new(space.name.as_bytes(), if flags.is_empty() { 0 } else { SEVERAL });
        Arc::make_mut(&mut self.spaces).push(Opened { space: space.clone(), rows, seed });
        self.space(&space.name).ok_or_else(|| Error::SpaceName { name: space.name.clone() })
    }

    fn snapshot(&self) -> Result<LmdbSnapshot, Error> {
        if self.settings.map_bytes < LmdbSettings::default().map_bytes && self.writable().is_ok() {
            self.keep_room();
        }
        let reading = self.environment.read().map_err(translated)?;
        let ticket = self.ages.open(self.settings.snapshot_age);
        Ok(LmdbSnapshot::new(reading, self.spaces.clone(), self.numbers, ticket))
    }

    fn commit(&self, mut batch: Batch<Self>, durability: Durability) -> Result<(), Error> {
        self.writable()?;
        batch.check(&self.capabilities())?;
        for Operation { action, .. } in batch.operations() {
            if let Action::AddValue(value) | Action::RemoveValue(value) = action {
                // Several values of a key are keys of a tree themselves.
                let found = value.len() as u64;
                if found > LIMITS.key_bytes {
                    return Err(Error::TooLarge { what: TooLarge::Value, limit: LIMITS.key_bytes, found });
                }
            }
        }
        let expectations = batch.take_expectations();
        let operations: Vec<_> = batch.into_sorted().collect();
        if !operations.is_empty() || !expectations.is_empty() {
            self.write(|write, tally| {
                // Asked again, with nobody else in here: a shutdown that has begun since does not wait for this batch.
                self.writable()?;
                // Nobody else can commit while this transaction is open.
                self.check(write, &expectations)?;
                self.apply(write, tally, &operations)
            })
            .map_err(|error| match error {
                error @ Error::Io { .. } if !is_full(&error) => self.unknown(error),
                other => other,
            })?;
        }
        if durability > Durability::Buffer {
            self.sync().map_err(|error| self.unknown(error))?;
        }
        Ok(())
    }

    /// With a map that need not grow: whoever writes it reads what it held before.
    fn beside(&self, directory: &Path) -> Result<Self, Error> {
        let mut settings = self.settings.clone();
        settings.map_bytes = settings.map_bytes.max(LmdbSettings::default().map_bytes);
        Self::open(directory, settings)
    }

    fn make_room(&self, bytes: u64) {
        let Ok((mut map, used)) = self.environment.map_bytes() else { return };
        // A commit may write every page anew, and leave those that it fills half empty.
        let needed = usize::try_from(bytes).unwrap_or(usize::MAX).saturating_add(used).saturating_mul(2);
        let needed = needed.saturating_add(MAP_STEP);
        if map >= needed {
            return;
        }
        while map < needed {
            let Some(doubled) = map.checked_mul(2) else { return };
            map = doubled;
        }
        // If it cannot be done, the commit says so.
        let _ = self.environment.grow(map);
    }

    fn copy_multimap(
        &self,
        from: &LmdbSnapshot,
        space: SpaceId,
        to: &Self,
        into: SpaceId,
    ) -> Result<u64, Error> {
        super::copy_values(from, space, to, into)
    }

    fn sync(&self) -> Result<(), Error> {
        if self.writable().is_err() {
            return Ok(());
        }
        self.force_sync()
    }

    fn checkpoint(&self, _: Duration) -> Result<(), Error> {
        self.sync()
    }

    /// Does nothing but [`Engine::sync`]: pages of rows that are gone are used again.
    fn compact(&self) -> Result<(), Error> {
        self.sync()
    }

    /// Writes down what is in the file, if there is time for it, so that damage is noticed when it is next opened.
    fn shutdown(&self, within: Duration) -> Result<(), Error> {
        if self.closed.swap(true, Ordering::AcqRel) {
            return Ok(());
        }
        self.force_sync()?;
        if within.is_zero() || !self.settings.verify_on_open || self.poisoned.load(Ordering::Acquire) {
            return Ok(());
        }
        self.environment.seal(within).map_err(|refused| opening(refused, &self.directory))
    }

    /// Appends, if the rows come after all others of the space; that fills pages without looking for places.
    fn ingest<I>(&self, space: SpaceId, rows: I) -> Result<u64, Error>
    where
        I: IntoIterator<Item = Result<(SharedBytes, SharedBytes), Error>>,
    {
        self.writable()?;
        let opened = self.spaces.get(self.numbers.index(space)).ok_or(Error::NoSpace { number: space.0 })?;
        if opened.space.kind != SpaceKind::Map {
            return Err(kind(&opened.space, SpaceKind::Map));
        }
        let capabilities = self.capabilities();
        let (mut some, mut bytes, mut count) = (Vec::new(), 0_u64, 0_u64);
        let mut last: Option<SharedBytes> = None;
        for row in rows {
            let (key, value) = row?;
            capabilities.admit::<Self>(key.len(), value.len())?;
            if last.as_ref().is_some_and(|last| *last >= key) {
                return Err(unsorted(&key));
            }
            last = Some(key.clone());
            bytes += (key.len() + value.len()) as u64;
            count += 1;
            some.push((key, value));
            if bytes >= INGESTED_BYTES {
                self.append(opened, &some)?;
                some.clear();
                bytes = 0;
            }
        }
        self.append(opened, &some)?;
        self.sync()?;
        Ok(count)
    }

    fn statistics(&self) -> Statistics {
        let (open_snapshots, oldest_snapshot) = self.ages.oldest();
        let disk_bytes = std::fs::metadata(self.directory.join(FILE)).ok().map(|file| file.len());
        Statistics { disk_bytes, open_snapshots, oldest_snapshot, ..Statistics::default() }
    }

    fn settings(&self) -> Vec<Setting> {
        self.settings.record()
    }

    fn directory(&self) -> Option<&Path> {
        Some(&self.directory)
    }
}

impl Lmdb {
    /// A commit failed on its way to the disk: whether it happened shows when the database is opened again.
    fn unknown(&self, error: Error) -> Error {
        self.poisoned.store(true, Ordering::Release);
        Error::CommitUnknown { source: Box::new(error) }
    }

    fn force_sync(&self) -> Result<(), Error> {
        self.environment.with(keyplan_lmdb::heed::Env::force_sync).map_err(translated)
    }

    fn append(&self, opened: &Opened, some: &[(SharedBytes, SharedBytes)]) -> Result<(), Error> {
        let Some((first, _)) = some.first() else { return Ok(()) };
        self.write(|write, tally| {
            self.writable()?;
            let last = opened.rows.last(write)?;
            if last.is_none_or(|(last, _)| last < &first[..]) {
                for (key, value) in some {
                    opened.rows.put_with_flags(write, PutFlags::APPEND, key, value)?;
                    tally.add(opened.seed, key, value);
                }
            } else {
                for (key, value) in some {
                    opened.put(write, tally, key, value)?;
                }
            }
            Ok(())
        })
    }
}

fn is_full(error: &Error) -> bool {
    matches!(error, Error::Io { doing, .. } if *doing == "growing the map of the database")
}

impl MultimapEngine for Lmdb {}

impl fmt::Debug for Lmdb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lmdb")
            .field("directory", &self.directory)
            .field("spaces", &self.spaces())
            .finish_non_exhaustive()
    }
}
