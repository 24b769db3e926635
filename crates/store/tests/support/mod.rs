//! What several of these tests use.

use std::path::Path;

use keyplan_store::engine::{Engine, Fjall, FjallSettings, Lmdb, LmdbSettings, Memory, Redb, RedbSettings};

pub(crate) use keyplan_testkit::{Random, rounds};

/// An engine that can be opened at a path again and again.
pub(crate) trait Opened: Engine {
    fn open_at(path: &Path) -> Self;
}

impl Opened for Fjall {
    fn open_at(path: &Path) -> Self {
        Self::open(path, small_fjall()).expect("opens")
    }
}

impl Opened for Lmdb {
    fn open_at(path: &Path) -> Self {
        Self::open(path, LmdbSettings::default()).expect("opens")
    }
}

impl Opened for Redb {
    fn open_at(path: &Path) -> Self {
        Self::open(path, RedbSettings::default()).expect("opens")
    }
}

/// Small memtables, so that tests flush and compact.
pub(crate) fn small_fjall() -> FjallSettings {
    let mut settings = FjallSettings::default();
    settings.memtable_bytes = 1024 * 1024;
    settings.cache_bytes = 4 * 1024 * 1024;
    settings.flush_small_after = 2 * 1024 * 1024;
    settings
}

std::thread_local! {
    static MEMORY: std::cell::RefCell<Option<(std::path::PathBuf, Memory)>> = const { std::cell::RefCell::new(None) };
}

/// A database in memory is "reopened" by a second handle on it.
impl Opened for Memory {
    fn open_at(path: &Path) -> Self {
        MEMORY.with_borrow_mut(|kept| match kept {
            Some((at, memory)) if at == path => memory.clone(),
            kept => {
                let memory = Self::new();
                *kept = Some((path.to_owned(), memory.clone()));
                memory
            }
        })
    }
}
