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

mod git;

pub use git::Repositories;

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
    /// Releases are in a file that is not the lock.
    #[error(
        "releases of {plan} are in `{path}`, and the lock is `{named}`: give it that name, or name it in keyplan.toml"
    )]
    TwoLocks {
        /// The plan.
        plan: String,
        /// The file.
        path: String,
        /// The lock.
        named: String,
    },
    /// The plan was moved to another folder, and its releases were not.
    #[error(
        "releases of {plan} are in `{path}`, where its file is not any more: bring them to `{named}`, or the file back"
    )]
    LeftBehind {
        /// The plan.
        plan: String,
        /// The lock that has them.
        path: String,
        /// The lock beside the plan.
        named: String,
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
fn beside(plan: &str, repositories: &Repositories) -> Result<(PathBuf, Lock), ReleasesError> {
    let plan = followed(plan);
    let folder = plan.parent().unwrap_or_else(|| Path::new(""));
    let path = folder.join(name(folder)?);
    let committed = repositories.of(&path);
    let before = committed.last();
    let text = match std::fs::read(&path) {
        Ok(bytes) => String::from_utf8(bytes).map_err(|_| ReleasesError::Untrusted {
            path: path.display().to_string(),
            fault: LockError { line: 1, what: "it is not text".to_owned() },
        })?,
        // A link that leads nowhere is there.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && !path.is_symlink() => {
            if before.releases().is_empty() {
                return Ok((path, Lock::default()));
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
    if let Some(gone) = before.releases().iter().find(|release| !lock.has(release)) {
        return Err(ReleasesError::TakenOut {
            path: path.display().to_string(),
            release: gone.name.clone(),
            plan: gone.plan.clone(),
        });
    }
    Ok((path, lock))
}

/// The file of a plan. A plan is released where it is, and a link to it has no lock of its own.
fn followed(plan: &str) -> PathBuf {
    let path = Path::new(plan);
    let real = if path.is_symlink() { path.canonicalize().ok() } else { None };
    real.unwrap_or_else(|| path.to_owned())
}

/// What the lock of plans in a folder is called: as the project around it says, if there is one.
fn name(folder: &Path) -> Result<String, ReleasesError> {
    let here = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    // A folder that is not there has no plan either, which is told by who reads that.
    let Ok(here) = here.canonicalize() else { return Ok(LOCK_FILE.to_owned()) };
    let project = Project::around(&here)?;
    Ok(project.map_or_else(|| LOCK_FILE.to_owned(), |project| project.settings.lock))
}

/// The releases of a plan or its file that the lock beside it has, the oldest first; and before them those that it had in an earlier
/// commit of the git repository around it.
pub fn releases(path: &str, plan: &Plan, repositories: &Repositories) -> Result<Vec<Release>, ReleasesError> {
    let (lock_path, lock) = beside(path, repositories)?;
    all_releases((&lock_path, &lock), path, plan, repositories)
}

fn all_releases(
    (lock_path, lock): (&Path, &Lock),
    path: &str,
    plan: &Plan,
    repositories: &Repositories,
) -> Result<Vec<Release>, ReleasesError> {
    let path = followed(path).display().to_string();
    elsewhere(lock_path, &path, plan)?;
    let committed = repositories.of(lock_path);
    let found = history(lock_path, &lock.with_lost(committed.lost().iter().cloned()), &path, plan);
    if found.is_empty() {
        left_behind(lock_path, plan, committed.everywhere())?;
    }
    Ok(found)
}

/// Refuses a plan whose releases are in another folder of the repository, where its file is not any more.
fn left_behind(lock_path: &Path, plan: &Plan, locks: &[(PathBuf, Lock)]) -> Result<(), ReleasesError> {
    for (other, lock) in locks {
        let left =
            |release: &Release| !other.with_file_name(release.file()).exists() && shares_space(release, plan);
        if lock.of(&plan.name).any(left) {
            return Err(ReleasesError::LeftBehind {
                plan: plan.name.clone(),
                path: other.display().to_string(),
                named: lock_path.display().to_string(),
            });
        }
    }
    Ok(())
}

/// Refuses releases of the plan in a file beside its lock, as there are if the project gives the lock another name.
fn elsewhere(lock_path: &Path, path: &str, plan: &Plan) -> Result<(), ReleasesError> {
    let folder = lock_path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let Ok(entries) = std::fs::read_dir(folder.unwrap_or(Path::new("."))) else { return Ok(()) };
    for name in entries.filter_map(|entry| Some(entry.ok()?.file_name())) {
        let other = lock_path.with_file_name(&name);
        let is_lock = other.extension() == Path::new(LOCK_FILE).extension();
        if !is_lock || Some(name.as_os_str()) == lock_path.file_name() {
            continue;
        }
        let text = std::fs::read_to_string(&other).unwrap_or_default();
        let has = |lock: &Lock| lock.of_file(&plan.name, path).next().is_some();
        if Lock::parse(&text).as_ref().is_ok_and(has) {
            return Err(ReleasesError::TwoLocks {
                plan: plan.name.clone(),
                path: other.display().to_string(),
                named: lock_path.display().to_string(),
            });
        }
    }
    Ok(())
}

/// The last release of a plan, if there is one.
pub fn last_release(path: &str, plan: &Plan) -> Result<Option<Release>, ReleasesError> {
    Ok(releases(path, plan, &Repositories::default())?.pop())
}

/// The releases of a plan in a lock. One of which it has none, under its name or its file's, has those of plans whose files are no
/// longer there and that had a space of its own: plan and file were given other names at once, and databases were not.
fn history(lock_path: &Path, lock: &Lock, file: &str, plan: &Plan) -> Vec<Release> {
    let own: Vec<Release> = lock.of_file(&plan.name, file).cloned().collect();
    if !own.is_empty() {
        return own;
    }
    let gone = |release: &&Release| !lock_path.with_file_name(release.file()).exists();
    let shares = |release: &&Release| shares_space(release, plan);
    lock.releases().iter().filter(gone).filter(shares).cloned().collect()
}

/// Whether a release has a space that the plan has too, by the name that the engine knows.
fn shares_space(release: &Release, plan: &Plan) -> bool {
    let old = release.compile().plan;
    let names = old.iter().flat_map(|old| &old.spaces).map(Space::engine_name);
    names.into_iter().any(|name| plan.spaces.iter().any(|space| space.engine_name() == name))
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
    let repositories = Repositories::default();
    let (path, mut lock) = beside(file, &repositories)?;
    let options = Options::default();
    let report = prove(plan, &options);
    let mut findings = diagnose(plan, &report, &options, file);
    let before = all_releases((&path, &lock), file, plan, &repositories)?;
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
    let real = followed(file);
    if let Some((first, name)) = release.files.first_mut().zip(real.file_name()) {
        first.0 = name.to_string_lossy().into_owned();
    }
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
