//! Which kind of database lies at a path, and its opening.

use std::fmt;
use std::path::Path;

use keyplan_store::source::{Source, SourceError};

use crate::badger::Badger;
use crate::lmdb::Lmdb;
use crate::plain_file::resolved;
use crate::sqlite::Sqlite;
use crate::{dump, iavl, lists, lsm};

/// A kind of database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// LevelDB, goleveldb, RocksDB or Pebble: a directory with `CURRENT` or `marker.manifest.*`.
    Lsm,
    /// The `application.db` of a Cosmos chain: IAVL trees in a database of kind [`Lsm`](Self::Lsm).
    Iavl,
    /// LMDB: `data.mdb`, or a file of that format.
    Lmdb,
    /// SQLite: a file with tables of keys and values.
    Sqlite,
    /// Badger 2: a directory with a `MANIFEST` of that format.
    Badger,
    /// A binary dump of ours.
    Dump,
    /// Rows in text: JSON lines, the state of a contract, or a list of keys.
    List,
}

impl Kind {
    /// Every kind, in the order in which they are tried: the narrower before the wider.
    pub const ALL: &'static [Self] =
        &[Self::Iavl, Self::Lsm, Self::Lmdb, Self::Sqlite, Self::Badger, Self::Dump, Self::List];

    /// The word that it is asked for with.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Lsm => "lsm",
            Self::Iavl => "iavl",
            Self::Lmdb => "lmdb",
            Self::Sqlite => "sqlite",
            Self::Badger => "badger",
            Self::Dump => "dump",
            Self::List => "list",
        }
    }

    /// The kind of that word.
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.iter().find(|kind| kind.word() == word).copied()
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// How a source is opened.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Options {
    /// The kind, where it is not to be recognised: [`Kind::Lsm`] shows the raw rows below an IAVL multistore.
    pub kind: Option<Kind>,
    /// The version of an IAVL multistore; the latest committed one if left out.
    pub height: Option<u64>,
}

impl Options {
    /// Takes the database for one of this kind.
    #[must_use]
    pub const fn kind(mut self, kind: Kind) -> Self {
        self.kind = Some(kind);
        self
    }

    /// Reads an older version, where the database keeps some.
    #[must_use]
    pub const fn height(mut self, height: u64) -> Self {
        self.height = Some(height);
        self
    }
}

/// Says which kind of database lies at `path`; `None` if it is none that is known here.
pub fn recognise(path: &Path) -> Option<Kind> {
    let path = &resolved(path);
    if lsm::fits(path) {
        let rows = lsm::Lsm::open(path).ok();
        return Some(if rows.is_some_and(|rows| iavl::fits(&rows)) { Kind::Iavl } else { Kind::Lsm });
    }
    other(path)
}

/// Whether something that [`open`] reads seems to be at `path`; nothing is opened as a whole.
pub fn fits(path: &Path) -> bool {
    let found = &resolved(path);
    path == Path::new("-") || lsm::fits(found) || other(found).is_some()
}

/// The kinds that are not a directory of log-structured files.
fn other(path: &Path) -> Option<Kind> {
    if Badger::fits(path) {
        return Some(Kind::Badger);
    }
    if Lmdb::file_of(path).is_some() {
        return Some(Kind::Lmdb);
    }
    if Sqlite::file_of(path).is_some() {
        return Some(Kind::Sqlite);
    }
    if dump::fits(path) {
        return Some(Kind::Dump);
    }
    lists::fits(path).then_some(Kind::List)
}

/// Opens the database at `path` for reading; `-` is a list of rows on standard input.
pub fn open(path: &Path, options: &Options) -> Result<Box<dyn Source>, SourceError> {
    if path == Path::new("-") {
        return single(lists::open_stream(std::io::stdin().lock())?, path, options);
    }
    // What is not there, or may not be read, is said before any guess at its kind.
    std::fs::metadata(path).map_err(|error| SourceError::io(path, error))?;
    let path = &resolved(path);
    let kind = match options.kind {
        // LSM and IAVL are one directory of files: they are opened once, and the rows say which it is.
        None if lsm::fits(path) => {
            let rows = lsm::Lsm::open(path)?;
            return if iavl::fits(&rows) {
                open_iavl(&rows, options)
            } else {
                single(Box::new(rows), path, options)
            };
        }
        None => other(path),
        kind => kind,
    };
    let source: Box<dyn Source> = match kind {
        Some(Kind::Iavl) => return open_iavl(&lsm::Lsm::open(path)?, options),
        Some(Kind::Lsm) => Box::new(lsm::Lsm::open(path)?),
        Some(Kind::Lmdb) => Box::new(Lmdb::open(path)?),
        Some(Kind::Sqlite) => Box::new(Sqlite::open(path)?),
        Some(Kind::Badger) => Box::new(Badger::open(path)?),
        Some(Kind::Dump) => dump::open(path)?,
        Some(Kind::List) => lists::open(path)?,
        None => return Err(unknown(path)),
    };
    single(source, path, options)
}

/// A file or directory of no kind that is read here, by name if its kind is known all the same.
fn unknown(path: &Path) -> SourceError {
    let file = if path.is_dir() { path.join("mdbx.dat") } else { path.to_owned() };
    let what = if crate::lmdb::is_mdbx(&file) {
        "MDBX (its library would leave a lock file beside the database, and its pages are not those of LMDB)"
    } else {
        "a database of an unknown kind"
    };
    SourceError::unsupported(path, what)
}

fn open_iavl(rows: &lsm::Lsm, options: &Options) -> Result<Box<dyn Source>, SourceError> {
    Ok(Box::new(iavl::Iavl::open(rows, rows.path(), options.height)?))
}

/// A database that keeps one state only.
fn single(source: Box<dyn Source>, path: &Path, options: &Options) -> Result<Box<dyn Source>, SourceError> {
    if let Some(height) = options.height {
        let kind = source.kind();
        let what =
            format!("{}: there is no height {height}: a {kind} database keeps one state", path.display());
        return Err(SourceError::Absent { what });
    }
    Ok(source)
}
