mod merge;
mod run;

use std::path::PathBuf;

use self::merge::Merge;
use self::run::{Run, Sorter};
use crate::engine::{self, Batch, Durability, Engine, Space, SpaceId};
use crate::error::StoreError;
use crate::store::Store;

/// The directory inside a database's own that sorted runs are kept in while a load goes on.
const DIRECTORY: &str = "keyplan-bulk";

/// How many runs of a size are merged into one of the next: each that is left has a file open, and a buffer.
const MERGED_AT_ONCE: usize = 16;

/// How a [`BulkLoad`] works.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BulkOptions {
    /// Bytes of rows that are sorted in memory before they go to a file.
    pub memory_bytes: usize,
    /// What happens when a key comes twice.
    pub duplicates: Duplicates,
    /// Whether all spaces are rewritten at the end.
    ///
    /// That makes the smallest files and the cheapest misses, and costs about as much again as the load.
    pub compact: bool,
}

impl Default for BulkOptions {
    fn default() -> Self {
        Self { memory_bytes: 128 * 1024 * 1024, duplicates: Duplicates::Refuse, compact: false }
    }
}

/// What happens when a key comes twice with different values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Duplicates {
    /// The load fails.
    #[default]
    Refuse,
    /// The value that came last stays.
    KeepLast,
}

/// Fills a store from rows in any order: sorts them in bounded memory, and writes each space once, in order.
///
/// A load is **not** one step. What says that it is whole, such as a cursor, goes into the batch that
/// [`BulkLoad::finish`] commits last: a store without it holds a load that was interrupted, and can be loaded again.
///
/// ```
/// # use keyplan_store::{BulkLoad, BulkOptions, Schema, Store, engine::{Batch, Memory}};
/// # let text = "plan demo; space s { key row = id: u32; key done = \"done\"; }";
/// # let compiled = keyplan_plan::compile("demo.keyplan", text, |_| Err("no imports".into()));
/// # let store = Store::create(Memory::new(), &Schema::of(&compiled).expect("sound"))?;
/// let space = store.space("s")?;
/// let mut load = BulkLoad::new(&store, BulkOptions::default())?;
/// for id in [3_u32, 1, 2] {
///     load.push(space, &id.to_be_bytes(), b"row")?;
/// }
/// let mut last = Batch::new();
/// last.put(space, b"done".as_slice(), b"".as_slice());
/// assert_eq!(load.finish(last, |_| ())?, 3);
/// # Ok::<(), keyplan_store::StoreError>(())
/// ```
#[derive(Debug)]
pub struct BulkLoad<'s, E: Engine> {
    store: &'s Store<E>,
    options: BulkOptions,
    sorter: Sorter,
    // The oldest first; a newer one is never larger.
    runs: Vec<Run>,
    next_run: u64,
    // None for an engine without files: everything stays in memory.
    scratch: Option<Scratch>,
}

/// How far a load has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BulkProgress {
    /// This many rows have been written, in order.
    Written(u64),
    /// All rows are written; the spaces are being rewritten.
    Compacting,
}

const REPORT_EVERY: u64 = 50_000;

impl<'s, E: Engine> BulkLoad<'s, E> {
    /// Begins a load. What an interrupted one left in the database's directory is removed.
    pub fn new(store: &'s Store<E>, options: BulkOptions) -> Result<Self, StoreError> {
        store.writable()?;
        let scratch = store.engine().directory().map(|directory| Scratch::new(directory.join(DIRECTORY)));
        let scratch = scratch.transpose()?;
        Ok(Self { store, options, sorter: Sorter::default(), runs: Vec::new(), next_run: 0, scratch })
    }

    /// Adds a row.
    pub fn push(&mut self, space: SpaceId, key: &[u8], value: &[u8]) -> Result<(), StoreError> {
        self.store.engine().capabilities().admit::<E>(key.len(), value.len())?;
        self.sorter.push(space, key, value)?;
        if self.scratch.is_some() && self.sorter.bytes() >= self.options.memory_bytes {
            self.spill()?;
        }
        Ok(())
    }

    /// Writes all rows, then commits `last` durably; returns how many rows there were, duplicates left out.
    pub fn finish(
        mut self,
        last: Batch<E>,
        mut progress: impl FnMut(BulkProgress),
    ) -> Result<u64, StoreError> {
        let engine = self.store.engine();
        let sorter = std::mem::take(&mut self.sorter);
        let spaces = names(engine);
        let mut rows = Merge::new(&self.runs, sorter.sorted(), self.options.duplicates, &spaces)?;
        let mut written = 0_u64;
        let mut failure = None;
        while let Some(space) = rows.space() {
            let of_space = std::iter::from_fn(|| {
                match rows.next_of::<E::Buffer>(space).transpose()? {
                    Ok(row) => {
                        written += 1;
                        if written.is_multiple_of(REPORT_EVERY) {
                            progress(BulkProgress::Written(written));
                        }
                        Some(Ok(row))
                    }
                    Err(error) => {
                        // The engine ends the ingestion on any error; the one that is told is ours.
                        failure = Some(error);
                        Some(Err(engine::Error::Closed))
                    }
                }
            });
            let ingested = engine.ingest(space, of_space);
            if let Some(error) = failure.take() {
                return Err(error);
            }
            ingested?;
        }
        progress(BulkProgress::Written(written));
        engine.commit(last, Durability::SyncAll)?;
        if self.options.compact {
            progress(BulkProgress::Compacting);
            engine.compact()?;
        }
        Ok(written)
    }

    /// Writes what is in memory to a file, in order.
    fn spill(&mut self) -> Result<(), StoreError> {
        let Some(path) = self.run_path() else { return Ok(()) };
        let sorted = std::mem::take(&mut self.sorter).sorted();
        self.runs.push(Run::write(path, sorted.iter())?);
        self.sorter = sorted.into_empty();
        self.merge_equal()
    }

    /// Makes one run of many that are equally large, again and again: neither files nor buffers grow with the load, and a
    /// row is rewritten only as often as the runs grow by that factor.
    fn merge_equal(&mut self) -> Result<(), StoreError> {
        while let Some(first) = self.first_of_equal()
            && let Some(path) = self.run_path()
        {
            let runs = self.runs.split_off(first);
            let times = runs.first().map_or(0, |run| run.merges) + 1;
            let spaces = names(self.store.engine());
            let mut rows = Merge::new(&runs, Sorter::default().sorted(), self.options.duplicates, &spaces)?;
            self.runs.push(Run::write_merged(path, &mut rows, times)?);
        }
        Ok(())
    }

    /// Where the newest runs begin, if enough of them are equally large.
    fn first_of_equal(&self) -> Option<usize> {
        let first = self.runs.len().checked_sub(MERGED_AT_ONCE)?;
        (self.runs.get(first)?.merges == self.runs.last()?.merges).then_some(first)
    }

    /// The file of the next run; none for an engine without files.
    fn run_path(&mut self) -> Option<PathBuf> {
        let scratch = self.scratch.as_ref()?;
        self.next_run += 1;
        Some(scratch.0.join(self.next_run.to_string()))
    }
}

/// A directory that goes when it is no longer used.
#[derive(Debug)]
struct Scratch(PathBuf);

impl Scratch {
    fn new(path: PathBuf) -> Result<Self, StoreError> {
        let io = |source| StoreError::Io { doing: "preparing the directory for sorted runs", source };
        if path.exists() {
            std::fs::remove_dir_all(&path).map_err(io)?;
        }
        std::fs::create_dir(&path).map_err(io)?;
        Ok(Self(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What is left is removed by the next load.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The spaces of an engine with their names, for messages.
fn names<E: Engine>(engine: &E) -> Vec<(SpaceId, String)> {
    let named = |space: Space| engine.space(&space.name).map(|id| (id, space.name));
    engine.spaces().into_iter().filter_map(named).collect()
}
