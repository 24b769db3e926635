use crate::engine::Durability;
use crate::structure::{Command, Expectation, Reply, SetScore, StructureError, Structures};

use super::{FoundValue, hash, in_space, kept, read_back};
use crate::typed::Error;
use keyplan_typed::{HashField, HashKey, Key, QueueKey, Ranked, UnrankedKey, Value as _, ZsetKey};

/// Changes to structures of several families, done in one step where the structures can do that.
///
/// What is read through a step is remembered. When it is applied, everything must still be as it was read, or nothing is done:
/// [`Error::Conflict`]. Such a step is one also on a server; on a cluster the keys of all that was read and is changed must lie in
/// one slot.
#[derive(Clone, Debug, Default)]
pub struct Step {
    changes: Vec<Change>,
    reads: Vec<Seen>,
}

/// How often a step is made again after a conflict.
const CONFLICTS: u32 = 64;

/// What was read.
#[derive(Clone, Debug)]
struct Seen {
    key: Vec<u8>,
    part: Vec<u8>,
    found: Found,
}

#[derive(Clone, Debug)]
enum Found {
    Member(bool),
    Field(Option<Vec<u8>>),
    Score(Option<SetScore>),
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
        Self { changes: Vec::new(), reads: Vec::new() }
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

    /// The value of a field of a hash, which must still be the same when the step is applied. The step's own changes are seen.
    pub fn hash_get<'f, K: HashKey, F>(
        &mut self,
        structures: &dyn Structures,
        key: &K,
        field: F,
    ) -> Result<Option<FoundValue<K, F>>, Error>
    where
        F: HashField + Into<K::Field<'f>>,
    {
        in_space::<K>(structures)?;
        let (key, part) = (key.to_vec()?, hash::bytes::<K, F>(field)?);
        let own = self.changes.iter().rev().find(|change| change.is_of(&key, &part));
        let value = match own {
            Some(Change { kind: What::HashSet, value, .. }) => Some(value.clone()),
            Some(_) => None,
            None => {
                let value = structures.hash_get(&key, &part)?;
                self.reads.push(Seen { key, part, found: Found::Field(value.clone()) });
                value
            }
        };
        Ok(value.map(FoundValue::new))
    }

    /// Whether a set has a member, which must still be so when the step is applied. The step's own changes are seen.
    pub fn set_contains<K: UnrankedKey>(
        &mut self,
        structures: &dyn Structures,
        key: &K,
        member: &K::Member<'_>,
    ) -> Result<bool, Error> {
        in_space::<K>(structures)?;
        let (key, part) = (key.to_vec()?, member.to_vec()?);
        if let Some(own) = self.changes.iter().rev().find(|change| change.is_of(&key, &part)) {
            return Ok(matches!(own.kind, What::SetAdd));
        }
        let there = structures.set_contains(&key, &part)?;
        self.reads.push(Seen { key, part, found: Found::Member(there) });
        Ok(there)
    }

    /// The score of a member of a sorted set, which must still be the same when the step is applied. The step's own changes are
    /// seen.
    pub fn zset_score<'s, K: ZsetKey>(
        &mut self,
        structures: &dyn Structures,
        key: &K,
        member: &K::Member<'_>,
    ) -> Result<Option<K::Score<'s>>, Error>
    where
        K::Score<'s>: Ranked,
    {
        in_space::<K>(structures)?;
        let (key, part) = (key.to_vec()?, member.to_vec()?);
        let own = self.changes.iter().rev().find(|change| change.is_of(&key, &part));
        let score = match own {
            Some(Change { kind: What::ZsetAdd(score), .. }) => Some(*score),
            Some(_) => None,
            None => {
                let score = structures.zset_score(&key, &part)?;
                self.reads.push(Seen { key, part, found: Found::Score(score) });
                score
            }
        };
        score.map(read_back::<K>).transpose()
    }

    /// Has a field be as it is known to be when the step is applied.
    pub(super) fn expect_field<K: HashKey>(
        &mut self,
        key: &K,
        part: Vec<u8>,
        value: Option<Vec<u8>>,
    ) -> Result<(), Error> {
        self.reads.push(Seen { key: key.to_vec()?, part, found: Found::Field(value) });
        Ok(())
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
    /// It is one step over what the structures' [`Atomicity`](super::raw::Atomicity) says, and over everything if something was
    /// read through it. Nothing is done if a change is of a family in another space, or if what was read has changed.
    pub fn apply(&self, structures: &dyn Structures, durability: Durability) -> Result<Vec<bool>, Error> {
        if !self.reads.is_empty() {
            return self.apply_whole(structures, durability);
        }
        self.replies(structures, |commands| structures.apply(commands, durability))
    }

    /// As [`apply`](Self::apply), as one step also on a server: all changes, or none.
    pub fn apply_whole(
        &self,
        structures: &dyn Structures,
        durability: Durability,
    ) -> Result<Vec<bool>, Error> {
        let reads: Vec<Expectation<'_>> = self.reads.iter().map(Seen::expectation).collect();
        self.replies(structures, |commands| structures.apply_if(&reads, commands, durability))
    }

    /// Fills a step and applies it. If something that it has read was changed meanwhile, it is filled again, up to 64 times.
    pub fn update<T>(
        structures: &dyn Structures,
        durability: Durability,
        mut fill: impl FnMut(&mut Self) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let mut tries = 0;
        loop {
            let mut step = Self::new();
            let filled = fill(&mut step)?;
            match step.apply_whole(structures, durability) {
                Ok(_) => return Ok(filled),
                Err(Error::Conflict) if tries < CONFLICTS => tries += 1,
                Err(error) => return Err(error),
            }
        }
    }

    fn replies(
        &self,
        structures: &dyn Structures,
        run: impl FnOnce(&[Command<'_>]) -> Result<Vec<Reply>, StructureError>,
    ) -> Result<Vec<bool>, Error> {
        for change in &self.changes {
            (change.space)(structures)?;
        }
        let commands: Vec<Command<'_>> = self.changes.iter().map(Change::command).collect();
        let replies = run(&commands).map_err(|error| match error {
            StructureError::Changed { .. } => Error::Conflict,
            error => error.into(),
        })?;
        Ok(replies.iter().map(|reply| matches!(reply, Reply::Changed(true))).collect())
    }
}

impl Seen {
    fn expectation(&self) -> Expectation<'_> {
        let (key, part) = (self.key.as_slice(), self.part.as_slice());
        match &self.found {
            Found::Member(there) => Expectation::Member { key, member: part, there: *there },
            Found::Field(value) => Expectation::Field { key, field: part, value: value.as_deref() },
            Found::Score(score) => Expectation::Score { key, member: part, score: *score },
        }
    }
}

impl Change {
    /// Whether it is of a part of a structure.
    fn is_of(&self, key: &[u8], part: &[u8]) -> bool {
        self.key == key && self.part == part
    }

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
