//! The lock beside a plan.

use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};
use keyplan_plan::lock::{LOCK_FILE, Lock, Release};

use crate::input;

/// The lock of a plan file: its path, and what is in it.
pub(super) fn beside(plan: &str) -> Result<(PathBuf, Lock)> {
    let path = Path::new(plan).parent().unwrap_or_else(|| Path::new("")).join(LOCK_FILE);
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok((path, Lock::default())),
        Err(error) => return Err(anyhow!("cannot read `{}`: {}", path.display(), input::reason(&error))),
    };
    let refused = |error| anyhow!("`{}` cannot be trusted: {error}", path.display());
    let lock = Lock::parse(&text).map_err(refused)?;
    lock.verify().map_err(refused)?;
    Ok((path, lock))
}

/// The releases of a plan or its file that the lock beside it has, the oldest first.
pub(crate) fn releases(path: &str, plan: &str) -> Result<Vec<Release>> {
    Ok(beside(path)?.1.of_file(plan, path).cloned().collect())
}

/// The last release of a plan, if there is one.
pub(crate) fn last_release(path: &str, plan: &str) -> Result<Option<Release>> {
    Ok(releases(path, plan)?.pop())
}
