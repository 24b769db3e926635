use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

use std::sync::Arc;

use crate::BytesOf;
use crate::cache::{Cached, MemoryBudget, RowCache};
use crate::engine::{Durability, Engine, Fjall, FjallSettings, KeyRange};

use super::{Batch, Error, Read, Snapshot, Stored};
use keyplan_typed::{Key, PlanText, Scan, ScanOf};

/// A database with the plan that the program was built with.
///
/// A database that was written under another layout is refused, with both fingerprints named.
#[derive(Debug)]
pub struct Store<E: Engine = Cached<Fjall>>(Arc<crate::Store<E>>);

impl Store {
    /// Opens the database in a directory with the default settings, and makes it if there is none.
    ///
    /// That is on fjall, with a row cache above it: of the memory that both may take, a quarter is for blocks and three
    /// quarters are for rows. [`MemoryBudget::default`] says how much that is.
    pub fn open(path: impl AsRef<Path>, plan: &PlanText) -> Result<Self, Error> {
        Self::open_within(path, plan, MemoryBudget::default())
    }

    /// The same with another budget of memory.
    pub fn open_within(path: impl AsRef<Path>, plan: &PlanText, memory: MemoryBudget) -> Result<Self, Error> {
        let settings = FjallSettings { cache_bytes: memory.blocks, ..FjallSettings::default() };
        Store::open_cached(Fjall::open(path, settings)?, plan, memory.rows)
    }
}

impl<E: Engine> Store<E> {
    /// Opens the store on an engine, and makes it if the engine holds nothing.
    pub fn open_on(engine: E, plan: &PlanText) -> Result<Self, Error> {
        Ok(Self(Arc::new(crate::Store::open_or_create(engine, &plan.into())?)))
    }

    /// Opens the store on an engine with a row cache above it, and makes it if the engine holds nothing.
    pub fn open_cached(
        engine: E,
        plan: &PlanText,
        cache: impl Into<RowCache>,
    ) -> Result<Store<Cached<E>>, Error> {
        let store = crate::Store::open_or_create(engine, &plan.into())?;
        Ok(Store(Arc::new(store.row_cache(cache))))
    }

    /// Makes a store on an engine that holds nothing.
    pub fn create_on(engine: E, plan: &PlanText) -> Result<Self, Error> {
        Ok(Self(Arc::new(crate::Store::create(engine, &plan.into())?)))
    }

    /// Gives types to a store that was opened without them; refused if it has another layout.
    pub fn typed(raw: impl Into<Arc<crate::Store<E>>>, plan: &PlanText) -> Result<Self, Error> {
        let raw = raw.into();
        let ours = crate::PlanFingerprint(plan.fingerprint);
        let theirs = raw.fingerprint();
        if ours == theirs {
            Ok(Self(raw))
        } else {
            Err(crate::StoreError::PlanMismatch { ours, theirs }.into())
        }
    }

    /// The same without types, to be shared with what works on it beside this: structures, tools.
    pub const fn raw(&self) -> &Arc<crate::Store<E>> {
        &self.0
    }

    /// Answers `keyplan db` and `keyplan explore` of the same user for as long as the result is held, through a socket in the
    /// directory of the database; see [`live`](crate::live). They read, and cannot write.
    #[cfg(all(unix, feature = "live"))]
    pub fn answer(&self) -> Result<crate::live::Answering, Error> {
        Ok(self.0.answer()?)
    }

    /// Reads the value of a key as it is now. Reads that belong together go through one [`Store::snapshot`].
    pub fn get<K: Key>(&self, key: &K) -> Result<Option<Stored<K, BytesOf<E>>>, Error> {
        self.snapshot()?.get(key)
    }

    /// A point in time over all spaces.
    pub fn snapshot(&self) -> Result<Snapshot<E>, Error> {
        Ok(Snapshot::new(self.0.snapshot()?))
    }

    /// A batch that sees its own changes. Nothing of it is visible to others before it is committed.
    pub fn batch(&self) -> Result<Batch<'_, E>, Error> {
        Ok(Batch::new(self.0.batch()?))
    }

    /// The same, and it remembers what it has read: if another has changed any of that by the time of its commit, it is
    /// refused with [`Error::Conflict`], and nothing of it is written.
    pub fn checked_batch(&self) -> Result<Batch<'_, E>, Error> {
        Ok(Batch::new(self.0.checked_batch()?))
    }

    /// Fills a [checked batch](Self::checked_batch) and commits it. After a conflict it is started again, so that `change` reads
    /// what the other has written; up to [`ATTEMPTS`](Self::ATTEMPTS) times, and then it is [`Error::Conflict`].
    ///
    /// An error of `change` ends it, with nothing written. Nothing else is tried again: after an error that leaves the outcome
    /// unknown, another commit could do it twice.
    ///
    /// ```
    /// use keyplan::store::engine::{Durability, Memory};
    /// use keyplan::store::{Read as _, Store};
    ///
    /// keyplan::plan! { plan demo; space s { key hits = 0x01 page: u32 -> count: u64; } }
    /// use demo::s::{Hits, HitsValue};
    ///
    /// let store = Store::create_on(Memory::new(), &demo::PLAN)?;
    /// let count = store.update(Durability::SyncData, |batch| {
    ///     let found = batch.get(&Hits { page: 7 })?;
    ///     let count = found.map_or(Ok(0), |found| found.value().map(|value| value.count))? + 1;
    ///     batch.put(&Hits { page: 7 }, &HitsValue { count })?;
    ///     Ok(count)
    /// })?;
    /// assert_eq!(count, 1);
    /// # Ok::<(), keyplan::store::Error>(())
    /// ```
    pub fn update<T>(
        &self,
        durability: Durability,
        change: impl FnMut(&mut Batch<'_, E>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.update_or(durability, change)
    }

    /// [`update`](Self::update) for a change with errors of its own. Such an error ends it, and nothing is written.
    pub fn update_or<T, F: From<Error>>(
        &self,
        durability: Durability,
        mut change: impl FnMut(&mut Batch<'_, E>) -> Result<T, F>,
    ) -> Result<T, F> {
        for attempt in 1..=Self::ATTEMPTS {
            let mut batch = self.checked_batch()?;
            let made = change(&mut batch)?;
            match batch.commit(durability) {
                Ok(()) => return Ok(made),
                // Those that were refused together do not come back together.
                Err(Error::Conflict) => std::thread::sleep(Duration::from_micros(50) * attempt),
                Err(other) => return Err(other.into()),
            }
        }
        Err(Error::Conflict.into())
    }

    /// How often [`update`](Self::update) tries.
    pub const ATTEMPTS: u32 = 64;

    /// Removes the rows of a family that are past the retention which the plan states, in steps, each one batch; with
    /// [`Steps::dry_run`](crate::Steps) it only counts them. `now` is the height or the time in nanoseconds; what is kept
    /// by number does not need it.
    ///
    /// After each step `progress` is told what is gone so far, and may stop the rest: the same call goes on with it.
    pub fn prune<K: Key>(
        &self,
        plan: &PlanText,
        now: Option<i128>,
        steps: &crate::Steps,
        progress: impl FnMut(&crate::Removed) -> ControlFlow<()>,
    ) -> Result<crate::Removed, Error> {
        let plan = model(plan)?;
        Ok(crate::Prune::new(&plan, K::FAMILY, now)?.run(&self.0, steps, progress)?)
    }

    /// The structures of a space, for the handles of [`structure`](super::structure).
    pub fn structures(&self, space: &str) -> Result<crate::structure::Embedded<E>, Error> {
        Ok(crate::structure::Embedded::open(self.0.clone(), space)?)
    }

    /// Deletes every row of a scan, `chunk` rows in a step, and returns how many there were.
    ///
    /// This is **not** one step: each chunk is. After each, `progress` is told how many rows are gone so far, and may
    /// stop the rest. [`Batch::delete_scan`] is one step, and holds all keys in memory.
    pub fn delete_scan<S: ScanOf>(
        &self,
        scan: Scan<'_, S>,
        chunk: usize,
        durability: Durability,
        progress: impl FnMut(u64) -> ControlFlow<()>,
    ) -> Result<u64, Error> {
        if S::FILTERED {
            return self.delete_filtered(scan, chunk, durability, progress);
        }
        let (start, end) = scan.range();
        let space = self.0.space(S::Key::SPACE)?;
        Ok(self.0.delete_range(space, KeyRange { start, end }, chunk, durability, progress)?)
    }

    /// Deletes the rows of a scan that are of its family, and leaves the rows between them.
    fn delete_filtered<S: ScanOf>(
        &self,
        scan: Scan<'_, S>,
        chunk: usize,
        durability: Durability,
        mut progress: impl FnMut(u64) -> ControlFlow<()>,
    ) -> Result<u64, Error> {
        let snapshot = self.snapshot()?;
        let mut rows = snapshot.scan(scan);
        let mut gone = 0;
        loop {
            let mut batch = self.batch()?;
            for row in rows.by_ref().take(chunk.max(1)) {
                batch.delete_bytes(S::Key::SPACE, row?.key_bytes())?;
            }
            if batch.is_empty() {
                return Ok(gone);
            }
            gone += batch.len() as u64;
            batch.commit(durability)?;
            if progress(gone).is_break() {
                return Err(crate::StoreError::Stopped { done: gone }.into());
            }
        }
    }

    /// Makes everything durable, moves it to where opening finds it at once, and refuses later commits; within about
    /// `limit`. Dropping the store afterwards frees it for others.
    pub fn shutdown(&self, limit: Duration) -> Result<(), Error> {
        Ok(self.0.shutdown(limit)?)
    }
}

/// What a plan that was compiled in means: for what is done now and then, and needs more than its types.
fn model(plan: &PlanText) -> Result<keyplan_plan::model::Plan, Error> {
    let (name, text) = plan.files.first().copied().unwrap_or_default();
    let model = keyplan_plan::compile(name, text, |path| import(plan, path))
        .plan
        .filter(|model| crate::PlanFingerprint::from(model.fingerprint()).0 == plan.fingerprint);
    model.ok_or(Error::PlanText { name: plan.name })
}

fn import(plan: &PlanText, path: &str) -> Result<String, String> {
    let found = plan.files.iter().find(|(name, _)| *name == path);
    found.map(|(_, text)| (*text).to_owned()).ok_or_else(|| format!("`{path}` was not compiled in"))
}
