//! Structures in this process, against the obvious layout written by hand on the same engine.
//!
//! ```text
//! cargo run --release -p keyplan-store --example structure_bench -- [--members N] [--search N] [--dir DIR]
//! ```
//!
//! Each line is JSON: `{"measure": …, "side": "ours" | "raw", "unit": "us", "value": …, "cpu": …}`. Times are of one
//! operation, the medians of passes in which the two sides take turns: by the clock, and of the processor in the calling
//! thread, which other programs on the machine change less. Members are 36 bytes; reads are of members that are there.
//! `_100` is a batch of 100, by the operation. The side `raw` counts nothing, and writes hashes and sets unread.

mod data;
mod ours;
mod raw;

use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write as _;
use std::path::PathBuf;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Figures of one pass by name, in microseconds: by the clock, and of the processor.
type Figures = BTreeMap<&'static str, (f64, f64)>;

struct Arguments {
    members: usize,
    search: u32,
    passes: usize,
    directory: PathBuf,
}

fn arguments() -> Result<Arguments> {
    let mut parsed = Arguments {
        members: 110_000,
        search: 100_000,
        passes: 3,
        directory: std::env::temp_dir().join("keyplan-structure-bench"),
    };
    let mut rest = std::env::args().skip(1);
    while let Some(argument) = rest.next() {
        let mut value = || rest.next().ok_or("an option lacks its value");
        match argument.as_str() {
            "--members" => parsed.members = value()?.parse()?,
            "--search" => parsed.search = value()?.parse()?,
            "--passes" => parsed.passes = value()?.parse()?,
            "--dir" => parsed.directory = value()?.into(),
            other => return Err(format!("`{other}` is no option").into()),
        }
    }
    if parsed.members < 103_000 {
        return Err("the pops need 103,000 members".into());
    }
    Ok(parsed)
}

fn main() -> Result<()> {
    let arguments = arguments()?;
    let mut collected: BTreeMap<(&str, &str), Vec<(f64, f64)>> = BTreeMap::new();
    for _ in 0..arguments.passes {
        for side in ["ours", "raw"] {
            let directory = arguments.directory.join(side);
            if directory.exists() {
                std::fs::remove_dir_all(&directory)?;
            }
            std::fs::create_dir_all(&directory)?;
            let figures = match side {
                "ours" => ours::run(&directory, arguments.members)?,
                _ => raw::run(&directory, arguments.members)?,
            };
            for (measure, value) in figures {
                collected.entry((measure, side)).or_default().push(value);
            }
            std::fs::remove_dir_all(&directory)?;
        }
    }
    let mut out = std::io::stdout().lock();
    for ((measure, side), values) in collected {
        let value = median(values.iter().map(|(wall, _)| *wall));
        let cpu = median(values.iter().map(|(_, cpu)| *cpu));
        writeln!(
            out,
            "{{\"measure\": \"{measure}\", \"side\": \"{side}\", \"unit\": \"us\", \"value\": {value:.3}, \"cpu\": {cpu:.3}}}"
        )?;
    }
    let directory = arguments.directory.join("search");
    std::fs::create_dir_all(&directory)?;
    for (measure, unit, value) in ours::search(&directory, arguments.search)? {
        writeln!(
            out,
            "{{\"measure\": \"{measure}\", \"side\": \"ours\", \"unit\": \"{unit}\", \"value\": {value:.3}}}"
        )?;
    }
    std::fs::remove_dir_all(&arguments.directory)?;
    Ok(())
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}
