//! The engine at a path, as the suites want it.

use std::path::Path;
use std::time::Duration;

use keyplan_slate::{Slate, SlateSettings};

use crate::kills::Shared;
use crate::support::Opened;

/// Small tables and quick flushes, so that tests make many of both.
pub(crate) fn small(url: &str) -> SlateSettings {
    SlateSettings::new(url)
        .unwrap()
        .flush_interval(Duration::from_millis(5))
        .table_bytes(1 << 20)
        .memory_cache(8 << 20)
        .poll_interval(Duration::ZERO)
}

/// The settings for a directory: a database in it, unless a file there names another place.
pub(crate) fn settings(path: &Path) -> SlateSettings {
    match std::fs::read_to_string(path.join("url")) {
        Ok(url) => small(&url),
        Err(_) => small(&format!("file://{}", path.display())),
    }
}

impl Opened for Slate {
    fn open_at(path: &Path) -> Self {
        Self::open(settings(path)).expect("opens")
    }
}

impl Shared for Slate {}
