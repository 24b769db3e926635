//! Everything that must hold before a change is merged.

use std::process::ExitCode;

use crate::built;
use crate::clock::Stopwatch;
use crate::console;
use crate::job::Job;
use crate::tool::{GOLEVELDB, SEAWEEDFS, Tool, in_ci};

/// One thing that must hold: a command, and what it needs beside Cargo.
struct Step {
    name: &'static str,
    job: Job,
    needs: Option<Tool>,
}

/// What came of a step.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Passed,
    Failed,
    /// A tool of the system is missing that a bare machine need not have. In CI this is a failure.
    NotRun,
}

impl Step {
    fn new(name: &'static str, job: Job) -> Self {
        Self { name, job, needs: None }
    }

    fn needs(mut self, tool: Tool) -> Self {
        self.needs = Some(tool);
        self
    }

    /// Runs the step and says what came of it, in one line.
    fn run(&self) -> Outcome {
        let watch = Stopwatch::start();
        let outcome = match self.needs.map_or(Ok(()), Tool::need) {
            Err(why) => {
                console::error(&why);
                if self.needs == Some(Tool::Valgrind) && !in_ci() { Outcome::NotRun } else { Outcome::Failed }
            }
            Ok(()) => match self.job.run() {
                Ok(()) => Outcome::Passed,
                Err(why) => {
                    console::error(&why);
                    Outcome::Failed
                }
            },
        };
        console::line(format_args!("{}: {}", self.name, outcome.after(&watch)));
        if outcome == Outcome::Failed {
            console::line(format_args!("repeat it with: {}", self.job));
        }
        console::line("");
        outcome
    }
}

impl Outcome {
    fn after(self, watch: &Stopwatch) -> String {
        match self {
            Self::Passed => format!("passed in {}", spent(watch)),
            Self::Failed => format!("failed after {}", spent(watch)),
            Self::NotRun => "not run".to_owned(),
        }
    }
}

/// How long it took, and how much of it processors were busy with it.
fn spent(watch: &Stopwatch) -> String {
    let elapsed = console::seconds(watch.elapsed());
    match watch.processor() {
        Some(processor) => format!("{elapsed}, {} of processor time", console::seconds(processor)),
        None => elapsed,
    }
}

fn formatting() -> Step {
    Step::new("formatting", Job::cargo("fmt --all --check")).needs(Tool::Rustfmt)
}

fn lints() -> Step {
    Step::new("lints", Job::cargo("clippy --workspace --all-targets --all-features -- -D warnings"))
        .needs(Tool::Clippy)
}

/// The steps that a change is made with: those that need no server, no other language and no release build.
fn quick_steps() -> Vec<Step> {
    vec![
        formatting(),
        lints(),
        Step::new(
            "unit tests, vectors and verdicts",
            // In one command: with the features of two crates only, what is below them would be built again.
            Job::cargo(
                "test --quiet --workspace --all-features --lib --test vectors --test verdicts --test rules",
            ),
        ),
    ]
}

/// The steps, the quickest to fail first.
fn steps() -> Vec<Step> {
    vec![
        formatting(),
        lints(),
        Step::new("Go is there", Job::new("go", "version")).needs(Tool::Go),
        Step::new("TypeScript is there", Job::new("tsc", "--version")).needs(Tool::TypeScript),
        Step::new("goleveldb is there", Job::new("test", GOLEVELDB)).needs(Tool::Goleveldb),
        Step::new("tree-sitter is there", Job::new("cc", "--version")).needs(Tool::TreeSitter),
        Step::new("PostgreSQL is there", Job::new("setpriv", "--version")).needs(Tool::Postgres),
        Step::new("SeaweedFS is there", Job::new("sh", "-c").argument(SEAWEEDFS)).needs(Tool::SeaweedFs),
        Step::new("Neovim is there", Job::new("sh", "editors/neovim/test/nvim.sh --version"))
            .needs(Tool::Neovim),
        Step::new("Chromium is there", Job::new("sh", "-c").argument("command -v chromium"))
            .needs(Tool::Chromium),
        Step::new("tmux is there", Job::new("tmux", "-V")).needs(Tool::Tmux),
        Step::new("tests", Job::cargo(built::TESTS)).needs(Tool::RedisServer),
        Step::new("programs and examples", Job::cargo(built::PROGRAMS)),
        Step::new(
            "examples in the documentation",
            Job::cargo("test --quiet --workspace --all-features --doc"),
        ),
        Step::new(
            "documentation",
            Job::cargo("doc --quiet --workspace --all-features --no-deps")
                .variable("RUSTDOCFLAGS", "-D warnings"),
        ),
        Step::new("the package for JavaScript", Job::cargo("xtask wasm")).needs(Tool::TypeScript),
        Step::new("the site and its playground", Job::cargo("xtask site --test")),
        Step::new("the extension for Visual Studio Code", Job::cargo("xtask vscode")),
        Step::new("the archive of a release", Job::cargo("xtask dist --check")),
        Step::new("codec without std", Job::cargo("xtask no-std")),
        Step::new("combinations of features", Job::cargo("xtask features --short")),
        Step::new("generated pages", Job::cargo("xtask generate --check")),
        Step::new("short fuzzing", Job::cargo("xtask fuzz --seconds 8")),
        Step::new("the demonstration", Job::cargo("run --quiet --release -- demo target/demo")),
        Step::new("decode benchmark runs", Job::cargo("xtask bench decode --quick")),
        Step::new("explain benchmark runs", Job::cargo("xtask bench explain --quick")),
        Step::new("codec benchmark runs", Job::cargo("xtask bench codec --quick")).needs(Tool::Valgrind),
        Step::new("prover benchmark runs", Job::cargo("xtask bench prover --quick")),
        Step::new("structures benchmark runs", Job::cargo("xtask bench structures --quick"))
            .needs(Tool::RedisServer),
        Step::new("store benchmark runs", Job::cargo("xtask bench store --quick")).needs(Tool::Valgrind),
    ]
}

/// Everything.
pub(crate) fn run() -> ExitCode {
    run_all(&steps())
}

/// What tells most about a change in a few minutes.
pub(crate) fn quick() -> ExitCode {
    run_all(&quick_steps())
}

/// Runs every step, stops at the first that fails, and ends with how many passed and failed.
fn run_all(steps: &[Step]) -> ExitCode {
    let watch = Stopwatch::start();
    let (mut passed, mut not_run) = (0, 0);
    for (index, step) in steps.iter().enumerate() {
        console::line(format_args!("[{}/{}] {}: {}", index + 1, steps.len(), step.name, step.job));
        match step.run() {
            Outcome::Passed => passed += 1,
            Outcome::NotRun => not_run += 1,
            Outcome::Failed => {
                console::line(format_args!("{passed} passed, 1 failed"));
                return ExitCode::FAILURE;
            }
        }
    }
    if not_run > 0 {
        console::line(format_args!("{not_run} not run for want of a tool that is named above; CI runs it"));
    }
    console::line(format_args!("all of it in {}", spent(&watch)));
    console::line(format_args!("{passed} passed, 0 failed"));
    ExitCode::SUCCESS
}
