//! `keyplan check --watch`: the same again, whenever a file of it changes.

use std::fs;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::{Duration, SystemTime};

use anyhow::Result;

use super::Outcome;
use crate::interrupt;
use crate::render::{self, Output};

/// How often the files are looked at.
const PAUSE: Duration = Duration::from_millis(200);

/// By how much the time of a file may be behind the clock.
const TICK: Duration = Duration::from_millis(10);

/// When a file was changed, and how long it is.
type Stamp = Option<(SystemTime, u64)>;

/// Runs, and runs again when one of the files that were read has changed, until it is interrupted. A run that fails is
/// told, and its files are those of the last one that did not.
pub(crate) fn run(
    out: &mut Output,
    mut once: impl FnMut(&mut Output) -> Result<(Outcome, Vec<PathBuf>)>,
) -> Result<Outcome> {
    let mut files = Vec::new();
    let mut last = Outcome::Clean;
    let mut seen = Vec::new();
    loop {
        let started = SystemTime::now();
        match once(out) {
            Ok((outcome, read)) => (last, files) = (outcome, read),
            // Without a first run there is nothing to wait for.
            Err(error) if files.is_empty() => return Err(error),
            Err(error) => render::fatal(&error),
        }
        // Before it is said that they are watched: what changes from then on is seen.
        let before = std::mem::replace(&mut seen, stamps(&files));
        if before != seen && seen.iter().any(|stamp| may_be_later(*stamp, started)) {
            continue;
        }
        out.line(&render::watching(files.len()))?;
        out.flush()?;
        while stamps(&files) == seen {
            if interrupt::came() {
                return Ok(last);
            }
            sleep(PAUSE);
        }
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
