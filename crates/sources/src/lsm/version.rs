//! The version that a manifest leads to: column families, each with its tables level by level.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use keyplan_store::source::SourceError;

use super::edit::{Change, TableFile, changes};
use super::files::LogFile;
use super::journal::Journal;
use super::key;

/// What a manifest says in the end.
#[derive(Debug, Default)]
pub(crate) struct Version {
    pub(crate) families: BTreeMap<u32, Family>,
}

/// A column family: a space.
#[derive(Clone, Debug, Default)]
pub(crate) struct Family {
    pub(crate) name: String,
    comparator: Vec<u8>,
    /// Its rows in logs of lower numbers are all in tables.
    pub(crate) log: u64,
    /// Tables by level; those of level 0 may overlap.
    pub(crate) levels: BTreeMap<u32, Vec<TableFile>>,
    tables: BTreeMap<(u32, u64), TableFile>,
}

/// The only order of keys that is read: that of their bytes.
const BYTEWISE: &[u8] = b"leveldb.BytewiseComparator";

/// The name of the family that every database has, and of the only space of an engine that has no families.
pub(crate) const DEFAULT: &str = "default";

/// The most tables of a version.
const MAX_TABLES: usize = 4_000_000;

/// A manifest that is read as far as it goes, and further when it has grown.
#[derive(Debug)]
pub(crate) struct Manifest {
    pub(crate) path: PathBuf,
    file: LogFile,
    /// Where the first record begins that was not whole.
    at: usize,
    building: Building,
}

impl Manifest {
    pub(crate) fn open(path: &Path) -> Result<Self, SourceError> {
        let file = LogFile::open(path)?;
        Ok(Self { path: path.to_owned(), file, at: 0, building: Building::new() })
    }

    /// Reads what was not read before: the version now, and whether there was anything new.
    pub(crate) fn follow(&mut self) -> Result<(Version, bool), SourceError> {
        self.file.look_again(&self.path)?;
        let mut journal = Journal::manifest(&self.path, &self.file).from(self.at);
        let before = self.at;
        while let Some((offset, record)) = journal.next()? {
            let edit = changes(&self.path, offset, record)?;
            self.building.take(&self.path, offset, edit)?;
            self.at = journal.place();
        }
        if self.at == 0 {
            return Err(SourceError::damaged(&self.path, 0, "a manifest without a record"));
        }
        Ok((self.building.clone().finish(&self.path)?, self.at != before))
    }
}

#[derive(Clone, Debug)]
struct Building {
    families: BTreeMap<u32, Family>,
    /// Edits of a group that is not whole yet.
    group: Vec<(u64, Vec<Change>)>,
    tables: usize,
}

impl Building {
    fn new() -> Self {
        let default = Family { name: DEFAULT.to_owned(), ..Family::default() };
        Self { families: BTreeMap::from([(0, default)]), group: Vec::new(), tables: 0 }
    }

    fn take(&mut self, path: &Path, offset: u64, edit: Vec<Change>) -> Result<(), SourceError> {
        let left = edit.iter().find_map(|change| match change {
            Change::Group(left) => Some(*left),
            _ => None,
        });
        match left {
            None => self.apply(path, offset, &edit),
            Some(left) => {
                self.group.push((offset, edit));
                if left == 0 {
                    for (offset, edit) in std::mem::take(&mut self.group) {
                        self.apply(path, offset, &edit)?;
                    }
                }
                Ok(())
            }
        }
    }

    fn apply(&mut self, path: &Path, offset: u64, edit: &[Change]) -> Result<(), SourceError> {
        let damaged = |what: String| SourceError::damaged(path, offset, what);
        let number = edit.iter().find_map(|change| match change {
            Change::Family(number) => Some(*number),
            _ => None,
        });
        let number = number.unwrap_or(0);
        for change in edit {
            if let Change::FamilyAdd(name) = change {
                let name = String::from_utf8_lossy(name).into_owned();
                self.families.insert(number, Family { name, ..Family::default() });
            }
        }
        let Some(family) = self.families.get_mut(&number) else {
            return Err(damaged(format!(
                "a version edit of the column family {number}, which does not exist"
            )));
        };
        let mut dropped = false;
        // An edit that moves a table deletes it on one level and adds it on another: deletions come first.
        for change in edit {
            if let Change::Delete { level, number } = change {
                family.tables.remove(&(*level, *number));
            }
        }
        for change in edit {
            match change {
                Change::Comparator(name) => family.comparator.clone_from(name),
                Change::Log(log) => family.log = family.log.max(*log),
                Change::Add { level, file } => {
                    self.tables += 1;
                    family.tables.insert((*level, file.number), (**file).clone());
                    if self.tables > MAX_TABLES {
                        return Err(damaged(format!("more than {MAX_TABLES} tables")));
                    }
                }
                Change::FamilyDrop => dropped = true,
                Change::NextFile(_)
                | Change::LastSequence(_)
                | Change::Delete { .. }
                | Change::Family(_)
                | Change::FamilyAdd(_)
                | Change::Group(_) => {}
            }
        }
        if dropped {
            self.families.remove(&number);
        }
        Ok(())
    }

    fn finish(mut self, path: &Path) -> Result<Version, SourceError> {
        for family in self.families.values_mut() {
            if !family.comparator.is_empty() && family.comparator != BYTEWISE {
                let name = String::from_utf8_lossy(&family.comparator);
                return Err(SourceError::unsupported(path, format!("the comparator `{name}`")));
            }
            for ((level, _), file) in std::mem::take(&mut family.tables) {
                family.levels.entry(level).or_default().push(file);
            }
            for (&level, files) in &mut family.levels {
                sort(path, level, files)?;
            }
        }
        Ok(Version { families: self.families })
    }
}

/// Sorts the tables of a level by their keys, and the lowest level with the newest first.
fn sort(path: &Path, level: u32, files: &mut [TableFile]) -> Result<(), SourceError> {
    if level == 0 {
        files.sort_by_key(|file| std::cmp::Reverse(file.number));
        return Ok(());
    }
    let first = |file: &TableFile| (file.smallest.key.clone(), std::cmp::Reverse(file.smallest.trailer));
    files.sort_by_cached_key(first);
    for pair in files.windows(2) {
        if let [a, b] = pair {
            let (last, next) =
                ((&a.largest.key[..], a.largest.trailer), (&b.smallest.key[..], b.smallest.trailer));
            if key::compare(last, next).is_ge() {
                let what = format!("the tables {} and {} of level {level} overlap", a.number, b.number);
                return Err(SourceError::damaged(path, 0, what));
            }
        }
    }
    Ok(())
}
