//! `keyplan release`: the layout as it is now becomes an entry of the lock.

use std::collections::BTreeSet;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result, anyhow};
use keyplan_plan::lock::Release;
use keyplan_prover::{
    Options, Version, compare, diagnose, diagnose_changes, diagnose_forgotten, forgotten, prove,
};
use keyplan_report::output_file;
use keyplan_report::releases::beside;
use keyplan_store::retired_targets;

use crate::args::evolve::Release as Args;
use crate::command::Outcome;
use crate::input;
use crate::render::{self, Output};

/// Releases a plan that has no findings.
pub(crate) fn run(args: &Args, out: &mut Output) -> Result<Outcome> {
    let loaded = input::load(&args.plan)?;
    let compiled = &loaded.compiled;
    let Some(plan) = compiled.plan.as_ref().filter(|_| compiled.errors().next().is_none()) else {
        render::message(&render::findings(&compiled.sources, &compiled.diagnostics));
        return Ok(Outcome::Findings);
    };
    let (path, mut lock) = beside(&args.plan)?;
    let options = Options::default();
    let report = prove(plan, &options);
    let mut findings = diagnose(plan, &report, &options, &args.plan);
    let before: Vec<Release> = lock.of_file(&plan.name, &args.plan).cloned().collect();
    let plans: Vec<_> =
        before.iter().map(|release| (release.name.as_str(), release.compile().plan)).collect();
    if let Some(last) = before.last() {
        if last.fingerprint == plan.fingerprint().to_string() {
            out.line(&format!("nothing has moved since release {:?} of {}", last.name, last.date))?;
            return Ok(Outcome::Clean);
        }
        if let Some(old) = &last.compile().plan {
            let changes = compare(old, plan, &report);
            let versions = (Version { plan: old, path: None }, Version { plan, path: Some(&args.plan) });
            findings.extend(diagnose_changes(&changes, versions.0, versions.1));
        }
    }
    let known = plans.iter().filter_map(|(name, plan)| Some((*name, plan.as_ref()?)));
    findings.extend(diagnose_forgotten(&forgotten(known, plan)));
    if !findings.is_empty() {
        out.text(&render::findings(&compiled.sources, &findings))?;
        out.line("not released: a release has no findings, and what it breaks is allowed by name")?;
        return Ok(Outcome::Findings);
    }
    let name = args.name.clone().unwrap_or_else(|| (before.len() + 1).to_string());
    let date = args.date.clone().unwrap_or_else(today);
    let release = Release::new(&name, &date, compiled).ok_or_else(|| anyhow!("the plan does not compile"))?;
    let line = format!("released {} as {name:?}: fingerprint {}", plan.name, release.fingerprint);
    lock.append(release).map_err(|why| anyhow!(why))?;
    output_file::write(&path, lock.to_text().as_bytes())
        .with_context(|| format!("cannot write `{}`", path.display()))?;
    out.line(&format!("{line}; commit `{}`", path.display()))?;
    let known: BTreeSet<String> = plans
        .last()
        .and_then(|(_, plan)| plan.as_ref())
        .map(|plan| retired_targets(plan).into_iter().map(|target| target.name).collect())
        .unwrap_or_default();
    let mut new = retired_targets(plan);
    new.retain(|target| !known.contains(&target.name));
    out.text(&render::given_up(&new))?;
    Ok(Outcome::Clean)
}

/// The day by the clock of this machine, in UTC.
fn today() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (year, month, day) = civil(seconds / 86_400);
    format!("{year:04}-{month:02}-{day:02}")
}

/// The date of a day since 1970.
fn civil(days: u64) -> (u64, u64, u64) {
    // Years begin in March here, so that a leap day is the last of its year; 719,468 days lie between then and 1970.
    let days = days + 719_468;
    let era = days / 146_097;
    let of_era = days % 146_097;
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year_of_era + era * 400 + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::civil;

    #[test]
    fn days_have_the_dates_of_the_calendar() {
        assert_eq!(civil(0), (1970, 1, 1));
        assert_eq!(civil(11_016), (2000, 2, 29));
        assert_eq!(civil(11_017), (2000, 3, 1));
        assert_eq!(civil(20_773), (2026, 11, 16));
    }
}
