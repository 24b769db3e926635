//! What the tests of several crates use: one generator of random numbers, the domains of random plans, how often a test goes
//! round, and processes that are killed. It is for tests only, and not published.

#![expect(
    clippy::missing_panics_doc,
    clippy::unwrap_used,
    reason = "all of it is for tests, which fail by a panic"
)]

mod domains;
mod process;
mod random;

pub use domains::{DOMAINS, SEPARATORS};
pub use process::{Writer, again};
pub use random::Random;

/// How often a test goes round: as often as `KEYPLAN_SOAK` says, if that is more.
pub fn rounds(usual: u64) -> u64 {
    let asked = std::env::var("KEYPLAN_SOAK").ok().map(|rounds| rounds.parse().unwrap());
    asked.map_or(usual, |asked: u64| asked.max(usual))
}
