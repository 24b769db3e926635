//! What these tests share: engines on a path, and random numbers that can be drawn again.

use std::path::Path;

use keyplan::store::engine::{Engine, Fjall, FjallSettings, Lmdb, LmdbSettings, Memory, Redb, RedbSettings};

/// An engine that a test can open again at the same path.
pub(crate) trait Opened: Engine {
    fn open_at(path: &Path) -> Self;
}

impl Opened for Fjall {
    fn open_at(path: &Path) -> Self {
        let mut settings = FjallSettings::default();
        settings.memtable_bytes = 1024 * 1024;
        settings.cache_bytes = 4 * 1024 * 1024;
        Self::open(path, settings).expect("opens")
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

std::thread_local! {
    static MEMORY: std::cell::RefCell<Option<(std::path::PathBuf, Memory)>> =
        const { std::cell::RefCell::new(None) };
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

/// Runs a claim that is generic over the engine on all of them.
macro_rules! on_every_engine {
    ($($(#[$meta:meta])* $claim:ident = $check:ident;)*) => {$(
        $(#[$meta])*
        #[test]
        fn $claim() {
            $check::<keyplan::store::engine::Memory>();
            $check::<keyplan::store::engine::Fjall>();
            $check::<keyplan::store::engine::Redb>();
            $check::<keyplan::store::engine::Lmdb>();
        }
    )*};
}
pub(crate) use on_every_engine;

pub(crate) use keyplan_testkit::Random;
