use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use redb::Database;

use crate::engine::{Error, Space, SpaceKind};

/// Runs a call of the engine. It asserts what it expects of its own file, and panics on a damaged one; that ends here.
#[inline]
pub(super) fn guarded<T>(call: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|panic| Err(panicked(panic.as_ref())))
}

#[cold]
pub(super) fn panicked(panic: &(dyn std::any::Any + Send)) -> Error {
    let message = panic.downcast_ref::<String>().cloned();
    let message =
        message.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string)).unwrap_or_default();
    Error::corrupt(format!("the engine met what it does not expect: {message}"))
}

pub(super) fn check_integrity(database: &mut Database) -> Result<(), Error> {
    guarded(|| match database.check_integrity() {
        Ok(true) => Ok(()),
        Ok(false) => {
            Err(Error::corrupt("a checksum did not match, and the file was put back to an earlier commit"))
        }
        Err(error) => Err(opening(error, Path::new(""))),
    })
}

#[cold]
pub(super) fn kind(space: &Space, expected: SpaceKind) -> Error {
    Error::SpaceKind { space: space.name.clone(), expected: expected.word(), found: space.kind.word() }
}

#[cold]
pub(super) fn opening(error: redb::DatabaseError, path: &Path) -> Error {
    match error {
        redb::DatabaseError::DatabaseAlreadyOpen => Error::AlreadyOpen { path: path.to_owned() },
        redb::DatabaseError::UpgradeRequired(version) => Error::Format { what: format!("version {version}") },
        other => translated(other),
    }
}

#[cold]
pub(super) fn translated(error: impl Into<redb::Error>) -> Error {
    match error.into() {
        redb::Error::Io(source)
            if matches!(
                source.kind(),
                std::io::ErrorKind::InvalidData | std::io::ErrorKind::UnexpectedEof
            ) =>
        {
            Error::Corrupt {
                what: "a file is shorter or other than it says".into(),
                source: Some(Box::new(source)),
            }
        }
        redb::Error::Io(source) => Error::Io { doing: "reading or writing the database", source },
        redb::Error::PreviousIo | redb::Error::LockPoisoned(_) => Error::Poisoned { source: None },
        redb::Error::DatabaseClosed => Error::Closed,
        redb::Error::Corrupted(what) => Error::corrupt(what),
        redb::Error::TableIsMultimap(space) => {
            Error::SpaceKind { space, expected: SpaceKind::Map.word(), found: SpaceKind::Multimap.word() }
        }
        redb::Error::TableIsNotMultimap(space) => {
            Error::SpaceKind { space, expected: SpaceKind::Multimap.word(), found: SpaceKind::Map.word() }
        }
        other => Error::Engine { source: Box::new(other) },
    }
}
