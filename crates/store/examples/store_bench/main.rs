//! The store against hand-written engine code, on the state of a chain: figures as ratios of one run.
//!
//! ```text
//! cargo run --release -p keyplan-store --example store_bench -- [--rows N] [--repeat N] [--dir DIR] [--json] [GROUP…]
//! ```
//!
//! Groups: `caller`, `import`, `reads`, `scan`, `open`, `crash`, `bulk`, `mixed`; all of them by default. Where memory,
//! files and start-up count, a measurement is a process of its own and the sides take turns; what the caller of an import
//! does, reads, scans and a writer beside a reader take turns in one process. `reads` and `scan` read what `import` has
//! left. With `--json` a line is an object that `cargo xtask bench` records. A ratio over its goal is marked.
//!
//! Times are on the clock unless they say CPU: on a machine with other work they mean little.

mod cpu;
mod data;
mod growth;
mod mixed;
mod ours;
mod raw;
mod reads;
mod turns;

use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Figures of one process, by name.
type Figures = BTreeMap<String, f64>;

struct Arguments {
    rows: u64,
    repeat: usize,
    directory: PathBuf,
    groups: Vec<String>,
    json: bool,
    // The work of one process: group and side.
    child: Option<(String, String)>,
    // How often it is done, where that is asked for.
    count: u64,
}

fn arguments() -> Result<Arguments> {
    let mut parsed = Arguments {
        rows: 2_000_000,
        repeat: 1,
        directory: std::env::temp_dir().join("keyplan-store-bench"),
        groups: Vec::new(),
        json: false,
        child: None,
        count: 1,
    };
    let mut rest = std::env::args().skip(1);
    while let Some(argument) = rest.next() {
        let mut value = || rest.next().ok_or("an option lacks its value");
        match argument.as_str() {
            "--rows" => parsed.rows = value()?.parse()?,
            "--repeat" => parsed.repeat = value()?.parse()?,
            "--dir" => parsed.directory = value()?.into(),
            "--count" => parsed.count = value()?.parse()?,
            "--json" => parsed.json = true,
            "--child" => parsed.child = Some((value()?, value()?)),
            group => parsed.groups.push(group.to_owned()),
        }
    }
    Ok(parsed)
}

fn main() -> Result<()> {
    let arguments = arguments()?;
    if let Some((group, side)) = &arguments.child {
        let figures = match group.as_str() {
            "growth" => growth::work(side, &arguments.directory, arguments.rows, arguments.count)?,
            _ => work(group, side, arguments.rows, &arguments.directory)?,
        };
        let mut out = std::io::stdout().lock();
        for (name, value) in figures {
            writeln!(out, "figure {name} {value}")?;
        }
        return Ok(());
    }
    let wanted = |group: &str| arguments.groups.is_empty() || arguments.groups.iter().any(|g| g == group);
    std::fs::create_dir_all(&arguments.directory)?;
    for group in ["caller", "import", "reads", "scan", "open", "crash", "bulk", "mixed"] {
        if wanted(group) {
            run(group, &arguments)?;
        }
    }
    Ok(())
}

/// A figure of a group, and the most that ours may be of the other side's.
struct Measure {
    figure: &'static str,
    name: &'static str,
    unit: &'static str,
    goal: f64,
}

const fn measure(figure: &'static str, name: &'static str, unit: &'static str, goal: f64) -> Measure {
    Measure { figure, name, unit, goal }
}

/// What a group measures.
fn measures(group: &str) -> &'static [Measure] {
    const IMPORT: &[Measure] = &[
        measure("process_cpu_s", "import, all threads", "s CPU", 1.05),
        measure("commit_p99_ms", "commit during import, p99", "ms", 0.5),
        measure("commit_max_ms", "commit during import, longest", "ms", 0.7),
        measure("rss_mib", "memory after import", "MiB", 1.05),
        measure("disk_mib", "disk after import", "MiB", 1.05),
    ];
    const CALLER: &[Measure] = &[measure("thread_cpu_s", "import, calling thread", "s CPU", 0.90)];
    const READS: &[Measure] = &[
        measure("hit_us", "get, hit", "µs CPU", 0.67),
        measure("miss_us", "get, miss", "µs CPU", 1.0),
        measure("ten_us", "ten gets at once", "µs CPU", 0.90),
        measure("fresh_us", "get, a snapshot for each", "µs CPU", 0.67),
    ];
    const SCAN: &[Measure] = &[
        measure("utxos_ns", "scan of all outputs", "ns CPU per row", 1.1),
        measure("entities_ns", "scan of a namespace", "ns CPU per row", 1.1),
    ];
    const OPEN: &[Measure] = &[
        measure("open_s", "open after a clean shutdown", "s", 0.02),
        measure("close_and_open_s", "close and open", "s", 0.35),
    ];
    const CRASH: &[Measure] = &[measure("open_s", "open after a kill", "s", 0.4)];
    const BULK: &[Measure] = &[
        measure("process_cpu_s", "bulk load, of the batched import", "s CPU", 0.35),
        measure("disk_mib", "disk after a bulk load, of the batched import", "MiB", 0.55),
    ];
    const MIXED: &[Measure] = &[
        measure("write_us", "commit of 500 beside a reader", "µs", 1.053),
        measure("read_us", "get beside a writer", "µs", 1.053),
    ];
    match group {
        "import" => IMPORT,
        "caller" => CALLER,
        "reads" => READS,
        "scan" => SCAN,
        "open" => OPEN,
        "crash" => CRASH,
        "bulk" => BULK,
        "mixed" => MIXED,
        _ => &[],
    }
}

/// Whether the sides of a group take turns inside of one process.
fn joined(group: &str) -> bool {
    matches!(group, "caller" | "reads" | "scan" | "mixed")
}

/// How often each side runs: the longest of some hundred commits differs much from run to run, closing waits for a compaction
/// if there is one, and rows that are scanned lie where the allocator of that process put them.
fn rounds(group: &str, arguments: &Arguments) -> usize {
    let usual = match group {
        "import" | "bulk" => 5,
        "reads" | "scan" | "open" => 3,
        _ => 1,
    };
    arguments.repeat * usual
}

fn run(group: &str, arguments: &Arguments) -> Result<()> {
    let mut sides: BTreeMap<&str, Vec<Figures>> = BTreeMap::new();
    for round in 0..rounds(group, arguments) {
        if joined(group) {
            let figures = spawn(group, "all", arguments)?;
            for side in ["ours", "raw", "same"] {
                let own = figures.iter().filter_map(|(name, &value)| {
                    let (of, name) = name.split_once('.')?;
                    (of == side).then(|| (name.to_owned(), value))
                });
                sides.entry(side).or_default().push(own.collect());
            }
            continue;
        }
        let order = if round % 2 == 0 { ["raw", "ours"] } else { ["ours", "raw"] };
        for side in order {
            let figures = spawn(group, side, arguments)?;
            sides.entry(side).or_default().push(figures);
        }
    }
    let figure = |side: &str, name: &str| {
        let found = sides.get(side).into_iter().flatten().filter_map(|figures| figures.get(name)).copied();
        let found: Vec<f64> = found.collect();
        if group == "bulk" {
            // Processor time and disk only: what disturbs the machine only ever makes them more.
            found.into_iter().reduce(f64::min)
        } else {
            (!found.is_empty()).then(|| turns::median(found))
        }
    };
    for measure in measures(group) {
        let Some(ours) = figure("ours", measure.figure) else { continue };
        if let Some(raw) = figure("raw", measure.figure) {
            let settings = if group == "mixed" { "our settings" } else { "its defaults" };
            let with = format!("hand-written fjall, {settings}");
            line(arguments, measure, &with, measure.goal, (ours, raw))?;
        }
        if let Some(same) = figure("same", measure.figure) {
            let goal = if group == "scan" { 1.10 } else { 1.05 };
            line(arguments, measure, "hand-written fjall, our files and settings", goal, (ours, same))?;
        }
    }
    Ok(())
}

/// Says what was measured.
fn line(
    arguments: &Arguments,
    measure: &Measure,
    with: &str,
    goal: f64,
    (ours, other): (f64, f64),
) -> Result<()> {
    let Measure { name, unit, .. } = measure;
    let ratio = ours / other;
    let mut out = std::io::stdout().lock();
    if arguments.json {
        writeln!(
            out,
            "{{\"name\":\"{name}\",\"value\":{ratio},\"goal\":{goal},\"compared_with\":\"{with}: \
             {ours:.3} {unit} against {other:.3}\"}}"
        )?;
    } else {
        let mark = if ratio > goal { "  over" } else { "" };
        writeln!(
            out,
            "{name:46} {ratio:6.3} goal {goal:5.2}  {ours:.3} {unit} against {other:.3}, {with}{mark}"
        )?;
    }
    Ok(())
}

fn spawn(group: &str, side: &str, arguments: &Arguments) -> Result<Figures> {
    if matches!(group, "import" | "bulk") {
        cpu::touch_memory();
    }
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
    let fresh = |name: &str| -> Result<PathBuf> {
        let path = base.join(name);
        if path.exists() {
            std::fs::remove_dir_all(&path)?;
        }
        Ok(path)
    };
    match (group, side) {
        ("import", "ours") => ours::import(&fresh("ours")?, rows),
        ("import", _) => raw::import(&fresh("raw")?, rows),
        ("caller", _) => caller([&fresh("ours-caller")?, &fresh("raw-caller")?], rows),
        ("reads", _) => reads::reads(base, rows),
        ("scan", _) => reads::scan(base, rows),
        ("open", "ours") => ours::open(&fresh("ours-open")?, rows),
        ("open", _) => raw::open(&fresh("raw-open")?, rows),
        ("crash", side) => crash(side, rows, base, &fresh(&format!("{side}-crash"))?),
        ("crash-fill", "ours") => ours::fill_and_abort(&base.join("ours-crash"), rows),
        ("crash-fill", _) => raw::fill_and_abort(&base.join("raw-crash"), rows),
        ("bulk", "ours") => ours::bulk(&fresh("ours-bulk")?, rows),
        ("bulk", _) => Ok(raw::batched(&fresh("raw-bulk")?, rows)?.1),
        ("mixed", _) => mixed::mixed([&fresh("ours-mixed")?, &fresh("raw-mixed")?], rows),
        _ => Err(format!("no group `{group}`").into()),
    }
}

/// Imports on both sides in turns, a batch each: what the calling thread has to do differs by less than the speed of the
/// machine does from one process to the next.
fn caller([ours_in, raw_in]: [&Path; 2], rows: u64) -> Result<Figures> {
    let store = ours::store(ours_in)?;
    let ids = ours::spaces(&store)?;
    let raw = raw::raw(raw_in, raw::Settings::Default)?;
    let (mut mine, mut theirs) = (Duration::ZERO, Duration::ZERO);
    for (turn, (step, same)) in data::steps(rows).zip(data::steps(rows)).enumerate() {
        let our_turn = || cpu::of_thread(&mut mine, || ours::commit(&store, ids, step));
        let their_turn = || cpu::of_thread(&mut theirs, || raw::commit(&raw, same));
        if turn % 2 == 0 {
            our_turn()?;
            their_turn()?;
        } else {
            their_turn()?;
            our_turn()?;
        }
    }
    store.shutdown(ours::SHUTDOWN)?;
    Ok(Figures::from([
        ("ours.thread_cpu_s".into(), mine.as_secs_f64()),
        ("raw.thread_cpu_s".into(), theirs.as_secs_f64()),
    ]))
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
