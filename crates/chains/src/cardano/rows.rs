use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use keyplan_store::engine::{self, Engine};
use keyplan_store::{BytesOf, RangeOf};

use super::error::hex;
use super::layout::{Layout, Place};
use super::{Entity, EntityKey, Output, StateError, TxoRef};

/// The rows of an engine, of which the first error is the last thing.
struct Rows<E: Engine> {
    // None once they have ended or failed.
    inner: Option<RangeOf<E>>,
    layout: Arc<Layout>,
}

type Row<E> = (BytesOf<E>, BytesOf<E>);
type Stepped<E> = Option<Result<Row<E>, engine::Error>>;

impl<E: Engine> Rows<E> {
    #[inline]
    fn step<T>(
        &mut self,
        step: impl FnOnce(&mut RangeOf<E>) -> Stepped<E>,
        read: impl FnOnce(&Layout, Row<E>) -> Result<T, StateError>,
    ) -> Option<Result<T, StateError>> {
        let row = step(self.inner.as_mut()?);
        let row = row.map(|row| row.map_err(StateError::from).and_then(|row| read(&self.layout, row)));
        if !matches!(row, Some(Ok(_))) {
            self.inner = None;
        }
        row
    }
}

/// The unspent outputs in the order of their references.
///
/// They are read as they are asked for, from one point in time. The first error is the last item.
pub struct Utxos<E: Engine>(Rows<E>);

impl<E: Engine> Utxos<E> {
    pub(super) fn new(inner: RangeOf<E>, layout: Arc<Layout>) -> Self {
        Self(Rows { inner: Some(inner), layout })
    }
}

fn utxo<E: Engine>(
    layout: &Layout,
    (key, value): Row<E>,
) -> Result<(TxoRef, Output<BytesOf<E>>), StateError> {
    let malformed = |error: Box<_>| StateError::malformed(layout.name(layout.utxos), &key, error);
    let txo = TxoRef::decode(&key).map_err(Box::new).map_err(malformed)?;
    Ok((txo, Output::decode(value).map_err(malformed)?))
}

impl<E: Engine> Iterator for Utxos<E> {
    type Item = Result<(TxoRef, Output<BytesOf<E>>), StateError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.0.step(Iterator::next, utxo::<E>)
    }
}

impl<E: Engine> DoubleEndedIterator for Utxos<E> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.0.step(DoubleEndedIterator::next_back, utxo::<E>)
    }
}

/// Entities of one namespace in the order of their keys.
///
/// They are read as they are asked for, from one point in time. The first error is the last item.
pub struct Entities<E: Engine> {
    rows: Rows<E>,
    place: Place,
}

impl<E: Engine> Entities<E> {
    pub(super) fn new(inner: RangeOf<E>, layout: Arc<Layout>, place: Place) -> Self {
        Self { rows: Rows { inner: Some(inner), layout }, place }
    }
}

fn entity<E: Engine>(
    place: Place,
    layout: &Layout,
    (key, value): Row<E>,
) -> Result<(EntityKey, BytesOf<E>), StateError> {
    let read = place.decode(&key);
    let read = read.map_err(|error| StateError::malformed(layout.name(place.space), &key, error))?;
    Ok((read, value))
}

impl<E: Engine> Iterator for Entities<E> {
    type Item = Result<(EntityKey, BytesOf<E>), StateError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let place = self.place;
        self.rows.step(Iterator::next, |layout, row| entity::<E>(place, layout, row))
    }
}

impl<E: Engine> DoubleEndedIterator for Entities<E> {
    fn next_back(&mut self) -> Option<Self::Item> {
        let place = self.place;
        self.rows.step(DoubleEndedIterator::next_back, |layout, row| entity::<E>(place, layout, row))
    }
}

/// Entities of one type in the order of their keys.
///
/// They are read as they are asked for, from one point in time. The first error is the last item.
pub struct TypedEntities<E: Engine, T> {
    // None once one could not be decoded.
    rows: Option<Entities<E>>,
    decoded: PhantomData<fn() -> T>,
}

impl<E: Engine, T: Entity> TypedEntities<E, T> {
    pub(super) const fn new(rows: Entities<E>) -> Self {
        Self { rows: Some(rows), decoded: PhantomData }
    }

    fn step(
        &mut self,
        step: impl FnOnce(&mut Entities<E>) -> Option<Result<(EntityKey, BytesOf<E>), StateError>>,
    ) -> Option<Result<(EntityKey, T), StateError>> {
        let row = step(self.rows.as_mut()?)?;
        let row = row.and_then(|(key, bytes)| Ok((key, decode_entity(&key, &bytes)?)));
        if row.is_err() {
            self.rows = None;
        }
        Some(row)
    }
}

impl<E: Engine, T: Entity> Iterator for TypedEntities<E, T> {
    type Item = Result<(EntityKey, T), StateError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.step(Iterator::next)
    }
}

impl<E: Engine, T: Entity> DoubleEndedIterator for TypedEntities<E, T> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.step(DoubleEndedIterator::next_back)
    }
}

/// Decodes an entity by its type.
pub(super) fn decode_entity<T: Entity>(key: &EntityKey, bytes: &[u8]) -> Result<T, StateError> {
    T::decode_entity(bytes).map_err(|error| StateError::EntityDecode {
        namespace: T::NAMESPACE,
        key: hex(&key.0),
        source: Box::new(error),
    })
}

impl<E: Engine> fmt::Debug for Utxos<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Utxos").finish_non_exhaustive()
    }
}

impl<E: Engine> fmt::Debug for Entities<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entities").field("place", &self.place).finish_non_exhaustive()
    }
}

impl<E: Engine, T> fmt::Debug for TypedEntities<E, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TypedEntities").field("rows", &self.rows).finish_non_exhaustive()
    }
}
