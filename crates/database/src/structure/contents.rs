//! What one key holds.

use keyplan_plan::model::FamilyKind;
use keyplan_report::structure::Part;
use keyplan_store::Direction;
use keyplan_store::structure::{ScoreRange, StructureError, StructureRead};

use super::{Key, Listed, StructureQuery, Take};
use crate::error::Result;

/// Lists the fields, members or items under a key, in order; false if there is nothing.
pub(super) fn list(
    read: &dyn StructureRead,
    key: &Key<'_>,
    query: &StructureQuery<'_>,
    take: Take<'_>,
) -> Result<bool> {
    let mut lister = Lister { key, left: query.limit, any: false, take: &mut *take };
    let direction = if query.reverse { Direction::Descending } else { Direction::Ascending };
    match key.decoded.family.kind {
        FamilyKind::Key => {
            if let Some(value) = read.get(&key.bytes)? {
                lister.part(&Part::Value(&value))?;
            }
        }
        FamilyKind::Hash => {
            lister.all(read.hash_all(&key.bytes)?, |lister, (field, value)| {
                lister.part(&Part::Field { field: &field, value: &value })
            })?;
        }
        FamilyKind::Set => {
            lister.all(read.set_members(&key.bytes)?, |lister, member| {
                lister.part(&Part::Member { member: &member, score: None, item: None })
            })?;
        }
        FamilyKind::Zset => {
            let rows = read.zset_rows(&key.bytes, &ScoreRange::default(), direction, None)?;
            lister.all(rows, |lister, scored| {
                let score = Some(scored.score);
                lister.part(&Part::Member { member: &scored.member, score, item: None })
            })?;
        }
        FamilyKind::Queue => {
            let size = read.queue_size(&key.bytes)?;
            (lister.take)(Listed::Queue(&size))?;
            let waiting = query.limit.unwrap_or(usize::MAX).min(usize::try_from(size.waiting)?);
            for scored in read.queue_peek(&key.bytes, waiting)? {
                let item = read.queue_item(&key.bytes, &scored.member)?;
                let score = Some(scored.score);
                lister.part(&Part::Member { member: &scored.member, score, item: item.as_ref() })?;
            }
            lister.all(read.queue_dead(&key.bytes)?, |lister, item| {
                let score = Some(item.score);
                lister.part(&Part::Member { member: &item.member, score, item: Some(&item) })
            })?;
        }
    }
    if !lister.any {
        take(Listed::Nothing { key: &key.decoded, bytes: &key.bytes })?;
        return Ok(false);
    }
    Ok(true)
}

struct Lister<'a, 'p> {
    key: &'a Key<'p>,
    left: Option<usize>,
    any: bool,
    take: Take<'a>,
}

impl Lister<'_, '_> {
    /// Lists each thing that is found until there were enough.
    fn all<T>(
        &mut self,
        found: impl Iterator<Item = Result<T, StructureError>>,
        mut each: impl FnMut(&mut Self, T) -> Result<()>,
    ) -> Result<()> {
        for one in found {
            if self.left == Some(0) {
                break;
            }
            each(self, one?)?;
        }
        Ok(())
    }

    fn part(&mut self, part: &Part<'_>) -> Result<()> {
        self.any = true;
        if self.left == Some(0) {
            return Ok(());
        }
        self.left = self.left.map(|left| left - 1);
        Ok((self.take)(Listed::Part { key: &self.key.decoded, part: *part })?)
    }
}
