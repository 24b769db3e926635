use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeBounds;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use keyplan_store::cache::Cached;
use keyplan_store::engine::{Action, Batch, Fjall, Memory};
use keyplan_store::{BulkOptions, BytesOf, ChangedSettings, META_SPACE, Meta, Schema, Store};

use super::cursor::CursorValue;
use super::history::{History, RolledBack};
use super::layout::Layout;
use super::names::Names;
use super::rows::{Entities, TypedEntities, Utxos};
use super::schema::{self, StateSchema};
use super::{
    ChainPoint, Config, Entity, EntityKey, Output, StateEngine, StateError, StateLoad, StateSnapshot,
    StateWriter, TxoRef,
};

/// What the names recorded in the metadata are names of: the plan's name for them.
pub(super) const NAMESPACES: &str = "Namespace";

/// The state of a Cardano node. Clones are handles on the same store.
///
/// Each read takes a snapshot of its own; for several that belong together take one with [`StateStore::snapshot`].
/// Writers may be filled side by side; their commits come one after the other.
pub struct StateStore<E: StateEngine>(Arc<Inner<E>>);

pub(super) struct Inner<E: StateEngine> {
    pub(super) store: Store<E>,
    pub(super) layout: Arc<Layout>,
    config: Config,
    kept_settings: Vec<KeptSetting>,
    // Commits are made under this lock, so that what a commit replaces is what it found.
    history: Mutex<History>,
}

impl StateStore<Fjall> {
    /// Opens a store in a directory, and makes it if there is none.
    ///
    /// A directory that Dolos wrote is taken over: its rows stay as they are, and ours are in spaces of their own, so
    /// that Dolos can go on with it. While Dolos writes nothing is kept for rolling back: what was kept is found to be of
    /// no use once the cursor has moved, and dropped. A row that it changed without moving the cursor is found when
    /// its block is to be rolled back, which is then refused.
    pub fn open(path: impl AsRef<Path>, config: Config) -> Result<Self, StateError> {
        let engine = Fjall::open(path, config.fjall())?;
        Self::with_engine(engine, config)
    }

    /// Opens the store in a directory for reading only. Nothing is written to it, even if Dolos made it.
    pub fn open_read_only(path: impl AsRef<Path>, config: Config) -> Result<Self, StateError> {
        let engine = Fjall::open_existing(path, config.fjall())?;
        let store = Store::adopt(engine, &schema::hashed())?;
        let layout = Layout::hashed(&store)?;
        Self::start(store, layout, config)
    }
}

impl StateStore<Cached<Fjall>> {
    /// Opens a store as [`StateStore::open`] does, with rows kept in memory: of the bytes that both may take, a quarter
    /// is for blocks and three quarters are for rows, unless the configuration says otherwise.
    ///
    /// Most outputs that are spent were made shortly before, and are then found without a look into any table.
    pub fn open_cached(path: impl AsRef<Path>, config: Config) -> Result<Self, StateError> {
        let (settings, rows) = config.divided();
        Self::with_engine(Cached::new(Fjall::open(path, settings)?, rows), config)
    }
}

impl StateStore<Memory> {
    /// An empty store in memory.
    pub fn in_memory(config: Config) -> Result<Self, StateError> {
        Self::with_engine(Memory::new(), config)
    }
}

#[cfg(feature = "redb")]
impl StateStore<keyplan_store::engine::Redb> {
    /// Opens a store in a directory, with a table for every namespace of the schema, and makes it if there is none.
    ///
    /// Namespaces that the database lacks are made; one whose keys have another number of values is refused.
    pub fn open_redb(
        path: impl AsRef<Path>,
        namespaces: &StateSchema,
        config: Config,
    ) -> Result<Self, StateError> {
        let engine = keyplan_store::engine::Redb::open(path, config.redb())?;
        Self::with_tables(engine, namespaces, config)
    }
}

#[cfg(feature = "lmdb")]
impl StateStore<keyplan_store::engine::Lmdb> {
    /// The same on LMDB. It keeps no cache of its own: what is read lies in the memory of the system.
    pub fn open_lmdb(
        path: impl AsRef<Path>,
        namespaces: &StateSchema,
        config: Config,
    ) -> Result<Self, StateError> {
        let settings = keyplan_store::engine::LmdbSettings::default();
        let engine = keyplan_store::engine::Lmdb::open(path, settings)?;
        Self::with_tables(engine, namespaces, config)
    }
}

impl<E: StateEngine> StateStore<E> {
    /// Opens a store on an engine, all namespaces in one space below the hashes of their names.
    pub fn with_engine(engine: E, config: Config) -> Result<Self, StateError> {
        let schema = schema::hashed();
        let taken_over = !engine.spaces().is_empty() && Meta::read(&engine)?.is_none();
        let store = opened(engine, &schema)?;
        let layout = Layout::hashed(&store)?;
        let state = Self::start(store, layout, config)?;
        if taken_over {
            state.record_known_names()?;
        }
        Ok(state)
    }

    /// Opens a store on an engine, with a table for every namespace.
    ///
    /// Namespaces whose keys have several values are refused by engines that have none. Those that the database
    /// lacks are made, and those that it has besides stay and can be read.
    pub fn with_tables(engine: E, namespaces: &StateSchema, config: Config) -> Result<Self, StateError> {
        let asked = namespaces.schema()?;
        let Some((recorded, all)) = namespaces.with_recorded(Meta::read(&engine)?.as_ref())? else {
            let store = opened(engine, &asked)?;
            let layout = Layout::tables(&store, namespaces)?;
            return Self::start(store, layout, config);
        };
        let store = if all == recorded {
            opened(engine, &recorded.schema()?)?
        } else {
            Store::extend(engine, &recorded.schema()?, &all.schema()?)?
        };
        let layout = Layout::tables(&store, &all)?;
        Self::start(store, layout, config)
    }

    fn start(store: Store<E>, layout: Layout, config: Config) -> Result<Self, StateError> {
        let layout = Arc::new(layout);
        let snapshot = StateSnapshot::<E>::new(store.engine().snapshot()?, layout.clone());
        // A cursor that cannot be read shows here, and not at the first block.
        snapshot.read_cursor()?;
        let history = Mutex::new(History::load(&snapshot, &layout)?);
        let kept_settings = kept_settings(&store, &config);
        Ok(Self(Arc::new(Inner { store, layout, config, kept_settings, history })))
    }

    /// Records the names of the hashes that are in use, as far as they are known.
    fn record_known_names(&self) -> Result<(), StateError> {
        for found in self.snapshot()?.find_namespaces()? {
            if let Some(name) = found.ns.name() {
                self.0.store.record_name(NAMESPACES, &found.ns.digest(), name)?;
            }
        }
        Ok(())
    }

    /// The store below, with its metadata and engine.
    pub fn store(&self) -> &Store<E> {
        &self.0.store
    }

    /// The settings that it was opened with.
    pub fn config(&self) -> &Config {
        &self.0.config
    }

    /// The settings that were asked for and are fixed otherwise in the database, which keeps what it has.
    pub fn kept_settings(&self) -> &[KeptSetting] {
        &self.0.kept_settings
    }

    /// A point in time, for a group of reads that belong together.
    pub fn snapshot(&self) -> Result<StateSnapshot<E>, StateError> {
        Ok(StateSnapshot::new(self.0.store.engine().snapshot()?, self.0.layout.clone()))
    }

    /// Begins a batch of changes.
    pub fn start_writer(&self) -> Result<StateWriter<E>, StateError> {
        // Refused at once where nothing can be written.
        drop(self.0.store.batch()?);
        Ok(StateWriter::new(self.0.clone()))
    }

    /// Begins to fill the store from a snapshot of the state. Refused if it has a cursor; what an interrupted load left
    /// in it is removed.
    pub fn start_load(&self, options: BulkOptions) -> Result<StateLoad<'_, E>, StateError> {
        StateLoad::new(self, options)
    }

    /// The name of which a namespace is the hash, if something was ever written under it here.
    pub fn namespace_name(&self, ns: super::entities::EntityNs) -> Option<String> {
        let recorded = self.0.store.known_name(NAMESPACES, &ns.digest());
        recorded.or_else(|| ns.name().map(str::to_owned))
    }

    /// Takes cursor, outputs and entities back to what they were when the chain last stood at `point`, in one step.
    ///
    /// As many blocks can be taken back as the [`Config`] keeps. A commit that moves the cursor is a block; changes that
    /// were committed without moving it are part of the block before. Where the chain is at `point` already, nothing
    /// happens. A point that is not kept is refused, and nothing is changed.
    pub fn rollback_to(&self, point: &ChainPoint) -> Result<RolledBack, StateError> {
        let mut history = self.history();
        let snapshot = self.snapshot()?;
        let mut batch = Batch::new();
        let (kept, done) = history.undo(&snapshot, &self.0.layout, point, &mut batch)?;
        drop(snapshot);
        if !batch.is_empty() {
            self.0.store.commit(batch, self.0.config.commit_durability())?;
        }
        *history = kept;
        Ok(done)
    }

    /// Makes everything durable, moves it to where opening finds it at once, and refuses later commits. Ends within
    /// about [`Config::shutdown_limit`] in any case; if that was too short the error says so, and nothing is lost.
    pub fn shutdown(&self) -> Result<(), StateError> {
        Ok(self.0.store.shutdown(self.0.config.shutdown_limit)?)
    }

    /// [`StateSnapshot::read_cursor`], of now.
    pub fn read_cursor(&self) -> Result<Option<ChainPoint>, StateError> {
        self.snapshot()?.read_cursor()
    }

    /// [`StateSnapshot::get_utxo`], of now.
    pub fn get_utxo(&self, txo: &TxoRef) -> Result<Option<Output<BytesOf<E>>>, StateError> {
        self.snapshot()?.get_utxo(txo)
    }

    /// [`StateSnapshot::get_utxos`], of now.
    pub fn get_utxos(&self, refs: &[TxoRef]) -> Result<BTreeMap<TxoRef, Output<BytesOf<E>>>, StateError> {
        self.snapshot()?.get_utxos(refs)
    }

    /// [`StateSnapshot::iter_utxos`], of now.
    pub fn iter_utxos(&self) -> Result<Utxos<E>, StateError> {
        self.snapshot()?.iter_utxos()
    }

    /// [`StateSnapshot::read_entities`], of now.
    pub fn read_entities<K: Borrow<EntityKey>>(
        &self,
        namespace: &str,
        keys: &[K],
    ) -> Result<Vec<Option<BytesOf<E>>>, StateError> {
        self.snapshot()?.read_entities(namespace, keys)
    }

    /// [`StateSnapshot::iter_entities`], of now.
    pub fn iter_entities(
        &self,
        namespace: &str,
        keys: impl RangeBounds<EntityKey>,
    ) -> Result<Entities<E>, StateError> {
        self.snapshot()?.iter_entities(namespace, keys)
    }

    /// [`StateSnapshot::iter_entity_values`], of now.
    pub fn iter_entity_values(&self, namespace: &str, key: &EntityKey) -> Result<E::Values, StateError> {
        self.snapshot()?.iter_entity_values(namespace, key)
    }

    /// [`StateSnapshot::read_entity_typed`], of now.
    pub fn read_entity_typed<T: Entity>(&self, key: &EntityKey) -> Result<Option<T>, StateError> {
        self.snapshot()?.read_entity_typed(key)
    }

    /// [`StateSnapshot::iter_entities_typed`], of now.
    pub fn iter_entities_typed<T: Entity>(
        &self,
        keys: impl RangeBounds<EntityKey>,
    ) -> Result<TypedEntities<E, T>, StateError> {
        self.snapshot()?.iter_entities_typed(keys)
    }
}

impl<E: StateEngine> StateStore<E> {
    pub(super) fn inner(&self) -> &Inner<E> {
        &self.0
    }

    /// What is kept for rolling back. No commit is made while it is held.
    pub(super) fn history(&self) -> MutexGuard<'_, History> {
        self.0.history.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<E: StateEngine> Inner<E> {
    /// Applies changes as one step, and keeps what they replace.
    pub(super) fn commit(
        &self,
        mut batch: Batch<E>,
        cursor: Option<ChainPoint>,
        names: &Names,
    ) -> Result<(), StateError> {
        if batch.is_empty() && cursor.is_none() {
            return Ok(());
        }
        let durability = self.config.commit_durability();
        let mut history = self.history.lock().unwrap_or_else(PoisonError::into_inner);
        let mut next = None;
        if self.config.history > 0 || !history.is_empty() {
            let snapshot = StateSnapshot::new(self.store.engine().snapshot()?, self.layout.clone());
            let operations: Vec<_> = batch.into_sorted().collect();
            batch = Batch::with_capacity(operations.len() + 4);
            let keep = self.config.history;
            next = Some(history.extend(&snapshot, &self.layout, keep, &operations, cursor, &mut batch)?);
            drop(snapshot);
            for operation in operations {
                let (space, key) = (operation.space, operation.key);
                match operation.action {
                    Action::Put(value) => batch.put(space, key, value),
                    Action::Delete => batch.delete(space, key),
                    Action::AddValue(value) => E::add_value(&mut batch, space, key, value)?,
                    Action::RemoveValue(value) => E::remove_value(&mut batch, space, key, value)?,
                }
            }
        }
        if let Some(point) = cursor {
            put_cursor(&self.layout, point, &mut batch)?;
        }
        let recorded = names.record(self, &mut batch)?;
        self.store.commit(batch, durability)?;
        self.store.remember_names(recorded);
        if let Some(next) = next {
            *history = next;
        }
        Ok(())
    }
}

/// Puts the cursor's row into a batch.
pub(super) fn put_cursor<E: StateEngine>(
    layout: &Layout,
    point: ChainPoint,
    batch: &mut Batch<E>,
) -> Result<(), StateError> {
    let value = CursorValue { point }.encode().map_err(StateError::unwritable)?;
    batch.put(layout.cursor, layout.cursor_key(), value.as_slice());
    Ok(())
}

/// A setting that is fixed with the database, and was asked for otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeptSetting {
    /// Its name.
    pub name: &'static str,
    /// What the database was made with, which stays.
    pub kept: String,
    /// What was asked for.
    pub asked: String,
}

fn kept_settings<E: StateEngine>(store: &Store<E>, config: &Config) -> Vec<KeptSetting> {
    let Some(meta) = store.meta() else { return Vec::new() };
    let differs = |(name, asked): (&'static str, String)| {
        let recorded = meta.settings.iter().find(|setting| setting.fixed && setting.name == name)?;
        let kept = recorded.value.clone();
        (kept != asked).then_some(KeptSetting { name, kept, asked })
    };
    config.fixed().filter_map(differs).collect()
}

/// Opens the store of a schema on an engine, makes it, or takes over what another program made.
fn opened<E: StateEngine>(engine: E, schema: &Schema) -> Result<Store<E>, StateError> {
    if Meta::read(&engine)?.is_some() {
        return Ok(Store::open_with(engine, schema, ChangedSettings::Keep)?);
    }
    let is_ours = |name: &str| name == META_SPACE || schema.spaces.iter().any(|space| space.name == name);
    let spaces = engine.spaces();
    if let Some(foreign) = spaces.iter().find(|space| !is_ours(&space.name))
        && !spaces.iter().any(|space| is_ours(&space.name))
    {
        return Err(StateError::NotAState { found: foreign.name.clone() });
    }
    Ok(Store::claim(engine, schema)?)
}

impl<E: StateEngine> Clone for StateStore<E> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<E: StateEngine> fmt::Debug for StateStore<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StateStore")
            .field("engine", self.0.store.engine())
            .field("config", &self.0.config)
            .finish_non_exhaustive()
    }
}
