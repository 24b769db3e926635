//! The bytes that the systems' own code wrote, as vectors of the plan.
//!
//! That the arguments are those which the system's code was given is compared where the plans' types are tested; here the
//! arguments are what the dynamic decoder reads.

use std::path::PathBuf;

use keyplan_codegen::vectors::{Outcome, judge_bytes, parts};
use keyplan_plan::Compiled;
use serde_json::Value as Json;

/// Vectors of a system's own bytes under a plan.
pub(crate) struct System {
    /// How many of the lines with bytes are keys or values of the plan.
    pub(crate) found: usize,
    /// How many are not: fronts of keys, which ranges begin with, and what the plan has no layout for.
    pub(crate) others: usize,
    /// A file of vectors.
    pub(crate) text: String,
}

/// The file of a plan by its path below `plans`, and how many lines are found in it and are not.
pub(crate) const SYSTEMS: [(&str, &str, usize, usize); 9] = [
    ("cosmwasm", "cosmwasm", 446, 0),
    ("onesat", "onesat", 138, 1),
    ("osmosis_cl", "osmosis_cl", 397, 78),
    ("paw", "paw", 184, 4),
    ("upstream/cosmwasm", "cosmwasm", 446, 0),
    ("upstream/dolos", "dolos", 113, 0),
    ("upstream/onesat", "onesat", 335, 1),
    ("upstream/osmosis_cl", "osmosis_cl", 423, 106),
    ("upstream/paw", "paw", 606, 1),
];

/// The lines of a system's file that belong to a plan: what documents say under `plans`, what code does under `plans/upstream`.
pub(crate) fn system(below: &str, file: &str, compiled: &Compiled) -> System {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("../../testdata/vectors/{file}.jsonl"));
    let plan = compiled.plan.as_ref().unwrap();
    let parts = parts(plan);
    let (mut lines, mut others) = (Vec::new(), 0);
    for line in std::fs::read_to_string(path).unwrap().lines().filter(|line| !line.is_empty()) {
        let line: Json = serde_json::from_str(line).unwrap();
        let source = line.get("source").and_then(Json::as_str).unwrap();
        let ours = if below.starts_with("upstream") { source != "seed" } else { source.starts_with("seed") };
        let Some(hex) = line.get("hex").and_then(Json::as_str).filter(|_| ours || file == "cosmwasm") else {
            continue;
        };
        let bytes: Vec<u8> = (0..hex.len() / 2)
            .map(|at| u8::from_str_radix(hex.get(2 * at..2 * at + 2).unwrap(), 16).unwrap())
            .collect();
        let family = line.get("family").and_then(Json::as_str).unwrap();
        let (named, unnamed): (Vec<_>, Vec<_>) =
            parts.iter().partition(|part| part.path.rsplit('.').next() == family.rsplit('.').next());
        let found = named.into_iter().chain(unnamed).find_map(|part| {
            let case = judge_bytes(part, bytes.clone());
            let whole = matches!(case.outcome, Outcome::Valid | Outcome::Guarded);
            (whole && case.bytes() == Some(&bytes)).then(|| case.line(part))
        });
        match found {
            Some(line) => lines.push(line),
            None => others += 1,
        }
    }
    let head = format!(
        "{{\"keyplan\":\"vectors\",\"version\":1,\"plan\":\"{}\",\"fingerprint\":\"{}\",\"count\":{}}}",
        plan.name,
        plan.fingerprint(),
        lines.len()
    );
    System { found: lines.len(), others, text: format!("{head}\n{}\n", lines.join("\n")) }
}
