//! A private directory in which the engine opens a database that must not be changed.
//!
//! The engine has no way to open a database for reading only: it cuts journals, deletes files that it does not need and
//! takes a lock for writing. So it is given a directory of its own, in the system's folder for temporary files, with
//! links to the tables, which never change, and with copies of the little that is left: the versions, and the batches
//! of the journals that are not in tables yet. Nothing is written where the database is.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom, Write};
use std::path::Path;

use tempfile::TempDir;

use super::inspect::Inspection;
use super::journal::{self, Journal};
use super::tree::{CURRENT, KEYSPACES, TABLES, Tree};
use crate::engine::Error;

/// The folder of values that are kept apart from their keys, if there are any.
const BLOBS: &str = "blobs";

/// Makes the private directory of a database that was looked at. It goes when it is dropped.
pub(super) fn make(directory: &Path, inspection: &Inspection) -> Result<TempDir, Error> {
    // Links must not depend on where the process is.
    let directory = std::path::absolute(directory).map_err(copying())?;
    let overlay = tempfile::Builder::new().prefix("keyplan-read-").tempdir().map_err(copying())?;
    let to = overlay.path();
    std::fs::copy(directory.join("version"), to.join("version")).map_err(copying())?;
    File::create(to.join("lock")).map_err(copying())?;
    for tree in &inspection.trees {
        copy_tree(&directory, to, tree).map_err(copying())?;
    }
    for journal in &inspection.journals {
        copy_journal(&directory, to, journal, &inspection.trees)?;
    }
    if inspection.journals.is_empty() {
        File::create(to.join(journal::name(0))).map_err(copying())?;
    }
    Ok(overlay)
}

fn copying() -> impl FnOnce(std::io::Error) -> Error {
    Error::io("making a private copy to read from, in the folder for temporary files")
}

fn copy_tree(directory: &Path, to: &Path, tree: &Tree) -> std::io::Result<()> {
    let folder = Path::new(KEYSPACES).join(tree.id.to_string());
    let (from, to) = (directory.join(&folder), to.join(&folder));
    std::fs::create_dir_all(to.join(TABLES))?;
    for file in [CURRENT.to_owned(), format!("v{}", tree.version)] {
        std::fs::copy(from.join(&file), to.join(&file))?;
    }
    for table in &tree.tables {
        let table = Path::new(TABLES).join(table.id.to_string());
        link(&from.join(&table), &to.join(&table))?;
    }
    if from.join(BLOBS).is_dir() {
        std::fs::create_dir_all(to.join(BLOBS))?;
        for blob in std::fs::read_dir(from.join(BLOBS))? {
            let blob = blob?;
            link(&blob.path(), &to.join(BLOBS).join(blob.file_name()))?;
        }
    }
    Ok(())
}

#[cfg(unix)]
fn link(from: &Path, to: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(from, to)
}

#[cfg(not(unix))]
fn link(from: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::copy(from, to).map(drop)
}

/// Copies the batches that the engine would replay: those with a row that is not in a table.
fn copy_journal(directory: &Path, to: &Path, journal: &Journal, trees: &[Tree]) -> Result<(), Error> {
    let in_table = |space: &u64, number: u64| {
        let tree = trees.iter().find(|tree| tree.id == *space);
        tree.and_then(Tree::highest).is_some_and(|highest| number <= highest)
    };
    let mut wanted: Vec<(u64, u64)> = Vec::new();
    let mut each = |number: u64, spaces: &[u64], begin: u64, end: u64| {
        if spaces.iter().all(|space| in_table(space, number)) {
            return;
        }
        match wanted.last_mut() {
            Some((_, last)) if *last == begin => *last = end,
            _ => wanted.push((begin, end)),
        }
    };
    let path = directory.join(journal.name());
    let begin = Journal { id: journal.id, ..Journal::default() };
    journal::walk_each(&path, begin, None, &mut each)?;
    let copy = || {
        let mut from = File::open(&path)?;
        let mut to = File::create(to.join(journal.name()))?;
        for (begin, end) in wanted {
            from.seek(SeekFrom::Start(begin))?;
            std::io::copy(&mut (&from).take(end - begin), &mut to)?;
        }
        to.flush()
    };
    copy().map_err(copying())
}
