//! Structures in this process, against the obvious layout written by hand on the same engine.
//!
//! ```text
//! cargo run --release -p keyplan-store --example structure_bench -- [--operations N] [--search N] [--passes N] [--dir DIR]
//! ```
//!
//! Each line is JSON: `{"measure": …, "ours": …, "raw": …, "ratio": …, "best": …}`. Both sides hold 500,000 members of 36
//! bytes in each structure before anything is measured, and take turns of 100 operations: so short that most are not
//! interrupted, and what else the machine does meets both alike. `ours` and `raw` are microseconds of one operation, the
//! medians of the turns; `ratio` is the median of raw ÷ ours over the pairs of turns; `best` is our best turn, to compare
//! with the best of a server. Reads are of members that are there. `_100` is a batch of 100, by the operation.
//!
//! What is written by hand does what ours does as far as a caller can see: it says whether a member is new, as a server
//! does, and keeps a count that is read in one step, in memory and as a row of the same batch. `blind` is what remains
//! without both: a row that is neither looked for nor counted.
//!
//! Then `search` lines: rows that the engine gave out for one page of 100 over ten sets, counted at the engine.

mod counted;
mod data;
mod ours;
mod raw;
mod search;

use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::data::{FILLED, Operation, Side, timed};
use crate::ours::Ours;
use crate::raw::Raw;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

struct Arguments {
    operations: usize,
    search: u32,
    passes: usize,
    directory: PathBuf,
}

fn arguments() -> Result<Arguments> {
    let mut parsed = Arguments {
        operations: 20_000,
        search: 100_000,
        passes: 3,
        directory: std::env::temp_dir().join("keyplan-structure-bench"),
    };
    let mut rest = std::env::args().skip(1);
    while let Some(argument) = rest.next() {
        let mut value = || rest.next().ok_or("an option lacks its value");
        match argument.as_str() {
            "--operations" => parsed.operations = value()?.parse()?,
            "--search" => parsed.search = value()?.parse()?,
            "--passes" => parsed.passes = value()?.parse()?,
            "--dir" => parsed.directory = value()?.into(),
            other => return Err(format!("`{other}` is not an option").into()),
        }
    }
    Ok(parsed)
}

/// Microseconds of one operation in each turn.
#[derive(Default)]
struct Turns {
    ours: Vec<f64>,
    raw: Vec<f64>,
}

/// How many operations a turn has.
const TURN: usize = 100;

impl Turns {
    fn take(
        &mut self,
        count: usize,
        ours: impl FnOnce() -> Result<()>,
        raw: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        self.ours.push(timed(count, ours)?);
        self.raw.push(timed(count, raw)?);
        Ok(())
    }
}

type Measured = BTreeMap<&'static str, Turns>;

fn main() -> Result<()> {
    let arguments = arguments()?;
    let mut measured = Measured::new();
    for _ in 0..arguments.passes {
        pass(&arguments.directory, arguments.operations, &mut measured)?;
    }
    let mut out = std::io::stdout().lock();
    for (measure, turns) in &measured {
        let ratio = median(turns.raw.iter().zip(&turns.ours).map(|(raw, ours)| raw / ours));
        let (ours, raw) = (median(turns.ours.iter().copied()), median(turns.raw.iter().copied()));
        let best = turns.ours.iter().copied().fold(f64::INFINITY, f64::min);
        writeln!(
            out,
            "{{\"measure\": \"{measure}\", \"ours\": {ours:.3}, \"raw\": {raw:.3}, \"ratio\": {ratio:.3}, \"best\": {best:.3}}}"
        )?;
    }
    let directory = fresh(&arguments.directory, "search")?;
    for line in search::run(&directory, arguments.search)? {
        writeln!(out, "{line}")?;
    }
    std::fs::remove_dir_all(&arguments.directory)?;
    Ok(())
}

fn fresh(directory: &Path, name: &str) -> Result<PathBuf> {
    let directory = directory.join(name);
    if directory.exists() {
        std::fs::remove_dir_all(&directory)?;
    }
    std::fs::create_dir_all(&directory)?;
    Ok(directory)
}

fn pass(directory: &Path, operations: usize, measured: &mut Measured) -> Result<()> {
    let (at_ours, at_raw) = (fresh(directory, "ours")?, fresh(directory, "raw")?);
    let (mut ours, mut raw) = (Ours::open(&at_ours)?, Raw::open(&at_raw)?);
    for side in [&mut ours as &mut dyn Side, &mut raw] {
        for first in (0..FILLED).step_by(100) {
            Operation::WRITES.iter().try_for_each(|operation| side.batch(*operation, first))?;
        }
    }
    for operation in Operation::ALL {
        let turns = measured.entry(operation.name()).or_default();
        for first in (0..operations).step_by(TURN) {
            let all = first..first + TURN;
            turns.take(
                TURN,
                || all.clone().try_for_each(|n| ours.one(operation, n)),
                || all.clone().try_for_each(|n| raw.one(operation, n)),
            )?;
        }
    }
    for operation in Operation::WRITES {
        let turns = measured.entry(operation.name_100()).or_default();
        for first in (0..operations).step_by(TURN) {
            let all = (FILLED + operations + first..FILLED + operations + first + TURN).step_by(100);
            turns.take(
                TURN,
                || all.clone().try_for_each(|first| ours.batch(operation, first)),
                || all.clone().try_for_each(|first| raw.batch(operation, first)),
            )?;
        }
    }
    let turns = measured.entry("range_100").or_default();
    for first in (0..1_000).step_by(10) {
        let all = first..first + 10;
        turns.take(
            10,
            || all.clone().try_for_each(|n| ours.range(n)),
            || all.clone().try_for_each(|n| raw.range(n)),
        )?;
    }
    pops(&mut ours, &mut raw, measured)?;
    let turns = measured.entry("hash_set_blind").or_default();
    for first in (0..operations).step_by(TURN) {
        let all = 10 * FILLED + first..10 * FILLED + first + TURN;
        turns.take(
            TURN,
            || all.clone().try_for_each(|n| ours.one(Operation::HashSet, n)),
            || all.clone().try_for_each(|n| raw.blind(n)),
        )?;
    }
    let mut ours = ours.reopen(&at_ours)?;
    let turns = measured.entry("pop_min_reopened").or_default();
    for _ in 0..10 {
        turns.take(TURN, || (0..TURN).try_for_each(|_| ours.pop()), || Ok(()))?;
    }
    drop((ours, raw));
    std::fs::remove_dir_all(at_ours)?;
    std::fs::remove_dir_all(at_raw)?;
    Ok(())
}

fn pops(ours: &mut Ours, raw: &mut Raw, measured: &mut Measured) -> Result<()> {
    let thousand = |measured: &mut Measured, name, ours: &mut Ours, raw: &mut Raw| -> Result<()> {
        let turns = measured.entry(name).or_default();
        for _ in 0..10 {
            turns.take(
                TURN,
                || (0..TURN).try_for_each(|_| ours.pop()),
                || (0..TURN).try_for_each(|_| raw.pop()),
            )?;
        }
        Ok(())
    };
    thousand(measured, "pop_min_first", ours, raw)?;
    for _ in 0..99_000 {
        ours.pop()?;
        raw.pop()?;
    }
    thousand(measured, "pop_min_after_100k", ours, raw)
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}
