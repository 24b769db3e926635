//! SQLite: tables of two columns, a key and a value, as spaces.
//!
//! A table is read if one of its two columns is its key, both hold text or blobs, and the order of its keys is that of
//! their bytes: `WITHOUT ROWID`, or through the index that makes the key unique. Tables of text in both columns are read
//! only where there is none with a blob: beside those they hold what the program notes about itself. Committed frames of the write-ahead log
//! are read with the file; nothing is played back, and no `-shm` is made.

mod btree;
mod pager;
mod record;
mod schema;
mod sql;
mod wal;
mod walk;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use keyplan_store::Direction;
use keyplan_store::engine::{KeyRange, Space, SpaceId};
use keyplan_store::source::{Source, SourceError, View, Walk};

use crate::plain_file::{self, PlainFile};
use pager::Pages;
use schema::{Schema, Table};
use walk::Rows;

/// How many entries of a directory are looked at to find a database in it.
const MAX_LOOKED_AT: usize = 256;

/// An SQLite database.
#[derive(Debug)]
pub struct Sqlite {
    pages: Arc<Pages>,
    tables: Arc<Vec<Table>>,
    others: Vec<(String, String)>,
}

impl Sqlite {
    /// The file of a database: `path` itself, or the only one in it.
    pub fn file_of(path: &Path) -> Option<PathBuf> {
        if !path.is_dir() {
            return is_database(path).then(|| path.to_owned());
        }
        let names = plain_file::names(path).ok()?.into_iter().take(MAX_LOOKED_AT);
        let mut found = names.map(|name| path.join(name)).filter(|path| is_database(path));
        let first = found.next();
        if found.next().is_some() { None } else { first }
    }

    /// Opens a file, or the directory of which it is the only database.
    pub fn open(path: &Path) -> Result<Self, SourceError> {
        let file = if path.is_dir() { Self::file_of(path) } else { Some(path.to_owned()) };
        let none = "a directory in which no file, or more than one, is a database of SQLite";
        let file = file.ok_or_else(|| SourceError::unsupported(path, none))?;
        let pages = Arc::new(Pages::open(&file)?);
        let Schema { tables, others } = Schema::read(&pages)?;
        if let ([], Some((name, why))) = (tables.as_slice(), others.first()) {
            let what = format!("SQLite without a table of keys and values (`{name}`: {why})");
            return Err(SourceError::unsupported(&file, what));
        }
        Ok(Self { pages, tables: Arc::new(tables), others })
    }

    /// The tables that are not read, each with the reason.
    pub fn others(&self) -> &[(String, String)] {
        &self.others
    }
}

fn is_database(path: &Path) -> bool {
    let mut head = [0; 16];
    fs::symlink_metadata(path).is_ok_and(|found| found.is_file())
        && PlainFile::open(path).is_ok_and(|file| file.read_at(0, &mut head).is_ok())
        && head == *pager::MAGIC
}

impl Source for Sqlite {
    fn kind(&self) -> &'static str {
        "sqlite"
    }

    fn spaces(&self) -> Vec<Space> {
        self.tables.iter().map(|table| Space::map(table.name.clone())).collect()
    }

    fn view(&self) -> Result<Box<dyn View>, SourceError> {
        Ok(Box::new(SqliteView { pages: self.pages.clone(), tables: self.tables.clone() }))
    }
}

#[derive(Debug)]
struct SqliteView {
    pages: Arc<Pages>,
    tables: Arc<Vec<Table>>,
}

impl SqliteView {
    fn rows(&self, space: SpaceId, range: KeyRange<'_>, direction: Direction) -> Result<Rows, SourceError> {
        let table = usize::try_from(space.0).ok().and_then(|index| self.tables.get(index));
        let table = table.ok_or_else(|| SourceError::no_space(space))?;
        Rows::open(self.pages.clone(), table, range, direction)
    }
}

impl View for SqliteView {
    fn walk(
        &self,
        space: SpaceId,
        range: KeyRange<'_>,
        direction: Direction,
    ) -> Result<Box<dyn Walk>, SourceError> {
        Ok(Box::new(self.rows(space, range, direction)?))
    }
}
