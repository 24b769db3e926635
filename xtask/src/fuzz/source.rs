//! A database of another program, of which one file holds anything.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use keyplan_sources::{Options, SourceError, open};
use keyplan_store::Direction;
use keyplan_store::engine::{KeyRange, SpaceId, SpaceKind};

/// A database of `testdata/databases`, file by file.
pub(super) struct Database {
    pub(super) name: String,
    pub(super) files: BTreeMap<String, Vec<u8>>,
}

/// Any bytes in the place of any file of a database give rows in order, or an error.
///
/// The first byte chooses the database, the second the file. If the third is odd, the checks of a log's records are made
/// right, so that what is in them is read. The rest is the file.
///
/// # Panics
///
/// If the claim does not hold.
pub fn source(bytes: &[u8]) {
    let &[database, file, sealed, ref rest @ ..] = bytes else { return };
    let all = databases();
    let Some(database) = all.get(usize::from(database) % all.len().max(1)) else { return };
    let files: Vec<&String> = database.files.keys().collect();
    let Some(&file) = files.get(usize::from(file) % files.len().max(1)) else { return };
    let mut rest = rest.to_vec();
    if sealed % 2 == 1 && is_log(file) {
        seal(&mut rest);
    }
    let directory = Directory::new(&database.name);
    for (name, bytes) in &database.files {
        let bytes = if name == file { &rest } else { bytes };
        if fs::write(directory.0.join(name), bytes).is_err() {
            return;
        }
    }
    read(&directory.0, true);
}

/// Reads everything at a path. An error must be about a file there; `sorted` says that keys come in the order of bytes.
pub(super) fn read(path: &Path, sorted: bool) {
    let read = rows(path, sorted);
    if let Err(SourceError::Damaged { path: at, .. } | SourceError::Unsupported { path: at, .. }) = read {
        assert!(at.starts_with(path), "{} is not in the database", at.display());
    }
}

/// Walks everything both ways; keys must ascend, and be the same backwards.
fn rows(path: &Path, sorted: bool) -> Result<(), SourceError> {
    let source = open(path, &Options::default())?;
    let view = source.view()?;
    for (number, space) in (0..).zip(source.spaces()) {
        let mut walk = view.walk(SpaceId(number), KeyRange::ALL, Direction::Ascending)?;
        let mut keys: Vec<Vec<u8>> = Vec::new();
        while let Some(row) = walk.next()? {
            let last = keys.last().map_or(&[][..], Vec::as_slice);
            // LMDB has other orders too, for whoever asks for them.
            let in_order = !sorted || keys.is_empty() || last < row.key || source.kind() == "lmdb";
            assert!(in_order || space.kind == SpaceKind::Multimap, "keys do not ascend in {}", space.name);
            keys.push(row.key.to_vec());
        }
        let mut back = view.walk(SpaceId(number), KeyRange::ALL, Direction::Descending)?;
        while let Some(row) = back.next()? {
            assert_eq!(keys.pop().as_deref(), Some(row.key), "backwards in {}", space.name);
        }
        assert!(keys.is_empty(), "{} keys are not there backwards in {}", keys.len(), space.name);
    }
    Ok(())
}

/// Each file of each database, chosen by its first bytes, with its checks as they are and made right.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    let mut out = Vec::new();
    for (database, of) in (0_u8..).zip(databases()) {
        for (file, (name, bytes)) in (0_u8..).zip(&of.files) {
            out.push([&[database, file, 0][..], bytes].concat());
            if is_log(name) {
                out.push([&[database, file, 1][..], bytes].concat());
            }
        }
    }
    out
}

/// The databases that are kept, without files too large to change often.
pub(super) fn databases() -> &'static [Database] {
    static ALL: OnceLock<Vec<Database>> = OnceLock::new();
    ALL.get_or_init(|| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/databases");
        let mut folders = entries(&root);
        folders.sort();
        folders.iter().filter_map(|folder| database(folder)).collect()
    })
}

fn database(folder: &Path) -> Option<Database> {
    let name = folder.file_name()?.to_str()?.to_owned();
    let directory = ["db", "application.db"].map(|name| folder.join(name));
    let directory = directory.iter().find(|path| path.is_dir())?;
    let read = |path: PathBuf| Some((path.file_name()?.to_str()?.to_owned(), fs::read(&path).ok()?));
    let files: BTreeMap<String, Vec<u8>> = entries(directory).into_iter().filter_map(read).collect();
    let small = files.values().map(Vec::len).sum::<usize>() < 320 * 1024;
    small.then_some(Database { name, files })
}

fn entries(path: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(path) else { return Vec::new() };
    entries.filter_map(|entry| Some(entry.ok()?.path())).collect()
}

pub(super) fn is_log(name: &str) -> bool {
    name.starts_with("MANIFEST-") || Path::new(name).extension().is_some_and(|extension| extension == "log")
}

/// Makes the checks of records right: a masked CRC-32C, a length of two bytes and a kind before the bytes of each.
pub(super) fn seal(log: &mut [u8]) {
    const BLOCK: usize = 32 * 1024;
    for block in log.chunks_mut(BLOCK) {
        let mut at = 0;
        while let Some(&[_, _, _, _, low, high, _]) =
            block.get(at..at + 7).and_then(|head| <&[u8; 7]>::try_from(head).ok())
        {
            let length = usize::from(low) | usize::from(high) << 8;
            // The number of a log that was used before is between the kind and the bytes, and is under the check too.
            let kind = block.get(at + 6).copied().unwrap_or(0);
            let end = at + 7 + length + if matches!(kind, 5..=8) { 4 } else { 0 };
            let Some(body) = block.get(at + 6..end) else { break };
            let check = crc32c::crc32c(body).rotate_right(15).wrapping_add(0xa282_ead8);
            if let Some(stored) = block.get_mut(at..at + 4) {
                let mut bytes = check.to_be_bytes();
                bytes.reverse();
                stored.copy_from_slice(&bytes);
            }
            at = end;
        }
    }
}

/// A directory that is gone when it is dropped.
pub(super) struct Directory(pub(super) PathBuf);

impl Directory {
    pub(super) fn new(name: &str) -> Self {
        use std::sync::atomic::{AtomicU64, Ordering};
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("keyplan-fuzz-{}-{count}-{name}", std::process::id()));
        let _ = fs::create_dir_all(&path);
        Self(path)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
