use std::sync::Arc;

use keyplan_store::source::SourceError;

use super::pager::{FILE_HEADER, PageBytes, Pages};
use crate::number::{u16_be, u32_be};
use crate::tree;

/// What kind of tree pages are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Rows by number.
    Table,
    /// Records in their own order.
    Index,
}

/// A page of a tree: `kind (1) | free block (2) | cells (2) | content (2) | fragments (1) | rightmost page (4, inside a
/// tree only) | offsets of cells (2 each) …`, after the file's header on the first page.
///
/// The items of an inner page of an index are pages and cells in turn; those of a table's are pages only.
#[derive(Debug)]
pub(super) struct CellPage {
    page: PageBytes,
    kind: Kind,
    cells: Vec<Cell>,
    rightmost: Option<u32>,
}

/// `left page (4, inside a tree) | payload size | row (tables) | payload | overflow page (4)`
#[derive(Clone, Debug)]
struct Cell {
    left: Option<u32>,
    row: i64,
    size: u64,
    at: usize,
    local: usize,
    overflow: Option<u32>,
}

impl CellPage {
    pub(super) fn new(page: PageBytes, kind: Kind, number: u32) -> Result<Self, SourceError> {
        let start = if number == 1 { FILE_HEADER } else { 0 };
        let cut = || page.damaged(start, "the page is cut off");
        let flag = page.bytes.get(start).copied().ok_or_else(cut)?;
        let inner = match (flag, kind) {
            (2, Kind::Index) | (5, Kind::Table) => true,
            (10, Kind::Index) | (13, Kind::Table) => false,
            _ => {
                return Err(page
                    .damaged(start, format!("page {number} is of kind {flag}, which does not belong here")));
            }
        };
        let count = usize::from(u16_be(&page.bytes, start + 3).ok_or_else(cut)?);
        let rightmost = if inner { Some(u32_be(&page.bytes, start + 8).ok_or_else(cut)?) } else { None };
        let slots = start + if inner { 12 } else { 8 };
        let mut cells = Vec::with_capacity(count.min(page.bytes.len() / 2));
        for index in 0..count {
            let slot = slots + 2 * index;
            let cell =
                u16_be(&page.bytes, slot).and_then(|at| Cell::read(&page.bytes, at.into(), kind, inner));
            cells.push(
                cell.ok_or_else(|| page.damaged(slot, format!("cell {index} reaches out of its page")))?,
            );
        }
        Ok(Self { page, kind, cells, rightmost })
    }

    /// Where an item's cell is: of an inner page, cells are the odd items.
    fn cell(&self, item: usize) -> Option<&Cell> {
        match self.rightmost {
            None => self.cells.get(item),
            Some(_) => (item % 2 == 1).then(|| self.cells.get(item / 2)).flatten(),
        }
    }

    pub(super) const fn is_inner(&self) -> bool {
        self.rightmost.is_some()
    }

    pub(super) fn cells(&self) -> usize {
        self.cells.len()
    }

    /// The number of the row in a cell of a table.
    pub(super) fn row(&self, cell: usize) -> i64 {
        self.cells.get(cell).map_or(0, |cell| cell.row)
    }

    /// The item that is a cell.
    pub(super) const fn item_of(&self, cell: usize) -> usize {
        match (self.rightmost, self.kind) {
            (None, _) | (Some(_), Kind::Table) => cell,
            (Some(_), Kind::Index) => 2 * cell + 1,
        }
    }

    /// The item that is the page before a cell, or after the last.
    pub(super) const fn item_before(&self, cell: usize) -> usize {
        match self.kind {
            Kind::Table => cell,
            Kind::Index => 2 * cell,
        }
    }

    /// The payload of an item.
    pub(super) fn payload(&self, pages: &Pages, item: usize, into: &mut Vec<u8>) -> Result<(), SourceError> {
        into.clear();
        let Some(cell) = self.cell(item) else { return Ok(()) };
        into.extend_from_slice(self.page.bytes.get(cell.at..cell.at + cell.local).unwrap_or_default());
        if cell.overflow.is_some() && cell.size > pages.room()? {
            return Err(self
                .page
                .damaged(cell.at, format!("a row of {} bytes, more than the file has", cell.size)));
        }
        let mut left = cell.size - cell.local as u64;
        let mut next = cell.overflow;
        let room = pages.usable() - 4;
        // Each page of a chain is full but the last, so that a chain that leads back to itself ends.
        while left > 0 {
            let number = next.ok_or_else(|| self.page.damaged(cell.at, "the rest of a row is missing"))?;
            let page = pages.page(number)?;
            let take = usize::try_from(left).map_or(room, |left| left.min(room));
            into.extend_from_slice(page.bytes.get(4..4 + take).unwrap_or_default());
            left -= take as u64;
            next = u32_be(&page.bytes, 0).filter(|&next| next != 0);
        }
        if cell.overflow.is_some() && next.is_some() {
            return Err(self.page.damaged(cell.at, "the pages of a long row do not end with it"));
        }
        Ok(())
    }

    /// The file that it is in.
    pub(super) fn path(&self) -> &std::path::Path {
        &self.page.path
    }

    /// Something about an item is wrong.
    pub(super) fn damaged(&self, item: usize, what: impl std::fmt::Display) -> SourceError {
        self.page.damaged(self.cell(item).map_or(0, |cell| cell.at), what)
    }

    /// The part of an item's payload that is in this page.
    pub(super) fn local(&self, item: usize) -> &[u8] {
        let cell = self.cell(item);
        cell.and_then(|cell| self.page.bytes.get(cell.at..cell.at + cell.local)).unwrap_or_default()
    }
}

impl Cell {
    fn read(page: &[u8], at: usize, kind: Kind, inner: bool) -> Option<Self> {
        let left = if inner { Some(u32_be(page, at)?) } else { None };
        let mut rest = page.get(at + if inner { 4 } else { 0 }..)?;
        if inner && kind == Kind::Table {
            let (row, _) = varint(rest)?;
            return Some(Self { left, row: row.cast_signed(), size: 0, at, local: 0, overflow: None });
        }
        let (size, after) = varint(rest)?;
        rest = after;
        let row = if kind == Kind::Table {
            let (row, after) = varint(rest)?;
            rest = after;
            row.cast_signed()
        } else {
            0
        };
        let start = page.len() - rest.len();
        let local = local(size, page.len(), kind)?;
        page.get(start..start.checked_add(local)?)?;
        let overflow = if local as u64 == size { None } else { Some(u32_be(page, start + local)?) };
        Some(Self { left, row, size, at: start, local, overflow })
    }
}

/// How many bytes of a payload are in the page itself.
fn local(size: u64, usable: usize, kind: Kind) -> Option<usize> {
    let most = if kind == Kind::Table { usable - 35 } else { (usable - 12) * 64 / 255 - 23 };
    if size <= most as u64 {
        return usize::try_from(size).ok();
    }
    let least = (usable - 12) * 32 / 255 - 23;
    let left = (size - least as u64) % (usable as u64 - 4);
    let fitting = least + usize::try_from(left).ok()?;
    Some(if fitting <= most { fitting } else { least })
}

impl tree::Page for CellPage {
    fn items(&self) -> usize {
        match (self.rightmost, self.kind) {
            (None, _) => self.cells.len(),
            (Some(_), Kind::Table) => self.cells.len() + 1,
            (Some(_), Kind::Index) => 2 * self.cells.len() + 1,
        }
    }

    fn child(&self, item: usize) -> Option<u64> {
        let rightmost = self.rightmost?;
        let cell = match self.kind {
            Kind::Table => item,
            Kind::Index if item % 2 == 1 => return None,
            Kind::Index => item / 2,
        };
        Some(self.cells.get(cell).map_or(rightmost, |cell| cell.left.unwrap_or(0)).into())
    }
}

/// The pages of one tree.
#[derive(Debug)]
pub(super) struct Tree {
    pub(super) pages: Arc<Pages>,
    pub(super) kind: Kind,
}

impl tree::Pager for Tree {
    type Page = CellPage;

    fn page(&self, number: u64, depth: usize) -> Result<CellPage, SourceError> {
        let number = u32::try_from(number).unwrap_or(0);
        let page = CellPage::new(self.pages.page(number)?, self.kind, number)?;
        if depth > 0 && !page.is_inner() && page.cells.is_empty() {
            return Err(page.page.damaged(0, "a page of a tree is empty"));
        }
        Ok(page)
    }

    fn too_deep(&self, number: u64) -> SourceError {
        self.pages.damaged(u32::try_from(number).unwrap_or(0), "the tree is too deep")
    }
}

/// A number in up to nine bytes: seven bits each, the high ones first, and eight in the ninth.
pub(super) fn varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut number = 0_u64;
    for (index, &byte) in bytes.iter().enumerate().take(9) {
        if index == 8 {
            return Some((number << 8 | u64::from(byte), bytes.get(9..)?));
        }
        number = number << 7 | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some((number, bytes.get(index + 1..)?));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_varint_has_eight_bits_in_its_ninth_byte() {
        assert_eq!(varint(&[0x81, 0x00, 7]), Some((128, &[7][..])));
        assert_eq!(varint(&[0xff; 9]), Some((u64::MAX, &[][..])));
        assert_eq!(varint(&[0xff; 8]), None);
    }

    #[test]
    fn the_part_of_a_payload_in_its_page_is_what_sqlite_keeps_there() {
        // Pages of 4096 bytes: 4061 in a table and 1002 in an index are the most.
        assert_eq!(
            [local(4061, 4096, Kind::Table), local(1002, 4096, Kind::Index)],
            [Some(4061), Some(1002)]
        );
        assert_eq!([local(4062, 4096, Kind::Table), local(1003, 4096, Kind::Index)], [Some(489), Some(489)]);
        assert_eq!(local(5000, 4096, Kind::Table), Some(908));
    }
}
