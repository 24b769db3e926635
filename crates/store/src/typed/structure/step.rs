use crate::engine::Durability;
use crate::structure::{Command, Reply, SetScore, Structures};

use super::hash;
use super::{in_space, kept};
use crate::typed::Error;
use keyplan_typed::{HashField, HashKey, Key, QueueKey, Ranked, UnrankedKey, Value as _, ZsetKey};

/// Changes to structures of several families, done in one step where the structures can do that.
#[derive(Clone, Debug, Default)]
pub struct Step {
    changes: Vec<Change>,
}

#[derive(Clone, Debug)]
struct Change {
    kind: What,
    space: fn(&dyn Structures) -> Result<(), Error>,
    key: Vec<u8>,
    part: Vec<u8>,
    value: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
enum What {
    SetAdd,
    SetRemove,
    HashSet,
    HashDelete,
    ZsetAdd(SetScore),
    ZsetRemove,
    QueuePush(SetScore),
    QueueRemove,
}

impl Step {
    /// Nothing yet.
    pub const fn new() -> Self {
        Self { changes: Vec::new() }
    }

    fn push<K: Key>(&mut self, kind: What, key: &K, part: Vec<u8>, value: Vec<u8>) -> Result<(), Error> {
        let space = |structures: &dyn Structures| in_space::<K>(structures);
        self.changes.push(Change { kind, space, key: key.to_vec()?, part, value });
        Ok(())
    }

    /// Adds a member to a set.
    pub fn set_add<K: UnrankedKey>(&mut self, key: &K, member: &K::Member<'_>) -> Result<(), Error> {
        self.push(What::SetAdd, key, member.to_vec()?, Vec::new())
    }

    /// Removes a member from a set.
    pub fn set_remove<K: UnrankedKey>(&mut self, key: &K, member: &K::Member<'_>) -> Result<(), Error> {
        self.push(What::SetRemove, key, member.to_vec()?, Vec::new())
    }

    /// Gives a field of a hash a value.
    pub fn hash_set<'f, K: HashKey, F>(
        &mut self,
        key: &K,
        field: F,
        value: &F::FieldValue<'_>,
    ) -> Result<(), Error>
    where
        F: HashField + Into<K::Field<'f>>,
    {
        self.push(What::HashSet, key, hash::bytes::<K, F>(field)?, value.to_vec()?)
    }

    /// Deletes a field of a hash.
    pub fn hash_delete<'f, K: HashKey, F>(&mut self, key: &K, field: F) -> Result<(), Error>
    where
        F: HashField + Into<K::Field<'f>>,
    {
        self.push(What::HashDelete, key, hash::bytes::<K, F>(field)?, Vec::new())
    }

    /// Adds a member to a sorted set, or gives it another score.
    pub fn zset_add<'s, K: ZsetKey>(
        &mut self,
        key: &K,
        member: &K::Member<'_>,
        score: &K::Score<'s>,
    ) -> Result<(), Error>
    where
        K::Score<'s>: Ranked,
    {
        self.push(What::ZsetAdd(kept::<K>(score)?), key, member.to_vec()?, Vec::new())
    }

    /// Removes a member from a sorted set.
    pub fn zset_remove<K: ZsetKey>(&mut self, key: &K, member: &K::Member<'_>) -> Result<(), Error> {
        self.push(What::ZsetRemove, key, member.to_vec()?, Vec::new())
    }

    /// Puts an item into a queue.
    pub fn queue_push<'s, K: QueueKey>(
        &mut self,
        key: &K,
        member: &K::Member<'_>,
        score: &K::Score<'s>,
    ) -> Result<(), Error>
    where
        K::Score<'s>: Ranked,
    {
        self.push(What::QueuePush(kept::<K>(score)?), key, member.to_vec()?, Vec::new())
    }

    /// Removes an item from a queue, whoever holds it.
    pub fn queue_remove<K: QueueKey>(&mut self, key: &K, member: &K::Member<'_>) -> Result<(), Error> {
        self.push(What::QueueRemove, key, member.to_vec()?, Vec::new())
    }

    /// How many changes there are.
    pub fn len(&self) -> usize {
        self.changes.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Does the changes in their order, and returns for each whether something came to be, or ceased to.
    ///
    /// It is one step over what the structures' [`Atomicity`](super::raw::Atomicity) says. Nothing is done if a change is
    /// of a family in another space.
    pub fn apply(&self, structures: &dyn Structures, durability: Durability) -> Result<Vec<bool>, Error> {
        for change in &self.changes {
            (change.space)(structures)?;
        }
        let commands: Vec<Command<'_>> = self.changes.iter().map(Change::command).collect();
        let replies = structures.apply(&commands, durability)?;
        Ok(replies.iter().map(|reply| matches!(reply, Reply::Changed(true))).collect())
    }
}

impl Change {
    fn command(&self) -> Command<'_> {
        let (key, part, value) = (self.key.as_slice(), self.part.as_slice(), self.value.as_slice());
        match self.kind {
            What::SetAdd => Command::SetAdd { key, member: part },
            What::SetRemove => Command::SetRemove { key, member: part },
            What::HashSet => Command::HashSet { key, field: part, value },
            What::HashDelete => Command::HashDelete { key, field: part },
            What::ZsetAdd(score) => Command::ZsetAdd { key, member: part, score },
            What::ZsetRemove => Command::ZsetRemove { key, member: part },
            What::QueuePush(score) => Command::QueuePush { key, member: part, score },
            What::QueueRemove => Command::QueueRemove { key, member: part },
        }
    }
}
