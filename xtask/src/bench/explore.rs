//! The explorer on a large database.

use anyhow::{Context as _, Result};
use serde_json::Value;
use xtask::workspace;

use super::{Effort, Goal, Group, Measurement, number};
use crate::job::Job;
use crate::tool::browser_packages;

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
        let modules = browser_packages()?.join("node_modules");
        // Built only for this group: the others need no web server.
        let output = Job::cargo(
            "run --quiet --release --package keyplan-explorer --features web --example explore_bench --",
        )
        .argument(rows)
        .argument(scratch.to_string_lossy())
        .variable("KEYPLAN_BROWSER", &modules.to_string_lossy())
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
        "first paint in Chromium" => (
            Goal::AtMost(1000.0),
            "ms",
            "the browser's own entry, from the start of the navigation to the first content",
        ),
        "families and map in Chromium" => (
            Goal::AtMost(1000.0),
            "ms",
            "from the start of the navigation to the frame with all families, their first counts and the map",
        ),
        "families and map, computed in Chromium" => (
            Goal::AtMost(1000.0),
            "ms",
            "the same by processor time of the page, without what the machine does beside it",
        ),
        "first page, computed in Chromium" => {
            (Goal::AtMost(300.0), "ms", "the most of any family, by processor time of the page")
        }
        "first page in Chromium" => (
            Goal::AtMost(300.0),
            "ms",
            "the slowest of all families, from the click to the frame with its rows, while all rows are counted",
        ),
        "next page in Chromium" => (
            Goal::AtMost(300.0),
            "ms",
            "the slowest of 30 pages, from the click to the frame with its rows, while all rows are counted",
        ),
        "50 tabs in Chromium" => {
            (Goal::AtMost(60_000.0), "ms", "fifty opened at once, until each shows its families and its map")
        }
        "memory beside Chromium" => {
            (Goal::AtMost(300.0), "MB", "the most that the server had with fifty tabs of a browser open")
        }
        "first paint" => (
            Goal::AtMost(1000.0),
            "ms",
            "only the server: the page, its modules, the database, the first counts",
        ),
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
