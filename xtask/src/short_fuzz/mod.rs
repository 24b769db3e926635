//! `cargo xtask fuzz`: the fuzz targets on the stable toolchain.

mod command;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use clap::Args;
use xtask::fuzz::{Budget, TARGETS, Target, run as try_target, target};

use crate::console;

/// What to try, and for how long.
#[derive(Args)]
pub(crate) struct Fuzz {
    /// One target, or `command` for the command itself; all of them if none is named
    pub(crate) target: Option<String>,
    /// Where the random numbers start from; the same seed tries the same inputs
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How long each target runs
    #[arg(long, default_value_t = 10)]
    seconds: u64,
    /// Try only this file, and let the panic through
    #[arg(long, requires = "target")]
    input: Option<PathBuf>,
}

/// The targets called so, or all.
pub(crate) fn targets(name: Option<&str>) -> Result<Vec<Target>> {
    let Some(name) = name else { return Ok(TARGETS.to_vec()) };
    let names = || TARGETS.iter().map(|target| target.name).collect::<Vec<_>>().join(", ");
    Ok(vec![target(name).with_context(|| format!("there is no target `{name}`; there are: {}", names()))?])
}

pub(crate) fn run(fuzz: &Fuzz) -> Result<ExitCode> {
    let time = Duration::from_secs(fuzz.seconds);
    if fuzz.target.as_deref() == Some(COMMAND) {
        return try_command(fuzz.seed, time);
    }
    let targets = targets(fuzz.target.as_deref())?;
    if let (Some(input), [target]) = (&fuzz.input, targets.as_slice()) {
        let bytes = std::fs::read(input).with_context(|| format!("cannot read {}", input.display()))?;
        (target.body)(&bytes);
        console::line(format_args!("{}: holds for {}", target.name, input.display()));
        return Ok(ExitCode::SUCCESS);
    }
    let budget = Budget { seed: fuzz.seed, inputs: u64::MAX, time };
    for target in targets {
        let start = Instant::now();
        let done = try_target(target, budget)?;
        let (name, kept, made) = (target.name, done.kept, done.made);
        let (time, slowest) = (console::seconds(start.elapsed()), console::seconds(done.slowest));
        console::line(format_args!(
            "{name:8} {kept} kept and {made} made inputs in {time}, the slowest in {slowest}: {}",
            target.claim
        ));
    }
    if fuzz.target.is_none() { try_command(fuzz.seed, time) } else { Ok(ExitCode::SUCCESS) }
}

/// What the command itself is called among the targets.
const COMMAND: &str = "command";

fn try_command(seed: u64, time: Duration) -> Result<ExitCode> {
    let start = Instant::now();
    let tried = command::run(seed, time)?;
    let (runs, lines, time) = (tried.runs, tried.lines, console::seconds(start.elapsed()));
    console::line(format_args!("{COMMAND:8} {lines} lines in {runs} runs in {time}: {}", command::CLAIM));
    Ok(ExitCode::SUCCESS)
}
