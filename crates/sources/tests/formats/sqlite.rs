use std::fs;

use keyplan_sources::sqlite::Sqlite;
use keyplan_store::Direction;

use crate::damage::{Open, Tally, cut, flip, flood};
use crate::expected::{check, copy, expected, files, folder, rows};

const OPEN: Open = |path| Ok(Box::new(Sqlite::open(path)?));

#[test]
fn rows_of_the_log_are_read_with_those_of_the_file() {
    let path = folder("sqlite").join("db");
    let before = files(&path);
    let source = Sqlite::open(&path).expect("opened");
    check(&source, &expected("sqlite", "kv"));
    let reason = "it holds text, and other tables hold blobs";
    assert_eq!(source.others(), [("meta".to_owned(), reason.to_owned())]);
    assert_eq!(files(&path), before);
}

#[test]
fn tables_with_row_numbers_are_read_through_the_index_of_their_keys() {
    let path = folder("sqlite-rows").join("db");
    let before = files(&path);
    let source = Sqlite::open(&path).expect("opened");
    check(&source, &expected("sqlite-rows", ""));
    assert_eq!(source.others(), []);
    assert_eq!(files(&path), before);
}

#[test]
fn without_the_log_there_are_other_rows() {
    let directory = copy("sqlite");
    fs::remove_file(directory.path().join("state.sqlite-wal")).expect("removed");
    let found = rows(&Sqlite::open(directory.path()).expect("opened"), Direction::Ascending).expect("read");
    assert_ne!(found, expected("sqlite", "kv"));
}

#[test]
fn every_change_of_the_log_is_found() {
    let expected = expected("sqlite", "kv");
    // The last frame by itself could have been cut off by a crash: its two are read as the state before it.
    let tally = flip("sqlite", "state.sqlite-wal", 3037, &expected, OPEN);
    assert_eq!(tally, Tally { refused: 46, same: 0, other: 2 });
    // A log that is cut off ends with its last whole commit.
    let tally = cut("sqlite", "state.sqlite-wal", 12007, &expected, OPEN);
    assert_eq!((tally.refused, tally.same), (0, 0));
}

#[test]
fn damaged_files_are_refused_or_read_and_never_loop() {
    let expected = expected("sqlite", "kv");
    for tally in [
        flip("sqlite", "state.sqlite", 911, &expected, OPEN),
        flood("sqlite", "state.sqlite", 907, &expected, OPEN),
        flood("sqlite", "state.sqlite-wal", 7993, &expected, OPEN),
    ] {
        assert!(tally.refused > 0, "{tally:?}");
    }
}
