//! Files that a tool has made: what differs from them on the disk, and how that is put right.
//!
//! A folder that holds files which the tool did not make is refused whole, so that nothing of anybody else's is lost.
//!
//! ```
//! use keyplan_report::folder::file;
//!
//! # let folder = tempfile::tempdir()?;
//! let path = folder.path().join("model.json");
//! let difference = file(&path, "{}").expect("it is not there");
//! assert!(difference.to_string().ends_with("model.json is missing"));
//! difference.apply()?;
//! assert_eq!(file(&path, "{}"), None);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use crate::output_file::{self, WriteError};

/// How much of a file is looked at to tell whether the tool made it.
const HEAD: u64 = 512;

/// A file that is not as it would be made now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference<'t> {
    /// The file.
    pub path: PathBuf,
    /// How it differs.
    pub kind: DifferenceKind<'t>,
}

/// How a file differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DifferenceKind<'t> {
    /// It has another text than this one.
    Stale(&'t str),
    /// It is not there, and has this text.
    Missing(&'t str),
    /// It is there, and no longer made.
    Extra,
}

/// Why files could not be compared or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FolderError {
    /// The folder holds files that the tool did not make.
    #[error(
        "`{}` holds files that `keyplan generate` did not write, and is left as it is: {}; name another directory",
        folder.display(),
        files.join(", ")
    )]
    Foreign {
        /// The folder.
        folder: PathBuf,
        /// The files.
        files: Vec<String>,
    },
    /// The system could not do something.
    #[error("cannot {what} `{}`", path.display())]
    Io {
        /// What was being done.
        what: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

impl FolderError {
    fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { what, path, source }
    }
}

impl fmt::Display for Difference<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kind {
            DifferenceKind::Stale(_) => "stale",
            DifferenceKind::Missing(_) => "missing",
            DifferenceKind::Extra => "no longer made",
        };
        write!(f, "{} is {what}", self.path.display())
    }
}

impl Difference<'_> {
    /// Writes the file, or removes it.
    pub fn apply(&self) -> Result<(), FolderError> {
        let (DifferenceKind::Stale(text) | DifferenceKind::Missing(text)) = self.kind else {
            return fs::remove_file(&self.path).map_err(FolderError::io("remove", &self.path));
        };
        if let Some(parent) = self.path.parent() {
            fs::create_dir_all(parent).map_err(FolderError::io("make", parent))?;
        }
        Ok(output_file::write(&self.path, text.as_bytes())?)
    }
}

/// How one file differs from its text, if it does.
pub fn file<'t>(path: &Path, text: &'t str) -> Option<Difference<'t>> {
    let kind = match fs::read(path) {
        Ok(old) if old == text.as_bytes() => return None,
        Ok(_) => DifferenceKind::Stale(text),
        Err(_) => DifferenceKind::Missing(text),
    };
    Some(Difference { path: path.to_owned(), kind })
}

/// How a folder differs from the files that it would hold, by their paths in it. `is_ours` tells by the first bytes of a
/// file whether the tool made it.
pub fn folder<'t>(
    folder: &Path,
    files: &[(&str, &'t str)],
    is_ours: impl Fn(&[u8]) -> bool,
) -> Result<Vec<Difference<'t>>, FolderError> {
    let there = files_below(folder, is_ours)?;
    let foreign: Vec<String> =
        there.iter().filter(|(_, ours)| !**ours).map(|(path, _)| path.clone()).collect();
    if !foreign.is_empty() {
        return Err(FolderError::Foreign { folder: folder.to_owned(), files: foreign });
    }
    let mut found: Vec<Difference<'t>> =
        files.iter().filter_map(|(path, text)| file(&folder.join(path), text)).collect();
    for old in there.keys().filter(|old| !files.iter().any(|(path, _)| path == old)) {
        found.push(Difference { path: folder.join(old), kind: DifferenceKind::Extra });
    }
    Ok(found)
}

/// The files below a folder, and whether the tool made each. Fuzzers keep what they find below `testdata/fuzz`, and compilers what
/// they make in `dist`.
fn files_below(
    folder: &Path,
    is_ours: impl Fn(&[u8]) -> bool,
) -> Result<BTreeMap<String, bool>, FolderError> {
    let mut found = BTreeMap::new();
    let mut left: Vec<(PathBuf, String)> = vec![(folder.to_path_buf(), String::new())];
    while let Some((path, name)) = left.pop() {
        let unread = |error| FolderError::io("read", &path)(error);
        let entries = match fs::read_dir(&path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(unread(error)),
        };
        for entry in entries {
            let entry = entry.map_err(unread)?;
            let own = entry.file_name().to_string_lossy().into_owned();
            let name = if name.is_empty() { own } else { format!("{name}/{own}") };
            if entry.file_type().map_err(unread)?.is_dir() {
                if name != "testdata/fuzz" && name != "dist" {
                    left.push((entry.path(), name));
                }
            } else {
                let mut head = Vec::new();
                let read =
                    fs::File::open(entry.path()).and_then(|file| file.take(HEAD).read_to_end(&mut head));
                found.insert(name, read.is_ok() && is_ours(&head));
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_compilers_and_fuzzers_make_is_neither_foreign_nor_removed() {
        let home = tempfile::tempdir().unwrap();
        for path in ["dist/keys.d.ts", "testdata/fuzz/FuzzTick/1", "keys.ts"] {
            let path = home.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "ours").unwrap();
        }
        let made = [("keys.ts", "ours")];
        let is_ours = |head: &[u8]| head == b"ours";
        assert_eq!(folder(home.path(), &made, is_ours).unwrap(), []);
        fs::write(home.path().join("dist.ts"), "of somebody").unwrap();
        let refused = folder(home.path(), &made, is_ours).unwrap_err().to_string();
        assert!(refused.contains("did not write, and is left as it is: dist.ts;"), "{refused}");
    }
}
