use std::path::{Path, PathBuf};

use keyplan_store::source::SourceError;

use super::wal::Wal;
use crate::number::{u16_be, u32_be};
use crate::plain_file::{PlainFile, Stamp, is_there};

/// What a database file begins with.
pub(super) const MAGIC: &[u8; 16] = b"SQLite format 3\0";
/// How long the header before the first page's own is.
pub(super) const FILE_HEADER: usize = 100;

/// The pages of a database: those of the log before those of the file.
#[derive(Debug)]
pub(super) struct Pages {
    pub(super) file: PlainFile,
    log: Option<PlainFile>,
    wal: Wal,
    page_size: u32,
    reserved: u8,
    page_count: u32,
    // The file as it was when it was opened.
    stamp: Stamp,
}

/// A page and where it came from.
#[derive(Debug)]
pub(super) struct PageBytes {
    pub(super) bytes: Vec<u8>,
    pub(super) path: PathBuf,
    pub(super) offset: u64,
}

impl PageBytes {
    pub(super) fn damaged(&self, at: usize, what: impl std::fmt::Display) -> SourceError {
        SourceError::damaged(&self.path, self.offset + at as u64, what)
    }
}

impl Pages {
    /// Opens a file with the log beside it.
    pub(super) fn open(path: &Path) -> Result<Self, SourceError> {
        let file = PlainFile::open(path)?;
        let stamp = file.stamp()?;
        let header = file.bytes(0, FILE_HEADER as u64)?;
        if !header.starts_with(MAGIC) {
            return Err(file.damaged(0, "this is not a database of SQLite"));
        }
        let page_size = match u16_be(&header, 16).unwrap_or(0) {
            1 => 65536,
            size => u32::from(size),
        };
        if !page_size.is_power_of_two() || page_size < 512 {
            return Err(file.damaged(16, format!("a page size of {page_size}")));
        }
        let byte = |at: usize| header.get(at).copied().unwrap_or(0);
        let reserved = byte(20);
        if byte(19) > 2 {
            return Err(SourceError::unsupported(path, format!("SQLite's read version {}", byte(19))));
        }
        if page_size - u32::from(reserved) < 480 {
            return Err(file.damaged(20, format!("{reserved} bytes of each page are set aside")));
        }
        refuse_journal(path)?;
        let beside = beside(path, "-wal");
        let log = if is_there(&beside) { Some(PlainFile::open(&beside)?) } else { None };
        let wal = match &log {
            Some(log) => Wal::read(log, page_size)?,
            None => Wal::default(),
        };
        let in_file = u32::try_from(file.len()? / u64::from(page_size)).unwrap_or(u32::MAX);
        let page_count = wal.page_count.unwrap_or(in_file);
        let pages = Self { file, log, wal, page_size, reserved, page_count, stamp };
        let encoding = u32_be(&pages.page(1)?.bytes, 56).unwrap_or(0);
        if encoding > 1 {
            return Err(SourceError::unsupported(path, "SQLite with text in UTF-16"));
        }
        Ok(pages)
    }

    /// How many bytes of a page are in use.
    pub(super) fn usable(&self) -> usize {
        usize::try_from(self.page_size).unwrap_or(0) - usize::from(self.reserved)
    }

    /// How many bytes all pages have together, of which a log may claim more than there are.
    pub(super) fn room(&self) -> Result<u64, SourceError> {
        let claimed = u64::from(self.page_count) * u64::from(self.page_size);
        let logged = u64::try_from(self.wal.pages.len()).unwrap_or(u64::MAX);
        let there = self.file.len()?.saturating_add(logged.saturating_mul(self.page_size.into()));
        Ok(claimed.min(there))
    }

    /// Something about a page of the file is wrong.
    pub(super) fn damaged(&self, number: u32, what: impl std::fmt::Display) -> SourceError {
        self.file.damaged(u64::from(number.saturating_sub(1)) * u64::from(self.page_size), what)
    }

    /// A page of this moment.
    pub(super) fn page(&self, number: u32) -> Result<PageBytes, SourceError> {
        if number == 0 || number > self.page_count {
            let end = u64::from(self.page_count) * u64::from(self.page_size);
            let what = format!("page {number} is asked for, and there are {}", self.page_count);
            return Err(self.file.damaged(end, what));
        }
        let (file, offset) = match (&self.log, self.wal.pages.get(&number)) {
            (Some(log), Some(&offset)) => (log, offset),
            _ => (&self.file, u64::from(number - 1) * u64::from(self.page_size)),
        };
        let mut bytes = file.bytes(offset, self.page_size.into())?;
        self.still()?;
        bytes.truncate(self.usable());
        Ok(PageBytes { bytes, path: file.path().to_owned(), offset })
    }

    /// Says whether what was read up to now is of this moment: neither file was written to, but at the log's end.
    fn still(&self) -> Result<(), SourceError> {
        let log_is_current = match &self.log {
            Some(log) => self.wal.is_current(log)?,
            None => true,
        };
        if log_is_current && self.file.stamp()? == self.stamp {
            return Ok(());
        }
        let what = "the file was written to while it was read".to_owned();
        Err(SourceError::Changing { path: self.file.path().to_owned(), what })
    }
}

/// A rollback journal with a header means that the file is half of a transaction.
fn refuse_journal(path: &Path) -> Result<(), SourceError> {
    const JOURNAL: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
    let journal = beside(path, "-journal");
    if !is_there(&journal) {
        return Ok(());
    }
    let file = PlainFile::open(&journal)?;
    if file.bytes(0, file.len()?.min(8))? == JOURNAL {
        let what = "a rollback journal that is in use, or must be played back by SQLite first,";
        return Err(SourceError::unsupported(&journal, what));
    }
    Ok(())
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}
