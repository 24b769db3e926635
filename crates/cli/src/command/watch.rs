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

/// Runs, and runs again when one of the files that were read has changed, until it is interrupted. A run that fails is
/// told, and its files are those of the last one that did not.
pub(crate) fn run(
    out: &mut Output,
    mut once: impl FnMut(&mut Output) -> Result<(Outcome, Vec<PathBuf>)>,
) -> Result<Outcome> {
    let mut files = Vec::new();
    let mut last = Outcome::Clean;
    loop {
        match once(out) {
            Ok((outcome, read)) => (last, files) = (outcome, read),
            // Without a first run there is nothing to wait for.
            Err(error) if files.is_empty() => return Err(error),
            Err(error) => render::fatal(&error),
        }
        out.line(&render::watching(files.len()))?;
        out.flush()?;
        let before = stamps(&files);
        while stamps(&files) == before {
            if interrupt::came() {
                return Ok(last);
            }
            sleep(PAUSE);
        }
    }
}

/// When each file was changed, and how long it is.
fn stamps(files: &[PathBuf]) -> Vec<Option<(SystemTime, u64)>> {
    let stamp = |file: &PathBuf| {
        let found = fs::metadata(file).ok()?;
        Some((found.modified().ok()?, found.len()))
    };
    files.iter().map(stamp).collect()
}
