//! An archive of a release: the same files give the same bytes, on every machine and at every time.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::path::Path;

use anyhow::{Context as _, Result};
use flate2::{Compression, GzBuilder};
use sha2::{Digest as _, Sha256};

/// The files of an archive by their paths inside of it, with `/` between folders.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Archive {
    files: BTreeMap<String, Entry>,
}

/// The SHA-256 of bytes, as `sha256sum` prints it.
pub fn checksum(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// How small an archive is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// Not at all: for a look at an archive that nobody keeps.
    None,
    /// As small as can be.
    Best,
}

#[derive(Debug, PartialEq, Eq)]
struct Entry {
    bytes: Vec<u8>,
    mode: u32,
}

impl Archive {
    /// Adds a file to be read.
    pub fn add(&mut self, path: impl Into<String>, bytes: impl Into<Vec<u8>>) {
        self.files.insert(path.into(), Entry { bytes: bytes.into(), mode: 0o644 });
    }

    /// Adds a program.
    pub fn add_program(&mut self, path: impl Into<String>, bytes: impl Into<Vec<u8>>) {
        self.files.insert(path.into(), Entry { bytes: bytes.into(), mode: 0o755 });
    }

    /// Adds every file of a folder, not those of folders in it, under a path that ends with `/` or is empty.
    pub fn add_folder(&mut self, path: &str, folder: &Path) -> Result<()> {
        for entry in std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            self.add(format!("{path}{name}"), std::fs::read(entry.path())?);
        }
        Ok(())
    }

    /// The paths, in their order.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// A file.
    pub fn get(&self, path: &str) -> Option<&[u8]> {
        self.files.get(path).map(|entry| entry.bytes.as_slice())
    }

    /// The archive: sorted, owned by nobody, and every file of the time that is given, in seconds since 1970.
    pub fn to_tar_gz(&self, time: u64, effort: Effort) -> Result<Vec<u8>> {
        let mut tar = tar::Builder::new(Vec::new());
        for (path, entry) in &self.files {
            let mut header = tar::Header::new_ustar();
            header.set_size(entry.bytes.len() as u64);
            header.set_mode(entry.mode);
            header.set_mtime(time);
            header.set_uid(0);
            header.set_gid(0);
            tar.append_data(&mut header, path, entry.bytes.as_slice())
                .with_context(|| format!("cannot put `{path}` into the archive"))?;
        }
        // A header of gzip without a time, a name or a system.
        let level = match effort {
            Effort::None => Compression::none(),
            Effort::Best => Compression::best(),
        };
        let mut gzip = GzBuilder::new().mtime(0).operating_system(255).write(Vec::new(), level);
        gzip.write_all(&tar.into_inner()?)?;
        Ok(gzip.finish()?)
    }

    /// Reads what [`to_tar_gz`](Self::to_tar_gz) or another program wrote.
    pub fn read(bytes: &[u8]) -> Result<Self> {
        let mut archive = Self::default();
        for entry in tar::Archive::new(flate2::read::GzDecoder::new(bytes)).entries()? {
            let mut entry = entry?;
            let path = entry.path()?.to_string_lossy().into_owned();
            let mode = entry.header().mode()?;
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes)?;
            archive.files.insert(path, Entry { bytes, mode });
        }
        Ok(archive)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(order: [(&str, &str); 2]) -> Archive {
        let mut archive = Archive::default();
        for (path, text) in order {
            archive.add(path, text);
        }
        archive.add_program("a/program", [0x7f, b'E']);
        archive
    }

    #[test]
    fn the_same_files_give_the_same_bytes_in_whatever_order_they_come() {
        let one = files([("a/b", "1"), ("a/c", "2")]).to_tar_gz(1_700_000_000, Effort::Best).unwrap();
        let other = files([("a/c", "2"), ("a/b", "1")]).to_tar_gz(1_700_000_000, Effort::Best).unwrap();
        assert_eq!(one, other);
        assert_ne!(one, files([("a/b", "1"), ("a/c", "3")]).to_tar_gz(1_700_000_000, Effort::Best).unwrap());
    }

    #[test]
    fn a_checksum_is_that_of_sha256sum() {
        assert_eq!(checksum(b""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    }

    #[test]
    fn what_is_written_is_read_again() {
        let archive = files([("a/b", "1"), ("a/c", "2")]);
        assert_eq!(Archive::read(&archive.to_tar_gz(0, Effort::Best).unwrap()).unwrap(), archive);
        assert_eq!(Archive::read(&archive.to_tar_gz(0, Effort::None).unwrap()).unwrap(), archive);
    }
}
