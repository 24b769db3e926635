//! `cargo xtask soak`: what the tests do in a short form, for as long as one likes.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::{Args, Subcommand};
use xtask::fuzz::{Target, corpus};
use xtask::workspace;

use crate::console;
use crate::job::Job;
use crate::short_fuzz::targets;
use crate::tool::Tool;

/// What to try, and for how long.
#[derive(Args)]
pub(crate) struct Soak {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Verdicts on random plans against enumeration of all their keys
    Prover {
        /// How many plans
        #[arg(long, default_value_t = 1_000_000)]
        plans: u64,
        /// Each seed has plans of its own
        #[arg(long, default_value_t = 2)]
        seed: u64,
    },
    /// Old plan × new plan: random pairs against enumeration of all old keys
    Evolution {
        /// How many pairs
        #[arg(long, default_value_t = 100_000)]
        pairs: u64,
        /// Each seed has pairs of its own
        #[arg(long, default_value_t = 2)]
        seed: u64,
    },
    /// Generated code: random plans against the encoder and decoder for plans known at run time
    Generate {
        /// How many plans in Go and TypeScript; in Rust there is a program of eight plans for every 200 of them
        #[arg(long, default_value_t = 5_000)]
        plans: u64,
        /// Each seed has plans of its own
        #[arg(long, default_value_t = 2)]
        seed: u64,
    },
    /// Stores that are killed, damaged and reopened
    Store {
        /// How many rounds each test goes
        #[arg(long, default_value_t = 200)]
        rounds: u64,
    },
    /// The fuzz targets under the real fuzzer; needs a nightly toolchain and `cargo-fuzz`
    Fuzz {
        /// One target; all of them in turn if none is named
        target: Option<String>,
        /// How long each target runs
        #[arg(long, default_value_t = 10)]
        minutes: u32,
    },
}

pub(crate) fn run(soak: &Soak) -> Result<ExitCode> {
    match &soak.what {
        What::Prover { plans, seed } => {
            Job::cargo("test --release --package keyplan-prover --test brute_force -- --nocapture")
                .variable("KEYPLAN_BRUTE_FORCE", &plans.to_string())
                .variable("KEYPLAN_BRUTE_FORCE_SEED", &seed.to_string())
                .run()?;
        }
        What::Evolution { pairs, seed } => {
            Job::cargo("test --release --package keyplan-prover --test compat_oracle -- --nocapture")
                .variable("KEYPLAN_COMPAT", &pairs.to_string())
                .variable("KEYPLAN_COMPAT_SEED", &seed.to_string())
                .run()?;
            Job::cargo("test --release --package keyplan-prover --test migration -- --nocapture")
                .variable("KEYPLAN_MIGRATION_PAIRS", &pairs.to_string())
                .variable("KEYPLAN_MIGRATION_SEED", &seed.to_string())
                .run()?;
            Job::cargo("test --release --all-features --package keyplan-store --test migrate -- --nocapture")
                .variable("KEYPLAN_MIGRATION_ROWS", "1000000")
                .variable("KEYPLAN_MIGRATION_PAIRS", &pairs.to_string())
                .variable("KEYPLAN_MIGRATION_SEED", &seed.to_string())
                .run()?;
            Job::cargo("test --release --package keyplan-cli --test migrate -- --nocapture")
                .variable("KEYPLAN_MIGRATION_KILLS", "200")
                .run()?;
        }
        What::Generate { plans, seed } => {
            Tool::Go.need()?;
            Tool::TypeScript.need()?;
            Job::cargo("test --release --package keyplan-codegen --test languages random -- --nocapture")
                .variable("KEYPLAN_GENERATE", &plans.to_string())
                .variable("KEYPLAN_GENERATE_SEED", &seed.to_string())
                .run()?;
            // A program has eight plans, and takes as long as a hundred in the other languages.
            Job::cargo("test --release --package keyplan-macros --test random_plans -- --nocapture")
                .variable("KEYPLAN_TYPES", &plans.div_ceil(200).to_string())
                .variable("KEYPLAN_TYPES_SEED", &seed.to_string())
                .run()?;
        }
        What::Store { rounds } => {
            Tool::Postgres.need()?;
            Tool::SeaweedFs.need()?;
            for package in ["keyplan-store", "keyplan-chains", "keyplan-postgres", "keyplan-slate"] {
                Job::cargo(&format!(
                    "test --release --all-features --no-fail-fast --package {package} --tests -- --nocapture"
                ))
                .variable("KEYPLAN_SOAK", &rounds.to_string())
                .run()?;
            }
        }
        What::Fuzz { target, minutes } => fuzz(target.as_deref(), *minutes)?,
    }
    console::line("nothing was found");
    Ok(ExitCode::SUCCESS)
}

fn fuzz(target: Option<&str>, minutes: u32) -> Result<()> {
    let targets = targets(target)?;
    Tool::Nightly.need()?;
    Tool::CargoFuzz.need()?;
    for target in targets {
        let grown = grown_corpus(target)?;
        let mut job = Job::new("rustup", "run nightly cargo fuzz run")
            .argument(target.name)
            .argument(grown.to_string_lossy())
            .argument("--")
            .argument(format!("-max_total_time={}", u64::from(minutes) * 60))
            // Bounded time and memory are part of every claim: seconds for one input, and MiB for all of them.
            .argument("-timeout=20")
            .argument("-rss_limit_mb=2048");
        if !target.words.is_empty() {
            job = job.argument(format!("-dict={}", dictionary(target)?.display()));
        }
        console::line(format_args!("{}: {}", target.name, target.claim));
        job.run()?;
    }
    Ok(())
}

/// A folder that outlives the run, in which the fuzzer keeps what it finds interesting.
fn grown_corpus(target: Target) -> Result<PathBuf> {
    let folder = workspace::scratch()?.join("soak").join(target.name);
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    for (number, input) in corpus(target)?.iter().enumerate() {
        write(&folder.join(format!("seed-{number}")), input)?;
    }
    Ok(folder)
}

/// The target's words in the form that the fuzzer reads.
fn dictionary(target: Target) -> Result<PathBuf> {
    let mut text = String::new();
    for word in target.words {
        text.push('"');
        for byte in *word {
            // Writing to a string does not fail.
            let _ = write!(text, "\\x{byte:02x}");
        }
        text.push_str("\"\n");
    }
    let path = workspace::scratch()?.join(format!("{}.dict", target.name));
    write(&path, text.as_bytes())?;
    Ok(path)
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    std::fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))
}
