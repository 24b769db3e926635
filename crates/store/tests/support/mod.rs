//! What several of these tests use.

use std::path::Path;

use keyplan_store::engine::{Engine, Fjall, FjallSettings, Lmdb, LmdbSettings, Memory, Redb, RedbSettings};

/// A small generator of random numbers, so that a failure can be run again from its seed.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    pub(crate) fn pick<'t, T>(&mut self, of: &'t [T]) -> &'t T {
        &of[usize::try_from(self.below(of.len() as u64)).unwrap()]
    }

    pub(crate) fn bytes(&mut self, length: usize) -> Vec<u8> {
        (0..length).map(|_| self.next().to_be_bytes()[0]).collect()
    }
}

/// How often a test goes round: as often as `KEYPLAN_SOAK` says, if that is more.
pub(crate) fn rounds(usual: u64) -> u64 {
    let asked = std::env::var("KEYPLAN_SOAK").ok().map(|rounds| rounds.parse().expect("a number of rounds"));
    asked.map_or(usual, |asked: u64| asked.max(usual))
}

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
