use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use keyplan_store::source::SourceError;

use super::entry::{Entry, EntryValue, Pointer, VersionedKey};
use crate::number::{u32_be, u64_be, varint};
use crate::plain_file::{self, PlainFile};

/// `number of the key that encrypts it, or 0 (8) | start value (12)`
const HEADER: u64 = 20;
const TRANSACTION: u8 = 0x40;
const END_OF_TRANSACTION: u8 = 0x80;
/// A key and its version fit into two bytes of length.
const MAX_KEY: u64 = 1 << 16;
/// The longest head of a record: two bytes and three varints.
const MAX_HEAD: u64 = 22;
/// How many files are open at once.
const MAX_OPEN: usize = 16;

/// The value logs of a database.
///
/// A record is `meta (1) | user meta (1) | key length | value length | expiry | key and version | value | crc32c (4)`.
#[derive(Debug)]
pub(super) struct ValueLogs {
    directory: PathBuf,
    open: Mutex<BTreeMap<u32, Arc<PlainFile>>>,
}

/// A record, and where its parts are.
struct Record {
    meta: u8,
    expires: u64,
    key: Vec<u8>,
    value: Vec<u8>,
    len: u64,
}

/// What lies at a place of a log.
enum Found {
    Record(Record),
    /// Nothing more: the end of the file, or a record that was being written.
    End,
}

impl ValueLogs {
    pub(super) fn new(directory: &Path) -> Self {
        Self { directory: directory.to_owned(), open: Mutex::default() }
    }

    /// Reads the value of a record; `None` if its file is gone, as it is after its values were moved.
    pub(super) fn value(&self, pointer: Pointer, key: &VersionedKey) -> Result<Option<Vec<u8>>, SourceError> {
        let Some(file) = self.file(pointer.file)? else { return Ok(None) };
        let offset = u64::from(pointer.offset);
        let bytes = file.bytes(offset, pointer.len.into())?;
        let record = parse(&bytes).ok_or_else(|| file.damaged(offset, "a record is damaged"))?;
        let found = VersionedKey::read(&record.key);
        if record.len != bytes.len() as u64 || found.as_ref() != Some(key) {
            return Err(file.damaged(offset, "a record is of another key"));
        }
        Ok(Some(record.value))
    }

    fn file(&self, number: u32) -> Result<Option<Arc<PlainFile>>, SourceError> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = open.get(&number) {
            return Ok(Some(file.clone()));
        }
        let path = self.directory.join(format!("{number:06}.vlog"));
        if !plain_file::is_there(&path) {
            return Ok(None);
        }
        let file = Arc::new(PlainFile::open(&path)?);
        if file.len()? >= HEADER && u64_be(&file.bytes(0, 8)?, 0) != Some(0) {
            return Err(SourceError::unsupported(&path, "Badger with encryption"));
        }
        if open.len() >= MAX_OPEN {
            open.clear();
        }
        open.insert(number, file.clone());
        Ok(Some(file))
    }

    /// The numbers of the logs there are.
    fn numbers(&self) -> Result<Vec<u32>, SourceError> {
        let names = plain_file::names(&self.directory)?;
        let number = |name: &String| name.strip_suffix(".vlog")?.parse().ok();
        let mut numbers: Vec<u32> = names.iter().filter_map(number).collect();
        numbers.sort_unstable();
        Ok(numbers)
    }

    /// Hands on what was committed after `head`, in order: what no table holds yet.
    pub(super) fn replay(
        &self,
        head: Option<Pointer>,
        mut put: impl FnMut(Entry),
    ) -> Result<(), SourceError> {
        let numbers = self.numbers()?;
        let last = numbers.last().copied();
        for number in numbers.into_iter().filter(|&number| head.is_none_or(|head| number >= head.file)) {
            let start = match head {
                Some(head) if head.file == number => u64::from(head.offset) + u64::from(head.len),
                _ => 0,
            };
            let Some(file) = self.file(number)? else { continue };
            replay_one(&file, number, start.max(HEADER), last == Some(number), &mut put)?;
        }
        Ok(())
    }
}

fn replay_one(
    file: &PlainFile,
    number: u32,
    start: u64,
    is_last: bool,
    put: &mut impl FnMut(Entry),
) -> Result<(), SourceError> {
    let mut pending: Vec<Entry> = Vec::new();
    let mut at = start;
    while let Found::Record(record) = next(file, at, is_last)? {
        let damaged = || file.damaged(at, "a record does not belong to the transaction before it");
        let version = VersionedKey::read(&record.key).ok_or_else(damaged)?;
        let (Ok(len), Ok(offset)) = (u32::try_from(record.len), u32::try_from(at)) else {
            return Err(file.damaged(at, "a record after the first 4 GiB"));
        };
        let value = EntryValue::Log(Pointer { file: number, len, offset });
        if record.meta & END_OF_TRANSACTION != 0 {
            let ended = std::str::from_utf8(&record.value).ok().and_then(|text| text.parse::<u64>().ok());
            if ended.is_none() || pending.iter().any(|entry| Some(u64::MAX - entry.at.age) != ended) {
                return Err(damaged());
            }
            pending.drain(..).for_each(&mut *put);
        } else if record.meta & TRANSACTION != 0 {
            if pending.first().is_some_and(|first| first.at.age != version.age) {
                // The transaction before was never ended: it did not happen.
                pending.clear();
            }
            pending.push(Entry { at: version, meta: record.meta, expires: record.expires, value });
        } else if pending.is_empty() {
            put(Entry { at: version, meta: record.meta, expires: record.expires, value });
        } else {
            return Err(damaged());
        }
        at += record.len;
    }
    Ok(())
}

/// The record at a place. Only the last log may end in the middle of one.
fn next(file: &PlainFile, at: u64, is_last: bool) -> Result<Found, SourceError> {
    let end = file.len()?;
    if at >= end {
        return Ok(Found::End);
    }
    let head = file.bytes(at, MAX_HEAD.min(end - at))?;
    // A log is made longer than it is, with zeros.
    if head.iter().all(|&byte| byte == 0) {
        return Ok(Found::End);
    }
    let cut = || {
        if is_last { Ok(Found::End) } else { Err(file.damaged(at, "the log ends in the middle of a record")) }
    };
    let Some((_, len)) = lengths(&head) else {
        return if (head.len() as u64) < MAX_HEAD {
            cut()
        } else {
            Err(file.damaged(at, "a record without a head"))
        };
    };
    if at.checked_add(len).is_none_or(|after| after > end) {
        return cut();
    }
    match parse(&file.bytes(at, len)?) {
        Some(record) => Ok(Found::Record(record)),
        None => Err(file.damaged(at, "the check of a record does not match")),
    }
}

/// Where the key of a record begins, and how long the record is.
fn lengths(head: &[u8]) -> Option<(usize, u64)> {
    let (key, rest) = varint(head.get(2..)?)?;
    let (value, rest) = varint(rest)?;
    let (_, rest) = varint(rest)?;
    let start = head.len() - rest.len();
    let len = (start as u64).checked_add(key)?.checked_add(value)?.checked_add(4)?;
    (key <= MAX_KEY).then_some((start, len))
}

fn parse(bytes: &[u8]) -> Option<Record> {
    let (key_len, rest) = varint(bytes.get(2..)?)?;
    let (value_len, rest) = varint(rest)?;
    let (expires, rest) = varint(rest)?;
    let (key, rest) = rest.split_at_checked(usize::try_from(key_len).ok()?)?;
    let (value, rest) = rest.split_at_checked(usize::try_from(value_len).ok()?)?;
    let body = bytes.get(..bytes.len() - rest.len())?;
    if u32_be(rest, 0)? != crc32c::crc32c(body) {
        return None;
    }
    let (key, value) = (key.to_vec(), value.to_vec());
    Some(Record { meta: *bytes.first()?, expires, key, value, len: body.len() as u64 + 4 })
}
