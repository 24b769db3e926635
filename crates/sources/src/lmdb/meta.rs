use std::cmp::Ordering;
use std::path::Path;

use keyplan_store::engine::SpaceKind;
use keyplan_store::source::SourceError;

use crate::number::{u16_le, u32_le, u64_le};
use crate::plain_file::PlainFile;

/// How long the header of a page is.
pub(super) const PAGE_HEADER: usize = 16;
const PAGE_IS_META: u16 = 0x08;
const MAGIC: u32 = 0xbeef_c0de;
const VERSION: u32 = 1;
/// How long the part of a meta page is that is read.
const META: usize = PAGE_HEADER + 136;
/// Where in a meta page the number of its transaction is.
const TRANSACTION: usize = PAGE_HEADER + 128;
/// How long the record of one database is.
const RECORD: usize = 48;
/// The root of an empty database.
const NO_PAGE: u64 = u64::MAX;

const REVERSE_KEY: u16 = 0x02;
const DUP_SORT: u16 = 0x04;
const INTEGER_KEY: u16 = 0x08;
const DUP_FIXED: u16 = 0x10;
const INTEGER_DUP: u16 = 0x20;
const REVERSE_DUP: u16 = 0x40;
const KNOWN_FLAGS: u16 = REVERSE_KEY | DUP_SORT | INTEGER_KEY | DUP_FIXED | INTEGER_DUP | REVERSE_DUP;

/// One committed state of the whole file, as a meta page says it.
///
/// Page 0 and page 1 are meta pages that commits write in turn, so that one of them is always whole:
/// `header (16) | magic (4) | version (4) | address (8) | map size (8) | free list (48) | main database (48) | last page
/// (8) | transaction (8)`, little-endian.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Moment {
    pub(super) page_size: u32,
    pub(super) last_page: u64,
    pub(super) transaction: u64,
    pub(super) main: Record,
}

impl Moment {
    /// The newest state in a file.
    pub(super) fn newest(file: &PlainFile) -> Result<Self, SourceError> {
        let first = file.bytes(0, META as u64)?;
        let first = Self::read(file.path(), 0, &first);
        let sizes = match &first {
            Ok(first) => vec![first.page_size],
            // The other page may be whole; where it begins is for it to say.
            Err(_) => (9..=16).map(|shift| 1 << shift).collect(),
        };
        let mut second = None;
        for size in sizes {
            let at = u64::from(size);
            let Ok(bytes) = file.bytes(at, META as u64) else { continue };
            second =
                second.or(Self::read(file.path(), at, &bytes).ok().filter(|found| found.page_size == size));
        }
        match (first, second) {
            (Ok(first), Some(second)) if second.transaction > first.transaction => Ok(second),
            (Ok(found), _) | (Err(_), Some(found)) => Ok(found),
            (Err(error), None) => Err(error),
        }
    }

    /// The newest transaction in a file of this page size, now.
    pub(super) fn transaction_now(&self, file: &PlainFile) -> Result<u64, SourceError> {
        let mut newest = 0;
        for page in [0, u64::from(self.page_size)] {
            let mut bytes = [0; 8];
            file.read_at(page + TRANSACTION as u64, &mut bytes)?;
            newest = newest.max(u64_le(&bytes, 0).unwrap_or(0));
        }
        Ok(newest)
    }

    fn read(path: &Path, offset: u64, bytes: &[u8]) -> Result<Self, SourceError> {
        let damaged = |at: usize, what: &str| SourceError::damaged(path, offset + at as u64, what);
        let cut = || damaged(0, "the meta page is cut off");
        let flags = u16_le(bytes, 10).ok_or_else(cut)?;
        let magic = u32_le(bytes, PAGE_HEADER).ok_or_else(cut)?;
        if magic.swap_bytes() == MAGIC {
            return Err(SourceError::unsupported(path, "LMDB of a big-endian machine"));
        }
        if magic != MAGIC && u32_le(bytes, PAGE_HEADER - 4) == Some(MAGIC) {
            return Err(SourceError::unsupported(path, "LMDB of a 32-bit machine"));
        }
        if magic != MAGIC || flags & PAGE_IS_META == 0 {
            return Err(damaged(PAGE_HEADER, "this is not a meta page of LMDB"));
        }
        let version = u32_le(bytes, PAGE_HEADER + 4).ok_or_else(cut)?;
        if version != VERSION {
            return Err(SourceError::unsupported(path, format!("LMDB's data version {version}")));
        }
        let page_size = u32_le(bytes, PAGE_HEADER + 24).ok_or_else(cut)?;
        if !page_size.is_power_of_two() || !(512..=65536).contains(&page_size) {
            return Err(damaged(PAGE_HEADER + 24, &format!("a page size of {page_size}")));
        }
        let main = PAGE_HEADER + 24 + RECORD;
        let last_page = u64_le(bytes, main + RECORD).ok_or_else(cut)?;
        let transaction = u64_le(bytes, main + RECORD + 8).ok_or_else(cut)?;
        let record = bytes.get(main..).ok_or_else(cut)?;
        let main = Record::read(path, offset + main as u64, record)?;
        if main.root.is_some_and(|root| root > last_page) {
            return Err(damaged(0, "the root lies after the last page"));
        }
        Ok(Self { page_size, last_page, transaction, main })
    }
}

/// One tree: `key size (4) | flags (2) | depth (2) | branch, leaf and overflow pages (3 × 8) | rows (8) | root (8)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) depth: u16,
    pub(super) rows: u64,
    /// `None` if it is empty.
    pub(super) root: Option<u64>,
    pub(super) kind: SpaceKind,
    /// How keys are compared.
    pub(super) keys: Order,
    /// How the values of one key are.
    pub(super) values: Order,
}

impl Record {
    pub(super) fn read(path: &Path, offset: u64, bytes: &[u8]) -> Result<Self, SourceError> {
        let cut = || SourceError::damaged(path, offset, "the record of a database is cut off");
        let flags = u16_le(bytes, 4).ok_or_else(cut)?;
        if flags & !KNOWN_FLAGS != 0 {
            return Err(SourceError::unsupported(
                path,
                format!("a database of LMDB with the flags {flags:#06x}"),
            ));
        }
        let root = u64_le(bytes, 40).ok_or_else(cut)?;
        Ok(Self {
            depth: u16_le(bytes, 6).ok_or_else(cut)?,
            rows: u64_le(bytes, 32).ok_or_else(cut)?,
            root: (root != NO_PAGE).then_some(root),
            kind: if flags & DUP_SORT == 0 { SpaceKind::Map } else { SpaceKind::Multimap },
            keys: Order::of(flags & (REVERSE_KEY | INTEGER_KEY) != 0),
            values: Order::of(flags & (REVERSE_DUP | INTEGER_DUP) != 0),
        })
    }

    /// The tree of the values of one key in this one.
    pub(super) fn of_values(&self, path: &Path, offset: u64, bytes: &[u8]) -> Result<Self, SourceError> {
        let own = Self::read(path, offset, bytes)?;
        Ok(Self { kind: SpaceKind::Map, keys: self.values, ..own })
    }
}

/// How byte strings are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// From the first byte on.
    Forward,
    /// From the last byte on, which is also the order of little-endian numbers of one width.
    Backward,
}

impl Order {
    fn of(backward: bool) -> Self {
        if backward { Self::Backward } else { Self::Forward }
    }

    pub(super) fn compare(self, one: &[u8], other: &[u8]) -> Ordering {
        match self {
            Self::Forward => one.cmp(other),
            Self::Backward => one.iter().rev().cmp(other.iter().rev()),
        }
    }
}
