//! What has changed since figures were last taken, which a file keeps.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::files::{self, FileError};
use crate::output_file::{self, WriteError};
use crate::statistics::Census;

/// The most bytes of a file of figures.
const MAX_FILE: u64 = 64 << 20;

/// Why figures could not be compared or kept.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GrowthError {
    /// The file could not be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// It holds something else.
    #[error("`{path}` has no figures that were kept: {why}")]
    NoFigures {
        /// The file.
        path: String,
        /// What is wrong with it.
        why: String,
    },
    /// It was written by a later version.
    #[error("`{path}` has figures of version {version}")]
    Version {
        /// The file.
        path: String,
        /// The version that it has.
        version: u32,
    },
    /// The new figures could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// Figures as they are kept.
#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    /// The version of this form.
    version: u32,
    /// The plan that they were taken under.
    fingerprint: String,
    /// When, in seconds since 1970.
    taken: u64,
    families: BTreeMap<String, Amount>,
}

/// Rows and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Amount {
    /// How many rows there are.
    pub rows: u64,
    /// The bytes of their keys and values.
    pub bytes: u64,
}

/// What has changed.
#[derive(Debug, PartialEq, Eq)]
pub struct Growth {
    /// How many seconds ago the figures before were taken.
    pub seconds: u64,
    /// Each family whose figures differ: before and now.
    pub families: Vec<(String, Amount, Amount)>,
}

/// The name that rows of no family are kept under.
const UNKNOWN: &str = "(unknown)";

/// Compares with the figures in a file, if it is there, and keeps the new ones in it; `now` is in seconds since 1970.
pub fn since(path: &Path, census: &Census, now: u64) -> Result<Option<Growth>, GrowthError> {
    let amount = |figures: &keyplan_store::Figures| Amount {
        rows: figures.rows,
        bytes: figures.key_bytes.saturating_add(figures.value_bytes),
    };
    let mut families: BTreeMap<String, Amount> =
        census.families.iter().map(|(path, figures)| (path.clone(), amount(figures))).collect();
    if census.unknown.rows > 0 {
        families.insert(UNKNOWN.to_owned(), amount(&census.unknown));
    }
    let new = Kept { version: 1, fingerprint: census.fingerprint.to_string(), taken: now, families };
    let growth = read(path)?.map(|before| compared(&before, &new));
    let text = serde_json::to_string(&new)
        .map_err(|error| WriteError { path: Some(path.to_owned()), source: error.into() })?;
    output_file::write(path, format!("{text}\n").as_bytes())?;
    Ok(growth)
}

fn read(path: &Path) -> Result<Option<Kept>, GrowthError> {
    let shown = || path.display().to_string();
    let bytes = match files::read(path, MAX_FILE) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(FileError { path: shown(), why: files::reason(&error) }.into()),
        Ok(bytes) => bytes,
    };
    let kept: Kept = serde_json::from_slice(&bytes)
        .map_err(|error| GrowthError::NoFigures { path: shown(), why: error.to_string() })?;
    if kept.version != 1 {
        return Err(GrowthError::Version { path: shown(), version: kept.version });
    }
    Ok(Some(kept))
}

fn compared(before: &Kept, now: &Kept) -> Growth {
    let paths: BTreeSet<&String> = before.families.keys().chain(now.families.keys()).collect();
    let amount = |kept: &Kept, path: &String| kept.families.get(path).copied().unwrap_or_default();
    let changed = |path: &String| {
        let (was, is) = (amount(before, path), amount(now, path));
        (was != is).then(|| (path.clone(), was, is))
    };
    let families = paths.into_iter().filter_map(changed).collect();
    Growth { seconds: now.taken.saturating_sub(before.taken), families }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_is_told() {
        let kept = |taken, rows: &[(&str, u64)]| Kept {
            version: 1,
            fingerprint: String::new(),
            taken,
            families: rows
                .iter()
                .map(|&(path, rows)| (path.to_owned(), Amount { rows, bytes: rows * 10 }))
                .collect(),
        };
        let growth = compared(&kept(5, &[("a", 1), ("b", 2)]), &kept(9, &[("b", 2), ("c", 3)]));
        let none = Amount::default();
        assert_eq!(growth.seconds, 4);
        assert_eq!(
            growth.families,
            [
                ("a".to_owned(), Amount { rows: 1, bytes: 10 }, none),
                ("c".to_owned(), none, Amount { rows: 3, bytes: 30 })
            ]
        );
    }
}
