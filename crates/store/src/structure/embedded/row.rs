use keyplan_codec::{Be, DecodeError, Delimited as _, Fault};

use super::head::Head;
use super::layout::{Family, Item, split, take_score};
use super::view::shown;
use crate::structure::{Kind, QueueItem, SetScore};

/// What a row of a space of structures is, for tools that come across it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum StructureRow<'r> {
    /// A plain value.
    Value {
        /// The key.
        key: &'r [u8],
    },
    /// What a key holds, and how much of it: members, fields or items.
    Head {
        /// The key.
        key: &'r [u8],
        /// What it holds.
        kind: Kind,
        /// How much of it. A row may be left where there is nothing.
        count: u64,
    },
    /// A member of a set.
    SetMember {
        /// The key.
        key: &'r [u8],
        /// The member.
        member: &'r [u8],
    },
    /// A field of a hash; its value is the row's.
    HashField {
        /// The key.
        key: &'r [u8],
        /// The field.
        field: &'r [u8],
    },
    /// The score of a member of a sorted set.
    MemberScore {
        /// The key.
        key: &'r [u8],
        /// The member.
        member: &'r [u8],
    },
    /// The place of a member of a sorted set, or of an item that waits in a queue.
    ScoreMember {
        /// The key.
        key: &'r [u8],
        /// Its score.
        score: SetScore,
        /// The member.
        member: &'r [u8],
    },
    /// An item of a queue.
    Item {
        /// The key.
        key: &'r [u8],
        /// The item.
        member: &'r [u8],
    },
    /// An item of a queue that a worker holds.
    Lease {
        /// The key.
        key: &'r [u8],
        /// The end of the lease, in milliseconds since 1970.
        until: u64,
        /// The item.
        member: &'r [u8],
    },
    /// An item of a queue that was given up.
    Dead {
        /// The key.
        key: &'r [u8],
        /// The item.
        member: &'r [u8],
    },
}

/// A row with another key in it; `None` if it is not a row of a structure, or if the key is too long for one.
pub(crate) fn with_key(row: &[u8], key: &[u8]) -> Option<Vec<u8>> {
    let family = Family::of(*row.first()?)?;
    if matches!(family, Family::Value | Family::Head) {
        return Some(family.plain(key).to_vec());
    }
    let (_, rest) = split(row).ok()?;
    Some(family.row(key, rest).ok()?.to_vec())
}

/// The row of what a key holds: a value, a member, a field, a member's score or an item; `None` if it is too long for one.
pub(crate) fn thing_row(kind: Kind, key: &[u8], part: &[u8]) -> Option<Vec<u8>> {
    let family = match kind {
        Kind::Value => return Some(Family::Value.plain(key).to_vec()),
        Kind::Set => Family::SetMember,
        Kind::Hash => Family::HashField,
        Kind::Zset => Family::MemberScore,
        Kind::Queue => Family::Item,
    };
    Some(family.row(key, part).ok()?.to_vec())
}

/// What the rows begin with that belong to a key of a kind, but for its value or its head.
pub(crate) fn rows_of(kind: Kind, key: &[u8]) -> Option<Vec<Vec<u8>>> {
    let families: &[Family] = match kind {
        Kind::Value => &[],
        Kind::Set => &[Family::SetMember],
        Kind::Hash => &[Family::HashField],
        Kind::Zset => &[Family::MemberScore, Family::ScoreMember],
        Kind::Queue => &[Family::ScoreMember, Family::Item, Family::Lease, Family::Dead],
    };
    families.iter().map(|family| Some(family.prefix(key).ok()?.to_vec())).collect()
}

/// The row of the head of a key.
pub(crate) fn head_row(key: &[u8]) -> Vec<u8> {
    Family::Head.plain(key).to_vec()
}

/// An item of a queue, as its row has it.
pub(crate) fn read_item(member: &[u8], value: &[u8]) -> Result<QueueItem, DecodeError> {
    Item::decode(value).map(|item| shown(member.to_vec(), &item))
}

impl<'r> StructureRow<'r> {
    /// Reads a row. The value is looked into only for a head.
    pub fn decode(row: &'r [u8], value: &[u8]) -> Result<Self, DecodeError> {
        let (&tag, plain) = row.split_first().ok_or(DecodeError::new(0, Fault::Short { missing: 1 }))?;
        let family = Family::of(tag).ok_or(DecodeError::new(0, Fault::NoAlternative))?;
        match family {
            Family::Value => return Ok(Self::Value { key: plain }),
            Family::Head => {
                let head = Head::decode(value)?;
                return Ok(Self::Head { key: plain, kind: head.kind(), count: head.count() });
            }
            _ => {}
        }
        let (key, rest) = split(row)?;
        let skipped = row.len().saturating_sub(rest.len());
        Ok(match family {
            Family::SetMember => Self::SetMember { key, member: rest },
            Family::HashField => Self::HashField { key, field: rest },
            Family::MemberScore => Self::MemberScore { key, member: rest },
            Family::ScoreMember => {
                let (score, member) = take_score(rest).map_err(|error| error.behind(skipped))?;
                Self::ScoreMember { key, score, member }
            }
            Family::Item => Self::Item { key, member: rest },
            Family::Lease => {
                let (until, member) = Be::<u64>::new().take(rest).map_err(|error| error.behind(skipped))?;
                Self::Lease { key, until, member }
            }
            Family::Dead | Family::Value | Family::Head => Self::Dead { key, member: rest },
        })
    }

    /// The key that the row belongs to.
    pub const fn key(&self) -> &'r [u8] {
        match self {
            Self::Value { key }
            | Self::Head { key, .. }
            | Self::SetMember { key, .. }
            | Self::HashField { key, .. }
            | Self::MemberScore { key, .. }
            | Self::ScoreMember { key, .. }
            | Self::Item { key, .. }
            | Self::Lease { key, .. }
            | Self::Dead { key, .. } => key,
        }
    }
}
