//! The releases of a plan: the lock that lies beside its file.

#[cfg(feature = "rows")]
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

#[cfg(feature = "rows")]
use keyplan_plan::Compiled;
#[cfg(feature = "rows")]
use keyplan_plan::diag::Diagnostic;
use keyplan_plan::lock::{LOCK_FILE, Lock, LockError, Release};
use keyplan_plan::model::{Plan, Space};
#[cfg(feature = "rows")]
use keyplan_prover::{
    Options, Version, compare, diagnose, diagnose_changes, diagnose_forgotten, forgotten, prove,
};
#[cfg(feature = "rows")]
use keyplan_store::{RetiredTarget, retired_targets};

use crate::files::{self, FileError};
use crate::project::{Project, ProjectError};

/// Why a lock could not be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReleasesError {
    /// It could not be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// It is damaged, or was changed by hand.
    #[error("`{path}` cannot be trusted: {fault}")]
    Untrusted {
        /// The file.
        path: String,
        /// What is wrong, and where.
        fault: LockError,
    },
    /// It is in the last commit, and not there any more.
    #[error(
        "`{path}` is in the last commit and not there any more: bring it back, a release is never forgotten"
    )]
    Gone {
        /// The file.
        path: String,
    },
    /// A release is in the last commit, and not in it any more.
    #[error(
        "`{path}` cannot be trusted: release {release:?} of {plan} is in the last commit and not there any more; bring it back"
    )]
    TakenOut {
        /// The file.
        path: String,
        /// The release.
        release: String,
        /// Its plan.
        plan: String,
    },
    /// The project around it cannot be read.
    #[error("keyplan.toml: {0}")]
    Project(#[from] ProjectError),
    /// The plan does not compile.
    #[error("the plan does not compile")]
    NoMeaning,
    /// The lock cannot have the entry.
    #[error("{0}")]
    Entry(String),
}

/// The lock of a plan file: its path, and what is in it.
pub fn beside(plan: &str) -> Result<(PathBuf, Lock), ReleasesError> {
    let folder = Path::new(plan).parent().unwrap_or_else(|| Path::new(""));
    let path = folder.join(name(folder)?);
    let before = committed_lock(&path);
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            if before.releases().is_empty() {
                return Ok((path, before));
            }
            return Err(ReleasesError::Gone { path: path.display().to_string() });
        }
        Err(error) => {
            return Err(FileError { path: path.display().to_string(), why: files::reason(&error) }.into());
        }
    };
    let refused = |fault| ReleasesError::Untrusted { path: path.display().to_string(), fault };
    let lock = Lock::parse(&text).map_err(refused)?;
    lock.verify().map_err(refused)?;
    let has = |release: &&Release| {
        let same =
            |other: &Release| (&other.plan, &other.fingerprint) == (&release.plan, &release.fingerprint);
        lock.releases().iter().any(same)
    };
    if let Some(gone) = before.releases().iter().find(|release| !has(release)) {
        return Err(ReleasesError::TakenOut {
            path: path.display().to_string(),
            release: gone.name.clone(),
            plan: gone.plan.clone(),
        });
    }
    Ok((path, lock))
}

/// The lock as the last commit of the repository around it has it; without releases if there is no repository, no commit or no such
/// file in it.
fn committed_lock(path: &Path) -> Lock {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let around =
        folder.canonicalize().is_ok_and(|folder| folder.ancestors().any(|up| up.join(".git").exists()));
    let name = path.file_name().filter(|_| around).and_then(|name| name.to_str());
    let shown = name.and_then(|name| {
        let mut git = std::process::Command::new("git");
        git.arg("-C").arg(folder).args(["cat-file", "blob", &format!("HEAD:./{name}")]);
        // What is not here is not fetched from elsewhere.
        git.env("GIT_NO_LAZY_FETCH", "1").stdin(std::process::Stdio::null()).output().ok()
    });
    let text =
        shown.filter(|shown| shown.status.success()).and_then(|shown| String::from_utf8(shown.stdout).ok());
    // One that was damaged when it was committed tells nothing.
    text.and_then(|text| Lock::parse(&text).ok()).unwrap_or_default()
}

/// What the lock of plans in a folder is called: as the project around it says, if there is one.
fn name(folder: &Path) -> Result<String, ReleasesError> {
    let here = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    // A folder that is not there has no plan either, which is told by who reads that.
    let Ok(here) = here.canonicalize() else { return Ok(LOCK_FILE.to_owned()) };
    let project = Project::around(&here)?;
    Ok(project.map_or_else(|| LOCK_FILE.to_owned(), |project| project.settings.lock))
}

/// The releases of a plan or its file that the lock beside it has, the oldest first.
pub fn releases(path: &str, plan: &Plan) -> Result<Vec<Release>, ReleasesError> {
    let (lock_path, lock) = beside(path)?;
    Ok(history(&lock_path, &lock, path, plan))
}

/// The last release of a plan, if there is one.
pub fn last_release(path: &str, plan: &Plan) -> Result<Option<Release>, ReleasesError> {
    Ok(releases(path, plan)?.pop())
}

/// The releases of a plan in a lock. One of which it has none, under its name or its file's, has those of plans whose files are no
/// longer there and that had a space of its own: plan and file were given other names at once, and databases were not.
fn history(lock_path: &Path, lock: &Lock, file: &str, plan: &Plan) -> Vec<Release> {
    let own: Vec<Release> = lock.of_file(&plan.name, file).cloned().collect();
    if !own.is_empty() {
        return own;
    }
    let gone = |release: &&Release| !lock_path.with_file_name(release.file()).exists();
    let shares = |release: &&Release| {
        let old = release.compile().plan;
        let names = old.iter().flat_map(|old| &old.spaces).map(Space::engine_name);
        names.into_iter().any(|name| plan.spaces.iter().any(|space| space.engine_name() == name))
    };
    lock.releases().iter().filter(gone).filter(shares).cloned().collect()
}

/// What came of asking for a release.
#[cfg(feature = "rows")]
#[derive(Clone, Debug)]
pub enum Releasing {
    /// Nothing has moved since this one.
    Unmoved(Release),
    /// It has findings, and a release has none.
    Refused(Vec<Diagnostic>),
    /// It is an entry of the lock.
    Ready {
        /// The path of the lock.
        path: PathBuf,
        /// The lock with the entry.
        lock: Lock,
        /// What the release is called.
        name: String,
        /// Its fingerprint.
        fingerprint: String,
        /// What the plan has given up since the release before.
        given_up: Vec<RetiredTarget>,
    },
}

/// Makes the layout of a plan as it is now an entry of the lock beside its file, unless it has findings; `name` is its
/// number without one. The lock is returned and not written.
#[cfg(feature = "rows")]
pub fn release(
    file: &str,
    compiled: &Compiled,
    plan: &Plan,
    name: Option<&str>,
    date: &str,
) -> Result<Releasing, ReleasesError> {
    let (path, mut lock) = beside(file)?;
    let options = Options::default();
    let report = prove(plan, &options);
    let mut findings = diagnose(plan, &report, &options, file);
    let before = history(&path, &lock, file, plan);
    let plans: Vec<_> =
        before.iter().map(|release| (release.name.as_str(), release.compile().plan)).collect();
    if let Some(last) = before.last() {
        if last.fingerprint == plan.fingerprint().to_string() {
            return Ok(Releasing::Unmoved(last.clone()));
        }
        if let Some(old) = &last.compile().plan {
            let changes = compare(old, plan, &report);
            let versions = (Version { plan: old, path: None }, Version { plan, path: Some(file) });
            findings.extend(diagnose_changes(&changes, versions.0, versions.1));
        }
    }
    let known = plans.iter().filter_map(|(name, plan)| Some((*name, plan.as_ref()?)));
    findings.extend(diagnose_forgotten(&forgotten(known, plan)));
    if !findings.is_empty() {
        return Ok(Releasing::Refused(findings));
    }
    let name = name.map_or_else(|| (before.len() + 1).to_string(), str::to_owned);
    let mut release = Release::new(&name, date, compiled).ok_or(ReleasesError::NoMeaning)?;
    if lock.of_file(&plan.name, file).next().is_none() {
        let others: BTreeSet<&String> = before.iter().map(|release| &release.plan).collect();
        release.after = others.into_iter().cloned().collect();
    }
    let fingerprint = release.fingerprint.clone();
    lock.append(release).map_err(ReleasesError::Entry)?;
    let known: BTreeSet<String> = plans
        .last()
        .and_then(|(_, plan)| plan.as_ref())
        .map(|plan| retired_targets(plan).into_iter().map(|target| target.name).collect())
        .unwrap_or_default();
    let mut given_up = retired_targets(plan);
    given_up.retain(|target| !known.contains(&target.name));
    Ok(Releasing::Ready { path, lock, name, fingerprint, given_up })
}

/// The date of a time in seconds since 1970, in UTC: `2026-11-16`.
#[cfg(feature = "rows")]
pub fn date(seconds: u64) -> String {
    let shown = i64::try_from(seconds).ok().and_then(|seconds| keyplan_values::time::show(seconds, 0));
    shown.and_then(|text| text.split('T').next().map(str::to_owned)).unwrap_or_default()
}

#[cfg(all(test, feature = "rows"))]
mod tests {
    use super::date;

    #[test]
    fn seconds_have_the_dates_of_the_calendar() {
        let days = [0, 11_016, 11_017, 20_773].map(|day: u64| date(day * 86_400 + 7));
        assert_eq!(days, ["1970-01-01", "2000-02-29", "2000-03-01", "2026-11-16"]);
    }
}
