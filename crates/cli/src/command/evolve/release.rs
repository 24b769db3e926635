//! `keyplan release`: the layout as it is now becomes an entry of the lock.

use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result};
use keyplan_report::output_file;
use keyplan_report::releases::{Releasing, date, release};

use crate::args::evolve::Release as Args;
use crate::command::Outcome;
use crate::input;
use crate::render::{self, Output};

/// Releases a plan that has no findings.
pub(crate) fn run(args: &Args, out: &mut Output) -> Result<Outcome> {
    let loaded = input::load(&args.plan)?;
    let compiled = &loaded.compiled;
    let Some(plan) = compiled.sound() else {
        render::message(&render::findings(&compiled.sources, &compiled.diagnostics));
        return Ok(Outcome::Findings);
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let day = args.date.clone().unwrap_or_else(|| date(now));
    match release(&args.plan, compiled, plan, args.name.as_deref(), &day)? {
        Releasing::Unmoved(last) => {
            out.line(&format!("nothing has moved since release {:?} of {}", last.name, last.date))?;
        }
        Releasing::Refused(findings) => {
            out.text(&render::findings(&compiled.sources, &findings))?;
            out.line("not released: a release has no findings, and what it breaks is allowed by name")?;
            return Ok(Outcome::Findings);
        }
        Releasing::Ready { path, lock, name, fingerprint, given_up } => {
            let place = path.display();
            output_file::write(&path, lock.to_text().as_bytes())
                .with_context(|| format!("cannot write `{place}`"))?;
            out.line(&format!(
                "released {} as {name:?}: fingerprint {fingerprint}; commit `{place}`",
                plan.name
            ))?;
            out.text(&render::given_up(&given_up))?;
        }
    }
    Ok(Outcome::Clean)
}
