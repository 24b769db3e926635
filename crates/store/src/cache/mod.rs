//! Rows in memory, above any engine: [`Cached`] is an engine that answers from them what it can.
//!
//! Every snapshot sees the same with the cache as without it. The commits of a [`Cached`] engine are numbered, and every
//! snapshot has the number of the last one that it sees.
//!
//! - A cached row has the number of the first commit that it is true of, and is taken by snapshots from there on. There
//!   is no older version of it, so that older snapshots read below.
//! - A commit is applied to the engine, then to the cache, and then given out. A snapshot that is opened meanwhile is of the
//!   state before. All rows that it puts enter, because what was written last is read next; those that it deletes leave.
//! - Every bucket of the cache has the number of the last commit that touched any key that belongs to it, whether a row of
//!   it is cached or not. What a snapshot read below enters only if that number is not above its own, and is true from
//!   that number on.
//! - A commit that failed, or may have happened, takes what was known of its keys out. Rows that are ingested are not
//!   known one by one: they take everything out.
//!
//! Keys that do not exist are cached too. Scans neither use the cache nor change it.
//!
//! **Nobody may write to the engine past its [`Cached`]:** it would not know. Where another process may
//! ([`Capabilities::foreign_commits`]), there is no cache, whatever was asked for: every read goes to the engine, and
//! [`Cached::row_statistics`] is `None`.

mod bytes;
mod families;
mod fault;
mod settings;
mod snapshot;
mod statistics;
mod sync;
mod table;
#[cfg(test)]
mod tests;

use std::fmt;
use std::path::Path;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Duration;

use self::families::Families;
use self::fault::{Fault, Faults};
use self::snapshot::Rows;
use self::sync::Mutex;
use self::table::{Change, Place, Table};
use crate::engine::{
    Action, Batch, Capabilities, Durability, Engine, Error, MultimapEngine, Operation, Setting, Space,
    SpaceId, Statistics,
};
use crate::schema::FamilyPrefix;

pub use self::bytes::{CachedBytes, RowBytes};
pub use self::settings::{MemoryBudget, RowCache};
pub use self::snapshot::{CachedRange, CachedSnapshot, CachedValueRange, CachedValues};
pub use self::statistics::{FamilyStatistics, RowStatistics};

/// An engine with a row cache above it; see the [module](self).
///
/// A database that was made without it opens with it, and the other way round.
pub struct Cached<E: Engine> {
    engine: E,
    settings: RowCache,
    prefixes: Vec<FamilyPrefix>,
    // None if there is no cache.
    rows: Option<Arc<Rows>>,
    // Held for a commit, so that the cache has them in the engine's order.
    writer: Mutex<()>,
    state: Mutex<State<E::Snapshot>>,
    limit: Option<Duration>,
    faults: Faults,
}

/// What the next snapshot sees.
struct State<S> {
    /// The last commit that was given out. The first is 2: what is older than everything is of 1, and 0 is not a commit.
    number: u64,
    /// While a commit is under way, the state before it.
    before: Option<S>,
    /// While rows are ingested nothing is known, and snapshots go past the cache.
    past: bool,
}

impl<E: Engine> Cached<E> {
    /// Puts a cache above an engine. Without effect where [others may write](Capabilities::foreign_commits).
    pub fn new(engine: E, cache: impl Into<RowCache>) -> Self {
        Self::with_families(engine, cache.into(), Vec::new(), Faults::default())
    }

    pub(crate) fn counting(engine: E, cache: RowCache, prefixes: Vec<FamilyPrefix>) -> Self {
        Self::with_families(engine, cache, prefixes, Faults::default())
    }

    fn with_families(engine: E, mut settings: RowCache, prefixes: Vec<FamilyPrefix>, faults: Faults) -> Self {
        let Capabilities { snapshot_age: limit, foreign_commits, .. } = engine.capabilities();
        if foreign_commits {
            settings.bytes = 0;
        }
        let state = State { number: 1, before: None, past: false };
        let mut cached = Self {
            engine,
            settings,
            prefixes,
            rows: None,
            writer: Mutex::new(()),
            state: Mutex::new(state),
            limit,
            faults,
        };
        cached.rows = cached.table().map(|table| Arc::new(cached.over(Arc::new(table))));
        cached
    }

    /// The engine below. Whoever writes to it makes the cache wrong.
    pub const fn below(&self) -> &E {
        &self.engine
    }

    /// What the cache holds and has done; `None` if there is none.
    pub fn row_statistics(&self) -> Option<RowStatistics> {
        let rows = self.rows.as_ref()?;
        let counted = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        Some(RowStatistics {
            budget: rows.budget,
            bytes: counted(rows.table.bytes()),
            rows: counted(rows.table.rows()),
            families: rows.families.statistics(),
        })
    }

    /// A table without rows; `None` if there is to be none.
    fn table(&self) -> Option<Table> {
        let size = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
        Table::new(size(self.settings.bytes), size(self.settings.row_bytes), table::seed(), self.faults)
    }

    fn over(&self, table: Arc<Table>) -> Rows {
        let families = Families::new(&self.engine.spaces(), &self.prefixes, &self.settings.without);
        let (first_space, budget) = (self.engine.first_space(), self.settings.bytes);
        Rows { table, families, first_space, budget }
    }

    fn state(&self) -> MutexGuard<'_, State<E::Snapshot>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a commit of these operations. From here until it is given out, snapshots are of the state before.
    fn begin<'c>(&'c self, rows: &'c Rows, batch: &Batch<Self>) -> Result<Commit<'c, E>, Error> {
        // More than a part of the cache is an import: its rows would drive out all others, and each other.
        let import = batch.bytes() > rows.budget / 4;
        let changes = batch.operations().iter().filter_map(|operation| {
            let place = rows.place(operation.space, &operation.key)?;
            Some((place, if import { forgotten(operation) } else { operation.clone() }))
        });
        let changes = changes.collect();
        let mut state = self.state();
        state.before = Some(self.engine.snapshot()?);
        let number = state.number + 1;
        drop(state);
        Ok(Commit { cached: self, rows, changes, number, applied: false })
    }

    /// Gives a commit out: snapshots see it from now on.
    fn publish(&self, number: u64) {
        let before = {
            let mut state = self.state();
            state.number = number;
            state.past = false;
            state.before.take()
        };
        // Closing a snapshot may collect garbage: not while readers wait.
        drop(before);
    }
}

fn forgotten<B: Clone>(operation: &Operation<B>) -> Operation<B> {
    Operation { action: Action::Delete, ..operation.clone() }
}

/// About how many bytes an engine adds to a row in its file, at most.
const ROW_OVERHEAD: u64 = 64;

/// How many buckets are fetched at once: a processor waits for as many at the same time.
const FETCHED: usize = 16;

/// A commit under way. Dropped before it is known to be applied, it takes out what is known of its keys.
struct Commit<'c, E: Engine> {
    cached: &'c Cached<E>,
    rows: &'c Rows,
    changes: Vec<(Place, Operation<E::Buffer>)>,
    number: u64,
    applied: bool,
}

impl<E: Engine> Commit<'_, E> {
    /// Makes one of the changes known to the cache.
    fn change(&self, (place, operation): &(Place, Operation<E::Buffer>)) {
        let change = match &operation.action {
            Action::Put(value) if self.applied => Change::Put(value),
            _ if !self.applied && self.cached.faults.has(Fault::FailedCommitKept) => return,
            _ => Change::Forget,
        };
        self.rows.table.change(*place, &operation.key, change, self.number, &self.rows.families);
    }
}

impl<E: Engine> Drop for Commit<'_, E> {
    fn drop(&mut self) {
        if self.cached.faults.has(Fault::PublishFirst) {
            self.cached.publish(self.number);
        }
        for changes in self.changes.chunks(FETCHED) {
            self.rows.table.fetch(changes.iter().map(|(place, _)| *place));
            for change in changes {
                self.change(change);
            }
        }
        self.cached.publish(self.number);
    }
}

/// Rows being ingested: however that ends, nothing that was known is known any more.
struct Ingestion<'c, E: Engine> {
    cached: &'c Cached<E>,
    rows: &'c Rows,
    number: u64,
}

impl<E: Engine> Drop for Ingestion<'_, E> {
    fn drop(&mut self) {
        self.rows.table.forget_all(self.number);
        self.cached.publish(self.number);
    }
}

impl<E: Engine> Engine for Cached<E> {
    type Buffer = E::Buffer;
    type Snapshot = CachedSnapshot<E::Snapshot>;

    const NAME: &'static str = E::NAME;

    fn capabilities(&self) -> Capabilities {
        self.engine.capabilities()
    }

    fn first_space(&self) -> u32 {
        self.engine.first_space()
    }

    fn spaces(&self) -> Vec<Space> {
        self.engine.spaces()
    }

    fn space(&self, name: &str) -> Option<SpaceId> {
        self.engine.space(name)
    }

    fn create_space(&mut self, space: &Space) -> Result<SpaceId, Error> {
        let known = self.engine.spaces();
        let id = self.engine.create_space(space)?;
        let now = self.engine.spaces();
        if now.len() != known.len()
            && let Some(rows) = self.rows.take()
        {
            self.rows = if now.starts_with(&known) {
                // The others are where they were. Snapshots that are open know less spaces, and ask for no row of this one.
                let mut more = self.over(rows.table.clone());
                more.families.go_on_from(&rows.families);
                Some(Arc::new(more))
            } else {
                // The same number is another space now.
                drop(rows);
                let number = self.state().number;
                let table = self.table();
                table
                    .inspect(|table| table.forget_all(number))
                    .map(|table| Arc::new(self.over(Arc::new(table))))
            };
        }
        Ok(id)
    }

    #[inline]
    fn snapshot(&self) -> Result<Self::Snapshot, Error> {
        let Some(rows) = &self.rows else {
            return Ok(CachedSnapshot::new(self.engine.snapshot()?, None, 0, self.limit));
        };
        // Held while the snapshot is opened, so that it and its number belong together.
        let state = self.state();
        let below = match &state.before {
            Some(before) => before.clone(),
            None => self.engine.snapshot()?,
        };
        let at = if state.past { 0 } else { state.number };
        drop(state);
        Ok(CachedSnapshot::new(below, Some(rows.clone()), at, self.limit))
    }

    fn commit(&self, batch: Batch<Self>, durability: Durability) -> Result<(), Error> {
        let Some(rows) = &self.rows else { return self.engine.commit(batch.on(), durability) };
        let _writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        self.engine.make_room(batch.bytes().saturating_add(ROW_OVERHEAD.saturating_mul(batch.len() as u64)));
        let mut commit = self.begin(rows, &batch)?;
        let committed = self.engine.commit(batch.on(), durability);
        commit.applied = committed.is_ok();
        committed
    }

    fn make_room(&self, bytes: u64) {
        self.engine.make_room(bytes);
    }

    /// Without a cache: what it is for is written once.
    fn beside(&self, directory: &Path) -> Result<Self, Error> {
        Ok(Self::new(self.engine.beside(directory)?, RowCache::off()))
    }

    fn copy_multimap(
        &self,
        from: &Self::Snapshot,
        space: SpaceId,
        to: &Self,
        into: SpaceId,
    ) -> Result<u64, Error> {
        self.engine.copy_multimap(from.below(), space, &to.engine, into)
    }

    fn sync(&self) -> Result<(), Error> {
        self.engine.sync()
    }

    fn checkpoint(&self, limit: Duration) -> Result<(), Error> {
        self.engine.checkpoint(limit)
    }

    fn compact(&self) -> Result<(), Error> {
        self.engine.compact()
    }

    fn shutdown(&self, limit: Duration) -> Result<(), Error> {
        self.engine.shutdown(limit)
    }

    fn ingest<I>(&self, space: SpaceId, ingested: I) -> Result<u64, Error>
    where
        I: IntoIterator<Item = Result<(Self::Buffer, Self::Buffer), Error>>,
    {
        let Some(rows) = &self.rows else { return self.engine.ingest(space, ingested) };
        let _writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let number = {
            let mut state = self.state();
            state.past = true;
            state.number + 1
        };
        let _ingestion = Ingestion { cached: self, rows, number };
        self.engine.ingest(space, ingested)
    }

    fn verify(&mut self) -> Result<(), Error> {
        self.engine.verify()
    }

    fn statistics(&self) -> Statistics {
        Statistics { rows: self.row_statistics(), ..self.engine.statistics() }
    }

    fn settings(&self) -> Vec<Setting> {
        let mut settings = self.engine.settings();
        settings.push(Setting::per_open("row_cache_bytes", &self.settings.bytes));
        settings
    }

    fn directory(&self) -> Option<&Path> {
        self.engine.directory()
    }
}

impl<E: MultimapEngine> MultimapEngine for Cached<E> {}

impl<E: Engine> fmt::Debug for Cached<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cached")
            .field("engine", &self.engine)
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}
