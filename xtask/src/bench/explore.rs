//! The explorer on a large database.

use anyhow::{Context as _, Result};
use serde_json::Value;
use xtask::workspace;

use super::{Effort, Goal, Group, Measurement, number};
use crate::job::Job;

pub(super) struct Explore;

impl Group for Explore {
    fn name(&self) -> &'static str {
        "explore"
    }

    fn measure(&self, effort: Effort) -> Result<Vec<Measurement>> {
        let scratch = workspace::scratch()?.join("explore");
        let rows = match effort {
            Effort::Quick => "100000",
            Effort::Full => "5000000",
        };
        // Built for this group alone: the others need no web server.
        let output = Job::cargo(
            "run --quiet --release --package keyplan-explorer --features web --example explore_bench --",
        )
        .argument(rows)
        .argument(scratch.to_string_lossy())
        .output()?;
        let mut lines = Vec::new();
        for line in output.lines() {
            let line: Value =
                serde_json::from_str(line).with_context(|| format!("not a measurement: {line}"))?;
            lines.extend(measurement(&line, rows));
        }
        Ok(lines)
    }
}

/// A line of the program, with its goal; those without one are for whoever reads the program's own output.
fn measurement(line: &Value, rows: &str) -> Option<Measurement> {
    let name = line.get("measure")?.as_str()?;
    let (goal, unit, what) = match name {
        "first paint" => {
            (Goal::AtMost(1000.0), "ms", "the page, its modules, the database and the first counts")
        }
        "first page" => (
            Goal::AtMost(300.0),
            "ms",
            "the slowest of all families, from either end, while all rows are counted",
        ),
        "50 tabs" => (Goal::AtMost(10_000.0), "ms", "fifty at once, each with its first three questions"),
        "counted" => (Goal::AtLeast(500_000.0), "rows/s", "one walk over all rows, shared by all"),
        "memory" => (Goal::AtMost(300.0), "MB", "the most that the process had, the engine's cache included"),
        _ => return None,
    };
    let rows: f64 = rows.parse().ok()?;
    Some(Measurement {
        name: name.to_owned(),
        value: line.get("value")?.as_f64()?,
        goal,
        unit,
        compared_with: format!("{} rows on fjall: {what}", number(rows)),
    })
}
