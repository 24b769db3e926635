use std::time::Duration;

use deadpool_postgres::PoolError;
use keyplan_store::engine::{Error, TooLarge};

/// Why the server did not do what it was asked for.
#[derive(Debug)]
pub(crate) enum Failure {
    /// It refused: another writer has changed what the batch depends on. Nothing was written.
    Conflict,
    /// It refused: this writer was fenced. Nothing was written.
    Fenced,
    /// It refused: it does not have everything that it acknowledged to this writer. Nothing was written.
    Lost,
    /// It refused for another reason. Nothing was written.
    Refused(tokio_postgres::Error),
    /// It takes no writes: it is a replica, or has become one.
    ReadOnly,
    /// The connection was lost, or the server is going down: what was sent may have been done.
    Broken(Box<dyn std::error::Error + Send + Sync>),
    /// There is no connection: nothing was sent.
    Unreachable(Box<dyn std::error::Error + Send + Sync>),
    /// No answer came in time: what was sent may have been done.
    Late(Duration),
}

/// The codes that our own functions raise.
pub(crate) const FENCED: &str = "KP001";
pub(crate) const LOST: &str = "KP002";
pub(crate) const CONFLICT: &str = "KP003";

impl From<tokio_postgres::Error> for Failure {
    fn from(error: tokio_postgres::Error) -> Self {
        let Some(code) = error.code().map(|code| code.code().to_owned()) else {
            return Self::Broken(error.into());
        };
        match code.as_str() {
            FENCED => Self::Fenced,
            LOST => Self::Lost,
            // Serialization failure, deadlock.
            CONFLICT | "40001" | "40P01" => Self::Conflict,
            "25006" => Self::ReadOnly,
            // Going down, crashed, starting, too many connections, the outcome of a statement is not known, idle for too long.
            "57P01" | "57P02" | "57P03" | "57P05" | "53300" | "40003" | "25P03" | "25P04" => {
                Self::Broken(error.into())
            }
            code if code.starts_with("08") => Self::Broken(error.into()),
            _ => Self::Refused(error),
        }
    }
}

impl From<PoolError> for Failure {
    fn from(error: PoolError) -> Self {
        match error {
            PoolError::Backend(error) if error.code().is_some() => match Self::from(error) {
                Self::Broken(error) => Self::Unreachable(error),
                other => other,
            },
            other => Self::Unreachable(other.into()),
        }
    }
}

impl Failure {
    /// Whether what was sent may have been done.
    pub(crate) const fn is_unknown(&self) -> bool {
        matches!(self, Self::Broken(_) | Self::Late(_))
    }

    /// Whether another try, on another connection, may go better.
    pub(crate) const fn passes(&self) -> bool {
        matches!(self, Self::Broken(_) | Self::Unreachable(_) | Self::ReadOnly)
    }

    /// As an error of something that only reads, or that certainly was not done.
    pub(crate) fn of(self, doing: &'static str) -> Error {
        match self {
            Self::Conflict => Error::Conflict,
            Self::Fenced => Error::Fenced,
            Self::Lost => Error::CommitUnknown { source: LOST_BATCHES.into() },
            Self::ReadOnly => {
                Error::Unavailable { doing, source: "the server takes no writes: it is a replica".into() }
            }
            Self::Refused(error) => refused(error),
            Self::Broken(source) | Self::Unreachable(source) => Error::Unavailable { doing, source },
            Self::Late(limit) => Error::Deadline { limit },
        }
    }
}

/// What is said of a server that took over without everything that was acknowledged.
pub(crate) const LOST_BATCHES: &str = "the server has an earlier state than it acknowledged to this writer: another has \
                                       taken over that lacks the last batches";

fn refused(error: tokio_postgres::Error) -> Error {
    // A program limit, out of memory for one message: nothing else of ours can reach them.
    if error.code().is_some_and(|code| matches!(code.code(), "54000" | "53200")) {
        return Error::TooLarge { what: TooLarge::BatchBytes, limit: 0, found: 0 };
    }
    Error::Engine { source: error.into() }
}
