use super::Layout;
use crate::onesat_v2 as v2;

/// A sorted set of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SortedSet<'a> {
    /// Outputs that have raised an event.
    Event(&'a str),
    /// The same outputs once they are spent.
    EventSpent(&'a str),
    /// Outputs that a topic has admitted.
    TopicOutputs(&'a str),
    /// Transactions that a topic has applied.
    TopicTxs(&'a str),
    /// What a worker has gone through: transactions.
    Log(&'a str),
    /// Outputs of a topic by the state of their Merkle proof.
    MerkleState {
        /// The topic.
        topic: &'a str,
        /// The state.
        state: u32,
    },
}

/// A queue of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QueueName<'a> {
    /// Transactions that a subscription has announced.
    Subscription(&'a str),
    /// Outputs of a token that wait to be validated.
    Token(&'a str),
}

/// A set of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TokenList {
    /// Tokens that are always indexed.
    Whitelist,
    /// Tokens that are never indexed.
    Blacklist,
}

impl TokenList {
    /// The name of the set.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Whitelist => v2::SetName::BSV21_WHITELIST,
            Self::Blacklist => v2::SetName::BSV21_BLACKLIST,
        }
    }
}

impl SortedSet<'_> {
    /// Whether its members are outputs; otherwise they are transactions.
    pub(super) const fn holds_outputs(&self) -> bool {
        !matches!(self, Self::TopicTxs(_) | Self::Log(_))
    }
}

impl QueueName<'_> {
    /// Whether its items are outputs; otherwise they are transactions.
    pub(super) const fn holds_outputs(&self) -> bool {
        matches!(self, Self::Token(_))
    }
}

impl Layout {
    /// Whether what a transaction has replaced is kept under the layout.
    pub(super) const fn keeps_undo(self) -> bool {
        matches!(self, Self::V2)
    }
}
