use std::marker::PhantomData;
use std::ops::{Bound, RangeBounds};

use crate::Direction;
use crate::structure::{End, Kind, RangeQuery, ScoreRange, StructureRead, Structures};

use super::{FoundScored, Keys, in_space, kept, keys, read_back};
use crate::typed::Error;
use keyplan_typed::{Ranked, ScoredKey, Value as _, ZsetKey};

/// The sorted sets of one family.
#[derive(Debug)]
pub struct Zset<'r, K, R: ?Sized> {
    raw: &'r R,
    family: PhantomData<fn() -> K>,
}

impl<'r, K: ZsetKey, R: StructureRead + ?Sized> Zset<'r, K, R> {
    /// The sorted sets of a family among structures of its space.
    pub fn on(raw: &'r R) -> Result<Self, Error> {
        in_space::<K>(raw)?;
        Ok(Self { raw, family: PhantomData })
    }

    /// The score of a member.
    pub fn score<'s>(&self, key: &K, member: &K::Member<'_>) -> Result<Option<K::Score<'s>>, Error>
    where
        K::Score<'s>: Ranked,
    {
        let found = self.raw.zset_score(&key.to_vec()?, &member.to_vec()?)?;
        found.map(read_back::<K>).transpose()
    }

    /// How many members a sorted set has.
    pub fn count(&self, key: &K) -> Result<u64, Error> {
        Ok(self.raw.zset_count(&key.to_vec()?)?)
    }

    /// How many members come before a member, from one end.
    pub fn rank(&self, key: &K, member: &K::Member<'_>, direction: Direction) -> Result<Option<u64>, Error> {
        Ok(self.raw.zset_rank(&key.to_vec()?, &member.to_vec()?, direction)?)
    }

    /// The members with scores in a range, lowest first.
    pub fn range<'s>(
        &self,
        key: &K,
        scores: impl RangeBounds<K::Score<'s>>,
    ) -> Result<Vec<FoundScored<K>>, Error>
    where
        K::Score<'s>: Ranked,
    {
        self.some(key, scores, Direction::Ascending, None)
    }

    /// At most `limit` members with scores in a range, from one end of it.
    pub fn some<'s>(
        &self,
        key: &K,
        scores: impl RangeBounds<K::Score<'s>>,
        direction: Direction,
        limit: Option<u64>,
    ) -> Result<Vec<FoundScored<K>>, Error>
    where
        K::Score<'s>: Ranked,
    {
        let query = RangeQuery { scores: ranks::<K>(&scores)?, direction, offset: 0, limit };
        let found = self.raw.zset_range(&key.to_vec()?, &query)?;
        Ok(found.into_iter().map(FoundScored::new).collect())
    }

    /// The keys of the sorted sets that have members.
    pub fn keys(&self) -> Result<Keys<'r>, Error> {
        keys::<K>(self.raw, Kind::Zset)
    }
}

impl<K: ZsetKey, R: Structures + ?Sized> Zset<'_, K, R> {
    /// Adds a member or gives it another score, and says whether it is new.
    pub fn add<'s>(&self, key: &K, member: &K::Member<'_>, score: &K::Score<'s>) -> Result<bool, Error>
    where
        K::Score<'s>: Ranked,
    {
        Ok(self.raw.zset_add(&key.to_vec()?, &member.to_vec()?, kept::<K>(score)?)?)
    }

    /// Removes a member, and says whether it was there.
    pub fn remove(&self, key: &K, member: &K::Member<'_>) -> Result<bool, Error> {
        Ok(self.raw.zset_remove(&key.to_vec()?, &member.to_vec()?)?)
    }

    /// Takes at most `count` members from one end.
    pub fn pop(&self, key: &K, end: End, count: usize) -> Result<Vec<FoundScored<K>>, Error> {
        let taken = self.raw.zset_pop(&key.to_vec()?, end, count)?;
        Ok(taken.into_iter().map(FoundScored::new).collect())
    }

    /// Removes the members with scores in a range, and says how many there were.
    pub fn remove_range<'s>(&self, key: &K, scores: impl RangeBounds<K::Score<'s>>) -> Result<u64, Error>
    where
        K::Score<'s>: Ranked,
    {
        Ok(self.raw.zset_remove_range(&key.to_vec()?, ranks::<K>(&scores)?)?)
    }
}

/// A range of scores as structures keep them.
pub(super) fn ranks<'s, K: ScoredKey>(scores: &impl RangeBounds<K::Score<'s>>) -> Result<ScoreRange, Error>
where
    K::Score<'s>: Ranked,
{
    let end = |bound: Bound<&K::Score<'s>>| {
        Ok::<_, Error>(match bound {
            Bound::Included(score) => Bound::Included(kept::<K>(score)?),
            Bound::Excluded(score) => Bound::Excluded(kept::<K>(score)?),
            Bound::Unbounded => Bound::Unbounded,
        })
    };
    Ok(ScoreRange { min: end(scores.start_bound())?, max: end(scores.end_bound())? })
}
