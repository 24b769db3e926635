//! `cargo xtask bench`: the one benchmark command.
//!
//! A group is one file that implements [`Group`] and one line in [`GROUPS`].

mod callgrind;
mod codec;
mod decode;
mod explain;
mod explore;
mod figures;
mod generate;
mod keys;
mod migrate;
mod prover;
mod record;
mod rows;
mod scale;
mod sources;
mod store;
mod structures;
mod values;

use std::fmt;
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use serde_json::json;
use xtask::workspace;

use crate::built;
use crate::console;
use crate::job::Job;

/// What to measure, and how to say it.
#[derive(Args)]
pub(crate) struct Bench {
    /// One group; all of them if none is named
    group: Option<String>,
    /// Ends within a minute per group and shows that it runs: programs as the tests build them, which can meet no goal
    #[arg(long)]
    quick: bool,
    /// How to print the measurements; `json` is one object per line
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Record the measurements in docs/benchmarks.md
    #[arg(long)]
    write: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
}

/// How long to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effort {
    Quick,
    Full,
}

/// Things that are measured together.
pub(crate) trait Group: Sync {
    /// Its name on the command line.
    fn name(&self) -> &'static str;

    /// Measures everything in it.
    fn measure(&self, effort: Effort) -> Result<Vec<Measurement>>;
}

const GROUPS: &[&dyn Group] = &[
    &decode::Decode,
    &explain::Explain,
    &codec::Codec,
    &generate::Generate,
    &keys::Keys,
    &migrate::Migrate,
    &prover::Prover,
    &rows::Rows,
    &scale::Scale,
    &sources::Sources,
    &store::Store,
    &structures::Structures,
    &values::Values,
    &explore::Explore,
];

/// One line of the result.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Measurement {
    pub(crate) name: String,
    pub(crate) value: f64,
    pub(crate) goal: Goal,
    pub(crate) unit: &'static str,
    pub(crate) compared_with: String,
}

/// What a value should be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Goal {
    AtMost(f64),
    AtLeast(f64),
}

impl Goal {
    fn is_met(self, value: f64) -> bool {
        match self {
            Self::AtMost(most) => value <= most,
            Self::AtLeast(least) => value >= least,
        }
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtMost(most) => write!(f, "≤ {}", number(*most)),
            Self::AtLeast(least) => write!(f, "≥ {}", number(*least)),
        }
    }
}

impl Measurement {
    pub(crate) fn is_met(&self) -> bool {
        self.goal.is_met(self.value)
    }

    /// `met`, or `not met`.
    pub(crate) fn verdict(&self) -> &'static str {
        if self.is_met() { "met" } else { "not met" }
    }

    /// What a person reads of it. A short run shows that it runs: its size can meet no goal, and none is named.
    fn text(&self, group: &str, effort: Effort) -> String {
        let head =
            format!("{:32} {:>10} {:14}", format!("{group}/{}", self.name), number(self.value), self.unit);
        match effort {
            Effort::Quick => format!("{head} runs  {}", self.compared_with),
            Effort::Full => format!(
                "{head} goal {:>9}  {:7}  {}",
                self.goal.to_string(),
                self.verdict(),
                self.compared_with
            ),
        }
    }

    fn json(&self, group: &str, effort: Effort) -> serde_json::Value {
        if effort == Effort::Quick {
            return json!({
                "group": group, "name": self.name, "value": self.value, "unit": self.unit,
                "compared_with": self.compared_with,
            });
        }
        let (bound, goal) = match self.goal {
            Goal::AtMost(most) => ("at most", most),
            Goal::AtLeast(least) => ("at least", least),
        };
        json!({
            "group": group, "name": self.name, "value": self.value, "goal": goal, "goal_is": bound,
            "unit": self.unit, "compared_with": self.compared_with, "met": self.is_met(),
        })
    }
}

/// A number as a person reads it: small ones with their decimals, large ones with their thousands apart.
pub(crate) fn number(value: f64) -> String {
    if value < 1_000.0 {
        let text = format!("{value:.3}");
        return text.trim_end_matches('0').trim_end_matches('.').to_owned();
    }
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Measures, prints, and records if asked to. A goal that is not met is said, and is not a failure of the command.
pub(crate) fn run(bench: &Bench) -> Result<ExitCode> {
    let known = || GROUPS.iter().map(|group| group.name()).collect::<Vec<_>>().join(", ");
    let wanted = |group: &&&dyn Group| bench.group.as_deref().is_none_or(|name| name == group.name());
    let groups: Vec<_> = GROUPS.iter().filter(wanted).collect();
    if groups.is_empty() {
        bail!("there is no group `{}`; there are: {}", bench.group.as_deref().unwrap_or_default(), known());
    }
    if bench.quick && bench.write {
        bail!("a short run is not recorded: leave out `--quick` or `--write`");
    }
    let effort = if bench.quick { Effort::Quick } else { Effort::Full };
    build(effort)?;
    if cfg!(debug_assertions) && effort == Effort::Full {
        return optimised(bench);
    }
    for group in groups {
        let measured = group.measure(effort)?;
        for line in &measured {
            match bench.format {
                Format::Json => console::line(line.json(group.name(), effort)),
                Format::Text => console::line(line.text(group.name(), effort)),
            }
        }
        if bench.write {
            record::write(group.name(), &measured)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Builds the examples that are measured, and this program, in one step: with only the features of its package, each of
/// them would have the libraries below built again.
fn build(effort: Effort) -> Result<()> {
    if effort == Effort::Quick {
        return Job::cargo(built::PROGRAMS).run();
    }
    let packages = ["codec", "prover", "store", "chains"].map(|name| format!("--package=keyplan-{name}"));
    Job::cargo("build --quiet --release --bins --examples --package xtask --package keyplan")
        .arguments(&packages.join(" "))
        .argument("--features=keyplan/redb,keyplan/lmdb,keyplan-store/redis,keyplan-store/redb,keyplan-store/lmdb,keyplan-chains/store")
        .across_crates()
        .run()
}

/// Builds more for one group. A short run has everything that the tests build.
fn build_more(what: &str) -> Result<()> {
    if cfg!(debug_assertions) { Ok(()) } else { Job::cargo("build --quiet --release").arguments(what).run() }
}

/// A program that was built to be measured, such as `examples/store_bench`: like this one, which is optimised unless the run is short.
fn program(name: &str) -> Result<String> {
    let profile = if cfg!(debug_assertions) { "debug" } else { "release" };
    Ok(workspace::target()?.join(profile).join(name).to_string_lossy().into_owned())
}

/// Runs the same command in a build of this program that is worth measuring with. What it builds besides has the same settings.
fn optimised(bench: &Bench) -> Result<ExitCode> {
    let xtask = workspace::target()?.join("release/xtask");
    let mut job = Job::new(&xtask.to_string_lossy(), "bench").across_crates();
    if let Some(group) = &bench.group {
        job = job.argument(group);
    }
    if bench.format == Format::Json {
        job = job.argument("--format=json");
    }
    if bench.write {
        job = job.argument("--write");
    }
    let status = job.status()?;
    Ok(ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(2)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_shown_as_people_write_them() {
        let shown = [0.5, 1.0, 1.2345, 999.0, 1_000.0, 512_345.6, 1_234_567.0].map(number);
        assert_eq!(shown, ["0.5", "1", "1.234", "999", "1,000", "512,346", "1,234,567"]);
    }

    #[test]
    fn a_short_run_names_no_goal() {
        let line = Measurement {
            name: "scan".to_owned(),
            value: 1_234.0,
            goal: Goal::AtLeast(2_000.0),
            unit: "rows/s",
            compared_with: "by hand".to_owned(),
        };
        let [short, full] = [Effort::Quick, Effort::Full].map(|effort| line.text("store", effort));
        assert_eq!(short, format!("{:32} {:>10} {:14} runs  by hand", "store/scan", "1,234", "rows/s"));
        assert_eq!(
            full,
            format!(
                "{:32} {:>10} {:14} goal {:>9}  not met  by hand",
                "store/scan", "1,234", "rows/s", "≥ 2,000"
            )
        );
        let [short, full] = [Effort::Quick, Effort::Full].map(|effort| line.json("store", effort));
        assert_eq!([short.get("goal"), short.get("goal_is"), short.get("met")], [None; 3]);
        assert_eq!(full["met"], false);
    }

    #[test]
    fn a_goal_is_met_up_to_its_bound() {
        assert_eq!([1.2, 1.3, 1.31].map(|value| Goal::AtMost(1.3).is_met(value)), [true, true, false]);
        assert_eq!([1.2, 1.3, 1.31].map(|value| Goal::AtLeast(1.3).is_met(value)), [false, true, true]);
    }
}
