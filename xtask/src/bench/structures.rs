//! Hashes, sorted sets, sets and queues: on fjall against rows by hand and against Redis, and on Redis against commands by
//! hand.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result};
use serde_json::Value;
use xtask::workspace;

use super::{Effort, Goal, Group, Measurement, number};
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
        let (passes, search, turns) = match effort {
            Effort::Quick => ("1", "10000", "10"),
            Effort::Full => ("5", "1000000", "100"),
        };
        let embedded =
            Job::cargo("run --quiet --release --package keyplan-store --example structure_bench --")
                .arguments(&format!("--passes {passes} --search {search} --dir"))
                .argument(scratch.to_string_lossy())
                .output()?;
        let server = Job::cargo(
            "run --quiet --release --package keyplan-store --features redis --example redis_bench -- --turns",
        )
        .argument(turns)
        .output()?;
        let embedded = Embedded::read(&embedded)?;
        let server = objects(&server)?;
        let mut lines = Vec::new();
        lines.extend(OPERATIONS.iter().filter_map(|(name, ..)| embedded.against_rows(name)));
        lines.extend(BATCHES.iter().filter_map(|(name, _)| embedded.against_rows(name)));
        for after in ["pop_min_after_100k", "pop_min_reopened"] {
            lines.extend(embedded.flat(after));
        }
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

/// Microseconds of an operation by its name and side: by the clock, and of the processor.
struct Embedded(BTreeMap<(String, String), (f64, f64)>);

impl Embedded {
    fn read(output: &str) -> Result<Self> {
        let mut all = BTreeMap::new();
        for line in objects(output)? {
            let text = |name: &str| line.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
            let float = |name: &str| line.get(name).and_then(Value::as_f64).unwrap_or_default();
            all.insert((text("measure"), text("side")), (float("value"), float("cpu")));
        }
        Ok(Self(all))
    }

    fn of(&self, name: &str, side: &str) -> Option<(f64, f64)> {
        self.0.get(&(name.to_owned(), side.to_owned())).copied()
    }

    /// Against rows that are written by hand, in processor time of the calling thread.
    fn against_rows(&self, name: &str) -> Option<Measurement> {
        let ((_, ours), (_, raw)) = (self.of(name, "ours")?, self.of(name, "raw")?);
        Some(Measurement {
            name: format!("{}, rows by hand ÷ ours", spelled(name)),
            value: raw / ours,
            goal: Goal::AtLeast(0.95),
            unit: "× throughput",
            compared_with: format!("{} µs of the processor against {} µs", number(ours), number(raw)),
        })
    }

    fn flat(&self, after: &str) -> Option<Measurement> {
        let ((_, first), (_, later)) = (self.of("pop_min_first", "ours")?, self.of(after, "ours")?);
        Some(Measurement {
            name: format!("{} ÷ the first 1,000", spelled(after)),
            value: later / first,
            goal: Goal::AtMost(1.5),
            unit: "× processor time",
            compared_with: format!("{} µs against {} µs", number(later), number(first)),
        })
    }

    /// Against Redis at its best, by the clock.
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
        let redis = server.iter().find(is)?.get("hand_ns")?.as_f64()? / 1e3;
        let (ours, _) = self.of(name, "ours")?;
        let how = if batch == 1 { "one at a time" } else { "100 at a time" };
        Some(Measurement {
            name: format!("{operation} {how}, Redis ÷ ours on fjall"),
            value: redis / ours,
            goal: Goal::AtLeast(goal),
            unit: "× throughput",
            compared_with: format!("{} µs against {} µs on loopback", number(ours), number(redis)),
        })
    }
}

fn spelled(name: &str) -> String {
    name.replace('_', " ")
}

/// Our interface on Redis against the same commands by hand.
fn ours_on_redis(line: &Value) -> Option<Measurement> {
    let float = |name: &str| line.get(name).and_then(Value::as_f64);
    let (operation, batch) = (line.get("operation")?.as_str()?, line.get("batch")?.as_u64()?);
    let how = if batch == 1 { "one at a time".to_owned() } else { format!("{batch} at a time") };
    Some(Measurement {
        name: format!("on Redis, {operation} {how}"),
        value: float("ratio")?,
        goal: Goal::AtLeast(float("goal")?),
        unit: "× throughput",
        compared_with: format!(
            "the same commands by hand: {} ns against {} ns",
            number(float("ours_ns")?),
            number(float("hand_ns")?)
        ),
    })
}
