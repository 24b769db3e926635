//! Hashes, sorted sets, sets and queues: on fjall against rows by hand and against Redis, and on Redis against commands by
//! hand.

use anyhow::{Context as _, Result};
use serde_json::Value;
use xtask::workspace;

use super::{Effort, Goal, Group, Measurement, number, program};
use crate::job::Job;
use crate::tool::Tool;

pub(super) struct Structures;

/// An operation on fjall, the same on Redis, and how many times as fast it is to be one at a time.
const OPERATIONS: [(&str, &str, f64); 7] = [
    ("hash_set", "hash set", 3.0),
    ("hash_get", "hash get", 2.2),
    ("set_add", "set add", 3.0),
    ("set_contains", "set contains", 3.0),
    ("zset_add", "sorted set add", 1.7),
    ("range_100", "range of 100", 1.5),
    ("pop_min_first", "pop the first", 1.0),
];

/// Writes in batches of 100 on fjall, and in pipelines of 100 on Redis.
const BATCHES: [(&str, &str); 3] =
    [("hash_set_100", "hash set"), ("set_add_100", "set add"), ("zset_add_100", "sorted set add")];

impl Group for Structures {
    fn name(&self) -> &'static str {
        "structures"
    }

    fn measure(&self, effort: Effort) -> Result<Vec<Measurement>> {
        Tool::RedisServer.need()?;
        let scratch = workspace::scratch()?.join("structures");
        let (embedded, turns) = match effort {
            Effort::Quick => ("--passes 1 --operations 2000 --search 20000", "5"),
            Effort::Full => ("--passes 5 --search 1000000", "500"),
        };
        let embedded = Job::new(&program("examples/structure_bench")?, embedded)
            .argument("--dir")
            .argument(scratch.to_string_lossy())
            .output()?;
        let server = Job::new(&program("examples/redis_bench")?, "--turns").argument(turns).output()?;
        let embedded = Embedded(objects(&embedded)?);
        let server = objects(&server)?;
        let mut lines = Vec::new();
        lines.extend(OPERATIONS.iter().filter_map(|(name, ..)| embedded.against_rows(name)));
        lines.extend(BATCHES.iter().filter_map(|(name, _)| embedded.against_rows(name)));
        for after in ["pop_min_after_100k", "pop_min_reopened"] {
            lines.extend(embedded.flat(after));
        }
        lines.extend(embedded.0.iter().filter_map(search_reads));
        for (name, operation, goal) in OPERATIONS {
            lines.extend(embedded.against_redis(name, operation, 1, &server, goal));
        }
        for (name, operation) in BATCHES {
            lines.extend(embedded.against_redis(name, operation, 100, &server, 0.5));
        }
        lines.extend(server.iter().filter_map(ours_on_redis));
        Ok(lines)
    }
}

fn objects(output: &str) -> Result<Vec<Value>> {
    let object =
        |line: &str| serde_json::from_str(line).with_context(|| format!("not a measurement: {line}"));
    output.lines().map(object).collect()
}

/// What the program for the embedded side has printed.
struct Embedded(Vec<Value>);

fn float(line: &Value, name: &str) -> Option<f64> {
    line.get(name)?.as_f64()
}

/// A comparison of two figures, in the words of the table.
fn compared(name: String, value: f64, goal: Goal, unit: &'static str, compared_with: String) -> Measurement {
    Measurement { name, value, goal, unit, compared_with }
}

impl Embedded {
    fn of(&self, measure: &str) -> Option<&Value> {
        self.0.iter().find(|line| line.get("measure").and_then(Value::as_str) == Some(measure))
    }

    /// Against rows that are written by hand.
    fn against_rows(&self, name: &str) -> Option<Measurement> {
        let line = self.of(name)?;
        let (ours, raw) = (number(float(line, "ours")?), number(float(line, "raw")?));
        let beside = if name == "hash_set" {
            let blind = number(float(self.of("hash_set_blind")?, "raw")?);
            format!("; a row that is neither looked for nor counted takes {blind} µs")
        } else {
            String::new()
        };
        let text = format!("{ours} µs against {raw} µs{beside}");
        let name = format!("{}, rows by hand ÷ ours", spelled(name));
        Some(compared(name, float(line, "ratio")?, Goal::AtLeast(0.95), "× throughput", text))
    }

    fn flat(&self, after: &str) -> Option<Measurement> {
        let (first, later) = (float(self.of("pop_min_first")?, "ours")?, float(self.of(after)?, "ours")?);
        let name = format!("{} ÷ the first 1,000", spelled(after));
        let text = format!("{} µs against {} µs", number(later), number(first));
        Some(compared(name, later / first, Goal::AtMost(1.5), "× time", text))
    }

    /// Against Redis, by the clock, each at its best.
    fn against_redis(
        &self,
        name: &str,
        operation: &str,
        batch: u64,
        server: &[Value],
        goal: f64,
    ) -> Option<Measurement> {
        let is = |line: &&Value| {
            line.get("operation").and_then(Value::as_str) == Some(operation)
                && line.get("batch").and_then(Value::as_u64) == Some(batch)
        };
        let redis = float(server.iter().find(is)?, "hand_ns")? / 1e3;
        let ours = float(self.of(name)?, "best")?;
        let how = if batch == 1 { "one at a time" } else { "100 at a time" };
        let name = format!("{operation} {how}, Redis ÷ ours on fjall");
        let text = format!("{} µs against {} µs on loopback", number(ours), number(redis));
        Some(compared(name, redis / ours, Goal::AtLeast(goal), "× throughput", text))
    }
}

/// What a page of a search reads: rows that the engine gave out.
fn search_reads(line: &Value) -> Option<Measurement> {
    let mode = line.get("search")?.as_str()?;
    let (sets, members) = (number(float(line, "sets")?), number(float(line, "members")?));
    let mut text = format!(
        "{} keys looked for, {} µs; the larger of two pages, in both directions",
        number(float(line, "lookups")?),
        number(float(line, "us")?)
    );
    if mode == "intersection" {
        text.push_str("; a hit is a row in each set, so that a page of 100 is 1,000 rows at least");
    }
    let name = format!("{mode} of {sets} sets of {members}, limit 100");
    Some(compared(name, float(line, "rows")?, Goal::AtMost(999.0), "rows read", text))
}

fn spelled(name: &str) -> String {
    name.replace('_', " ")
}

/// Our interface on Redis against the same commands by hand.
fn ours_on_redis(line: &Value) -> Option<Measurement> {
    let (operation, batch) = (line.get("operation")?.as_str()?, line.get("batch")?.as_u64()?);
    let how = if batch == 1 { "one at a time".to_owned() } else { format!("{batch} at a time") };
    let (ours, hand) = (number(float(line, "ours_ns")?), number(float(line, "hand_ns")?));
    Some(compared(
        format!("on Redis, {operation} {how}"),
        float(line, "ratio")?,
        Goal::AtLeast(float(line, "goal")?),
        "× throughput",
        format!("the same commands by hand: {ours} ns against {hand} ns"),
    ))
}
