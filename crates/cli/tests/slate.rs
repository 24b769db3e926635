//! `keyplan db` on object storage: a directory, and a cluster of the test's own that speaks S3.
#![cfg(test)]

use std::path::Path;
use std::process::{Command, Output};

#[expect(dead_code, reason = "parts of a cluster are killed by the tests of the engine")]
#[path = "../../slate/tests/engine/server.rs"]
mod server;

/// What no output may show.
const SECRET: &str = "hush-hush";

const PLAN: &str = "plan demo; space cl { key tick = 0x01 pool: u64 tick: u32 -> liquidity: u64 scan by pool; } \
    space things { hash thing = \"h:\" name: text field any = field: bytes -> raw; }";

/// Runs the command, and gives what it said.
fn keyplan(words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_keyplan"));
    command.args(words).env("NO_COLOR", "1").env_remove("KEYPLAN_URL").output().unwrap()
}

fn said(words: &[&str]) -> String {
    let output = keyplan(words);
    let (out, error) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(output.status.success(), "{words:?}: {out}{error}");
    assert!(!out.contains(SECRET) && !error.contains(SECRET), "{words:?} shows the secret: {out}{error}");
    out
}

fn refused(words: &[&str]) -> String {
    let output = keyplan(words);
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success(), "{words:?}");
    assert!(!error.contains(SECRET), "{words:?} shows the secret: {error}");
    error
}

/// Every subcommand on one place, which is empty, and a second one that is made of it.
fn every_subcommand(directory: &Path, first: &str, second: &str, shown: &str) {
    let path = |name: &str| directory.join(name).display().to_string();
    let plan = path("plan.keyplan");
    std::fs::write(&plan, PLAN).unwrap();
    let error = refused(&["db", "plan", first]);
    assert!(error.contains("holds no database of this engine"), "{error}");

    let made = said(&["db", "create", &plan, "--engine", "slate", "--url", first]);
    assert!(made.starts_with(&format!("made `{shown}` on slate")), "{made}");
    for tick in ["1", "2", "3"] {
        said(&["db", "put", first, "tick", "pool=7", &format!("tick={tick}"), "liquidity=9"]);
    }
    assert!(said(&["db", "get", "--url", first, "tick", "pool=7", "tick=2"]).contains("liquidity=9"));
    let ticks = |words: &[&str]| said(words).lines().filter(|line| line.contains("tick=")).count();
    assert_eq!(ticks(&["db", "scan", first, "tick", "pool=7"]), 3);
    assert!(said(&["db", "scan", first, "tick", "pool=7", "--rev", "--limit", "1"]).contains("tick=3"));
    assert!(said(&["db", "stats", first]).contains("tick"));
    said(&["db", "verify", "--engine", "slate", "--url", first]);
    said(&["db", "audit", first]);
    said(&["db", "parked", first]);
    assert!(said(&["db", "plan", first]).contains("plan demo"));
    let dump = path("rows.jsonl");
    said(&["db", "dump", first, "--output", &dump]);

    // To another engine and back: the rows are the same everywhere.
    let copied = said(&["db", "copy", first, &path("copy"), "--engine", "lmdb"]);
    assert!(copied.contains("numbers and checksums of both sides agree"), "{copied}");
    said(&["db", "copy", &path("copy"), "--engine", "slate", "--url", second]);
    let sums = |place: &str| -> Vec<String> {
        let said = said(&["db", "checksum", place]);
        said.lines().filter(|line| line.contains("tick")).map(str::to_owned).collect()
    };
    assert_eq!(sums(first), sums(second));
    assert_eq!(sums(first), sums(&path("copy")));
    said(&["db", "diff", first, second]);

    said(&["db", "delete", first, "tick", "pool=7", "tick=2"]);
    assert_eq!(ticks(&["db", "scan", first, "tick", "pool=7"]), 2);
    said(&["db", "load", first, &dump]);
    assert_eq!(sums(first), sums(second));
    let next = path("next.keyplan");
    std::fs::write(&next, PLAN.replace("plan demo;", "plan demo; space more { key other = 0x02 n: u8; }"))
        .unwrap();
    said(&["db", "migrate", first, "--to", &next, "--apply"]);
    assert!(said(&["db", "plan", first]).contains("space more"));

    // A secret in an argument is seen by everybody who lists processes.
    let mut command = Command::new(env!("CARGO_BIN_EXE_keyplan"));
    let output =
        command.args(["db", "stats", "--engine", "slate"]).env("KEYPLAN_URL", second).output().unwrap();
    assert!(output.status.success() && !String::from_utf8_lossy(&output.stdout).contains(SECRET));
}

#[test]
fn every_subcommand_works_in_a_directory() {
    let directory = tempfile::tempdir().unwrap();
    let url = |name: &str| format!("file://{}", directory.path().join(name).display());
    every_subcommand(directory.path(), &url("first"), &url("second"), &url("first"));
    let demo = said(&["demo", "--rows", "3000", "--engine", "slate", "--url", &url("demo")]);
    assert!(demo.contains("rows of five systems written to file://"), "{demo}");
    assert!(said(&["db", "scan", &url("demo"), "cl.tick", "--count"]).trim() != "0");
}

#[test]
fn every_subcommand_works_on_a_cluster_that_speaks_s3() {
    let Some(cluster) = server::Cluster::start() else { return };
    let directory = tempfile::tempdir().unwrap();
    let (first, second) = (cluster.url("first"), cluster.url("second"));
    assert!(first.contains(SECRET));
    every_subcommand(directory.path(), &first, &second, "s3://bucket/first");
    // Neither do words that make no command.
    let error = refused(&["db", "plan", &first, &first]);
    assert!(error.contains("s3://bucket/first"), "{error}");
}
