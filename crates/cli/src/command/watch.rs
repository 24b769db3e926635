//! `keyplan check --watch`: the same again, whenever a file of it changes.

use std::path::PathBuf;
use std::time::SystemTime;

use anyhow::Result;
use keyplan_report::watch::Watch;

use super::Outcome;
use crate::interrupt;
use crate::render::{self, Output};

/// Runs, and runs again when one of the files that were read has changed, until it is interrupted. A run that fails is
/// told, and its files are those of the last one that did not.
pub(crate) fn run(
    out: &mut Output,
    mut once: impl FnMut(&mut Output) -> Result<(Outcome, Vec<PathBuf>)>,
) -> Result<Outcome> {
    let (mut watch, mut last) = (Watch::default(), Outcome::Clean);
    loop {
        let started = SystemTime::now();
        let files = match once(out) {
            Ok((outcome, read)) => {
                last = outcome;
                Some(read)
            }
            // Without a first run there is nothing to wait for.
            Err(error) if watch.files().is_empty() => return Err(error),
            Err(error) => {
                render::fatal(&error);
                None
            }
        };
        // Before it is said that they are watched: what changes from then on is seen.
        if !watch.begin(files, started) {
            continue;
        }
        out.line(&render::watching(watch.files().len()))?;
        out.flush()?;
        if !watch.wait(interrupt::came) {
            return Ok(last);
        }
    }
}
