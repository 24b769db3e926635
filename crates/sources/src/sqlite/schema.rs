use std::sync::Arc;

use keyplan_store::Direction;
use keyplan_store::source::SourceError;

use super::btree::{Kind, Tree};
use super::pager::Pages;
use super::record::{Column, column};
use super::sql::{self, Layout};
use crate::tree::{Cursor, Page as _};

/// How many tables and indices a database may have.
const MAX_ENTRIES: usize = 1 << 16;

/// A table of keys and values.
#[derive(Clone, Debug)]
pub(super) struct Table {
    pub(super) name: String,
    /// The tree that is in the order of keys: the table's own, or that of an index.
    pub(super) keys: u64,
    /// The tree of rows by number, if the keys are in an index; and which column of a row the value is.
    pub(super) rows: Option<(u64, usize)>,
    is_text: bool,
}

/// Tables that can be read, and the others with the reason.
#[derive(Debug, Default)]
pub(super) struct Schema {
    pub(super) tables: Vec<Table>,
    pub(super) others: Vec<(String, String)>,
}

struct Entry {
    ty: String,
    name: String,
    table: String,
    root: u64,
    sql: Option<String>,
}

impl Schema {
    pub(super) fn read(pages: &Arc<Pages>) -> Result<Self, SourceError> {
        let entries = entries(pages)?;
        let mut schema = Self::default();
        for entry in entries.iter().filter(|entry| entry.ty == "table" && !entry.name.starts_with("sqlite_"))
        {
            let found = table(entry, &entries).and_then(|table| of_bytes(pages, table));
            match found {
                Ok(table) => schema.tables.push(table),
                Err(Refusal::Not(why)) => schema.others.push((entry.name.clone(), why)),
                Err(Refusal::Error(error)) => return Err(error),
            }
        }
        if schema.tables.iter().any(|table| !table.is_text) {
            let (text, blobs) = schema.tables.into_iter().partition(|table| table.is_text);
            let why = |table: Table| (table.name, "it holds text, and other tables hold blobs".to_owned());
            schema.others.extend(Vec::into_iter(text).map(why));
            schema.tables = blobs;
        }
        schema.tables.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(schema)
    }
}

/// Why a table is not among those that are read.
enum Refusal {
    Not(String),
    Error(SourceError),
}

impl From<SourceError> for Refusal {
    fn from(error: SourceError) -> Self {
        Self::Error(error)
    }
}

fn table(entry: &Entry, entries: &[Entry]) -> Result<Table, Refusal> {
    let indices = || entries.iter().filter(|other| other.ty == "index" && other.table == entry.table);
    let declared = |index: &Entry| index.sql.as_deref().and_then(sql::unique_index);
    let unique: Vec<String> = indices().filter_map(declared).collect();
    let text = entry.sql.as_deref().ok_or_else(|| Refusal::Not("it is virtual".to_owned()))?;
    if entry.root == 0 {
        return Err(Refusal::Not("it is virtual".to_owned()));
    }
    let Layout { key, without_row_id, is_text } = sql::table(text, &unique).map_err(Refusal::Not)?;
    let name = entry.name.clone();
    if without_row_id {
        return Ok(Table { name, keys: entry.root, rows: None, is_text });
    }
    // A constraint makes an index without a text of its own.
    let index = indices().find(|index| index.sql.is_none() || declared(index).is_some());
    let index = index.ok_or_else(|| Refusal::Not("the index of its keys is missing".to_owned()))?;
    Ok(Table { name, keys: index.root, rows: Some((entry.root, 1 - key)), is_text })
}

/// Keys of one type are in the order of their bytes, and the first and the last key show whether they are of one.
fn of_bytes(pages: &Arc<Pages>, table: Table) -> Result<Table, Refusal> {
    let mut words = Vec::new();
    for direction in [Direction::Ascending, Direction::Descending] {
        let tree = Arc::new(Tree { pages: pages.clone(), kind: Kind::Index });
        let mut cursor = Cursor::at_end(tree, table.keys, direction)?;
        let Some((page, item)) = cursor.next()? else { return Ok(table) };
        let mut payload = Vec::new();
        page.payload(pages, item, &mut payload)?;
        let key = column(&payload, 0).ok_or_else(|| page.damaged(item, "a record is cut off"))?;
        words.push((key.word(), key.bytes().is_some()));
    }
    match words.as_slice() {
        [(first, true), (last, true)] if first == last => Ok(table),
        [(first, _), (last, _)] if first == last => Err(Refusal::Not(format!("a key is {first}"))),
        [(first, _), (last, _)] => Err(Refusal::Not(format!("one key is {first} and another {last}"))),
        _ => Ok(table),
    }
}

/// The rows of `sqlite_schema`, whose tree begins on the first page.
fn entries(pages: &Arc<Pages>) -> Result<Vec<Entry>, SourceError> {
    let tree = Arc::new(Tree { pages: pages.clone(), kind: Kind::Table });
    let mut cursor = Cursor::at_end(tree, 1, Direction::Ascending)?;
    let mut entries = Vec::new();
    let mut payload = Vec::new();
    let mut before = None;
    while let Some((page, item)) = cursor.next()? {
        let row = page.row(item);
        if before.is_some_and(|before| before >= row) {
            return Err(page.damaged(item, "rows are not in order"));
        }
        before = Some(row);
        if entries.len() >= MAX_ENTRIES {
            return Err(page.damaged(item, format!("more than {MAX_ENTRIES} tables and indices")));
        }
        page.payload(pages, item, &mut payload)?;
        let cut = || page.damaged(item, "a record of the schema is cut off");
        let text = |index: usize| -> Result<Option<String>, SourceError> {
            let found = column(&payload, index).ok_or_else(cut)?.bytes();
            found.map(|bytes| String::from_utf8(bytes.to_vec()).map_err(|_| cut())).transpose()
        };
        let root = match column(&payload, 3).ok_or_else(cut)? {
            Column::Integer(root) => u64::try_from(root).map_err(|_| cut())?,
            _ => 0,
        };
        entries.push(Entry {
            ty: text(0)?.unwrap_or_default(),
            name: text(1)?.unwrap_or_default(),
            table: text(2)?.unwrap_or_default(),
            root,
            sql: text(4)?,
        });
        debug_assert!(page.child(item).is_none(), "a cursor stops at rows");
    }
    Ok(entries)
}
