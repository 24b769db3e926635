use std::time::Duration;

use keyplan_codec::{DecodeError, EncodeError};

use super::{Kind, ScoreKind};
use crate::engine;
use crate::error::{StoreError, TokenFault};

/// Why a structure could not be read or changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StructureError {
    /// The store below could not do it. Nothing was changed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The key holds something else.
    #[error("key 0x{} is a {found}, and was used as a {expected}", hex(key))]
    WrongKind {
        /// The key.
        key: Vec<u8>,
        /// What it was used as.
        expected: Kind,
        /// What it holds.
        found: Kind,
    },
    /// The members of the set are ranked by scores of another kind.
    #[error("the members of key 0x{} are ranked by {found}, not by {given}", hex(key))]
    WrongScores {
        /// The key.
        key: Vec<u8>,
        /// The kind of score given.
        given: ScoreKind,
        /// The kind that the set has.
        found: ScoreKind,
    },
    /// A score is NaN, or would become so.
    #[error("a score is not a number")]
    NotANumber,
    /// A score that does not exist, or has no float.
    #[error("a score that does not exist")]
    Score {
        /// What is wrong with it.
        source: EncodeError,
    },
    /// The implementation cannot do this.
    #[error("`{name}` has no {what}")]
    Unsupported {
        /// The implementation.
        name: &'static str,
        /// What it lacks.
        what: &'static str,
    },
    /// A row is not what this layout writes.
    #[error("row 0x{} of the space `{space}` is damaged, or of another layout", hex(key))]
    Row {
        /// The space.
        space: String,
        /// The row's key.
        key: Vec<u8>,
        /// What is wrong with it.
        source: DecodeError,
    },
    /// A page token cannot be used here.
    #[error("the page token {0}")]
    Token(#[from] TokenFault),
    /// Settings name no server, or contradict each other.
    #[error("settings that cannot be used: {what}")]
    Settings {
        /// What is wrong with them.
        what: String,
    },
    /// A server could not be reached, or the connection broke. What was sent may or may not have been done.
    #[error("the server cannot be reached: {what}")]
    Connection {
        /// What was being done.
        what: String,
        /// What went wrong.
        source: Option<engine::Cause>,
    },
    /// A server did not answer in time. What was sent may or may not have been done.
    #[error("the server did not answer within {limit:?}")]
    Timeout {
        /// The time allowed.
        limit: Duration,
    },
    /// A server answered with an error.
    #[error("the server refused: {what}")]
    Refused {
        /// What it said.
        what: String,
    },
    /// A server answered with something that this is not an answer to.
    #[error("the server gave an answer that cannot be read: {what}")]
    Answer {
        /// What was expected, and what came.
        what: String,
    },
    /// A command of a transaction failed earlier, and the rest would be half of what was meant.
    #[error("a command of the transaction failed: it cannot be committed")]
    Abandoned,
    /// Something that commands were made from has changed since it was read. Nothing was done.
    #[error("what was read under key 0x{} has changed since, and nothing was done: read it again", hex(key))]
    Changed {
        /// The key.
        key: Vec<u8>,
    },
    /// Commands that are done together have keys that a cluster keeps in different slots. Nothing was sent.
    #[error(
        "keys 0x{} and 0x{} lie in different slots of the cluster, and commands that are done together in one: write the same \
         `{{tag}}` in both",
        hex(first),
        hex(other)
    )]
    Slots {
        /// One of the keys.
        first: Vec<u8>,
        /// Another one.
        other: Vec<u8>,
    },
    /// A list of commands that is not one step failed at one of them: those before it were done.
    #[error("command {at} failed, and {at} before it were done")]
    Partly {
        /// The number of the command, from 0.
        at: usize,
        /// Why it failed.
        source: Box<StructureError>,
    },
}

impl StructureError {
    /// Whether another writer was quicker: nothing was changed, and trying again may succeed.
    pub const fn is_conflict(&self) -> bool {
        matches!(self, Self::Store(StoreError::Engine(engine::Error::Conflict)))
    }
}

impl From<engine::Error> for StructureError {
    fn from(error: engine::Error) -> Self {
        Self::Store(error.into())
    }
}

/// Bytes in base 16, cut if there are many.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    const SHOWN: usize = 64;
    let mut text = String::new();
    for byte in bytes.iter().take(SHOWN) {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
    }
    if bytes.len() > SHOWN {
        let _ = write!(text, "… ({} bytes)", bytes.len());
    }
    text
}
