//! How far a load has come, kept in the database's directory.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use keyplan_codec::Hash;
use serde::{Deserialize, Serialize};

use crate::error::{Context as _, Result, bail};

/// The file in a database's directory that says how far a load has come.
const FILE: &str = "keyplan-load.json";

/// How far a load has come: everything up to a unit of its input, a line or a block, is in the database.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Position {
    /// The version of this form.
    pub(super) version: u32,
    /// The number of the unit, from 1 on.
    pub(super) unit: u64,
    /// Rows written so far.
    pub(super) rows: u64,
    /// A digest of everything up to there, so that another input is told apart, and one in which a row was changed.
    pub(super) digest: String,
}

/// The version that is written. Version 1 had a digest of the last unit only.
const VERSION: u32 = 2;

/// A digest of all units read so far, each with its length.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Rolling(Vec<u8>);

impl Rolling {
    /// Adds the next unit.
    pub(super) fn add(&mut self, unit: &[u8]) {
        let digest = Hash::Xxh3_64.digest(unit);
        self.0.extend_from_slice(&digest);
        self.0 = Hash::Xxh3_64.digest(&self.0).to_vec();
    }

    fn text(&self) -> String {
        const_hex::encode(&self.0)
    }
}

impl Position {
    /// After a unit, everything up to which was read.
    pub(super) fn after(unit: u64, rows: u64, read: &Rolling) -> Self {
        Self { version: VERSION, unit, rows, digest: read.text() }
    }

    /// Whether this is what the load had read when it was here.
    pub(super) fn is_of(&self, read: &Rolling) -> bool {
        self.digest == read.text()
    }

    /// Reads the position that an interrupted load left.
    pub(super) fn read(directory: &Path) -> Result<Option<Self>> {
        let path = path(directory);
        match fs::read(&path) {
            Ok(bytes) => {
                let read = serde_json::from_slice(&bytes);
                let read: Self = read.with_context(|| format!("`{}` is damaged", path.display()))?;
                if read.version != VERSION {
                    bail!(
                        "the interrupted load was one of another version of keyplan: load again without --resume \
                         (`{}` has version {}, and {VERSION} is known)",
                        path.display(),
                        read.version
                    );
                }
                Ok(Some(read))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).with_context(|| format!("cannot read `{}`", path.display())),
        }
    }

    /// Keeps it, on the disk. What was there before stays until this is whole.
    pub(super) fn write(&self, directory: &Path) -> Result<()> {
        let path = path(directory);
        let new = path.with_extension("new");
        let text = serde_json::to_vec(self)?;
        let written = || -> io::Result<()> {
            let mut file = File::create(&new)?;
            file.write_all(&text)?;
            file.sync_all()?;
            fs::rename(&new, &path)?;
            // The new name must outlive a power cut, too; where a directory cannot be synced, nothing is lost but time.
            File::open(directory).and_then(|directory| directory.sync_all()).or(Ok(()))
        };
        written().with_context(|| format!("cannot write `{}`", path.display()))
    }

    /// Forgets it.
    pub(super) fn remove(directory: &Path) -> Result<()> {
        match fs::remove_file(path(directory)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error.into()),
            _ => Ok(()),
        }
    }
}

fn path(directory: &Path) -> PathBuf {
    directory.join(FILE)
}
