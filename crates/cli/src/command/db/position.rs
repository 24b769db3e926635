use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use keyplan_codec::Hash;
use serde::{Deserialize, Serialize};

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
    /// A digest of that unit, so that another input is told apart.
    pub(super) digest: String,
}

impl Position {
    /// Behind a unit.
    pub(super) fn behind(unit: u64, rows: u64, bytes: &[u8]) -> Self {
        Self { version: 1, unit, rows, digest: digest(bytes) }
    }

    /// Whether a unit is the one that it stands behind.
    pub(super) fn is_of(&self, bytes: &[u8]) -> bool {
        self.digest == digest(bytes)
    }

    /// Reads the position that an interrupted load left.
    pub(super) fn read(directory: &Path) -> Result<Option<Self>> {
        let path = path(directory);
        match fs::read(&path) {
            Ok(bytes) => {
                let read = serde_json::from_slice(&bytes);
                Ok(Some(read.with_context(|| format!("`{}` is damaged", path.display()))?))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).with_context(|| format!("cannot read `{}`", path.display())),
        }
    }

    /// Keeps it. What was there before stays until this is whole.
    pub(super) fn write(&self, directory: &Path) -> Result<()> {
        let path = path(directory);
        let new = path.with_extension("new");
        let written = fs::write(&new, serde_json::to_vec(self)?).and_then(|()| fs::rename(&new, &path));
        written.with_context(|| format!("cannot write `{}`", path.display()))
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

fn digest(bytes: &[u8]) -> String {
    const_hex::encode(Hash::Xxh3_64.digest(bytes).as_ref())
}
