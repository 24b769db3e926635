//! The directory of a database: whose it is, and which manifest counts.

use std::path::{Path, PathBuf};

use keyplan_store::source::SourceError;

use super::files;
use super::settings::Settings;

/// Which engine writes the directory. Some kinds of entries mean one thing in RocksDB and another in Pebble.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flavour {
    /// LevelDB or goleveldb.
    LevelDb,
    RocksDb,
    Pebble,
}

impl Flavour {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::LevelDb => "leveldb",
            Self::RocksDb => "rocksdb",
            Self::Pebble => "pebble",
        }
    }
}

/// A directory as it is now.
#[derive(Debug)]
pub(crate) struct Directory {
    pub(crate) path: PathBuf,
    pub(crate) flavour: Flavour,
    pub(crate) settings: Option<Settings>,
    names: Vec<String>,
}

const MARKER: &str = "marker.manifest.";

/// Whether `path` is a directory with the files of such a database.
pub(crate) fn fits(path: &Path) -> bool {
    path.is_dir()
        && (path.join("CURRENT").symlink_metadata().is_ok()
            || files::names(path).is_ok_and(|names| names.iter().any(|name| name.starts_with(MARKER))))
}

impl Directory {
    pub(crate) fn look(path: &Path) -> Result<Self, SourceError> {
        let names = files::names(path)?;
        let settings = Settings::read(path, &names)?;
        let flavour = flavour(settings.as_ref(), &names);
        Ok(Self { path: path.to_owned(), flavour, settings, names })
    }

    /// The logs, the oldest first.
    pub(crate) fn logs(&self) -> Vec<(u64, PathBuf)> {
        logs(&self.path, &self.names)
    }

    /// Refuses a log from `least` on that Pebble wrote in segments, because a disk had become slow: `000012-003.log`. Records
    /// may be in two segments, and some segments in another directory.
    pub(crate) fn check_segments(&self, least: u64) -> Result<(), SourceError> {
        let segment = |name: &&String| {
            let (number, part) = name.strip_suffix(".log")?.split_once('-')?;
            let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            (digits(number) && digits(part)).then(|| number.parse::<u64>().unwrap_or(u64::MAX))
        };
        match self.names.iter().find(|name| segment(name).is_some_and(|number| number >= least)) {
            None => Ok(()),
            Some(name) => {
                let what = "a log in segments, as Pebble writes it when it changes directories,";
                Err(SourceError::unsupported(&self.path.join(name), what))
            }
        }
    }

    /// The manifest that counts now.
    pub(crate) fn manifest(&self) -> Result<PathBuf, SourceError> {
        let marked = self.names.iter().any(|name| name.starts_with(MARKER));
        // Only where the names say which it is, or may say it, do they have to be those of now.
        let found = if marked {
            manifest(&self.path, &files::names(&self.path)?)
        } else {
            named_by(&self.path.join("CURRENT"))
        };
        match found {
            Err(error) if files::is_missing(&error) => manifest(&self.path, &files::names(&self.path)?),
            found => found,
        }
        .map(|name| self.path.join(name))
    }
}

/// The logs among the files of a directory, the oldest first.
pub(crate) fn logs(path: &Path, names: &[String]) -> Vec<(u64, PathBuf)> {
    let numbered = |name: &String| Some((files::number(name, "log")?, path.join(name)));
    let mut logs: Vec<_> = names.iter().filter_map(numbered).collect();
    logs.sort();
    logs
}

fn flavour(settings: Option<&Settings>, names: &[String]) -> Flavour {
    let marked = names.iter().any(|name| name.starts_with("marker."));
    if marked || settings.is_some_and(Settings::is_pebble) {
        Flavour::Pebble
    } else if settings.is_some() || names.iter().any(|name| name == "IDENTITY") {
        Flavour::RocksDb
    } else {
        Flavour::LevelDb
    }
}

/// The manifest's name: by the newest marker, as Pebble leaves it, or by `CURRENT`.
fn manifest(path: &Path, names: &[String]) -> Result<String, SourceError> {
    let marked = names.iter().filter_map(|name| {
        let (number, name) = name.strip_prefix(MARKER)?.split_once('.')?;
        Some((number.parse::<u64>().ok()?, name))
    });
    if let Some((_, name)) = marked.max() {
        return Ok(name.to_owned());
    }
    let current = path.join("CURRENT");
    match named_by(&current) {
        // goleveldb keeps the one before while it replaces the file. One that is there and damaged is not passed over.
        Err(error) if files::is_missing(&error) && names.iter().any(|name| name == "CURRENT.bak") => {
            named_by(&path.join("CURRENT.bak")).map_err(|_| error)
        }
        found => found,
    }
}

fn named_by(current: &Path) -> Result<String, SourceError> {
    let text = files::read(current)?;
    let name = text.strip_suffix(b"\n").unwrap_or(&text);
    let digits = name.strip_prefix(b"MANIFEST-").filter(|digits| !digits.is_empty() && digits.len() <= 20);
    match digits.filter(|digits| digits.iter().all(u8::is_ascii_digit)) {
        Some(_) => Ok(String::from_utf8_lossy(name).into_owned()),
        None => Err(SourceError::damaged(current, 0, "it names no manifest, or the database is encrypted")),
    }
}
