use std::fmt;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// Why an engine did not do what it was asked for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Another writer changed what this batch depends on. Nothing was written; read again and retry.
    #[error("the batch conflicts with another writer's")]
    Conflict,
    /// Another process has taken over as the writer. This handle can never commit again.
    #[error("another process has taken over as the writer")]
    Fenced,
    /// The commit may or may not have happened. Only a read after reopening tells.
    #[error("the commit may or may not have been applied")]
    CommitUnknown {
        /// What went wrong on the way.
        source: Cause,
    },
    /// The server or the storage could not be reached. Nothing was written, and doing it again may succeed.
    #[error("{doing}: the database could not be reached; nothing was written")]
    Unavailable {
        /// What was being done.
        doing: &'static str,
        /// What went wrong on the way.
        source: Cause,
    },
    /// The snapshot is too old to be read.
    #[error("the snapshot is {age:?} old, and is kept for {limit:?}")]
    SnapshotExpired {
        /// Its age.
        age: Duration,
        /// The age at which it ends.
        limit: Duration,
    },
    /// A key, a value or a batch is over a limit. Nothing was written.
    #[error("{what} of {found} is over the limit of {limit}")]
    TooLarge {
        /// What is too large.
        what: TooLarge,
        /// The most that the engine takes.
        limit: u64,
        /// How much it was.
        found: u64,
    },
    /// The engine cannot do this.
    #[error("the engine `{engine}` has no {what}")]
    Unsupported {
        /// The engine.
        engine: &'static str,
        /// What it lacks.
        what: &'static str,
    },
    /// Another handle, in this process or another, has the database open.
    #[error("`{}` is already open, in this process or another", path.display())]
    AlreadyOpen {
        /// The database.
        path: PathBuf,
    },
    /// There is no database there.
    #[error("`{}` holds no database of this engine", path.display())]
    NotFound {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// There is a database of another engine there.
    #[error("`{}` holds a database of the engine `{found}`", path.display())]
    OtherEngine {
        /// The directory.
        path: PathBuf,
        /// The engine that made it.
        found: &'static str,
    },
    /// A write failed earlier, and the engine refuses to go on with a state that it does not know.
    #[error("an earlier write failed: the database must be opened again")]
    Poisoned {
        /// Why it failed, as far as that can still be seen.
        source: Option<Cause>,
    },
    /// The handle was shut down, or opened for reading only.
    #[error("the database is closed to writes")]
    Closed,
    /// The time allowed ran out. What was committed is kept.
    #[error("not done within {limit:?}")]
    Deadline {
        /// The time allowed.
        limit: Duration,
    },
    /// The files do not hold what they were written with.
    #[error("the database is damaged: {what}")]
    Corrupt {
        /// Where the damage shows.
        what: String,
        /// What the engine found.
        source: Option<Cause>,
    },
    /// The files were written by a version that this one cannot read.
    #[error("the database has a format that this version cannot read: {what}")]
    Format {
        /// What the engine found.
        what: String,
    },
    /// No space has this number.
    #[error("there is no space {number}")]
    NoSpace {
        /// The number asked for.
        number: u32,
    },
    /// A space is of another kind than was asked for.
    #[error("space `{space}` is a {found}, not a {expected}")]
    SpaceKind {
        /// The space.
        space: String,
        /// What it was taken for.
        expected: &'static str,
        /// What it is.
        found: &'static str,
    },
    /// A name that the engine cannot use for a space.
    #[error("`{name}` cannot be the name of a space")]
    SpaceName {
        /// The name.
        name: String,
    },
    /// A setting is outside of what the engine takes.
    #[error("the setting `{name}` is {found}: {expected}")]
    Setting {
        /// The setting.
        name: &'static str,
        /// What was asked for.
        found: u64,
        /// What it may be.
        expected: &'static str,
    },
    /// Rows came in another order than ascending keys.
    #[error("key 0x{key} does not come after the one before it")]
    Unsorted {
        /// The key, in base 16.
        key: String,
    },
    /// The operating system refused.
    #[error("{doing} failed")]
    Io {
        /// What was being done.
        doing: &'static str,
        /// What it said.
        source: io::Error,
    },
    /// Anything else that the engine reports.
    #[error("the engine failed")]
    Engine {
        /// What it reports.
        source: Cause,
    },
}

/// An error from below.
pub(crate) type Cause = Box<dyn std::error::Error + Send + Sync + 'static>;

impl Error {
    /// Whether doing the same again, on the same handle, can succeed: nothing was written, and the cause passes.
    pub const fn is_retryable(&self) -> bool {
        matches!(
            self,
            Self::Conflict
                | Self::SnapshotExpired { .. }
                | Self::AlreadyOpen { .. }
                | Self::Unavailable { .. }
        )
    }

    /// Whether this handle can write nothing more.
    pub const fn is_fatal(&self) -> bool {
        matches!(
            self,
            Self::Fenced
                | Self::Poisoned { .. }
                | Self::CommitUnknown { .. }
                | Self::Corrupt { .. }
                | Self::Closed
        )
    }

    #[cfg(any(feature = "fjall", feature = "redb"))]
    pub(crate) fn corrupt(what: impl Into<String>) -> Self {
        Self::Corrupt { what: what.into(), source: None }
    }

    pub(crate) fn io(doing: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { doing, source }
    }
}

/// What can be over a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TooLarge {
    /// A key, in bytes.
    Key,
    /// A value, in bytes.
    Value,
    /// The operations of a batch.
    BatchOperations,
    /// The bytes of a batch.
    BatchBytes,
}

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Key => "a key, in bytes,",
            Self::Value => "a value, in bytes,",
            Self::BatchOperations => "a batch, in operations,",
            Self::BatchBytes => "a batch, in bytes,",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_says_whether_to_try_again_or_to_give_up() {
        let (age, limit) = (Duration::from_secs(2), Duration::from_secs(1));
        let again = [Error::Conflict, Error::SnapshotExpired { age, limit }];
        let over = [Error::Fenced, Error::CommitUnknown { source: "the connection broke".into() }];
        let neither = [
            Error::TooLarge { what: TooLarge::BatchBytes, limit: 1, found: 2 },
            Error::Unsupported { engine: "memory", what: "spaces with several values for a key" },
        ];
        let said = |errors: &[Error]| -> Vec<(bool, bool)> {
            errors.iter().map(|error| (error.is_retryable(), error.is_fatal())).collect()
        };
        assert_eq!(said(&again), [(true, false); 2]);
        assert_eq!(said(&over), [(false, true); 2]);
        assert_eq!(said(&neither), [(false, false); 2]);
        assert_eq!(neither[0].to_string(), "a batch, in bytes, of 2 is over the limit of 1");
    }
}
