use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use fjall::LsmError;

use crate::engine::{Cause, Error};

/// Runs a call of the engine, and turns what goes wrong into our terms.
///
/// The engine asserts what it expects of its own files: on damaged ones it panics where it should report. That panic
/// ends here.
#[inline]
pub(super) fn guarded<T>(path: &Path, call: impl FnOnce() -> fjall::Result<T>) -> Result<T, Error> {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(translated(error, path)),
        Err(panic) => Err(panicked(panic.as_ref(), path)),
    }
}

/// An error of a commit: input or output that failed leaves it open whether the batch is there.
pub(super) fn failed_commit(error: Error) -> Error {
    match error {
        Error::Io { .. } | Error::Engine { .. } => Error::CommitUnknown { source: Box::new(error) },
        other => other,
    }
}

/// An error of opening a database that is there: files that it names and lacks, or that end too soon, are damage.
pub(super) fn opening(error: Error) -> Error {
    match error {
        Error::Io { source, .. }
            if matches!(source.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::InvalidInput) =>
        {
            Error::Corrupt {
                what: "a file that is needed is missing or cut".into(),
                source: Some(Box::new(source)),
            }
        }
        other => other,
    }
}

#[cold]
pub(super) fn panicked(panic: &(dyn std::any::Any + Send), path: &Path) -> Error {
    let message = panic.downcast_ref::<String>().cloned();
    let message = message.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
    let message = message.unwrap_or_default();
    if message.contains("lock is poisoned") || message.contains("PoisonError") {
        return poisoned(path);
    }
    Error::corrupt(format!("the engine met what it does not expect: {message}"))
}

#[cold]
pub(super) fn translated(error: fjall::Error, path: &Path) -> Error {
    match error {
        fjall::Error::Locked => Error::AlreadyOpen { path: path.to_owned() },
        fjall::Error::Poisoned => poisoned(path),
        fjall::Error::Io(source) | fjall::Error::Storage(LsmError::Io(source)) => io(source),
        fjall::Error::InvalidVersion(Some(version)) => Error::Format { what: format!("version {version:?}") },
        fjall::Error::InvalidVersion(None) => Error::Format { what: "no version that is known".into() },
        fjall::Error::KeyspaceDeleted => Error::Engine { source: Box::new(error) },
        other => Error::Corrupt { what: damage(&other).into(), source: Some(Box::new(other)) },
    }
}

/// What fails on a thread of the engine leaves nothing but a flag: the cause is looked for where it shows still.
#[cold]
fn poisoned(path: &Path) -> Error {
    Error::Poisoned { source: room(path).or_else(|| refusal(path)).map(|error| Box::new(error) as Cause) }
}

/// The bytes that a flush needs: a disk with less is full.
const ROOM: u64 = 64 * 1024 * 1024;

/// An error that says how little room there is on the disk.
#[cfg(unix)]
fn room(path: &Path) -> Option<std::io::Error> {
    let disk = rustix::fs::statvfs(path).ok()?;
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    let full = std::io::ErrorKind::StorageFull;
    (free < ROOM).then(|| std::io::Error::new(full, format!("the disk is full: {free} bytes are free")))
}

#[cfg(not(unix))]
fn room(_: &Path) -> Option<std::io::Error> {
    None
}

/// The error that writing to the directory meets now.
fn refusal(path: &Path) -> Option<std::io::Error> {
    let probe = path.join("keyplan.probe");
    let written = std::fs::write(&probe, [0; 4096]);
    // What could not be made need not be removed.
    let _ = std::fs::remove_file(probe);
    written.err()
}

fn io(source: std::io::Error) -> Error {
    match source.kind() {
        // A table or a manifest that ends too soon, or holds what cannot be: the files are not as they were written.
        std::io::ErrorKind::UnexpectedEof | std::io::ErrorKind::InvalidData => Error::Corrupt {
            what: "a file is shorter or other than it says".into(),
            source: Some(Box::new(source)),
        },
        _ => Error::Io { doing: "reading or writing the database", source },
    }
}

const fn damage(error: &fjall::Error) -> &'static str {
    match error {
        fjall::Error::JournalRecovery(_) => "a journal cannot be read back",
        fjall::Error::Storage(LsmError::ChecksumMismatch { .. }) => "a checksum does not match",
        fjall::Error::Storage(LsmError::Unrecoverable) | fjall::Error::Unrecoverable => {
            "a file that is needed is missing"
        }
        _ => "bytes that the engine does not write",
    }
}
