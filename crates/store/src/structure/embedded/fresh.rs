//! What keys hold, written row by row into a batch of an engine.

use std::collections::BTreeMap;

use super::head::{Head, QueueHead, ZsetHead};
use super::layout::{Family, Item, State, lease_row, place};
use super::transaction::{unwritable, wrong_kind};
use super::view::damaged;
use super::zset::same_kind;
use crate::engine::{Batch, Engine, Snapshot as _, SpaceId};
use crate::structure::{Kind, QueueItem, QueueState, SetScore, StructureError};

/// Heads of keys that are being filled in one batch.
///
/// It is for the only one who writes these keys, and writes each thing once: nothing is looked for but the heads. [`Fresh::finish`] writes
/// them.
#[derive(Default)]
pub(crate) struct Fresh {
    heads: BTreeMap<(SpaceId, Vec<u8>), Head>,
}

/// Where things go: a key of a space, and what is there before the batch.
pub(crate) struct Filling<'a, E: Engine> {
    pub(crate) batch: &'a mut Batch<E>,
    pub(crate) snapshot: &'a E::Snapshot,
    pub(crate) space: SpaceId,
    pub(crate) name: &'a str,
    pub(crate) key: &'a [u8],
}

impl Fresh {
    /// A plain value.
    pub(crate) fn value<E: Engine>(to: &mut Filling<'_, E>, value: &[u8]) {
        to.batch.put_row(to.space, &Family::Value.plain(to.key), value);
    }

    /// A member of a set.
    pub(crate) fn member<E: Engine>(
        &mut self,
        to: &mut Filling<'_, E>,
        member: &[u8],
    ) -> Result<(), StructureError> {
        let row = Family::SetMember.row(to.key, member).map_err(unwritable)?;
        to.batch.put_row(to.space, &row, &[]);
        match self.head(to, || Head::Set { count: 0 })? {
            Head::Set { count } => *count = count.saturating_add(1),
            other => return Err(wrong_kind(to.key, Kind::Set, other.kind())),
        }
        Ok(())
    }

    /// A field of a hash.
    pub(crate) fn field<E: Engine>(
        &mut self,
        to: &mut Filling<'_, E>,
        field: &[u8],
        value: &[u8],
    ) -> Result<(), StructureError> {
        let row = Family::HashField.row(to.key, field).map_err(unwritable)?;
        to.batch.put_row(to.space, &row, value);
        match self.head(to, || Head::Hash { count: 0 })? {
            Head::Hash { count } => *count = count.saturating_add(1),
            other => return Err(wrong_kind(to.key, Kind::Hash, other.kind())),
        }
        Ok(())
    }

    /// A member of a sorted set.
    pub(crate) fn scored<E: Engine>(
        &mut self,
        to: &mut Filling<'_, E>,
        member: &[u8],
        score: SetScore,
    ) -> Result<(), StructureError> {
        let score = score.checked()?;
        let at = place(score, member).map_err(unwritable)?;
        let row = Family::MemberScore.row(to.key, member).map_err(unwritable)?;
        // Only the score: what comes before the member.
        let stored = at.get(..at.len().saturating_sub(member.len())).unwrap_or_default();
        to.batch.put_row(to.space, &row, stored);
        to.batch.put_row(to.space, &Family::ScoreMember.row(to.key, &at).map_err(unwritable)?, &[]);
        match self.head(to, || Head::Zset(ZsetHead::new(score.kind())))? {
            Head::Zset(head) => {
                same_kind(to.key, head.scores, score.kind())?;
                head.count = head.count.saturating_add(1);
            }
            other => return Err(wrong_kind(to.key, Kind::Zset, other.kind())),
        }
        Ok(())
    }

    /// An item of a queue. The row that it had in an old queue tells the receipt of its lease, too.
    pub(crate) fn item<E: Engine>(
        &mut self,
        to: &mut Filling<'_, E>,
        item: &QueueItem,
        old: Option<&[u8]>,
    ) -> Result<(), StructureError> {
        let (score, member) = (item.score.checked()?, item.member.as_slice());
        let row = Family::Item.row(to.key, member).map_err(unwritable)?;
        let state = match (old, item.state) {
            (Some(old), _) => Item::decode(old).map_err(|source| damaged(to.name, &row, source))?.state,
            (None, QueueState::Waiting) => State::Waiting,
            (None, QueueState::Claimed { until }) => State::Claimed { until, receipt: 0, again: false },
            (None, QueueState::Dead) => State::Dead,
        };
        let item = Item { score, attempts: item.attempts, state };
        to.batch.put_row(to.space, &row, &item.encode().map_err(unwritable)?);
        let beside = match item.state {
            State::Waiting => Family::ScoreMember.row(to.key, &place(score, member).map_err(unwritable)?),
            State::Claimed { until, .. } => lease_row(to.key, until, member),
            State::Dead => Family::Dead.row(to.key, member),
        };
        to.batch.put_row(to.space, &beside.map_err(unwritable)?, &[]);
        let empty = || Head::Queue(QueueHead::new(score.kind()));
        match self.head(to, empty)? {
            Head::Queue(head) => {
                // A queue that was begun only by its receipts has no scores yet.
                if head.size.waiting == 0 && head.size.claimed == 0 && head.size.dead == 0 {
                    head.scores = score.kind();
                }
                same_kind(to.key, head.scores, score.kind())?;
                let count = match item.state {
                    State::Waiting => &mut head.size.waiting,
                    State::Claimed { .. } => &mut head.size.claimed,
                    State::Dead => &mut head.size.dead,
                };
                *count = count.saturating_add(1);
            }
            other => return Err(wrong_kind(to.key, Kind::Queue, other.kind())),
        }
        Ok(())
    }

    /// The receipts that the queue of an old head has given out: none of them is given out again.
    pub(crate) fn receipts<E: Engine>(
        &mut self,
        to: &mut Filling<'_, E>,
        old: &[u8],
    ) -> Result<(), StructureError> {
        let row = Family::Head.plain(to.key);
        let old = Head::decode(old).map_err(|source| damaged(to.name, &row, source))?;
        let Head::Queue(old) = old else { return Ok(()) };
        if old.receipts == 0 {
            return Ok(());
        }
        if let Head::Queue(head) = self.head(to, || Head::Queue(QueueHead::new(old.scores)))? {
            head.receipts = head.receipts.max(old.receipts);
        }
        Ok(())
    }

    /// Writes the heads.
    pub(crate) fn finish<E: Engine>(self, batch: &mut Batch<E>) -> Result<(), StructureError> {
        for ((space, key), head) in self.heads {
            batch.put_row(space, &Family::Head.plain(&key), &head.encode().map_err(unwritable)?);
        }
        Ok(())
    }

    fn head<E: Engine>(
        &mut self,
        to: &Filling<'_, E>,
        empty: impl FnOnce() -> Head,
    ) -> Result<&mut Head, StructureError> {
        let entry = match self.heads.entry((to.space, to.key.to_vec())) {
            std::collections::btree_map::Entry::Occupied(known) => return Ok(known.into_mut()),
            std::collections::btree_map::Entry::Vacant(entry) => entry,
        };
        let row = Family::Head.plain(to.key);
        let head = match to.snapshot.get(to.space, &row)? {
            Some(value) => Head::decode(&value).map_err(|source| damaged(to.name, &row, source))?,
            None => empty(),
        };
        Ok(entry.insert(head))
    }
}
