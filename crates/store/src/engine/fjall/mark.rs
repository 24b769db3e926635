//! What was true of a database when it was last opened or closed, in a file beside the engine's.
//!
//! The engine cannot tell a journal that was cut from one whose last write was torn, nor a journal or a keyspace that was
//! deleted from one that never was. Everything here is a lower bound, which stays true whatever is written later, by
//! this program or another: journals reach at least so far, versions are at least so high. The file is text, one fact
//! per line, with its checksum at the end; without it, or if it is damaged itself, less is known.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;

use xxhash_rust::xxh3::xxh3_128;

use super::journal::{self, Journal};
use super::tree::{CURRENT, KEYSPACES, Tree, damaged};
use crate::engine::Error;

/// The file.
pub(super) const MARK: &str = "keyplan.mark";
/// What it is written to first.
const NEW: &str = "keyplan.mark.new";

const FIRST_LINE: &str = "keyplan-mark 1";

/// What was true of a database.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Mark {
    journals: Vec<Journal>,
    /// The version of each keyspace.
    versions: BTreeMap<u64, u64>,
    /// The tables whose whole files were compared with their checksums, or were just written: keyspace, table, identity.
    tables: BTreeSet<(u64, u64, u128)>,
}

impl Mark {
    /// What is true of a database now.
    pub(super) fn of(journals: &[Journal], trees: &[Tree]) -> Self {
        let tables = trees
            .iter()
            .flat_map(|tree| tree.tables.iter().map(|table| (tree.id, table.id, table.identity)))
            .collect();
        Self {
            journals: journals.to_vec(),
            versions: trees.iter().map(|tree| (tree.id, tree.version)).collect(),
            tables,
        }
    }

    /// Reads the mark of a database; `None` if it has none, or none that is whole.
    pub(super) fn read(directory: &Path) -> Option<Self> {
        let text = std::fs::read_to_string(directory.join(MARK)).ok()?;
        let (lines, checksum) = text.trim_end().rsplit_once('\n')?;
        let sum = u128::from_str_radix(checksum.strip_prefix("checksum ")?, 16).ok()?;
        if xxh3_128(lines.as_bytes()) != sum {
            return None;
        }
        let mut lines = lines.lines();
        (lines.next()? == FIRST_LINE).then_some(())?;
        let mut mark = Self::default();
        lines.try_for_each(|line| mark.take(line))?;
        Some(mark)
    }

    fn take(&mut self, line: &str) -> Option<()> {
        let mut words = line.split(' ');
        let kind = words.next()?;
        let mut number = || words.next()?.parse::<u64>().ok();
        match kind {
            "journal" => {
                let (id, end) = (number()?, number()?);
                let (first, last) = (number(), number());
                self.journals.push(Journal { id, first, last, end, spaces: BTreeMap::new() });
            }
            "rows" => {
                let (space, last) = (number()?, number()?);
                self.journals.last_mut()?.spaces.insert(space, last);
            }
            "keyspace" => {
                self.versions.insert(number()?, number()?);
            }
            "table" => {
                let (space, id) = (number()?, number()?);
                self.tables.insert((space, id, u128::from_str_radix(words.next()?, 16).ok()?));
            }
            // A later version may know more.
            _ => {}
        }
        Some(())
    }

    /// Writes the mark. What was there before is replaced at once, or not at all.
    pub(super) fn write(&self, directory: &Path) -> std::io::Result<()> {
        let text = self.text();
        let new = directory.join(NEW);
        let mut file = File::create(&new)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        std::fs::rename(new, directory.join(MARK))
    }

    fn text(&self) -> String {
        let mut text = String::from(FIRST_LINE);
        // Writing to a string does not fail.
        let mut line = |line: std::fmt::Arguments<'_>| {
            let _ = write!(text, "\n{line}");
        };
        for journal in &self.journals {
            match (journal.first, journal.last) {
                (Some(first), Some(last)) => {
                    line(format_args!("journal {} {} {first} {last}", journal.id, journal.end));
                }
                _ => line(format_args!("journal {} {}", journal.id, journal.end)),
            }
            for (space, last) in &journal.spaces {
                line(format_args!("rows {space} {last}"));
            }
        }
        for (space, version) in &self.versions {
            line(format_args!("keyspace {space} {version}"));
        }
        for (space, id, identity) in &self.tables {
            line(format_args!("table {space} {id} {identity:032x}"));
        }
        let checksum = xxh3_128(text.as_bytes());
        let _ = writeln!(text, "\nchecksum {checksum:032x}");
        text
    }

    /// Whether a table is one that was compared with its checksum before. One of another keyspace is refused.
    pub(super) fn knows(&self, tree: &Tree, table: &super::tree::Table) -> Result<bool, Error> {
        if self.tables.contains(&(tree.id, table.id, table.identity)) {
            return Ok(true);
        }
        let other =
            |(space, _, identity): &&(u64, u64, u128)| *identity == table.identity && *space != tree.id;
        match self.tables.iter().find(other) {
            Some((space, ..)) => {
                Err(damaged(&tree.table_name(table), &format!("is a table of keyspace {space}")))
            }
            None => Ok(false),
        }
    }

    /// Refuses keyspaces that are gone, or at an earlier version than they were.
    pub(super) fn check_trees(&self, trees: &[Tree], unfinished: &[u64]) -> Result<(), Error> {
        for (id, version) in &self.versions {
            let folder = format!("{KEYSPACES}/{id}");
            if unfinished.contains(id) {
                return Err(damaged(&format!("{folder}/{CURRENT}"), "is missing"));
            }
            let Some(tree) = trees.iter().find(|tree| tree.id == *id) else {
                return Err(damaged(&folder, "is missing"));
            };
            if tree.version < *version {
                let what = format!("says version {}, and version {version} was there", tree.version);
                return Err(damaged(&format!("{folder}/{CURRENT}"), &what));
            }
        }
        Ok(())
    }

    /// Refuses journals that do not reach as far as they did.
    pub(super) fn check_journals(&self, journals: &[Journal], trees: &[Tree]) -> Result<(), Error> {
        for known in &self.journals {
            let Some(journal) = journals.iter().find(|journal| journal.id == known.id) else {
                Self::check_evicted(known, journals, trees)?;
                continue;
            };
            let file = journal.name();
            if known.last.is_some_and(|last| journal.last.is_none_or(|found| found < last)) {
                let what = format!(
                    "ends at byte {}, and had {} bytes of batches when the database was last open",
                    journal.end, known.end
                );
                return Err(damaged(&file, &what));
            }
            if known.first.is_some() && known.first != journal.first {
                return Err(damaged(&file, "does not begin with the batch that it began with"));
            }
        }
        Ok(())
    }

    /// A journal is gone: that is right if everything in it is in tables, and a later journal is there.
    fn check_evicted(known: &Journal, journals: &[Journal], trees: &[Tree]) -> Result<(), Error> {
        let later = journals.iter().any(|journal| journal.id > known.id);
        let in_tables = |(space, last): (&u64, &u64)| {
            let tree = trees.iter().find(|tree| tree.id == *space);
            tree.and_then(Tree::highest).is_some_and(|highest| highest >= *last)
        };
        if later && known.spaces.iter().all(in_tables) {
            return Ok(());
        }
        Err(damaged(&journal::name(known.id), "is missing"))
    }
}
