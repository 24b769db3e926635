//! Databases of other programs: our walk against the engines' ordinary bindings, the fast index of IAVL, `db audit`, memory.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use xtask::workspace;

use super::explain::{clock, has_taskset};
use super::{Effort, Goal, Group, Measurement, build_more, program};
use crate::clock::Stopwatch;
use crate::job::Job;
use crate::tool::Tool;

pub(super) struct Sources;

const PLAN: &str = "plans/upstream/osmosis_cl.keyplan";

/// What a walk cost, and what it met.
struct Walked {
    time: Duration,
    /// The most memory that the process had, in kilobytes, where the system says so.
    peak: Option<u32>,
    told: String,
}

impl Walked {
    /// A number that the program printed after a word.
    fn number(&self, word: &str) -> Option<f64> {
        let mut words = self.told.split_whitespace().skip_while(|found| *found != word);
        words.nth(1)?.parse().ok()
    }

    /// The quicker of two turns, with the more memory of both.
    fn better(self, other: Self) -> Self {
        let peak = self.peak.max(other.peak);
        Self { peak, ..if other.time < self.time { other } else { self } }
    }
}

impl Group for Sources {
    fn name(&self) -> &'static str {
        "sources"
    }

    fn measure(&self, effort: Effort) -> Result<Vec<Measurement>> {
        Tool::Go.need()?;
        Tool::Goleveldb.need()?;
        build_more("--package keyplan-sources --example walk")?;
        let (rows, turns) = match effort {
            Effort::Quick => (300_000_u32, 3),
            Effort::Full => (10_000_000, 3),
        };
        let folder = workspace::scratch()?.join("sources");
        if folder.exists() {
            std::fs::remove_dir_all(&folder)?;
        }
        std::fs::create_dir_all(&folder)?;
        let (level, python) = (build_level(&folder)?, install_rocksdict(&folder)?);
        let at = |name: &str| folder.join(name).to_string_lossy().into_owned();
        let (rocks, go, iavl) = (at("rocksdb"), at("goleveldb"), at("application.db"));
        python_job(&python, "write", &rocks).argument(rows.to_string()).run()?;
        Job::new(&level, "write").argument(&go).argument(rows.to_string()).run()?;
        Job::new(&level, "iavl").argument(&iavl).argument(rows.to_string()).run()?;
        let walk = program("examples/walk")?;
        let ours = |path: &str| Job::new(&walk, "").argument(path);
        let (mine, theirs) = against(turns, &ours(&rocks), &python_job(&python, "walk", &rocks))?;
        let mut out = vec![
            ratio("RocksDB, walk", &mine, &theirs, "rocksdict of PyPI", 1.0),
            memory("RocksDB, memory", &mine, rows),
        ];
        let (mine, theirs) = against(turns, &ours(&go), &Job::new(&level, "walk").argument(&go))?;
        out.push(ratio("goleveldb, walk", &mine, &theirs, "goleveldb's own iterator in Go", 1.0));
        out.push(memory("goleveldb, memory", &mine, rows));
        let raw = ours(&iavl).argument("lsm");
        let (mine, theirs) = against(turns, &ours(&iavl), &raw)?;
        // The rows of the tree and of the commit are four more.
        if mine.number("rows") != Some(f64::from(rows))
            || theirs.number("rows") != Some(f64::from(rows) + 4.0)
        {
            bail!("a walk met other rows than were written: {} and {}", mine.told, theirs.told);
        }
        let value = theirs.time.as_secs_f64() / mine.time.as_secs_f64();
        out.push(Measurement {
            name: "IAVL, fast index".to_owned(),
            value,
            goal: Goal::AtLeast(0.8),
            unit: "× of the raw walk",
            compared_with: format!(
                "{rows} rows, {} against {} ms, {}",
                mine.time.as_millis(),
                theirs.time.as_millis(),
                clock()
            ),
        });
        out.push(memory("IAVL, memory", &mine, rows));
        out.extend(audit(&go, rows, turns)?);
        std::fs::remove_dir_all(&folder)?;
        Ok(out)
    }
}

/// `db audit` of ticks, whose values are not looked into: none of them is a message.
fn audit(data: &str, rows: u32, turns: u32) -> Result<[Measurement; 2]> {
    build_more("--package keyplan-cli")?;
    let job = Job::new(&program("keyplan")?, "db audit").argument(data).argument(format!("--plan={PLAN}"));
    let mut best = timed(&job, &[0, 1])?;
    for _ in 1..turns {
        best = best.better(timed(&job, &[0, 1])?);
    }
    let speed = Measurement {
        name: "audit of ticks".to_owned(),
        value: f64::from(rows) / best.time.as_secs_f64(),
        goal: Goal::AtLeast(500_000.0),
        unit: "rows/s",
        compared_with: format!("{rows} rows by {PLAN}, start to end, by {}", clock()),
    };
    Ok([speed, memory("audit, memory", &best, rows)])
}

fn memory(name: &str, walked: &Walked, rows: u32) -> Measurement {
    Measurement {
        name: name.to_owned(),
        value: walked.peak.map_or(f64::MAX, f64::from) / 1_000.0,
        goal: Goal::AtMost(200.0),
        unit: "MB",
        compared_with: format!("the most that the process had, {rows} rows"),
    }
}

/// The best of some turns of each, in turn.
fn against(turns: u32, ours: &Job, theirs: &Job) -> Result<(Walked, Walked)> {
    let (mut mine, mut other) = (timed(ours, &[0])?, timed(theirs, &[0])?);
    for _ in 1..turns {
        mine = mine.better(timed(ours, &[0])?);
        other = other.better(timed(theirs, &[0])?);
    }
    Ok((mine, other))
}

fn ratio(name: &str, mine: &Walked, theirs: &Walked, what: &str, goal: f64) -> Measurement {
    let (ours, others) = (mine.time.as_millis(), theirs.time.as_millis());
    Measurement {
        name: name.to_owned(),
        value: theirs.time.as_secs_f64() / mine.time.as_secs_f64(),
        goal: Goal::AtLeast(goal),
        unit: "× throughput",
        compared_with: format!(
            "{what}: {ours} against {others} ms for {} rows, {}",
            mine.number("rows").unwrap_or_default(),
            clock()
        ),
    }
}

/// Runs a job on one core; what counts is its processor time.
fn timed(job: &Job, codes: &[i32]) -> Result<Walked> {
    let mut command = job.command();
    if has_taskset() {
        let mut pinned = std::process::Command::new("taskset");
        pinned.args(["--cpu-list", "0"]).arg(command.get_program()).args(command.get_args());
        pinned.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        pinned.current_dir(workspace::root());
        command = pinned;
    }
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    let clock = Stopwatch::start();
    let child = command.spawn().with_context(|| format!("cannot run `{job}`"))?;
    let watch = watched(child.id());
    let output = child.wait_with_output().with_context(|| format!("cannot run `{job}`"))?;
    let peak = watch.join().ok().flatten();
    if output.status.code().is_none_or(|code| !codes.contains(&code)) {
        bail!("`{job}` failed: {}", output.status);
    }
    let time = clock.cost();
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    Ok(Walked { time: time.max(Duration::from_millis(10)), peak, told })
}

/// Looks at the memory of a process until it has ended: the most that it had, in kilobytes, where the system says so.
fn watched(process: u32) -> JoinHandle<Option<u32>> {
    std::thread::spawn(move || {
        let mut peak = None;
        // A process that has ended and was not yet waited for has a status without this line.
        while let Some(now) = peak_of(process) {
            peak = Some(now);
            std::thread::sleep(Duration::from_millis(5));
        }
        peak
    })
}

fn peak_of(process: u32) -> Option<u32> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

/// Builds the writer and walker of goleveldb with the packages of the system.
fn build_level(folder: &Path) -> Result<String> {
    let program = folder.join("level").to_string_lossy().into_owned();
    Job::new("go", "build -o")
        .argument(&program)
        .argument("xtask/src/bench/sources/level.go")
        .variable("GO111MODULE", "off")
        .variable("GOPATH", "/usr/share/gocode")
        .variable("GOFLAGS", "")
        .variable("GOCACHE", &folder.join("go-cache").to_string_lossy())
        .run()?;
    Ok(program)
}

/// Puts RocksDB's bindings for Python into a folder of their own.
fn install_rocksdict(folder: &Path) -> Result<PathBuf> {
    let target = folder.join("python");
    Job::new("python3", "-m pip install --quiet --root-user-action=ignore --target")
        .argument(target.to_string_lossy())
        .argument("rocksdict==0.3.29")
        .run()
        .context("PyPI's `rocksdict` cannot be installed: Python with pip is needed")?;
    Ok(target)
}

fn python_job(path: &Path, what: &str, directory: &str) -> Job {
    // Go and Python alike are told nothing but the directory.
    Job::new("python3", "xtask/src/bench/sources/rocks.py")
        .argument(what)
        .argument(directory)
        .variable("PYTHONPATH", &path.to_string_lossy())
}
