//! Looks at the files of a database before the engine does, which repairs what it does not understand by deleting it.

use std::fs::{File, TryLockError};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::journal::{self, Journal};
use super::mark::Mark;
use super::settings::{DamagedJournal, FjallSettings};
use super::tree::{self, CURRENT, Folder, KEYSPACES, Tree, damaged};
use crate::engine::Error;

/// What is in the files of a database.
pub(super) struct Inspection {
    /// The journals, oldest first. Empty if damaged ones are to be cut.
    pub(super) journals: Vec<Journal>,
    /// The keyspaces.
    pub(super) trees: Vec<Tree>,
    /// What was there before.
    pub(super) mark: Option<Mark>,
}

/// Refuses a database whose files were damaged after they were written, and names the file. Nothing is changed.
///
/// The lock must be held.
pub(super) fn inspect(directory: &Path, settings: &FjallSettings) -> Result<Inspection, Error> {
    let mark = Mark::read(directory);
    let mut trees = Vec::new();
    let mut unfinished = Vec::new();
    for folder in tree::read_all(directory)? {
        match folder {
            Folder::Whole(tree) => trees.push(tree),
            Folder::Unfinished(id) => unfinished.push(id),
        }
    }
    check_own(&trees)?;
    if let Some(mark) = &mark {
        mark.check_trees(&trees, &unfinished)?;
    }
    let mut unknown = Vec::new();
    for tree in &trees {
        for table in &tree.tables {
            let known = mark.as_ref().map_or(Ok(false), |mark| mark.knows(tree, table))?;
            if !known && settings.verify_new_tables {
                unknown.push((tree, table));
            }
        }
    }
    // Journals and tables are read whole, and know nothing of each other: they are read at the same time.
    let next = AtomicUsize::new(0);
    let verify = || -> Result<(), Error> {
        while let Some((tree, table)) = unknown.get(next.fetch_add(1, Ordering::Relaxed)) {
            tree::verify(directory, tree, table)?;
        }
        Ok(())
    };
    let journals = std::thread::scope(|scope| {
        let name = || std::thread::Builder::new().name("keyplan:inspect".into());
        // Where no thread can be started, this one does it all.
        let other = (!unknown.is_empty()).then(|| name().spawn_scoped(scope, verify).ok()).flatten();
        let journals = match settings.damaged_journal {
            DamagedJournal::Refuse => check_journals(directory, mark.as_ref(), &trees),
            DamagedJournal::Truncate => Ok(Vec::new()),
        };
        if journals.is_err() {
            // What is damaged is known: the other need not go on.
            next.store(unknown.len(), Ordering::Relaxed);
        }
        let verified = verify();
        let by_other = other.map_or(Ok(()), |other| {
            other.join().unwrap_or_else(|_| Err(Error::corrupt("the tables could not be looked at")))
        });
        journals.and_then(|journals| verified.and(by_other).map(|()| journals))
    })?;
    for journal in &journals {
        if let Some(id) = journal.spaces.keys().find(|id| unfinished.contains(id)) {
            return Err(damaged(&format!("{KEYSPACES}/{id}/{CURRENT}"), "is missing"));
        }
    }
    Ok(Inspection { journals, trees, mark })
}

/// Walks the journals, and refuses those that do not reach as far as they did, or as the tables do.
fn check_journals(directory: &Path, mark: Option<&Mark>, trees: &[Tree]) -> Result<Vec<Journal>, Error> {
    let journals = journal::walk_all(directory, &[])?;
    if let Some(mark) = mark {
        mark.check_journals(&journals, trees)?;
    }
    check_reach(&journals, trees)?;
    Ok(journals)
}

/// The engine's own keyspace lists the others: without it, the engine deletes them.
fn check_own(trees: &[Tree]) -> Result<(), Error> {
    let own = trees.iter().find(|tree| tree.id == 0);
    let others = trees.iter().any(|tree| tree.id > 0 && !tree.tables.is_empty());
    match own {
        None if others => Err(damaged(&format!("{KEYSPACES}/0"), "is missing")),
        Some(own) if others && own.tables.is_empty() => {
            Err(damaged(&format!("{KEYSPACES}/0/{CURRENT}"), "lists no table, but there are keyspaces"))
        }
        _ => Ok(()),
    }
}

/// Refuses journals that end before a batch that is in a table: they are synced before tables are written.
fn check_reach(journals: &[Journal], trees: &[Tree]) -> Result<(), Error> {
    let last = journals.iter().filter_map(|journal| journal.last).max();
    let Some(newest) = journals.last() else {
        return if trees.iter().any(|tree| tree.id > 0 && !tree.tables.is_empty()) {
            Err(damaged(&journal::name(0), "is missing: there is no journal at all"))
        } else {
            Ok(())
        };
    };
    // A journal that was begun just now, when all earlier ones are in tables and gone.
    if last.is_none() && newest.id > 0 {
        return Ok(());
    }
    for tree in trees.iter().filter(|tree| tree.id > 0) {
        for table in tree.tables.iter().filter(|table| !table.ingested) {
            if last.is_none_or(|last| last < table.highest) {
                let what = format!(
                    "ends at byte {}, before batch {} that is in table `{}`",
                    newest.end,
                    table.highest,
                    tree.table_name(table)
                );
                return Err(damaged(&newest.name(), &what));
            }
        }
    }
    Ok(())
}

/// How a database is locked.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Lock {
    /// Nobody else may have it open.
    Alone,
    /// Others may read it.
    Shared,
}

/// How often, and how far apart, the lock is tried for: a process that was killed may hold it a moment longer.
const LOCK_TRIES: u32 = 10;
const LOCK_WAIT: Duration = Duration::from_millis(20);

/// Takes the engine's own lock. It goes with the file.
pub(super) fn lock(directory: &Path, how: Lock) -> Result<File, Error> {
    let lock = File::open(directory.join("lock")).map_err(Error::io("opening the lock file"))?;
    for _ in 0..LOCK_TRIES {
        let tried = match how {
            Lock::Alone => lock.try_lock(),
            Lock::Shared => lock.try_lock_shared(),
        };
        match tried {
            Ok(()) => return Ok(lock),
            Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_WAIT),
            Err(TryLockError::Error(source)) => return Err(Error::io("locking the database")(source)),
        }
    }
    Err(Error::AlreadyOpen { path: directory.to_owned() })
}
