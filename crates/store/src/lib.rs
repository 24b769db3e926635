//! State under proven keys: engines, snapshots, atomic batches.
//!
//! [`engine`] is what a store stands on.
//!
//! # Features
//!
//! `fjall` (on by default) and `redb` add the engines of these names; one in memory is always there.

pub mod engine;
