//! Files that a tool writes: whole or not at all where that can be had, and never at the cost of what is there.
//!
//! A regular file is written beside its place and takes it in one step, with the owner and the permissions that were
//! there. A file with several names (hard links), one of another owner, and everything that is not a regular file (a device,
//! a pipe) is opened and written where it is.
//!
//! ```
//! # let folder = tempfile::tempdir()?;
//! let path = folder.path().join("page.md");
//! keyplan_report::output_file::write(&path, b"# demo\n")?;
//! assert_eq!(std::fs::read(&path)?, b"# demo\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Why a file was not written. What was there is there still.
#[derive(Debug, thiserror::Error)]
#[error("cannot write{}", .path.as_ref().map(|path| format!(" `{}`", path.display())).unwrap_or_default())]
pub struct WriteError {
    /// The file, unless it is a pipe or a device.
    pub path: Option<PathBuf>,
    /// What the system said.
    pub source: io::Error,
}

impl WriteError {
    fn of(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = Some(path.to_owned());
        |source| Self { path, source }
    }
}

/// A file that is being written.
#[derive(Debug)]
pub struct OutputFile {
    file: Option<BufWriter<File>>,
    place: Place,
}

#[derive(Debug)]
enum Place {
    /// What is written is there at once.
    Itself,
    /// What is written takes the target's place at the end.
    Beside { temporary: PathBuf, target: PathBuf, own: Own },
}

/// How a target is replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Own {
    /// By a new file of its name.
    Name,
    /// By its new contents, since the file has other names or another owner.
    Contents,
}

impl OutputFile {
    /// Begins to write the file at `path`, which may exist.
    pub fn create(path: &Path) -> Result<Self, WriteError> {
        Self::begin(path).map_err(WriteError::of(path))
    }

    fn begin(path: &Path) -> io::Result<Self> {
        let (target, found) = match fs::metadata(path) {
            Ok(found) if !found.is_file() => {
                let file = OpenOptions::new().write(true).open(path)?;
                return Ok(Self {
                    file: Some(BufWriter::with_capacity(1 << 16, file)),
                    place: Place::Itself,
                });
            }
            // A link stays, and the file that it leads to changes.
            Ok(found) => (fs::canonicalize(path)?, Some(found)),
            Err(error) if error.kind() == io::ErrorKind::NotFound && !path.is_symlink() => {
                (path.to_owned(), None)
            }
            Err(error) => return Err(error),
        };
        let name = target.file_name().ok_or_else(|| io::Error::other("it has no name"))?.to_string_lossy();
        let temporary = target.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
        let file = File::create_new(&temporary)?;
        let mut output = Self {
            file: Some(BufWriter::with_capacity(1 << 16, file)),
            place: Place::Beside { temporary, target, own: Own::Name },
        };
        if let Some(found) = found {
            output.take_over(&found)?;
        }
        Ok(output)
    }

    /// Gives the new file the permissions and the owner of the old one, or else leaves the old one in its place.
    fn take_over(&mut self, found: &fs::Metadata) -> io::Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        file.get_ref().set_permissions(found.permissions())?;
        if let Place::Beside { own, .. } = &mut self.place
            && !is_alone(file.get_ref(), found)
        {
            *own = Own::Contents;
        }
        Ok(())
    }

    /// Puts what was written in its place.
    pub fn finish(mut self) -> Result<(), WriteError> {
        let done = self.settle();
        let path = match &self.place {
            Place::Beside { target, .. } => Some(target.clone()),
            Place::Itself => None,
        };
        done.map_err(|source| WriteError { path, source })
    }

    fn settle(&mut self) -> io::Result<()> {
        let Some(file) = self.file.take() else { return Ok(()) };
        let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
        let Place::Beside { temporary, target, own } = &self.place else { return Ok(()) };
        file.sync_all()?;
        drop(file);
        if *own == Own::Name {
            return fs::rename(temporary, target);
        }
        // Not in one step, but all of it is on the disk already.
        let mut from = File::open(temporary)?;
        let mut to = OpenOptions::new().write(true).truncate(true).open(target)?;
        io::copy(&mut from, &mut to)?;
        to.sync_all()?;
        fs::remove_file(temporary)
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.as_mut().map_or(Ok(bytes.len()), |file| file.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_mut().map_or(Ok(()), Write::flush)
    }
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        // What was not finished, or could not take its place, is of no use to anybody.
        if let Place::Beside { temporary, .. } = &self.place {
            let _ = fs::remove_file(temporary);
        }
    }
}

/// Writes a file whole.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), WriteError> {
    let mut file = OutputFile::create(path)?;
    file.write_all(bytes).map_err(WriteError::of(path))?;
    file.finish()
}

/// Whether a new file can stand for the old one: it has no other name, and the new one has its owner or can be given it.
#[cfg(unix)]
fn is_alone(new: &File, old: &fs::Metadata) -> bool {
    use std::os::unix::fs::{MetadataExt as _, fchown};

    let Ok(found) = new.metadata() else { return false };
    let owned = (found.uid(), found.gid()) == (old.uid(), old.gid())
        || fchown(new, Some(old.uid()), Some(old.gid())).is_ok();
    old.nlink() == 1 && owned
}

#[cfg(not(unix))]
fn is_alone(_: &File, _: &fs::Metadata) -> bool {
    true
}
