use std::fmt;
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::PathBuf;

use super::merge::Merge;
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
        let at = self.data.len();
        self.data.extend_from_slice(key);
        self.data.extend_from_slice(value);
        self.entries.push(Entry { space, head: head(key), at, key: key_length, value: value_length });
        Ok(())
    }

    /// Bytes that the rows take.
    pub(super) fn bytes(&self) -> usize {
        self.data.len() + self.entries.len() * size_of::<Entry>()
    }

    pub(super) fn sorted(mut self) -> Sorted {
        let data = &self.data;
        self.entries.sort_unstable_by(|a, b| {
            let order = (a.space, a.head).cmp(&(b.space, b.head));
            // Of rows with one key, the one that came last stays last.
            order.then_with(|| a.key(data).cmp(b.key(data)).then(a.at.cmp(&b.at)))
        });
        Sorted { sorter: self, next: 0 }
    }
}

/// The first eight bytes of a key, as a number that orders as they do.
pub(super) fn head(key: &[u8]) -> u64 {
    match key.first_chunk() {
        Some(first) => u64::from_be_bytes(*first),
        None => key.iter().zip([56, 48, 40, 32, 24, 16, 8]).map(|(byte, by)| u64::from(*byte) << by).sum(),
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

    fn row(&self) -> RowRef<'_> {
        let data = &self.sorter.data;
        match self.next.checked_sub(1).and_then(|at| self.sorter.entries.get(at)) {
            Some(entry) => RowRef { space: entry.space, key: entry.key(data), value: entry.value(data) },
            None => RowRef { space: SpaceId(0), key: &[], value: &[] },
        }
    }

    fn advance(&mut self) -> bool {
        self.next += 1;
        self.next <= self.sorter.entries.len()
    }

    /// The memory of it, for other rows.
    pub(super) fn into_empty(mut self) -> Sorter {
        self.sorter.data.clear();
        self.sorter.entries.clear();
        self.sorter
    }
}

/// A row inside of its source.
#[derive(Clone, Copy)]
pub(super) struct RowRef<'r> {
    pub(super) space: SpaceId,
    pub(super) key: &'r [u8],
    pub(super) value: &'r [u8],
}

/// A file of rows by space and key: `space (4) | key length (4) | value length (4) | key | value`, one after the other.
///
/// The file goes with it.
#[derive(Debug)]
pub(super) struct Run {
    path: PathBuf,
    rows: u64,
    /// How often its rows have been merged.
    pub(super) merges: u32,
}

impl Drop for Run {
    fn drop(&mut self) {
        // What is left goes with the directory.
        let _ = std::fs::remove_file(&self.path);
    }
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
        Ok(Self { path, rows: count, merges: 0 })
    }

    /// The rows of several runs as one.
    pub(super) fn write_merged(path: PathBuf, rows: &mut Merge<'_>, merges: u32) -> Result<Self, StoreError> {
        let mut out = Self::create(&path)?;
        let mut count = 0;
        while let Some(space) = rows.space() {
            while let Some((key, value)) = rows.next_of::<Vec<u8>>(space)? {
                put(&mut out, space.0, &key, &value).map_err(writing)?;
                count += 1;
            }
        }
        out.flush().map_err(writing)?;
        Ok(Self { path, rows: count, merges })
    }

    fn create(path: &PathBuf) -> Result<BufWriter<File>, StoreError> {
        File::create(path).map(|file| BufWriter::with_capacity(BUFFER, file)).map_err(writing)
    }

    pub(super) fn read(&self) -> Result<RunReader, StoreError> {
        let file = File::open(&self.path).map_err(reading)?;
        let file = BufReader::with_capacity(BUFFER, file);
        Ok(RunReader { file, left: self.rows, space: SpaceId(0), key: Vec::new(), value: Vec::new() })
    }
}

fn put(out: &mut impl Write, space: u32, key: &[u8], value: &[u8]) -> std::io::Result<()> {
    let length = |bytes: &[u8]| u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_be_bytes();
    let [a, b, c] = [space.to_be_bytes(), length(key), length(value)];
    out.write_all([a, b, c].as_flattened())?;
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
    // The row that was read last.
    space: SpaceId,
    key: Vec<u8>,
    value: Vec<u8>,
}

impl Source {
    /// Goes to the next row; false if there is none.
    pub(super) fn advance(&mut self) -> Result<bool, StoreError> {
        match self {
            Self::Memory(sorted) => Ok(sorted.advance()),
            Self::File(run) => run.advance().map_err(reading),
        }
    }

    /// The row that it is at: one of no bytes before the first.
    pub(super) fn row(&self) -> RowRef<'_> {
        match self {
            Self::Memory(sorted) => sorted.row(),
            Self::File(run) => RowRef { space: run.space, key: &run.key, value: &run.value },
        }
    }
}

impl RunReader {
    fn advance(&mut self) -> std::io::Result<bool> {
        // The number of rows is known: a file that ends too soon is an error, not the end.
        let Some(left) = self.left.checked_sub(1) else { return Ok(false) };
        self.left = left;
        let mut numbers = [[0; 4]; 3];
        self.file.read_exact(numbers.as_flattened_mut())?;
        let [space, key, value] = numbers.map(u32::from_be_bytes);
        self.space = SpaceId(space);
        self.key.resize(key as usize, 0);
        self.file.read_exact(&mut self.key)?;
        self.value.resize(value as usize, 0);
        self.file.read_exact(&mut self.value)?;
        Ok(true)
    }
}
