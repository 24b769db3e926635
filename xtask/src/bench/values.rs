//! `keyplan db dump`, with values that are protobuf messages read by their schema.

use std::fmt::Write as _;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use xtask::workspace;

use super::explain::{clock, has_taskset};
use super::{Effort, Goal, Group, Measurement, build_more, program};
use crate::clock::Stopwatch;
use crate::job::Job;

pub(super) struct Values;

const PLAN: &str = "plans/osmosis_cl.keyplan";

impl Group for Values {
    fn name(&self) -> &'static str {
        "values"
    }

    fn measure(&self, effort: Effort) -> Result<Vec<Measurement>> {
        build_more("--package keyplan-cli")?;
        let (rows, turns) = match effort {
            Effort::Quick => (100_000_u32, 2),
            Effort::Full => (500_000, 5),
        };
        let folder = workspace::scratch()?.join("values");
        if folder.exists() {
            std::fs::remove_dir_all(&folder)?;
        }
        std::fs::create_dir_all(&folder)?;
        let (lines, data) = (folder.join("rows.jsonl"), folder.join("data"));
        std::fs::write(&lines, positions(rows))
            .with_context(|| format!("cannot write {}", lines.display()))?;
        let keyplan = program("keyplan")?;
        let (lines, data) = (lines.to_string_lossy(), data.to_string_lossy());
        Job::new(&keyplan, "db create").argument(&*data).argument(PLAN).run()?;
        Job::new(&keyplan, "db load").argument(&*data).argument(&*lines).run()?;
        let mut best = Duration::MAX;
        for _ in 0..turns {
            best = best.min(dumped(&keyplan, &data)?);
        }
        Ok(vec![Measurement {
            name: "dump of positions".to_owned(),
            value: f64::from(rows) / best.as_secs_f64(),
            goal: Goal::AtLeast(300_000.0),
            unit: "rows/s",
            compared_with: format!("{rows} messages of seven fields by {PLAN}, start to end, by {}", clock()),
        }])
    }
}

/// Rows of positions as `db load` takes them.
fn positions(rows: u32) -> String {
    let mut text = String::new();
    for id in 1..=rows {
        let (low, high) = (i64::from(id % 1000) * -100, i64::from(id % 700) * 100);
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            r#"{{"family":"cl.position","args":{{"position_id":"{id}"}},"value":{{"position_id":{id},"address":"osmo1zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3q0z6y7","pool_id":{},"lower_tick":{low},"upper_tick":{high},"join_time":"2023-12-20T18:40:00.5Z","liquidity":"{}000000000000000000"}}}}"#,
            id % 97,
            id * 7
        );
    }
    text
}

fn dumped(keyplan: &str, data: &str) -> Result<Duration> {
    let job = if has_taskset() {
        Job::new("taskset", "--cpu-list 0").argument(keyplan)
    } else {
        Job::new(keyplan, "")
    };
    let job = job.argument("db").argument("dump").argument(data);
    let mut command = job.command();
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let watch = Stopwatch::start();
    let status = command.status().with_context(|| format!("cannot run `{job}`"))?;
    if !status.success() {
        bail!("`{job}` failed: {status}");
    }
    Ok(watch.cost())
}
