//! What engines are made with, those of other crates too: the ages of snapshots, the numbers of spaces, refusals.

use super::Error;
pub use super::Numbers;
pub use super::ages::{Ages, Ticket};

/// The refusal of a row that does not come after the one before it.
pub fn unsorted(key: &[u8]) -> Error {
    super::unsorted(key)
}
