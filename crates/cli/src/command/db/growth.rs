//! What has changed since figures were last taken.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Result, anyhow};
use keyplan_report::statistics::Census;
use serde::{Deserialize, Serialize};

use crate::input;
use crate::output_file::OutputFile;

/// The most bytes of a file of figures.
const MAX_FILE: u64 = 64 << 20;

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
pub(crate) struct Amount {
    pub(crate) rows: u64,
    pub(crate) bytes: u64,
}

/// What has changed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Growth {
    /// How many seconds ago the figures before were taken.
    pub(crate) seconds: u64,
    /// Each family whose figures differ: before and now.
    pub(crate) families: Vec<(String, Amount, Amount)>,
}

/// The name that rows of no family are kept under.
const UNKNOWN: &str = "(unknown)";

/// Compares with the figures in a file, if it is there, and keeps the new ones in it.
pub(super) fn since(path: &Path, census: &Census) -> Result<Option<Growth>> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
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
    let mut file = OutputFile::create(path)?;
    std::io::Write::write_all(&mut file, format!("{}\n", serde_json::to_string(&new)?).as_bytes())?;
    file.finish()?;
    Ok(growth)
}

fn read(path: &Path) -> Result<Option<Kept>> {
    let bytes = match keyplan_report::files::read(path, MAX_FILE) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(anyhow!("cannot read `{}`: {}", path.display(), input::reason(&error))),
        Ok(bytes) => bytes,
    };
    let kept: Kept = serde_json::from_slice(&bytes)
        .map_err(|error| anyhow!("`{}` has no figures that were kept: {error}", path.display()))?;
    if kept.version != 1 {
        return Err(anyhow!("`{}` has figures of version {}", path.display(), kept.version));
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
