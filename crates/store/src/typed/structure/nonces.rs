use std::marker::PhantomData;

use crate::structure::Structures;

use super::{Step, in_space};
use crate::typed::Error;
use keyplan_typed::{HashField, HashKey};

/// A field of a hash whose value is one number, such as `field last = sender: u64 -> last: u64`.
pub trait NumberField: HashField {
    /// The value that says `number`.
    fn value_of(number: u64) -> Self::FieldValue<'static>;
    /// The number that a value says.
    fn number_of(value: Self::FieldValue<'_>) -> u64;
}

/// Replay protection among structures: the last number that a sender has used, as a field of a hash.
///
/// Only a greater number passes, and it is written in the [`Step`] of what it protects: both are there, or neither is. Between
/// processes too: of two that use one number at the same time, the second is refused when it applies its step, and
/// [`Step::update`] then tells it that the number was used. In rows, [`collection::Nonces`](crate::typed::collection::Nonces) does the same.
///
/// ```
/// keyplan::plan! {
///     plan packets;
///
///     space bridge {
///         /// The last number of each sender.
///         hash nonce = "nonce:{" channel: u32.dec "}"
///             field sender = sender: bytes(20) -> last: u64;
///         /// What came in.
///         set packet = "packet:{" channel: u32.dec "}" member digest: bytes(32);
///     }
/// }
/// use keyplan::store::engine::{Durability, Memory};
/// use keyplan::store::structure::{Nonces, NumberField, Step};
/// use keyplan::store::{Error, Store};
/// use packets::bridge::{Nonce, NonceSenderField, NonceSenderValue, Packet, PacketMember};
///
/// impl NumberField for NonceSenderField {
///     fn value_of(last: u64) -> NonceSenderValue {
///         NonceSenderValue { last }
///     }
///     fn number_of(value: NonceSenderValue) -> u64 {
///         value.last
///     }
/// }
///
/// let store = Store::create_on(Memory::new(), &packets::PLAN)?;
/// // Or a server: `Redis::connect("redis://localhost")?`.
/// let structures = store.structures("bridge")?;
/// let nonces = Nonces::<Nonce>::on(&structures)?;
/// let receive = |nonce| {
///     Step::update(&structures, Durability::Buffer, |step| {
///         nonces.advance(step, &Nonce { channel: 1 }, NonceSenderField { sender: [7; 20] }, nonce)?;
///         step.set_add(&Packet { channel: 1 }, &PacketMember { digest: [9; 32] })
///     })
/// };
/// receive(5)?;
/// assert!(matches!(receive(5), Err(Error::Replayed { last: 5, given: 5, .. })));
/// receive(6)?;
/// assert_eq!(nonces.last(&Nonce { channel: 1 }, NonceSenderField { sender: [7; 20] })?, Some(6));
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Nonces<'r, K> {
    raw: &'r dyn Structures,
    family: PhantomData<fn() -> K>,
}

impl<'r, K: HashKey> Nonces<'r, K> {
    /// The numbers that a family of hashes keeps, among structures of its space.
    pub fn on(raw: &'r dyn Structures) -> Result<Self, Error> {
        in_space::<K>(raw)?;
        Ok(Self { raw, family: PhantomData })
    }

    /// The last number that was used, if there was one.
    pub fn last<'f, F>(&self, key: &K, field: F) -> Result<Option<u64>, Error>
    where
        F: NumberField + Into<K::Field<'f>>,
    {
        self.last_of(&mut Step::new(), key, field)
    }

    /// Uses a number. One that is not greater than the last is refused, with nothing changed.
    pub fn advance<'f, F>(&self, step: &mut Step, key: &K, field: F, nonce: u64) -> Result<(), Error>
    where
        F: NumberField + Into<K::Field<'f>>,
    {
        if let Some(last) = self.last_of(step, key, field)?.filter(|last| nonce <= *last) {
            return Err(Error::Replayed { family: K::FAMILY, last, given: nonce });
        }
        step.hash_set(key, field, &F::value_of(nonce))
    }

    fn last_of<'f, F>(&self, step: &mut Step, key: &K, field: F) -> Result<Option<u64>, Error>
    where
        F: NumberField + Into<K::Field<'f>>,
    {
        let found = step.hash_get(self.raw, key, field)?;
        found.map(|found| found.value().map(F::number_of)).transpose()
    }
}
