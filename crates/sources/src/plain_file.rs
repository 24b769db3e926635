//! A file that is read at places, without being changed.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use std::{cmp, fs, io};

use keyplan_store::source::SourceError;

/// A regular file, open for reading only.
#[derive(Debug)]
pub(crate) struct PlainFile {
    path: PathBuf,
    file: File,
}

/// What tells whether a file was written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    len: u64,
    modified: Option<SystemTime>,
}

impl PlainFile {
    /// Opens a file. Pipes, devices and directories are refused: opening some of them would wait forever. So are links: a
    /// database that came from elsewhere does not say which other files are read. What a user names is
    /// [`resolved`] before.
    pub(crate) fn open(path: &Path) -> Result<Self, SourceError> {
        let file = open_quietly(path).map_err(|error| match fs::symlink_metadata(path) {
            Ok(found) if found.is_symlink() => SourceError::unsupported(path, "a symbolic link"),
            _ => SourceError::io(path, error),
        })?;
        if !file.metadata().map_err(|error| SourceError::io(path, error))?.is_file() {
            return Err(SourceError::unsupported(path, "what is not a regular file"));
        }
        Ok(Self { path: path.to_owned(), file })
    }

    /// A file that is open, and a name for messages.
    pub(crate) fn of(name: &Path, file: File) -> Self {
        Self { path: name.to_owned(), file }
    }

    /// Reads from the beginning on.
    pub(crate) fn reader(&self) -> impl io::Read + '_ {
        FromStart { file: &self.file, at: 0 }
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Its length now.
    pub(crate) fn len(&self) -> Result<u64, SourceError> {
        Ok(self.stamp()?.len)
    }

    /// Its length and the time of its last change, now.
    pub(crate) fn stamp(&self) -> Result<Stamp, SourceError> {
        let found = self.file.metadata().map_err(|error| SourceError::io(&self.path, error))?;
        Ok(Stamp { len: found.len(), modified: found.modified().ok() })
    }

    /// Fills `into` from `offset` on.
    pub(crate) fn read_at(&self, offset: u64, into: &mut [u8]) -> Result<(), SourceError> {
        let mut done = 0;
        while done < into.len() {
            let rest = into.get_mut(done..).unwrap_or_default();
            let at = u64::try_from(done).ok().and_then(|done| offset.checked_add(done));
            let at = at.ok_or_else(|| self.damaged(offset, "an offset that no file has"))?;
            match read_some(&self.file, rest, at) {
                Ok(0) => return Err(self.damaged(at, "the file ends here, in the middle of something")),
                Ok(read) => done += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(SourceError::io(&self.path, error)),
            }
        }
        Ok(())
    }

    /// Reads `len` bytes from `offset` on. Memory is taken only for what is there.
    pub(crate) fn bytes(&self, offset: u64, len: u64) -> Result<Vec<u8>, SourceError> {
        let mut bytes = Vec::new();
        self.read_into(offset, len, &mut bytes)?;
        Ok(bytes)
    }

    /// As [`bytes`](Self::bytes), into a buffer of which the contents are replaced.
    pub(crate) fn read_into(&self, offset: u64, len: u64, into: &mut Vec<u8>) -> Result<(), SourceError> {
        into.clear();
        let end = self.len()?;
        let size =
            usize::try_from(len).ok().filter(|_| offset.checked_add(len).is_some_and(|last| last <= end));
        let Some(size) = size else {
            let what = format!("{len} bytes belong here, and the file ends at byte {end}");
            return Err(self.damaged(cmp::min(offset, end), what));
        };
        into.resize(size, 0);
        self.read_at(offset, into)
    }

    /// Something in the file is wrong.
    pub(crate) fn damaged(&self, offset: u64, what: impl std::fmt::Display) -> SourceError {
        SourceError::damaged(&self.path, offset, what)
    }
}

/// The place that a path leads to, if it is a link: what belongs to a file lies beside that, not beside the link.
pub(crate) fn resolved(path: &Path) -> PathBuf {
    let is_link = fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink());
    is_link.then(|| fs::canonicalize(path).ok()).flatten().unwrap_or_else(|| path.to_owned())
}

/// Whether anything has that name, be it a link that leads nowhere.
pub(crate) fn is_there(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// Opens a file so that nothing waits for the other end of a pipe, and no time of access is written if we may say so.
#[cfg(unix)]
fn open_quietly(path: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOFOLLOW;
    // Only the owner of a file may read it without a trace.
    let opened = match rustix::fs::open(path, flags | OFlags::NOATIME, Mode::empty()) {
        Err(rustix::io::Errno::PERM) => rustix::fs::open(path, flags, Mode::empty()),
        opened => opened,
    };
    Ok(opened?.into())
}

#[cfg(windows)]
fn open_quietly(path: &Path) -> io::Result<File> {
    if fs::symlink_metadata(path)?.is_symlink() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    File::open(path)
}

/// The names in a directory that are text, sorted; no time of access is written if we may say so.
#[cfg(unix)]
pub(crate) fn names(directory: &Path) -> Result<Vec<String>, SourceError> {
    use rustix::fs::{Dir, Mode, OFlags};
    let failed = |error: rustix::io::Errno| SourceError::io(directory, error.into());
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::DIRECTORY;
    let opened = match rustix::fs::open(directory, flags | OFlags::NOATIME, Mode::empty()) {
        Err(rustix::io::Errno::PERM) => rustix::fs::open(directory, flags, Mode::empty()),
        opened => opened,
    };
    let mut out = Vec::new();
    for entry in Dir::read_from(opened.map_err(failed)?).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if let Ok(name) = entry.file_name().to_str()
            && name != "."
            && name != ".."
        {
            out.push(name.to_owned());
        }
    }
    out.sort();
    Ok(out)
}

#[cfg(windows)]
pub(crate) fn names(directory: &Path) -> Result<Vec<String>, SourceError> {
    let failed = |error| SourceError::io(directory, error);
    let mut out = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(failed)? {
        out.extend(entry.map_err(failed)?.file_name().into_string());
    }
    out.sort();
    Ok(out)
}

struct FromStart<'f> {
    file: &'f File,
    at: u64,
}

impl io::Read for FromStart<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = read_some(self.file, into, self.at)?;
        self.at = self.at.saturating_add(u64::try_from(read).unwrap_or(u64::MAX));
        Ok(read)
    }
}

#[cfg(unix)]
fn read_some(file: &File, into: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, into, offset)
}

#[cfg(windows)]
fn read_some(file: &File, into: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, into, offset)
}
