//! Files that are looked at again and again, and whether one has changed.

use std::fs;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::{Duration, SystemTime};

/// How often the files are looked at.
const PAUSE: Duration = Duration::from_millis(200);

/// By how much the time of a file may be behind the clock.
const TICK: Duration = Duration::from_millis(10);

/// When a file was changed, and how long it is.
type Stamp = Option<(SystemTime, u64)>;

/// Files, and how they were when they were last looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Watch {
    files: Vec<PathBuf>,
    seen: Vec<Stamp>,
}

impl Watch {
    /// The files that are watched.
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// Watches the files that were read in a run that began at `started`; those of the run before if there are none. False if
    /// one of them may have been changed after it was read, so that they are to be read again.
    pub fn begin(&mut self, files: Option<Vec<PathBuf>>, started: SystemTime) -> bool {
        self.files = files.unwrap_or_else(|| std::mem::take(&mut self.files));
        let before = std::mem::replace(&mut self.seen, stamps(&self.files));
        before == self.seen || !self.seen.iter().any(|stamp| may_be_later(*stamp, started))
    }

    /// Whether a file is not as it was.
    pub fn is_changed(&self) -> bool {
        stamps(&self.files) != self.seen
    }

    /// Waits until a file has changed; false if `stop` says before that to wait no longer.
    pub fn wait(&self, stop: impl Fn() -> bool) -> bool {
        while !self.is_changed() {
            if stop() {
                return false;
            }
            sleep(PAUSE);
        }
        true
    }
}

fn stamps(files: &[PathBuf]) -> Vec<Stamp> {
    let stamp = |file: &PathBuf| {
        let found = fs::metadata(file).ok()?;
        Some((found.modified().ok()?, found.len()))
    };
    files.iter().map(stamp).collect()
}

/// Whether a file may have been changed after it was read in a run that began then.
fn may_be_later(stamp: Stamp, started: SystemTime) -> bool {
    stamp.is_some_and(|(changed, _)| changed.checked_add(TICK).is_none_or(|changed| changed >= started))
}
