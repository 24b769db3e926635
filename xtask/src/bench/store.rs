//! The store against hand-written code on the same engines.
//!
//! Imports, opening and memory are measured by the benchmarks of the crates themselves, each side in a process of its own;
//! reads, scans and a writer beside a reader in turns in one process. Typed reads, and what they cost in larger and larger
//! databases, differ by less than times do from run to run: their instructions are counted.

use std::path::Path;

use anyhow::{Context as _, Result, bail};
use xtask::workspace;

use super::figures::told_in;
use super::{Effort, Goal, Group, Measurement, number, program};
use crate::job::Job;
use crate::tool::Tool;

pub(super) struct Store;

impl Group for Store {
    fn name(&self) -> &'static str {
        "store"
    }

    fn measure(&self, effort: Effort) -> Result<Vec<Measurement>> {
        Tool::Valgrind.need()?;
        let scratch = workspace::scratch()?.join("store");
        if scratch.exists() {
            std::fs::remove_dir_all(&scratch).context("cannot remove what an earlier run left")?;
        }
        std::fs::create_dir_all(&scratch).context("cannot make a directory for the databases")?;
        let mut lines = told(&state(effort, &scratch)?)?;
        lines.extend(told(&cardano(effort, &scratch)?)?);
        if effort == Effort::Full {
            // Under a counter of instructions these take minutes.
            lines.extend(typed(&scratch)?);
            lines.extend(cached(&scratch)?);
            lines.extend(growth(&scratch)?);
        }
        std::fs::remove_dir_all(&scratch).context("cannot remove the databases")?;
        Ok(lines)
    }
}

/// The store itself, on the state of a chain.
fn state(effort: Effort, scratch: &Path) -> Result<Job> {
    let job = Job::new(&program("examples/store_bench")?, "--json --dir").argument(scratch.to_string_lossy());
    Ok(match effort {
        Effort::Quick => job.arguments("--rows 100000 import reads scan open crash bulk"),
        Effort::Full => job.arguments("--rows 2000000"),
    })
}

/// The state store of Cardano.
fn cardano(effort: Effort, scratch: &Path) -> Result<Job> {
    let job = Job::new(&program("examples/cardano_bench")?, "--json").argument(scratch.to_string_lossy());
    Ok(match effort {
        Effort::Quick => job.argument("--quick"),
        Effort::Full => job,
    })
}

/// Runs a benchmark that says its measurements as objects, one per line: ratios, and what they are of.
fn told(job: &Job) -> Result<Vec<Measurement>> {
    told_in(job, |_| Some("×"))
}

/// Rows that one pass of `typed_bench` reads.
const TYPED_ROWS: f64 = 20_000.0;

/// Typed gets and scans, against the same by hand on the same files.
fn typed(scratch: &Path) -> Result<Vec<Measurement>> {
    let program = program("examples/typed_bench")?;
    let mut lines = Vec::new();
    for (engine, scan) in [("fjall", 1.10), ("redb", 1.05), ("lmdb", 1.10)] {
        let directory = scratch.join(format!("typed-{engine}"));
        let directory = directory.to_string_lossy();
        Job::new(&program, engine).argument("fill").argument(&*directory).run()?;
        for (operation, most) in [("get", 1.05), ("scan", scan)] {
            let each = |tool: Counter, side: &str| {
                let pass = |passes: u32| {
                    let arguments = format!("{engine} {operation} {side} {passes}");
                    tool.count(&program, &arguments, &directory)
                };
                // Opening a database takes some hundred thousand instructions more or less.
                Ok::<_, anyhow::Error>((pass(6)? - pass(1)?) / 5.0 / TYPED_ROWS)
            };
            let (ours, raw) = (each(Counter::Instructions, "typed")?, each(Counter::Instructions, "raw")?);
            lines.push(Measurement {
                name: format!("typed {operation} on {engine}"),
                value: ours / raw,
                goal: Goal::AtMost(most),
                unit: "× instructions",
                compared_with: format!("by hand: {ours:.0} instructions a row against {raw:.0}"),
            });
            let (ours, raw) = (each(Counter::Allocations, "typed")?, each(Counter::Allocations, "raw")?);
            lines.push(Measurement {
                name: format!("allocations that a typed {operation} adds on {engine}"),
                value: (ours - raw).max(0.0),
                goal: Goal::AtMost(0.01),
                unit: "per row",
                compared_with: format!("by hand: {ours:.2} per row against {raw:.2}"),
            });
        }
    }
    Ok(lines)
}

/// Typed gets and scans with a row cache, on the files of fjall that [`typed`] left: a scan beside one without it, and what a get
/// of a cached row costs.
fn cached(scratch: &Path) -> Result<Vec<Measurement>> {
    let program = program("examples/typed_bench")?;
    let directory = scratch.join("typed-fjall");
    let directory = directory.to_string_lossy();
    let each = |tool: Counter, operation: &str, side: &str| {
        let pass =
            |passes: u32| tool.count(&program, &format!("fjall {operation} {side} {passes}"), &directory);
        Ok::<_, anyhow::Error>((pass(6)? - pass(1)?) / 5.0 / TYPED_ROWS)
    };
    let with = each(Counter::Instructions, "scan", "cached")?;
    let without = each(Counter::Instructions, "scan", "typed")?;
    let hit = each(Counter::Instructions, "get", "cached")?;
    let allocations = each(Counter::Allocations, "get", "cached")?;
    Ok(vec![
        Measurement {
            name: "typed scan with a row cache".into(),
            value: with / without,
            goal: Goal::AtMost(1.02),
            unit: "× instructions",
            compared_with: format!("without it: {with:.0} instructions a row against {without:.0}"),
        },
        Measurement {
            name: "allocations of a typed get of a cached row".into(),
            value: allocations.max(0.0),
            // The engine's own threads make one now and then.
            goal: Goal::AtMost(0.001),
            unit: "per row",
            compared_with: format!("{hit:.0} instructions a get"),
        },
    ])
}

/// Rows that one pass over a growing database reads.
const GROWTH_ROWS: f64 = 2_000.0;

/// Gets and scans in databases of more and more rows, against the smallest of them.
fn growth(scratch: &Path) -> Result<Vec<Measurement>> {
    let program = program("examples/store_bench")?;
    let directory = scratch.to_string_lossy();
    let mut lines = Vec::new();
    let mut smallest = None;
    for power in 4..=7 {
        let rows = 10_u64.pow(power);
        let child =
            |what: &str, count: u32| format!("--child growth {what} --rows {rows} --count {count} --dir");
        Job::new(&program, &child("fill", 1)).argument(&*directory).run()?;
        let each = |what: &str| {
            let pass = |count| Counter::Instructions.count(&program, &child(what, count), &directory);
            Ok::<_, anyhow::Error>((pass(3)? - pass(1)?) / 2.0 / GROWTH_ROWS)
        };
        let found = [("get", each("get")?), ("scan", each("scan")?)];
        let Some(small) = smallest else {
            smallest = Some(found);
            continue;
        };
        for ((what, ours), (_, least)) in found.into_iter().zip(small) {
            lines.push(Measurement {
                name: format!("a {} in 10^{power} rows", if what == "get" { "get" } else { "scan's row" }),
                value: ours / least,
                // A get may grow as the logarithm of the rows does, a row of a scan not at all.
                goal: Goal::AtMost(if what == "get" { f64::from(power) / 4.0 } else { 1.1 }),
                unit: "× instructions",
                compared_with: format!(
                    "10^4 rows: {} instructions against {}",
                    number(ours.round()),
                    number(least.round())
                ),
            });
        }
    }
    Ok(lines)
}

/// What valgrind counts.
#[derive(Clone, Copy)]
enum Counter {
    Instructions,
    Allocations,
}

impl Counter {
    fn count(self, program: &str, arguments: &str, directory: &str) -> Result<f64> {
        let tool = match self {
            Self::Instructions => "--tool=callgrind --callgrind-out-file=/dev/null",
            Self::Allocations => "--tool=memcheck --undef-value-errors=no",
        };
        let job = Job::new("valgrind", tool).argument(program).arguments(arguments).argument(directory);
        let output = job.command().output().with_context(|| format!("cannot run `{job}`"))?;
        let said = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            bail!("`{job}` failed: {}\n{said}", output.status);
        }
        let count = match self {
            Self::Instructions => said.lines().find_map(|line| line.split_once("Collected :")),
            Self::Allocations => said.lines().find_map(|line| line.split_once("total heap usage:")),
        };
        let count = count.and_then(|(_, count)| count.split_whitespace().next());
        let count = count.with_context(|| format!("`{job}` does not say what it counted:\n{said}"))?;
        count.replace(',', "").parse().with_context(|| format!("`{job}` counted {count}"))
    }
}
