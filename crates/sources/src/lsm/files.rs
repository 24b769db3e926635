//! The files of a directory, opened for reading and for nothing else.
//!
//! Descriptors keep a table readable after a running node has deleted it. As many as the system allows are kept open from
//! the beginning; where there are more tables, the rest is opened when needed, and one that is gone by then is an error.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use keyplan_store::source::SourceError;
use rustix::fs::{Mode, OFlags};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::bytes::wide;
pub(crate) use crate::plain_file::names;

/// Opens a regular file. What is a link, a pipe or a device is refused, and no time of access is written if we may say so.
pub(crate) fn open(path: &Path) -> Result<File, SourceError> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let quiet = rustix::fs::open(path, flags | OFlags::NOATIME, Mode::empty());
    // Only the owner of a file may read it without a trace.
    let opened = match quiet {
        Err(rustix::io::Errno::PERM) => rustix::fs::open(path, flags, Mode::empty()),
        opened => opened,
    };
    let file: File = match opened {
        Ok(descriptor) => descriptor.into(),
        Err(rustix::io::Errno::LOOP) => return Err(SourceError::unsupported(path, "a symbolic link")),
        Err(error) => return Err(SourceError::io(path, error.into())),
    };
    let kind = file.metadata().map_err(|error| SourceError::io(path, error))?.file_type();
    if !kind.is_file() {
        return Err(SourceError::unsupported(path, "what is not a regular file"));
    }
    Ok(file)
}

/// The most bytes of a file that is read as a whole.
const MAX_WHOLE: u64 = 2 * 1024 * 1024 * 1024;

/// Reads a small file as a whole.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, SourceError> {
    use io::Read as _;
    let file = open(path)?;
    let size = file.metadata().map_err(|error| SourceError::io(path, error))?.len();
    if size > MAX_WHOLE {
        return Err(SourceError::unsupported(path, "a file of more than 2 GiB"));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
    // A file that grows meanwhile is read as far as it was.
    file.take(size).read_to_end(&mut bytes).map_err(|error| SourceError::io(path, error))?;
    Ok(bytes)
}

/// A log or a manifest that is read block by block, as far as it was when it was last looked at.
#[derive(Debug)]
pub(crate) struct LogFile {
    pub(crate) file: File,
    pub(crate) identity: Identity,
    pub(crate) length: usize,
}

impl LogFile {
    pub(crate) fn open(path: &Path) -> Result<Self, SourceError> {
        Self::open_at(path, u64::MAX)
    }

    /// As [`open`](Self::open), of which no more than `length` bytes count.
    pub(crate) fn open_at(path: &Path, length: u64) -> Result<Self, SourceError> {
        let file = open(path)?;
        let found = file.metadata().map_err(|error| SourceError::io(path, error))?;
        let mut log = Self { file, identity: Identity::from(&found), length: 0 };
        log.set_length(path, found.len().min(length))?;
        Ok(log)
    }

    /// Takes note of how long the file is by now, and returns that.
    pub(crate) fn look_again(&mut self, path: &Path) -> Result<u64, SourceError> {
        let size = self.file.metadata().map_err(|error| SourceError::io(path, error))?.len();
        self.set_length(path, size)?;
        Ok(size)
    }

    fn set_length(&mut self, path: &Path, size: u64) -> Result<(), SourceError> {
        // What it says is kept in memory, row by row.
        if size > MAX_WHOLE {
            return Err(SourceError::unsupported(path, "a log of more than 2 GiB"));
        }
        self.length = usize::try_from(size).unwrap_or(0);
        Ok(())
    }
}

/// Whether a file was not there.
pub(crate) fn is_missing(error: &SourceError) -> bool {
    matches!(error, SourceError::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
}

/// What says that a file is the same as before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    device: u64,
    inode: u64,
    pub(crate) size: u64,
}

impl Identity {
    pub(crate) fn of(path: &Path) -> Result<Self, SourceError> {
        let found = std::fs::symlink_metadata(path).map_err(|error| SourceError::io(path, error))?;
        Ok(Self::from(&found))
    }

    fn from(found: &std::fs::Metadata) -> Self {
        Self { device: found.dev(), inode: found.ino(), size: found.len() }
    }

    /// Whether it is the same file, which may have grown.
    pub(crate) const fn is_same_file(self, other: Self) -> bool {
        self.device == other.device && self.inode == other.inode
    }
}

/// Descriptors of tables.
#[derive(Debug, Default)]
pub(crate) struct Descriptors {
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    limit: usize,
    files: BTreeMap<u64, OpenTable>,
    /// Numbers in the order in which they were opened.
    order: VecDeque<u64>,
}

#[derive(Clone, Debug)]
struct OpenTable {
    file: Arc<File>,
    path: PathBuf,
    identity: Identity,
}

/// Descriptors that are left to the rest of the process.
const RESERVED: u64 = 64;

impl Descriptors {
    /// Makes room for the tables with these numbers, as far as the system allows, and closes all others.
    pub(crate) fn keep(&self, numbers: &BTreeSet<u64>) {
        let limit = usize::try_from(allowed(wide(numbers.len()) + RESERVED)).unwrap_or(usize::MAX);
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.limit = limit.saturating_sub(64).max(16);
        open.files.retain(|number, _| numbers.contains(number));
        open.order.retain(|number| numbers.contains(number));
    }

    /// Where an open table is, and what it is.
    pub(crate) fn known(&self, number: u64) -> Option<(PathBuf, Identity)> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.files.get(&number).map(|table| (table.path.clone(), table.identity))
    }

    /// Opens a table for the first time. One that is missing is told as that.
    pub(crate) fn open(&self, number: u64, path: &Path) -> Result<Identity, SourceError> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let file = open.open(path)?;
        let found = file.metadata().map_err(|error| SourceError::io(path, error))?;
        let identity = Identity::from(&found);
        open.add(number, path, identity, file);
        Ok(identity)
    }

    /// The file of a table, opened again if it was closed for others.
    pub(crate) fn file(
        &self,
        number: u64,
        path: &Path,
        identity: Identity,
    ) -> Result<Arc<File>, SourceError> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(table) = open.files.get(&number) {
            return Ok(Arc::clone(&table.file));
        }
        let file = match open.open(path) {
            Err(error) if is_missing(&error) => return Err(gone(path)),
            opened => opened?,
        };
        let found = file.metadata().map_err(|error| SourceError::io(path, error))?;
        if Identity::from(&found) != identity {
            return Err(gone(path));
        }
        Ok(open.add(number, path, identity, file))
    }
}

impl Open {
    /// Opens a file, and closes others if the rest of the process left fewer descriptors than were counted on.
    fn open(&mut self, path: &Path) -> Result<File, SourceError> {
        const TOO_MANY: i32 = rustix::io::Errno::MFILE.raw_os_error();
        loop {
            match self::open(path) {
                Err(SourceError::Io { source, .. })
                    if source.raw_os_error() == Some(TOO_MANY) && !self.files.is_empty() =>
                {
                    self.limit = (self.files.len() * 3 / 4).max(1);
                    self.close_beyond(self.limit - 1);
                }
                opened => return opened,
            }
        }
    }

    /// Closes the oldest but so many.
    fn close_beyond(&mut self, most: usize) {
        while self.files.len() > most {
            let Some(oldest) = self.order.pop_front() else { break };
            self.files.remove(&oldest);
        }
    }

    fn add(&mut self, number: u64, path: &Path, identity: Identity, file: File) -> Arc<File> {
        self.close_beyond(self.limit.saturating_sub(1));
        let file = Arc::new(file);
        let table = OpenTable { file: Arc::clone(&file), path: path.to_owned(), identity };
        self.files.insert(number, table);
        self.order.push_back(number);
        file
    }
}

fn gone(path: &Path) -> SourceError {
    let what = "a table was removed while it was needed; stop the node, or allow more open files".to_owned();
    SourceError::Changing { path: path.to_owned(), what }
}

/// The number of descriptors that this process may have, raised towards `wanted` as far as the system lets us.
fn allowed(wanted: u64) -> u64 {
    let now = getrlimit(Resource::Nofile);
    let current = now.current.unwrap_or(u64::MAX);
    if current >= wanted {
        return current;
    }
    let raised = now.maximum.map_or(wanted, |most| most.min(wanted));
    let asked = Rlimit { current: Some(raised), maximum: now.maximum };
    if raised > current && setrlimit(Resource::Nofile, asked).is_ok() { raised } else { current }
}

/// Reads `length` bytes at `offset` into `out`.
pub(crate) fn read_at(
    file: &File,
    path: &Path,
    offset: u64,
    length: usize,
    out: &mut Vec<u8>,
) -> Result<(), SourceError> {
    out.clear();
    out.resize(length, 0);
    file.read_exact_at(out, offset).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => SourceError::damaged(path, offset, "the file ends here"),
        _ => SourceError::io(path, error),
    })
}

/// The number of a file with this extension.
pub(crate) fn number(name: &str, extension: &str) -> Option<u64> {
    let digits = name.strip_suffix(extension)?.strip_suffix('.')?;
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
}

/// The path of a table: `.ldb` or, as all but LevelDB write it, `.sst`.
pub(crate) fn table_path(directory: &Path, number: u64) -> PathBuf {
    let path = directory.join(format!("{number:06}.ldb"));
    if path.symlink_metadata().is_ok() { path } else { directory.join(format!("{number:06}.sst")) }
}
