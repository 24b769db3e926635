use keyplan_store::source::SourceError;

use super::meta::PAGE_HEADER;
use crate::number::{u16_le, u32_le, u64_le};
use crate::plain_file::PlainFile;
use crate::tree;

const BRANCH: u16 = 0x01;
const LEAF: u16 = 0x02;
const OVERFLOW: u16 = 0x04;
const FIXED: u16 = 0x20;
/// The kinds among a page's flags.
const KINDS: u16 = BRANCH | LEAF | OVERFLOW | 0x08 | FIXED;

const NODE_HEADER: usize = 8;

/// What the data of a node is, by its flags.
pub(super) const BIG_DATA: u16 = 0x01;
pub(super) const SUB_DATA: u16 = 0x02;
pub(super) const DUP_DATA: u16 = 0x04;

/// A page of a tree, or a page inside a node: `number (8) | key size (2) | flags (2) | lower (2) | upper (2) | offsets of
/// nodes (2 each) …`. In a page of fixed keys these follow the header, and there are no nodes.
///
/// A node is `low (2) | high (2) | flags (2) | key size (2) | key | data`: in a leaf, low and high are the size of the
/// data; in a branch, low, high and flags are the number of the page below.
#[derive(Debug)]
pub(super) struct NodePage {
    bytes: Vec<u8>,
    // Where it is in the file.
    offset: u64,
    kind: Kind,
    count: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Branch,
    Leaf,
    Fixed { size: usize },
}

/// A node of a leaf.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node<'p> {
    pub(super) key: &'p [u8],
    pub(super) flags: u16,
    /// How long its data is, wherever it is.
    pub(super) size: u32,
    /// What is in the page: the data, or where it is.
    pub(super) data: &'p [u8],
    /// Where that is in the file.
    pub(super) offset: u64,
}

impl NodePage {
    /// Looks through a page, so that everything in it can be reached.
    pub(super) fn new(file: &PlainFile, bytes: Vec<u8>, offset: u64) -> Result<Self, SourceError> {
        let damaged = |at: usize, what: String| file.damaged(offset + at as u64, what);
        let cut = || damaged(0, "the page is cut off".to_owned());
        let flags = u16_le(&bytes, 10).ok_or_else(cut)?;
        let lower = usize::from(u16_le(&bytes, 12).ok_or_else(cut)?);
        let slots = lower.checked_sub(PAGE_HEADER).filter(|slots| slots % 2 == 0);
        let count =
            slots.ok_or_else(|| damaged(12, format!("the nodes end at byte {lower} of the page")))? / 2;
        let kind = match flags & KINDS {
            BRANCH => Kind::Branch,
            LEAF => Kind::Leaf,
            kind if kind == LEAF | FIXED => {
                Kind::Fixed { size: usize::from(u16_le(&bytes, 8).ok_or_else(cut)?) }
            }
            _ => return Err(damaged(10, format!("a page of a tree has the flags {flags:#06x}"))),
        };
        let page = Self { bytes, offset, kind, count };
        if let Kind::Fixed { size } = kind {
            let end = count.checked_mul(size).and_then(|len| len.checked_add(PAGE_HEADER));
            if size == 0 || end.is_none_or(|end| end > page.bytes.len()) {
                return Err(damaged(8, format!("{count} keys of {size} bytes do not fit into the page")));
            }
            return Ok(page);
        }
        for index in 0..count {
            let inside =
                if kind == Kind::Branch { page.branch(index).is_some() } else { page.node(index).is_some() };
            if !inside {
                return Err(damaged(
                    PAGE_HEADER + 2 * index,
                    format!("node {index} reaches out of its page"),
                ));
            }
        }
        Ok(page)
    }

    pub(super) const fn is_branch(&self) -> bool {
        matches!(self.kind, Kind::Branch)
    }

    pub(super) const fn count(&self) -> usize {
        self.count
    }

    /// The key of an item. The first of a branch has none: everything belongs there that is before the second.
    pub(super) fn key(&self, index: usize) -> &[u8] {
        match self.kind {
            Kind::Branch => self.branch(index).map(|(key, _)| key),
            Kind::Leaf => self.node(index).map(|node| node.key),
            Kind::Fixed { size } => {
                self.bytes.get(PAGE_HEADER + index * size..PAGE_HEADER + (index + 1) * size)
            }
        }
        .unwrap_or_default()
    }

    /// A node of a leaf; in a page of fixed keys, one without data.
    pub(super) fn node(&self, index: usize) -> Option<Node<'_>> {
        if let Kind::Fixed { .. } = self.kind {
            return Some(Node { key: self.key(index), flags: 0, size: 0, data: &[], offset: self.offset });
        }
        let (at, flags, key) = self.header(index)?;
        let size = u32_le(&self.bytes, at)?;
        let start = at + NODE_HEADER + key.len();
        // What is too big for the page lies in pages of its own; their number is here.
        let here = if flags & BIG_DATA == 0 { usize::try_from(size).ok()? } else { 8 };
        let data = self.bytes.get(start..start.checked_add(here)?)?;
        Some(Node { key, flags, size, data, offset: self.offset + start as u64 })
    }

    fn branch(&self, index: usize) -> Option<(&[u8], u64)> {
        let (at, flags, key) = self.header(index)?;
        let low = u32_le(&self.bytes, at)?;
        Some((key, u64::from(low) | u64::from(flags) << 32))
    }

    fn header(&self, index: usize) -> Option<(usize, u16, &[u8])> {
        let at = usize::from(u16_le(&self.bytes, PAGE_HEADER + 2 * index)?);
        let flags = u16_le(&self.bytes, at + 4)?;
        let len = usize::from(u16_le(&self.bytes, at + 6)?);
        Some((at, flags, self.bytes.get(at + NODE_HEADER..at + NODE_HEADER + len)?))
    }
}

impl tree::Page for NodePage {
    fn items(&self) -> usize {
        self.count
    }

    fn child(&self, item: usize) -> Option<u64> {
        if self.is_branch() { self.branch(item).map(|(_, page)| page) } else { None }
    }
}

/// Where the data that a node has pages of its own for begins; `header (16, with the number of pages at 12) | data`.
pub(super) fn overflow(
    file: &PlainFile,
    page_size: u32,
    last_page: u64,
    node: &Node<'_>,
) -> Result<u64, SourceError> {
    let number = u64_le(node.data, 0).unwrap_or(u64::MAX);
    if number > last_page {
        return Err(file.damaged(node.offset, format!("page {number} lies after the last, {last_page}")));
    }
    let offset = number.saturating_mul(page_size.into());
    let header = file.bytes(offset, PAGE_HEADER as u64)?;
    let flags = u16_le(&header, 10).unwrap_or(0);
    let pages = u32_le(&header, 12).unwrap_or(0);
    let room = u64::from(pages) * u64::from(page_size);
    if u64_le(&header, 0) != Some(number) || flags & KINDS != OVERFLOW {
        return Err(file.damaged(offset, format!("page {number} is not one of a long value")));
    }
    if u64::from(node.size) + PAGE_HEADER as u64 > room {
        return Err(file.damaged(offset + 12, format!("a value of {} bytes in {pages} pages", node.size)));
    }
    Ok(offset + PAGE_HEADER as u64)
}
