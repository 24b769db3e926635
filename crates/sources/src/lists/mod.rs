//! Rows in text: JSON lines, the state of a contract as one JSON document, or a list of keys.
//!
//! | form | what it is |
//! | --- | --- |
//! | `{"space": …, "key": …, "value": …}` per line | what `keyplan db dump --raw` prints; `store` is another word for `space`, `base64` another for a value in base64 |
//! | `{"models": [{"key": …, "value": …}]}` | `contract-state all` of wasmd: keys in hex, values in base64; also an array of such objects, or one under `contract_state` |
//! | one key per line | rows without values |
//!
//! Keys and values are in hex if all of them can be read so, and else in base64. Rows that are in order are reached
//! through an index; others are sorted in memory, up to a limit.

mod document;
mod line;

use std::collections::BTreeMap;
use std::io::{self, BufRead as _, BufReader, Read};
use std::path::Path;

use keyplan_store::source::{Source, SourceError};

use crate::chunked::{Chunk, Chunked, Order, ReadChunk, Row};
use crate::plain_file::PlainFile;
use line::{Digits, Line};

/// What the space of rows is called that name none.
pub const SPACE: &str = "default";
/// How many lines are a chunk, and after how many bytes one ends that has fewer: a chunk is read as a whole.
const LINES: u64 = 512;
const CHUNK: u64 = 1 << 20;
/// How long a line may be.
const MAX_LINE: u64 = 64 << 20;
/// How much memory rows may take that are not in order, and how long a document may be.
const MAX_IN_MEMORY: u64 = 256 << 20;
/// How many spaces rows may name.
const MAX_SPACES: usize = 1 << 16;
/// How much of a file is looked at to see whether it is text.
const LOOKED_AT: u64 = 4096;

/// Whether a file is text of one of these forms.
pub fn fits(path: &Path) -> bool {
    let Ok(file) = (if path.is_file() { PlainFile::open(path) } else { return false }) else { return false };
    let Ok(head) = file.len().and_then(|len| file.bytes(0, len.min(LOOKED_AT))) else { return false };
    let is_text =
        !head.is_empty() && head.iter().all(|byte| matches!(byte, b'\t' | b'\n' | b'\r' | b' '..=b'~'));
    let first = head.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii).find(|line| !line.is_empty());
    let is_key =
        |line: &[u8]| line.iter().all(|byte| byte.is_ascii_alphanumeric() || b"+/=-_".contains(byte));
    is_text && first.is_some_and(|line| line.starts_with(b"{") || line.starts_with(b"[") || is_key(line))
}

/// Opens a file of rows.
pub fn open(path: &Path) -> Result<Box<dyn Source>, SourceError> {
    read(PlainFile::open(path)?)
}

/// Reads rows from a stream, such as standard input, into a file without a name.
pub fn open_stream(mut stream: impl Read) -> Result<Box<dyn Source>, SourceError> {
    let name = Path::new("standard input");
    let failed = |error: io::Error| SourceError::io(name, error);
    let mut file = tempfile::tempfile().map_err(failed)?;
    io::copy(&mut stream, &mut file).map_err(failed)?;
    read(PlainFile::of(name, file))
}

fn read(file: PlainFile) -> Result<Box<dyn Source>, SourceError> {
    let mut survey = Survey::default();
    let mut has_document = false;
    each_line(&file, |offset, text| {
        let Some(line) = Line::parse(text) else {
            // A document may be spread over lines; if it is none, it says so itself.
            if survey.lines == 0 && (text.starts_with(b"{") || text.starts_with(b"[")) {
                has_document = true;
                return Ok(false);
            }
            return Err(file.damaged(offset, "this line is neither a row nor a key"));
        };
        survey.note(&file, offset, &line)?;
        Ok(true)
    })?;
    if has_document {
        return document::read(&file);
    }
    let Survey { names, numbers, keys, values, .. } = survey;
    let lines = Lines { file, numbers, keys, values };
    let mut order = Order::new();
    let mut index: Vec<Chunk> = Vec::new();
    let mut count = 0;
    let end = each_line(&lines.file, |offset, text| {
        let row = lines.row(offset, text)?;
        if index.last().is_none_or(|chunk| count == LINES || offset - chunk.offset >= CHUNK) {
            index.push(Chunk { first: (row.0, row.1.clone()), offset, len: 0 });
            count = 0;
        }
        count += 1;
        order.note(&row);
        Ok(true)
    })?;
    let ends: Vec<u64> = index.iter().skip(1).map(|chunk| chunk.offset).chain([end]).collect();
    for (chunk, end) in index.iter_mut().zip(ends) {
        chunk.len = end - chunk.offset;
    }
    if order.is_kept {
        return Ok(Box::new(Chunked::new("list", names, &order, index, Box::new(lines))));
    }
    let bytes = lines.file.len()?;
    if bytes > MAX_IN_MEMORY {
        let what = format!("a list of {bytes} bytes that is not in the order of its keys");
        return Err(SourceError::unsupported(lines.file.path(), what));
    }
    let mut rows = Vec::new();
    for chunk in &index {
        rows.extend(lines.rows(chunk)?);
    }
    Ok(Box::new(Chunked::in_memory("list", names, rows)))
}

/// What the lines of a file have in common.
#[derive(Debug)]
struct Survey {
    lines: u64,
    names: Vec<String>,
    /// The number of each name.
    numbers: BTreeMap<String, u32>,
    keys: Digits,
    values: Digits,
}

impl Default for Survey {
    fn default() -> Self {
        let (names, numbers) = (Vec::new(), BTreeMap::new());
        Self { lines: 0, names, numbers, keys: Digits::Hex, values: Digits::Hex }
    }
}

impl Survey {
    fn note(&mut self, file: &PlainFile, offset: u64, line: &Line) -> Result<(), SourceError> {
        self.lines += 1;
        let name = line.space.as_deref().unwrap_or(SPACE);
        if !self.numbers.contains_key(name) {
            if self.names.len() >= MAX_SPACES {
                return Err(file.damaged(offset, format!("more than {MAX_SPACES} spaces")));
            }
            let number = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
            self.numbers.insert(name.to_owned(), number);
            self.names.push(name.to_owned());
        }
        self.keys = self.keys.fitting(&line.key);
        if self.keys == Digits::Base64 && !line::is_bytes(&line.key) {
            return Err(file.damaged(offset, "a key that is neither hex nor base64"));
        }
        if let Some(value) = &line.value {
            self.values = self.values.fitting(value);
        }
        Ok(())
    }
}

/// The lines of a file.
#[derive(Debug)]
struct Lines {
    file: PlainFile,
    numbers: BTreeMap<String, u32>,
    keys: Digits,
    values: Digits,
}

impl Lines {
    fn row(&self, offset: u64, text: &[u8]) -> Result<Row, SourceError> {
        let damaged = |what: &str| self.file.damaged(offset, what);
        let line = Line::parse(text).ok_or_else(|| damaged("this line is neither a row nor a key"))?;
        let name = line.space.as_deref().unwrap_or(SPACE);
        // The names were noted before: another one means that the file has changed since.
        let space = self.numbers.get(name).copied();
        let space = space.ok_or_else(|| damaged("a space that was not named before"))?;
        let key =
            self.keys.decode(&line.key).ok_or_else(|| damaged("a key that is neither hex nor base64"))?;
        let value = match (&line.value, &line.base64) {
            (Some(value), _) => self.values.decode(value),
            (None, Some(value)) => Digits::Base64.decode(value),
            (None, None) => Some(Vec::new()),
        };
        let value = value.ok_or_else(|| damaged("a value that is neither hex nor base64"))?;
        Ok((space, key, value))
    }
}

impl ReadChunk for Lines {
    fn rows(&self, chunk: &Chunk) -> Result<Vec<Row>, SourceError> {
        let bytes = self.file.bytes(chunk.offset, chunk.len)?;
        let mut rows = Vec::new();
        let mut at = chunk.offset;
        for line in bytes.split_inclusive(|&byte| byte == b'\n') {
            let text = line.trim_ascii();
            if !text.is_empty() {
                rows.push(self.row(at, text)?);
            }
            at += u64::try_from(line.len()).unwrap_or(0);
        }
        Ok(rows)
    }
}

/// Hands on each line that is not empty, with its offset, until one says that it is enough; returns where it ended.
fn each_line(
    file: &PlainFile,
    mut each: impl FnMut(u64, &[u8]) -> Result<bool, SourceError>,
) -> Result<u64, SourceError> {
    let mut reader = BufReader::with_capacity(1 << 16, file.reader());
    let mut line = Vec::new();
    let mut at = 0_u64;
    loop {
        line.clear();
        let read = reader.by_ref().take(MAX_LINE).read_until(b'\n', &mut line);
        let read =
            u64::try_from(read.map_err(|error| SourceError::io(file.path(), error))?).unwrap_or(u64::MAX);
        if read == 0 {
            return Ok(at);
        }
        if read >= MAX_LINE && line.last() != Some(&b'\n') {
            return Err(file.damaged(at, format!("a line of more than {MAX_LINE} bytes")));
        }
        let text = line.trim_ascii();
        if !text.is_empty() && !each(at, text)? {
            return Ok(at);
        }
        at += read;
    }
}
