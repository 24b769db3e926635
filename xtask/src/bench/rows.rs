//! Reads from memory: the row cache beside raw fjall, LMDB and redb.

use anyhow::{Context as _, Result};
use xtask::workspace;

use super::{Effort, Group, Measurement, figures, program};
use crate::job::Job;

pub(super) struct Rows;

impl Group for Rows {
    fn name(&self) -> &'static str {
        "rows"
    }

    fn measure(&self, effort: Effort) -> Result<Vec<Measurement>> {
        let scratch = workspace::scratch()?.join("rows");
        std::fs::create_dir_all(&scratch).context("cannot make a directory for the databases")?;
        let job = Job::new(&program("examples/rows_bench")?, "--dir").argument(scratch.to_string_lossy());
        let job = match effort {
            Effort::Quick => job.arguments("--rows 50000 --bursts 3"),
            // As many as the goals were set for: with fewer, other engines have all of their indexes in the processor's cache.
            Effort::Full => job.arguments("--rows 5000000 --bursts 9"),
        };
        let measured = figures::told(&job);
        std::fs::remove_dir_all(&scratch).context("cannot remove the databases")?;
        measured
    }
}
