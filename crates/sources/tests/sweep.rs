//! Databases of many kinds, written by the engine's own code with options drawn at random: each is read as that code reads it.
//!
//! `KEYPLAN_SWEEP` is the number of databases, and `KEYPLAN_SWEEP_SEED` chooses others.
#![cfg(test)]

#[path = "live/go.rs"]
mod go;

use std::io::{BufRead as _, BufReader};
use std::ops::Bound;
use std::path::Path;
use std::process::{Command, Stdio};

use keyplan_sources::{Options, open};
use keyplan_store::Direction;
use keyplan_store::engine::{KeyRange, SpaceId};

type Row = (Vec<u8>, Vec<u8>);

/// What the engine's own iterator gave.
fn expected(path: &Path) -> Vec<Row> {
    let text = std::fs::read_to_string(path).expect("rows");
    let bytes = |digits: &str| const_hex::decode(digits).expect("hex digits");
    text.lines().map(|line| line.split_once(' ').expect("a row")).map(|(k, v)| (bytes(k), bytes(v))).collect()
}

/// The rows of a range of a database, in both directions, with single rows and rows that are not there.
fn compare(path: &Path, expected: &[Row], said: &str) {
    let source = open(path, &Options::default()).unwrap_or_else(|error| panic!("{said}: {error}"));
    let view = source.view().unwrap_or_else(|error| panic!("{said}: {error}"));
    let walked = |range: KeyRange<'_>, direction| -> Vec<Row> {
        let mut walk = view.walk(SpaceId(0), range, direction).unwrap_or_else(|e| panic!("{said}: {e}"));
        let mut rows = Vec::new();
        while let Some(row) = walk.next().unwrap_or_else(|error| panic!("{said}: {error}")) {
            rows.push((row.key.to_vec(), row.value.to_vec()));
        }
        rows
    };
    let reversed = |rows: &[Row]| -> Vec<Row> { rows.iter().rev().cloned().collect() };
    assert!(walked(KeyRange::ALL, Direction::Ascending) == expected, "{said}");
    assert!(walked(KeyRange::ALL, Direction::Descending) == reversed(expected), "{said}, from its end");
    for (step, bounds) in expected.windows(7).step_by(11).enumerate() {
        let (from, to) = (&bounds[0].0, &bounds[6].0);
        let range = KeyRange { start: Bound::Included(from), end: Bound::Excluded(to) };
        assert!(walked(range, Direction::Ascending) == bounds[..6], "{said}: range {step}");
        let range = KeyRange { start: Bound::Excluded(from), end: Bound::Included(to) };
        assert!(
            walked(range, Direction::Descending) == reversed(&bounds[1..]),
            "{said}: range {step}, from its end"
        );
        let absent = [to.as_slice(), &[0, 0]].concat();
        let found = |key: &[u8]| view.get(SpaceId(0), key).unwrap_or_else(|error| panic!("{said}: {error}"));
        assert_eq!(found(to).as_deref(), Some(bounds[6].1.as_slice()), "{said}: get {step}");
        let there = expected.iter().any(|(key, _)| *key == absent);
        assert_eq!(found(&absent).is_some(), there, "{said}: get {step}");
    }
}

#[test]
fn databases_of_many_options_are_read_as_their_engine_reads_them() {
    let number = |name: &str, usual: u64| {
        std::env::var(name).ok().map_or(usual, |text| text.parse().expect("a number"))
    };
    let (count, seed) = (number("KEYPLAN_SWEEP", 40), number("KEYPLAN_SWEEP_SEED", 1));
    let directory = tempfile::tempdir().expect("made");
    let program = go::build("sweep/writer.go", directory.path());
    let mut writer = Command::new(program)
        .arg(directory.path())
        .args([count.to_string(), seed.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("started");
    let mut told = String::new();
    BufReader::new(writer.stdout.take().expect("piped")).read_line(&mut told).expect("a line");
    assert_eq!(told, "written\n");
    let all = |state: &str| {
        for number in 0..count {
            let path = directory.path().join(number.to_string());
            let said = format!(
                "database {number} of seed {seed}, {}",
                if number % 2 == 0 { "closed" } else { state }
            );
            compare(&path, &expected(&path.with_extension("rows")), &said);
        }
    };
    all("open");
    drop(writer.stdin.take());
    assert!(writer.wait().expect("ended").success());
    all("left behind");
}
