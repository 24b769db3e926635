use std::collections::HashSet;
use std::fmt;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::MutexGuard;

use keyplan_codec::{DecodeError, EncodeError};

use super::Inner;
use super::head::Head;
use super::hold::{Heads, Held};
use super::layout::Family;
use super::queue::Outcome;
use crate::batch::StoreBatch;
use crate::engine::{Durability, Engine, SpaceId, Writers};
use crate::structure::{Command, Expectation, Kind, Reply, SetScore, StructureError};

/// Changes to structures, and to anything else in the same store, that are committed as one step.
///
/// Others wait while it is open. Dropped without a commit, it leaves nothing.
pub struct Transaction<'s, E: Engine> {
    pub(super) batch: StoreBatch<'s, E>,
    pub(super) space: SpaceId,
    name: &'s str,
    heads: MutexGuard<'s, Heads>,
    // None if there is but one command, or rows were written before it was made.
    written: Option<Written>,
    failed: bool,
}

/// The rows that a transaction has written, by a hash of them: what is not among them need not be looked for in its
/// batch, which would have to keep its rows in order for that.
#[derive(Default)]
struct Written {
    hashes: HashSet<u64>,
    hasher: RandomState,
}

impl Written {
    fn note(&mut self, row: &[u8]) {
        self.hashes.insert(self.hasher.hash_one(row));
    }

    fn may_hold(&self, row: &[u8]) -> bool {
        self.hashes.contains(&self.hasher.hash_one(row))
    }
}

impl<'s, E: Engine> Transaction<'s, E> {
    pub(super) fn new(inner: &'s Inner<E>, mut heads: MutexGuard<'s, Heads>) -> Result<Self, StructureError> {
        // A thread that panicked may have left changes that are in no store.
        heads.forget();
        if inner.store.engine().capabilities().writers == Writers::Several {
            // Another writer may have changed any of them.
            *heads = Heads::default();
        }
        let batch = inner.store.batch()?;
        Ok(Self { batch, space: inner.space, name: &inner.name, heads, written: None, failed: false })
    }

    /// The batch that everything goes into. Rows of other spaces may be read and written through it.
    pub fn batch(&mut self) -> &mut StoreBatch<'s, E> {
        self.written = None;
        &mut self.batch
    }

    /// Does the commands in their order, and returns a reply for each. Each sees what those before it did.
    ///
    /// After an error the transaction cannot be committed.
    pub fn apply(&mut self, commands: &[Command<'_>]) -> Result<Vec<Reply>, StructureError> {
        if commands.len() > 1 && self.batch.is_empty() {
            self.written = Some(Written::default());
        }
        commands.iter().map(|command| self.apply_one(command)).collect()
    }

    /// Does one command.
    pub fn apply_one(&mut self, command: &Command<'_>) -> Result<Reply, StructureError> {
        let reply = self.run(command);
        self.failed |= reply.is_err();
        reply
    }

    /// Commits everything as one step.
    pub fn commit(mut self, durability: Durability) -> Result<(), StructureError> {
        if self.failed {
            return Err(StructureError::Abandoned);
        }
        for (key, head) in self.heads.changed() {
            let row = Family::Head.plain(key);
            match head {
                Some(head) => self.batch.put_row(self.space, &row, &head.encode().map_err(unwritable)?),
                None => self.batch.delete(self.space, &row[..]),
            }
        }
        // A batch with nothing in it has nothing to wait for but what was committed before.
        if self.batch.is_empty() && durability == Durability::Buffer {
            return Ok(());
        }
        let empty = self.batch.store().batch()?;
        std::mem::replace(&mut self.batch, empty).commit(durability)?;
        self.heads.keep();
        Ok(())
    }

    /// Refuses if something is not as expected, as it will be once this is committed.
    pub fn expect(&mut self, expected: &Expectation<'_>) -> Result<(), StructureError> {
        let is_so = match *expected {
            Expectation::Value { key, value } => {
                let row = Family::Value.plain(key);
                let found = self.get_with(&row, |found| value == Some(found))?;
                if found.is_none()
                    && let Some(head) = self.held(key)?.head.as_ref().filter(|head| head.count() > 0)
                {
                    return Err(wrong_kind(key, Kind::Value, head.kind()));
                }
                found.unwrap_or(value.is_none())
            }
            Expectation::Member { key, member, there } => {
                self.row_is(Family::SetMember, key, member, there.then_some(&[]))?
            }
            Expectation::Field { key, field, value } => self.row_is(Family::HashField, key, field, value)?,
            Expectation::Score { key, member, score } => {
                let found = if self.is_there(key, Kind::Zset)? {
                    let row = Family::MemberScore.row(key, member).map_err(unwritable)?;
                    self.score_at(&row)?
                } else {
                    None
                };
                found == score.map(SetScore::checked).transpose()?
            }
        };
        if is_so { Ok(()) } else { Err(StructureError::Changed { key: expected.key().to_vec() }) }
    }

    /// Whether a member of a set or a field of a hash has a value; `None` is of one that is not there.
    fn row_is(
        &mut self,
        family: Family,
        key: &[u8],
        member: &[u8],
        value: Option<&[u8]>,
    ) -> Result<bool, StructureError> {
        let kind = if family == Family::SetMember { Kind::Set } else { Kind::Hash };
        if !self.is_there(key, kind)? {
            return Ok(value.is_none());
        }
        let row = family.row(key, member).map_err(unwritable)?;
        let found = self.get_with(&row, |found| value == Some(found))?;
        Ok(found.unwrap_or(value.is_none()))
    }

    fn run(&mut self, command: &Command<'_>) -> Result<Reply, StructureError> {
        match *command {
            Command::Put { key, value } => self.put(key, value).map(Reply::Changed),
            Command::Delete { key } => self.delete(key).map(Reply::Changed),
            Command::SetAdd { key, member } => {
                self.add_row(Family::SetMember, key, member, &[]).map(Reply::Changed)
            }
            Command::SetRemove { key, member } => {
                self.remove_row(Family::SetMember, key, member).map(Reply::Changed)
            }
            Command::HashSet { key, field, value } => {
                self.add_row(Family::HashField, key, field, value).map(Reply::Changed)
            }
            Command::HashDelete { key, field } => {
                self.remove_row(Family::HashField, key, field).map(Reply::Changed)
            }
            Command::ZsetAdd { key, member, score } => self.zset_add(key, member, score).map(Reply::Changed),
            Command::ZsetRemove { key, member } => self.zset_remove(key, member).map(Reply::Changed),
            Command::ZsetIncrement { key, member, by } => {
                self.zset_increment(key, member, by).map(Reply::Number)
            }
            Command::ZsetPop { key, end, count } => self.zset_pop(key, end, count).map(Reply::Members),
            Command::ZsetRemoveRange { key, scores } => {
                self.zset_remove_range(key, &scores).map(Reply::Count)
            }
            Command::QueuePush { key, member, score } => {
                self.queue_push(key, member, score).map(Reply::Changed)
            }
            Command::QueueClaim { key, claim } => self.queue_claim(key, &claim).map(Reply::Claimed),
            Command::QueueAcknowledge { key, member, receipt } => {
                self.queue_settle(key, member, receipt, Outcome::Done).map(Reply::Changed)
            }
            Command::QueueRelease { key, member, receipt } => {
                self.queue_settle(key, member, receipt, Outcome::Released).map(Reply::Changed)
            }
            Command::QueueBury { key, member, receipt } => {
                self.queue_settle(key, member, receipt, Outcome::Buried).map(Reply::Changed)
            }
            Command::QueueRestore { key, member, score, attempts, state } => {
                self.queue_restore(key, member, score, attempts, state).map(Reply::Changed)
            }
            Command::QueueRemove { key, member } => self.queue_remove(key, member).map(Reply::Changed),
        }
    }

    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<bool, StructureError> {
        if let Some(found) = self.held(key)?.head.as_ref().filter(|head| head.count() > 0) {
            return Err(wrong_kind(key, Kind::Value, found.kind()));
        }
        let row = Family::Value.plain(key);
        let new = !self.has(&row)?;
        self.put_row(&row, value);
        Ok(new)
    }

    fn delete(&mut self, key: &[u8]) -> Result<bool, StructureError> {
        let row = Family::Value.plain(key);
        let found = self.has(&row)?;
        if found {
            self.delete_row(&row);
        } else if let Some(found) = self.held(key)?.head.as_ref().filter(|head| head.count() > 0) {
            return Err(wrong_kind(key, Kind::Value, found.kind()));
        }
        Ok(found)
    }

    /// Writes a member of a set or a field of a hash, and returns whether it is new.
    fn add_row(
        &mut self,
        family: Family,
        key: &[u8],
        member: &[u8],
        value: &[u8],
    ) -> Result<bool, StructureError> {
        let kind = if family == Family::SetMember { Kind::Set } else { Kind::Hash };
        if !self.is_there(key, kind)? {
            let head = if kind == Kind::Set { Head::Set { count: 0 } } else { Head::Hash { count: 0 } };
            self.begin(key, head)?;
        }
        let row = family.row(key, member).map_err(unwritable)?;
        let new = !self.has(&row)?;
        if new {
            self.count(key, |count| count.saturating_add(1))?;
        }
        if new || kind == Kind::Hash {
            self.put_row(&row, value);
        }
        Ok(new)
    }

    /// Removes a member of a set or a field of a hash, and returns whether it was there.
    fn remove_row(&mut self, family: Family, key: &[u8], member: &[u8]) -> Result<bool, StructureError> {
        let kind = if family == Family::SetMember { Kind::Set } else { Kind::Hash };
        if !self.is_there(key, kind)? {
            return Ok(false);
        }
        let row = family.row(key, member).map_err(unwritable)?;
        let found = self.has(&row)?;
        if found {
            self.delete_row(&row);
            self.count(key, |count| count.saturating_sub(1))?;
            self.end(key)?;
        }
        Ok(found)
    }

    fn count(&mut self, key: &[u8], change: impl FnOnce(u64) -> u64) -> Result<(), StructureError> {
        if let Some(Head::Set { count } | Head::Hash { count }) = &mut self.held(key)?.head {
            *count = change(*count);
        }
        self.heads.note(key);
        Ok(())
    }

    /// Lends the value of a row, as it will be once this is committed.
    pub(super) fn get_with<T>(
        &mut self,
        row: &[u8],
        with: impl FnOnce(&[u8]) -> T,
    ) -> Result<Option<T>, StructureError> {
        if self.written.as_ref().is_some_and(|written| !written.may_hold(row)) {
            return Ok(self.batch.get_stored_with(self.space, row, with)?);
        }
        Ok(self.batch.get_with(self.space, row, with)?)
    }

    /// Whether there is a row, once this is committed.
    fn has(&mut self, row: &[u8]) -> Result<bool, StructureError> {
        self.get_with(row, |_| ()).map(|found| found.is_some())
    }

    pub(super) fn put_row(&mut self, row: &[u8], value: &[u8]) {
        if let Some(written) = &mut self.written {
            written.note(row);
        }
        self.batch.put_row(self.space, row, value);
    }

    pub(super) fn delete_row(&mut self, row: &[u8]) {
        if let Some(written) = &mut self.written {
            written.note(row);
        }
        self.batch.delete(self.space, row);
    }

    /// What is known of a key.
    pub(super) fn held(&mut self, key: &[u8]) -> Result<&mut Held, StructureError> {
        if self.heads.get_mut(key).is_none() {
            let row = Family::Head.plain(key);
            let head = self.get_with(&row, Head::decode)?.transpose();
            let head = head.map_err(|source| self.damaged(&row, source))?;
            self.heads.insert(key, head);
        }
        // It was put there if it was not.
        self.heads.get_mut(key).ok_or(StructureError::Abandoned)
    }

    /// Whether a key holds something of a kind. Something of another kind is refused, unless it is empty.
    pub(super) fn is_there(&mut self, key: &[u8], kind: Kind) -> Result<bool, StructureError> {
        match &self.held(key)?.head {
            Some(head) if head.kind() == kind => return Ok(true),
            Some(head) if head.count() > 0 => return Err(wrong_kind(key, kind, head.kind())),
            _ => {}
        }
        if self.has(&Family::Value.plain(key))? { Err(wrong_kind(key, kind, Kind::Value)) } else { Ok(false) }
    }

    /// Begins something under a key that holds nothing.
    pub(super) fn begin(&mut self, key: &[u8], head: Head) -> Result<(), StructureError> {
        let known = self.held(key)?;
        known.head = Some(head);
        known.forget_front();
        self.heads.note(key);
        Ok(())
    }

    /// Notes that the head of a key was changed, and drops it if nothing is left that it stands for.
    pub(super) fn end(&mut self, key: &[u8]) -> Result<(), StructureError> {
        let held = self.held(key)?;
        if held.head.as_ref().is_some_and(|head| head.count() == 0 && !head.outlives()) {
            held.head = None;
        }
        self.heads.note(key);
        Ok(())
    }

    #[cold]
    pub(super) fn damaged(&self, row: &[u8], source: DecodeError) -> StructureError {
        StructureError::Row { space: self.name.to_owned(), key: row.to_vec(), source }
    }
}

impl<E: Engine> Drop for Transaction<'_, E> {
    fn drop(&mut self) {
        self.heads.forget();
    }
}

impl<E: Engine> fmt::Debug for Transaction<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transaction").field("batch", &self.batch).finish_non_exhaustive()
    }
}

#[cold]
pub(super) fn wrong_kind(key: &[u8], expected: Kind, found: Kind) -> StructureError {
    StructureError::WrongKind { key: key.to_vec(), expected, found }
}

#[cold]
pub(super) fn unwritable(source: EncodeError) -> StructureError {
    StructureError::Score { source }
}
