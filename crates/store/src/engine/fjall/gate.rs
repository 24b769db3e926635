use std::sync::{Mutex, MutexGuard, PoisonError};

use fjall::{Database, Snapshot};

/// Keeps snapshots from seeing half of a batch.
///
/// The engine numbers a batch, applies it row by row, and then moves the number below which everything is visible past
/// it. But every flush and compaction takes a number too, and moves that bound past its own when it is done: past the
/// number of a batch that is still being applied, if there is one. A snapshot opened at that moment sees as much of the
/// batch as is there, and more of it later.
///
/// So no snapshot is opened while a batch is applied. One that is asked for meanwhile is a copy of the one that was
/// opened just before: it sees every batch that was acknowledged, and nobody waits.
#[derive(Default)]
pub(super) struct Gate {
    writer: Mutex<()>,
    // The state before the batch that is being applied; None if there is none.
    before: Mutex<Option<Snapshot>>,
}

impl Gate {
    /// Opens a snapshot of whole batches.
    pub(super) fn snapshot(&self, database: &Database) -> Snapshot {
        // Held while one is opened: no batch can begin meanwhile.
        let before = lock(&self.before);
        before.as_ref().map_or_else(|| database.snapshot(), Snapshot::clone)
    }

    /// Waits for the batch that is being applied, if there is one.
    pub(super) fn wait(&self) {
        drop(lock(&self.writer));
    }

    /// Runs what applies a batch, alone.
    pub(super) fn apply<T>(&self, database: &Database, apply: impl FnOnce() -> T) -> T {
        let _writer = lock(&self.writer);
        *lock(&self.before) = Some(database.snapshot());
        let _open = Open(self);
        apply()
    }
}

/// Opens the gate again, also if applying the batch ends in a panic.
struct Open<'g>(&'g Gate);

impl Drop for Open<'_> {
    fn drop(&mut self) {
        let before = lock(&self.0.before).take();
        // Closing a snapshot may collect garbage: not while readers wait.
        drop(before);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
