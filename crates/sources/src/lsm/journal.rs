//! The format of logs and manifests: records in pieces, in blocks of 32 KiB.
//!
//! ```text
//! masked CRC-32C (4) | length (2) | kind (1) | bytes           kinds 1 whole, 2 first, 3 middle, 4 last
//! masked CRC-32C (4) | length (2) | kind (1) | log (4) | bytes     kinds 5 to 8: the same, in a file that was used before
//! ```
//!
//! A crash leaves a record that the end of the file cuts off: the log ends before it. A file that was used before goes on
//! with the bytes of its earlier life, so there a piece of another log, or bytes that are not a piece, end the log as well; but
//! only if nothing shows that the piece was one of this log. Everything else that does not fit is damage.

use std::ops::Range;
use std::path::Path;

use keyplan_store::source::SourceError;

use super::bytes::{Bytes, wide};
use super::checksum::masked;
use super::files::{self, LogFile};

/// The records of a log. One block of it is in memory at a time, and one record.
#[derive(Debug)]
pub(crate) struct Journal<'f> {
    path: &'f Path,
    input: Input<'f>,
    /// The block that was read last, and its number.
    block: Vec<u8>,
    number_of_block: Option<usize>,
    /// The low half of the log's own number; a manifest has none.
    number: Option<u32>,
    at: usize,
    record: Vec<u8>,
    /// Whether pieces with a log's number were seen: the file may have been used before.
    recycled: bool,
    /// Whether any piece had a number, be it that of another log.
    numbered: bool,
    end: Option<End>,
}

/// Where the bytes of a log are.
#[derive(Clone, Copy, Debug)]
enum Input<'f> {
    #[cfg(test)]
    Memory(&'f [u8]),
    File(&'f LogFile),
}

impl Input<'_> {
    fn len(self) -> usize {
        match self {
            #[cfg(test)]
            Self::Memory(bytes) => bytes.len(),
            Self::File(file) => file.length,
        }
    }

    /// Reads a block; it is empty beyond the end.
    fn block(self, path: &Path, number: usize, into: &mut Vec<u8>) -> Result<(), SourceError> {
        let start = number.saturating_mul(BLOCK).min(self.len());
        let end = start.saturating_add(BLOCK).min(self.len());
        match self {
            #[cfg(test)]
            Self::Memory(bytes) => {
                into.clear();
                into.extend_from_slice(bytes.get(start..end).unwrap_or_default());
                Ok(())
            }
            Self::File(file) => files::read_at(&file.file, path, wide(start), end - start, into),
        }
    }
}

/// How a log ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// With its last record.
    Whole,
    /// In the middle of a record, which is lost.
    Torn,
}

const BLOCK: usize = 32 * 1024;
const HEADER: usize = 7;

/// The most bytes of one record.
const MAX_RECORD: usize = 1024 * 1024 * 1024;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Whole,
    First,
    Middle,
    Last,
}

struct Piece {
    part: Part,
    /// Where in its block the bytes are.
    body: Range<usize>,
    next: usize,
}

enum Read {
    Piece(Piece),
    /// Nothing of use here: go on at this place.
    Skip(usize),
    End(End),
}

impl<'f> Journal<'f> {
    /// The records of the log `number`.
    pub(crate) const fn log(path: &'f Path, file: &'f LogFile, number: u64) -> Self {
        Self::new(path, Input::File(file), Some(number))
    }

    /// The records of a manifest.
    pub(crate) const fn manifest(path: &'f Path, file: &'f LogFile) -> Self {
        Self::new(path, Input::File(file), None)
    }

    const fn new(path: &'f Path, input: Input<'f>, number: Option<u64>) -> Self {
        let number = match number {
            #[expect(clippy::cast_possible_truncation, reason = "pieces hold the low half of the number")]
            Some(number) => Some(number as u32),
            None => None,
        };
        Self {
            path,
            input,
            block: Vec::new(),
            number_of_block: None,
            number,
            at: 0,
            record: Vec::new(),
            recycled: false,
            numbered: false,
            end: None,
        }
    }

    /// Goes on at a place where a record ended before.
    pub(crate) const fn from(mut self, at: usize) -> Self {
        self.at = at;
        self
    }

    /// Where the record after the last one begins.
    pub(crate) const fn place(&self) -> usize {
        self.at
    }

    /// Whether the engine uses files of logs more than once: its pieces have numbers.
    pub(crate) const fn may_be_used_again(&self) -> bool {
        self.numbered
    }

    /// How the log ended, once it has.
    pub(crate) const fn end(&self) -> Option<End> {
        self.end
    }

    /// The next record and where its first piece lies; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<(u64, &[u8])>, SourceError> {
        if self.end.is_some() {
            return Ok(None);
        }
        self.record.clear();
        let mut start = None;
        loop {
            let at = self.at;
            match self.read(at)? {
                Read::Skip(next) => self.at = next,
                Read::End(end) => {
                    let torn = start.is_some() || end == End::Torn;
                    self.end = Some(if torn { End::Torn } else { End::Whole });
                    return Ok(None);
                }
                Read::Piece(piece) => {
                    self.at = piece.next;
                    let first = matches!(piece.part, Part::Whole | Part::First);
                    if first == start.is_some() {
                        return Err(
                            self.damaged(at, "a piece of a record without the one before or after it")
                        );
                    }
                    let begun = *start.get_or_insert(at);
                    let body = self.block.get(piece.body).unwrap_or_default();
                    if self.record.len() + body.len() > MAX_RECORD {
                        return Err(self.damaged(begun, "a record of more than 1 GiB"));
                    }
                    self.record.extend_from_slice(body);
                    if matches!(piece.part, Part::Whole | Part::Last) {
                        return Ok(Some((wide(begun), &self.record)));
                    }
                }
            }
        }
    }

    fn read(&mut self, at: usize) -> Result<Read, SourceError> {
        let number = at / BLOCK;
        if self.number_of_block != Some(number) {
            self.number_of_block = None;
            self.input.block(self.path, number, &mut self.block)?;
            self.number_of_block = Some(number);
        }
        let block = std::mem::take(&mut self.block);
        let read = self.read_in(at, block.get(at % BLOCK..).unwrap_or_default());
        self.block = block;
        read
    }

    /// Reads what is at `at`; `rest` is what its block holds from there on.
    fn read_in(&mut self, at: usize, rest: &[u8]) -> Result<Read, SourceError> {
        let block_end = (at / BLOCK + 1) * BLOCK;
        if block_end - at < HEADER {
            return Ok(Read::Skip(block_end));
        }
        if rest.is_empty() {
            return Ok(Read::End(End::Whole));
        }
        let Some(header) = Header::of(rest) else {
            // Fewer bytes than a header: the file ends here, or its last block does.
            let zeros = rest.iter().all(|&byte| byte == 0);
            return Ok(Read::End(if zeros { End::Whole } else { End::Torn }));
        };
        if header.kind == 0 && header.length == 0 {
            return Ok(Read::Skip(block_end));
        }
        if header.is_synced(rest) {
            return Err(SourceError::unsupported(
                self.path,
                "a log of Pebble 2 (its pieces say what is synced)",
            ));
        }
        self.numbered |= header.number.is_some();
        match header.check(rest) {
            Check::Good => self.good(at, &header, block_end),
            Check::CutOff if rest.len() < block_end - at && header.may_be_cut(block_end - at) => {
                self.cut_off(at, &header, rest)
            }
            Check::CutOff | Check::Bad => self.bad(at, &header, rest),
        }
    }

    fn good(&mut self, at: usize, header: &Header, block_end: usize) -> Result<Read, SourceError> {
        let start = at % BLOCK + header.size();
        let body = start..start + header.length;
        let next = at + header.size() + header.length;
        if let Some(number) = header.number {
            if self.number.is_some_and(|own| own != number) {
                // A whole piece of an earlier log: what follows is of its time.
                return self.foreign(at);
            }
            self.recycled = true;
        } else if self.recycled && header.kind <= 4 {
            return self.foreign(at);
        }
        let part = match header.kind {
            1 | 5 => Part::Whole,
            2 | 6 => Part::First,
            3 | 7 => Part::Middle,
            4 | 8 => Part::Last,
            9 => return Err(SourceError::unsupported(self.path, "compression of the log")),
            10 | 11 => return Err(SourceError::unsupported(self.path, "user-defined timestamps")),
            kind if kind >= 0x80 => return Ok(Read::Skip(if next >= block_end { block_end } else { next })),
            kind => return Err(SourceError::unsupported(self.path, format!("a log record of kind {kind}"))),
        };
        Ok(Read::Piece(Piece { part, body, next }))
    }

    /// The file ends within the piece.
    fn cut_off(&self, at: usize, header: &Header, rest: &[u8]) -> Result<Read, SourceError> {
        if self.fits_changed(header, rest) {
            return Err(self.damaged(at, "the header of a record does not fit its check"));
        }
        // What a crash cuts off is the end: nothing whole comes after it.
        if self.resumes(at + 1)? {
            return Err(self.damaged(at, "a record whose header is broken, and records after it"));
        }
        Ok(Read::End(End::Torn))
    }

    /// The piece does not fit its check.
    fn bad(&self, at: usize, header: &Header, rest: &[u8]) -> Result<Read, SourceError> {
        let may_end = self.number.is_some() && (self.recycled || header.number.is_some());
        if !may_end || self.is_ours(header, rest) {
            return Err(self.damaged(at, "a record that does not fit its check"));
        }
        self.foreign(at)
    }

    /// Ends the log at bytes of an earlier life of the file, if no piece of this log comes later.
    fn foreign(&self, at: usize) -> Result<Read, SourceError> {
        if self.resumes(at + 1)? {
            return Err(self.damaged(at, "bytes that are not a record, and records after them"));
        }
        Ok(Read::End(End::Whole))
    }

    /// Whether a whole piece of this log lies anywhere from `at` on; in a file that was used before, one with its number.
    fn resumes(&self, at: usize) -> Result<bool, SourceError> {
        let mut block = Vec::new();
        for number in at / BLOCK..self.input.len().div_ceil(BLOCK) {
            self.input.block(self.path, number, &mut block)?;
            let first = if number == at / BLOCK { at % BLOCK } else { 0 };
            for start in first..block.len().saturating_sub(HEADER) {
                let rest = block.get(start..).unwrap_or_default();
                let Some(header) = Header::of(rest) else { break };
                let ours = match (header.kind, header.number) {
                    (1..=4, _) => !self.recycled,
                    (5..=8, Some(number)) => self.number.is_none_or(|own| own == number),
                    _ => false,
                };
                if ours && header.length > 0 && header.check(rest) == Check::Good {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Whether a piece that does not fit its check was one of this log, with something changed in it.
    fn is_ours(&self, header: &Header, rest: &[u8]) -> bool {
        self.number.is_none() || header.number == self.number || self.fits_changed(header, rest)
    }

    /// Whether a piece fits its check with the log's own number, or with another kind or length.
    fn fits_changed(&self, header: &Header, rest: &[u8]) -> bool {
        let bare = (1..=4).map(|kind| Header { kind, number: None, ..*header });
        let numbered = (5..=8).map(|kind| Header { kind, number: self.number, ..*header });
        let mut forms: Vec<Header> = numbered.filter(|_| self.number.is_some()).collect();
        if !self.recycled {
            forms.extend(bare);
        }
        forms.iter().any(|form| form.check(rest) == Check::Good || form.length_was_changed(rest))
    }

    fn damaged(&self, at: usize, what: &str) -> SourceError {
        SourceError::damaged(self.path, wide(at), what)
    }
}

#[derive(Clone, Copy)]
struct Header {
    check: u32,
    length: usize,
    kind: u8,
    number: Option<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Check {
    Good,
    Bad,
    CutOff,
}

impl Header {
    fn of(bytes: &[u8]) -> Option<Self> {
        let mut bytes = Bytes::new(bytes);
        let check = bytes.fixed32()?;
        let length = usize::from(bytes.byte()?) | usize::from(bytes.byte()?) << 8;
        let kind = bytes.byte()?;
        let number = if matches!(kind, 5..=8 | 11 | 131) { Some(bytes.fixed32()?) } else { None };
        Some(Self { check, length, kind, number })
    }

    const fn size(&self) -> usize {
        if self.number.is_some() { HEADER + 4 } else { HEADER }
    }

    /// The CRC over what comes before the bytes.
    fn begun(&self) -> u32 {
        let crc = crc32c::crc32c(&[self.kind]);
        self.number.map_or(crc, |number| crc32c::crc32c_append(crc, &bytes_of(number)))
    }

    fn check(&self, rest: &[u8]) -> Check {
        let Some(body) = rest.get(self.size()..).and_then(|body| body.get(..self.length)) else {
            return Check::CutOff;
        };
        if masked(crc32c::crc32c_append(self.begun(), body)) == self.check { Check::Good } else { Check::Bad }
    }

    /// Whether it can be a piece that the end of a file cuts off: a kind that exists, and a length that fits into its block, of
    /// which so many bytes are left.
    const fn may_be_cut(&self, left: usize) -> bool {
        matches!(self.kind, 1..=12 | 0x80..=0x83) && self.size() + self.length <= left
    }

    /// Whether it is a piece of Pebble 2, which also says up to where the log was synced:
    /// `check (4) | length (2) | kind 9 to 12 (1) | log (4) | synced (8) | bytes`.
    fn is_synced(&self, rest: &[u8]) -> bool {
        let body = rest.get(HEADER..).and_then(|body| body.get(..12 + self.length));
        let crc = crc32c::crc32c(&[self.kind]);
        matches!(self.kind, 9..=12)
            && body.is_some_and(|body| masked(crc32c::crc32c_append(crc, body)) == self.check)
    }

    /// Whether the piece fits its check with another length.
    fn length_was_changed(&self, rest: &[u8]) -> bool {
        let mut crc = self.begun();
        if masked(crc) == self.check {
            return true;
        }
        for &byte in rest.get(self.size()..).unwrap_or_default() {
            crc = crc32c::crc32c_append(crc, &[byte]);
            if masked(crc) == self.check {
                return true;
            }
        }
        false
    }
}

fn bytes_of(number: u32) -> [u8; 4] {
    let mut bytes = number.to_be_bytes();
    bytes.reverse();
    bytes
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A piece as the engines write it.
    pub(crate) fn piece(kind: u8, number: Option<u32>, body: &[u8]) -> Vec<u8> {
        let header = Header { check: 0, length: body.len(), kind, number };
        let check = masked(crc32c::crc32c_append(header.begun(), body));
        let length = u16::try_from(body.len()).expect("short").to_be_bytes();
        let mut out = bytes_of(check).to_vec();
        out.extend([length[1], length[0], kind]);
        out.extend(number.map(bytes_of).into_iter().flatten());
        out.extend(body);
        out
    }

    fn all(bytes: &[u8], number: Option<u64>) -> Result<(Vec<Vec<u8>>, End), String> {
        let path = Path::new("000007.log");
        let mut journal = Journal::new(path, Input::Memory(bytes), number);
        let mut out = Vec::new();
        while let Some((_, record)) = journal.next().map_err(|error| error.to_string())? {
            out.push(record.to_vec());
        }
        Ok((out, journal.end().expect("ended")))
    }

    #[test]
    fn records_in_pieces_are_joined() {
        let long = vec![9; BLOCK];
        let mut file = piece(1, None, b"one");
        let room = BLOCK - file.len() - HEADER;
        file.extend(piece(2, None, &long[..room]));
        file.extend(piece(4, None, &long[room..]));
        assert_eq!(all(&file, None), Ok((vec![b"one".to_vec(), long], End::Whole)));
    }

    #[test]
    fn a_record_that_the_end_of_the_file_cuts_off_is_not_there() {
        let mut file = piece(1, None, b"one");
        file.extend(piece(1, None, b"two"));
        for length in 11..file.len() {
            assert_eq!(all(&file[..length], None), Ok((vec![b"one".to_vec()], End::Torn)), "{length} bytes");
        }
    }

    #[test]
    fn every_flipped_bit_is_found() {
        for number in [None, Some(7_u32)] {
            let kind = if number.is_some() { 5 } else { 1 };
            let mut file = piece(kind, number, b"first record");
            file.extend(piece(kind, number, b"last"));
            let good = all(&file, Some(7)).expect("reads");
            for bit in 0..file.len() * 8 {
                let mut flipped = file.clone();
                flipped[bit / 8] ^= 1 << (bit % 8);
                let read = all(&flipped, Some(7));
                assert!(read.is_err(), "bit {bit} gave {read:?} for {good:?}");
            }
        }
    }

    #[test]
    fn a_used_file_ends_at_its_earlier_life() {
        let mut file = piece(5, Some(7), b"new");
        let end = file.len();
        file.extend(piece(5, Some(3), b"old"));
        assert_eq!(all(&file, Some(7)), Ok((vec![b"new".to_vec()], End::Whole)));
        file.truncate(end);
        file.extend(&piece(5, Some(3), b"an older one")[5..]);
        assert_eq!(all(&file, Some(7)), Ok((vec![b"new".to_vec()], End::Whole)));
    }

    #[test]
    fn pieces_of_pebble_2_are_named() {
        // Log number 7 and a synced offset of 8 bytes are before the bytes, and not in the length.
        let mut file = piece(9, None, &[&[7, 0, 0, 0], &[0; 8][..], b"row"].concat());
        file[4] -= 12;
        let refused = "000007.log: a log of Pebble 2 (its pieces say what is synced) is not supported";
        assert_eq!(all(&file, Some(7)), Err(refused.to_owned()));
    }

    #[test]
    fn zeros_are_skipped_to_the_end_of_the_block() {
        let mut file = piece(1, None, b"one");
        file.resize(BLOCK, 0);
        file.extend(piece(1, None, b"two"));
        assert_eq!(all(&file, None), Ok((vec![b"one".to_vec(), b"two".to_vec()], End::Whole)));
    }
}
