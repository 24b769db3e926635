//! What the keys of a space lead to: values, or structures.

use keyplan_plan::model::{FamilyKind, Space};
use keyplan_store::structure::{Kind, StructureError, StructureRead};

/// Whether the rows of a space are those of structures, and not the keys themselves.
pub fn is_structured(space: &Space) -> bool {
    space.families.iter().any(|family| family.kind != FamilyKind::Key)
}

/// What a key of a family holds.
pub const fn kind(family: FamilyKind) -> Kind {
    match family {
        FamilyKind::Key => Kind::Value,
        FamilyKind::Hash => Kind::Hash,
        FamilyKind::Zset => Kind::Zset,
        FamilyKind::Set => Kind::Set,
        FamilyKind::Queue => Kind::Queue,
    }
}

/// Every kind, as they are listed.
pub const KINDS: [Kind; 5] = [Kind::Value, Kind::Hash, Kind::Zset, Kind::Set, Kind::Queue];

/// How many fields, members or items a key holds.
pub fn size(read: &dyn StructureRead, kind: Kind, key: &[u8]) -> Result<u64, StructureError> {
    match kind {
        Kind::Value => Ok(1),
        Kind::Hash => read.hash_count(key),
        Kind::Set => read.set_count(key),
        Kind::Zset => read.zset_count(key),
        Kind::Queue => read.queue_size(key).map(|size| size.waiting + size.claimed + size.dead),
    }
}
