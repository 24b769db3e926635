//! The codec's segments against code written by hand for one layout, in instructions.

use anyhow::{Context as _, Result, bail};
use xtask::workspace;

use super::{Effort, Goal, Group, Measurement};
use crate::job::Job;
use crate::tool::Tool;

pub(super) struct Codec;

/// The layouts of `crates/codec/examples/instructions.rs`.
const LAYOUTS: [&str; 3] = ["tick", "outpoint", "entity"];

impl Group for Codec {
    fn name(&self) -> &'static str {
        "codec"
    }

    fn measure(&self, effort: Effort) -> Result<Vec<Measurement>> {
        Tool::Valgrind.need()?;
        Job::cargo("build --quiet --release --package keyplan-codec --example instructions").run()?;
        let count = match effort {
            Effort::Quick => 10_000,
            Effort::Full => 100_000,
        };
        let empty = instructions("empty", count)?;
        let mut lines = Vec::new();
        for layout in LAYOUTS {
            for direction in ["encode", "decode"] {
                let each = |author: &str| -> Result<f64> {
                    Ok(instructions(&format!("{layout}-{direction}-{author}"), count)? - empty)
                };
                let (ours, hand) = (each("ours")?, each("hand")?);
                lines.push(Measurement {
                    name: format!("{direction} {layout}"),
                    value: ours / hand,
                    goal: Goal::AtMost(1.2),
                    unit: "× instructions",
                    compared_with: format!(
                        "code written by hand: {ours:.0} instructions a key against {hand:.0}"
                    ),
                });
            }
        }
        Ok(lines)
    }
}

/// What one turn of the loop costs: the difference between two runs, so that starting the program does not count.
fn instructions(name: &str, count: u32) -> Result<f64> {
    let (few, many) = (collected(name, count)?, collected(name, 2 * count)?);
    Ok((many - few) / f64::from(count))
}

fn collected(name: &str, count: u32) -> Result<f64> {
    let program = workspace::target()?.join("release/examples/instructions");
    let job = Job::new("valgrind", "--tool=callgrind --callgrind-out-file=/dev/null")
        .argument(program.to_string_lossy())
        .argument(name)
        .argument(count.to_string());
    let output = job.command().output().with_context(|| format!("cannot run `{job}`"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        bail!("`{job}` failed: {}\n{said}", output.status);
    }
    let count = said.lines().find_map(|line| line.split_once("Collected :")).map(|(_, count)| count.trim());
    let count = count.with_context(|| format!("`{job}` does not say what it counted:\n{said}"))?;
    count.parse().with_context(|| format!("`{job}` counted {count}"))
}
