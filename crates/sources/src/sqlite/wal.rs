use std::collections::BTreeMap;

use keyplan_store::source::SourceError;

use crate::number::u32_be;
use crate::plain_file::PlainFile;

const HEADER: u64 = 32;
const FRAME_HEADER: u64 = 24;
const MAGIC: u32 = 0x377f_0682;
const VERSION: u32 = 3_007_000;

/// Which pages a write-ahead log holds, up to its last commit.
///
/// The log is `magic (4) | version (4) | page size (4) | checkpoint (4) | two salts (8) | check (8)`, then frames: `page
/// (4) | pages of the database after a commit, or 0 (4) | two salts (8) | check (8) | bytes of the page`, big-endian. The
/// check of a frame covers everything before it; the lowest bit of the magic says how its words are read.
#[derive(Debug, Default)]
pub(super) struct Wal {
    /// Where in the log the bytes of a page are.
    pub(super) pages: BTreeMap<u32, u64>,
    /// How many pages the database has after the last commit; `None` if nothing was committed.
    pub(super) page_count: Option<u32>,
    salts: [u32; 2],
}

impl Wal {
    /// Reads the frames that belong together.
    pub(super) fn read(file: &PlainFile, page_size: u32) -> Result<Self, SourceError> {
        let len = file.len()?;
        if len < HEADER {
            // A log that was just made, or was emptied.
            return Ok(Self::default());
        }
        let header = file.bytes(0, HEADER)?;
        if header.iter().all(|&byte| byte == 0) {
            return Ok(Self::default());
        }
        let number = |at: usize| u32_be(&header, at).unwrap_or(0);
        let words = match number(0) {
            MAGIC => Words::Little,
            magic if magic == MAGIC | 1 => Words::Big,
            _ => return Err(file.damaged(0, "this is not a write-ahead log of SQLite")),
        };
        if number(4) != VERSION {
            return Err(SourceError::unsupported(
                file.path(),
                format!("a write-ahead log of version {}", number(4)),
            ));
        }
        let mut check = Check { words, sums: [0, 0] };
        check.add(header.get(..24).unwrap_or_default());
        if check.sums != [number(24), number(28)] {
            return Err(file.damaged(24, "the check of the log's header does not match"));
        }
        if number(8) != page_size {
            return Err(file.damaged(
                8,
                format!("pages of {} bytes in the log of a database of {page_size}", number(8)),
            ));
        }
        let wal = Self { salts: [number(16), number(20)], ..Self::default() };
        wal.frames(file, page_size, len, check)
    }

    fn frames(
        mut self,
        file: &PlainFile,
        page_size: u32,
        len: u64,
        mut check: Check,
    ) -> Result<Self, SourceError> {
        let size = FRAME_HEADER + u64::from(page_size);
        let mut open: Vec<(u32, u64)> = Vec::new();
        let mut frame = Vec::new();
        let mut at = HEADER;
        while at + size <= len {
            file.read_into(at, size, &mut frame)?;
            if !self.is_ours(&frame) {
                // What follows is of an earlier round of the log.
                return Ok(self);
            }
            if !check.frame(&frame) {
                return if self.goes_on(file, at, size, len, check)? {
                    Err(file.damaged(at, "the check of a frame does not match, and the log goes on after it"))
                } else {
                    Ok(self)
                };
            }
            let number = |at: usize| u32_be(&frame, at).unwrap_or(0);
            open.push((number(0), at + FRAME_HEADER));
            if number(4) != 0 {
                self.pages.extend(open.drain(..));
                self.page_count = Some(number(4));
            }
            at += size;
        }
        Ok(self)
    }

    fn is_ours(&self, frame: &[u8]) -> bool {
        [u32_be(frame, 8), u32_be(frame, 12)] == self.salts.map(Some)
    }

    /// Whether a frame after the broken one at `at` follows from the check that is written before it: then the broken one
    /// was whole once. A write that was cut off leaves no such frame.
    fn goes_on(
        &self,
        file: &PlainFile,
        at: u64,
        size: u64,
        len: u64,
        mut check: Check,
    ) -> Result<bool, SourceError> {
        let mut frame = file.bytes(at, size)?;
        let mut next = at + size;
        while next + size <= len {
            check.sums = [u32_be(&frame, 16).unwrap_or(0), u32_be(&frame, 20).unwrap_or(0)];
            file.read_into(next, size, &mut frame)?;
            if self.is_ours(&frame) && check.frame(&frame) {
                return Ok(true);
            }
            next += size;
        }
        Ok(false)
    }

    /// Whether the log was started again since.
    pub(super) fn is_current(&self, file: &PlainFile) -> Result<bool, SourceError> {
        if self.page_count.is_none() {
            return Ok(true);
        }
        let header = file.bytes(0, HEADER)?;
        Ok([u32_be(&header, 16), u32_be(&header, 20)] == self.salts.map(Some))
    }
}

#[derive(Clone, Copy, Debug)]
enum Words {
    Little,
    Big,
}

#[derive(Clone, Copy, Debug)]
struct Check {
    words: Words,
    sums: [u32; 2],
}

impl Check {
    /// Goes on over bytes, eight at a time.
    fn add(&mut self, bytes: &[u8]) {
        let [mut first, mut second] = self.sums;
        for pair in bytes.chunks_exact(8) {
            let word = |at: usize| {
                let word = u32_be(pair, at).unwrap_or(0);
                if matches!(self.words, Words::Big) { word } else { word.swap_bytes() }
            };
            first = first.wrapping_add(word(0)).wrapping_add(second);
            second = second.wrapping_add(word(4)).wrapping_add(first);
        }
        self.sums = [first, second];
    }

    /// Goes on over a frame, and says whether the check in it is right.
    fn frame(&mut self, frame: &[u8]) -> bool {
        self.add(frame.get(..8).unwrap_or_default());
        self.add(frame.get(24..).unwrap_or_default());
        self.sums.map(Some) == [u32_be(frame, 16), u32_be(frame, 20)]
    }
}
