use std::time::Duration;

use crate::engine::settings::{MIB, cache_bytes};

/// How a [`Redb`](super::Redb) database is set up.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RedbSettings {
    /// Bytes of pages kept in memory. The default is a sixteenth of the machine's memory, at least 64 MiB and at most
    /// 1 GiB; 256 MiB where the system does not tell.
    pub cache_bytes: u64,
    /// Commits with [`Durability::Buffer`](crate::engine::Durability::Buffer) after which one is made durable all the same, so that pages can be given
    /// back.
    pub sync_after: u32,
    /// Whether opening checks the checksum of every page, which reads all of the file: half a second for each GiB of it, if
    /// it is in the system's memory. The default.
    ///
    /// Reads do not check them: without this, a flipped bit inside a page gives wrong data. For a database that is too large
    /// to be read each time, [`Engine::verify`](crate::engine::Engine::verify) does the same when it suits.
    pub verify_on_open: bool,
    /// The age at which snapshots end, if they do: an old snapshot keeps old pages.
    pub snapshot_age: Option<Duration>,
    /// The most bytes of keys and values in one batch.
    pub batch_bytes: u64,
}

impl Default for RedbSettings {
    fn default() -> Self {
        Self {
            cache_bytes: cache_bytes(),
            sync_after: 64,
            verify_on_open: true,
            snapshot_age: None,
            batch_bytes: 512 * MIB,
        }
    }
}
