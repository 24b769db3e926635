//! One thing that a key of a structure holds, and how all of them are gone over.

use std::collections::HashSet;

use keyplan_codec::Hash;

use super::super::MigrationError;
use super::super::checksum::Checksum;
use super::server::SERVER_MARK;
use crate::page::Direction;
use crate::structure::{
    Command, Kind, QueueItem, QueueState, ScoreRange, SetScore, StructureRead, put_score,
};

/// Every kind that a key can hold.
pub(super) const KINDS: [Kind; 5] = [Kind::Value, Kind::Set, Kind::Hash, Kind::Zset, Kind::Queue];

/// One thing that a key holds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Thing {
    Value(Vec<u8>),
    Member(Vec<u8>),
    Field(Vec<u8>, Vec<u8>),
    Scored(Vec<u8>, SetScore),
    Item(QueueItem),
}

impl Thing {
    /// A member, a field or an item; nothing for a plain value.
    pub(crate) fn name(&self) -> &[u8] {
        match self {
            Self::Value(_) => &[],
            Self::Member(name) | Self::Field(name, _) | Self::Scored(name, _) => name,
            Self::Item(item) => &item.member,
        }
    }

    /// What is stored of it.
    pub(crate) fn content(&self) -> Vec<u8> {
        let ranked = |score: SetScore| {
            let mut out = Vec::new();
            // A score that was read can be written.
            let _ = put_score(score, &mut out);
            out
        };
        match self {
            Self::Value(value) | Self::Field(_, value) => value.clone(),
            Self::Member(_) => Vec::new(),
            Self::Scored(_, score) => ranked(*score),
            Self::Item(item) => {
                let mut out = ranked(item.score);
                out.extend(item.attempts.to_be_bytes());
                match item.state {
                    QueueState::Waiting => out.push(0),
                    QueueState::Claimed { until } => {
                        out.push(1);
                        out.extend(until.to_be_bytes());
                        // No receipt, and not pushed again.
                        out.extend([0; 9]);
                    }
                    QueueState::Dead => out.push(2),
                }
                out
            }
        }
    }

    pub(crate) const fn kind(&self) -> Kind {
        match self {
            Self::Value(_) => Kind::Value,
            Self::Member(_) => Kind::Set,
            Self::Field(..) => Kind::Hash,
            Self::Scored(..) => Kind::Zset,
            Self::Item(_) => Kind::Queue,
        }
    }

    pub(super) fn command<'a>(&'a self, key: &'a [u8]) -> Command<'a> {
        match self {
            Self::Value(value) => Command::Put { key, value },
            Self::Member(member) => Command::SetAdd { key, member },
            Self::Field(field, value) => Command::HashSet { key, field, value },
            Self::Scored(member, score) => Command::ZsetAdd { key, member, score: *score },
            Self::Item(QueueItem { member, score, attempts, state }) => {
                Command::QueueRestore { key, member, score: *score, attempts: *attempts, state: *state }
            }
        }
    }
}

/// The checksum of a thing.
pub(super) fn checksum(key: &[u8], thing: &Thing) -> Checksum {
    let length = u32::try_from(key.len()).unwrap_or(u32::MAX).to_be_bytes();
    let kind = KINDS.iter().position(|kind| *kind == thing.kind()).and_then(|kind| u8::try_from(kind).ok());
    let place = [&[kind.unwrap_or_default()], &length[..], key, thing.name()].concat();
    Checksum::of(&place, &thing.content())
}

/// Keys and members that were met: a server may give one twice while it changes the size of its tables.
struct Met(Option<HashSet<[u8; 16]>>);

impl Met {
    fn of(read: &dyn StructureRead) -> Self {
        Self(read.space_name().is_none().then(HashSet::new))
    }

    fn is_new(&mut self, bytes: &[u8]) -> bool {
        let Some(met) = &mut self.0 else { return true };
        let digest = Hash::Blake2b128.digest(bytes);
        digest.first_chunk::<16>().is_none_or(|digest| met.insert(*digest))
    }
}

/// Goes over everything that a key holds, until `visit` says that it was enough.
pub(super) fn visit(
    read: &dyn StructureRead,
    kind: Kind,
    key: &[u8],
    visit: &mut dyn FnMut(Thing) -> Result<bool, MigrationError>,
) -> Result<(), MigrationError> {
    let mut met = Met::of(read);
    let mut each = |thing: Thing| -> Result<bool, MigrationError> {
        let new = matches!(thing, Thing::Value(_)) || met.is_new(thing.name());
        if new { visit(thing) } else { Ok(true) }
    };
    match kind {
        Kind::Value => {
            if let Some(value) = read.get(key)? {
                each(Thing::Value(value))?;
            }
        }
        Kind::Set => {
            for member in read.set_members(key)? {
                if !each(Thing::Member(member?))? {
                    break;
                }
            }
        }
        Kind::Hash => {
            for field in read.hash_all(key)? {
                let (field, value) = field?;
                if !each(Thing::Field(field, value))? {
                    break;
                }
            }
        }
        Kind::Zset => {
            for row in read.zset_rows(key, &ScoreRange::ALL, Direction::Ascending, None)? {
                let row = row?;
                if !each(Thing::Scored(row.member, row.score))? {
                    break;
                }
            }
        }
        Kind::Queue => {
            for item in read.queue_items(key)? {
                if !each(Thing::Item(item?))? {
                    break;
                }
            }
        }
    }
    Ok(())
}

/// Goes over every key.
pub(super) fn keys(
    read: &dyn StructureRead,
    mut visit: impl FnMut(Kind, Vec<u8>) -> Result<(), MigrationError>,
) -> Result<(), MigrationError> {
    let mut met = Met::of(read);
    for kind in KINDS {
        for key in read.keys(kind, &[])? {
            let key = key?;
            if key != SERVER_MARK && met.is_new(&key) {
                visit(kind, key)?;
            }
        }
    }
    Ok(())
}
