use keyplan_sources::badger::Badger;

use crate::damage::{Open, Tally, cut, flip, flood};
use crate::expected::{check, expected, files, folder};

const OPEN: Open = |path| Ok(Box::new(Badger::open(path)?));

#[test]
fn the_newest_versions_are_read_from_tables_and_logs() {
    let path = folder("badger").join("db");
    let before = files(&path);
    check(&Badger::open(&path).expect("opened"), &expected("badger", "default"));
    assert_eq!(files(&path), before);
}

#[test]
fn every_change_of_a_table_or_a_manifest_is_found() {
    let expected = expected("badger", "default");
    let tally = flip("badger", "000002.sst", 3203, &expected, OPEN);
    assert_eq!(tally, Tally { refused: 13, same: 0, other: 0 });
    let tally = flip("badger", "MANIFEST", 1, &expected, OPEN);
    assert_eq!(tally, Tally { refused: 48, same: 0, other: 0 });
    let tally = flood("badger", "000002.sst", 3989, &expected, OPEN);
    assert_eq!((tally.same, tally.other), (0, 0));
    let tally = cut("badger", "000002.sst", 3209, &expected, OPEN);
    assert_eq!((tally.same, tally.other), (0, 0));
}

#[test]
fn a_change_of_a_log_is_found_or_touches_nothing_that_is_read() {
    let expected = expected("badger", "default");
    for tally in [
        flip("badger", "000000.vlog", 8009, &expected, OPEN),
        flood("badger", "000000.vlog", 8011, &expected, OPEN),
    ] {
        assert!(tally.refused > 0 && tally.other == 0, "{tally:?}");
    }
}
