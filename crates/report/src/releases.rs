//! The releases of a plan: the lock that lies beside its file.

use std::path::{Path, PathBuf};

use keyplan_plan::lock::{LOCK_FILE, Lock, LockError, Release};

use crate::files::{self, FileError};

/// Why a lock could not be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReleasesError {
    /// It could not be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// It is damaged, or was changed by hand.
    #[error("`{path}` cannot be trusted: {fault}")]
    Untrusted {
        /// The file.
        path: String,
        /// What is wrong, and where.
        fault: LockError,
    },
}

/// The lock of a plan file: its path, and what is in it.
pub fn beside(plan: &str) -> Result<(PathBuf, Lock), ReleasesError> {
    let path = Path::new(plan).parent().unwrap_or_else(|| Path::new("")).join(LOCK_FILE);
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok((path, Lock::default())),
        Err(error) => {
            return Err(FileError { path: path.display().to_string(), why: files::reason(&error) }.into());
        }
    };
    let refused = |fault| ReleasesError::Untrusted { path: path.display().to_string(), fault };
    let lock = Lock::parse(&text).map_err(refused)?;
    lock.verify().map_err(refused)?;
    Ok((path, lock))
}

/// The releases of a plan or its file that the lock beside it has, the oldest first.
pub fn releases(path: &str, plan: &str) -> Result<Vec<Release>, ReleasesError> {
    Ok(beside(path)?.1.of_file(plan, path).cloned().collect())
}

/// The last release of a plan, if there is one.
pub fn last_release(path: &str, plan: &str) -> Result<Option<Release>, ReleasesError> {
    Ok(releases(path, plan)?.pop())
}
