//! What the keys of a space lead to: values, or structures.

use keyplan_codec::{Delimited as _, LenPrefix, LenWidth, Segment as _};
use keyplan_plan::model::{FamilyKind, Space};
use keyplan_store::structure::{Kind, QueueItem, SetScore, StructureError, StructureRead};

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

/// The key of the plan that a row of a structured space belongs to, as `plans/structures.keyplan` lays rows out: the bytes
/// after the tag of a value or a head, and those after their length in the other rows. `None` for what is no such row.
pub fn row_key(row: &[u8]) -> Option<&[u8]> {
    const LENGTH: LenPrefix = LenPrefix { width: LenWidth::Varint };
    let (&tag, rest) = row.split_first()?;
    match tag {
        1 | 2 => Some(rest),
        3..=9 => LENGTH.decode(rest.get(..LENGTH.extent(rest).ok()?)?).ok(),
        _ => None,
    }
}

/// The member of a queue's item that a row of a structured space is, with its key: `07 | key after its length | member`.
pub fn queue_item(row: &[u8]) -> Option<(&[u8], &[u8])> {
    const LENGTH: LenPrefix = LenPrefix { width: LenWidth::Varint };
    let rest = row.strip_prefix(&[QUEUE_ITEM])?;
    let (key, member) = rest.split_at_checked(LENGTH.extent(rest).ok()?)?;
    Some((LENGTH.decode(key).ok()?, member))
}

/// The byte that rows of items of queues begin with.
pub const QUEUE_ITEM: u8 = 7;

/// A thing under a key.
#[derive(Clone, Copy, Debug)]
pub enum Part<'a> {
    /// The value of a plain key.
    Value(&'a [u8]),
    /// A field of a hash.
    Field {
        /// Its own key.
        field: &'a [u8],
        /// Its value.
        value: &'a [u8],
    },
    /// A member of a set, sorted set or queue.
    Member {
        /// Its bytes.
        member: &'a [u8],
        /// What it is ranked by.
        score: Option<SetScore>,
        /// What a queue knows of it.
        item: Option<&'a QueueItem>,
    },
}

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
