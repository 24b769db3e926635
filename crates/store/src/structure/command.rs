use std::time::Duration;

use super::{QueueState, ScoreRange, Scored, SetScore};

/// One change to one structure. It borrows what it writes.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Command<'a> {
    /// Gives a plain key a value. [`Reply::Changed`]: whether the key is new.
    Put {
        /// The key.
        key: &'a [u8],
        /// Its value.
        value: &'a [u8],
    },
    /// Deletes a plain key. [`Reply::Changed`]: whether it was there.
    Delete {
        /// The key.
        key: &'a [u8],
    },
    /// Adds a member to a set. [`Reply::Changed`]: whether it is new.
    SetAdd {
        /// The set.
        key: &'a [u8],
        /// The member.
        member: &'a [u8],
    },
    /// Removes a member from a set. [`Reply::Changed`]: whether it was there.
    SetRemove {
        /// The set.
        key: &'a [u8],
        /// The member.
        member: &'a [u8],
    },
    /// Gives a field of a hash a value. [`Reply::Changed`]: whether the field is new.
    HashSet {
        /// The hash.
        key: &'a [u8],
        /// The field.
        field: &'a [u8],
        /// Its value.
        value: &'a [u8],
    },
    /// Deletes a field of a hash. [`Reply::Changed`]: whether it was there.
    HashDelete {
        /// The hash.
        key: &'a [u8],
        /// The field.
        field: &'a [u8],
    },
    /// Adds a member to a sorted set, or gives it another score. [`Reply::Changed`]: whether it is new.
    ZsetAdd {
        /// The sorted set.
        key: &'a [u8],
        /// The member.
        member: &'a [u8],
        /// Its score.
        score: SetScore,
    },
    /// Removes a member from a sorted set. [`Reply::Changed`]: whether it was there.
    ZsetRemove {
        /// The sorted set.
        key: &'a [u8],
        /// The member.
        member: &'a [u8],
    },
    /// Adds to the score of a member, which is 0 if there is no such member. [`Reply::Number`]: its score then.
    ZsetIncrement {
        /// The sorted set.
        key: &'a [u8],
        /// The member.
        member: &'a [u8],
        /// What is added.
        by: f64,
    },
    /// Takes members from one end of a sorted set. [`Reply::Members`]: those taken, from that end on.
    ZsetPop {
        /// The sorted set.
        key: &'a [u8],
        /// The end.
        end: End,
        /// How many, at most.
        count: usize,
    },
    /// Removes the members of a sorted set whose scores lie in a range. [`Reply::Count`]: how many there were.
    ZsetRemoveRange {
        /// The sorted set.
        key: &'a [u8],
        /// The range.
        scores: ScoreRange,
    },
    /// Puts an item into a queue. [`Reply::Changed`]: whether it is new.
    ///
    /// An item that waits gets the new score. One that a worker holds stays with it, and comes back when the worker
    /// acknowledges it, so that no push is lost. One that is dead waits again, as if new.
    QueuePush {
        /// The queue.
        key: &'a [u8],
        /// The item.
        member: &'a [u8],
        /// What it is ranked by.
        score: SetScore,
    },
    /// Gives the first items that wait to one worker. [`Reply::Claimed`]: these items, in order.
    ///
    /// Items whose lease has run out are brought back first, or are dead if they were claimed often enough.
    QueueClaim {
        /// The queue.
        key: &'a [u8],
        /// How many, and for how long.
        claim: Claim,
    },
    /// Removes an item that a worker is done with. [`Reply::Changed`]: whether the worker still held it.
    QueueAcknowledge {
        /// The queue.
        key: &'a [u8],
        /// The item.
        member: &'a [u8],
        /// The receipt of the claim.
        receipt: u64,
    },
    /// Gives an item back, to be claimed again. [`Reply::Changed`]: whether the worker still held it.
    QueueRelease {
        /// The queue.
        key: &'a [u8],
        /// The item.
        member: &'a [u8],
        /// The receipt of the claim.
        receipt: u64,
    },
    /// Puts an item that a worker cannot do with the dead ones. [`Reply::Changed`]: whether the worker still held it.
    QueueBury {
        /// The queue.
        key: &'a [u8],
        /// The item.
        member: &'a [u8],
        /// The receipt of the claim.
        receipt: u64,
    },
    /// Puts an item where it was in another store, in place of one that is there. [`Reply::Changed`]: whether it is new.
    ///
    /// A lease goes on until its end; the receipt that its worker has is of the other store, and ends no lease here.
    QueueRestore {
        /// The queue.
        key: &'a [u8],
        /// The item.
        member: &'a [u8],
        /// Its score.
        score: SetScore,
        /// How often it was claimed.
        attempts: u32,
        /// Where it was.
        state: QueueState,
    },
    /// Removes an item, whoever holds it. [`Reply::Changed`]: whether it was there.
    QueueRemove {
        /// The queue.
        key: &'a [u8],
        /// The item.
        member: &'a [u8],
    },
}

impl<'a> Command<'a> {
    /// The key that it is about.
    pub const fn key(&self) -> &'a [u8] {
        match self {
            Self::Put { key, .. }
            | Self::Delete { key }
            | Self::SetAdd { key, .. }
            | Self::SetRemove { key, .. }
            | Self::HashSet { key, .. }
            | Self::HashDelete { key, .. }
            | Self::ZsetAdd { key, .. }
            | Self::ZsetRemove { key, .. }
            | Self::ZsetIncrement { key, .. }
            | Self::ZsetPop { key, .. }
            | Self::ZsetRemoveRange { key, .. }
            | Self::QueuePush { key, .. }
            | Self::QueueClaim { key, .. }
            | Self::QueueAcknowledge { key, .. }
            | Self::QueueRelease { key, .. }
            | Self::QueueBury { key, .. }
            | Self::QueueRestore { key, .. }
            | Self::QueueRemove { key, .. } => key,
        }
    }
}

/// What a command gives back; which one is in the documentation of the command.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Reply {
    /// Whether something came to be, or ceased to.
    Changed(bool),
    /// A number.
    Number(f64),
    /// How many.
    Count(u64),
    /// Members with their scores.
    Members(Vec<Scored>),
    /// Items that a worker holds now.
    Claimed(Vec<Claimed>),
}

/// An end of a sorted set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum End {
    /// Where the lowest scores are.
    Min,
    /// Where the highest scores are.
    Max,
}

/// What a worker asks a queue for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    /// How many items, at most.
    pub count: usize,
    /// How long the worker may hold them. Whole milliseconds; what is left over counts as one.
    pub lease: Duration,
    /// How often an item is claimed before it is dead; `None` for as often as need be.
    pub attempts: Option<u32>,
    /// The time.
    pub now: Now,
}

impl Claim {
    /// A claim by the clock of the store, without a limit of attempts.
    pub const fn new(count: usize, lease: Duration) -> Self {
        Self { count, lease, attempts: None, now: Now::Clock }
    }

    /// The same, of items that are dead once they were claimed this often.
    #[must_use]
    pub const fn attempts(mut self, most: u32) -> Self {
        self.attempts = Some(most);
        self
    }

    /// The same at a given time.
    #[must_use]
    pub const fn at(mut self, now: Now) -> Self {
        self.now = now;
        self
    }

    /// The lease in milliseconds.
    pub fn lease_millis(&self) -> u64 {
        let millis = self.lease.as_nanos().div_ceil(1_000_000);
        u64::try_from(millis).unwrap_or(u64::MAX)
    }
}

/// The time by which leases run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Now {
    /// That of the clock next to the data: of this machine, or of the server.
    Clock,
    /// Milliseconds since 1970.
    Millis(u64),
}

/// An item of a queue that a worker holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Claimed {
    /// The item.
    pub member: Vec<u8>,
    /// What it is ranked by.
    pub score: SetScore,
    /// How often it was claimed, this time included.
    pub attempts: u32,
    /// What shows that this worker holds it, and not one that held it before.
    pub receipt: u64,
}
