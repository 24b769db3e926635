//! Migrations against a loop by hand: `crates/store/examples/migrate_bench.rs`, each side in a process of its own.

use anyhow::{Context as _, Result};
use serde_json::Value;
use xtask::workspace;

use super::figures::told_in;
use super::{Effort, Group, Measurement, program};
use crate::job::Job;

pub(super) struct Migrate;

impl Group for Migrate {
    fn name(&self) -> &'static str {
        "migrate"
    }

    fn measure(&self, effort: Effort) -> Result<Vec<Measurement>> {
        let scratch = workspace::scratch()?.join("migrate");
        if scratch.exists() {
            std::fs::remove_dir_all(&scratch).context("cannot remove what an earlier run left")?;
        }
        std::fs::create_dir_all(&scratch).context("cannot make a directory for the databases")?;
        let rows = match effort {
            Effort::Quick => "100000",
            Effort::Full => "2000000",
        };
        let job = Job::new(&program("examples/migrate_bench")?, "--json --rows")
            .argument(rows)
            .argument(scratch.to_string_lossy());
        let lines = told_in(&job, unit);
        std::fs::remove_dir_all(&scratch).context("cannot remove the databases")?;
        lines
    }
}

fn unit(line: &Value) -> Option<&'static str> {
    match line.get("unit")?.as_str()? {
        "×" => Some("× CPU"),
        "MiB" => Some("MiB"),
        "ms" => Some("ms"),
        _ => None,
    }
}
