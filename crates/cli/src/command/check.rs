//! `keyplan check`: every finding about plans, and one line that sums them up.

use std::path::Path;
use std::time::Instant;

use anyhow::{Result, anyhow, bail};
use keyplan_plan::diag::{Code, Diagnostic, Severity};
use keyplan_plan::model::Plan;
use keyplan_prover::certificate::certify;
use keyplan_prover::{
    Change, Options, Report, Statement, Version, compare, diagnose, diagnose_and_repair, diagnose_changes,
    page, prove, unproved,
};

use super::Outcome;
use super::db::Database;
use crate::args::{Check, CheckFormat};
use crate::input::{self, Loaded, Previous};
use crate::output_file;
use crate::render::{self, Output};

/// Checks plans, or prints the page of a code.
pub(crate) fn run(args: &Check, out: &mut Output) -> Result<Outcome> {
    if let Some(code) = &args.explain {
        out.raw(explained(code)?.as_bytes())?;
        return Ok(Outcome::Clean);
    }
    let started = Instant::now();
    let options = (!args.no_proof).then(|| Options { engine: args.engine.known(), ..Options::default() });
    if args.plans.len() > 1 && args.certificate.is_some() {
        bail!("a certificate is of one plan; run `check` for each of them");
    }
    let mut plans = Vec::new();
    for path in &args.plans {
        let repairs = if args.no_repairs { Repairs::Unasked } else { Repairs::Wanted };
        let mut plan = Checked::new(input::load(path)?, options.as_ref(), repairs);
        if let Some(old) = &args.against {
            let directory = Path::new(old);
            let old = if directory.is_dir() {
                // A database has the plan inside that it was made with.
                Previous { path: old.clone(), file: false, compiled: Database::recorded_plan(directory)? }
            } else {
                input::previous(old, path, args.plans.len() == 1)?
            };
            if old.compiled.plan.is_none() {
                render::message(&render::findings(&old.compiled.sources, &old.compiled.diagnostics));
                bail!("`{}` has mistakes, so that nothing can be compared with it", old.path);
            }
            plan.compare_with(&old);
        }
        if let Some(file) = &args.certificate {
            plan.write_certificate(file)?;
        }
        plans.push(plan);
    }
    match args.format {
        CheckFormat::Text => {
            for plan in &plans {
                out.text(&render::checked(plan, args.accepted))?;
            }
            for against in plans.iter().filter_map(|plan| plan.against.as_ref()) {
                out.line(&render::evolution(against))?;
            }
            out.line(&render::summary(&Tally::of(&plans), started.elapsed()))?;
        }
        CheckFormat::Json => out.json(&render::check_json(&plans)?)?,
        CheckFormat::Sarif => out.json(&render::sarif(&plans)?)?,
        CheckFormat::Github => out.text(&render::github(&plans))?,
    }
    let counts = |finding: &Diagnostic| args.deny_warnings || finding.severity() == Severity::Error;
    let found = plans.iter().flat_map(|plan| &plan.findings).any(counts);
    Ok(if found { Outcome::Findings } else { Outcome::Clean })
}

/// The page of a code, or what it finds if it has none.
fn explained(typed: &str) -> Result<String> {
    let known = Code::ALL.iter().find(|code| code.id().eq_ignore_ascii_case(typed) || code.slug() == typed);
    let code = *known.ok_or_else(|| anyhow!("there is no code `{typed}`; codes look like KP0004"))?;
    if let Some(page) = page(code) {
        return Ok(page.text.to_owned());
    }
    let lines: Vec<&str> = code.explanation().trim().lines().map(str::trim).collect();
    Ok(format!("# {}: {}\n\n{}\n", code.id(), code.slug(), lines.join("\n")))
}

/// A plan with everything that is known of it.
pub(crate) struct Checked {
    /// The plan.
    pub(crate) loaded: Loaded,
    /// What was asked of it, and what came of it, unless it has mistakes or nothing was to be proved.
    pub(crate) proof: Option<(Options, Report)>,
    /// Mistakes, then refuted and unproved guarantees, then what became of an earlier version.
    pub(crate) findings: Vec<Diagnostic>,
    /// The earlier version that it was compared with.
    pub(crate) against: Option<Against>,
}

/// What became of an earlier version.
pub(crate) struct Against {
    /// As it was typed.
    pub(crate) path: String,
    /// Everything that the two have, or had.
    pub(crate) changes: Vec<Change>,
}

/// Whether to look for changes to the plan that cure a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Repairs {
    /// For every refuted guarantee.
    Wanted,
    /// For none.
    Unasked,
}

impl Checked {
    /// Proves a plan, if it has a meaning and `options` say how.
    pub(crate) fn new(mut loaded: Loaded, options: Option<&Options>, repairs: Repairs) -> Self {
        let sound = loaded.compiled.errors().next().is_none();
        let plan = loaded.compiled.plan.as_ref().filter(|_| sound);
        let proof = plan.zip(options).map(|(plan, options)| (options.clone(), prove(plan, options)));
        let mut findings = Vec::new();
        if let (Some(plan), Some((options, report))) = (plan, &proof) {
            findings = match repairs {
                Repairs::Wanted => diagnose_and_repair(&loaded.compiled, report, options, &loaded.path),
                Repairs::Unasked => diagnose(plan, report, options, &loaded.path),
            };
        }
        findings.splice(0..0, std::mem::take(&mut loaded.compiled.diagnostics));
        Self { loaded, proof, findings, against: None }
    }

    /// Adds what became of an earlier version. A plan with mistakes is compared with nothing.
    fn compare_with(&mut self, old: &Previous) {
        let (Some(before), Some(after)) = (&old.compiled.plan, &self.loaded.compiled.plan) else { return };
        let Some((_, report)) = &self.proof else { return };
        let changes = compare(before, after, report);
        let before = Version { plan: before, path: old.file.then_some(old.path.as_str()) };
        let after = Version { plan: after, path: Some(&self.loaded.path) };
        self.findings.extend(diagnose_changes(&changes, before, after));
        self.against = Some(Against { path: old.path.clone(), changes });
    }

    /// Writes down what was proved; a plan with mistakes has nothing to write.
    fn write_certificate(&self, file: &str) -> Result<()> {
        let (Some(plan), Some((options, report))) = (&self.loaded.compiled.plan, &self.proof) else {
            return Ok(());
        };
        let text = certify(plan, options, report).to_json()?;
        output_file::write(Path::new(file), text.as_bytes())
    }

    /// The flaws that the plan accepts.
    pub(crate) fn accepted(&self) -> impl Iterator<Item = &Statement> {
        self.statements().filter(|statement| statement.accepted)
    }

    /// How many guarantees are neither proved nor refuted.
    fn unproved(&self) -> usize {
        let plan = self.loaded.compiled.plan.as_ref();
        plan.zip(self.proof.as_ref()).map_or(0, |(plan, (_, report))| unproved(plan, report))
    }

    /// Everything that was asked of the plan.
    pub(crate) fn statements(&self) -> impl Iterator<Item = &Statement> {
        self.proof.iter().flat_map(|(_, report)| &report.statements)
    }
}

/// What there is and what was found, in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Plan files.
    pub(crate) plans: usize,
    /// Families of plans that have a meaning.
    pub(crate) families: usize,
    /// Scans that they claim.
    pub(crate) scans: usize,
    /// Mistakes and refuted guarantees.
    pub(crate) findings: usize,
    /// What is likely wrong.
    pub(crate) warnings: usize,
    /// Flaws that they keep; without a proof, how many they say they do.
    pub(crate) accepted: usize,
    /// Guarantees that are neither proved nor refuted, nor accepted as flawed.
    pub(crate) unknown: usize,
    /// Whether anything was proved.
    pub(crate) proved: bool,
}

impl Tally {
    /// Counts.
    pub(crate) fn of<'a>(plans: impl IntoIterator<Item = &'a Checked>) -> Self {
        let mut tally = Self::default();
        for plan in plans {
            tally.plans += 1;
            let warnings =
                plan.findings.iter().filter(|finding| finding.severity() == Severity::Warning).count();
            let unknown = plan.unproved();
            tally.warnings += warnings;
            tally.unknown += unknown;
            // An unknown guarantee is an error of its own, and counted apart.
            tally.findings += plan.findings.len().saturating_sub(warnings + unknown);
            tally.proved |= plan.proof.is_some();
            for (_, family) in plan.loaded.compiled.plan.iter().flat_map(Plan::families) {
                tally.families += 1;
                tally.scans += family.scans.len();
                tally.accepted += if plan.proof.is_some() { 0 } else { family.accepts.len() };
            }
            tally.accepted += plan.accepted().count();
        }
        tally
    }
}
