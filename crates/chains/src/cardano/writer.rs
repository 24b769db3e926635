use std::fmt;
use std::sync::Arc;

use keyplan_store::engine::{Batch, SpaceKind};

use super::engine::unsupported;
use super::layout::wrong_kind;
use super::names::Names;
use super::store::Inner;
use super::utxos::UtxoValue;
use super::{ChainPoint, Entity, EntityKey, StateEngine, StateError, TxoRef, UtxoSetDelta};

/// Changes to a state store that are applied as one step.
///
/// Nothing of it is visible before [`StateWriter::commit`], and nothing is left if it is dropped without that. The last
/// change of a key wins.
pub struct StateWriter<E: StateEngine> {
    store: Arc<Inner<E>>,
    batch: Batch<E>,
    cursor: Option<ChainPoint>,
    names: Names,
    // What a value is put together in.
    scratch: Vec<u8>,
}

impl<E: StateEngine> StateWriter<E> {
    pub(super) fn new(store: Arc<Inner<E>>) -> Self {
        Self { store, batch: Batch::new(), cursor: None, names: Names::default(), scratch: Vec::new() }
    }

    /// Gives an entity a value; one value more, in a namespace whose keys have several.
    pub fn write_entity(&mut self, namespace: &str, key: &EntityKey, value: &[u8]) -> Result<(), StateError> {
        let place = self.names.place(&self.store, namespace)?;
        let key = place.key(key);
        match place.kind {
            SpaceKind::Map => self.batch.put_row(place.space, key.as_ref(), value),
            SpaceKind::Multimap => {
                E::add_value(&mut self.batch, place.space, key.as_ref().into(), value.into())?;
            }
        }
        Ok(())
    }

    /// Deletes an entity, and all of its values in a namespace whose keys have several.
    pub fn delete_entity(&mut self, namespace: &str, key: &EntityKey) -> Result<(), StateError> {
        let place = self.names.place(&self.store, namespace)?;
        self.batch.delete(place.space, place.key(key).as_ref());
        Ok(())
    }

    /// Takes one of its values from a key, in a namespace whose keys have several.
    pub fn delete_entity_value(
        &mut self,
        namespace: &str,
        key: &EntityKey,
        value: &[u8],
    ) -> Result<(), StateError> {
        if self.store.layout.hashed_entities().is_some() {
            return Err(unsupported::<E>().into());
        }
        let place = self.names.place(&self.store, namespace)?;
        if place.kind == SpaceKind::Map {
            return Err(wrong_kind(namespace, "several values", "one value"));
        }
        let key = E::Buffer::from(place.key(key).as_ref());
        Ok(E::remove_value(&mut self.batch, place.space, key, value.into())?)
    }

    /// Gives an entity a value, or deletes it if there is none.
    pub fn save_entity(
        &mut self,
        namespace: &str,
        key: &EntityKey,
        value: Option<&[u8]>,
    ) -> Result<(), StateError> {
        match value {
            Some(value) => self.write_entity(namespace, key, value),
            None => self.delete_entity(namespace, key),
        }
    }

    /// Gives an entity of a type a value.
    pub fn write_entity_typed<T: Entity>(&mut self, key: &EntityKey, entity: &T) -> Result<(), StateError> {
        let mut bytes = std::mem::take(&mut self.scratch);
        bytes.clear();
        let encoded = entity
            .encode_entity(&mut bytes)
            .map_err(|error| StateError::EntityEncode { namespace: T::NAMESPACE, source: Box::new(error) });
        let written = encoded.and_then(|()| self.write_entity(T::NAMESPACE, key, &bytes));
        self.scratch = bytes;
        written
    }

    /// Gives an entity of a type a value, or deletes it if there is none.
    pub fn save_entity_typed<T: Entity>(
        &mut self,
        key: &EntityKey,
        entity: Option<&T>,
    ) -> Result<(), StateError> {
        match entity {
            Some(entity) => self.write_entity_typed(key, entity),
            None => self.delete_entity(T::NAMESPACE, key),
        }
    }

    /// Changes the set of unspent outputs: adds what is produced, adds what is recovered, removes what is consumed,
    /// removes what is undone.
    pub fn apply_utxoset(&mut self, delta: &UtxoSetDelta) -> Result<(), StateError> {
        for (txo, output) in delta.produced.iter().chain(&delta.recovered) {
            self.put_utxo(txo, output.era, &output.cbor)?;
        }
        for txo in delta.consumed.iter().chain(&delta.undone) {
            self.delete_utxo(txo);
        }
        Ok(())
    }

    /// Adds one unspent output, or replaces it. Nothing of it is kept by the caller.
    #[inline]
    pub fn put_utxo(&mut self, txo: &TxoRef, era: u16, cbor: &[u8]) -> Result<(), StateError> {
        self.scratch.clear();
        let value = UtxoValue { era, body: cbor.into() };
        value.encode_into(&mut self.scratch).map_err(StateError::unwritable)?;
        self.batch.put_row(self.store.layout.utxos, txo.encode().as_slice(), self.scratch.as_slice());
        Ok(())
    }

    /// Removes one unspent output. Removing what is not there is no error.
    #[inline]
    pub fn delete_utxo(&mut self, txo: &TxoRef) {
        self.batch.delete(self.store.layout.utxos, txo.encode().as_slice());
    }

    /// Sets where the chain is. The last call counts.
    pub const fn set_cursor(&mut self, point: ChainPoint) {
        self.cursor = Some(point);
    }

    /// How many changes it holds.
    pub const fn len(&self) -> usize {
        self.batch.len()
    }

    /// Whether it holds no change of outputs or entities.
    pub const fn is_empty(&self) -> bool {
        self.batch.is_empty()
    }

    /// Applies everything as one step, and waits for what the [`Config`](super::Config) says.
    pub fn commit(self) -> Result<(), StateError> {
        self.store.commit(self.batch, self.cursor, &self.names)
    }
}

impl<E: StateEngine> fmt::Debug for StateWriter<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StateWriter")
            .field("batch", &self.batch)
            .field("cursor", &self.cursor)
            .finish_non_exhaustive()
    }
}
