use std::time::Duration;

use keyplan_store::cache::MemoryBudget;
use keyplan_store::engine::{Durability, FjallSettings};

/// How a state store is set up. What is `None` is as the engine has it by default.
///
/// ```
/// use keyplan_chains::cardano::Config;
///
/// let config = Config { history: 100, ..Config::default() };
/// assert_eq!(config.shutdown_limit.as_secs(), 60);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Bytes of blocks or pages kept in memory. By default a sixteenth of the machine's memory, between 64 MiB and
    /// 1 GiB; the real store takes 500 MB.
    pub cache_bytes: Option<u64>,
    /// Bytes of rows kept in memory above the engine, by
    /// [`StateStore::open_cached`](super::StateStore::open_cached): three quarters of `cache_bytes` by default, which the
    /// engine then has a quarter of.
    pub row_cache_bytes: Option<u64>,
    /// Bytes of journals that fjall keeps before it flushes what holds the oldest one back: 64 MiB by default and at
    /// least. Opening after a crash reads all of them.
    pub journal_bytes: Option<u64>,
    /// Threads of fjall that flush and compact: one for each core by default, at least 3 and at most 4.
    pub workers: Option<usize>,
    /// Bytes that a space of fjall collects in memory before it is flushed: 64 MiB by default. Fixed when the database
    /// is made, which keeps it: [`StateStore::kept_settings`](super::StateStore::kept_settings) tells.
    pub memtable_bytes: Option<u64>,
    /// Tables on the first level of fjall at which compaction begins: 4 by default. Fixed when the database is made;
    /// the database keeps it: [`StateStore::kept_settings`](super::StateStore::kept_settings) tells.
    pub first_level_tables: Option<u8>,
    /// The most bytes of keys and values in one commit on fjall: 512 MiB by default. A commit is held in memory, twice
    /// while it is made.
    pub batch_bytes: Option<u64>,
    /// What a commit waits for: by default for being visible, and on fjall for outliving the process.
    pub durability: Durability,
    /// Whether every commit also waits for the disk; off by default.
    ///
    /// In the real store this hands the journal to the operating system once more, which a commit has done already, and
    /// never to the disk. Here it means the disk: at least [`Durability::SyncData`].
    pub flush_on_commit: bool,
    /// How many blocks can be rolled back: 2,160 by default, the most that the chain itself takes back. With 0 nothing
    /// is kept.
    ///
    /// Each block kept costs a read of every key that it writes, and a row with what it replaced.
    pub history: u64,
    /// How long [`shutdown`](super::StateStore::shutdown) may take: a minute by default.
    pub shutdown_limit: Duration,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            cache_bytes: None,
            row_cache_bytes: None,
            journal_bytes: None,
            workers: None,
            memtable_bytes: None,
            first_level_tables: None,
            batch_bytes: None,
            durability: Durability::Buffer,
            flush_on_commit: false,
            history: 2160,
            shutdown_limit: Duration::from_mins(1),
        }
    }
}

impl Config {
    /// For filling a store with blocks that will not be taken back: nothing is kept for rolling back.
    pub fn import() -> Self {
        Self { history: 0, ..Self::default() }
    }

    /// For a node that keeps a log of its own for rolling back, as Dolos does: nothing is kept for it here a second
    /// time, and one commit may have 4 GiB, since such a node clears whole namespaces in one.
    pub fn node() -> Self {
        Self { history: 0, batch_bytes: Some(4 << 30), ..Self::default() }
    }

    /// What a commit waits for, with everything taken into account.
    pub(super) fn commit_durability(&self) -> Durability {
        if self.flush_on_commit { self.durability.max(Durability::SyncData) } else { self.durability }
    }

    pub(super) fn fjall(&self) -> FjallSettings {
        let mut settings = FjallSettings::default();
        settings.cache_bytes = self.cache_bytes.unwrap_or(settings.cache_bytes);
        settings.journal_bytes = self.journal_bytes.unwrap_or(settings.journal_bytes);
        settings.workers = self.workers.unwrap_or(settings.workers);
        settings.memtable_bytes = self.memtable_bytes.unwrap_or(settings.memtable_bytes);
        settings.first_level_tables = self.first_level_tables.unwrap_or(settings.first_level_tables);
        settings.batch_bytes = self.batch_bytes.unwrap_or(settings.batch_bytes);
        settings
    }

    /// The settings of an engine with a row cache above it, and the bytes of that: one budget, divided.
    pub(super) fn divided(&self) -> (FjallSettings, u64) {
        let whole = self.cache_bytes.map_or_else(MemoryBudget::default, MemoryBudget::of);
        let mut settings = self.fjall();
        settings.cache_bytes = whole.blocks;
        (settings, self.row_cache_bytes.unwrap_or(whole.rows))
    }

    #[cfg(feature = "redb")]
    pub(super) fn redb(&self) -> keyplan_store::engine::RedbSettings {
        let mut settings = keyplan_store::engine::RedbSettings::default();
        settings.cache_bytes = self.cache_bytes.unwrap_or(settings.cache_bytes);
        settings
    }

    /// The settings that were asked for and are fixed with the database, as they are recorded.
    pub(super) fn fixed(&self) -> impl Iterator<Item = (&'static str, String)> {
        let memtable = self.memtable_bytes.map(|bytes| ("memtable_bytes", bytes.to_string()));
        let tables = self.first_level_tables.map(|tables| ("first_level_tables", tables.to_string()));
        memtable.into_iter().chain(tables)
    }
}
