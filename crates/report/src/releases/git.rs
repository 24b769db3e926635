//! Locks as the git repository around them has them: what was committed is not forgotten.
//!
//! Where there is no repository, no commit, no git or no such file in it, there is nothing to compare with.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::rc::Rc;

use keyplan_plan::lock::{LOCK_FILE, Lock, Release};

/// What a hook of git says about a repository, which need not be the one around the lock.
const OF_HOOKS: [&str; 3] = ["GIT_DIR", "GIT_WORK_TREE", "GIT_PREFIX"];

/// How many lines a release that is added takes from a lock: the one that repeats the last seal.
const LAST_LINE: u64 = 1;

/// What git repositories have of locks. It is asked once for each lock, and for what is needed.
#[derive(Debug, Default)]
pub struct Repositories {
    asked: RefCell<BTreeMap<PathBuf, Rc<Committed>>>,
}

impl Repositories {
    pub(super) fn of(&self, lock: &Path) -> Rc<Committed> {
        let mut asked = self.asked.borrow_mut();
        let known = asked.entry(lock.to_owned());
        Rc::clone(known.or_insert_with_key(|path| Rc::new(Committed::new(path.clone()))))
    }
}

/// What the repository around a lock has of it.
#[derive(Debug)]
pub(super) struct Committed {
    path: PathBuf,
    last: OnceCell<Lock>,
    lost: OnceCell<Vec<Release>>,
    everywhere: OnceCell<Vec<(PathBuf, Lock)>>,
}

impl Committed {
    const fn new(path: PathBuf) -> Self {
        Self { path, last: OnceCell::new(), lost: OnceCell::new(), everywhere: OnceCell::new() }
    }

    /// The lock as the last commit has it; without releases if it has none, or a damaged one.
    pub(super) fn last(&self) -> &Lock {
        self.last.get_or_init(|| {
            let name = self.path.file_name().and_then(OsStr::to_str);
            let text =
                name.and_then(|name| said(&self.path, &["cat-file", "blob", &format!("HEAD:./{name}")]));
            text.and_then(|text| Lock::parse(&text).ok()).unwrap_or_default()
        })
    }

    /// The releases of the versions of the lock that a commit has replaced by less, or removed: those on the way from the last commit
    /// to its first parents.
    pub(super) fn lost(&self) -> &[Release] {
        self.lost.get_or_init(|| lost(&self.path))
    }

    /// The locks in all folders of the repository, as they are now.
    pub(super) fn everywhere(&self) -> &[(PathBuf, Lock)] {
        self.everywhere.get_or_init(|| everywhere(&self.path))
    }
}

fn lost(path: &Path) -> Vec<Release> {
    let Some(name) = path.file_name().and_then(OsStr::to_str) else { return Vec::new() };
    let mut asked =
        vec!["log", "--first-parent", "-m", "--format=", "--raw", "--numstat", "--no-abbrev", "--no-renames"];
    let files = [format!("./{name}"), format!("./{LOCK_FILE}")];
    asked.extend(["--no-ext-diff", "--no-textconv", "--", &files[0], &files[1]]);
    let told = said(path, &asked).unwrap_or_default();
    let mut replaced: Vec<&str> = Vec::new();
    let mut lost: Vec<Release> = Vec::new();
    // For each commit first the old and new blobs of its files, then the lines that were added and removed.
    let mut blobs: Vec<&str> = Vec::new();
    for line in told.lines() {
        if line.starts_with(':') {
            blobs.extend(line.split(' ').nth(2));
        } else if let Some((_, rest)) = line.split_once('\t') {
            let removed = rest.split('\t').next().and_then(|count| count.parse::<u64>().ok());
            let old = if blobs.is_empty() { None } else { Some(blobs.remove(0)) };
            replaced.extend(old.filter(|_| removed.is_none_or(|removed| removed > LAST_LINE)));
        }
    }
    for blob in replaced.iter().rev() {
        let text = said(path, &["cat-file", "blob", blob]);
        let Some(lock) = text.and_then(|text| Lock::parse(&text).ok()) else { continue };
        // One whose plan no longer compiles is refused where it is in a lock, and tells nothing here.
        if lock.verify().is_ok() {
            lost.extend(lock.releases().iter().cloned());
        }
    }
    lost
}

fn everywhere(path: &Path) -> Vec<(PathBuf, Lock)> {
    let pattern = format!(":(top,glob)**/{LOCK_FILE}");
    let listed = said(path, &["ls-files", "-z", "--", &pattern]).unwrap_or_default();
    let read = |name: &str| {
        let other = path.with_file_name(name);
        let lock = Lock::parse(&std::fs::read_to_string(&other).ok()?).ok()?;
        Some((other, lock))
    };
    listed.split('\0').filter(|name| !name.is_empty()).filter_map(read).collect()
}

/// What git says in the folder of a file; `None` if there is no repository around it, or git fails.
fn said(path: &Path, asked: &[&str]) -> Option<String> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let real: PathBuf = folder.canonicalize().ok()?;
    if !real.ancestors().any(|up| up.join(".git").exists()) {
        return None;
    }
    let mut git = Command::new("git");
    for name in OF_HOOKS {
        git.env_remove(name);
    }
    // What is not here is not fetched from elsewhere.
    git.arg("-C").arg(folder).args(asked).env("GIT_NO_LAZY_FETCH", "1").stdin(Stdio::null());
    let shown = git.output().ok().filter(|shown| shown.status.success())?;
    String::from_utf8(shown.stdout).ok()
}
