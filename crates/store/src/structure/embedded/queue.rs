use std::ops::Bound;
use std::time::{SystemTime, UNIX_EPOCH};

use keyplan_codec::{Be, DecodeError, Delimited as _, Fault};

use super::head::{Head, QueueHead};
use super::layout::{Family, Item, State, lease_row, place};
use super::transaction::{Transaction, unwritable};
use super::zset::{open_end, same_kind};
use crate::engine::{Engine, OwnedKeyRange};
use crate::structure::{Claim, Claimed, End, Kind, Now, QueueState, Scored, SetScore, StructureError};

/// How many items whose lease has run out one claim brings back.
const BROUGHT_BACK: usize = 10_000;

/// What became of an item that was claimed.
#[derive(Clone, Copy)]
pub(super) enum Outcome {
    Done,
    Released,
    Buried,
}

impl<E: Engine> Transaction<'_, E> {
    pub(super) fn queue_push(
        &mut self,
        key: &[u8],
        member: &[u8],
        score: SetScore,
    ) -> Result<bool, StructureError> {
        let score = score.checked()?;
        if !self.is_there(key, Kind::Queue)? {
            self.begin(key, Head::Queue(QueueHead::new(score.kind())))?;
        }
        let empty = self.held(key)?.head.as_ref().is_none_or(|head| head.count() == 0);
        let head = self.queue(key)?;
        if empty {
            head.scores = score.kind();
        }
        same_kind(key, head.scores, score.kind())?;
        let old = self.item(key, member)?;
        let new = Item { score, attempts: 0, state: State::Waiting };
        let Some(old) = old else {
            self.wait(key, member, &new)?;
            return Ok(true);
        };
        match old.state {
            State::Waiting => {
                if old.score != score {
                    self.leave(key, member, &old)?;
                    self.wait(key, member, &Item { score, ..old })?;
                }
            }
            State::Claimed { until, receipt, .. } => {
                let state = State::Claimed { until, receipt, again: true };
                self.put_item(key, member, &Item { score, state, ..old })?;
            }
            State::Dead => {
                self.leave(key, member, &old)?;
                self.wait(key, member, &new)?;
            }
        }
        Ok(false)
    }

    pub(super) fn queue_claim(&mut self, key: &[u8], claim: &Claim) -> Result<Vec<Claimed>, StructureError> {
        if !self.is_there(key, Kind::Queue)? {
            return Ok(Vec::new());
        }
        let now = match claim.now {
            Now::Millis(millis) => millis,
            Now::Clock => clock(),
        };
        self.bring_back(key, now, claim.attempts)?;
        let taken = self.first_places(key, End::Min, claim.count)?;
        if taken.is_empty() {
            return Ok(Vec::new());
        }
        let until = now.saturating_add(claim.lease_millis());
        let head = self.queue(key)?;
        head.receipts = head.receipts.saturating_add(1);
        head.leases_from = head.leases_from.min(until);
        let receipt = head.receipts;
        let all = taken.len() < claim.count;
        let mut claimed = Vec::with_capacity(taken.len());
        for taken in taken {
            let scored = &taken.scored;
            let old = self.item(key, &scored.member)?;
            let attempts = old.map_or(0, |old| old.attempts).saturating_add(1);
            let state = State::Claimed { until, receipt, again: false };
            let item = Item { score: scored.score, attempts, state };
            self.delete_row(&taken.row);
            self.held(key)?.gone(taken.at());
            self.put_row(&lease_row(key, until, &scored.member).map_err(unwritable)?, &[]);
            self.put_item(key, &scored.member, &item)?;
            let head = self.queue(key)?;
            open_end(&mut head.gaps, End::Min, taken.at());
            head.size.waiting = head.size.waiting.saturating_sub(1);
            head.size.claimed = head.size.claimed.saturating_add(1);
            let Scored { member, score } = taken.scored;
            claimed.push(Claimed { member, score, attempts, receipt });
        }
        if all {
            self.queue(key)?.gaps.open_between(&[], None, 0);
        }
        self.end(key)?;
        Ok(claimed)
    }

    /// Ends the lease of an item as `outcome` says, if it is claimed under this receipt. One that was pushed again since
    /// waits again, whatever became of it.
    pub(super) fn queue_settle(
        &mut self,
        key: &[u8],
        member: &[u8],
        receipt: u64,
        outcome: Outcome,
    ) -> Result<bool, StructureError> {
        let Some((item, again)) = self.claimed(key, member, receipt)? else { return Ok(false) };
        self.leave(key, member, &item)?;
        let waiting = Item { state: State::Waiting, ..item };
        match outcome {
            _ if again => self.wait(key, member, &Item { attempts: 0, ..waiting })?,
            Outcome::Done => {
                self.delete_row(&Family::Item.row(key, member).map_err(unwritable)?);
                self.end(key)?;
            }
            Outcome::Released => self.wait(key, member, &waiting)?,
            Outcome::Buried => self.die(key, member, &item)?,
        }
        Ok(true)
    }

    pub(super) fn queue_restore(
        &mut self,
        key: &[u8],
        member: &[u8],
        score: SetScore,
        attempts: u32,
        state: QueueState,
    ) -> Result<bool, StructureError> {
        let score = score.checked()?;
        if !self.is_there(key, Kind::Queue)? {
            self.begin(key, Head::Queue(QueueHead::new(score.kind())))?;
        }
        let empty = self.held(key)?.head.as_ref().is_none_or(|head| head.count() == 0);
        let head = self.queue(key)?;
        if empty {
            head.scores = score.kind();
        }
        same_kind(key, head.scores, score.kind())?;
        let old = self.item(key, member)?;
        if let Some(old) = &old {
            self.leave(key, member, old)?;
        }
        let item = Item { score, attempts, state: State::Waiting };
        match state {
            QueueState::Waiting => self.wait(key, member, &item)?,
            QueueState::Dead => self.die(key, member, &item)?,
            QueueState::Claimed { until } => {
                self.put_row(&lease_row(key, until, member).map_err(unwritable)?, &[]);
                // Receipts begin with 1: nobody has this one.
                let state = State::Claimed { until, receipt: 0, again: false };
                self.put_item(key, member, &Item { state, ..item })?;
                let head = self.queue(key)?;
                head.leases_from = head.leases_from.min(until);
                head.size.claimed = head.size.claimed.saturating_add(1);
                self.end(key)?;
            }
        }
        Ok(old.is_none())
    }

    pub(super) fn queue_remove(&mut self, key: &[u8], member: &[u8]) -> Result<bool, StructureError> {
        if !self.is_there(key, Kind::Queue)? {
            return Ok(false);
        }
        let Some(item) = self.item(key, member)? else { return Ok(false) };
        self.leave(key, member, &item)?;
        self.delete_row(&Family::Item.row(key, member).map_err(unwritable)?);
        self.end(key)?;
        Ok(true)
    }

    /// Brings back the items whose lease has run out.
    fn bring_back(&mut self, key: &[u8], now: u64, attempts: Option<u32>) -> Result<(), StructureError> {
        let head = self.queue(key)?;
        if head.size.claimed == 0 || head.leases_from > now {
            return Ok(());
        }
        let start = lease_row(key, head.leases_from, &[]).map_err(unwritable)?.to_vec();
        let end = match now.checked_add(1) {
            Some(behind) => Bound::Excluded(lease_row(key, behind, &[]).map_err(unwritable)?.to_vec()),
            None => OwnedKeyRange::prefix(&Family::Lease.prefix(key).map_err(unwritable)?).end,
        };
        let rows = OwnedKeyRange { start: Bound::Included(start), end };
        let skipped = Family::Lease.prefix(key).map_err(unwritable)?.len();
        let mut over = Vec::new();
        for row in self.batch.range(self.space, rows.borrow())?.take(BROUGHT_BACK) {
            let (row, _) = row?;
            let lease = Be::<u64>::new().take(row.get(skipped..).unwrap_or_default());
            let (until, member) = lease.map_err(|source| self.damaged(&row, source.behind(skipped)))?;
            over.push((until, member.to_vec()));
        }
        // What is before the last of them is gone, and what is at its time may not be.
        let from = if over.len() < BROUGHT_BACK {
            now.saturating_add(1)
        } else {
            over.last().map_or(0, |last| last.0)
        };
        for (until, member) in over {
            // A lease is of an item that is claimed: it goes with it.
            let Some(item @ Item { state: State::Claimed { again, .. }, .. }) = self.item(key, &member)?
            else {
                let row = lease_row(key, until, &member).map_err(unwritable)?;
                return Err(self.damaged(&row, DecodeError::new(skipped, Fault::Mismatch)));
            };
            self.leave(key, &member, &item)?;
            let item = Item { attempts: if again { 0 } else { item.attempts }, ..item };
            if attempts.is_some_and(|most| item.attempts >= most) && !again {
                self.die(key, &member, &item)?;
            } else {
                self.wait(key, &member, &Item { state: State::Waiting, ..item })?;
            }
        }
        self.queue(key)?.leases_from = from;
        self.end(key)
    }

    /// The item, if it is claimed under this receipt, and whether it was pushed again since.
    fn claimed(
        &mut self,
        key: &[u8],
        member: &[u8],
        receipt: u64,
    ) -> Result<Option<(Item, bool)>, StructureError> {
        if !self.is_there(key, Kind::Queue)? {
            return Ok(None);
        }
        let item = self.item(key, member)?;
        Ok(item.and_then(|item| match item.state {
            State::Claimed { receipt: held, again, .. } if held == receipt => Some((item, again)),
            _ => None,
        }))
    }

    /// Lets an item wait that is nowhere else.
    fn wait(&mut self, key: &[u8], member: &[u8], item: &Item) -> Result<(), StructureError> {
        let at = place(item.score, member).map_err(unwritable)?;
        self.put_place(key, &at)?;
        self.put_item(key, member, item)?;
        let head = self.queue(key)?;
        head.gaps.fill(&at);
        head.size.waiting = head.size.waiting.saturating_add(1);
        self.end(key)
    }

    /// Puts an item with the dead ones that is nowhere else.
    fn die(&mut self, key: &[u8], member: &[u8], item: &Item) -> Result<(), StructureError> {
        let row = Family::Dead.row(key, member).map_err(unwritable)?;
        self.put_row(&row, &[]);
        self.put_item(key, member, &Item { state: State::Dead, ..*item })?;
        let head = self.queue(key)?;
        head.size.dead = head.size.dead.saturating_add(1);
        self.end(key)
    }

    /// Takes an item from where it is. What becomes of it is written afterwards.
    fn leave(&mut self, key: &[u8], member: &[u8], item: &Item) -> Result<(), StructureError> {
        match item.state {
            State::Waiting => {
                let at = place(item.score, member).map_err(unwritable)?;
                self.remove_place(key, &at)?;
            }
            State::Claimed { until, .. } => {
                let row = lease_row(key, until, member).map_err(unwritable)?;
                self.delete_row(&row);
            }
            State::Dead => {
                let row = Family::Dead.row(key, member).map_err(unwritable)?;
                self.delete_row(&row);
            }
        }
        let size = &mut self.queue(key)?.size;
        let count = match item.state {
            State::Waiting => &mut size.waiting,
            State::Claimed { .. } => &mut size.claimed,
            State::Dead => &mut size.dead,
        };
        *count = count.saturating_sub(1);
        Ok(())
    }

    fn item(&mut self, key: &[u8], member: &[u8]) -> Result<Option<Item>, StructureError> {
        let row = Family::Item.row(key, member).map_err(unwritable)?;
        let item = self.get_with(&row, Item::decode)?.transpose();
        item.map_err(|source| self.damaged(&row, source))
    }

    fn put_item(&mut self, key: &[u8], member: &[u8], item: &Item) -> Result<(), StructureError> {
        let row = Family::Item.row(key, member).map_err(unwritable)?;
        self.put_row(&row, &item.encode().map_err(unwritable)?);
        Ok(())
    }

    /// The head of a queue that is there.
    fn queue(&mut self, key: &[u8]) -> Result<&mut QueueHead, StructureError> {
        match &mut self.held(key)?.head {
            Some(Head::Queue(head)) => Ok(head),
            _ => Err(StructureError::Abandoned),
        }
    }
}

/// The time of this machine in milliseconds since 1970.
pub(super) fn clock() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
