//! Databases that the engines' own code wrote, read row for row, from both ends and key by key, without a trace.
#![cfg(test)]

use std::collections::BTreeMap;
use std::ops::Bound;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use keyplan_sources::{Options, Source, View, open};
use keyplan_store::Direction;
use keyplan_store::engine::{KeyRange, SpaceId};

type Rows = Vec<(Vec<u8>, Vec<u8>)>;

fn databases() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/databases")
}

/// The rows of an expected file, by store.
fn expected(path: &Path) -> BTreeMap<String, Rows> {
    let text = std::fs::read_to_string(path).expect("read");
    let mut out: BTreeMap<String, Rows> = BTreeMap::new();
    for line in text.lines() {
        let row: serde_json::Value = serde_json::from_str(line).expect("JSON");
        let hex = |name: &str| const_hex::decode(row[name].as_str().expect("text")).expect("hex");
        let store = row["store"].as_str().unwrap_or("default").to_owned();
        out.entry(store).or_default().push((hex("key"), hex("value")));
    }
    out
}

fn walked(view: &dyn View, space: SpaceId, range: KeyRange<'_>, direction: Direction) -> Rows {
    let mut walk = view.walk(space, range, direction).expect("opened");
    let mut rows = Vec::new();
    while let Some(row) = walk.next().expect("read") {
        rows.push((row.key.to_vec(), row.value.to_vec()));
    }
    rows
}

/// Everything that may be asked of a space gives what the rows say.
fn check_space(source: &dyn Source, space: SpaceId, rows: &Rows) {
    let view = source.view().expect("opened");
    assert_eq!(walked(&*view, space, KeyRange::ALL, Direction::Ascending), *rows);
    let mut backward = rows.clone();
    backward.reverse();
    assert_eq!(walked(&*view, space, KeyRange::ALL, Direction::Descending), backward);
    for (key, value) in rows {
        assert_eq!(view.get(space, key).expect("read").as_ref(), Some(value));
        let beside = [&key[..], &[0]].concat();
        let there = rows.iter().find(|row| row.0 == beside).map(|row| row.1.clone());
        assert_eq!(view.get(space, &beside).expect("read"), there);
    }
    for (place, (key, _)) in rows.iter().enumerate().step_by(61) {
        check_bound(&*view, space, rows, place, key);
        check_bound(&*view, space, rows, place + 1, &[&key[..], &[0]].concat());
    }
}

/// Ranges that begin and end at `key`, which would be row `place`.
fn check_bound(view: &dyn View, space: SpaceId, rows: &Rows, place: usize, key: &[u8]) {
    let has = usize::from(rows.get(place).is_some_and(|row| row.0 == key));
    for direction in [Direction::Ascending, Direction::Descending] {
        let read = |range| walked(view, space, range, direction);
        let in_order = |part: &[(Vec<u8>, Vec<u8>)]| {
            let mut part = part.to_vec();
            if direction == Direction::Descending {
                part.reverse();
            }
            part
        };
        let (from, to) = (Bound::Unbounded, Bound::Unbounded);
        assert_eq!(read(KeyRange { start: Bound::Included(key), end: to }), in_order(&rows[place..]));
        assert_eq!(read(KeyRange { start: Bound::Excluded(key), end: to }), in_order(&rows[place + has..]));
        assert_eq!(read(KeyRange { start: from, end: Bound::Included(key) }), in_order(&rows[..place + has]));
        assert_eq!(read(KeyRange { start: from, end: Bound::Excluded(key) }), in_order(&rows[..place]));
    }
}

/// The bytes of every file of a directory, and what the system says about each.
fn trace(directory: &Path) -> BTreeMap<PathBuf, (Vec<u8>, i64, i64, u64, u64)> {
    let mut out = BTreeMap::new();
    let about = std::fs::metadata(directory).expect("there");
    out.insert(
        directory.to_owned(),
        (Vec::new(), about.mtime(), about.mtime_nsec(), about.ino(), about.nlink()),
    );
    for entry in std::fs::read_dir(directory).expect("read") {
        let path = entry.expect("read").path();
        let about = std::fs::metadata(&path).expect("there");
        let bytes = std::fs::read(&path).expect("read");
        out.insert(path, (bytes, about.mtime(), about.mtime_nsec(), about.ino(), about.nlink()));
    }
    out
}

fn check(name: &str, kind: &str) {
    let directory = databases().join(name).join("db");
    let before = trace(&directory);
    let source = open(&directory, &Options::default()).expect("opened");
    assert_eq!(source.kind(), kind);
    let expected = expected(&databases().join(name).join("expected.jsonl"));
    let spaces: Vec<String> = source.spaces().into_iter().map(|space| space.name).collect();
    assert_eq!(spaces.len(), expected.len(), "{spaces:?}");
    for (store, rows) in &expected {
        check_space(&*source, source.space(store).expect("a space"), rows);
    }
    drop(source);
    assert_eq!(trace(&directory), before);
}

#[test]
fn leveldb_is_read() {
    check("leveldb", "leveldb");
}

#[test]
fn goleveldb_is_read() {
    check("goleveldb", "leveldb");
}

#[test]
fn a_crashed_goleveldb_is_read() {
    check("goleveldb-crash", "leveldb");
}

#[test]
fn rocksdb_with_column_families_is_read() {
    check("rocksdb", "rocksdb");
}

#[test]
fn zstandard_in_an_early_table_format_is_read() {
    check("rocksdb-early", "rocksdb");
}

#[test]
fn range_deletions_and_a_table_from_outside_are_read() {
    check("rocksdb-ranges", "rocksdb");
}

/// Their properties name the sequence number that they were given later, which no check counts with.
#[test]
fn tables_from_outside_whose_sequence_number_was_written_into_them_are_read() {
    check("rocksdb-ingested", "rocksdb");
}

#[test]
fn pebble_1_is_read() {
    check("pebble-1", "pebble");
}

#[test]
fn a_crashed_pebble_1_is_read() {
    check("pebble-1-crash", "pebble");
}

#[test]
fn pebble_13_is_read() {
    check("pebble-13", "pebble");
}

/// The files that say what stores of a multistore hold: at the latest version, or at one.
fn multistore(name: &str) {
    let directory = databases().join(name).join("application.db");
    let before = trace(&directory);
    let mut checked = 0;
    for entry in std::fs::read_dir(databases().join(name).join("expected")).expect("read") {
        let path = entry.expect("read").path();
        let stem = path.file_stem().and_then(|stem| stem.to_str()).expect("text").to_owned();
        let (store, height) = match stem.split_once('@') {
            None => (stem.as_str(), None),
            Some((store, height)) => (store, Some(height.parse().expect("a number"))),
        };
        let mut options = Options::default();
        options.height = height;
        let source = open(&directory, &options).expect("opened");
        assert_eq!(source.kind(), "iavl");
        let rows = expected(&path).remove("default").unwrap_or_default();
        check_space(&*source, source.space(store).expect("a space"), &rows);
        checked += 1;
    }
    assert!(checked > 5, "{checked} stores");
    assert_eq!(trace(&directory), before);
}

#[test]
fn iavl_1_is_read() {
    multistore("iavl-1.3.5");
}

#[test]
fn iavl_0_is_read() {
    multistore("iavl-0.19.7");
}

#[test]
fn iavl_of_both_kinds_is_read() {
    multistore("iavl-mixed");
}

#[test]
fn every_root_hash_is_made_anew() {
    for (name, roots) in [("iavl-1.3.5", 28), ("iavl-0.19.7", 21), ("iavl-mixed", 32)] {
        let directory = databases().join(name).join("application.db");
        let rows = keyplan_sources::lsm::Lsm::open(&directory).expect("opened");
        let multistore = keyplan_sources::iavl::Iavl::open(&rows, &directory, None).expect("a multistore");
        let versions = std::fs::read_to_string(databases().join(name).join("versions.json")).expect("read");
        let versions: serde_json::Value = serde_json::from_str(&versions).expect("JSON");
        let commits = versions["commits"].as_array().expect("a list");
        let last = commits.iter().find(|commit| commit["version"] == versions["latest"]).expect("the last");
        assert_eq!(
            const_hex::encode(multistore.commit().app_hash()),
            last["app_hash"].as_str().expect("text")
        );
        let checked = multistore.verify(None).expect("read");
        assert_eq!(checked.len(), roots, "{name}");
        for root in checked {
            assert!(root.matches(), "{name}: {root:?}");
        }
    }
}

#[test]
fn a_removed_store_is_not_in_the_last_commit() {
    let directory = databases().join("iavl-1.3.5/application.db");
    let rows = keyplan_sources::lsm::Lsm::open(&directory).expect("opened");
    let multistore = keyplan_sources::iavl::Iavl::open(&rows, &directory, None).expect("a multistore");
    let report = multistore.report().expect("read");
    let gone: Vec<_> = report.stores.iter().filter(|store| !store.committed).collect();
    assert_eq!(
        gone.iter().map(|store| (store.name.as_str(), store.bytes == store.dead)).collect::<Vec<_>>(),
        [("gravity", true)]
    );
}

/// All rows, or the error that stops them.
fn all_rows(directory: &Path) -> Result<Vec<(String, Rows)>, String> {
    let text = |error: keyplan_sources::SourceError| error.to_string();
    let source = open(directory, &Options::default()).map_err(text)?;
    let view = source.view().map_err(text)?;
    let mut out = Vec::new();
    for (number, space) in (0..).zip(source.spaces()) {
        let mut walk = view.walk(SpaceId(number), KeyRange::ALL, Direction::Ascending).map_err(text)?;
        let mut rows = Vec::new();
        while let Some(row) = walk.next().map_err(text)? {
            rows.push((row.key.to_vec(), row.value.to_vec()));
        }
        out.push((space.name, rows));
    }
    Ok(out)
}

/// A flipped bit is an error or, where nothing reads it, no change; never another row.
#[test]
fn a_flipped_bit_never_gives_another_row() {
    for name in ["leveldb", "goleveldb-crash", "rocksdb", "pebble-1", "pebble-13"] {
        let original = databases().join(name).join("db");
        let expected = all_rows(&original).expect("reads");
        let copy = tempfile::tempdir().expect("made");
        let names: Vec<_> = std::fs::read_dir(&original)
            .expect("read")
            .map(|entry| entry.expect("read").file_name())
            .collect();
        for file in &names {
            std::fs::copy(original.join(file), copy.path().join(file)).expect("copied");
        }
        let mut errors = 0;
        for file in &names {
            let bytes = std::fs::read(original.join(file)).expect("read");
            let path = copy.path().join(file);
            for place in (0..bytes.len()).step_by(bytes.len() / 6 + 1) {
                let mut flipped = bytes.clone();
                flipped[place] ^= 1 << (place % 8);
                std::fs::write(&path, &flipped).expect("written");
                match all_rows(copy.path()) {
                    Err(_) => errors += 1,
                    Ok(rows) => assert!(rows == expected, "{name}: {file:?}: byte {place} changed rows"),
                }
            }
            std::fs::write(&path, &bytes).expect("written");
        }
        assert!(errors > 10, "{name}: {errors} errors");
    }
}

/// What the system says about each file of a directory, and about the directory.
fn times(directory: &Path) -> BTreeMap<PathBuf, [(i64, i64); 3]> {
    let entries = std::fs::read_dir(directory).expect("read").map(|entry| entry.expect("read").path());
    let paths: Vec<PathBuf> = entries.chain([directory.to_owned()]).collect();
    let about = |path: PathBuf| {
        let found = std::fs::metadata(&path).expect("there");
        let times = [
            (found.atime(), found.atime_nsec()),
            (found.mtime(), found.mtime_nsec()),
            (found.ctime(), found.ctime_nsec()),
        ];
        (path, times)
    };
    // The directory's own times are read before its entries are, as reading them is an access.
    let own = about(directory.to_owned());
    paths.into_iter().filter(|path| path != directory).map(about).chain([own]).collect()
}

#[test]
fn no_time_of_a_source_changes() {
    use std::time::{Duration, SystemTime};
    for entry in std::fs::read_dir(databases()).expect("read") {
        let folder = entry.expect("read").path();
        let original = ["db", "application.db"].map(|name| folder.join(name));
        let Some(original) = original.iter().find(|path| path.is_dir()) else { continue };
        let copy = tempfile::tempdir().expect("made");
        for entry in std::fs::read_dir(original).expect("read") {
            let path = entry.expect("read").path();
            std::fs::copy(&path, copy.path().join(path.file_name().expect("a name"))).expect("copied");
        }
        // A time of access before that of the last change is one that the next access sets.
        let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
        let old = std::fs::FileTimes::new().set_accessed(long_ago).set_modified(SystemTime::now());
        let entries: Vec<_> = std::fs::read_dir(copy.path()).expect("read").collect();
        for path in entries.into_iter().map(|entry| entry.expect("read").path()).chain([copy.path().into()]) {
            let file = std::fs::File::open(&path).expect("opened");
            file.set_times(old).expect("set");
        }
        let before = times(copy.path());
        // Reading the names to compare was an access of the directory.
        std::fs::File::open(copy.path()).and_then(|file| file.set_times(old)).expect("set");
        let directory = std::fs::metadata(copy.path()).expect("there").atime();
        assert!(!all_rows(copy.path()).expect("reads").is_empty());
        let untouched = std::fs::metadata(copy.path()).expect("there").atime();
        assert_eq!(untouched, directory, "{}", folder.display());
        let after = times(copy.path());
        for (path, times) in before.iter().filter(|(path, _)| *path != copy.path()) {
            assert_eq!(after.get(path), Some(times), "{}", path.display());
        }
        assert_eq!(after.len(), before.len());
    }
}

#[test]
fn links_and_pipes_are_refused() {
    let directory = tempfile::tempdir().expect("made");
    let original = databases().join("leveldb/db");
    std::os::unix::fs::symlink(original.join("CURRENT"), directory.path().join("CURRENT")).expect("made");
    let refused = format!("{}: a symbolic link is not supported", directory.path().join("CURRENT").display());
    assert_eq!(all_rows(directory.path()), Err(refused));
    let pipes = tempfile::tempdir().expect("made");
    let made = std::process::Command::new("mkfifo").arg(pipes.path().join("CURRENT")).status();
    assert!(made.expect("run").success());
    let refused =
        format!("{}: what is not a regular file is not supported", pipes.path().join("CURRENT").display());
    assert_eq!(all_rows(pipes.path()), Err(refused));
}
