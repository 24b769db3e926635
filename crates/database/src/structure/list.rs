//! Keys, with how much each holds.

use keyplan_plan::dynamic::Decoder;
use keyplan_plan::model::Family;
use keyplan_report::structure::{KINDS, Part, kind, size};
use keyplan_store::Direction;
use keyplan_store::structure::{Kind, ScoreRange, StructureRead};

use super::{Key, Listed, StructureQuery, Take, contents};
use crate::error::Result;

/// The keys of a space.
pub(super) struct Keys<'a, 'p> {
    pub(super) decoder: Decoder<'p>,
    pub(super) space: usize,
    pub(super) read: &'a dyn StructureRead,
}

impl Keys<'_, '_> {
    /// Lists the keys of some kinds that begin with a prefix; of one family, if it is given. How many there were.
    pub(super) fn list(
        &self,
        kinds: &[Kind],
        prefix: &[u8],
        of: Option<&Family>,
        query: &StructureQuery<'_>,
        take: Take<'_>,
    ) -> Result<usize> {
        let mut left = Left { limit: query.limit, shown: 0 };
        for &kind in kinds {
            for key in self.read.keys(kind, prefix)? {
                let key = key?;
                let Ok(decoded) = self.decoder.decode(self.space, &key) else {
                    if of.is_none() && !left.take() {
                        return left.cut(take);
                    }
                    if of.is_none() {
                        take(self.unknown(kind, &key))?;
                    }
                    continue;
                };
                if of.is_some_and(|family| family.path != decoded.family.path) {
                    continue;
                }
                if !left.take() {
                    return left.cut(take);
                }
                let size = size(self.read, kind, &key)?;
                take(Listed::Key { key: &decoded, kind, size })?;
            }
        }
        Ok(left.shown)
    }

    /// Lists the keys that no family makes, and those that hold something else than their family says.
    pub(super) fn list_unknown(&self, query: &StructureQuery<'_>, take: Take<'_>) -> Result<usize> {
        let mut left = Left { limit: query.limit, shown: 0 };
        for held in KINDS {
            for key in self.read.keys(held, &[])? {
                let key = key?;
                let decoded = self.decoder.decode(self.space, &key);
                if decoded.is_ok_and(|decoded| kind(decoded.family.kind) == held) {
                    continue;
                }
                if !left.take() {
                    return left.cut(take);
                }
                take(self.unknown(held, &key))?;
            }
        }
        Ok(left.shown)
    }

    /// Lists everything that the keys hold, as objects.
    pub(super) fn dump(&self, take: Take<'_>) -> Result<()> {
        let query = StructureQuery { values: &[], limit: None, reverse: false };
        for held in KINDS {
            for key in self.read.keys(held, &[])? {
                let bytes = key?;
                match self.decoder.decode(self.space, &bytes) {
                    Ok(decoded) if kind(decoded.family.kind) == held => {
                        contents::list(self.read, &Key { decoded, bytes }, &query, &mut *take)?;
                    }
                    _ => self.dump_unknown(held, &bytes, &mut *take)?,
                }
            }
        }
        Ok(())
    }

    /// Lists what a key holds that no family makes, in bytes.
    fn dump_unknown(&self, held: Kind, key: &[u8], take: Take<'_>) -> Result<()> {
        let space = self.decoder.plan().spaces.get(self.space).map_or("", |space| space.name.as_str());
        let mut print = |part: Part<'_>| -> Result<()> {
            Ok(take(Listed::UnknownPart { space, kind: held, key, part })?)
        };
        match held {
            Kind::Value => print(Part::Value(&self.read.get(key)?.unwrap_or_default()))?,
            Kind::Hash => {
                for pair in self.read.hash_all(key)? {
                    let (field, value) = pair?;
                    print(Part::Field { field: &field, value: &value })?;
                }
            }
            Kind::Set => {
                for member in self.read.set_members(key)? {
                    print(Part::Member { member: &member?, score: None, item: None })?;
                }
            }
            Kind::Zset => {
                for row in self.read.zset_rows(key, &ScoreRange::default(), Direction::Ascending, None)? {
                    let row = row?;
                    print(Part::Member { member: &row.member, score: Some(row.score), item: None })?;
                }
            }
            Kind::Queue => {
                let waiting = usize::try_from(self.read.queue_size(key)?.waiting)?;
                for row in self.read.queue_peek(key, waiting)? {
                    print(Part::Member { member: &row.member, score: Some(row.score), item: None })?;
                }
                for item in self.read.queue_dead(key)? {
                    let item = item?;
                    print(Part::Member { member: &item.member, score: Some(item.score), item: Some(&item) })?;
                }
            }
        }
        Ok(())
    }

    fn unknown<'k>(&'k self, kind: Kind, key: &'k [u8]) -> Listed<'k> {
        let space = self.decoder.plan().spaces.get(self.space).map_or("", |space| space.name.as_str());
        Listed::UnknownKey { space, kind, key }
    }
}

/// How many more may be listed.
struct Left {
    limit: Option<usize>,
    shown: usize,
}

impl Left {
    /// Whether one more may be listed; then it is counted.
    fn take(&mut self) -> bool {
        if self.limit == Some(self.shown) {
            return false;
        }
        self.shown += 1;
        true
    }

    /// Says that there are more.
    fn cut(&self, take: Take<'_>) -> Result<usize> {
        take(Listed::More)?;
        Ok(self.shown)
    }
}
