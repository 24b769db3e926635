//! The command itself under hostile input: what it reads line by line, and what it reads as JSON.

use std::io::Write as _;
use std::path::Path;
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use keyplan_plan::dynamic::encode;
use xtask::fuzz::{Arbitrary, Rng, kept, mutated};
use xtask::workspace;

use crate::built;
use crate::job::Job;

/// What the command claims about lines of any bytes.
pub(super) const CLAIM: &str =
    "any bytes as keys or as a contract's state get one answer each, and an exit code of their own";

/// Lines that are tried in one run of the command.
const BATCH: usize = 500;

/// Pieces of lines and of a contract's state.
const WORDS: &[&[u8]] = &[
    b"0x",
    b"\\x01",
    b"\\n",
    b"==",
    b"AQ==",
    b" ",
    b"\t",
    b"\r",
    b"\"",
    b"{\"models\":[",
    b"{\"key\":\"00\",",
    b"\"value\":\"AA==\"}",
    b"]}",
    b"[",
    b"{",
    b"null",
    b"\\u0000",
    b"\xff",
    b"\xc3\xa9",
];

/// How much was tried.
pub(super) struct Tried {
    pub(super) runs: u32,
    pub(super) lines: usize,
}

/// Runs the command with made lines until the time is over.
pub(super) fn run(seed: u64, time: Duration) -> Result<Tried> {
    let keyplan = built::keyplan()?;
    let plans: Vec<&str> = kept().iter().map(|plan| plan.path.as_str()).collect();
    let pool = pool();
    let mut rng = Rng::new(seed);
    let mut tried = Tried { runs: 0, lines: 0 };
    let start = Instant::now();
    while start.elapsed() < time {
        let plan = rng.pick(&plans).copied().unwrap_or_default();
        let input = rng.pick(&["auto", "hex", "base64", "text"]).copied().unwrap_or_default();
        let lines: Vec<Vec<u8>> = (0..BATCH).map(|_| one_line(mutated(&mut rng, &pool, WORDS))).collect();
        explain(&keyplan, plan, input, &lines)?;
        let state = mutated(&mut rng, &states(), WORDS);
        decompose(&keyplan, &state)?;
        tried.runs += 2;
        tried.lines += lines.len();
    }
    Ok(tried)
}

fn pool() -> Vec<Vec<u8>> {
    let mut rng = Rng::new(6);
    let families = kept().iter().flat_map(|kept| kept.plan.families()).map(|(_, family)| family);
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat();
    let made = families.map(|family| {
        let noise = rng.bytes(128);
        let mut key = Vec::new();
        // What was written before a refusal is as good a start.
        let _ = encode(&family.key, &Arbitrary::new(&noise).values(&family.key), &mut key);
        hex(&key).into_bytes()
    });
    made.collect()
}

fn states() -> [Vec<u8>; 2] {
    let one = br#"{"models":[{"key":"0006636F6E666967","value":"eyJhIjoxfQ=="}]}"#;
    let two =
        br#"{"models":[{"key":"00","value":"AA=="},{"key":"0003626172666F6F","value":""}],"pagination":{}}"#;
    [one.to_vec(), two.to_vec()]
}

/// The bytes without the ends of lines.
fn one_line(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.retain(|byte| *byte != b'\n');
    bytes
}

fn explain(keyplan: &Path, plan: &str, input: &str, lines: &[Vec<u8>]) -> Result<()> {
    let stream = lines.join(b"\n".as_slice());
    let job =
        Job::new(&keyplan.to_string_lossy(), "explain").argument(plan).argument(format!("--input={input}"));
    for format in ["json", "text"] {
        let job = job.clone().argument(format!("--format={format}"));
        let output = feed(&job, &stream)?;
        answered(&job, &output, &stream, &[0, 1])?;
        if format == "json" {
            let is_json = |line: &[u8]| serde_json::from_slice::<serde_json::Value>(line).is_ok();
            let answers = output.stdout.split(|byte| *byte == b'\n').filter(|line| is_json(line)).count();
            let asked = lines.iter().filter(|line| !line.trim_ascii().is_empty()).count();
            if answers != asked {
                bail!("`{job}` gives {answers} answers to {asked} lines; its input is in {}", keep(&stream)?);
            }
        }
    }
    Ok(())
}

fn decompose(keyplan: &Path, state: &[u8]) -> Result<()> {
    let job = Job::new(&keyplan.to_string_lossy(), "explain --decompose");
    let output = feed(&job, state)?;
    answered(&job, &output, state, &[0, 1, 2])
}

/// Runs a job with this standard input.
fn feed(job: &Job, input: &[u8]) -> Result<Output> {
    let mut command = job.command();
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().with_context(|| format!("cannot run `{job}`"))?;
    let mut stdin = child.stdin.take().context("no standard input")?;
    let input = input.to_vec();
    // The command may stop reading before the end, which is not a fault here.
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().with_context(|| format!("cannot wait for `{job}`"))?;
    let _ = writer.join();
    Ok(output)
}

fn answered(job: &Job, output: &Output, input: &[u8], codes: &[i32]) -> Result<()> {
    let said = String::from_utf8_lossy(&output.stderr);
    let good = output.status.code().is_some_and(|code| codes.contains(&code)) && !said.contains("panicked");
    if good {
        Ok(())
    } else {
        bail!("`{job}` ended with {}; its input is in {}\n{said}", output.status, keep(input)?)
    }
}

/// Keeps the input that broke a claim, and says where.
fn keep(input: &[u8]) -> Result<String> {
    let folder = workspace::root().join("fuzz/artifacts/command");
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let file = folder.join("input");
    std::fs::write(&file, input).with_context(|| format!("cannot write {}", file.display()))?;
    Ok(workspace::relative(&file))
}
