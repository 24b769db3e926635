use std::marker::PhantomData;

use crate::structure::{Kind, StructureRead, Structures};

use super::{FoundMember, Keys, in_space, keys};
use crate::typed::Error;
use keyplan_typed::{UnrankedKey, Value as _};

/// The sets of one family.
#[derive(Debug)]
pub struct Set<'r, K, R: ?Sized> {
    raw: &'r R,
    family: PhantomData<fn() -> K>,
}

impl<'r, K: UnrankedKey, R: StructureRead + ?Sized> Set<'r, K, R> {
    /// The sets of a family among structures of its space.
    pub fn on(raw: &'r R) -> Result<Self, Error> {
        in_space::<K>(raw)?;
        Ok(Self { raw, family: PhantomData })
    }

    /// Whether a set has a member.
    pub fn contains(&self, key: &K, member: &K::Member<'_>) -> Result<bool, Error> {
        Ok(self.raw.set_contains(&key.to_vec()?, &member.to_vec()?)?)
    }

    /// The members of a set.
    pub fn members(&self, key: &K) -> Result<Vec<FoundMember<K>>, Error> {
        let found = self.raw.set_members(&key.to_vec()?)?;
        found.map(|member| Ok(FoundMember::new(member?))).collect()
    }

    /// How many members a set has.
    pub fn count(&self, key: &K) -> Result<u64, Error> {
        Ok(self.raw.set_count(&key.to_vec()?)?)
    }

    /// The keys of the sets that have members.
    pub fn keys(&self) -> Result<Keys<'r>, Error> {
        keys::<K>(self.raw, Kind::Set)
    }
}

impl<K: UnrankedKey, R: Structures + ?Sized> Set<'_, K, R> {
    /// Adds a member, and says whether it is new.
    pub fn add(&self, key: &K, member: &K::Member<'_>) -> Result<bool, Error> {
        Ok(self.raw.set_add(&key.to_vec()?, &member.to_vec()?)?)
    }

    /// Removes a member, and says whether it was there.
    pub fn remove(&self, key: &K, member: &K::Member<'_>) -> Result<bool, Error> {
        Ok(self.raw.set_remove(&key.to_vec()?, &member.to_vec()?)?)
    }
}
