//! Engines with a row cache, opened as any other.

use std::path::Path;

use keyplan_store::cache::Cached;

use crate::support::Opened;

/// With so few rows cached that most have to give way.
impl<E: Opened> Opened for Cached<E> {
    fn open_at(path: &Path) -> Self {
        Self::new(E::open_at(path), 8_000)
    }
}
