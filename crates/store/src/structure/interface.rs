use std::fmt;

use super::{
    Claim, Claimed, Command, End, Expectation, Reply, ScoreRange, SetScore, StructureCapabilities,
    StructureError,
};
use crate::engine::Durability;
use crate::page::Direction;

/// What is found, one after the other, read as it is asked for. The first error ends it.
pub type Rows<'s, T> = Box<dyn Iterator<Item = Result<T, StructureError>> + Send + 's>;

/// A key or a field, and its value.
pub type Pair = (Vec<u8>, Vec<u8>);

/// What a key holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A value.
    Value,
    /// Members without a rank.
    Set,
    /// Fields with values.
    Hash,
    /// Members with scores.
    Zset,
    /// Members with scores that workers claim and acknowledge.
    Queue,
}

impl Kind {
    /// The word in messages.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Value => "plain value",
            Self::Set => "set",
            Self::Hash => "hash",
            Self::Zset => "sorted set",
            Self::Queue => "queue",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// A member of a sorted set.
#[derive(Clone, Debug, PartialEq)]
pub struct Scored {
    /// The member.
    pub member: Vec<u8>,
    /// Its score.
    pub score: SetScore,
}

/// What is asked of a sorted set.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RangeQuery {
    /// The scores.
    pub scores: ScoreRange,
    /// From which end.
    pub direction: Direction,
    /// How many members are passed over. This costs as much as reading them: go on from a member instead.
    pub offset: u64,
    /// How many members are returned, at most.
    pub limit: Option<u64>,
}

/// How many items a queue has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueSize {
    /// Those that wait.
    pub waiting: u64,
    /// Those that a worker holds, or held when it was last looked at.
    pub claimed: u64,
    /// Those that were given up.
    pub dead: u64,
}

/// An item of a queue.
#[derive(Clone, Debug, PartialEq)]
pub struct QueueItem {
    /// The item.
    pub member: Vec<u8>,
    /// What it is ranked by.
    pub score: SetScore,
    /// How often it was claimed.
    pub attempts: u32,
    /// Where it is.
    pub state: QueueState,
}

/// Where an item of a queue is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueState {
    /// It waits.
    Waiting,
    /// A worker holds it until this time, in milliseconds since 1970.
    Claimed {
        /// The end of the lease.
        until: u64,
    },
    /// It was given up.
    Dead,
}

/// Reads of structures. Something that does not exist reads as empty.
///
/// What is called `…_many` or `…_each` is one round trip. What returns [`Rows`] reads a page at a time: dropping it
/// early costs nothing more. Order is that of bytes if [`StructureCapabilities::ordered_members`], else any.
pub trait StructureRead: fmt::Debug + Send + Sync {
    /// The space of the plan that the structures are in; `None` if they are in no space, as on a server.
    fn space_name(&self) -> Option<&str> {
        None
    }

    /// What a key holds, if anything.
    fn kind(&self, key: &[u8]) -> Result<Option<Kind>, StructureError>;

    /// The keys of a kind that begin with a prefix.
    fn keys(&self, kind: Kind, prefix: &[u8]) -> Result<Rows<'_, Vec<u8>>, StructureError>;

    /// The value of a plain key.
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StructureError>;

    /// The values of plain keys: one slot for each, in the order given.
    fn get_many(&self, keys: &[&[u8]]) -> Result<Vec<Option<Vec<u8>>>, StructureError>;

    /// The plain keys that begin with a prefix, with their values. The prefix is bytes, never a pattern.
    fn scan(&self, prefix: &[u8]) -> Result<Rows<'_, Pair>, StructureError>;

    /// Whether a set has a member.
    fn set_contains(&self, key: &[u8], member: &[u8]) -> Result<bool, StructureError>;

    /// Whether a set has members: one answer for each, in the order given.
    fn set_contains_many(&self, key: &[u8], members: &[&[u8]]) -> Result<Vec<bool>, StructureError>;

    /// The members of a set.
    fn set_members(&self, key: &[u8]) -> Result<Rows<'_, Vec<u8>>, StructureError>;

    /// How many members a set has. This costs the same for every set.
    fn set_count(&self, key: &[u8]) -> Result<u64, StructureError>;

    /// The value of a field of a hash.
    fn hash_get(&self, key: &[u8], field: &[u8]) -> Result<Option<Vec<u8>>, StructureError>;

    /// The values of fields of a hash: one slot for each, in the order given.
    fn hash_get_many(&self, key: &[u8], fields: &[&[u8]]) -> Result<Vec<Option<Vec<u8>>>, StructureError>;

    /// The values of fields of several hashes, given as key and field: one slot for each, in the order given.
    fn hash_get_each(&self, places: &[(&[u8], &[u8])]) -> Result<Vec<Option<Vec<u8>>>, StructureError>;

    /// The fields of a hash with their values.
    fn hash_all(&self, key: &[u8]) -> Result<Rows<'_, Pair>, StructureError>;

    /// How many fields a hash has. This costs the same for every hash.
    fn hash_count(&self, key: &[u8]) -> Result<u64, StructureError>;

    /// The score of a member of a sorted set.
    fn zset_score(&self, key: &[u8], member: &[u8]) -> Result<Option<SetScore>, StructureError>;

    /// The scores of members of several sorted sets, given as key and member: one slot for each, in the order given.
    fn zset_score_each(&self, places: &[(&[u8], &[u8])]) -> Result<Vec<Option<SetScore>>, StructureError>;

    /// How many members a sorted set has. This costs the same for every sorted set.
    fn zset_count(&self, key: &[u8]) -> Result<u64, StructureError>;

    /// The sum of the scores in a range, which are numbers. This reads them all.
    fn zset_sum(&self, key: &[u8], scores: &ScoreRange) -> Result<f64, StructureError>;

    /// How many members come before a member, from one end. This may read them all.
    fn zset_rank(
        &self,
        key: &[u8],
        member: &[u8],
        direction: Direction,
    ) -> Result<Option<u64>, StructureError>;

    /// Members of a sorted set in the order of their scores, and of their bytes among those of one score.
    fn zset_range(&self, key: &[u8], query: &RangeQuery) -> Result<Vec<Scored>, StructureError>;

    /// Members of a sorted set in the same order, read as they are asked for; from after a member, if one is given.
    ///
    /// The member need not be there any more: its score and bytes say where to go on.
    fn zset_rows(
        &self,
        key: &[u8],
        scores: &ScoreRange,
        direction: Direction,
        after: Option<&Scored>,
    ) -> Result<Rows<'_, Scored>, StructureError>;

    /// How many items a queue has. This costs the same for every queue.
    fn queue_size(&self, key: &[u8]) -> Result<QueueSize, StructureError>;

    /// The first items that wait, in order; those whose lease has run out are not among them before a claim finds them.
    fn queue_peek(&self, key: &[u8], count: usize) -> Result<Vec<Scored>, StructureError>;

    /// What is known of an item: its score, how often it was claimed, and where it is.
    fn queue_item(&self, key: &[u8], member: &[u8]) -> Result<Option<QueueItem>, StructureError>;

    /// The items that were given up.
    fn queue_dead(&self, key: &[u8]) -> Result<Rows<'_, QueueItem>, StructureError>;

    /// All items of a queue, wherever they are, in any order.
    fn queue_items(&self, key: &[u8]) -> Result<Rows<'_, QueueItem>, StructureError>;
}

/// Structures that can be read and changed.
pub trait Structures: StructureRead {
    /// What this implementation can do.
    fn capabilities(&self) -> StructureCapabilities;

    /// Does the commands in their order, and returns a reply for each. Each sees what those before it did.
    ///
    /// It is one round trip, and one step over what [`StructureCapabilities::atomicity`] says.
    fn apply(&self, commands: &[Command<'_>], durability: Durability) -> Result<Vec<Reply>, StructureError>;

    /// Does the commands in their order as one step, if everything is as expected, and returns a reply for each. Otherwise
    /// nothing is done: [`StructureError::Changed`].
    ///
    /// It is one step also where [`apply`](Self::apply) is not. On a cluster all keys must lie in one slot, or it is refused before
    /// anything is sent; on a server of whichever kind, a key may hold one kind of thing from the first command to the last.
    fn apply_if(
        &self,
        expected: &[Expectation<'_>],
        commands: &[Command<'_>],
        durability: Durability,
    ) -> Result<Vec<Reply>, StructureError>;

    /// The time by the clock next to the data, of this machine or of the server: milliseconds since 1970.
    fn clock(&self) -> Result<u64, StructureError>;

    /// A view of one moment over all structures. Refused if there are no snapshots.
    fn snapshot(&self) -> Result<Box<dyn StructureRead + '_>, StructureError>;

    /// Does one command.
    fn apply_one(&self, command: Command<'_>) -> Result<Reply, StructureError> {
        let reply = self.apply(&[command], Durability::Buffer)?.pop();
        reply.ok_or_else(|| no_reply("none"))
    }

    /// [`Command::Put`].
    fn put(&self, key: &[u8], value: &[u8]) -> Result<bool, StructureError> {
        changed(&self.apply_one(Command::Put { key, value })?)
    }

    /// [`Command::Delete`].
    fn delete(&self, key: &[u8]) -> Result<bool, StructureError> {
        changed(&self.apply_one(Command::Delete { key })?)
    }

    /// [`Command::SetAdd`].
    fn set_add(&self, key: &[u8], member: &[u8]) -> Result<bool, StructureError> {
        changed(&self.apply_one(Command::SetAdd { key, member })?)
    }

    /// [`Command::SetRemove`].
    fn set_remove(&self, key: &[u8], member: &[u8]) -> Result<bool, StructureError> {
        changed(&self.apply_one(Command::SetRemove { key, member })?)
    }

    /// [`Command::HashSet`].
    fn hash_set(&self, key: &[u8], field: &[u8], value: &[u8]) -> Result<bool, StructureError> {
        changed(&self.apply_one(Command::HashSet { key, field, value })?)
    }

    /// [`Command::HashDelete`].
    fn hash_delete(&self, key: &[u8], field: &[u8]) -> Result<bool, StructureError> {
        changed(&self.apply_one(Command::HashDelete { key, field })?)
    }

    /// [`Command::ZsetAdd`].
    fn zset_add(&self, key: &[u8], member: &[u8], score: SetScore) -> Result<bool, StructureError> {
        changed(&self.apply_one(Command::ZsetAdd { key, member, score })?)
    }

    /// [`Command::ZsetRemove`].
    fn zset_remove(&self, key: &[u8], member: &[u8]) -> Result<bool, StructureError> {
        changed(&self.apply_one(Command::ZsetRemove { key, member })?)
    }

    /// [`Command::ZsetIncrement`].
    fn zset_increment(&self, key: &[u8], member: &[u8], by: f64) -> Result<f64, StructureError> {
        match self.apply_one(Command::ZsetIncrement { key, member, by })? {
            Reply::Number(number) => Ok(number),
            _ => Err(no_reply("another")),
        }
    }

    /// [`Command::ZsetPop`].
    fn zset_pop(&self, key: &[u8], end: End, count: usize) -> Result<Vec<Scored>, StructureError> {
        match self.apply_one(Command::ZsetPop { key, end, count })? {
            Reply::Members(members) => Ok(members),
            _ => Err(no_reply("another")),
        }
    }

    /// [`Command::ZsetRemoveRange`].
    fn zset_remove_range(&self, key: &[u8], scores: ScoreRange) -> Result<u64, StructureError> {
        match self.apply_one(Command::ZsetRemoveRange { key, scores })? {
            Reply::Count(count) => Ok(count),
            _ => Err(no_reply("another")),
        }
    }

    /// [`Command::QueuePush`].
    fn queue_push(&self, key: &[u8], member: &[u8], score: SetScore) -> Result<bool, StructureError> {
        changed(&self.apply_one(Command::QueuePush { key, member, score })?)
    }

    /// [`Command::QueueClaim`].
    fn queue_claim(&self, key: &[u8], claim: Claim) -> Result<Vec<Claimed>, StructureError> {
        match self.apply_one(Command::QueueClaim { key, claim })? {
            Reply::Claimed(items) => Ok(items),
            _ => Err(no_reply("another")),
        }
    }

    /// [`Command::QueueAcknowledge`].
    fn queue_acknowledge(&self, key: &[u8], member: &[u8], receipt: u64) -> Result<bool, StructureError> {
        changed(&self.apply_one(Command::QueueAcknowledge { key, member, receipt })?)
    }

    /// [`Command::QueueRelease`].
    fn queue_release(&self, key: &[u8], member: &[u8], receipt: u64) -> Result<bool, StructureError> {
        changed(&self.apply_one(Command::QueueRelease { key, member, receipt })?)
    }

    /// [`Command::QueueBury`].
    fn queue_bury(&self, key: &[u8], member: &[u8], receipt: u64) -> Result<bool, StructureError> {
        changed(&self.apply_one(Command::QueueBury { key, member, receipt })?)
    }

    /// [`Command::QueueRemove`].
    fn queue_remove(&self, key: &[u8], member: &[u8]) -> Result<bool, StructureError> {
        changed(&self.apply_one(Command::QueueRemove { key, member })?)
    }
}

fn changed(reply: &Reply) -> Result<bool, StructureError> {
    match reply {
        Reply::Changed(changed) => Ok(*changed),
        _ => Err(no_reply("another")),
    }
}

/// The sum of scores that are numbers.
pub(super) fn total(rows: Rows<'_, Scored>) -> Result<f64, StructureError> {
    let mut sum = 0.0;
    for row in rows {
        if let SetScore::Number(number) = row?.score {
            sum += number;
        }
    }
    // −∞ and ∞ have no sum.
    if sum.is_nan() { Err(StructureError::NotANumber) } else { Ok(sum) }
}

#[cold]
fn no_reply(found: &str) -> StructureError {
    StructureError::Answer { what: format!("{found} than the reply of the command") }
}
