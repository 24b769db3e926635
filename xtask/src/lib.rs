//! What the project's chores are made of, for `cargo xtask`, its tests and the fuzzer.
//!
//! - [`workspace`] finds the project's files and asks Cargo about its crates.
//! - [`architecture`] reads the table of allowed dependencies.
//! - [`archive`] makes archives that are the same each time, [`notices`] the licences of the crates in one.
//! - [`findings`] asks the prover about the plans of the project.
//! - [`fuzz`] holds what is tried with hostile input, on the stable toolchain and under the real fuzzer.

pub mod architecture;
pub mod archive;
pub mod findings;
pub mod fuzz;
pub mod notices;
pub mod workspace;
