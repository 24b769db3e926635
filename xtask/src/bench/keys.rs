//! Typed keys against code written by hand and against the key encoders of other crates.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use xtask::workspace;

use super::callgrind::instructions;
use super::{Effort, Goal, Group, Measurement, number};
use crate::job::Job;
use crate::tool::Tool;

pub(super) struct Keys;

/// The layouts of `benches/keys`, with what our encoding may cost against code written by hand.
const LAYOUTS: [(&str, f64); 5] =
    [("tick", 1.1), ("position", 1.2), ("entity", 1.1), ("outpoint", 1.1), ("user", 1.2)];

/// What our decoding may cost against code written by hand.
const DECODE: f64 = 1.3;

/// The others, and what they are called.
const AUTHORS: [(&str, &str); 6] = [
    ("hand", "by hand"),
    ("cw", "cw-storage-plus"),
    ("store_key", "storekey"),
    ("fdb", "foundationdb-tuple"),
    ("bytekey", "bytekey2"),
    ("format", "`format!`"),
];

/// How many times fewer instructions we take than others.
const FEWER: [(&str, &str, f64); 3] =
    [("tick", "cw", 30.0), ("outpoint", "cw", 30.0), ("position", "format", 20.0)];

/// What one key costs.
#[derive(Clone, Copy)]
struct Cost {
    instructions: f64,
    nanoseconds: f64,
    allocations: f64,
}

impl Group for Keys {
    fn name(&self) -> &'static str {
        "keys"
    }

    fn measure(&self, effort: Effort) -> Result<Vec<Measurement>> {
        Tool::Valgrind.need()?;
        let folder = workspace::target()?.join("keys-bench");
        Job::cargo("build --quiet --release --manifest-path benches/keys/Cargo.toml --target-dir")
            .argument(folder.to_string_lossy())
            .run()?;
        let costs = costs(&folder.join("release/keyplan-keys-bench"), effort)?;
        let of = |layout: &str, direction: &str, author: &str| {
            costs.get(&format!("{layout}-{direction}-{author}")).copied()
        };
        let mut lines = Vec::new();
        for (form, how) in [("", ""), ("inlined_", ", inlined")] {
            for (layout, encode) in LAYOUTS {
                for (direction, most) in [("encode", encode), ("decode", DECODE)] {
                    let by = |author: &str| of(layout, direction, &format!("{form}{author}"));
                    let ours = by("ours").context("we were not measured")?;
                    let hand = by("hand").context("code by hand was not measured")?;
                    let others = AUTHORS
                        .iter()
                        .filter_map(|(author, name)| Some(format!("{name} {}", shown(by(author)?))));
                    let others: Vec<String> = others.collect();
                    lines.push(Measurement {
                        name: format!("{direction} {layout}{how}"),
                        value: ours.instructions / hand.instructions,
                        goal: Goal::AtMost(most),
                        unit: "× instructions",
                        compared_with: format!("{} against {}", shown(ours), others.join(", ")),
                    });
                }
            }
        }
        for (layout, author, least) in FEWER {
            let ours = of(layout, "encode", "ours").context("we were not measured")?;
            let other = of(layout, "encode", author).context("the other was not measured")?;
            let name = AUTHORS.iter().find(|(known, _)| *known == author).map_or(author, |(_, name)| name);
            lines.push(Measurement {
                name: format!("{name} ÷ ours, encode {layout}"),
                value: other.instructions / ours.instructions,
                goal: Goal::AtLeast(least),
                unit: "× instructions",
                compared_with: format!("{} against {}", shown(other), shown(ours)),
            });
        }
        let ours = costs.iter().filter(|(name, _)| name.ends_with("ours"));
        lines.push(Measurement {
            name: "allocations".to_owned(),
            value: ours.map(|(_, cost)| cost.allocations).sum(),
            goal: Goal::AtMost(0.0),
            unit: "a key of each",
            compared_with: "all of our encoders and decoders together".to_owned(),
        });
        Ok(lines)
    }
}

/// `17 Ir 3.4 ns 0 al`
fn shown(cost: Cost) -> String {
    let (ir, ns, al) = (cost.instructions.round(), cost.nanoseconds, cost.allocations);
    format!("{} Ir {} ns {} al", number(ir), number(ns), number(al))
}

/// What every case of the program costs.
fn costs(program: &Path, effort: Effort) -> Result<BTreeMap<String, Cost>> {
    let (count, bursts) = match effort {
        Effort::Quick => (2_000, "51"),
        Effort::Full => (20_000, "201"),
    };
    let output = Command::new(program).args(["time", bursts]).output().context("cannot run the benchmark")?;
    if !output.status.success() {
        bail!("the benchmark failed: {}", output.status);
    }
    let empty = instructions(program, &["run", "empty"], count)?;
    let mut costs = BTreeMap::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let mut words = line.split_whitespace();
        let name = words.next().context("a line without a name")?;
        let mut figure = || -> Result<f64> {
            let word = words.next().with_context(|| format!("`{line}` has too few figures"))?;
            word.parse().with_context(|| format!("`{word}` is not a figure"))
        };
        let (nanoseconds, allocations) = (figure()?, figure()?);
        let instructions = instructions(program, &["run", name], count)? - empty;
        costs.insert(name.to_owned(), Cost { instructions, nanoseconds, allocations });
    }
    Ok(costs)
}
