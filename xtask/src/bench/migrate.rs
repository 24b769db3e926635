//! Migrations against a loop by hand: `crates/store/examples/migrate_bench.rs`, each side in a process of its own.

use anyhow::{Context as _, Result, bail};
use serde_json::Value;
use xtask::workspace;

use super::{Effort, Goal, Group, Measurement, program};
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
        let output = job.command().output().with_context(|| format!("cannot run `{job}`"))?;
        std::fs::remove_dir_all(&scratch).context("cannot remove the databases")?;
        if !output.status.success() {
            bail!("`{job}` failed: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr));
        }
        String::from_utf8_lossy(&output.stdout).lines().map(measurement).collect()
    }
}

fn measurement(line: &str) -> Result<Measurement> {
    let read = || {
        let object: Value = serde_json::from_str(line).ok()?;
        Some(Measurement {
            name: object.get("name")?.as_str()?.to_owned(),
            value: object.get("value")?.as_f64()?,
            goal: Goal::AtMost(object.get("goal")?.as_f64()?),
            unit: match object.get("unit")?.as_str()? {
                "×" => "× CPU",
                "MiB" => "MiB",
                "ms" => "ms",
                _ => return None,
            },
            compared_with: object.get("compared_with")?.as_str()?.to_owned(),
        })
    };
    read().with_context(|| format!("a benchmark said what is no measurement: {line}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_benchmark_is_a_measurement() {
        let line = r#"{"name":"in place","value":1.1,"goal":1.3,"unit":"×","compared_with":"by hand"}"#;
        assert_eq!(measurement(line).unwrap().unit, "× CPU");
        assert!(measurement(&line.replace('×', "ells")).is_err());
    }
}
