use std::ops::Bound;
use std::sync::Arc;

use keyplan_store::Direction;
use keyplan_store::engine::{KeyRange, OwnedKeyRange};
use keyplan_store::source::{RowRef, SourceError, Walk};

use super::btree::{CellPage, Kind, Tree};
use super::pager::Pages;
use super::record::{Column, column};
use super::schema::Table;
use crate::tree::{Cursor, Page as _, Pager as _, Place};

/// Rows of one table, in the order of their keys.
#[derive(Debug)]
pub(super) struct Rows {
    pages: Arc<Pages>,
    cursor: Option<Cursor<Tree>>,
    finder: Option<Finder>,
    direction: Direction,
    range: OwnedKeyRange,
    // The record with the key, and the row it leads to, if that is another.
    record: Vec<u8>,
    row: Vec<u8>,
    key: Vec<u8>,
    has_key: bool,
}

impl Rows {
    pub(super) fn open(
        pages: Arc<Pages>,
        table: &Table,
        range: KeyRange<'_>,
        direction: Direction,
    ) -> Result<Self, SourceError> {
        let start = if direction == Direction::Ascending { range.start } else { range.end };
        let cursor =
            if range.is_empty() { None } else { Some(cursor(&pages, table.keys, direction, start)?) };
        let finder = table.rows.map(|(root, value)| Finder { root, value, path: Vec::new() });
        Ok(Self {
            pages,
            cursor,
            finder,
            direction,
            range: range.to_owned(),
            record: Vec::new(),
            row: Vec::new(),
            key: Vec::new(),
            has_key: false,
        })
    }

    /// Moves to the next row; false at the end.
    fn advance(&mut self) -> Result<bool, SourceError> {
        let Some(cursor) = &mut self.cursor else { return Ok(false) };
        let Some((page, item)) = cursor.next()? else { return Ok(false) };
        page.payload(&self.pages, item, &mut self.record)?;
        let key = bytes(page, item, &self.record, 0)?;
        let in_order = match self.direction {
            Direction::Ascending => self.key.as_slice() < key,
            Direction::Descending => self.key.as_slice() > key,
        };
        if self.has_key && !in_order {
            return Err(page.damaged(item, "keys are not in order"));
        }
        // The cursor began within the range: what is outside is past its end.
        if !self.range.borrow().contains(key) {
            return Ok(false);
        }
        self.key.clear();
        self.key.extend_from_slice(key);
        self.has_key = true;
        match &mut self.finder {
            None => bytes(page, item, &self.record, 1).map(|_| ())?,
            Some(finder) => {
                let Some(Column::Integer(number)) = column(&self.record, 1) else {
                    return Err(page.damaged(item, "an entry of an index has no row"));
                };
                let found = finder.find(&self.pages, number, &mut self.row)?;
                if !found {
                    return Err(
                        page.damaged(item, format!("an index leads to row {number}, which is not there"))
                    );
                }
                if column(&self.row, 1 - finder.value).and_then(Column::bytes) != Some(&self.key) {
                    return Err(page.damaged(item, format!("row {number} has another key than its index")));
                }
                let value = column(&self.row, finder.value);
                let value = value.ok_or_else(|| page.damaged(item, "a record is cut off"))?;
                of_bytes(page, value, "value")?;
            }
        }
        Ok(true)
    }
}

impl Walk for Rows {
    fn next(&mut self) -> Result<Option<RowRef<'_>>, SourceError> {
        match self.advance() {
            Ok(true) => {}
            Ok(false) => {
                self.cursor = None;
                return Ok(None);
            }
            Err(error) => {
                self.cursor = None;
                return Err(error);
            }
        }
        let value = match &self.finder {
            None => column(&self.record, 1),
            Some(finder) => column(&self.row, finder.value),
        };
        let value = value.and_then(Column::bytes).unwrap_or_default();
        Ok(Some(RowRef { key: &self.key, value }))
    }
}

/// A column that must be text or a blob.
fn bytes<'r>(page: &CellPage, item: usize, record: &'r [u8], index: usize) -> Result<&'r [u8], SourceError> {
    let found = column(record, index).ok_or_else(|| page.damaged(item, "a record is cut off"))?;
    of_bytes(page, found, if index == 0 { "key" } else { "value" })
}

/// The bytes of a column; a number or NULL is refused, as it has none of its own.
fn of_bytes<'r>(page: &CellPage, found: Column<'r>, what: &str) -> Result<&'r [u8], SourceError> {
    let refused = || format!("a row whose {what} is {}, not text or a blob,", found.word());
    found.bytes().ok_or_else(|| SourceError::unsupported(page.path(), refused()))
}

fn cursor(
    pages: &Arc<Pages>,
    root: u64,
    direction: Direction,
    start: Bound<&[u8]>,
) -> Result<Cursor<Tree>, SourceError> {
    let tree = Arc::new(Tree { pages: pages.clone(), kind: Kind::Index });
    // The gap lies after a key that equals the bound in two cases of four.
    let (key, after) = match start {
        Bound::Unbounded => return Cursor::at_end(tree, root, direction),
        Bound::Included(key) => (key, direction == Direction::Descending),
        Bound::Excluded(key) => (key, direction == Direction::Ascending),
    };
    let mut payload = Vec::new();
    Cursor::at(tree, root, direction, |page: &CellPage| {
        let (mut low, mut high) = (0, page.cells());
        while low < high {
            let middle = low.midpoint(high);
            let item = page.item_of(middle);
            let local = page.local(item);
            let found = if let Some(found) = column(local, 0) {
                found
            } else {
                page.payload(pages, item, &mut payload)?;
                column(&payload, 0).ok_or_else(|| page.damaged(item, "a record is cut off"))?
            };
            let found = found.bytes().ok_or_else(|| page.damaged(item, "a key is not text or a blob"))?;
            if found < key || (after && found == key) { low = middle + 1 } else { high = middle }
        }
        let inner = page.is_inner();
        Ok(if inner { Place::Into(page.item_before(low)) } else { Place::Gap(low) })
    })
}

/// Finds rows by number; what lies on the way to the last one is kept.
#[derive(Debug)]
struct Finder {
    root: u64,
    value: usize,
    path: Vec<(u64, CellPage)>,
}

/// As deep as a tree of rows may be.
const MAX_DEPTH: usize = 64;

impl Finder {
    fn find(&mut self, pages: &Arc<Pages>, row: i64, into: &mut Vec<u8>) -> Result<bool, SourceError> {
        let tree = Tree { pages: pages.clone(), kind: Kind::Table };
        let mut number = self.root;
        for depth in 0..MAX_DEPTH {
            if self.path.get(depth).is_none_or(|(found, _)| *found != number) {
                self.path.truncate(depth);
                self.path.push((number, tree.page(number, depth)?));
            }
            let Some((_, page)) = self.path.get(depth) else { break };
            let (mut low, mut high) = (0, page.cells());
            while low < high {
                let middle = low.midpoint(high);
                if page.row(middle) < row { low = middle + 1 } else { high = middle }
            }
            match page.child(low) {
                Some(child) => number = child,
                None if low < page.cells() && page.row(low) == row => {
                    page.payload(pages, low, into)?;
                    return Ok(true);
                }
                None => return Ok(false),
            }
        }
        Err(tree.too_deep(number))
    }
}
