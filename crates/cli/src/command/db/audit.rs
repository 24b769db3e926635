use anyhow::{Context as _, Result, bail};
use keyplan_database::open;
use keyplan_report::audit::{AuditError, audit};

use super::{binding, plan_of};
use crate::args::source::{Audit, AuditFormat};
use crate::command::Outcome;
use crate::interrupt;
use crate::render::{self, Output, Progress};

/// Reads every row and says what the plan does not explain.
pub(super) fn run(args: &Audit, out: &mut Output) -> Result<Outcome> {
    let opened = open(&args.source, None)?;
    let Some(plan) = plan_of(&args.reading, vec![opened.plan])? else {
        if let Some(error) = opened.untold {
            return Err(error).context("to audit its rows as they are, name a plan with `--plan PLAN`");
        }
        bail!("`{}` has no plan in it: name one with `--plan PLAN`", args.source);
    };
    let binding = binding(&args.reading, &plan, &*opened.source)?;
    let progress = Progress::rows("auditing");
    let found = audit(&*opened.source, &plan, &binding, |rows| {
        progress.set(rows);
        interrupt::goes_on()
    });
    let found = match found {
        Err(error @ AuditError::Stopped { .. }) => return Err(interrupt::ended(error)),
        done => done?,
    };
    progress.end();
    match args.format {
        AuditFormat::Text => out.text(&render::audit(&found))?,
        AuditFormat::Json => out.json(&render::audit_json(&found)?)?,
        AuditFormat::Sarif => out.json(&render::audit_sarif(&args.source, &found)?)?,
    }
    Ok(if found.findings.is_empty() { Outcome::Clean } else { Outcome::Findings })
}
