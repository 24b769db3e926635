//! How long proofs take: one line of JSON for each case, on standard output.
//!
//! `prover_bench [FILTER]` runs the cases whose name holds `FILTER`, or all of them: the plans of the project, plans of
//! many families made for the purpose, and pairs of long length-prefixed parts. `ms` is the median of several runs on
//! one thread, `best_ms` the quickest, both by the time on a core, to which other programs add little; `peak_kib` is the
//! most memory that the process ever had. A case `repairs …` is what looking for repairs takes beside reading and proving
//! the plan, which is `proof_ms`.
//!
//! ```text
//! {"case":"plan cosmwasm","ms":0.818,"best_ms":0.802,"families":5,"statements":35,"fails":7,"unknown":0,"runs":25}
//! ```

use std::fmt::Write as _;
use std::fs;
use std::hint::black_box;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use keyplan_plan::Compiled;
use keyplan_plan::model::Plan;
use keyplan_prover::{Options, Verdict, found, found_and_repaired, prove};
use rustix::time::{ClockId, clock_gettime};

/// How long one case is repeated at most; it runs at least [`FEWEST`] times.
const PATIENCE: Duration = Duration::from_millis(600);
const FEWEST: usize = 3;
const MOST: usize = 25;

/// The sizes of the plans that are made for the purpose.
const SIZES: [usize; 4] = [10, 100, 1_000, 3_000];

/// The parts of two families that are read side by side.
const PAIRS: [(&str, &str, &str); 6] = [
    ("len16 aligned", "a: bytes.len16 b: bytes.len16", "a: bytes.len16 b: bytes.len16 c: bytes.len16"),
    ("len16 shifted", "a: bytes.len16 b: bytes.len16", "x: u8 a: bytes.len16 b: bytes.len16"),
    (
        "len16 in text",
        "a: bytes.len16 b: bytes.len16",
        "x: text(\"a-z\", 1..) \"/\" a: bytes.len16 b: bytes.len16",
    ),
    ("len16 in bytes", "a: bytes.len16 b: bytes.len16", "x: bytes(0..=65535) a: bytes.len16"),
    (
        "four len16 shifted",
        "a: bytes.len16 b: bytes.len16 c: bytes.len16 d: bytes.len16",
        "x: u8 a: bytes.len16 b: bytes.len16 c: bytes.len16 d: bytes.len16",
    ),
    (
        "varlen in len16",
        "a: bytes.len16 b: bytes.len16",
        "a: bytes(0..=65535).varlen b: bytes(0..=65535).varlen",
    ),
];

fn main() -> ExitCode {
    let filter = std::env::args().nth(1).unwrap_or_default();
    match cases(&filter) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "prover_bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn cases(filter: &str) -> io::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plans");
    for (group, folder) in
        [("plan", folder.clone()), ("upstream", folder.join("upstream")), ("gallery", folder.join("gallery"))]
    {
        for path in plans_in(&folder)? {
            let name = path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let case = format!("{group} {name}");
            if case.contains(filter) {
                measure(&case, &read(&folder, &path).and_then(plan_of)?)?;
            }
            let case = format!("repairs {case}");
            if case.contains(filter) {
                repairs(&case, &|| read(&folder, &path))?;
            }
        }
    }
    let case = "in order 531";
    if case.contains(filter) {
        measure(case, &parsed(&in_order(531))?)?;
    }
    for size in SIZES {
        let case = format!("generated {size}");
        if case.contains(filter) {
            measure(&case, &parsed(&generated(size))?)?;
        }
    }
    let case = "sharing a prefix 1000";
    if case.contains(filter) {
        measure(case, &parsed(&sharing(1_000))?)?;
    }
    for (name, a, b) in PAIRS {
        let case = format!("pair {name}");
        if case.contains(filter) {
            // What tells them apart is the last byte, and only a product of the whole keys sees that.
            let text = format!("plan p; space s {{ key k = {a} z: u8(0..=1); key l = {b} z: u8(2..=3); }}");
            measure(&case, &parsed(&text)?)?;
        }
    }
    writeln!(io::stdout(), "{{\"case\":\"peak memory\",\"peak_kib\":{}}}", peak_kib()?)
}

fn plans_in(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "keyplan") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

fn read(folder: &Path, path: &Path) -> io::Result<Compiled> {
    let text = fs::read_to_string(path)?;
    let import = |name: &str| fs::read_to_string(folder.join(name)).map_err(|error| error.to_string());
    Ok(keyplan_plan::compile(&path.to_string_lossy(), &text, import))
}

fn parsed(text: &str) -> io::Result<Plan> {
    plan_of(keyplan_plan::compile("made.keyplan", text, |_| Err("nothing to import".to_owned())))
}

fn plan_of(compiled: Compiled) -> io::Result<Plan> {
    compiled.plan.ok_or_else(|| io::Error::other(format!("{:?}", compiled.diagnostics)))
}

/// What looking for repairs takes beside what a plan takes without, which is given too; the quickest of a few runs.
fn repairs(case: &str, read: &dyn Fn() -> io::Result<Compiled>) -> io::Result<()> {
    let options = Options::default();
    let (mut proof, mut whole, mut offered) = (Duration::MAX, Duration::MAX, 0);
    for _ in 0..FEWEST {
        for repairing in [false, true] {
            let began = on_core();
            let compiled = read()?;
            let Some(plan) = &compiled.plan else { return Err(io::Error::other("no plan")) };
            let report = prove(black_box(plan), &options);
            if repairing {
                let found = found_and_repaired(&compiled, &report, &options, "plan.keyplan");
                offered = found.iter().map(|found| found.repairs.len()).sum();
                whole = whole.min(on_core().saturating_sub(began));
            } else {
                black_box(found(plan, &report, &options, "plan.keyplan"));
                proof = proof.min(on_core().saturating_sub(began));
            }
        }
    }
    let (proof, more) = (proof.as_secs_f64() * 1e3, whole.saturating_sub(proof).as_secs_f64() * 1e3);
    writeln!(
        io::stdout(),
        "{{\"case\":\"{case}\",\"repairs_ms\":{more:.3},\"proof_ms\":{proof:.3},\"offered\":{offered}}}"
    )
}

/// Proves a plan over and over, and writes the median.
fn measure(case: &str, plan: &Plan) -> io::Result<()> {
    let options = Options::default();
    let began = Instant::now();
    let mut times = Vec::new();
    let report = loop {
        let started = on_core();
        let report = prove(black_box(plan), &options);
        times.push(on_core().saturating_sub(started));
        if times.len() >= MOST || times.len() >= FEWEST && began.elapsed() > PATIENCE {
            break report;
        }
    };
    times.sort_unstable();
    let median = times.get(times.len() / 2).copied().unwrap_or_default();
    let best = times.first().copied().unwrap_or_default();
    let families: usize = plan.spaces.iter().map(|space| space.families.len()).sum();
    let unknown = report.statements.iter().filter(|s| matches!(s.verdict, Verdict::Unknown(_))).count();
    let fails = report.statements.iter().filter(|s| matches!(s.verdict, Verdict::Fails(_))).count();
    writeln!(
        io::stdout(),
        "{{\"case\":\"{case}\",\"ms\":{:.3},\"best_ms\":{:.3},\"families\":{families},\"statements\":{},\"fails\":{fails},\"unknown\":{unknown},\"runs\":{}}}",
        median.as_secs_f64() * 1e3,
        best.as_secs_f64() * 1e3,
        report.statements.len(),
        times.len(),
    )
}

/// Families as the modules of a chain have them: a byte for the module, one for the family, and parts of every kind.
fn generated(count: usize) -> String {
    let mut text = "plan made; space s {\n".to_owned();
    for index in 0..count {
        let (module, number) = (index / 100, index % 100);
        let body = match index % 10 {
            0 => "pool: u64 scan all in order",
            1 => "owner: bytes(20 | 32).len8 id: u64 scan all scan by owner in order",
            2 => {
                "denom: text(\"a-zA-Z\", \"a-zA-Z0-9/:._-\", 3..=128) \"|\" pool: u64 scan all scan by denom in order"
            }
            3 => "height: u64.dec \"/\" index: u32.dec scan by height",
            4 => "pool: u64 tick: i64.tick9 scan by pool in order",
            5 => "contract: bytes.len16 key: bytes scan by contract in order",
            6 => {
                "day: u32(0..=99999999).dec(8) \"/\" kind: (spot: \"s\" | twap: \"t\") name: text(\"a-z\", 1..=32) scan by day in order scan by day, kind"
            }
            7 => "hash: bytes(32) out: option(u32) scan by hash in order",
            8 => {
                "path: list(text(\"a-z0-9\", 1..=16), 1..=4).joined(\"/\") \"#\" id: u32 scan by path in order"
            }
            _ => "a: text(\"a-z\", 1..=20) b: text(\"a-z\", 1..=20) scan by a",
        };
        // Writing to a string does not fail.
        let _ = writeln!(text, "  key f{index} = 0x{module:02x}{number:02x} {body};");
    }
    text.push('}');
    text
}

/// Families of one space, each with scans of all and of a part in order.
fn in_order(count: usize) -> String {
    let mut text = "plan made; space s {\n".to_owned();
    for index in 0..count {
        let end = match index % 4 {
            0 => "u64",
            1 => "bytes(8)",
            2 => "text(\"a-z\", 1..=20)",
            _ => "u32 \"/\" c: u32",
        };
        let _ = writeln!(
            text,
            "  key k{index} = \"k{index}\" a: text(\"a-z\", 1..=20) \"/\" b: {end} scan all in order scan by a in order;"
        );
    }
    text.push('}');
    text
}

/// Families that all begin alike: what follows tells them apart, at the end or on the way.
fn sharing(count: usize) -> String {
    let mut text = "plan made; space s {\n".to_owned();
    for index in 0..count {
        let _ = writeln!(text, "  key f{index} = \"z:\" a: text(\"a-z\", 1..) \":{index}:\" b: u64.dec;");
    }
    text.push('}');
    text
}

/// How long this thread was on a core so far.
fn on_core() -> Duration {
    // The clock of a thread is never negative.
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}

/// The most memory that this process ever had, in KiB; 0 where the system does not say.
fn peak_kib() -> io::Result<u64> {
    let Ok(status) = fs::read_to_string("/proc/self/status") else { return Ok(0) };
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse().ok());
    number.ok_or_else(|| io::Error::other("no VmHWM in /proc/self/status"))
}
