//! `keyplan explain --format json`, from lines on standard input to lines on standard output.

use std::fmt::Write as _;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use keyplan_plan::dynamic::encode;
use xtask::fuzz::{Arbitrary, Kept, Rng, kept};
use xtask::workspace;

use super::{Effort, Goal, Group, Measurement};
use crate::job::Job;

pub(super) struct Explain;

const LINES: u32 = 1_000_000;
const PLANS: [&str; 5] = [
    "plans/osmosis_cl.keyplan",
    "plans/cosmwasm.keyplan",
    "plans/cardano.keyplan",
    "plans/paw.keyplan",
    "plans/onesat.keyplan",
];

impl Group for Explain {
    fn name(&self) -> &'static str {
        "explain"
    }

    fn measure(&self, effort: Effort) -> Result<Vec<Measurement>> {
        Job::cargo("build --quiet --release --package keyplan-cli").run()?;
        let turns = match effort {
            Effort::Quick => 2,
            Effort::Full => 7,
        };
        PLANS.iter().map(|path| line(path, turns)).collect()
    }
}

fn line(path: &str, turns: u32) -> Result<Measurement> {
    let plan = kept().iter().find(|plan| plan.path == path).with_context(|| format!("there is no {path}"))?;
    let keys = keys(plan)?;
    let times: Vec<Duration> = (0..turns).map(|_| explained(path, &keys)).collect::<Result<_>>()?;
    let best = times.iter().min().copied().unwrap_or_default();
    let families = plan.plan.families().count();
    Ok(Measurement {
        name: plan.plan.name.clone(),
        value: f64::from(LINES) / best.as_secs_f64(),
        goal: Goal::AtLeast(500_000.0),
        unit: "keys/s",
        compared_with: format!("{LINES} hex lines of {families} families on {}, start to end", cores()),
    })
}

/// A file with one key a line, of all families in turn.
fn keys(plan: &Kept) -> Result<PathBuf> {
    let mut rng = Rng::new(13);
    let families: Vec<_> = plan.plan.families().map(|(_, family)| family).collect();
    let mut text = String::new();
    let mut lines = 0;
    while lines < LINES {
        let family = rng.pick(&families).with_context(|| format!("{} has no family", plan.path))?;
        let noise = rng.bytes(160);
        let mut key = Vec::new();
        if encode(&family.key, &Arbitrary::new(&noise).values(&family.key), &mut key).is_err()
            || key.is_empty()
        {
            continue;
        }
        // Writing to a string does not fail.
        for byte in key {
            let _ = write!(text, "{byte:02x}");
        }
        text.push('\n');
        lines += 1;
    }
    let path = workspace::scratch()?.join(format!("{}.hex", plan.plan.name));
    std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(path)
}

/// Explains all keys once.
fn explained(plan: &str, keys: &Path) -> Result<Duration> {
    let program = workspace::target()?.join("release/keyplan");
    let program = program.to_string_lossy();
    let job = if has_taskset() {
        Job::new("taskset", "--cpu-list 0").argument(program)
    } else {
        Job::new(&program, "")
    };
    let job = job.argument("explain").argument(plan).argument("--input=hex").argument("--format=json");
    let input = File::open(keys).with_context(|| format!("cannot read {}", keys.display()))?;
    let mut command = job.command();
    command.stdin(input).stdout(Stdio::null());
    let start = Instant::now();
    let status = command.status().with_context(|| format!("cannot run `{job}`"))?;
    let time = start.elapsed();
    if status.code().is_none_or(|code| code > 1) {
        bail!("`{job}` failed: {status}");
    }
    Ok(time)
}

fn cores() -> &'static str {
    if has_taskset() { "one core" } else { "an unpinned thread, as taskset is missing" }
}

fn has_taskset() -> bool {
    Job::new("taskset", "--version").succeeds()
}
