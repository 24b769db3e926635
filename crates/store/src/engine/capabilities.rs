use std::time::Duration;

use super::{Durability, Engine, Error, TooLarge};

/// What an engine can do, and its limits. `None` is no limit but memory and disk.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[expect(clippy::struct_excessive_bools, reason = "each is one thing that an engine can do or not")]
pub struct Capabilities {
    /// The longest key in bytes.
    pub key_bytes: Option<u64>,
    /// The longest value in bytes.
    pub value_bytes: Option<u64>,
    /// The most operations in one batch.
    pub batch_operations: Option<u64>,
    /// The most bytes of keys and values in one batch.
    pub batch_bytes: Option<u64>,
    /// The age at which a snapshot can no longer be read.
    pub snapshot_age: Option<Duration>,
    /// Whether a key may be empty.
    pub empty_keys: bool,
    /// Whether spaces may hold several values for a key.
    pub multimap: bool,
    /// Whether a batch is atomic over several spaces.
    pub atomic_across_spaces: bool,
    /// What a commit with [`Durability::Buffer`] survives.
    pub buffer: Survives,
    /// What a commit with [`Durability::SyncData`] or [`Durability::SyncAll`] survives.
    pub sync: Survives,
    /// Who may write to a database at the same time.
    pub writers: Writers,
    /// Whether another handle may commit while this one is open and goes on reading: nothing that was read may then be
    /// kept for a later snapshot, and a [row cache](crate::cache) stays off.
    pub foreign_commits: bool,
    /// Whether a commit checks what its batch [expects](super::Batch::expect), as one step with the changes.
    ///
    /// If not, a batch that expects something is refused.
    pub checks: bool,
}

impl Capabilities {
    /// No limit, nothing particular, and nothing survives: what an engine starts from to say what it has.
    pub const PLAIN: Self = Self {
        key_bytes: None,
        value_bytes: None,
        batch_operations: None,
        batch_bytes: None,
        snapshot_age: None,
        empty_keys: true,
        multimap: false,
        atomic_across_spaces: true,
        buffer: Survives::Nothing,
        sync: Survives::Nothing,
        writers: Writers::One,
        foreign_commits: false,
        checks: false,
    };

    /// Refuses a row whose key or value is over a limit of the engine.
    pub fn admit<E: Engine>(&self, key: usize, value: usize) -> Result<(), Error> {
        within(TooLarge::Key, self.key_bytes, key)?;
        within(TooLarge::Value, self.value_bytes, value)?;
        if key == 0 && !self.empty_keys {
            return Err(Error::Unsupported { engine: E::NAME, what: "empty keys" });
        }
        Ok(())
    }

    /// What a commit of this durability survives.
    pub const fn survives(&self, durability: Durability) -> Survives {
        match durability {
            Durability::Buffer => self.buffer,
            Durability::SyncData | Durability::SyncAll => self.sync,
        }
    }
}

/// Refuses what is over a limit.
pub(super) fn within(what: TooLarge, limit: Option<u64>, found: usize) -> Result<(), Error> {
    let found = u64::try_from(found).unwrap_or(u64::MAX);
    match limit {
        Some(limit) if found > limit => Err(Error::TooLarge { what, limit, found }),
        _ => Ok(()),
    }
}

/// Who may write to a database at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Writers {
    /// One handle: a second one for writing is refused.
    One,
    /// One handle: a second one takes over, and the first is told so ([`Error::Fenced`]) before its next acknowledged commit.
    Newest,
    /// Any number of handles, in any number of processes.
    Several,
}

/// What an acknowledged commit outlives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Survives {
    /// Nothing: the data may be gone, or at an earlier commit, when the process ends.
    Nothing,
    /// The end of the process at any moment, but not of the machine.
    Process,
    /// Loss of power.
    Power,
}

/// Figures of a running engine. What an engine does not count is `None` or zero.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Statistics {
    /// Bytes on disk, journals included.
    pub disk_bytes: Option<u64>,
    /// Bytes of the journals.
    pub journal_bytes: Option<u64>,
    /// Journals that have not been given back.
    pub journals: Option<u64>,
    /// Snapshots that are open. Those of one state may be counted as one.
    pub open_snapshots: u64,
    /// The age of the oldest open snapshot: it keeps old versions on disk.
    pub oldest_snapshot: Option<Duration>,
    /// Commits that were made to wait so that the background could keep up.
    pub paced_commits: u64,
    /// The time that these waited.
    pub paced_time: Duration,
    /// Commits that the engine itself held up because the background had fallen behind.
    pub stalled_commits: u64,
    /// Memtables that wait to be flushed, in all spaces.
    pub waiting_memtables: u64,
    /// Tables on the level that is compacted first, in all spaces.
    pub first_level_tables: u64,
    /// The row cache above the engine, if there is one.
    pub rows: Option<crate::cache::RowStatistics>,
}
