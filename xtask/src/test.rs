//! Everything that must hold before a change is merged.

use std::process::ExitCode;
use std::time::Instant;

use anyhow::Result;

use crate::console;
use crate::job::Job;
use crate::tool::Tool;

/// One thing that must hold: a command, and what it needs beside Cargo.
struct Step {
    name: &'static str,
    job: Job,
    needs: &'static [Tool],
}

impl Step {
    fn new(name: &'static str, job: Job) -> Self {
        Self { name, job, needs: &[] }
    }

    fn needs(mut self, tools: &'static [Tool]) -> Self {
        self.needs = tools;
        self
    }

    fn run(&self) -> Result<()> {
        self.needs.iter().try_for_each(|tool| tool.need())?;
        self.job.run()
    }
}

/// The steps, the quickest to fail first.
fn steps() -> Vec<Step> {
    vec![
        Step::new("formatting", Job::cargo("fmt --all --check")).needs(&[Tool::Rustfmt]),
        Step::new("lints", Job::cargo("clippy --workspace --all-targets --all-features -- -D warnings"))
            .needs(&[Tool::Clippy]),
        Step::new(
            "tests",
            Job::cargo("test --quiet --workspace --all-features --lib --bins --tests --examples"),
        ),
        Step::new(
            "examples in the documentation",
            Job::cargo("test --quiet --workspace --all-features --doc"),
        ),
        Step::new(
            "documentation",
            Job::cargo("doc --quiet --workspace --all-features --no-deps")
                .variable("RUSTDOCFLAGS", "-D warnings"),
        ),
        Step::new("codec without std", Job::cargo("xtask no-std")),
    ]
}

/// Runs every step, and stops at the first that fails.
pub(crate) fn run() -> ExitCode {
    let steps = steps();
    let start = Instant::now();
    for (passed, step) in steps.iter().enumerate() {
        let (number, count) = (passed + 1, steps.len());
        console::line(format_args!("[{number}/{count}] {}: {}", step.name, step.job));
        let before = Instant::now();
        if let Err(error) = step.run() {
            let time = console::seconds(before.elapsed());
            console::error(&error);
            console::line(format_args!("[{number}/{count}] {}: failed after {time}", step.name));
            console::line(format_args!("repeat it with: {}", step.job));
            console::line(format_args!("{passed} passed, 1 failed"));
            return ExitCode::FAILURE;
        }
        let time = console::seconds(before.elapsed());
        console::line(format_args!("[{number}/{count}] {}: passed in {time}\n", step.name));
    }
    console::line(format_args!("all of it in {}", console::seconds(start.elapsed())));
    console::line(format_args!("{} passed, 0 failed", steps.len()));
    ExitCode::SUCCESS
}
