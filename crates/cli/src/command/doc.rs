//! `keyplan doc`: a plan's reference.

use std::path::Path;

use anyhow::Result;
use keyplan_plan::notation::visible;
use keyplan_prover::{Options, prove_migration};
use keyplan_report::output_file;
use keyplan_report::reference::{carried, reference};
use keyplan_report::releases::last_release;

use super::Outcome;
use crate::args::Doc;
use crate::input;
use crate::render::Output;

/// Writes the reference of a plan.
pub(crate) fn run(args: &Doc, out: &mut Output) -> Result<Outcome> {
    let Some(plan) = input::plan(&args.plan)? else { return Ok(Outcome::Findings) };
    let mut page = reference(&plan);
    if let Some(release) = last_release(&args.plan, &plan)?
        && let Some(old) = release.compile().plan.filter(|old| old.fingerprint() != plan.fingerprint())
    {
        let proof = prove_migration(&old, &plan, &Options::default());
        page.push('\n');
        page.push_str(&carried(&release.name, &plan, &proof));
    }
    let text = visible(&page);
    match &args.output {
        None => out.raw(text.as_bytes())?,
        Some(path) => output_file::write(Path::new(path), text.as_bytes())?,
    }
    Ok(Outcome::Clean)
}
