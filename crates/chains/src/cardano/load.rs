use std::fmt;
use std::ops::ControlFlow;

use keyplan_store::engine::{Batch, Durability, KeyRange, SpaceKind};
use keyplan_store::{BulkLoad, BulkOptions, BulkProgress};

use super::names::Names;
use super::store::put_cursor;
use super::utxos::UtxoValue;
use super::{ChainPoint, EntityKey, EraCbor, StateEngine, StateError, StateStore, TxoRef};

/// Fills an empty store from a snapshot of the state: outputs and entities in any order, and the cursor last.
///
/// The rows are sorted in bounded memory and written once, in order, which costs a fraction of committing them block by
/// block. A load is **not** one step, but it is only whole with its cursor: a store that was interrupted in a load has
/// none, and the next load begins by removing what it holds. Nothing can be rolled back to before a load.
///
/// ```
/// use keyplan_chains::cardano::{ChainPoint, Config, EntityKey, EraCbor, Namespace, StateStore, TxoRef};
/// use keyplan_store::BulkOptions;
///
/// let store = StateStore::in_memory(Config::default())?;
/// let mut load = store.start_load(BulkOptions::default())?;
/// for index in [2, 0, 1] {
///     load.push_utxo(&TxoRef { tx_hash: [7; 32], index }, &EraCbor { era: 6, cbor: vec![0x80] })?;
/// }
/// load.push_entity(Namespace::ACCOUNTS, &EntityKey::padded(b"stake1")?, &[0x01])?;
/// assert_eq!(load.finish(ChainPoint::Slot { slot: 9 }, |_| ())?, 4);
///
/// assert_eq!(store.read_cursor()?, Some(ChainPoint::Slot { slot: 9 }));
/// assert_eq!(store.iter_utxos()?.count(), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct StateLoad<'s, E: StateEngine> {
    state: &'s StateStore<E>,
    rows: BulkLoad<'s, E>,
    // What is committed with the cursor: values of keys that have several, which are not sorted here.
    last: Batch<E>,
    names: Names,
    // What a value is put together in.
    scratch: Vec<u8>,
}

/// How many rows of an interrupted load are removed in a step.
const REMOVED_AT_ONCE: usize = 10_000;

impl<'s, E: StateEngine> StateLoad<'s, E> {
    pub(super) fn new(state: &'s StateStore<E>, options: BulkOptions) -> Result<Self, StateError> {
        refuse_filled(state)?;
        let store = state.store();
        for (space, kind) in state.inner().layout.spaces() {
            if kind == SpaceKind::Map {
                let go_on = |_| ControlFlow::Continue(());
                store.delete_range(space, KeyRange::ALL, REMOVED_AT_ONCE, Durability::Buffer, go_on)?;
            }
        }
        let rows = BulkLoad::new(store, options)?;
        Ok(Self { state, rows, last: Batch::new(), names: Names::default(), scratch: Vec::new() })
    }

    /// Adds an unspent output.
    pub fn push_utxo(&mut self, txo: &TxoRef, output: &EraCbor) -> Result<(), StateError> {
        self.scratch.clear();
        let value = UtxoValue { era: output.era, body: output.cbor.as_slice().into() };
        value.encode_into(&mut self.scratch).map_err(StateError::unwritable)?;
        let space = self.state.inner().layout.utxos;
        Ok(self.rows.push(space, &txo.encode(), &self.scratch)?)
    }

    /// Adds an entity; one value more, in a namespace whose keys have several. These stay in memory until the end.
    pub fn push_entity(&mut self, namespace: &str, key: &EntityKey, value: &[u8]) -> Result<(), StateError> {
        let place = self.names.place(self.state.inner(), namespace)?;
        let key = place.key(key);
        match place.kind {
            SpaceKind::Map => Ok(self.rows.push(place.space, key.as_ref(), value)?),
            SpaceKind::Multimap => {
                let key = E::Buffer::from(key.as_ref());
                Ok(E::add_value(&mut self.last, place.space, key, value.into())?)
            }
        }
    }

    /// Writes all rows, and then the cursor, durably; returns how many rows there were, duplicates left out.
    ///
    /// Refused if the store was given a cursor since the load began.
    pub fn finish(
        mut self,
        cursor: ChainPoint,
        progress: impl FnMut(BulkProgress),
    ) -> Result<u64, StateError> {
        // No block is committed meanwhile.
        let mut history = self.state.history();
        refuse_filled(self.state)?;
        let recorded = self.names.record(self.state.inner(), &mut self.last)?;
        put_cursor(&self.state.inner().layout, cursor, &mut self.last)?;
        // The cursor and the names are not rows of the state.
        let others = recorded.len() + 1;
        let several = u64::try_from(self.last.len().saturating_sub(others)).unwrap_or(u64::MAX);
        let sorted = self.rows.finish(self.last, progress)?;
        self.state.inner().store.remember_names(recorded);
        *history = super::history::History::default();
        Ok(sorted.saturating_add(several))
    }
}

/// A load would be mixed with the state that is there.
fn refuse_filled<E: StateEngine>(state: &StateStore<E>) -> Result<(), StateError> {
    match state.read_cursor()? {
        None => Ok(()),
        Some(cursor) => Err(StateError::NotEmpty { cursor: Box::new(cursor) }),
    }
}

impl<E: StateEngine> fmt::Debug for StateLoad<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StateLoad").field("rows", &self.rows).finish_non_exhaustive()
    }
}
