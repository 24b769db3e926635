//! Everything that a source gives, or why it gives nothing.

use std::fs;
use std::path::{Path, PathBuf};

use keyplan_sources::{Options, SourceError, open};
use keyplan_store::Direction;
use keyplan_store::engine::{KeyRange, SpaceId};

/// Space, key and value.
pub(crate) type Row = (String, Vec<u8>, Vec<u8>);

/// Every row of every space, both ways, and some keys looked up: all must agree.
pub(crate) fn rows(path: &Path) -> Result<Vec<Row>, SourceError> {
    let source = open(path, &Options::default())?;
    let view = source.view()?;
    let mut all = Vec::new();
    for (number, space) in (0..).zip(source.spaces()) {
        let first = all.len();
        let mut walk = view.walk(SpaceId(number), KeyRange::ALL, Direction::Ascending)?;
        while let Some(row) = walk.next()? {
            all.push((space.name.clone(), row.key.to_vec(), row.value.to_vec()));
        }
        let mut back = view.walk(SpaceId(number), KeyRange::ALL, Direction::Descending)?;
        for (_, key, value) in all[first..].iter().rev() {
            let row = back.next()?.expect("as many rows backwards");
            assert_eq!((row.key, row.value), (key.as_slice(), value.as_slice()));
        }
        assert!(back.next()?.is_none(), "more rows backwards");
    }
    Ok(all)
}

/// The folders of `testdata/databases`, with the path of the database in each.
pub(crate) fn databases() -> Vec<(String, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/databases");
    let mut found: Vec<(String, PathBuf)> = fs::read_dir(root)
        .expect("a directory")
        .map(|entry| entry.expect("an entry").path())
        .filter_map(|folder| {
            let name = folder.file_name()?.to_str()?.to_owned();
            let paths = ["db", "application.db"].map(|inner| folder.join(inner));
            Some((name, paths.into_iter().find(|path| path.is_dir())?))
        })
        .collect();
    found.sort();
    assert!(found.len() >= 16, "{} databases", found.len());
    found
}

/// The files of a database, by name.
pub(crate) fn names(path: &Path) -> Vec<String> {
    let name = |entry: std::io::Result<fs::DirEntry>| {
        entry.expect("an entry").file_name().into_string().expect("text")
    };
    let mut names: Vec<String> = fs::read_dir(path).expect("a directory").map(name).collect();
    names.sort();
    names
}

/// A copy of a database.
pub(crate) fn copy(path: &Path) -> tempfile::TempDir {
    let target = tempfile::tempdir().expect("a temporary directory");
    for name in names(path) {
        fs::copy(path.join(&name), target.path().join(&name)).expect("copied");
    }
    target
}

/// The file that an error is about.
pub(crate) fn blamed(error: &SourceError) -> Option<&Path> {
    match error {
        SourceError::Damaged { path, .. }
        | SourceError::Unsupported { path, .. }
        | SourceError::Io { path, .. }
        | SourceError::Changing { path, .. } => Some(path),
        _ => None,
    }
}
