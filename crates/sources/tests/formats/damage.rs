//! Changed bytes, cut files and what is not a file at all: an error, or the rows; never a panic, and soon.

use std::fs;
use std::path::Path;

use keyplan_store::Direction;
use keyplan_store::source::{Source, SourceError};

use crate::expected::{Row, copy, rows};

/// What became of damaged copies.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// How many were refused.
    pub(crate) refused: usize,
    /// How many gave the same rows: nothing that is read was touched.
    pub(crate) same: usize,
    /// How many gave other rows.
    pub(crate) other: usize,
}

/// Opens a database and reads all of it, forwards.
pub(crate) type Open = fn(&Path) -> Result<Box<dyn Source>, SourceError>;

fn attempt(open: Open, path: &Path, expected: &[Row], tally: &mut Tally) {
    let found = open(path).and_then(|source| rows(&*source, Direction::Ascending));
    match found {
        Err(SourceError::Io { .. } | SourceError::Damaged { .. } | SourceError::Unsupported { .. }) => {
            tally.refused += 1;
        }
        Err(error) => panic!("not an error of a file: {error}"),
        Ok(found) if found == expected => tally.same += 1,
        Ok(_) => tally.other += 1,
    }
}

/// Flips a bit of a file at every `step`th byte, one at a time.
pub(crate) fn flip(name: &str, file: &str, step: usize, expected: &[Row], open: Open) -> Tally {
    let directory = copy(name);
    let path = directory.path().join(file);
    let whole = fs::read(&path).expect("readable");
    let mut tally = Tally::default();
    for at in (0..whole.len()).step_by(step) {
        let mut changed = whole.clone();
        changed[at] ^= 1 << (at / step % 8);
        fs::write(&path, &changed).expect("written");
        attempt(open, directory.path(), expected, &mut tally);
    }
    tally
}

/// Cuts a file off after every `step`th byte.
pub(crate) fn cut(name: &str, file: &str, step: usize, expected: &[Row], open: Open) -> Tally {
    let directory = copy(name);
    let path = directory.path().join(file);
    let whole = fs::read(&path).expect("readable");
    let mut tally = Tally::default();
    for at in (0..whole.len()).step_by(step) {
        fs::write(&path, &whole[..at]).expect("written");
        attempt(open, directory.path(), expected, &mut tally);
    }
    tally
}

/// Fills eight bytes with ones at every `step`th place: lengths, offsets and page numbers of 2⁶⁴ − 1.
pub(crate) fn flood(name: &str, file: &str, step: usize, expected: &[Row], open: Open) -> Tally {
    let directory = copy(name);
    let path = directory.path().join(file);
    let whole = fs::read(&path).expect("readable");
    let mut tally = Tally::default();
    for at in (0..whole.len().saturating_sub(8)).step_by(step) {
        let mut changed = whole.clone();
        changed[at..at + 8].fill(0xff);
        fs::write(&path, &changed).expect("written");
        attempt(open, directory.path(), expected, &mut tally);
    }
    tally
}
