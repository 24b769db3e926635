//! The store against hand-written engine code, on the state of a chain: figures as ratios of one run.
//!
//! ```text
//! cargo run --release -p keyplan-store --example store_bench -- [--rows N] [--repeat N] [--dir DIR] [GROUP…]
//! ```
//!
//! Groups: `import`, `reads`, `scan`, `open`, `crash`, `bulk`, `mixed`; all of them by default. Each measurement is a
//! process of its own, and the two sides take turns, so that neither meets the other's memory or files. A line is
//! `group measure ours raw ratio goal`; a ratio over its goal is marked.

mod cpu;
mod data;
mod ours;
mod raw;

use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Figures of one process, by name.
type Figures = BTreeMap<String, f64>;

struct Arguments {
    rows: u64,
    repeat: usize,
    directory: PathBuf,
    groups: Vec<String>,
    // The work of one process: group and side.
    child: Option<(String, String)>,
}

fn arguments() -> Result<Arguments> {
    let mut parsed = Arguments {
        rows: 2_000_000,
        repeat: 1,
        directory: std::env::temp_dir().join("keyplan-store-bench"),
        groups: Vec::new(),
        child: None,
    };
    let mut rest = std::env::args().skip(1);
    while let Some(argument) = rest.next() {
        let mut value = || rest.next().ok_or("an option lacks its value");
        match argument.as_str() {
            "--rows" => parsed.rows = value()?.parse()?,
            "--repeat" => parsed.repeat = value()?.parse()?,
            "--dir" => parsed.directory = value()?.into(),
            "--child" => parsed.child = Some((value()?, value()?)),
            group => parsed.groups.push(group.to_owned()),
        }
    }
    Ok(parsed)
}

fn main() -> Result<()> {
    let arguments = arguments()?;
    if let Some((group, side)) = &arguments.child {
        let figures = work(group, side, arguments.rows, &arguments.directory)?;
        let mut out = std::io::stdout().lock();
        for (name, value) in figures {
            writeln!(out, "figure {name} {value}")?;
        }
        return Ok(());
    }
    let wanted = |group: &str| arguments.groups.is_empty() || arguments.groups.iter().any(|g| g == group);
    std::fs::create_dir_all(&arguments.directory)?;
    for group in ["import", "reads", "scan", "open", "crash", "bulk", "mixed"] {
        if wanted(group) {
            run(group, &arguments)?;
        }
    }
    Ok(())
}

/// What a group measures: the figure, and the most that ours may be of raw.
fn goals(group: &str) -> &'static [(&'static str, f64)] {
    match group {
        "import" => &[
            ("thread_cpu_s", 0.90),
            ("process_cpu_s", 1.05),
            ("wall_s", 1.05),
            ("commit_p50_ms", 1.05),
            ("commit_p99_ms", 0.5),
            ("commit_max_ms", 0.7),
            ("rss_mib", 1.05),
            ("disk_mib", 1.05),
        ],
        "reads" => &[("hit_us", 0.67), ("miss_us", 1.0), ("ten_us", 0.9), ("fresh_us", 0.67)],
        "scan" => &[("utxos_ns", 1.1), ("entities_ns", 1.1)],
        "open" => &[("open_s", 0.02), ("close_and_open_s", 0.35), ("closed_disk_mib", 1.05)],
        "crash" => &[("open_s", 0.4)],
        "bulk" => &[("process_cpu_s", 0.35), ("disk_mib", 0.55)],
        "mixed" => &[("write_us", 1.05), ("read_us", 1.05)],
        _ => &[],
    }
}

fn run(group: &str, arguments: &Arguments) -> Result<()> {
    let mut sides: BTreeMap<&str, Vec<Figures>> = BTreeMap::new();
    for round in 0..arguments.repeat {
        let order = if round % 2 == 0 { ["raw", "ours"] } else { ["ours", "raw"] };
        // Reads and scans are of the same code on the same files and settings, besides the engine's defaults.
        let same = matches!(group, "reads" | "scan").then_some("same");
        for side in order.into_iter().chain(same) {
            let figures = spawn(group, side, arguments)?;
            sides.entry(side).or_default().push(figures);
        }
    }
    let mut out = std::io::stdout().lock();
    let median = |side: &str, name: &str| {
        let mut found: Vec<f64> =
            sides.get(side).into_iter().flatten().filter_map(|figures| figures.get(name)).copied().collect();
        found.sort_by(f64::total_cmp);
        found.get(found.len() / 2).copied()
    };
    for (name, goal) in goals(group) {
        let Some((ours, raw)) = median("ours", name).zip(median("raw", name)) else { continue };
        let ratio = ours / raw;
        let mark = if ratio > *goal { "  over" } else { "" };
        writeln!(
            out,
            "{group:8} {name:18} ours {ours:10.3} raw {raw:10.3} ratio {ratio:6.3} goal {goal:5.2}{mark}"
        )?;
        if let Some(same) = median("same", name) {
            let ratio = ours / same;
            let mark = if ratio > 1.05 { "  over" } else { "" };
            writeln!(
                out,
                "{group:8} {name:18} ours {ours:10.3} same settings {same:10.3} ratio {ratio:6.3} goal  1.05{mark}"
            )?;
        }
    }
    Ok(())
}

fn spawn(group: &str, side: &str, arguments: &Arguments) -> Result<Figures> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("--child").arg(group).arg(side).arg("--rows").arg(arguments.rows.to_string());
    let output = command.arg("--dir").arg(&arguments.directory).output()?;
    let text = String::from_utf8(output.stdout)?;
    // A process that is meant to end badly has said what it had to say before.
    if !output.status.success() && text.is_empty() {
        return Err(format!("{group} {side}: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    let mut figures = Figures::new();
    for line in text.lines() {
        let mut words = line.split_whitespace();
        if let (Some("figure"), Some(name), Some(value)) = (words.next(), words.next(), words.next()) {
            figures.insert(name.to_owned(), value.parse()?);
        }
    }
    Ok(figures)
}

/// Does the work of one process.
fn work(group: &str, side: &str, rows: u64, base: &Path) -> Result<Figures> {
    let directory = base.join(if side == "raw" { "raw" } else { "ours" });
    let fresh = |name: &str| -> Result<PathBuf> {
        let path = base.join(name);
        if path.exists() {
            std::fs::remove_dir_all(&path)?;
        }
        Ok(path)
    };
    let name = directory.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
    match (group, side) {
        ("import", "ours") => ours::import(&fresh(&name)?, rows),
        ("import", _) => raw::import(&fresh(&name)?, rows),
        ("reads", "ours") => ours::reads(&directory, rows),
        ("reads", "same") => raw::reads(&directory, rows, raw::Settings::Ours),
        ("reads", _) => raw::reads(&directory, rows, raw::Settings::Default),
        ("scan", "ours") => ours::scan(&directory, rows),
        ("scan", "same") => raw::scan(&directory, raw::Settings::Ours),
        ("scan", _) => raw::scan(&directory, raw::Settings::Default),
        ("open", "ours") => ours::open(&fresh("ours-open")?, rows),
        ("open", _) => raw::open(&fresh("raw-open")?, rows),
        ("crash", side) => crash(side, rows, base, &fresh(&format!("{side}-crash"))?),
        ("crash-fill", "ours") => ours::fill_and_abort(&base.join("ours-crash"), rows),
        ("crash-fill", _) => raw::fill_and_abort(&base.join("raw-crash"), rows),
        ("bulk", "ours") => ours::bulk(&fresh("ours-bulk")?, rows),
        ("bulk", _) => raw::import(&fresh("raw-bulk")?, rows),
        ("mixed", "ours") => ours::mixed(&fresh("ours-mixed")?, rows),
        ("mixed", _) => raw::mixed(&fresh("raw-mixed")?, rows),
        _ => Err(format!("no group `{group}`").into()),
    }
}

/// Fills a database in a process that is aborted, then measures opening it.
fn crash(side: &str, rows: u64, base: &Path, directory: &Path) -> Result<Figures> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["--child", "crash-fill", side, "--rows", &rows.to_string(), "--dir"]).arg(base);
    if command.output()?.status.success() {
        return Err("the process that was to be aborted was not".into());
    }
    if side == "ours" { ours::reopen(directory) } else { raw::reopen(directory) }
}
