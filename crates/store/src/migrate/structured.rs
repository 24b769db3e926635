//! Rows of structures: the key of the plan is in them, and what it holds stays as it is.

use keyplan_plan::dynamic::Decoded;
use keyplan_plan::mapping::{Carried, Course, Passage, Route};
use keyplan_plan::model::{FamilyKind, Space};

use super::sort::{Fate, READINGS};
use super::{Migration, ProblemKind};
use crate::structure::{Kind, StructureRow};

/// Whether rows of a space are those of structures, and not keys of the plan.
pub(crate) fn has_structures(space: &Space) -> bool {
    space.families.iter().any(|family| family.kind != FamilyKind::Key)
}

/// The kinds of family that a row can be of.
fn kinds(row: &StructureRow<'_>) -> &'static [FamilyKind] {
    match row {
        StructureRow::Value { .. } => &[FamilyKind::Key],
        StructureRow::Head { kind: Kind::Set, .. } | StructureRow::SetMember { .. } => &[FamilyKind::Set],
        StructureRow::Head { kind: Kind::Hash, .. } | StructureRow::HashField { .. } => &[FamilyKind::Hash],
        StructureRow::Head { kind: Kind::Zset, .. } | StructureRow::MemberScore { .. } => &[FamilyKind::Zset],
        StructureRow::ScoreMember { .. } => &[FamilyKind::Zset, FamilyKind::Queue],
        StructureRow::Head { kind: Kind::Queue, .. }
        | StructureRow::Item { .. }
        | StructureRow::Lease { .. }
        | StructureRow::Dead { .. } => &[FamilyKind::Queue],
        // A head of a plain value does not exist.
        StructureRow::Head { kind: Kind::Value, .. } => &[],
    }
}

impl Migration<'_> {
    /// Sorts a row of an old space of structures by the key that it belongs to: all rows of a key have one fate.
    pub(super) fn sort_structure<'v>(&self, space: usize, key: &[u8], value: &'v [u8]) -> Fate<'v> {
        let unreadable =
            |why: String| Fate::Aside { route: None, kind: ProblemKind::Unreadable, why, ruled: false };
        let row = match StructureRow::decode(key, value) {
            Ok(row) => row,
            Err(error) => return unreadable(format!("no row of a structure: {error}")),
        };
        let mut all = match self.decoders.0.decode_all(space, row.key(), READINGS) {
            Ok(all) => all,
            Err(miss) => return self.without_family(space, row.key(), &miss),
        };
        all.readings.retain(|read| kinds(&row).contains(&read.family.kind));
        match all.readings.as_slice() {
            [] => unreadable("the key is of families that hold something else".to_owned()),
            [only] if !all.more => self.fate(space, only, key, value),
            several => self.of_several(space, several, all.more, key, value),
        }
    }

    /// A row of a new space of structures, read by the key that it belongs to.
    pub(super) fn read_new(&self, space: usize, key: &[u8], value: &[u8]) -> Option<Decoded<'_>> {
        if !self.new.spaces.get(space).is_some_and(has_structures) {
            return self.decoders.1.decode(space, key).ok();
        }
        let row = StructureRow::decode(key, value).ok()?;
        let read = self.decoders.1.decode(space, row.key()).ok()?;
        kinds(&row).contains(&read.family.kind).then_some(read)
    }

    /// Whether structures have to be carried thing by thing: not only their keys are rewritten, or these do not all
    /// tell their family.
    pub fn is_by_contents(&self) -> bool {
        self.mapping.routes.iter().any(|route| {
            self.old.spaces.get(route.from.space).is_some_and(has_structures) && self.needs_contents(route)
        })
    }

    fn needs_contents(&self, route: &Route) -> bool {
        // Rows of one key could have different fates.
        let unsure = !self.is_sure(route.from.space);
        match &route.course {
            Course::Moved(passage) => unsure || !verbatim(passage),
            Course::Dropped { .. } => unsure,
            Course::Kept { .. } | Course::Retired { .. } | Course::Unspoken => false,
        }
    }
}

/// Whether what a key holds stays as it is.
pub(super) fn verbatim(passage: &Passage) -> bool {
    let still = |carried: &Carried| *carried == Carried::Verbatim;
    still(&passage.member)
        && still(&passage.score)
        && passage.fields.iter().all(|field| still(&field.key) && still(&field.value))
}
