//! The calls of LMDB that the compiler cannot check, in a crate of their own.
//!
//! Opening a database maps its file into memory, and growing the map moves it. Both are sound only while nobody changes
//! the file behind LMDB's back and nobody reads a map that moves, and neither is for a compiler to know. [`Environment`]
//! sees to it: it holds a lock on the file, and hands out transactions that growing waits for. Everything else that is done
//! with a database is done through `heed`, which this crate re-exports.
//!
//! # Hostile input
//!
//! LMDB trusts its file, and one that was damaged, or made to harm, could end the process. So a file is looked through before
//! it is mapped, unless [`Options::verify`] says otherwise: every page that can be reached, all rows by a checksum that every
//! commit [keeps](Tally), and the bytes of all pages if the database was [sealed](Environment::seal) when it was closed.

mod inspect;
mod seal;
mod tally;

use std::fmt;
use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};
use std::time::{Duration, Instant};

pub use heed;
use heed::types::Bytes;
use heed::{DatabaseOpenOptions, Env, EnvFlags, EnvOpenOptions, MdbError, RoTxn, RwTxn, WithoutTls};

use crate::inspect::Failure;
use crate::tally::{KEY, Recorded};
pub use crate::tally::{Seed, Tally};

/// The file of rows inside a directory.
pub const FILE: &str = "data.mdb";

/// A database that is open.
#[derive(Debug)]
pub struct Environment {
    env: Env<WithoutTls>,
    lock: Arc<File>,
    // Held for reading by every transaction, and for writing while the map moves.
    still: Arc<RwLock<()>>,
    // One for each transaction that is open, and one here.
    open: Arc<()>,
    // The sum of all rows when the file was looked through; `None` if it was not.
    begun: Option<Recorded>,
    // The last page when the list of readers was last looked through.
    looked: AtomicUsize,
    // Whether the map could not be moved, and is no more: LMDB takes the old one away first.
    lost: AtomicBool,
}

/// How a database is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Bytes of addresses to map; `None` for as many as the file says, when it is only read, or as many as there may be.
    pub map_bytes: Option<usize>,
    /// The least of them that will do, where the process may not map as many: then half as many are tried, and half of that.
    pub least_map_bytes: usize,
    /// The most transactions that read at a time.
    pub readers: u32,
    /// The most named databases.
    pub databases: u32,
    /// What a commit waits for.
    pub sync: Sync,
    /// Whether it is written.
    pub access: Access,
    /// Whether the file is looked through before it is mapped, which reads all of it, and commits keep a checksum of all rows. It
    /// never is beside a writer, and not on machines whose words have other than 64 bits.
    pub verify: bool,
}

/// What a commit waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sync {
    /// The disk has everything.
    All,
    /// The disk has the rows: the last commit may be undone by a loss of power.
    Rows,
    /// Nothing: the database may be damaged by a loss of power.
    None,
}

/// Whether a database is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Read and written.
    Write,
    /// Read. If nobody has it open to write, nothing is written beside it either.
    Read,
}

/// Why a database was not opened.
#[derive(Debug)]
pub enum Refused {
    /// Another has it open.
    AlreadyOpen,
    /// The system refused.
    Io(io::Error),
    /// The file is damaged: what is wrong, with its name.
    Damaged(String),
    /// LMDB refused.
    Lmdb(heed::Error),
}

/// A transaction that reads. The map does not move while it is open.
pub struct Reading {
    // It ends before the others say that it has.
    transaction: RoTxn<'static, WithoutTls>,
    _open: Arc<()>,
    _lock: Arc<File>,
}

impl Reading {
    /// The transaction.
    pub fn transaction(&self) -> &RoTxn<'static, WithoutTls> {
        &self.transaction
    }
}

impl fmt::Debug for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reading").field("id", &self.transaction.id()).finish_non_exhaustive()
    }
}

/// How often a writer tries to get the lock, and how long it waits between. A process that this one is about to start holds its files
/// for a moment.
const LOCK_TRIES: u32 = 10;
const LOCK_WAIT: Duration = Duration::from_millis(20);

/// By how many pages the file grows before the list of readers is looked through again.
const GROWN_PAGES: usize = 1024;

fn lock(file: &File) -> Result<(), TryLockError> {
    for _ in 1..LOCK_TRIES {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_WAIT),
            decided => return decided,
        }
    }
    file.try_lock()
}

impl Environment {
    /// Opens the database in a directory, which must exist.
    pub fn open(directory: &Path, options: &Options) -> Result<Self, Refused> {
        if options.verify {
            missing(directory)?;
        }
        let mut file = File::options();
        file.read(true);
        if options.access == Access::Write {
            file.write(true).create(true).truncate(false);
        }
        let file = file.open(directory.join(FILE)).map_err(Refused::Io)?;
        let locked = match options.access {
            Access::Write => lock(&file),
            Access::Read => file.try_lock_shared(),
        };
        let mut flags = match options.sync {
            Sync::All => EnvFlags::empty(),
            Sync::Rows => EnvFlags::NO_META_SYNC,
            Sync::None => EnvFlags::NO_SYNC,
        };
        // Rows that are read once should not drive others out of the system's memory.
        flags |= EnvFlags::NO_READ_AHEAD;
        let alone = locked.is_ok();
        match (locked, options.access) {
            (Ok(()), Access::Write) => {}
            // The lock keeps writers out, and LMDB's own, which is a file, is not needed.
            (Ok(()), Access::Read) => flags |= EnvFlags::READ_ONLY | EnvFlags::NO_LOCK,
            // A writer has it: LMDB's own lock tells it which pages are read.
            (Err(TryLockError::WouldBlock), Access::Read) => flags |= EnvFlags::READ_ONLY,
            (Err(TryLockError::WouldBlock), Access::Write) => return Err(Refused::AlreadyOpen),
            (Err(TryLockError::Error(error)), _) => return Err(Refused::Io(error)),
        }
        let begun = if alone && options.verify { verify(&file, directory)? } else { None };
        let env = map_what_may_be(directory, options, flags).map_err(|error| match error {
            heed::Error::EnvAlreadyOpened => Refused::AlreadyOpen,
            heed::Error::Io(error) => Refused::Io(error),
            other => Refused::Lmdb(other),
        })?;
        let last_page = AtomicUsize::new(env.info().last_page_number);
        let (still, open) = Default::default();
        let lost = AtomicBool::new(false);
        Ok(Self { env, lock: Arc::new(file), still, open, begun, looked: last_page, lost })
    }

    /// Keeps the map where it is, if there is one.
    fn still(&self) -> Result<RwLockReadGuard<'_, ()>, heed::Error> {
        let still = self.still.read().unwrap_or_else(PoisonError::into_inner);
        if self.lost.load(Ordering::Relaxed) { Err(heed::Error::Io(no_map())) } else { Ok(still) }
    }

    /// Opens a transaction that reads.
    ///
    /// A writer in another process may have filled more than is mapped here: then more is mapped. That cannot be done while
    /// another transaction is open, and is refused as [`MdbError::MapResized`].
    pub fn read(&self) -> Result<Reading, heed::Error> {
        match self.begin() {
            Err(heed::Error::Mdb(MdbError::MapResized)) if self.follow()? => self.begin(),
            begun => begun,
        }
    }

    fn begin(&self) -> Result<Reading, heed::Error> {
        let _still = self.still()?;
        let transaction = match self.env.clone().static_read_txn() {
            // There may be places of readers that are no more.
            Err(heed::Error::Mdb(MdbError::ReadersFull)) if self.env.clear_stale_readers()? > 0 => {
                self.env.clone().static_read_txn()?
            }
            opened => opened?,
        };
        Ok(Reading { transaction, _open: self.open.clone(), _lock: self.lock.clone() })
    }

    /// Opens the transaction that writes, waits for any other, and runs `change` in it. An error leaves nothing.
    ///
    /// What `change` adds to named trees and takes from them it says to the tally: else the file is refused as damaged when
    /// it is next opened.
    pub fn write<T, E: From<heed::Error>>(
        &self,
        change: impl FnOnce(&mut RwTxn<'_>, &mut Tally) -> Result<T, E>,
    ) -> Result<T, E> {
        let _still = self.still()?;
        self.forget_the_dead()?;
        let mut transaction = self.env.write_txn()?;
        let mut tally = self.tally(&transaction)?;
        let done = change(&mut transaction, &mut tally)?;
        if let Some(sum) = tally.sum()
            && let Some(main) = self.env.open_database::<Bytes, Bytes>(&transaction, None)?
        {
            let recorded = Recorded { transaction: transaction.id() as u64, sum };
            main.put(&mut transaction, KEY, &recorded.to_bytes())?;
        }
        transaction.commit()?;
        Ok(done)
    }

    /// Takes processes that were killed while they read off the list of readers, now and then: as long as one is on it, no page
    /// that it could see is used again, and every commit makes the file longer.
    fn forget_the_dead(&self) -> Result<(), heed::Error> {
        let last = self.env.info().last_page_number;
        if last >= self.looked.load(Ordering::Relaxed).saturating_add(GROWN_PAGES) {
            self.looked.store(last, Ordering::Relaxed);
            self.env.clear_stale_readers()?;
        }
        Ok(())
    }

    /// The sum of all rows before a transaction that writes: as the last one left it, or as the file was when it was opened.
    fn tally(&self, transaction: &RwTxn<'_>) -> Result<Tally, heed::Error> {
        // A file whose rows nobody added up has no sum to go on with, or does not want one.
        let Some(begun) = self.begun else { return Ok(Tally::UNKNOWN) };
        let main = self.env.open_database::<Bytes, Bytes>(transaction, None)?;
        let stored = main.map(|main| main.get(transaction, KEY)).transpose()?.flatten();
        let last = stored.and_then(Recorded::read).filter(|stored| stored.transaction > begun.transaction);
        let last = last.unwrap_or(begun);
        let follows = last.transaction.checked_add(1) == Some(transaction.id() as u64);
        Ok(if follows { Tally::known(last.sum) } else { Tally::UNKNOWN })
    }

    /// How a named tree is opened or made, inside of a transaction.
    pub fn options(&self) -> DatabaseOpenOptions<'_, '_, WithoutTls, Bytes, Bytes> {
        self.env.database_options().types::<Bytes, Bytes>()
    }

    /// Runs a call that opens transactions of its own, and writes nothing.
    pub fn with<T, E: From<heed::Error>>(
        &self,
        call: impl FnOnce(&Env<WithoutTls>) -> Result<T, E>,
    ) -> Result<T, E> {
        let _still = self.still()?;
        call(&self.env)
    }

    /// Writes down beside the file what is in it, so that any change is noticed when it is next opened; not if looking through
    /// it takes longer than `within`. Nobody writes meanwhile. What was committed must be on the disk.
    pub fn seal(&self, within: Duration) -> Result<(), Refused> {
        if !KNOWN_MACHINE {
            return Ok(());
        }
        let deadline = Instant::now().checked_add(within);
        let _still = self.still().map_err(Refused::Lmdb)?;
        let _alone = self.env.write_txn().map_err(Refused::Lmdb)?;
        match inspect::inspect(&self.lock, deadline) {
            Ok(found) => seal::write(self.env.path(), found).map_err(Refused::Io),
            Err(Failure::Late) => Ok(()),
            Err(failure) => Err(refused(failure)),
        }
    }

    /// The bytes that are mapped, and those of them that pages take.
    pub fn map_bytes(&self) -> Result<(usize, usize), heed::Error> {
        let _still = self.still()?;
        Ok(self.mapped())
    }

    fn mapped(&self) -> (usize, usize) {
        let info = self.env.info();
        let page = usize::try_from(self.env.stat().page_size).unwrap_or(4096);
        (info.map_size, (info.last_page_number.saturating_add(1)).saturating_mul(page))
    }

    /// Maps so many bytes, a multiple of a page; says whether it could: not while a transaction is open.
    pub fn grow(&self, map_bytes: usize) -> Result<bool, heed::Error> {
        let _moves = self.still.write().unwrap_or_else(PoisonError::into_inner);
        self.grow_to(map_bytes)
    }

    /// Maps what a writer in another process has filled, and as much again if that may be.
    fn follow(&self) -> Result<bool, heed::Error> {
        let _moves = self.still.write().unwrap_or_else(PoisonError::into_inner);
        if self.lost.load(Ordering::Relaxed) {
            return Err(heed::Error::Io(no_map()));
        }
        let (map, filled) = self.mapped();
        let least = filled.next_multiple_of(MAP_STEP);
        if least <= map {
            // Another thread was first.
            return Ok(true);
        }
        match self.grow_to(least.saturating_mul(2)) {
            Err(heed::Error::Io(error)) if error.kind() == io::ErrorKind::OutOfMemory => self.grow_to(least),
            grown => grown,
        }
    }

    /// Maps so many bytes; the caller sees to it that no transaction begins meanwhile.
    fn grow_to(&self, map_bytes: usize) -> Result<bool, heed::Error> {
        if Arc::strong_count(&self.open) > 1 {
            return Ok(false);
        }
        if self.lost.load(Ordering::Relaxed) {
            return Err(heed::Error::Io(no_map()));
        }
        // The old map goes before the new one is asked for, so that this is to be known before.
        if addresses_left().is_some_and(|left| map_bytes.saturating_sub(self.mapped().0) as u64 > left) {
            return Err(heed::Error::Io(io::ErrorKind::OutOfMemory.into()));
        }
        let moved = resize(&self.env, map_bytes);
        self.lost.store(moved.is_err(), Ordering::Relaxed);
        moved.map(|()| true)
    }
}

/// There is no map any more.
#[cold]
fn no_map() -> io::Error {
    io::Error::other("the file could not be mapped anew, and has to be opened again")
}

/// Addresses that are kept for others when the map grows.
const SPARED: u64 = 8 << 20;

/// The bytes of addresses that the process may still take; `None` if it may take any.
fn addresses_left() -> Option<u64> {
    let most = rustix::process::getrlimit(rustix::process::Resource::As).current?;
    // `pages of addresses | …`
    let taken = std::fs::read_to_string("/proc/self/statm").ok()?;
    let taken: u64 = taken.split(' ').next()?.parse().ok()?;
    let taken = taken.saturating_mul(rustix::param::page_size() as u64);
    Some(most.saturating_sub(taken).saturating_sub(SPARED))
}

/// The files of others have other layouts.
const KNOWN_MACHINE: bool = cfg!(target_pointer_width = "64");

/// Refuses a file that LMDB cannot be given, or whose rows or pages are not as they were written; gives the sum of the rows. One
/// that is empty is a new one.
fn verify(file: &File, directory: &Path) -> Result<Option<Recorded>, Refused> {
    if !KNOWN_MACHINE {
        return Ok(None);
    }
    if file.metadata().map_err(Refused::Io)?.len() == 0 {
        return Ok(Some(Recorded { transaction: 0, sum: 0 }));
    }
    let found = inspect::inspect(file, None).map_err(refused)?;
    match seal::read(directory).and_then(|sealed| seal::broken(sealed, found)) {
        Some(what) => Err(Refused::Damaged(what)),
        None => Ok(Some(Recorded { transaction: found.transaction, sum: found.sum })),
    }
}

/// Refuses to make again what was there when it was closed.
fn missing(directory: &Path) -> Result<(), Refused> {
    let empty = std::fs::metadata(directory.join(FILE)).map_or(true, |file| file.len() == 0);
    match seal::read(directory).filter(|_| empty) {
        Some(sealed) => Err(Refused::Damaged(format!(
            "{FILE} is missing or empty, and had transaction {} when it was closed (the file {} says so)",
            sealed.transaction,
            seal::SEAL
        ))),
        None => Ok(()),
    }
}

fn refused(failure: Failure) -> Refused {
    match failure {
        Failure::Io(error) => Refused::Io(error),
        Failure::Damaged(what) => Refused::Damaged(what),
        Failure::Late => Refused::Io(io::ErrorKind::TimedOut.into()),
    }
}

/// The flags of a named tree, by the row that the main tree has of it; `None` of any other row.
pub fn tree_flags(record: &[u8]) -> Option<u16> {
    inspect::flags(record)
}

/// Maps as many addresses as asked for, or as the process may have.
fn map_what_may_be(
    directory: &Path,
    options: &Options,
    flags: EnvFlags,
) -> Result<Env<WithoutTls>, heed::Error> {
    let mut options = *options;
    loop {
        let error = match map(directory, &options, flags) {
            Err(heed::Error::Io(error)) if too_much(&error) => error,
            mapped => return mapped,
        };
        // What the file says is what its writer may map.
        let bytes = options.map_bytes.unwrap_or(usize::MAX / 2);
        let half = (bytes / 2).next_multiple_of(MAP_STEP);
        if half >= bytes || bytes / 2 < options.least_map_bytes {
            return Err(heed::Error::Io(error));
        }
        options.map_bytes = Some(half);
    }
}

/// Whether the system says that a process may not map so much. It may say of a length that it does not like it.
fn too_much(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::OutOfMemory | io::ErrorKind::InvalidInput)
}

/// Maps have so many bytes, or a multiple.
pub const MAP_STEP: usize = 1 << 20;

#[expect(unsafe_code, reason = "LMDB maps a file, and the compiler cannot know who else changes it")]
fn map(directory: &Path, options: &Options, flags: EnvFlags) -> Result<Env<WithoutTls>, heed::Error> {
    let mut opening = EnvOpenOptions::new().read_txn_without_tls();
    opening.max_readers(options.readers).max_dbs(options.databases);
    if let Some(bytes) = options.map_bytes {
        opening.map_size(bytes);
    }
    // SAFETY: of the flags, NO_SYNC and NO_META_SYNC are dangerous only after a loss of power, and NO_LOCK without a lock of
    // one's own, which the caller holds. The file is changed by nobody but LMDB: programs that write it take its lock.
    unsafe { opening.flags(flags).open(directory) }
}

#[expect(unsafe_code, reason = "LMDB moves its map, and the compiler cannot know who reads it")]
fn resize(env: &Env<WithoutTls>, bytes: usize) -> Result<(), heed::Error> {
    // SAFETY: no transaction is open: each takes the lock that the caller holds for itself, and those that outlive it are
    // counted.
    unsafe { env.resize(bytes) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(access: Access) -> Options {
        Options {
            map_bytes: Some(MAP_STEP),
            least_map_bytes: MAP_STEP,
            readers: 8,
            databases: 2,
            sync: Sync::None,
            access,
            verify: true,
        }
    }

    #[test]
    fn one_writes_and_others_read_and_the_map_does_not_move_under_them() {
        let directory = tempfile::tempdir().unwrap();
        let environment = Environment::open(directory.path(), &options(Access::Write)).unwrap();
        assert!(matches!(
            Environment::open(directory.path(), &options(Access::Write)),
            Err(Refused::AlreadyOpen)
        ));
        let rows = environment
            .write(|write, tally| {
                let rows = environment.env.create_database::<Bytes, Bytes>(write, Some("rows"))?;
                rows.put(write, b"k", b"v")?;
                tally.add(Seed::new(b"rows", 0), b"k", b"v");
                Ok::<_, heed::Error>(rows)
            })
            .unwrap();
        let reading = environment.read().unwrap();
        assert_eq!(rows.get(reading.transaction(), b"k").unwrap(), Some(&b"v"[..]));
        assert!(!environment.grow(4 << 20).unwrap());
        drop(reading);
        assert!(environment.grow(4 << 20).unwrap());
        assert_eq!(environment.map_bytes().unwrap().0, 4 << 20);
        let undone = environment.write(|write, _| {
            rows.put(write, b"k", b"w")?;
            Err::<(), _>(heed::Error::EnvAlreadyOpened)
        });
        assert!(undone.is_err());
        assert_eq!(rows.get(environment.read().unwrap().transaction(), b"k").unwrap(), Some(&b"v"[..]));
    }

    /// LMDB takes the old map away before it asks for the new one.
    #[test]
    fn a_database_whose_map_could_not_be_moved_refuses_what_would_read_it() {
        let directory = tempfile::tempdir().unwrap();
        let environment = Environment::open(directory.path(), &options(Access::Write)).unwrap();
        environment.grow(1 << 60).unwrap_err();
        for refused in [
            environment.read().map(drop),
            environment.write(|_, _| Ok::<_, heed::Error>(())),
            environment.with(heed::Env::force_sync),
            environment.map_bytes().map(drop),
            environment.grow(4 << 20).map(drop),
        ] {
            let said = refused.unwrap_err().to_string();
            assert_eq!(said, "the file could not be mapped anew, and has to be opened again");
        }
        assert!(environment.seal(Duration::from_secs(1)).is_err());
        drop(environment);
        Environment::open(directory.path(), &options(Access::Write)).unwrap().read().unwrap();
    }

    /// A database whose file is as a killed process leaves it.
    fn killed(directory: &Path, change: impl FnOnce(&Environment)) -> Vec<u8> {
        let environment = Environment::open(directory, &options(Access::Write)).unwrap();
        change(&environment);
        std::fs::read(directory.join(FILE)).unwrap()
    }

    #[test]
    fn a_row_that_was_changed_is_noticed_after_a_kill() {
        let directory = tempfile::tempdir().unwrap();
        let whole = killed(directory.path(), |environment| {
            for value in ["a value", "another value"] {
                let written = environment.write(|write, tally| {
                    let rows = environment.env.create_database::<Bytes, Bytes>(write, Some("rows"))?;
                    if let Some(old) = rows.get(write, b"k")? {
                        tally.take(Seed::new(b"rows", 0), b"k", old);
                    }
                    rows.put(write, b"k", value.as_bytes())?;
                    tally.add(Seed::new(b"rows", 0), b"k", value.as_bytes());
                    Ok::<_, heed::Error>(())
                });
                written.unwrap();
            }
        });
        Environment::open(directory.path(), &options(Access::Read)).unwrap();
        let at = whole.windows(13).position(|bytes| bytes == b"another value").unwrap();
        for bit in 0..13 * 8 {
            let mut changed = whole.clone();
            changed[at + bit / 8] ^= 1 << (bit % 8);
            std::fs::write(directory.path().join(FILE), changed).unwrap();
            let refused = Environment::open(directory.path(), &options(Access::Read));
            let Err(Refused::Damaged(what)) = refused else { panic!("bit {bit}: {refused:?}") };
            assert_eq!(what, "data.mdb has other rows than were committed, by their checksum");
        }
    }

    #[test]
    fn what_another_program_wrote_is_no_damage_and_is_counted_from_then_on() {
        let directory = tempfile::tempdir().unwrap();
        let put = |environment: &Environment, value: &[u8], counted: bool| {
            let written = environment.write(|write, tally| {
                let rows = environment.env.create_database::<Bytes, Bytes>(write, Some("rows"))?;
                rows.put(write, value, value)?;
                if counted {
                    assert!(tally.counts());
                    tally.add(Seed::new(b"rows", 0), value, value);
                }
                Ok::<_, heed::Error>(())
            });
            written.unwrap();
        };
        killed(directory.path(), |environment| put(environment, b"one", true));
        // One that does not look through files keeps no sum either.
        let unchecked = Options { verify: false, ..options(Access::Write) };
        put(&Environment::open(directory.path(), &unchecked).unwrap(), b"other", false);
        let whole = killed(directory.path(), |environment| put(environment, b"three", true));
        // Wherever it is: pages of earlier transactions have it, too.
        let places = whole.windows(5).enumerate().filter(|(_, bytes)| *bytes == b"other");
        let mut changed = whole.clone();
        places.for_each(|(at, _)| changed[at + 4] ^= 1);
        std::fs::write(directory.path().join(FILE), changed).unwrap();
        let refused = Environment::open(directory.path(), &options(Access::Read));
        assert!(matches!(refused, Err(Refused::Damaged(_))), "{refused:?}");
    }
}
