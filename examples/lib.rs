//! Programs that a user of Keyplan would write: run one with `cargo run -p keyplan-examples --example typed_store`.
//!
//! | program | what it shows |
//! | --- | --- |
//! | `typed_store` | a database on disk by typed keys: batches, scans from both ends, opening it again |
//! | `collections` | rows that are also found by their indexes, numbers that are given out once |
//! | `queue_workers` | two workers on one queue, of which one gives up |
//! | `explain_key` | what a key of a real chain means, and where a broken one breaks |
//! | `cardano_follower` | a chain followed block by block, with a rollback |
//! | `migration` | a database whose keys are rewritten under the next plan |
//! | `readme` | the lines that `README.md` shows |

/// The reports to the authors of fjall: what their programs assert still holds.
#[cfg(doctest)]
#[doc = include_str!("../docs/upstream/fjall.md")]
struct ReportsToFjall;

/// The reports to the authors of Dolos.
#[cfg(doctest)]
#[doc = include_str!("../docs/upstream/dolos.md")]
struct ReportsToDolos;

/// The reports to the authors of cw-storage-plus.
#[cfg(doctest)]
#[doc = include_str!("../docs/upstream/cosmwasm.md")]
struct ReportsToCwStoragePlus;
