//! Every call that fjall hides from its documentation, in one place: the version is pinned because of these.

use std::any::Any;
use std::sync::Arc;

use fjall::{AbstractTree as _, Database, DatabaseBuilder, Keyspace, Result, SeqNo};

/// Seals what a keyspace holds in memory and hands it to the flushing thread. False if it held nothing.
pub(super) fn rotate(keyspace: &Keyspace) -> Result<bool> {
    if in_memory(keyspace) == 0 {
        return Ok(false);
    }
    keyspace.rotate_memtable()
}

/// Bytes that a keyspace holds in memory and has not sealed.
pub(super) fn in_memory(keyspace: &Keyspace) -> u64 {
    keyspace.tree.active_memtable().size()
}

/// Rows that a keyspace holds in memory, or has held.
pub(super) type Memtable = Arc<dyn Any + Send + Sync>;

/// The rows that a keyspace holds in memory and has not sealed.
pub(super) fn memtable(keyspace: &Keyspace) -> Memtable {
    keyspace.tree.active_memtable()
}

/// Sealed memtables that wait to be flushed.
pub(super) fn waiting(keyspace: &Keyspace) -> usize {
    keyspace.sealed_memtable_count()
}

/// Flushes that are queued in the whole database.
pub(super) fn queued_flushes(database: &Database) -> usize {
    database.outstanding_flushes()
}

/// Compactions that are under way in the whole database.
pub(super) fn compactions(database: &Database) -> usize {
    database.active_compactions()
}

/// The number below which everything is visible.
pub(super) fn visible(database: &Database) -> SeqNo {
    database.visible_seqno()
}

/// Forgets the versions of a keyspace that no reader at `number` or later can ask for, with their memtables.
pub(super) fn forget_versions(keyspace: &Keyspace, number: SeqNo) {
    // A version that cannot be deleted is deleted with the next ones.
    let _ = keyspace.tree.get_version_history_lock().maintenance(keyspace.path(), number);
}

/// Runs of the level that is compacted first.
pub(super) fn first_level(keyspace: &Keyspace) -> usize {
    keyspace.tree.l0_run_count()
}

/// Rewrites a keyspace into one sorted run.
pub(super) fn compact(keyspace: &Keyspace) -> Result<()> {
    keyspace.major_compact()
}

/// Bytes of all journals.
pub(super) fn journal_bytes(database: &Database) -> Result<u64> {
    database.journal_disk_space()
}

/// Sets the number of threads that flush and compact, which may be none.
pub(super) fn workers(builder: DatabaseBuilder<Database>, count: usize) -> DatabaseBuilder<Database> {
    builder.worker_threads_unchecked(count)
}
