//! What was found: its bytes, decoded in place when it is asked for.

use std::marker::PhantomData;

use crate::structure::{Claimed, QueueItem, QueueState, Scored, SetScore};

use super::read_back;
use crate::typed::Error;
use keyplan_typed::{HashField, HashKey, Ranked, ScoredKey, SetKey, Value as _};

/// A member that was found.
#[derive(Debug)]
pub struct FoundMember<K> {
    bytes: Vec<u8>,
    family: PhantomData<fn() -> K>,
}

impl<K: SetKey> FoundMember<K> {
    pub(super) const fn new(bytes: Vec<u8>) -> Self {
        Self { bytes, family: PhantomData }
    }

    /// The member.
    pub fn member(&self) -> Result<K::Member<'_>, Error> {
        K::Member::decode(&self.bytes)
            .map_err(|error| Error::foreign_part(K::FAMILY, "member", &self.bytes, Some(error)))
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// A member of a sorted set that was found, with its score.
#[derive(Debug)]
pub struct FoundScored<K> {
    member: FoundMember<K>,
    score: SetScore,
}

impl<K: ScoredKey> FoundScored<K> {
    pub(super) fn new(found: Scored) -> Self {
        Self { member: FoundMember::new(found.member), score: found.score }
    }

    /// The member.
    pub fn member(&self) -> Result<K::Member<'_>, Error> {
        self.member.member()
    }

    /// The bytes of the member.
    pub fn member_bytes(&self) -> &[u8] {
        self.member.bytes()
    }

    /// Its score.
    pub fn score<'s>(&'s self) -> Result<K::Score<'s>, Error>
    where
        K::Score<'s>: Ranked,
    {
        read_back::<K>(self.score)
    }
}

/// An item of a queue that was found, or that a worker holds.
#[derive(Debug)]
pub struct FoundItem<K> {
    scored: FoundScored<K>,
    /// How often it was claimed.
    pub attempts: u32,
    /// What shows that this worker holds it; `None` if the item was only looked at.
    pub receipt: Option<u64>,
    /// Where it is; `None` if this worker holds it.
    pub state: Option<QueueState>,
}

impl<K: ScoredKey> FoundItem<K> {
    pub(super) fn claimed(item: Claimed) -> Self {
        let Claimed { member, score, attempts, receipt } = item;
        let scored = FoundScored::new(Scored { member, score });
        Self { scored, attempts, receipt: Some(receipt), state: None }
    }

    pub(super) fn seen(item: QueueItem) -> Self {
        let QueueItem { member, score, attempts, state } = item;
        let scored = FoundScored::new(Scored { member, score });
        Self { scored, attempts, receipt: None, state: Some(state) }
    }

    /// The item.
    pub fn member(&self) -> Result<K::Member<'_>, Error> {
        self.scored.member()
    }

    /// The bytes of the item.
    pub fn member_bytes(&self) -> &[u8] {
        self.scored.member_bytes()
    }

    /// What it is ranked by.
    pub fn score<'s>(&'s self) -> Result<K::Score<'s>, Error>
    where
        K::Score<'s>: Ranked,
    {
        self.scored.score()
    }
}

/// The value of a field of a hash that was found.
#[derive(Debug)]
pub struct FoundValue<K, F> {
    bytes: Vec<u8>,
    place: PhantomData<fn() -> (K, F)>,
}

impl<K: HashKey, F: HashField> FoundValue<K, F> {
    pub(super) const fn new(bytes: Vec<u8>) -> Self {
        Self { bytes, place: PhantomData }
    }

    /// The value.
    pub fn value(&self) -> Result<F::FieldValue<'_>, Error> {
        F::FieldValue::decode(&self.bytes)
            .map_err(|error| Error::foreign_part(K::FAMILY, "value of a field", &self.bytes, Some(error)))
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// A field of a hash that was found, of any kind, with its value.
#[derive(Debug)]
pub struct FoundField<K> {
    field: Vec<u8>,
    value: Vec<u8>,
    family: PhantomData<fn() -> K>,
}

impl<K: HashKey> FoundField<K> {
    pub(super) const fn new(field: Vec<u8>, value: Vec<u8>) -> Self {
        Self { field, value, family: PhantomData }
    }

    /// The field.
    pub fn field(&self) -> Result<K::Field<'_>, Error> {
        K::Field::decode(&self.field)
            .map_err(|error| Error::foreign_part(K::FAMILY, "field", &self.field, Some(error)))
    }

    /// The value, if the field is of kind `F`.
    pub fn value<F: HashField>(&self, _: F) -> Result<F::FieldValue<'_>, Error> {
        F::FieldValue::decode(&self.value)
            .map_err(|error| Error::foreign_part(K::FAMILY, "value of a field", &self.value, Some(error)))
    }

    /// The bytes of the value.
    pub fn value_bytes(&self) -> &[u8] {
        &self.value
    }
}
