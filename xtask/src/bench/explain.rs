//! `keyplan explain --format json`, from lines on standard input to lines on standard output.

use std::fmt::Write as _;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use keyplan_plan::dynamic::encode;
use keyplan_plan::model::{Family, Plan};
use xtask::fuzz::{Arbitrary, Rng, kept};
use xtask::workspace;

use super::{Effort, Goal, Group, Measurement, build_more, program};
use crate::clock::{Stopwatch, counts_processor_time};
use crate::job::Job;

pub(super) struct Explain;

/// The five systems: plans, and the space if one is chosen.
///
/// CosmWasm is there as the code of a contract writes. Its plans have many spaces, one for each way of laying out a
/// store; a key that is looked for in all of them has some nine readings, which is not what this is about.
const PLANS: [(&str, Option<&str>); 5] = [
    ("plans/osmosis_cl.keyplan", None),
    ("plans/upstream/cosmwasm.keyplan", Some("contract")),
    ("plans/cardano.keyplan", None),
    ("plans/paw.keyplan", None),
    ("plans/onesat.keyplan", None),
];

impl Group for Explain {
    fn name(&self) -> &'static str {
        "explain"
    }

    fn measure(&self, effort: Effort) -> Result<Vec<Measurement>> {
        build_more("--package keyplan-cli")?;
        let (lines, turns) = match effort {
            Effort::Quick => (20_000, 1),
            Effort::Full => (1_000_000, 7),
        };
        PLANS.iter().map(|(path, space)| line(path, *space, lines, turns)).collect()
    }
}

fn line(path: &str, space: Option<&str>, lines: u32, turns: u32) -> Result<Measurement> {
    let plan = kept().iter().find(|plan| plan.path == path).with_context(|| format!("there is no {path}"))?;
    let families = families(&plan.plan, space);
    let keys = keys(&plan.plan.name, &families, lines)?;
    let times: Vec<Duration> = (0..turns).map(|_| explained(path, space, &keys)).collect::<Result<_>>()?;
    let best = times.iter().min().copied().unwrap_or_default();
    let families = families.len();
    Ok(Measurement {
        name: plan.plan.name.clone(),
        value: f64::from(lines) / best.as_secs_f64(),
        goal: Goal::AtLeast(500_000.0),
        unit: "keys/s",
        compared_with: format!("{lines} lines of {families} families, start to end, by {}", clock()),
    })
}

/// The families of a plan, or of one of its spaces.
fn families<'p>(plan: &'p Plan, space: Option<&str>) -> Vec<&'p Family> {
    let all = plan.families().filter(|(found, _)| space.is_none_or(|space| found.name == space));
    all.map(|(_, family)| family).collect()
}

/// A file with one key a line, of any of the families.
fn keys(name: &str, families: &[&Family], wanted: u32) -> Result<PathBuf> {
    let mut rng = Rng::new(13);
    let mut text = String::new();
    let mut lines = 0;
    while lines < wanted {
        let family = rng.pick(families).with_context(|| format!("{name} has no family"))?;
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
    let path = workspace::scratch()?.join(format!("{name}.hex"));
    std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(path)
}

/// Explains all keys once.
fn explained(plan: &str, space: Option<&str>, keys: &Path) -> Result<Duration> {
    let program = program("keyplan")?;
    let job = if has_taskset() {
        Job::new("taskset", "--cpu-list 0").argument(program)
    } else {
        Job::new(&program, "")
    };
    let mut job = job.argument("explain").argument(plan).argument("--input=hex").argument("--format=json");
    if let Some(space) = space {
        job = job.argument(format!("--space={space}"));
    }
    let input = File::open(keys).with_context(|| format!("cannot read {}", keys.display()))?;
    let mut command = job.command();
    command.stdin(input).stdout(Stdio::null());
    let watch = Stopwatch::start();
    let status = command.status().with_context(|| format!("cannot run `{job}`"))?;
    let time = watch.cost();
    if status.code().is_none_or(|code| code > 1) {
        bail!("`{job}` failed: {status}");
    }
    Ok(time)
}

pub(super) fn clock() -> &'static str {
    let pinned = has_taskset();
    match (counts_processor_time(), pinned) {
        (true, true) => "processor time on one core",
        (true, false) => "processor time",
        (false, true) => "the clock on one core",
        (false, false) => "the clock, not pinned to a core as taskset is missing",
    }
}

pub(super) fn has_taskset() -> bool {
    Job::new("taskset", "--version").succeeds()
}
