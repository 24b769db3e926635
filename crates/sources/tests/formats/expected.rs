//! What a database must give, and what may not happen to it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use keyplan_store::Direction;
use keyplan_store::engine::{KeyRange, SpaceId};
use keyplan_store::source::{Source, SourceError};

/// Space, key and value.
pub(crate) type Row = (String, Vec<u8>, Vec<u8>);

/// A folder of `testdata/databases`.
pub(crate) fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/databases").join(name)
}

/// The rows that the engine's own iterator gave; `space` is the space of rows that name none.
pub(crate) fn expected(name: &str, space: &str) -> Vec<Row> {
    let text = fs::read_to_string(folder(name).join("expected.jsonl")).expect("there are expected rows");
    let row = |line: &str| {
        let row: serde_json::Value = serde_json::from_str(line).expect("a line is JSON");
        let text = |field: &str| row[field].as_str().map(str::to_owned);
        let bytes = |field: &str| const_hex::decode(text(field).expect("a field")).expect("hex digits");
        (text("store").unwrap_or_else(|| space.to_owned()), bytes("key"), bytes("value"))
    };
    text.lines().map(row).collect()
}

/// Every row of a source.
pub(crate) fn rows(source: &dyn Source, direction: Direction) -> Result<Vec<Row>, SourceError> {
    let view = source.view()?;
    let mut rows = Vec::new();
    for (index, space) in (0..).zip(source.spaces()) {
        let mut walk = view.walk(SpaceId(index), KeyRange::ALL, direction)?;
        let first = rows.len();
        while let Some(row) = walk.next()? {
            rows.push((space.name.clone(), row.key.to_vec(), row.value.to_vec()));
        }
        if direction == Direction::Descending {
            rows[first..].reverse();
        }
    }
    Ok(rows)
}

/// Reads a source in every way there is, and compares with what it must hold.
pub(crate) fn check(source: &dyn Source, expected: &[Row]) {
    for direction in [Direction::Ascending, Direction::Descending] {
        let found = rows(source, direction).expect("read");
        for (found, expected) in found.iter().zip(expected) {
            assert_eq!(found, expected, "{direction:?}");
        }
        assert_eq!(found.len(), expected.len(), "{direction:?}");
    }
    let view = source.view().expect("opened");
    let id = |name: &str| source.space(name).expect("a space");
    let mut first_values = BTreeMap::new();
    for (space, key, value) in expected {
        first_values.entry((space, key)).or_insert(value);
    }
    for ((space, key), value) in &first_values {
        assert_eq!(view.get(id(space), key).expect("read").as_ref(), Some(*value));
    }
    // Ranges with each kind of bound, between rows and at them, in both directions.
    let keys: Vec<(&str, &[u8])> =
        expected.iter().map(|(space, key, _)| (space.as_str(), key.as_slice())).collect();
    for (step, &(space, low)) in keys.iter().enumerate().step_by(37) {
        let high = keys.get(step + 11).filter(|(other, _)| *other == space).map_or(low, |(_, high)| *high);
        let longer = [low, &[0]].concat();
        for (start, end) in [(low, high), (high, low), (&longer, high), (&[], low)] {
            use std::ops::Bound::{Excluded, Included, Unbounded};
            for range in [
                KeyRange { start: Included(start), end: Included(end) },
                KeyRange { start: Excluded(start), end: Excluded(end) },
                KeyRange { start: Included(start), end: Unbounded },
                KeyRange { start: Unbounded, end: Excluded(end) },
            ] {
                let within: Vec<Row> = expected
                    .iter()
                    .filter(|(found, key, _)| found == space && range.contains(key) && !range.is_empty())
                    .cloned()
                    .collect();
                for direction in [Direction::Ascending, Direction::Descending] {
                    let mut walk = view.walk(id(space), range, direction).expect("opened");
                    let mut found = Vec::new();
                    while let Some(row) = walk.next().expect("read") {
                        found.push((space.to_owned(), row.key.to_vec(), row.value.to_vec()));
                    }
                    if direction == Direction::Descending {
                        found.reverse();
                    }
                    assert_eq!(found, within, "{range:?} {direction:?}");
                }
            }
        }
    }
}

/// Every file below a path: its bytes and the time of its last change.
pub(crate) fn files(path: &Path) -> BTreeMap<PathBuf, (Vec<u8>, SystemTime)> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(path).expect("a directory") {
        let path = entry.expect("an entry").path();
        let changed = fs::metadata(&path).and_then(|meta| meta.modified()).expect("a time");
        if path.is_dir() {
            found.extend(files(&path));
            found.insert(path, (Vec::new(), changed));
        } else {
            let bytes = fs::read(&path).expect("readable");
            found.insert(path, (bytes, changed));
        }
    }
    found
}

/// A copy of a database that may be damaged.
pub(crate) fn copy(name: &str) -> tempfile::TempDir {
    let target = tempfile::tempdir().expect("a temporary directory");
    for entry in fs::read_dir(folder(name).join("db")).expect("a directory") {
        let path = entry.expect("an entry").path();
        fs::copy(&path, target.path().join(path.file_name().expect("a name"))).expect("copied");
    }
    target
}
