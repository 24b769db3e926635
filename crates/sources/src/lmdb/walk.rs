use std::cmp::Ordering;
use std::ops::Bound;
use std::sync::Arc;

use keyplan_store::Direction;
use keyplan_store::engine::{KeyRange, OwnedKeyRange, SpaceKind};
use keyplan_store::source::{RowRef, SourceError, Walk};

use super::meta::{Moment, Order, Record};
use super::page::{self, BIG_DATA, DUP_DATA, NodePage, SUB_DATA};
use crate::number::u64_le;
use crate::plain_file::PlainFile;
use crate::tree::{Cursor, Pager, Place};

/// A file at one moment.
#[derive(Debug)]
pub(super) struct Environment {
    pub(super) file: Arc<PlainFile>,
    pub(super) moment: Moment,
}

impl Environment {
    /// Says whether what was read up to now was of this moment.
    ///
    /// A page that this moment needs is free after the next commit, and may be written to after the one that follows.
    fn still(&self) -> Result<(), SourceError> {
        let now = self.moment.transaction_now(&self.file)?;
        if now <= self.moment.transaction.saturating_add(1) {
            return Ok(());
        }
        let what = format!("transaction {} was read, and {now} is there", self.moment.transaction);
        Err(SourceError::Changing { path: self.file.path().to_owned(), what })
    }
}

/// The pages of one tree.
#[derive(Debug)]
struct Pages {
    environment: Arc<Environment>,
    depth: u16,
}

impl Pager for Pages {
    type Page = NodePage;

    fn page(&self, number: u64, depth: usize) -> Result<NodePage, SourceError> {
        let Environment { file, moment } = &*self.environment;
        if number > moment.last_page {
            let end = moment.last_page.saturating_mul(moment.page_size.into());
            return Err(file.damaged(end, format!("page {number} lies after the last, {}", moment.last_page)));
        }
        let offset = number.saturating_mul(moment.page_size.into());
        let bytes = file.bytes(offset, moment.page_size.into())?;
        self.environment.still()?;
        if u64_le(&bytes, 0) != Some(number) {
            return Err(file.damaged(offset, format!("page {number} says that it is another")));
        }
        let page = NodePage::new(file, bytes, offset)?;
        let is_leaf = depth + 1 == usize::from(self.depth);
        if page.is_branch() == is_leaf || depth >= usize::from(self.depth) {
            let what =
                format!("a {} at depth {depth} of {}", if is_leaf { "branch" } else { "leaf" }, self.depth);
            return Err(file.damaged(offset + 10, what));
        }
        if page.count() == 0 {
            return Err(file.damaged(offset, "a page of a tree is empty"));
        }
        Ok(page)
    }

    fn too_deep(&self, number: u64) -> SourceError {
        let Environment { file, moment } = &*self.environment;
        file.damaged(number.saturating_mul(moment.page_size.into()), "the tree is too deep")
    }
}

fn cursor(
    environment: &Arc<Environment>,
    record: &Record,
    direction: Direction,
    start: Bound<&[u8]>,
) -> Result<Option<Cursor<Pages>>, SourceError> {
    let Some(root) = record.root else { return Ok(None) };
    let pages = Arc::new(Pages { environment: environment.clone(), depth: record.depth });
    // The gap lies after keys that equal the bound in two cases of four.
    let (key, after) = match start {
        Bound::Unbounded => return Cursor::at_end(pages, root, direction).map(Some),
        Bound::Included(key) => (key, direction == Direction::Descending),
        Bound::Excluded(key) => (key, direction == Direction::Ascending),
    };
    let before = |found: &[u8]| match record.keys.compare(found, key) {
        Ordering::Less => true,
        Ordering::Equal => after,
        Ordering::Greater => false,
    };
    let place = |page: &NodePage| {
        let first = usize::from(page.is_branch());
        let gap = first + partition(page.count() - first, |index| before(page.key(first + index)));
        Ok(if page.is_branch() { Place::Into(gap - 1) } else { Place::Gap(gap) })
    };
    Cursor::at(pages, root, direction, place).map(Some)
}

/// How many of the first `count` indices `before` holds for, if it holds for none after the first that it fails for.
fn partition(count: usize, before: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low.midpoint(high);
        if before(middle) { low = middle + 1 } else { high = middle }
    }
    low
}

/// The values of one key that has several.
#[derive(Debug)]
enum Values {
    Page { page: NodePage, gap: usize },
    Tree(Option<Cursor<Pages>>),
}

/// Rows of one database.
#[derive(Debug)]
pub(super) struct Rows {
    environment: Arc<Environment>,
    record: Record,
    direction: Direction,
    range: OwnedKeyRange,
    cursor: Option<Cursor<Pages>>,
    values: Option<Values>,
    key: Vec<u8>,
    value: Vec<u8>,
    // Whether `key` and `value` hold the row before.
    has_key: bool,
    has_value: bool,
    seen: u64,
    // Whether the main database is read, in which the other ones are recorded.
    pub(super) is_main: bool,
}

/// What an item of a database is.
pub(super) enum Item {
    /// A row, in the buffers.
    Row,
    /// The record of a named database; its name is the key.
    Named(Record),
}

impl Rows {
    pub(super) fn open(
        environment: Arc<Environment>,
        record: &Record,
        range: KeyRange<'_>,
        direction: Direction,
    ) -> Result<Self, SourceError> {
        // In another order of keys than that of bytes, only the order itself can say that a range is inverted.
        let empty = record.keys == Order::Forward && range.is_empty();
        let start = if direction == Direction::Ascending { range.start } else { range.end };
        let cursor = if empty { None } else { cursor(&environment, record, direction, start)? };
        Ok(Self {
            environment,
            record: record.clone(),
            direction,
            range: range.to_owned(),
            cursor,
            values: None,
            key: Vec::new(),
            value: Vec::new(),
            has_key: false,
            has_value: false,
            seen: 0,
            is_main: false,
        })
    }

    pub(super) fn key(&self) -> &[u8] {
        &self.key
    }

    pub(super) fn advance(&mut self) -> Result<Option<Item>, SourceError> {
        loop {
            if let Some(values) = &mut self.values {
                if step(
                    values,
                    self.direction,
                    self.record.values,
                    &mut self.value,
                    &mut self.has_value,
                    &self.environment.file,
                )? {
                    self.seen += 1;
                    return Ok(Some(Item::Row));
                }
                self.values = None;
            }
            let Some(cursor) = &mut self.cursor else { return Ok(None) };
            let Some((page, index)) = cursor.next()? else {
                self.cursor = None;
                return self.end().map(|()| None);
            };
            let Some(node) = page.node(index) else { continue };
            let Environment { file, moment } = &*self.environment;
            if self.has_key && !follows(self.record.keys, self.direction, &self.key, node.key) {
                return Err(file.damaged(node.offset, "keys are not in order"));
            }
            if is_past_end(self.record.keys, self.direction, &self.range, node.key) {
                self.cursor = None;
                return Ok(None);
            }
            self.key.clear();
            self.key.extend_from_slice(node.key);
            self.has_key = true;
            match node.flags {
                0 => {
                    self.value.clear();
                    self.value.extend_from_slice(node.data);
                }
                BIG_DATA => {
                    let at = page::overflow(file, moment.page_size, moment.last_page, &node)?;
                    file.read_into(at, node.size.into(), &mut self.value)?;
                    self.environment.still()?;
                }
                SUB_DATA if self.is_main => {
                    self.seen += 1;
                    return Record::read(file.path(), node.offset, node.data).map(Item::Named).map(Some);
                }
                flags if flags & !SUB_DATA == DUP_DATA && self.record.kind == SpaceKind::Multimap => {
                    self.has_value = false;
                    self.values = Some(if flags & SUB_DATA == 0 {
                        let page = NodePage::new(file, node.data.to_vec(), node.offset)?;
                        if page.is_branch() || page.count() == 0 {
                            return Err(
                                file.damaged(node.offset, "the values of a key are not a leaf with values")
                            );
                        }
                        let gap = if self.direction == Direction::Ascending { 0 } else { page.count() };
                        Values::Page { page, gap }
                    } else {
                        let record = self.record.of_values(file.path(), node.offset, node.data)?;
                        Values::Tree(self::cursor(
                            &self.environment,
                            &record,
                            self.direction,
                            Bound::Unbounded,
                        )?)
                    });
                    continue;
                }
                flags => return Err(file.damaged(node.offset, format!("a row has the flags {flags:#06x}"))),
            }
            self.seen += 1;
            return Ok(Some(Item::Row));
        }
    }

    /// A walk over everything has seen as many rows as there are.
    fn end(&self) -> Result<(), SourceError> {
        let all = self.range.start == Bound::Unbounded && self.range.end == Bound::Unbounded;
        if all && self.seen != self.record.rows {
            let what = format!("a database has {} rows, and {} are recorded", self.seen, self.record.rows);
            return Err(self.environment.file.damaged(0, what));
        }
        Ok(())
    }
}

fn is_past_end(order: Order, direction: Direction, range: &OwnedKeyRange, key: &[u8]) -> bool {
    let past = |bound: &Bound<Vec<u8>>, beyond: Ordering| match bound {
        Bound::Unbounded => false,
        Bound::Included(bound) => order.compare(key, bound) == beyond,
        Bound::Excluded(bound) => order.compare(key, bound) != beyond.reverse(),
    };
    match direction {
        Direction::Ascending => past(&range.end, Ordering::Greater),
        Direction::Descending => past(&range.start, Ordering::Less),
    }
}

fn follows(order: Order, direction: Direction, before: &[u8], after: &[u8]) -> bool {
    let expected = if direction == Direction::Ascending { Ordering::Greater } else { Ordering::Less };
    order.compare(after, before) == expected
}

/// Moves to the next value of a key; false after the last.
fn step(
    values: &mut Values,
    direction: Direction,
    order: Order,
    value: &mut Vec<u8>,
    has_value: &mut bool,
    file: &PlainFile,
) -> Result<bool, SourceError> {
    let found = match values {
        Values::Page { page, gap } => {
            let index = match direction {
                Direction::Ascending => (*gap < page.count()).then_some(*gap),
                Direction::Descending => gap.checked_sub(1),
            };
            let Some(index) = index else { return Ok(false) };
            *gap = if direction == Direction::Ascending { index + 1 } else { index };
            page.key(index)
        }
        Values::Tree(cursor) => match cursor.as_mut().map(Cursor::next).transpose()?.flatten() {
            Some((page, index)) => page.key(index),
            None => return Ok(false),
        },
    };
    if *has_value && !follows(order, direction, value, found) {
        return Err(file.damaged(0, "the values of a key are not in order"));
    }
    value.clear();
    value.extend_from_slice(found);
    *has_value = true;
    Ok(true)
}

impl Walk for Rows {
    fn next(&mut self) -> Result<Option<RowRef<'_>>, SourceError> {
        loop {
            match self.advance() {
                Ok(Some(Item::Row)) => return Ok(Some(RowRef { key: &self.key, value: &self.value })),
                Ok(Some(Item::Named(_))) => {}
                Ok(None) => return Ok(None),
                Err(error) => {
                    (self.cursor, self.values) = (None, None);
                    return Err(error);
                }
            }
        }
    }
}
