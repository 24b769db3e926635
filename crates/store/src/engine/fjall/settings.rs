use crate::engine::settings::{MIB, cache_bytes};
use crate::engine::{Error, Setting};
use std::time::Duration;

/// How a [`Fjall`](super::Fjall) database is set up.
///
/// The default is measured for a chain's state: many small rows, random point reads, batches of some thousand rows.
/// Bloom filters and compression are on, blocks are 4 KiB, and values stay beside their keys: for small values every
/// other choice cost more than it gave.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FjallSettings {
    /// Bytes of blocks kept in memory.
    ///
    /// The default is a sixteenth of the machine's memory (or of its control group's), at least 64 MiB and at most
    /// 1 GiB; 256 MiB where the system does not tell. Reads gain 1.5 to 2 times over 32 MiB on a database of 1 GiB.
    pub cache_bytes: u64,
    /// Threads that flush and compact.
    ///
    /// Three at least by default, on two cores as well: the engine keeps one free for flushing, and with only one other
    /// that one hands the work that is left back and forth, as fast as it can, until the other is done.
    pub workers: usize,
    /// Bytes of journals beyond which the spaces that hold the oldest one back are flushed; 64 MiB at least.
    ///
    /// Opening after a crash reads all of them: the default is the least.
    pub journal_bytes: u64,
    /// Bytes that a space collects in memory before it is flushed. Fixed when the space is created.
    pub memtable_bytes: u64,
    /// The same of a space for structures: every operation looks for a row before it writes one, and in fewer rows both are
    /// found sooner. Fixed when the space is created.
    pub structure_memtable_bytes: u64,
    /// Bytes of memtables beyond which commits wait for flushes and compactions to give memory back; `None` if they do not.
    ///
    /// A memtable takes about a quarter more than it counts. It is in memory while it is written and flushed, and for as long as a
    /// snapshot or a compaction from before is open.
    pub memtables_bytes: Option<u64>,
    /// Tables on the first level at which compaction begins. Fixed when the space is created.
    pub first_level_tables: u8,
    /// Bytes committed after which the journal is handed to the disk in the background.
    ///
    /// The engine does it before each flush, while commits wait. Little by little it costs them nothing.
    pub sync_journal_after: u64,
    /// Bytes committed after which spaces that were written little are flushed, so that they do not hold journals back.
    ///
    /// Commits wait while a flush of any space is entered into its list of tables, so that more often is not better.
    pub flush_small_after: u64,
    /// The age at which snapshots end, if they do: an old snapshot keeps old versions on disk.
    pub snapshot_age: Option<Duration>,
    /// The most bytes of keys and values in one batch: a batch is held in memory, twice while it is committed.
    pub batch_bytes: u64,
    /// Files kept open; the default leaves half of the process's limit to others.
    pub open_files: usize,
    /// What to do about a journal that was damaged after it was written.
    pub damaged_journal: DamagedJournal,
    /// Whether tables that are new since the database was last closed are read in full when it is opened, and compared
    /// with their checksums: half a second for each GiB, after a crash or in a database that another program wrote.
    ///
    /// Other tables are recognised by their properties, and every read checks the block that it reads.
    pub verify_new_tables: bool,
    /// How long dropping the engine waits for its threads.
    pub drop_wait: Duration,
}

/// What to do about a journal that was damaged after it was written: whole batches follow the damage, or it ends before
/// batches that are known to have been there.
///
/// A journal that merely ends in the middle of a write is not damage: that batch was never acknowledged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DamagedJournal {
    /// Refuse to open.
    #[default]
    Refuse,
    /// Open at the last batch before the damage, and lose those after it. Spaces that were flushed later keep theirs.
    Truncate,
}

impl Default for FjallSettings {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            cache_bytes: cache_bytes(),
            workers: cores.clamp(3, 4),
            journal_bytes: 64 * MIB,
            memtable_bytes: 64 * MIB,
            structure_memtable_bytes: 8 * MIB,
            memtables_bytes: None,
            first_level_tables: 4,
            sync_journal_after: 4 * MIB,
            flush_small_after: 96 * MIB,
            snapshot_age: None,
            batch_bytes: 512 * MIB,
            open_files: open_files(),
            damaged_journal: DamagedJournal::Refuse,
            verify_new_tables: true,
            drop_wait: Duration::from_secs(10),
        }
    }
}

impl FjallSettings {
    /// For filling a database in batches: larger memtables, so that fewer commits wait for a flush.
    ///
    /// It takes about 170 MiB more memory. Memtables are fixed with the spaces, so a database made with this keeps them.
    pub fn import() -> Self {
        Self { memtable_bytes: 128 * MIB, journal_bytes: 256 * MIB, ..Self::default() }
    }

    /// For machines with little memory: small memtables and cache. Writing costs about 1.4 times the time.
    pub fn small() -> Self {
        Self { cache_bytes: 32 * MIB, memtable_bytes: 16 * MIB, ..Self::default() }
    }

    /// For changing most rows of a database, batch by batch: what it takes is bounded, however many rows there are.
    ///
    /// Flushes and compactions take turns on one thread: two compactions at once hold twice as much, and so do the memtables that
    /// each of them keeps. It costs no more processor time than the default, but commits wait longer.
    pub fn rewriting() -> Self {
        Self { cache_bytes: 32 * MIB, memtables_bytes: Some(80 * MIB), workers: 1, ..Self::default() }
    }

    pub(super) fn check(&self) -> Result<(), Error> {
        let at_least = |name, found: u64, least: u64, expected| {
            if found < least { Err(Error::Setting { name, found, expected }) } else { Ok(()) }
        };
        at_least("journal_bytes", self.journal_bytes, 64 * MIB, "at least 64 MiB")?;
        at_least("memtable_bytes", self.memtable_bytes, MIB, "at least 1 MiB")?;
        at_least("structure_memtable_bytes", self.structure_memtable_bytes, MIB, "at least 1 MiB")?;
        let memtables = self.memtables_bytes.unwrap_or(u64::MAX);
        at_least("memtables_bytes", memtables, MIB, "at least 1 MiB")?;
        at_least("workers", self.workers as u64, 1, "at least 1")?;
        at_least("first_level_tables", self.first_level_tables.into(), 2, "at least 2")?;
        at_least("open_files", self.open_files as u64, 8, "at least 8")?;
        at_least("batch_bytes", self.batch_bytes, 1, "at least 1")
    }

    pub(super) fn record(&self) -> Vec<Setting> {
        vec![
            Setting::fixed("memtable_bytes", &self.memtable_bytes),
            Setting::fixed("structure_memtable_bytes", &self.structure_memtable_bytes),
            Setting::fixed("first_level_tables", &self.first_level_tables),
            Setting::per_open("cache_bytes", &self.cache_bytes),
            Setting::per_open("workers", &self.workers),
            Setting::per_open("journal_bytes", &self.journal_bytes),
        ]
    }
}

/// Half of the soft limit of open files, up to the engine's own bound.
fn open_files() -> usize {
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"));
    let soft =
        line.and_then(|line| line.split_whitespace().next()).and_then(|soft| soft.parse::<usize>().ok());
    soft.map_or(400, |soft| (soft / 2).clamp(16, 900))
}
