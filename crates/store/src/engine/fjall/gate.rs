use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use fjall::{Database, Keyspace, SeqNo, Snapshot};

use super::hidden;
use crate::engine::Numbers;
use crate::engine::ages::{Ages, Ticket};

/// Keeps snapshots from seeing half of a batch, and opens one for each state of the database at most.
///
/// The engine numbers a batch, applies it row by row, and then moves the number below which everything is visible past
/// it. But every flush and compaction takes a number too, and moves that bound past its own when it is done: past the
/// number of a batch that is still being applied, if there is one. A snapshot opened at that moment sees as much of the
/// batch as is there, and more of it later.
///
/// So no snapshot is opened while a batch is applied. One that is asked for meanwhile is of the state before: it sees
/// every batch that was acknowledged, and nobody waits. Between batches nothing changes, and all who ask share one.
pub(super) struct Gate {
    writer: Mutex<()>,
    // None if nobody has asked since the last batch. While a batch is applied, the state before it.
    state: Mutex<Option<Arc<State>>>,
    // All that are read. Changed only while `state` is held.
    open: Mutex<Vec<Weak<State>>>,
    ages: Ages,
    path: Arc<Path>,
    pub(super) numbers: Numbers,
}

/// The database between two batches.
pub(super) struct State {
    pub(super) snapshot: Snapshot,
    pub(super) keyspaces: Arc<Vec<Keyspace>>,
    pub(super) path: Arc<Path>,
    pub(super) numbers: Numbers,
    _counted: Ticket,
}

impl Gate {
    pub(super) fn new(path: Arc<Path>) -> Self {
        Self {
            writer: Mutex::default(),
            state: Mutex::default(),
            open: Mutex::default(),
            ages: Ages::default(),
            path,
            numbers: Numbers::default(),
        }
    }

    /// The state as of the last whole batch.
    pub(super) fn state(&self, database: &Database, keyspaces: &Arc<Vec<Keyspace>>) -> Arc<State> {
        // Held while one is opened: no batch can begin meanwhile.
        let mut state = lock(&self.state);
        let open = || {
            let state = Arc::new(State {
                _counted: self.ages.open(None),
                snapshot: database.snapshot(),
                keyspaces: keyspaces.clone(),
                path: self.path.clone(),
                numbers: self.numbers,
            });
            let mut open = lock(&self.open);
            open.retain(|state| state.strong_count() > 0);
            open.push(Arc::downgrade(&state));
            state
        };
        state.get_or_insert_with(open).clone()
    }

    /// Runs something with the lowest number that anybody reads at, or will. No snapshot is opened meanwhile. Whether anybody reads.
    pub(super) fn below_all_snapshots(&self, database: &Database, run: impl FnOnce(SeqNo)) -> bool {
        let mut state = lock(&self.state);
        // One that is kept for the next caller holds nothing back, but a batch may be under way and need it.
        let unused = match self.writer.try_lock() {
            Ok(_writer) => state.take_if(|state| Arc::strong_count(state) == 1),
            Err(_) => None,
        };
        drop(unused);
        let open = lock(&self.open);
        let read = open.iter().filter_map(Weak::upgrade).map(|state| state.snapshot.seqno()).min();
        run(read.unwrap_or_else(|| hidden::visible(database)));
        read.is_some()
    }

    /// Waits for the batch that is being applied, if there is one.
    pub(super) fn wait(&self) {
        drop(lock(&self.writer));
    }

    /// Runs what applies a batch, and nothing else beside it.
    pub(super) fn apply<T>(
        &self,
        database: &Database,
        keyspaces: &Arc<Vec<Keyspace>>,
        apply: impl FnOnce() -> T,
    ) -> T {
        let _writer = lock(&self.writer);
        drop(self.state(database, keyspaces));
        let _over = Over(self);
        apply()
    }

    /// Forgets the state: another has come, or other keyspaces.
    pub(super) fn forget(&self) {
        let state = lock(&self.state).take();
        // Closing a snapshot may collect garbage: not while readers wait.
        drop(state);
    }

    /// How many states are read, and since when the oldest of them is.
    pub(super) fn oldest(&self) -> (u64, Option<std::time::Duration>) {
        // One that was kept for the next caller holds nothing back, but a batch may be under way and need it.
        if let Ok(_writer) = self.writer.try_lock() {
            let unused = lock(&self.state).take_if(|state| Arc::strong_count(state) == 1);
            drop(unused);
        }
        self.ages.oldest()
    }
}

/// Forgets the state before a batch, also if applying it ends in a panic.
struct Over<'g>(&'g Gate);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.forget();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
