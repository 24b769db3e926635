use std::fmt;
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::PathBuf;

use crate::engine::{Error, SpaceId, TooLarge};
use crate::error::StoreError;

/// Bytes that a file is read and written by.
const BUFFER: usize = 256 * 1024;

/// Rows in memory, in the order in which they came.
#[derive(Default)]
pub(super) struct Sorter {
    data: Vec<u8>,
    entries: Vec<Entry>,
}

/// A row inside the data of a [`Sorter`].
#[derive(Clone, Copy)]
struct Entry {
    space: SpaceId,
    // The first eight bytes of the key, as a number that orders as they do: most comparisons look no further.
    head: u64,
    at: usize,
    key: u32,
    value: u32,
}

impl Sorter {
    pub(super) fn push(&mut self, space: SpaceId, key: &[u8], value: &[u8]) -> Result<(), StoreError> {
        let length = |bytes: &[u8], what| {
            let too_large = |_| Error::TooLarge { what, limit: u32::MAX.into(), found: bytes.len() as u64 };
            u32::try_from(bytes.len()).map_err(too_large)
        };
        let (key_length, value_length) = (length(key, TooLarge::Key)?, length(value, TooLarge::Value)?);
        let mut head = [0; 8];
        head.iter_mut().zip(key).for_each(|(to, from)| *to = *from);
        let at = self.data.len();
        self.data.extend_from_slice(key);
        self.data.extend_from_slice(value);
        let head = u64::from_be_bytes(head);
        self.entries.push(Entry { space, head, at, key: key_length, value: value_length });
        Ok(())
    }

    /// Bytes that the rows take.
    pub(super) fn bytes(&self) -> usize {
        self.data.len() + self.entries.len() * size_of::<Entry>()
    }

    pub(super) fn sorted(mut self) -> Sorted {
        let data = &self.data;
        // Stable: of rows with one key, the one that came last stays last.
        self.entries.sort_by(|a, b| {
            (a.space, a.head).cmp(&(b.space, b.head)).then_with(|| a.key(data).cmp(b.key(data)))
        });
        Sorted { sorter: self, next: 0 }
    }
}

impl Entry {
    fn key(self, data: &[u8]) -> &[u8] {
        data.get(self.at..self.at + self.key as usize).unwrap_or_default()
    }

    fn value(self, data: &[u8]) -> &[u8] {
        let start = self.at + self.key as usize;
        data.get(start..start + self.value as usize).unwrap_or_default()
    }
}

impl fmt::Debug for Sorter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sorter").field("rows", &self.entries.len()).finish_non_exhaustive()
    }
}

/// Rows in memory, by space and key.
pub(super) struct Sorted {
    sorter: Sorter,
    next: usize,
}

impl Sorted {
    pub(super) fn iter(&self) -> impl Iterator<Item = (SpaceId, &[u8], &[u8])> {
        let data = self.sorter.data.as_slice();
        self.sorter.entries.iter().map(move |entry| (entry.space, entry.key(data), entry.value(data)))
    }

    /// The next row, into `row`; false if there is none.
    fn take(&mut self, row: &mut Row) -> bool {
        let Some(entry) = self.sorter.entries.get(self.next) else { return false };
        self.next += 1;
        row.set(entry.space, entry.key(&self.sorter.data), entry.value(&self.sorter.data));
        true
    }

    /// The memory of it, for other rows.
    pub(super) fn into_empty(mut self) -> Sorter {
        self.sorter.data.clear();
        self.sorter.entries.clear();
        self.sorter
    }
}

/// A row on its way through a merge; its buffers are used again.
#[derive(Debug, Default)]
pub(super) struct Row {
    pub(super) space: u32,
    pub(super) key: Vec<u8>,
    pub(super) value: Vec<u8>,
}

impl Row {
    fn set(&mut self, space: SpaceId, key: &[u8], value: &[u8]) {
        self.space = space.0;
        self.key.clear();
        self.key.extend_from_slice(key);
        self.value.clear();
        self.value.extend_from_slice(value);
    }
}

/// A file of rows by space and key: `space (4) | key length (4) | value length (4) | key | value`, one after the other.
#[derive(Debug)]
pub(super) struct Run {
    path: PathBuf,
    rows: u64,
}

impl Run {
    pub(super) fn write<'r>(
        path: PathBuf,
        rows: impl Iterator<Item = (SpaceId, &'r [u8], &'r [u8])>,
    ) -> Result<Self, StoreError> {
        let mut out = Self::create(&path)?;
        let mut count = 0;
        for (space, key, value) in rows {
            put(&mut out, space.0, key, value).map_err(writing)?;
            count += 1;
        }
        out.flush().map_err(writing)?;
        Ok(Self { path, rows: count })
    }

    pub(super) fn write_all(path: PathBuf, rows: &mut super::merge::Merge<'_>) -> Result<Self, StoreError> {
        let mut out = Self::create(&path)?;
        let mut count = 0;
        while let Some(row) = rows.next()? {
            put(&mut out, row.space, &row.key, &row.value).map_err(writing)?;
            rows.reuse(row);
            count += 1;
        }
        out.flush().map_err(writing)?;
        Ok(Self { path, rows: count })
    }

    fn create(path: &PathBuf) -> Result<BufWriter<File>, StoreError> {
        File::create(path).map(|file| BufWriter::with_capacity(BUFFER, file)).map_err(writing)
    }

    pub(super) fn read(&self) -> Result<RunReader, StoreError> {
        let file = File::open(&self.path).map_err(reading)?;
        Ok(RunReader { file: BufReader::with_capacity(BUFFER, file), left: self.rows })
    }
}

fn put(out: &mut impl Write, space: u32, key: &[u8], value: &[u8]) -> std::io::Result<()> {
    let length = |bytes: &[u8]| u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_be_bytes();
    let [a, b, c] = [space.to_be_bytes(), length(key), length(value)];
    out.write_all(&[a, b, c].concat())?;
    out.write_all(key)?;
    out.write_all(value)
}

fn writing(source: std::io::Error) -> StoreError {
    StoreError::Io { doing: "writing a sorted run", source }
}

fn reading(source: std::io::Error) -> StoreError {
    StoreError::Io { doing: "reading a sorted run", source }
}

/// Where the rows of a merge come from.
pub(super) enum Source {
    File(RunReader),
    Memory(Sorted),
}

/// The rows of a file, in turn.
pub(super) struct RunReader {
    file: BufReader<File>,
    left: u64,
}

impl Source {
    /// The next row, into `row`; false if there is none.
    pub(super) fn take(&mut self, row: &mut Row) -> Result<bool, StoreError> {
        match self {
            Self::Memory(sorted) => Ok(sorted.take(row)),
            Self::File(run) => run.take(row).map_err(reading),
        }
    }
}

impl RunReader {
    fn take(&mut self, row: &mut Row) -> std::io::Result<bool> {
        // The number of rows is known: a file that ends too soon is an error, not the end.
        let Some(left) = self.left.checked_sub(1) else { return Ok(false) };
        self.left = left;
        let mut numbers = [[0; 4]; 3];
        for number in &mut numbers {
            self.file.read_exact(number)?;
        }
        let [space, key, value] = numbers.map(u32::from_be_bytes);
        row.space = space;
        row.key.resize(key as usize, 0);
        self.file.read_exact(&mut row.key)?;
        row.value.resize(value as usize, 0);
        self.file.read_exact(&mut row.value)?;
        Ok(true)
    }
}
