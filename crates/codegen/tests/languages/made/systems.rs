//! The bytes that the systems' own code wrote, as vectors of the plan.
//!
//! That the arguments are those which the system's code was given is compared where the plans' types are tested; here the
//! arguments are what the dynamic decoder reads.

use std::path::PathBuf;

use keyplan_codegen::vectors::{Asked, Options, Outcome, generate, judge_bytes, parts, scan_range};
use keyplan_plan::Compiled;
use keyplan_plan::dynamic::readings;
use keyplan_plan::notation::{hex, write_json};
use serde_json::{Map, Value as Json};

/// Vectors of a system's own bytes under a plan.
pub(crate) struct System {
    /// How many of the lines with bytes are keys or values of the plan.
    pub(crate) found: usize,
    /// How many are fronts of keys with which the range of a scan begins.
    pub(crate) fronts: usize,
    /// How many are neither. All are Osmosis': ticks by themselves (13 in both plans, and 6 that its decoder refuses or ought to), and 11
    /// fronts that stop before the separator, whose rows are those of the scan with it.
    pub(crate) others: usize,
    /// A file of vectors.
    pub(crate) text: String,
}

/// The file of a plan by its path below `plans`, and how many of its lines are keys or values, how many are fronts, and how many neither.
pub(crate) const SYSTEMS: [(&str, &str, usize, usize, usize); 9] = [
    ("cosmwasm", "cosmwasm", 446, 0, 0),
    ("onesat", "onesat", 138, 1, 0),
    ("osmosis_cl", "osmosis_cl", 397, 65, 13),
    ("paw", "paw", 184, 4, 0),
    ("upstream/cosmwasm", "cosmwasm", 446, 0, 0),
    ("upstream/dolos", "dolos", 113, 0, 0),
    ("upstream/onesat", "onesat", 335, 1, 0),
    ("upstream/osmosis_cl", "osmosis_cl", 423, 76, 30),
    ("upstream/paw", "paw", 606, 1, 0),
];

/// The lines of a system's file that belong to a plan: what documents say under `plans`, what code does under `plans/upstream`.
pub(crate) fn system(below: &str, file: &str, compiled: &Compiled) -> System {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("../../testdata/vectors/{file}.jsonl"));
    let plan = compiled.plan.as_ref().unwrap();
    let parts = parts(plan);
    let scans = scans(compiled);
    let (mut lines, mut fronts, mut others) = (Vec::new(), 0, 0);
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
        match found.ok_or(()).or_else(|()| front(compiled, &scans, family, &bytes).ok_or(())) {
            Ok(line) => {
                fronts += usize::from(line.contains("\"scan\":"));
                lines.push(line);
            }
            Err(()) => others += 1,
        }
    }
    let head = format!(
        "{{\"keyplan\":\"vectors\",\"version\":1,\"plan\":\"{}\",\"fingerprint\":\"{}\",\"count\":{}}}",
        plan.name,
        plan.fingerprint(),
        lines.len()
    );
    let found = lines.len() - fronts;
    System { found, fronts, others, text: format!("{head}\n{}\n", lines.join("\n")) }
}

/// The scans that have a function, each with the arguments of a row: one vector of each.
fn scans(compiled: &Compiled) -> Vec<(String, String, Map<String, Json>)> {
    let mut found: Vec<(String, String, Map<String, Json>)> = Vec::new();
    for line in generate(compiled, Options { count: 0 }).unwrap().lines().skip(1) {
        let line: Json = serde_json::from_str(line).unwrap();
        let (Some(scan), Some(args)) = (line["scan"].as_str(), line["args"].as_object()) else { continue };
        let part = line["part"].as_str().unwrap();
        let is_new = found.iter().all(|(path, words, _)| path != part || words != scan);
        if is_new && line["result"] == "range" && !line.as_object().unwrap().contains_key("derived") {
            found.push((part.to_owned(), scan.to_owned(), args.clone()));
        }
    }
    found
}

/// The line about the scan whose range begins with these bytes; of several that of the family named, as far as the words agree.
fn front(
    compiled: &Compiled,
    scans: &[(String, String, Map<String, Json>)],
    named: &str,
    bytes: &[u8],
) -> Option<String> {
    let plan = compiled.plan.as_ref().unwrap();
    let alike = |path: &str| named.contains(path.rsplit('.').next().unwrap());
    let (first, then): (Vec<_>, Vec<_>) = scans.iter().partition(|(path, ..)| alike(path));
    first.into_iter().chain(then).find_map(|(path, words, args)| {
        let family = plan.families().map(|(_, family)| family).find(|family| family.path == *path)?;
        let scan = family.scans.iter().find(|scan| scan.words(&family.key) == *words)?;
        let prefix = scan.prefix(&family.key);
        let values = readings(&prefix, bytes, 1).ok()?.readings.into_iter().next()?;
        let (start, end) = scan_range(family, scan, Asked { row: &values, derived: None, bound: None })?;
        if start != bytes {
            return None;
        }
        let (mut bound, mut args) = (Vec::new(), args.clone());
        write_json(&mut bound, &prefix, &values);
        args.extend(serde_json::from_slice::<Map<String, Json>>(&bound).unwrap());
        let mut line = serde_json::json!({
            "part": path, "scan": words, "result": "range", "args": args, "start": hex(&start),
        });
        if let Some(end) = end {
            line["end"] = hex(&end).into();
        }
        Some(line.to_string())
    })
}
