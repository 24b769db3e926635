use std::any::Any;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use crate::batch::StoreBatch;
use crate::cache::{Cached, RowCache};
use crate::engine::{
    Batch, Durability, Engine, KeyRange, OwnedKeyRange, Snapshot as _, Space, SpaceId, SpaceUsage,
};
use crate::error::StoreError;
use crate::meta::{META_SPACE, Meta, READS};
use crate::schema::{FamilyPrefix, PlanFingerprint, Schema};
use crate::snapshot::StoreSnapshot;

/// An engine with a plan in it.
///
/// A store is opened with the plan that the program was built with, and refuses a database that was written under
/// another layout. The plan's text is in the database, so that tools need no file.
#[derive(Debug)]
pub struct Store<E: Engine> {
    engine: E,
    meta: Option<Meta>,
    meta_space: Option<SpaceId>,
    spaces: Arc<Spaces>,
    access: Access,
    names: Mutex<BTreeMap<(String, Vec<u8>), String>>,
    // What is kept in memory for a space, for as long as somebody uses it.
    attached: Mutex<Vec<(SpaceId, Weak<dyn Any + Send + Sync>)>>,
}

/// The spaces of a schema on an engine.
#[derive(Debug)]
pub(crate) struct Spaces {
    pub(crate) fingerprint: PlanFingerprint,
    pub(crate) named: Vec<(String, SpaceId)>,
    pub(crate) families: Vec<FamilyPrefix>,
}

impl Spaces {
    #[inline]
    pub(crate) fn find(&self, name: &str) -> Result<SpaceId, StoreError> {
        match self.named.iter().find(|(known, _)| known == name) {
            Some((_, id)) => Ok(*id),
            None => Err(Self::missing(name)),
        }
    }

    #[cold]
    fn missing(name: &str) -> StoreError {
        StoreError::NoSpace { name: name.to_owned() }
    }
}

/// A name that a batch records; see [`Store::record_name_in`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedName {
    place: (String, Vec<u8>),
    name: String,
}

/// What a store may be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Reading and writing.
    ReadWrite,
    /// Reading only.
    ReadOnly,
}

/// What to do about settings that were fixed when the database was made, and are asked for otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ChangedSettings {
    /// Refuse to open: the engine would ignore them without a word.
    #[default]
    Refuse,
    /// Open with those that the database has.
    Keep,
}

impl<E: Engine> Store<E> {
    /// Makes a store in an empty database: creates the spaces of the plan, and writes the plan last.
    ///
    /// A creation that is interrupted leaves a database without a plan, which can be created again.
    pub fn create(engine: E, schema: &Schema) -> Result<Self, StoreError> {
        if let Some(meta) = Meta::read(&engine)? {
            return Err(StoreError::AlreadyCreated { theirs: meta.fingerprint });
        }
        // Rows without a plan are another program's.
        for space in engine.spaces() {
            let id = engine.space(&space.name).filter(|_| space.kind == crate::engine::SpaceKind::Map);
            if let Some(id) = id
                && engine.snapshot()?.range(id, KeyRange::ALL)?.next().transpose()?.is_some()
            {
                return Err(StoreError::NoPlan);
            }
        }
        Self::claim(engine, schema)
    }

    /// Opens a store that was created with this plan, or another with the same layout.
    pub fn open(engine: E, schema: &Schema) -> Result<Self, StoreError> {
        Self::open_with(engine, schema, ChangedSettings::Refuse)
    }

    /// Opens a store, and says what to do about settings that cannot be changed.
    pub fn open_with(engine: E, schema: &Schema, changed: ChangedSettings) -> Result<Self, StoreError> {
        let meta = Meta::read(&engine)?.ok_or(StoreError::NoPlan)?;
        not_migrating(&meta)?;
        if meta.fingerprint != schema.fingerprint {
            return Err(StoreError::PlanMismatch { ours: schema.fingerprint, theirs: meta.fingerprint });
        }
        if meta.engine != engine.name() {
            return Err(StoreError::Engines { expected: engine.name(), found: meta.engine });
        }
        if changed == ChangedSettings::Refuse {
            meta.check_settings(&engine.settings())?;
        }
        Self::with(engine, schema, Some(meta), Access::ReadWrite)
    }

    /// Opens a store, or creates it if the database is empty.
    pub fn open_or_create(engine: E, schema: &Schema) -> Result<Self, StoreError> {
        if Meta::read(&engine)?.is_some() { Self::open(engine, schema) } else { Self::create(engine, schema) }
    }

    /// Opens a store with the plan that is in it: for tools that come without one.
    pub fn open_recorded(engine: E, access: Access) -> Result<Self, StoreError> {
        let meta = Meta::read(&engine)?.ok_or(StoreError::NoPlan)?;
        not_migrating(&meta)?;
        let schema = meta.schema();
        Self::with(engine, &schema, Some(meta), access)
    }

    /// Reads a database that another program wrote, and writes no row or space to it. Spaces that it lacks are left out.
    ///
    /// An engine that was opened for writing may still tidy its own files, as the other program's would.
    pub fn adopt(engine: E, schema: &Schema) -> Result<Self, StoreError> {
        let meta = Meta::read(&engine)?;
        meta.as_ref().map_or(Ok(()), not_migrating)?;
        if let Some(meta) = meta.as_ref().filter(|meta| meta.fingerprint != schema.fingerprint) {
            return Err(StoreError::PlanMismatch { ours: schema.fingerprint, theirs: meta.fingerprint });
        }
        Self::with(engine, schema, meta, Access::ReadOnly)
    }

    /// Makes a database that another program wrote a store, with this plan.
    ///
    /// Whether its rows are rows of the plan is not looked at; the other program can still open it.
    pub fn claim(mut engine: E, schema: &Schema) -> Result<Self, StoreError> {
        if let Some(meta) = Meta::read(&engine)? {
            return Err(StoreError::AlreadyCreated { theirs: meta.fingerprint });
        }
        let made_by_another = schema.spaces.iter().any(|space| engine.space(&space.name).is_some());
        for space in &schema.spaces {
            admitted(space)?;
            engine.create_space(space)?;
        }
        let space = engine.create_space(&Space::map(META_SPACE))?;
        let mut meta = Meta::new(&engine, schema);
        if made_by_another {
            // The spaces keep what the other program fixed, and that is not known here.
            meta.settings.retain(|setting| !setting.fixed);
        }
        meta.write(&engine, space)?;
        Self::with(engine, schema, Some(meta), Access::ReadWrite)
    }

    /// Opens a store whose plan has gained spaces: `from` is the plan that is recorded, `to` the same with more spaces.
    ///
    /// The spaces are made first, and the plan is replaced last and in one step. Nothing else may have changed between
    /// the two, which is for the caller to know: plans are not read here.
    pub fn extend(mut engine: E, from: &Schema, to: &Schema) -> Result<Self, StoreError> {
        let meta = Meta::read(&engine)?.ok_or(StoreError::NoPlan)?;
        let kept =
            |space: &Space| to.spaces.iter().any(|new| new.name == space.name && new.kind == space.kind);
        if meta.fingerprint != from.fingerprint || !meta.spaces.iter().all(kept) {
            return Err(StoreError::PlanMismatch { ours: to.fingerprint, theirs: meta.fingerprint });
        }
        if meta.engine != engine.name() {
            return Err(StoreError::Engines { expected: engine.name(), found: meta.engine });
        }
        for space in &to.spaces {
            admitted(space)?;
            engine.create_space(space)?;
        }
        let space = engine.create_space(&Space::map(META_SPACE))?;
        let (files, spaces) = (to.files.clone(), to.spaces.clone());
        let next = Meta { fingerprint: to.fingerprint, files, spaces, ..meta };
        next.write(&engine, space)?;
        Self::with(engine, to, Some(next), Access::ReadWrite)
    }

    fn with(mut engine: E, schema: &Schema, meta: Option<Meta>, access: Access) -> Result<Self, StoreError> {
        // All of them were there before the metadata was: one that is not is lost, and must not be made again.
        for space in meta.iter().flat_map(|meta| &meta.spaces) {
            if engine.space(&space.name).is_none() {
                return Err(StoreError::LostSpace { name: space.name.clone() });
            }
        }
        let mut found = Vec::with_capacity(schema.spaces.len());
        for space in &schema.spaces {
            admitted(space)?;
            let id = match engine.space(&space.name) {
                // Opening it again checks that it is of the right kind.
                Some(_) => Some(engine.create_space(space)?),
                None if access == Access::ReadWrite => Some(engine.create_space(space)?),
                None => None,
            };
            found.extend(id.map(|id| (space.name.clone(), id)));
        }
        let families = schema.families.clone();
        let spaces = Arc::new(Spaces { fingerprint: schema.fingerprint, named: found, families });
        let names = meta.as_ref().map(|meta| meta.names.clone()).unwrap_or_default();
        let meta_space = engine.space(META_SPACE);
        Ok(Self {
            engine,
            meta,
            meta_space,
            spaces,
            access,
            names: Mutex::new(names),
            attached: Mutex::default(),
        })
    }

    /// The same store with rows kept in memory, up to so many bytes; see [`cache`](crate::cache). Without effect on an
    /// engine to which [others may write](crate::engine::Capabilities::foreign_commits).
    ///
    /// ```
    /// # use keyplan_store::{Schema, Store, engine::{Durability, Memory}};
    /// # let text = "plan demo; space cl { key tick = 0x01 pool: u64; }";
    /// # let compiled = keyplan_plan::compile("demo.keyplan", text, |_| Err("no imports".into()));
    /// # let schema = Schema::of(&compiled).expect("sound");
    /// let store = Store::create(Memory::new(), &schema)?.row_cache(64 << 20);
    /// let (space, key) = (store.space("cl")?, [1, 0, 0, 0, 0, 0, 0, 0, 7]);
    /// let mut batch = store.batch()?;
    /// batch.put(space, key.as_slice(), b"row".as_slice());
    /// batch.commit(Durability::SyncAll)?;
    /// assert_eq!(&*store.snapshot()?.get(space, &key)?.expect("there"), b"row");
    /// let reads = &store.row_statistics().expect("has a cache").families[0];
    /// assert_eq!((reads.family.as_deref(), reads.hits, reads.misses), (Some("cl.tick"), 1, 0));
    /// # Ok::<(), keyplan_store::StoreError>(())
    /// ```
    pub fn row_cache(self, cache: impl Into<RowCache>) -> Store<Cached<E>> {
        Store {
            engine: Cached::counting(self.engine, cache.into(), self.spaces.families.clone()),
            meta: self.meta,
            meta_space: self.meta_space,
            spaces: self.spaces,
            access: self.access,
            names: self.names,
            attached: self.attached,
        }
    }

    /// What is kept in memory for a space: that of whoever uses it already, or else made.
    pub(crate) fn attached<T: Any + Send + Sync>(&self, space: SpaceId, make: impl FnOnce() -> T) -> Arc<T> {
        let mut attached = self.attached.lock().unwrap_or_else(PoisonError::into_inner);
        attached.retain(|(_, kept)| kept.strong_count() > 0);
        let of_space = attached.iter().filter(|(known, _)| *known == space);
        let known = of_space.filter_map(|(_, kept)| kept.upgrade()).find_map(|kept| kept.downcast().ok());
        known.unwrap_or_else(|| {
            let new = Arc::new(make());
            let erased: Arc<dyn Any + Send + Sync> = new.clone();
            attached.push((space, Arc::downgrade(&erased)));
            new
        })
    }

    /// What the row cache holds and has done; `None` if there is none.
    pub fn row_statistics(&self) -> Option<crate::cache::RowStatistics> {
        self.engine.statistics().rows
    }

    /// The engine below.
    pub const fn engine(&self) -> &E {
        &self.engine
    }

    /// What the database knows of itself; `None` if another program wrote it.
    pub const fn meta(&self) -> Option<&Meta> {
        self.meta.as_ref()
    }

    /// The fingerprint of the plan that it was opened with.
    pub fn fingerprint(&self) -> PlanFingerprint {
        self.spaces.fingerprint
    }

    /// Whether it can be written.
    pub const fn access(&self) -> Access {
        self.access
    }

    /// Finds a space of the plan by the name that the engine knows.
    pub fn space(&self, name: &str) -> Result<SpaceId, StoreError> {
        self.spaces.find(name)
    }

    /// A point in time over all spaces.
    pub fn snapshot(&self) -> Result<StoreSnapshot<E>, StoreError> {
        Ok(StoreSnapshot::new(self.engine.snapshot()?, self.spaces.clone()))
    }

    /// A batch that sees its own changes. Nothing of it is visible to others before it is committed.
    pub fn batch(&self) -> Result<StoreBatch<'_, E>, StoreError> {
        self.writable()?;
        Ok(StoreBatch::new(self))
    }

    /// The same, and it remembers what it has read: if another has changed any of that by the time of its commit, it is
    /// refused as a [conflict](crate::engine::Error::Conflict), and nothing of it is written.
    pub fn checked_batch(&self) -> Result<StoreBatch<'_, E>, StoreError> {
        self.writable()?;
        Ok(StoreBatch::checked(self))
    }

    /// Commits a plain batch of the engine.
    pub fn commit(&self, batch: Batch<E>, durability: Durability) -> Result<(), StoreError> {
        self.writable()?;
        Ok(self.engine.commit(batch, durability)?)
    }

    /// Deletes every row of a range, `chunk` rows in a batch, and returns how many there were.
    ///
    /// This is **not** one step: each batch is. After each, `progress` is told how many rows are gone so far, and may
    /// stop the rest. Rows that others add after the place already reached are deleted too.
    pub fn delete_range(
        &self,
        space: SpaceId,
        range: KeyRange<'_>,
        chunk: usize,
        durability: Durability,
        mut progress: impl FnMut(u64) -> ControlFlow<()>,
    ) -> Result<u64, StoreError> {
        self.writable()?;
        let mut rest: OwnedKeyRange = range.to_owned();
        let mut done = 0_u64;
        loop {
            // A snapshot for each chunk, so that none is held for long, and no deleted row is walked over again.
            let snapshot = self.engine.snapshot()?;
            let mut batch = Batch::<E>::new();
            let mut last = None;
            for row in snapshot.range(space, rest.borrow())?.take(chunk.max(1)) {
                let (key, _) = row?;
                batch.delete(space, &key[..]);
                last = Some(key);
            }
            let Some(last) = last else { return Ok(done) };
            rest = rest.after(&last);
            done = done.saturating_add(u64::try_from(batch.len()).unwrap_or(u64::MAX));
            self.commit(batch, durability)?;
            if progress(done).is_break() {
                return Err(StoreError::Stopped { done });
            }
        }
    }

    /// Records the name of a digest, so that rows under it can be explained. A second name with the same digest is
    /// refused; the same name again is not written again.
    pub fn record_name(&self, scope: &str, digest: &[u8], name: &str) -> Result<(), StoreError> {
        self.writable()?;
        let meta_space = self.meta_space.ok_or(StoreError::NoPlan)?;
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        let place = (scope.to_owned(), digest.to_vec());
        if let Some(known) = names.get(&place) {
            if known == name {
                return Ok(());
            }
            let (scope, name, known) = (scope.to_owned(), name.to_owned(), known.clone());
            return Err(StoreError::NameCollision { scope, name, known });
        }
        let mut batch = Batch::<E>::new();
        batch.put(meta_space, Meta::name_row(scope, digest)?, name.as_bytes());
        self.engine.commit(batch, Durability::SyncAll)?;
        names.insert(place, name.to_owned());
        Ok(())
    }

    /// Puts the record of a name into a batch, so that it is one step with the first rows under it. Returns what
    /// [`Store::remember_names`] is to be told once the batch is committed; nothing if the name is recorded already.
    pub fn record_name_in(
        &self,
        batch: &mut Batch<E>,
        scope: &str,
        digest: &[u8],
        name: &str,
    ) -> Result<Option<RecordedName>, StoreError> {
        let meta_space = self.meta_space.ok_or(StoreError::NoPlan)?;
        match self.known_name(scope, digest) {
            Some(known) if known == name => Ok(None),
            Some(known) => {
                let (scope, name) = (scope.to_owned(), name.to_owned());
                Err(StoreError::NameCollision { scope, name, known })
            }
            None => {
                batch.put(meta_space, Meta::name_row(scope, digest)?, name.as_bytes());
                Ok(Some(RecordedName { place: (scope.to_owned(), digest.to_vec()), name: name.to_owned() }))
            }
        }
    }

    /// Takes in the names that a committed batch recorded.
    pub fn remember_names(&self, recorded: impl IntoIterator<Item = RecordedName>) {
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        names.extend(recorded.into_iter().map(|recorded| (recorded.place, recorded.name)));
    }

    /// The name of a digest, if it was recorded.
    pub fn known_name(&self, scope: &str, digest: &[u8]) -> Option<String> {
        let names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        names.get(&(scope.to_owned(), digest.to_vec())).cloned()
    }

    /// Makes everything durable, moves it to where opening finds it at once, and refuses later commits; within about
    /// `limit`. Dropping the store afterwards frees it for others.
    pub fn shutdown(&self, limit: Duration) -> Result<(), StoreError> {
        if self.access == Access::ReadOnly {
            return Ok(());
        }
        // A store that was shut down already is shut down.
        match self.record_reads() {
            Ok(()) | Err(StoreError::Engine(crate::engine::Error::Closed)) => {}
            Err(error) => return Err(error),
        }
        Ok(self.engine.shutdown(limit)?)
    }

    /// Writes down what the row cache did, for those who look at the database later.
    fn record_reads(&self) -> Result<(), StoreError> {
        let (Some(statistics), Some(space)) = (self.row_statistics(), self.meta_space) else { return Ok(()) };
        let mut batch = Batch::<E>::new();
        for row in self.engine.snapshot()?.prefix(space, READS)? {
            batch.delete(space, &row?.0[..]);
        }
        for (key, value) in Meta::reads_rows(&statistics.families) {
            batch.put(space, key, value);
        }
        Ok(self.engine.commit(batch, Durability::Buffer)?)
    }

    pub(crate) fn writable(&self) -> Result<(), StoreError> {
        match self.access {
            Access::ReadWrite => Ok(()),
            Access::ReadOnly => Err(StoreError::ReadOnly),
        }
    }
}

fn not_migrating(meta: &Meta) -> Result<(), StoreError> {
    match &meta.migration {
        Some(mark) => Err(StoreError::Migrating { from: mark.from, to: mark.to }),
        None => Ok(()),
    }
}

/// Refuses a space that a store cannot have.
fn admitted(space: &Space) -> Result<(), StoreError> {
    if space.name == META_SPACE || crate::migrate::is_own(&space.name) {
        return Err(StoreError::ReservedSpace { name: space.name.clone() });
    }
    if space.usage == SpaceUsage::Mixed {
        return Err(StoreError::MixedSpace { name: space.name.clone() });
    }
    Ok(())
}
