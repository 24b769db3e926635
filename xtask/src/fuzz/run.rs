use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

use super::mutate::mutated;
use super::{Rng, Target};
use crate::workspace;

/// How much is tried.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Where the random numbers start from.
    pub seed: u64,
    /// How many inputs are made beside the corpus.
    pub inputs: u64,
    /// When to stop before that.
    pub time: Duration,
}

/// What was tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Done {
    /// Inputs that were there to begin with.
    pub kept: usize,
    /// Inputs that were made.
    pub made: u64,
    /// The longest time that one input took.
    pub slowest: Duration,
}

/// How long one input may take. It is far above what any takes, so that a busy machine does not fail the run.
const PATIENCE: Duration = Duration::from_secs(20);

/// Tries a target with its corpus and with what a generator makes of it.
///
/// The input that breaks the claim is written to `fuzz/artifacts/` and named in the error.
pub fn run(target: Target, budget: Budget) -> Result<Done> {
    let pool = corpus(target)?;
    let start = Instant::now();
    let mut done = Done { kept: pool.len(), made: 0, slowest: Duration::ZERO };
    for input in &pool {
        done.slowest = done.slowest.max(attempt(target, input)?);
    }
    let mut rng = Rng::new(budget.seed);
    while done.made < budget.inputs && start.elapsed() < budget.time {
        let input = mutated(&mut rng, &pool, target.words);
        done.slowest = done.slowest.max(attempt(target, &input)?);
        done.made += 1;
    }
    Ok(done)
}

fn attempt(target: Target, input: &[u8]) -> Result<Duration> {
    let before = Instant::now();
    let outcome = catch_unwind(AssertUnwindSafe(|| (target.body)(input)));
    let time = before.elapsed();
    if outcome.is_ok() && time < PATIENCE {
        return Ok(time);
    }
    let folder = workspace::root().join("fuzz/artifacts").join(target.name);
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let file = folder.join("found-on-stable");
    std::fs::write(&file, input).with_context(|| format!("cannot write {}", file.display()))?;
    let (name, file) = (target.name, workspace::relative(&file));
    let what = if outcome.is_ok() { "takes too long" } else { "does not hold" };
    bail!("`{name}` {what}: repeat it with `cargo xtask fuzz {name} --input {file}`")
}

/// The inputs that a target begins with: those kept for it in `fuzz/corpus/`, and those made
/// from the project's plans.
pub fn corpus(target: Target) -> Result<Vec<Vec<u8>>> {
    let folder = workspace::root().join("fuzz/corpus").join(target.name);
    let mut paths: Vec<PathBuf> = Vec::new();
    if folder.exists() {
        for entry in
            std::fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))?
        {
            paths.push(entry?.path());
        }
    }
    paths.sort();
    let read =
        |path: &PathBuf| std::fs::read(path).with_context(|| format!("cannot read {}", path.display()));
    let mut inputs = paths.iter().map(read).collect::<Result<Vec<_>>>()?;
    inputs.extend((target.seeds)());
    Ok(inputs)
}
