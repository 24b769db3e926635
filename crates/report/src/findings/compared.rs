//! A plan compared with its earlier versions, and the numbers that sum plans up.

use keyplan_plan::Compiled;
use keyplan_plan::diag::{Diagnostic, Severity};
use keyplan_plan::load::load;
use keyplan_plan::lock::Release;
use keyplan_plan::model::Plan;
use keyplan_prover::{
    Change, Found, MigrationProof, Options, Statement, Version, compare, diagnose_changes,
    diagnose_forgotten, forgotten, prove_migration, unproved,
};

use super::Checked;
use crate::files::committed;
use crate::releases::{ReleasesError, Repositories, releases};

/// An earlier version of a plan.
#[derive(Clone, Debug)]
pub struct Previous {
    /// What a person calls it.
    pub path: String,
    /// Whether it is a file, so that commands can name it.
    pub file: bool,
    /// What came of it.
    pub compiled: Compiled,
}

impl Previous {
    /// The plan as it was at a revision of git, `REV` or `REV:PATH`; `current` is the path where none is given.
    pub fn at(revision: &str, current: &str) -> Result<Self, RevisionError> {
        let (revision, path) = revision.split_once(':').unwrap_or((revision, current));
        let compiled = load(path, |path| committed(revision, path)).map_err(|why| RevisionError {
            path: path.to_owned(),
            revision: revision.to_owned(),
            why,
        })?;
        Ok(Self { path: format!("git:{revision}:{path}"), file: false, compiled })
    }
}

/// Why a plan of a revision could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot read `{path}` at `{revision}`: {why}")]
pub struct RevisionError {
    /// The plan.
    pub path: String,
    /// The revision.
    pub revision: String,
    /// Why, in a few words.
    pub why: String,
}

/// What became of an earlier version.
#[derive(Clone, Debug)]
pub struct Against {
    /// As it was typed.
    pub path: String,
    /// The name of the release, if it is one.
    pub release: Option<String>,
    /// The plan as it was.
    pub before: Plan,
    /// Everything that the two have, or had.
    pub changes: Vec<Change>,
}

impl Against {
    /// How rows of the earlier version become rows of `plan`, and what is proved of that; `None` if the layout is the same.
    pub fn migration(&self, plan: &Plan) -> Option<MigrationProof> {
        let moved = self.before.fingerprint() != plan.fingerprint();
        moved.then(|| prove_migration(&self.before, plan, &Options::default()))
    }
}

impl Checked {
    /// What a person is told, in order.
    pub fn diagnostics(&self) -> impl Iterator<Item = &Diagnostic> {
        self.findings.iter().map(|found| &found.diagnostic)
    }

    /// Adds what became of an earlier version. A plan with mistakes is compared with nothing.
    pub fn compare_with(&mut self, old: &Previous) {
        let (Some(before), Some(after)) = (&old.compiled.plan, &self.compiled.plan) else { return };
        let Some((_, report)) = &self.proof else { return };
        let changes = compare(before, after, report);
        let version = Version { plan: before, path: old.file.then_some(old.path.as_str()) };
        let after = Version { plan: after, path: Some(&self.path) };
        let found = diagnose_changes(&changes, version, after).into_iter().map(Found::from);
        self.findings.extend(found);
        self.against =
            Some(Against { path: old.path.clone(), release: None, before: before.clone(), changes });
    }

    /// Adds what became of the last release in the lock beside the plan, if there is one, and every prefix of a release that the
    /// plan has forgotten.
    pub fn compare_with_releases(&mut self, repositories: &Repositories) -> Result<(), ReleasesError> {
        let (releases, lost) = self.forgotten(repositories)?;
        if let Some(last) = releases.last() {
            let path = format!("release {:?}", last.name);
            self.compare_with(&Previous { path, file: false, compiled: last.compile() });
            if let Some(against) = &mut self.against {
                against.release = Some(last.name.clone());
            }
        }
        self.findings.extend(lost);
        Ok(())
    }

    /// Adds every prefix that the plan has forgotten of a release in the lock beside it, whatever else it is compared with.
    pub fn compare_prefixes(&mut self, repositories: &Repositories) -> Result<(), ReleasesError> {
        let (_, lost) = self.forgotten(repositories)?;
        self.findings.extend(lost);
        Ok(())
    }

    fn forgotten(&self, repositories: &Repositories) -> Result<(Vec<Release>, Vec<Found>), ReleasesError> {
        let Some(plan) = &self.compiled.plan else { return Ok((Vec::new(), Vec::new())) };
        let releases = releases(&self.path, plan, repositories)?;
        let plans: Vec<_> =
            releases.iter().map(|release| (release.name.as_str(), release.compile().plan)).collect();
        let known = plans.iter().filter_map(|(name, plan)| Some((*name, plan.as_ref()?)));
        let lost = diagnose_forgotten(&forgotten(known, plan)).into_iter().map(Found::from).collect();
        Ok((releases, lost))
    }

    /// The flaws that the plan accepts.
    pub fn accepted(&self) -> impl Iterator<Item = &Statement> {
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
pub struct Tally {
    /// Plan files.
    pub plans: usize,
    /// Families of plans that have a meaning.
    pub families: usize,
    /// Scans that they claim.
    pub scans: usize,
    /// Mistakes and refuted guarantees.
    pub findings: usize,
    /// What is likely wrong.
    pub warnings: usize,
    /// Flaws that they keep; without a proof, how many they say they do.
    pub accepted: usize,
    /// Guarantees that are neither proved nor refuted, nor accepted as flawed.
    pub unknown: usize,
    /// Whether anything was proved.
    pub proved: bool,
}

impl Tally {
    /// Counts.
    pub fn of<'a>(plans: impl IntoIterator<Item = &'a Checked>) -> Self {
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
