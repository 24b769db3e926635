//! `keyplan verify`: a certificate checked against a plan.

use std::fs::File;
use std::io::Read;

use anyhow::{Context, Result, anyhow, bail};
use keyplan_prover::certificate::{Certificate, verify};

use super::Outcome;
use crate::args::{ExplainFormat, Verify};
use crate::input;
use crate::render::{self, Output};

/// The largest certificate that is read: plans of some thousand families have one of about a tenth of it.
const LARGEST: u64 = 256 << 20;

/// Checks a certificate.
pub(crate) fn run(args: &Verify, out: &mut Output) -> Result<Outcome> {
    let Some(plan) = input::plan(&args.plan)? else { return Ok(Outcome::Findings) };
    let certificate = Certificate::from_json(&text(&args.certificate)?)
        .with_context(|| format!("`{}` is not a certificate", args.certificate))?;
    let outcome = verify(&certificate, &plan);
    match args.format {
        ExplainFormat::Text => out.line(&render::certified(&plan, &outcome))?,
        ExplainFormat::Json => out.json(&render::certified_json(&plan, &outcome)?)?,
    }
    Ok(if outcome.is_ok() { Outcome::Clean } else { Outcome::Findings })
}

fn text(path: &str) -> Result<String> {
    let read = || {
        let mut text = String::new();
        File::open(path)?.take(LARGEST + 1).read_to_string(&mut text)?;
        Ok(text)
    };
    let text = read().map_err(|error| anyhow!("cannot read `{path}`: {}", input::reason(&error)))?;
    if text.len() as u64 > LARGEST {
        bail!("`{path}` is too large for a certificate: over {} MiB", LARGEST >> 20);
    }
    Ok(text)
}
