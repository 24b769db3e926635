use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeBounds;
use std::sync::Arc;
use std::time::Duration;

use keyplan_store::BytesOf;
use keyplan_store::engine::{KeyRange, OwnedKeyRange, Snapshot as _, SpaceKind};

use super::cursor::CursorValue;
use super::engine::unsupported;
use super::entities::EntityNs;
use super::layout::{Layout, wrong_kind};
use super::rows::{Entities, TypedEntities, Utxos, decode_entity};
use super::{ChainPoint, Entity, EntityKey, Output, StateEngine, StateError, TxoRef};

/// The state at one point in time: every read through it sees the same commits, whole.
///
/// A snapshot keeps old versions on disk: hold it no longer than the reads it is for.
pub struct StateSnapshot<E: StateEngine> {
    snapshot: E::Snapshot,
    layout: Arc<Layout>,
}

/// A namespace that has entities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoundNamespace {
    /// The hash of its name, which is what the keys hold.
    pub ns: EntityNs,
    /// Its first key.
    pub first: EntityKey,
}

impl<E: StateEngine> StateSnapshot<E> {
    pub(super) const fn new(snapshot: E::Snapshot, layout: Arc<Layout>) -> Self {
        Self { snapshot, layout }
    }

    /// The engine's snapshot below.
    pub const fn engine(&self) -> &E::Snapshot {
        &self.snapshot
    }

    /// How long ago it was opened.
    pub fn age(&self) -> Duration {
        self.snapshot.age()
    }

    /// Where the chain is; none in a store that has never been given a cursor.
    pub fn read_cursor(&self) -> Result<Option<ChainPoint>, StateError> {
        let key = self.layout.cursor_key();
        let Some(value) = self.snapshot.get(self.layout.cursor, key)? else { return Ok(None) };
        match CursorValue::decode(&value) {
            Ok(value) => Ok(Some(value.point)),
            Err(error) => Err(StateError::malformed(self.layout.name(self.layout.cursor), key, error)),
        }
    }

    /// Reads one unspent output.
    #[inline]
    pub fn get_utxo(&self, txo: &TxoRef) -> Result<Option<Output<BytesOf<E>>>, StateError> {
        let key = txo.encode();
        let Some(value) = self.snapshot.get(self.layout.utxos, &key)? else { return Ok(None) };
        match Output::decode(value) {
            Ok(output) => Ok(Some(output)),
            Err(error) => Err(StateError::malformed(self.layout.name(self.layout.utxos), &key, error)),
        }
    }

    /// Reads those of the outputs that are unspent; the others are not in the map.
    pub fn get_utxos(&self, refs: &[TxoRef]) -> Result<BTreeMap<TxoRef, Output<BytesOf<E>>>, StateError> {
        let mut found = BTreeMap::new();
        for txo in refs {
            if let Some(output) = self.get_utxo(txo)? {
                found.insert(*txo, output);
            }
        }
        Ok(found)
    }

    /// Iterates over all unspent outputs in the order of their references.
    pub fn iter_utxos(&self) -> Result<Utxos<E>, StateError> {
        let rows = self.snapshot.range(self.layout.utxos, KeyRange::ALL)?;
        Ok(Utxos::new(rows, self.layout.clone()))
    }

    /// Reads entities: one slot for each key, in the order given, empty where there is none.
    ///
    /// A namespace that nothing was written to has no entities; where each has a table, it must be in the schema.
    pub fn read_entities<K: Borrow<EntityKey>>(
        &self,
        namespace: &str,
        keys: &[K],
    ) -> Result<Vec<Option<BytesOf<E>>>, StateError> {
        let place = self.layout.single(namespace)?;
        let get = |key: &K| Ok(self.snapshot.get(place.space, place.key(key.borrow()).as_ref())?);
        keys.iter().map(get).collect()
    }

    /// Reads one entity.
    pub fn read_entity(&self, namespace: &str, key: &EntityKey) -> Result<Option<BytesOf<E>>, StateError> {
        let place = self.layout.single(namespace)?;
        Ok(self.snapshot.get(place.space, place.key(key).as_ref())?)
    }

    /// Iterates over the entities of a namespace whose keys are in a range.
    ///
    /// `a..b` is half-open, `a..=b` holds its end, and `..` is everything, the key `ff…ff` included. What is inverted is
    /// empty.
    pub fn iter_entities(
        &self,
        namespace: &str,
        keys: impl RangeBounds<EntityKey>,
    ) -> Result<Entities<E>, StateError> {
        let place = self.layout.single(namespace)?;
        let rows = place.range::<E>(&self.snapshot, &keys)?;
        Ok(Entities::new(rows, self.layout.clone(), place))
    }

    /// Iterates over the values of a key, ascending, in a namespace whose keys have several.
    ///
    /// Only a schema can declare such a namespace, and only redb has them.
    pub fn iter_entity_values(&self, namespace: &str, key: &EntityKey) -> Result<E::Values, StateError> {
        if self.layout.hashed_entities().is_some() {
            return Err(unsupported::<E>().into());
        }
        let place = self.layout.place(namespace)?;
        if place.kind == SpaceKind::Map {
            return Err(wrong_kind(namespace, "several values", "one value"));
        }
        Ok(E::iter_values(&self.snapshot, place.space, place.key(key).as_ref())?)
    }

    /// Reads one entity of a type.
    pub fn read_entity_typed<T: Entity>(&self, key: &EntityKey) -> Result<Option<T>, StateError> {
        let found = self.read_entity(T::NAMESPACE, key)?;
        found.map(|bytes| decode_entity(key, &bytes)).transpose()
    }

    /// Reads entities of a type: one slot for each key, in the order given.
    pub fn read_entities_typed<T: Entity>(
        &self,
        keys: &[impl Borrow<EntityKey>],
    ) -> Result<Vec<Option<T>>, StateError> {
        let found = self.read_entities(T::NAMESPACE, keys)?;
        let keyed = keys.iter().map(Borrow::borrow).zip(found);
        keyed.map(|(key, found)| found.map(|bytes| decode_entity(key, &bytes)).transpose()).collect()
    }

    /// Iterates over the entities of a type whose keys are in a range.
    pub fn iter_entities_typed<T: Entity>(
        &self,
        keys: impl RangeBounds<EntityKey>,
    ) -> Result<TypedEntities<E, T>, StateError> {
        Ok(TypedEntities::new(self.iter_entities(T::NAMESPACE, keys)?))
    }

    /// Finds the namespaces that have entities, by looking at the first row of each.
    ///
    /// Where each namespace has a table the schema says them all, and nothing is found here.
    pub fn find_namespaces(&self) -> Result<Vec<FoundNamespace>, StateError> {
        let Some(space) = self.layout.hashed_entities() else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        let mut rest = OwnedKeyRange::prefix(&[]);
        while let Some(row) = self.snapshot.range(space, rest.borrow())?.next() {
            let (key, _) = row?;
            let entity = super::entities::Entity::decode(&key);
            let entity =
                entity.map_err(|error| StateError::malformed(self.layout.name(space), &key, error))?;
            found.push(FoundNamespace { ns: entity.ns, first: EntityKey(entity.key) });
            // Everything after the last key that begins with this hash.
            match OwnedKeyRange::prefix(&entity.ns.digest()).end {
                std::ops::Bound::Excluded(next) => rest.start = std::ops::Bound::Included(next),
                _ => break,
            }
        }
        Ok(found)
    }
}

impl<E: StateEngine> Clone for StateSnapshot<E> {
    fn clone(&self) -> Self {
        Self { snapshot: self.snapshot.clone(), layout: self.layout.clone() }
    }
}

impl<E: StateEngine> fmt::Debug for StateSnapshot<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StateSnapshot").field("snapshot", &self.snapshot).finish_non_exhaustive()
    }
}
