//! Rows that are no longer wanted: those of a scan, those past their retention, and those of retired families and prefixes.
//!
//! Everything here goes in steps, each one batch, and can be stopped or killed between any two of them: what is left is found
//! again by the same call. A dry run reads the same rows and writes nothing.

mod delete;
mod prune;
mod retire;

use std::ops::ControlFlow;

pub use delete::{DeleteScan, Deleted};
pub use prune::Prune;
pub use retire::{Retire, RetiredTarget, retired_targets};

use crate::engine::Durability;

/// How rows are removed.
#[derive(Clone, Copy, Debug)]
pub struct Steps {
    /// How many rows go in one batch.
    pub rows: usize,
    /// How safe each batch is before the next.
    pub durability: Durability,
    /// Whether nothing is written.
    pub dry_run: bool,
}

impl Default for Steps {
    fn default() -> Self {
        Self { rows: 10_000, durability: Durability::SyncData, dry_run: true }
    }
}

/// What was removed, or would be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Removed {
    /// How many rows.
    pub rows: u64,
    /// How many bytes of keys and values.
    pub bytes: u64,
    /// How many batches.
    pub steps: u64,
    /// How many ranges they lay in.
    pub ranges: u64,
    /// The first of these ranges.
    pub examples: Vec<RemovedRange>,
}

/// Rows that lay one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemovedRange {
    /// The first key.
    pub first: Vec<u8>,
    /// The last key.
    pub last: Vec<u8>,
    /// How many rows.
    pub rows: u64,
}

impl Removed {
    /// How many ranges are kept as examples.
    pub const EXAMPLES: usize = 16;

    fn add(&mut self, key: &[u8], value: &[u8], goes_on: bool) {
        let size = u64::try_from(key.len().saturating_add(value.len())).unwrap_or(u64::MAX);
        self.rows = self.rows.saturating_add(1);
        self.bytes = self.bytes.saturating_add(size);
        if !goes_on {
            self.ranges = self.ranges.saturating_add(1);
            if self.examples.len() < Self::EXAMPLES {
                self.examples.push(RemovedRange { first: key.to_vec(), last: key.to_vec(), rows: 0 });
            }
        }
        let shown = usize::try_from(self.ranges).unwrap_or(usize::MAX) <= Self::EXAMPLES;
        if let Some(last) = self.examples.last_mut().filter(|_| shown) {
            last.last = key.to_vec();
            last.rows += 1;
        }
    }
}

/// Goes on for ever.
pub fn to_the_end(_: &Removed) -> ControlFlow<()> {
    ControlFlow::Continue(())
}
