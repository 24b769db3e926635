//! The store on PostgreSQL and on object storage beside code by hand on the same clients, on servers that are started for it.

use anyhow::Result;

use super::{Effort, Group, Measurement, build_more, figures, program};
use crate::job::Job;
use crate::tool::Tool;

pub(super) struct Scale;

impl Group for Scale {
    fn name(&self) -> &'static str {
        "scale"
    }

    fn measure(&self, effort: Effort) -> Result<Vec<Measurement>> {
        Tool::Postgres.need()?;
        Tool::SeaweedFs.need()?;
        build_more(
            "--example postgres_bench --example slate_bench --package keyplan-postgres --package keyplan-slate",
        )?;
        let (postgres, slate) = match effort {
            Effort::Quick => ("--rows 20000", "--rows 50000"),
            Effort::Full => ("--rows 500000", "--rows 1000000"),
        };
        let mut measured = figures::told(&Job::new(&program("examples/postgres_bench")?, postgres))?;
        measured.extend(figures::told(&Job::new(&program("examples/slate_bench")?, slate))?);
        Ok(measured)
    }
}
