use std::time::Duration;

use crate::engine::Setting;
use crate::engine::settings::MIB;

/// How an [`Lmdb`](super::Lmdb) database is set up.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LmdbSettings {
    /// Bytes of addresses that the file may grow into. They are not taken from memory or disk before there are rows.
    ///
    /// The default is 1 TiB, or as much of it as the process may map. A map that becomes full is doubled, which can be
    /// done only while no snapshot is open: then the commit fails, and leaves nothing.
    pub map_bytes: u64,
    /// What a commit with [`Durability::Buffer`](crate::engine::Durability::Buffer) waits for.
    pub buffer: LmdbBuffer,
    /// The most snapshots at a time. Those that are clones of each other are one.
    pub snapshots: u32,
    /// The most spaces.
    pub spaces: u32,
    /// The age at which snapshots end, if they do: pages that an old snapshot reads are not used again, and the file grows.
    pub snapshot_age: Option<Duration>,
    /// The most bytes of keys and values in one batch.
    pub batch_bytes: u64,
    /// Whether the file is looked through before the engine has it, and again at [`Engine::shutdown`], and commits keep a checksum
    /// of all rows.
    ///
    /// The engine trusts its file and checks no page that it reads: one that was damaged could end the process, or give
    /// wrong rows. Looking through it reads all of it, about half a second per GiB. Beside a writer it is not done. For the checksum, a
    /// commit reads the rows that it overwrites or deletes.
    ///
    /// [`Engine::shutdown`]: crate::engine::Engine::shutdown
    pub verify_on_open: bool,
}

/// What a commit that does not ask for the disk waits for, and what that means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LmdbBuffer {
    /// The disk has the rows, but may not know of the last commit: a loss of power undoes that one, and nothing else.
    ///
    /// Every commit waits for the disk once.
    #[default]
    Rows,
    /// Nothing. Commits survive the end of the process, but **a loss of power may damage the whole database**, also what was
    /// synced before: the engine overwrites pages in place that it takes to be free.
    ///
    /// For loads that can be started again, and machines whose power does not fail.
    Nothing,
}

impl Default for LmdbSettings {
    fn default() -> Self {
        Self {
            map_bytes: 1 << 40,
            buffer: LmdbBuffer::Rows,
            snapshots: 1024,
            spaces: 256,
            snapshot_age: None,
            batch_bytes: 512 * MIB,
            verify_on_open: true,
        }
    }
}

impl LmdbSettings {
    pub(super) fn record(&self) -> Vec<Setting> {
        let buffer = match self.buffer {
            LmdbBuffer::Rows => "rows",
            LmdbBuffer::Nothing => "nothing",
        };
        vec![Setting::per_open("buffer", &buffer), Setting::per_open("snapshots", &self.snapshots)]
    }
}
