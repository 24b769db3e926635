//! `cargo xtask features`: the combinations of features that users take, each checked by the compiler.
//!
//! The tests build the workspace with all features, and so a crate that only builds with those of another goes unnoticed there.

use std::process::ExitCode;

use anyhow::Result;

use crate::console;
use crate::job::Job;

/// What follows `cargo check`: a crate, and features of it.
const COMBINATIONS: [&str; 20] = [
    // Keys only: for contracts, for programs without `std`, and for those that bring their own database.
    "--package keyplan --no-default-features",
    "--package keyplan --no-default-features --features alloc,hash",
    "--package keyplan",
    "--package keyplan --features json,cbor",
    "--package keyplan --features rlp,scale,bcs,borsh",
    // Each system without the others.
    "--package keyplan-chains --no-default-features --features osmosis_cl",
    "--package keyplan-chains --no-default-features --features cosmwasm",
    "--package keyplan-chains --no-default-features --features cardano",
    "--package keyplan-chains --no-default-features --features paw",
    "--package keyplan-chains --no-default-features --features onesat",
    "--package keyplan-chains --no-default-features --features demo",
    // A store in memory, and on one engine.
    "--package keyplan-store --no-default-features",
    "--package keyplan-store --no-default-features --features redb",
    "--package keyplan-report --no-default-features",
    "--package keyplan-values",
    "--package keyplan-plan",
    "--package keyplan-explorer",
    // Databases of any kind, with object storage and without.
    "--package keyplan-database",
    "--package keyplan-database --features slate",
    // The command without a web server.
    "--package keyplan-cli --no-default-features",
];

/// Those that the test command looks at: keys without an allocator, a store without an engine on disk, and what a browser is built of.
/// They need few crates that the other steps have not built.
const SHORT: [&str; 3] = [
    "--package keyplan --no-default-features",
    "--package keyplan-store --no-default-features",
    "--package keyplan-report --no-default-features",
];

/// Checks every combination, or with `short` a few of them, and stops at the first that does not compile.
pub(crate) fn run(short: bool) -> Result<ExitCode> {
    let combinations: &[&str] = if short { &SHORT } else { &COMBINATIONS };
    for combination in combinations {
        Job::cargo("check --quiet").arguments(combination).run()?;
    }
    console::line(format_args!("{} combinations of features compile", combinations.len()));
    Ok(ExitCode::SUCCESS)
}
