//! `keyplan check`: every finding about plans, and one line that sums them up.

use std::time::Instant;

use anyhow::{Result, anyhow};
use keyplan_plan::diag::{Code, Diagnostic, Severity};
use keyplan_plan::model::Plan;
use keyplan_prover::{Options, Report, Statement, diagnose, page, prove, unproved};

use super::Outcome;
use crate::args::{Check, CheckFormat};
use crate::input::{self, Loaded};
use crate::render::{self, Output};

/// Checks plans, or prints the page of a code.
pub(crate) fn run(args: &Check, out: &mut Output) -> Result<Outcome> {
    if let Some(code) = &args.explain {
        out.raw(explained(code)?.as_bytes())?;
        return Ok(Outcome::Clean);
    }
    let started = Instant::now();
    let options = (!args.no_proof).then(|| Options { engine: args.engine.known(), ..Options::default() });
    let load = |path: &String| Ok(Checked::new(input::load(path)?, options.as_ref()));
    let plans = args.plans.iter().map(load).collect::<Result<Vec<Checked>>>()?;
    match args.format {
        CheckFormat::Text => {
            for plan in &plans {
                out.text(&render::checked(plan, args.accepted))?;
            }
            out.line(&render::summary(&Tally::of(&plans), started.elapsed()))?;
        }
        CheckFormat::Json => out.raw(&render::check_json(&plans)?)?,
        CheckFormat::Sarif => out.raw(&render::sarif(&plans)?)?,
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
    /// Mistakes, then refuted and unproved guarantees.
    pub(crate) findings: Vec<Diagnostic>,
}

impl Checked {
    /// Proves a plan, if it has a meaning and `options` say how.
    pub(crate) fn new(mut loaded: Loaded, options: Option<&Options>) -> Self {
        let sound = loaded.compiled.errors().next().is_none();
        let plan = loaded.compiled.plan.as_ref().filter(|_| sound);
        let proof = plan.zip(options).map(|(plan, options)| (options.clone(), prove(plan, options)));
        let mut findings = Vec::new();
        if let (Some(plan), Some((options, report))) = (plan, &proof) {
            findings = diagnose(plan, report, options, &loaded.path);
        }
        findings.splice(0..0, std::mem::take(&mut loaded.compiled.diagnostics));
        Self { loaded, proof, findings }
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
