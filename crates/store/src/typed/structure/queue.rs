use std::marker::PhantomData;

use crate::structure::{Claim, Kind, QueueSize, StructureError, StructureRead, Structures};

use super::{FoundItem, FoundScored, Keys, in_space, kept, keys};
use crate::typed::Error;
use keyplan_typed::{QueueKey, Ranked, Value as _};

/// The queues of one family.
#[derive(Debug)]
pub struct Queue<'r, K, R: ?Sized> {
    raw: &'r R,
    family: PhantomData<fn() -> K>,
}

impl<'r, K: QueueKey, R: StructureRead + ?Sized> Queue<'r, K, R> {
    /// The queues of a family among structures of its space.
    pub fn on(raw: &'r R) -> Result<Self, Error> {
        in_space::<K>(raw)?;
        Ok(Self { raw, family: PhantomData })
    }

    /// How many items a queue has.
    pub fn size(&self, key: &K) -> Result<QueueSize, Error> {
        Ok(self.raw.queue_size(&key.to_vec()?)?)
    }

    /// The first items that wait, in order.
    pub fn peek(&self, key: &K, count: usize) -> Result<Vec<FoundScored<K>>, Error> {
        Ok(self.raw.queue_peek(&key.to_vec()?, count)?.into_iter().map(FoundScored::new).collect())
    }

    /// What is known of an item.
    pub fn item(&self, key: &K, member: &K::Member<'_>) -> Result<Option<FoundItem<K>>, Error> {
        Ok(self.raw.queue_item(&key.to_vec()?, &member.to_vec()?)?.map(FoundItem::seen))
    }

    /// The items that were given up.
    pub fn dead(&self, key: &K) -> Result<Vec<FoundItem<K>>, Error> {
        let found = self.raw.queue_dead(&key.to_vec()?)?;
        found.map(|item| item.map(FoundItem::seen).map_err(Error::from)).collect()
    }

    /// The keys of the queues that have items.
    pub fn keys(&self) -> Result<Keys<'r>, Error> {
        keys::<K>(self.raw, Kind::Queue)
    }
}

impl<K: QueueKey, R: Structures + ?Sized> Queue<'_, K, R> {
    /// Puts an item into a queue, and says whether it is new.
    pub fn push<'s>(&self, key: &K, member: &K::Member<'_>, score: &K::Score<'s>) -> Result<bool, Error>
    where
        K::Score<'s>: Ranked,
    {
        Ok(self.raw.queue_push(&key.to_vec()?, &member.to_vec()?, kept::<K>(score)?)?)
    }

    /// Takes items for a while.
    pub fn claim(&self, key: &K, claim: Claim) -> Result<Vec<FoundItem<K>>, Error> {
        let taken = self.raw.queue_claim(&key.to_vec()?, claim)?;
        Ok(taken.into_iter().map(FoundItem::claimed).collect())
    }

    /// Says that an item is done, and whether the worker still held it.
    pub fn acknowledge(&self, key: &K, item: &FoundItem<K>) -> Result<bool, Error> {
        Ok(self.raw.queue_acknowledge(&key.to_vec()?, item.member_bytes(), receipt(item)?)?)
    }

    /// Gives an item back, and says whether the worker still held it.
    pub fn release(&self, key: &K, item: &FoundItem<K>) -> Result<bool, Error> {
        Ok(self.raw.queue_release(&key.to_vec()?, item.member_bytes(), receipt(item)?)?)
    }

    /// Puts an item with the dead ones, and says whether the worker still held it.
    pub fn bury(&self, key: &K, item: &FoundItem<K>) -> Result<bool, Error> {
        Ok(self.raw.queue_bury(&key.to_vec()?, item.member_bytes(), receipt(item)?)?)
    }

    /// Removes an item, whoever holds it, and says whether it was there.
    pub fn remove(&self, key: &K, member: &K::Member<'_>) -> Result<bool, Error> {
        Ok(self.raw.queue_remove(&key.to_vec()?, &member.to_vec()?)?)
    }
}

/// The receipt of an item that was claimed.
fn receipt<K>(item: &FoundItem<K>) -> Result<u64, Error> {
    let what = "an item that was only looked at has no receipt: claim it".into();
    item.receipt.ok_or(Error::Structure(StructureError::Settings { what }))
}
