//! The chains' own bytes, line by line, on the dynamic path and on that of the types that were made of the plans.
//!
//! Each file of `testdata/vectors` (or of the folder that `KEYPLAN_VECTORS` names) is one test. A line with bytes is
//! encoded *and* decoded under the plan that its source names: `seed` under `plans/`, `code` under `plans/upstream/`,
//! `seed+code` under both. A line without bytes records how the real system behaves; those are counted apart, and
//! a module must name every such family. A family that no module knows fails the run.
#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "all of it is a test, though most of it is outside of the functions marked as one"
)]

#[path = "../../../keyplan/tests/agree/mod.rs"]
#[expect(
    dead_code,
    unused_imports,
    reason = "only the comparison of arguments and what types show are used here"
)]
mod agree;
mod cardano;
mod cosmwasm;
mod layout;
mod onesat;
mod osmosis_cl;
mod paw;
mod typed;

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Map, Value as Json};

/// One line of a vector file.
pub(crate) struct Vector {
    /// The kind of key or value, as the file calls it.
    pub(crate) family: String,
    /// What the bytes are made of.
    pub(crate) args: Map<String, Json>,
    /// The bytes; `None` where the line records a behaviour.
    pub(crate) bytes: Option<Vec<u8>>,
    /// Which plan the bytes belong to.
    pub(crate) source: Source,
}

/// Where the bytes of a line come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// The document: `plans/`.
    Seed,
    /// The system's code: `plans/upstream/`.
    Code,
    /// Both agree: both plans.
    Both,
}

/// What a line turned out to be, when nothing is wrong with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Its bytes were made and read back.
    Passed,
    /// It has no bytes: it records what the real system does.
    Behaviour,
}

/// The verdict on a line, or a sentence that says what differs.
pub(crate) type Outcome = Result<Verdict, String>;

impl Vector {
    /// The bytes of a line that must have some.
    pub(crate) fn bytes(&self) -> Result<&[u8], String> {
        self.bytes.as_deref().ok_or_else(|| "the line has no bytes".to_owned())
    }

    /// The argument `name` as it is.
    pub(crate) fn arg(&self, name: &str) -> Result<&Json, String> {
        self.args.get(name).ok_or_else(|| format!("the line has no argument `{name}`"))
    }

    /// A text argument.
    pub(crate) fn text(&self, name: &str) -> Result<&str, String> {
        self.arg(name)?.as_str().ok_or_else(|| format!("`{name}` is not a text"))
    }

    /// An unsigned number, written as a number or as decimal text.
    pub(crate) fn uint(&self, name: &str) -> Result<u128, String> {
        uint(self.arg(name)?)
    }

    /// A signed number, written as a number or as decimal text.
    pub(crate) fn int(&self, name: &str) -> Result<i128, String> {
        int(self.arg(name)?)
    }

    /// Bytes, written as hex.
    pub(crate) fn hex(&self, name: &str) -> Result<Vec<u8>, String> {
        hex(self.text(name)?)
    }
}

/// Reads an unsigned number, written as a number or as decimal text.
pub(crate) fn uint(json: &Json) -> Result<u128, String> {
    number(json)
}

/// Reads a signed number, written as a number or as decimal text.
pub(crate) fn int(json: &Json) -> Result<i128, String> {
    number(json)
}

fn number<T: std::str::FromStr>(json: &Json) -> Result<T, String> {
    let text = match json {
        Json::String(text) => text.clone(),
        other => other.to_string(),
    };
    text.parse().map_err(|_| format!("`{text}` is not a number of the kind"))
}

/// Reads hex digits.
pub(crate) fn hex(digits: &str) -> Result<Vec<u8>, String> {
    const_hex::decode(digits).map_err(|error| format!("`{digits}`: {error}"))
}

/// Says how `found` differs from `expected`, if it does.
pub(crate) fn same(what: &str, found: &[u8], expected: &[u8]) -> Result<(), String> {
    if found == expected {
        return Ok(());
    }
    Err(format!("{what}: made {}, expected {}", const_hex::encode(found), const_hex::encode(expected)))
}

fn folder() -> PathBuf {
    match std::env::var_os("KEYPLAN_VECTORS") {
        Some(folder) => PathBuf::from(folder),
        None => PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata/vectors"),
    }
}

fn read(line: &str) -> Vector {
    let Json::Object(mut object) = serde_json::from_str(line).unwrap() else {
        panic!("not an object: {line}")
    };
    let Some(Json::String(family)) = object.remove("family") else { panic!("no family: {line}") };
    let Some(Json::Object(args)) = object.remove("args") else { panic!("no arguments: {line}") };
    let bytes = match object.remove("hex") {
        Some(Json::String(digits)) => Some(hex(&digits).unwrap()),
        _ => None,
    };
    let source = match object.get("source").and_then(Json::as_str) {
        Some("seed") => Source::Seed,
        Some("seed+code") => Source::Both,
        // Otherwise it is `code`, or the name and version of the code that was run.
        _ => Source::Code,
    };
    Vector { family, args, bytes, source }
}

/// Runs a file and fails with every line that differs. Prints what was run, family by family.
fn run(file: &str, check: fn(&Vector) -> Outcome) {
    let path = folder().join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut counts = BTreeMap::<String, [usize; 2]>::new();
    let mut faults = Vec::new();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let vector = read(line);
        match check(&vector) {
            Ok(verdict) => {
                counts.entry(vector.family).or_default()[usize::from(verdict == Verdict::Behaviour)] += 1;
            }
            Err(fault) => faults.push(format!("{file}:{}: {}: {fault}", at + 1, vector.family)),
        }
    }
    for (family, [passed, behaviour]) in &counts {
        println!("{family}: {passed} passed, {behaviour} recorded behaviour");
    }
    let total = |of: usize| counts.values().map(|count| count[of]).sum::<usize>();
    println!("{file}: {} passed, {} recorded behaviour, {} failed", total(0), total(1), faults.len());
    assert!(faults.is_empty(), "{} lines differ:\n{}", faults.len(), faults.join("\n"));
    assert!(total(0) > 0, "{file} holds no line with bytes");
}

#[test]
fn every_plan_compiles_without_a_finding() {
    let plans = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../plans");
    for folder in ["", "upstream"] {
        for entry in std::fs::read_dir(plans.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "keyplan") {
                let file = path.strip_prefix(&plans).unwrap();
                layout::Layout::open(file.to_str().unwrap());
            }
        }
    }
}

#[test]
fn osmosis_writes_these_bytes() {
    run("osmosis_cl.jsonl", osmosis_cl::check);
}

#[test]
fn cosmwasm_writes_these_bytes() {
    run("cosmwasm.jsonl", cosmwasm::check);
}

#[test]
fn dolos_writes_these_bytes() {
    run("dolos.jsonl", cardano::check);
}

#[test]
fn paw_writes_these_bytes() {
    run("paw.jsonl", paw::check);
}

#[test]
fn onesat_writes_these_bytes() {
    run("onesat.jsonl", onesat::check);
}
