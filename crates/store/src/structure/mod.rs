//! Hashes, sorted sets, sets and queues under keys of bytes, in this process or on a server.
//!
//! [`Structures`] is the one interface. What reads is in [`StructureRead`], and everything that changes something is a
//! [`Command`]: [`Structures::apply`] takes a list of them, as one atomic step where the implementation can do that and
//! as one round trip in any case. What an implementation cannot do is in its [`StructureCapabilities`] and is refused by
//! name; nothing is imitated.
//!
//! A key holds one kind of thing, the first that is written under it, until that is empty again: a command for another
//! kind is [`StructureError::WrongKind`]. Something that is empty does not exist.

mod capabilities;
mod command;
mod embedded;
mod error;
mod expectation;
mod interface;
#[cfg(feature = "redis")]
mod redis;
mod score;
mod search;

pub use capabilities::{Atomicity, StructureCapabilities};
pub use command::{Claim, Claimed, Command, End, Now, Reply};
pub use embedded::{Embedded, StructureRow, Transaction, View};
pub(crate) use embedded::{
    Filling, Fresh, head_row, put_score, read_item, rows_of, take_score, thing_row, with_key,
};
pub use error::StructureError;
pub(crate) use error::hex;
pub use expectation::Expectation;
pub use interface::{
    Kind, Pair, QueueItem, QueueSize, QueueState, RangeQuery, Rows, Scored, StructureRead, Structures,
};
#[cfg(feature = "redis")]
pub use redis::{Redis, RedisSettings, URL_VARIABLE};
pub use score::{ScoreKind, ScoreRange, SetScore};
pub use search::{Hit, Search, SearchMode, SearchPage, SearchToken};
