//! `keyplan verify`: a certificate checked against a plan.

use anyhow::{Context, Result};
use keyplan_prover::certificate::{Certificate, Standing, verify, verify_carried};
use keyplan_report::files::{certificate_first, read_text};
use keyplan_report::releases::{Repositories, releases};

use super::Outcome;
use crate::args::{ExplainFormat, Verify};
use crate::input;
use crate::render::{self, Output};

/// The largest certificate that is read: plans of some thousand families have one of about a tenth of it.
const LARGEST: u64 = 256 << 20;

/// Checks a certificate.
pub(crate) fn run(args: &Verify, out: &mut Output) -> Result<Outcome> {
    let (certificate, path) = certificate_first(&args.first, &args.second)?;
    let Some(plan) = input::plan(path)? else { return Ok(Outcome::Findings) };
    let read = Certificate::from_json(&read_text(certificate, LARGEST, "a certificate")?)
        .with_context(|| format!("`{certificate}` is not a certificate"))?;
    let old = match &read.carried {
        Some(carried) => releases(path, &plan, &Repositories::default())?
            .into_iter()
            .find(|release| release.fingerprint == carried.fingerprint)
            .and_then(|release| release.compile().plan),
        None => None,
    };
    let outcome = verify(&read, &plan).and_then(|mut verified| {
        let carried = verify_carried(&read, old.as_ref(), &plan)?;
        verified.statements += carried.len();
        verified.recomputed.extend(carried);
        Ok(verified)
    });
    let standing = Standing::of(&read);
    match args.format {
        ExplainFormat::Text => out.line(&render::certified(&plan, &outcome, standing))?,
        ExplainFormat::Json => out.json(&render::certified_json(&plan, &outcome, standing)?)?,
    }
    let sound = args.allow_refuted || standing.refuted + standing.unknown == 0;
    Ok(if outcome.is_ok() && sound { Outcome::Clean } else { Outcome::Findings })
}
