//! `keyplan verify`: a certificate checked against a plan.

use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use keyplan_prover::certificate::{Certificate, Standing, verify};
use keyplan_report::files;

use super::Outcome;
use crate::args::{ExplainFormat, Verify};
use crate::input;
use crate::render::{self, Output};

/// The largest certificate that is read: plans of some thousand families have one of about a tenth of it.
const LARGEST: u64 = 256 << 20;

/// Checks a certificate.
pub(crate) fn run(args: &Verify, out: &mut Output) -> Result<Outcome> {
    let (certificate, plan) = which(&args.first, &args.second)?;
    let Some(plan) = input::plan(plan)? else { return Ok(Outcome::Findings) };
    let read = Certificate::from_json(&text(certificate)?)
        .with_context(|| format!("`{certificate}` is not a certificate"))?;
    let outcome = verify(&read, &plan);
    let standing = Standing::of(&read);
    match args.format {
        ExplainFormat::Text => out.line(&render::certified(&plan, &outcome, standing))?,
        ExplainFormat::Json => out.json(&render::certified_json(&plan, &outcome, standing)?)?,
    }
    let sound = args.allow_refuted || standing.refuted + standing.unknown == 0;
    Ok(if outcome.is_ok() && sound { Outcome::Clean } else { Outcome::Findings })
}

/// Which of two files is the certificate and which the plan, in whichever order they were typed: a certificate is an
/// object of JSON, and no plan begins with a brace.
fn which<'a>(first: &'a str, second: &'a str) -> Result<(&'a str, &'a str)> {
    let is_certificate = |path: &str| -> Result<bool> {
        let start = files::read(Path::new(path), 64);
        let start = start.map_err(|error| anyhow!("cannot read `{path}`: {}", files::reason(&error)))?;
        Ok(start.trim_ascii_start().starts_with(b"{"))
    };
    match (is_certificate(first)?, is_certificate(second)?) {
        (true, true) => bail!("`{first}` and `{second}` are both no plan"),
        (false, true) => Ok((second, first)),
        _ => Ok((first, second)),
    }
}

fn text(path: &str) -> Result<String> {
    let bytes = files::read(Path::new(path), LARGEST + 1);
    let bytes = bytes.map_err(|error| anyhow!("cannot read `{path}`: {}", files::reason(&error)))?;
    if bytes.len() as u64 > LARGEST {
        bail!("`{path}` is too large for a certificate: over {} MiB", LARGEST >> 20);
    }
    String::from_utf8(bytes).map_err(|_| anyhow!("`{path}` is not a certificate: it is no text"))
}
