//! The binary form of our own dumps.
//!
//! ```text
//! 8a 4b 50 44 0d 0a 1a 01 | fingerprint (16) | number of spaces | their names, each after its length
//! block:  length (4) | rows | xxh3_64 of the rows (8)
//! row:    space | bytes shared with the key before | length of the rest | the rest | length of the value | the value
//! end:    00000000 | number of rows (8)
//! ```
//!
//! A dump is read once when it is opened: every check, the order of the rows and their number. Then it is reached block by
//! block.

use std::path::Path;

use keyplan_store::source::{Source, SourceError};

use crate::chunked::{Chunk, Chunked, Order, ReadChunk, Row};
use crate::number::{u32_be, u64_be, varint};
use crate::plain_file::PlainFile;

const MAGIC: [u8; 8] = [0x8a, b'K', b'P', b'D', b'\r', b'\n', 0x1a, 1];
/// Where the number of spaces is.
const SPACES: u64 = 24;
/// The most spaces, and the longest name of one, that are read.
const MAX_SPACES: u64 = 4096;
const MAX_NAME: u64 = 1024;
/// The most that a block may have: a row is never divided.
const MAX_BLOCK: u64 = 1 << 30;
/// How much memory a dump may take that is not in order, and a block of any: keys that share their beginning are shorter
/// in the file than they are.
const MAX_UNSORTED: u64 = 256 << 20;
const MAX_ROWS: usize = 256 << 20;
/// The most blocks that are found again: at the size that they are written in, a terabyte.
const MAX_BLOCKS: usize = 4 << 20;

/// Whether a file is such a dump, of whatever version.
pub fn fits(path: &Path) -> bool {
    let mut head = [0; 8];
    path.is_file()
        && PlainFile::open(path).is_ok_and(|file| file.read_at(0, &mut head).is_ok())
        && head.starts_with(&MAGIC[..7])
}

/// Opens a dump.
pub fn open(path: &Path) -> Result<Box<dyn Source>, SourceError> {
    let file = PlainFile::open(path)?;
    let magic = file.bytes(0, 8)?;
    if magic != MAGIC {
        let what = format!("a dump of version {}", magic.last().copied().unwrap_or(0));
        return Err(SourceError::unsupported(path, what));
    }
    let (names, mut at) = names(&file)?;
    let mut order = Order::new();
    let mut index = Vec::new();
    let mut all = 0_u64;
    let mut bytes = 0_u64;
    loop {
        let len = u64::from(u32_be(&file.bytes(at, 4)?, 0).unwrap_or(0));
        if len == 0 {
            let claimed = u64_be(&file.bytes(at + 4, 8)?, 0).unwrap_or(0);
            if claimed != all {
                return Err(file.damaged(at + 4, format!("{claimed} rows are claimed, and there are {all}")));
            }
            break;
        }
        if len > MAX_BLOCK {
            return Err(file.damaged(at, format!("a block of {len} bytes")));
        }
        let rows = block(&file, at, len, names.len())?;
        for row in &rows {
            order.note(row);
        }
        if let Some((space, key, _)) = rows.first() {
            if index.len() >= MAX_BLOCKS {
                return Err(file.damaged(at, format!("more than {MAX_BLOCKS} blocks")));
            }
            index.push(Chunk { first: (*space, key.clone()), offset: at, len });
        }
        all += u64::try_from(rows.len()).unwrap_or(u64::MAX);
        bytes += len;
        at += 4 + len + 8;
    }
    let reader = Blocks { spaces: names.len(), file };
    if order.is_kept {
        return Ok(Box::new(Chunked::new("dump", names, &order, index, Box::new(reader))));
    }
    if bytes > MAX_UNSORTED {
        return Err(SourceError::unsupported(path, format!("a dump of {bytes} bytes that is not in order")));
    }
    let mut rows = Vec::new();
    for chunk in &index {
        rows.extend(reader.rows(chunk)?);
    }
    Ok(Box::new(Chunked::in_memory("dump", names, rows)))
}

/// The names of the spaces, and where the blocks begin.
fn names(file: &PlainFile) -> Result<(Vec<String>, u64), SourceError> {
    let most = SPACES + 10 + MAX_SPACES * (MAX_NAME + 10);
    let head = file.bytes(0, file.len()?.min(most))?;
    let at = |rest: &[u8]| u64::try_from(head.len() - rest.len()).unwrap_or(0);
    let start = usize::try_from(SPACES).ok().and_then(|start| head.get(start..));
    let mut rest = start.ok_or_else(|| file.damaged(8, "the dump is cut off"))?;
    let number = |rest: &mut &[u8], what: &str, most: u64| {
        let place = at(rest);
        let Some((number, after)) = varint(rest).map(|(number, after)| (number, after.len())) else {
            return Err(file.damaged(place, "a number is cut off"));
        };
        *rest = rest.get(rest.len() - after..).unwrap_or_default();
        if number > most { Err(file.damaged(place, format!("{number} {what}"))) } else { Ok(number) }
    };
    let mut names = Vec::new();
    for _ in 0..number(&mut rest, "spaces", MAX_SPACES)? {
        let len = number(&mut rest, "bytes of a name", MAX_NAME)?;
        let cut = usize::try_from(len).ok().and_then(|len| rest.split_at_checked(len));
        let (name, after) = cut.ok_or_else(|| file.damaged(at(rest), "a name is cut off"))?;
        let name =
            std::str::from_utf8(name).map_err(|_| file.damaged(at(rest), "a name that is not text"))?;
        names.push(name.to_owned());
        rest = after;
    }
    Ok((names, at(rest)))
}

/// The blocks of a dump.
#[derive(Debug)]
struct Blocks {
    file: PlainFile,
    spaces: usize,
}

impl ReadChunk for Blocks {
    fn rows(&self, chunk: &Chunk) -> Result<Vec<Row>, SourceError> {
        block(&self.file, chunk.offset, chunk.len, self.spaces)
    }
}

/// The rows of the block at an offset.
fn block(file: &PlainFile, at: u64, len: u64, spaces: usize) -> Result<Vec<Row>, SourceError> {
    let bytes = file.bytes(at + 4, len)?;
    let check = u64_be(&file.bytes(at + 4 + len, 8)?, 0);
    if check != Some(xxhash_rust::xxh3::xxh3_64(&bytes)) {
        return Err(file.damaged(at, "the check of the block does not match"));
    }
    let mut rows: Vec<Row> = Vec::new();
    let mut rest = bytes.as_slice();
    let mut key = Vec::new();
    let mut taken = 0_usize;
    while !rest.is_empty() {
        let offset = at + 4 + len - u64::try_from(rest.len()).unwrap_or(0);
        let row = row(&mut rest, &mut key).ok_or_else(|| file.damaged(offset, "a row is malformed"))?;
        if usize::try_from(row.0).map_or(true, |space| space >= spaces) {
            return Err(file.damaged(offset, format!("a row of space {}", row.0)));
        }
        // A row by itself may be as long as its block; its value is in the file as it is.
        taken = taken.saturating_add(row.1.len()).saturating_add(size_of::<Row>());
        if taken > MAX_ROWS {
            return Err(file.damaged(offset, format!("the rows of a block take more than {MAX_ROWS} bytes")));
        }
        rows.push(row);
    }
    Ok(rows)
}

fn row(rest: &mut &[u8], key: &mut Vec<u8>) -> Option<Row> {
    let mut number = || {
        let (number, after) = varint(rest)?;
        *rest = after;
        usize::try_from(number).ok()
    };
    let space = u32::try_from(number()?).ok()?;
    let shared = number()?;
    let own = number()?;
    let (own, after) = rest.split_at_checked(own)?;
    if shared > key.len() {
        return None;
    }
    key.truncate(shared);
    key.extend_from_slice(own);
    let (len, after) = varint(after)?;
    let (value, after) = after.split_at_checked(usize::try_from(len).ok()?)?;
    *rest = after;
    Some((space, key.clone(), value.to_vec()))
}
