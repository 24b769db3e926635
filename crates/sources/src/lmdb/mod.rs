//! LMDB: a copy-on-write tree in one file, `data.mdb`.
//!
//! A named database is a space, one with several values a key (DUPSORT) a multimap. Rows of the main database are in the
//! space [`MAIN`]. Nothing is locked: a reader keeps the pages of its moment as long as at most one commit follows it,
//! and says so when more did.

mod meta;
mod page;
mod walk;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use keyplan_store::Direction;
use keyplan_store::engine::{KeyRange, Space, SpaceId, SpaceKind};
use keyplan_store::source::{Source, SourceError, View, Walk};

use crate::plain_file::PlainFile;
use meta::{Moment, Record};
use walk::{Environment, Item, Rows};

/// What the space of the main database is called: it has no name of its own.
pub const MAIN: &str = "default";

/// How many named databases a file may have. LMDB itself takes 16 million at most, and needs memory for each.
const MAX_SPACES: usize = 1 << 16;

/// An LMDB file.
#[derive(Debug)]
pub struct Lmdb {
    file: Arc<PlainFile>,
    opened: Arc<State>,
}

/// Every database of a file at one moment.
#[derive(Debug)]
struct State {
    environment: Arc<Environment>,
    tables: Vec<(Space, Record)>,
}

impl Lmdb {
    /// The file of a database: `path` itself, or `data.mdb` in it.
    pub fn file_of(path: &Path) -> Option<PathBuf> {
        let file = if path.is_dir() { path.join("data.mdb") } else { path.to_owned() };
        let mut head = [0; 24];
        PlainFile::open(&file).ok()?.read_at(0, &mut head).ok()?;
        // On a 32-bit machine the header of a page is four bytes shorter.
        let magic = [0xde, 0xc0, 0xef, 0xbe];
        let reversed = [0xbe, 0xef, 0xc0, 0xde];
        let is_lmdb =
            [&head[12..16], &head[16..20]].into_iter().any(|found| *found == magic || *found == reversed);
        is_lmdb.then_some(file)
    }

    /// Opens the file, or the directory that it is in.
    pub fn open(path: &Path) -> Result<Self, SourceError> {
        let file = if path.is_dir() { path.join("data.mdb") } else { path.to_owned() };
        let file = Arc::new(PlainFile::open(&file)?);
        let opened = Arc::new(State::read(&file)?);
        Ok(Self { file, opened })
    }
}

impl State {
    fn read(file: &Arc<PlainFile>) -> Result<Self, SourceError> {
        let moment = Moment::newest(file)?;
        let environment = Arc::new(Environment { file: file.clone(), moment });
        let main = environment.moment.main.clone();
        let mut tables = Vec::new();
        let mut has_rows = false;
        // A main database with several values a key cannot hold others.
        if main.kind == SpaceKind::Map {
            let mut rows = Rows::open(environment.clone(), &main, KeyRange::ALL, Direction::Ascending)?;
            rows.is_main = true;
            while let Some(item) = rows.advance()? {
                let Item::Named(record) = item else {
                    has_rows |= rows.key() != CHECKSUM;
                    continue;
                };
                if tables.len() >= MAX_SPACES {
                    return Err(SourceError::unsupported(
                        file.path(),
                        format!("a file of more than {MAX_SPACES} databases"),
                    ));
                }
                let space = Space { kind: record.kind, ..Space::map(name(rows.key())) };
                tables.push((space, record));
            }
        }
        if has_rows || tables.is_empty() {
            let space = Space { kind: main.kind, ..Space::map(MAIN) };
            tables.insert(0, (space, main));
        }
        Ok(Self { environment, tables })
    }
}

/// The one row beside the databases of our own engine, with the checksum of all others (`keyplan-lmdb`).
const CHECKSUM: &[u8] = b"\0keyplan.rows";

/// Whether a file is one of MDBX, which descends from LMDB and has other pages.
pub(crate) fn is_mdbx(path: &Path) -> bool {
    // The magic follows the version, which is below it in the same number, after a page header of 20 bytes.
    let mut head = [0; 28];
    path.is_file()
        && PlainFile::open(path).is_ok_and(|file| file.read_at(0, &mut head).is_ok())
        && head[21..28] == [0x11, 0x4c, 0xef, 0xbd, 0x9d, 0x65, 0x59]
}

/// The name of a database; as hex digits if it is not text.
fn name(bytes: &[u8]) -> String {
    std::str::from_utf8(bytes).map_or_else(|_| crate::hex(bytes), str::to_owned)
}

impl Source for Lmdb {
    fn kind(&self) -> &'static str {
        "lmdb"
    }

    fn spaces(&self) -> Vec<Space> {
        self.opened.tables.iter().map(|(space, _)| space.clone()).collect()
    }

    fn view(&self) -> Result<Box<dyn View>, SourceError> {
        let opened = &self.opened.environment.moment;
        let now = opened.transaction_now(&self.file)?;
        if now == opened.transaction {
            return Ok(Box::new(LmdbView { state: self.opened.clone() }));
        }
        let mut state = State::read(&self.file)?;
        // The numbers of the spaces stay; what is gone is an error, what is new is for the next opening.
        let mut tables = Vec::new();
        for (space, _) in &self.opened.tables {
            let found = state.tables.iter().find(|(found, _)| found == space);
            let found = found.ok_or_else(|| SourceError::NoSpace { name: space.name.clone() })?;
            tables.push(found.clone());
        }
        state.tables = tables;
        Ok(Box::new(LmdbView { state: Arc::new(state) }))
    }
}

#[derive(Debug)]
struct LmdbView {
    state: Arc<State>,
}

impl LmdbView {
    fn rows(&self, space: SpaceId, range: KeyRange<'_>, direction: Direction) -> Result<Rows, SourceError> {
        let index = usize::try_from(space.0).map_err(|_| SourceError::no_space(space))?;
        let (table, record) = self.state.tables.get(index).ok_or_else(|| SourceError::no_space(space))?;
        let mut rows = Rows::open(self.state.environment.clone(), record, range, direction)?;
        rows.is_main = table.name == MAIN && *record == self.state.environment.moment.main;
        Ok(rows)
    }
}

impl View for LmdbView {
    fn walk(
        &self,
        space: SpaceId,
        range: KeyRange<'_>,
        direction: Direction,
    ) -> Result<Box<dyn Walk>, SourceError> {
        Ok(Box::new(self.rows(space, range, direction)?))
    }
}
