//! A plan with everything that is known of it, and the numbers that sum it up.

use std::ops::{Deref, DerefMut};
use std::path::Path;

use anyhow::Result;
use keyplan_plan::Compiled;
use keyplan_plan::diag::{Diagnostic, Severity};
use keyplan_plan::model::Plan;
use keyplan_prover::certificate::certify;
use keyplan_prover::{
    Change, Found, Options, Statement, Version, compare, diagnose_changes, diagnose_forgotten, forgotten,
    unproved,
};
use keyplan_report::findings::{self, Repairs};

use crate::input::Previous;
use crate::output_file;

/// A plan that was checked, and compared with an earlier version if that was asked for.
pub(crate) struct Checked {
    /// What was found and proved.
    pub(crate) inner: findings::Checked,
    /// The earlier version that it was compared with.
    pub(crate) against: Option<Against>,
}

impl Deref for Checked {
    type Target = findings::Checked;

    fn deref(&self) -> &findings::Checked {
        &self.inner
    }
}

impl DerefMut for Checked {
    fn deref_mut(&mut self) -> &mut findings::Checked {
        &mut self.inner
    }
}

/// What became of an earlier version.
pub(crate) struct Against {
    /// As it was typed.
    pub(crate) path: String,
    /// Everything that the two have, or had.
    pub(crate) changes: Vec<Change>,
}

impl Checked {
    /// Proves a plan, if it has a meaning and `options` say how.
    pub(crate) fn new(path: &str, compiled: Compiled, options: Option<&Options>, repairs: Repairs) -> Self {
        Self { inner: findings::Checked::new(path, compiled, options, repairs), against: None }
    }

    /// What a person is told, in order.
    pub(crate) fn diagnostics(&self) -> impl Iterator<Item = &Diagnostic> {
        self.findings.iter().map(|found| &found.diagnostic)
    }

    /// Adds what became of an earlier version. A plan with mistakes is compared with nothing.
    pub(crate) fn compare_with(&mut self, old: &Previous) {
        let (Some(before), Some(after)) = (&old.compiled.plan, &self.inner.compiled.plan) else { return };
        let Some((_, report)) = &self.inner.proof else { return };
        let changes = compare(before, after, report);
        let before = Version { plan: before, path: old.file.then_some(old.path.as_str()) };
        let after = Version { plan: after, path: Some(&self.inner.path) };
        let found = diagnose_changes(&changes, before, after).into_iter().map(Found::from);
        self.inner.findings.extend(found);
        self.against = Some(Against { path: old.path.clone(), changes });
    }

    /// Adds what became of the releases in the lock beside the plan, if there is one.
    pub(crate) fn compare_with_releases(&mut self) -> Result<()> {
        let Some(plan) = self.inner.compiled.plan.as_ref().filter(|_| self.inner.proof.is_some()) else {
            return Ok(());
        };
        let releases = super::evolve::releases(&self.inner.path, &plan.name)?;
        let plans: Vec<_> =
            releases.iter().map(|release| (release.name.as_str(), release.compile().plan)).collect();
        let known = plans.iter().filter_map(|(name, plan)| Some((*name, plan.as_ref()?)));
        let lost = diagnose_forgotten(&forgotten(known, plan));
        if let Some(last) = releases.last() {
            let path = format!("release {:?}", last.name);
            self.compare_with(&Previous { path, file: false, compiled: last.compile() });
        }
        self.inner.findings.extend(lost.into_iter().map(Found::from));
        Ok(())
    }

    /// Writes down what was proved; a plan with mistakes has nothing to write.
    pub(crate) fn write_certificate(&self, file: &str) -> Result<()> {
        let (Some(plan), Some((options, report))) = (&self.compiled.plan, &self.proof) else {
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
        let plan = self.compiled.plan.as_ref();
        plan.zip(self.proof.as_ref()).map_or(0, |(plan, (_, report))| unproved(plan, report))
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
                plan.diagnostics().filter(|finding| finding.severity() == Severity::Warning).count();
            let unknown = plan.unproved();
            tally.warnings += warnings;
            tally.unknown += unknown;
            // An unknown guarantee is an error of its own, and counted apart.
            tally.findings += plan.findings.len().saturating_sub(warnings + unknown);
            tally.proved |= plan.proof.is_some();
            for (_, family) in plan.compiled.plan.iter().flat_map(Plan::families) {
                tally.families += 1;
                tally.scans += family.scans.len();
                tally.accepted += if plan.proof.is_some() { 0 } else { family.accepts.len() };
            }
            tally.accepted += plan.accepted().count();
        }
        tally
    }
}
