use std::fs::{DirEntry, File, TryLockError};
use std::io::ErrorKind;
use std::path::Path;

use super::mark::MARK;
use super::tree::KEYSPACES;
use crate::engine::Error;

/// The file that the engine locks while a database is open.
const LOCK: &str = "lock";
/// The engine's own keyspace.
const OWN_KEYSPACE: &str = "0";
/// Everything else that the engine has made before a database has its first keyspace.
const MADE: [&str; 4] = ["version", "0.jnl", KEYSPACES, MARK];

/// Removes what a process left in a directory that ended while it made a database there.
///
/// The engine makes one in several steps, and neither opens nor replaces what it finds if they were not all done. Rows are
/// in keyspaces, each of which has a folder: as long as there is none, nothing was ever written, and nothing is lost.
pub(super) fn remove_unfinished(directory: &Path) -> Result<(), Error> {
    if !is_unfinished(directory)? {
        return Ok(());
    }
    // Whoever makes a database holds its lock.
    let doing = || Error::io("removing what an interrupted creation left");
    let lock = File::open(directory.join(LOCK)).map_err(doing())?;
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(Error::AlreadyOpen { path: directory.to_owned() }),
        Err(TryLockError::Error(error)) => return Err(doing()(error)),
    }
    // Asked again, with nobody else in here: another process may have finished meanwhile.
    if !is_unfinished(directory)? {
        return Ok(());
    }
    for name in MADE {
        let path = directory.join(name);
        let removed = if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
        match removed {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(doing()(error)),
            _ => {}
        }
    }
    Ok(())
}

/// Whether the engine has begun a database here, and nothing else is here, and it has no keyspace.
fn is_unfinished(directory: &Path) -> Result<bool, Error> {
    let here = names(directory)?;
    let begun = here.iter().any(|name| name == LOCK);
    let alone = here.iter().all(|name| name == LOCK || MADE.contains(&name.as_str()));
    Ok(begun && alone && names(&directory.join(KEYSPACES))?.iter().all(|name| name == OWN_KEYSPACE))
}

/// What is in a directory; nothing, if there is none.
fn names(directory: &Path) -> Result<Vec<String>, Error> {
    let name = |entry: DirEntry| entry.file_name().to_string_lossy().into_owned();
    match std::fs::read_dir(directory) {
        Ok(entries) => entries.map(|entry| entry.map(name)).collect::<Result<_, _>>(),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
    .map_err(Error::io("reading the directory of the database"))
}
