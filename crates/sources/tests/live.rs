//! A database that its engine is writing to, read again and again: each time one state between two batches.
#![cfg(test)]

#[path = "live/go.rs"]
mod go;

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use keyplan_sources::{Options, SourceError, open};
use keyplan_store::Direction;
use keyplan_store::engine::{KeyRange, SpaceId};
use rustix::process::{Resource, Rlimit, setrlimit};

/// How many batches lie between one that puts a row and the one that deletes it.
const WINDOW: u64 = 1500;

/// A writer that ends with its test.
struct Writer {
    child: Child,
    told: BufReader<ChildStdout>,
}

impl Writer {
    /// Fills `database` until it is dropped.
    fn start(program: &Path, database: &Path) -> Self {
        let mut child = Command::new(program)
            .arg(database)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("started");
        let told = BufReader::new(child.stdout.take().expect("piped"));
        let mut writer = Self { child, told };
        assert_eq!(writer.reached(), WINDOW);
        writer
    }

    /// The next number that the writer says it has reached.
    fn reached(&mut self) -> u64 {
        let mut line = String::new();
        self.told.read_line(&mut line).expect("a line");
        line.trim().parse().expect("a number")
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        // It may wait for its lines to be read.
        let _ = std::io::copy(&mut self.told, &mut std::io::sink());
        self.child.wait().expect("ended");
    }
}

fn rows(path: &Path) -> Result<BTreeMap<Vec<u8>, Vec<u8>>, SourceError> {
    let source = open(path, &Options::default())?;
    let view = source.view()?;
    let mut walk = view.walk(SpaceId(0), KeyRange::ALL, Direction::Ascending)?;
    let mut out = BTreeMap::new();
    while let Some(row) = walk.next()? {
        out.insert(row.key.to_vec(), row.value.to_vec());
    }
    Ok(out)
}

fn number(bytes: &[u8]) -> u64 {
    u64::from_be_bytes(bytes.try_into().expect("eight bytes"))
}

/// The number of the batch that the rows are the state after; they must agree on it.
fn state(mut rows: BTreeMap<Vec<u8>, Vec<u8>>) -> u64 {
    let last = number(&rows.remove(&b"first"[..]).expect("a row"));
    assert_eq!(number(&rows.remove(&b"last"[..]).expect("a row")), last);
    assert_eq!(rows.len() as u64, 2 * WINDOW.min(last), "at batch {last}");
    for n in last.saturating_sub(WINDOW) + 1..=last {
        let side = |side: &[u8]| rows.get(&[side, &n.to_be_bytes()].concat()).expect("a row of the window");
        assert_eq!(side(b"a/"), side(b"b/"), "row {n} at batch {last}");
    }
    last
}

#[test]
fn a_goleveldb_is_read_under_load_and_with_few_descriptors() {
    let directory = tempfile::tempdir().expect("made");
    let program = go::build("live/writer.go", directory.path());
    under_load(&program, &directory.path().join("live"));
    few_descriptors(&program, &directory.path().join("tables"));
}

/// 100 reads in a row, each of one state.
fn under_load(program: &Path, database: &Path) {
    let mut writer = Writer::start(program, database);
    let mut states = Vec::new();
    let mut written = WINDOW;
    for round in 0..100 {
        // Whatever the machine does, the writer is ahead of where it was some reads ago.
        while round % 10 == 0 && states.last().is_some_and(|&last| written <= last) {
            written = writer.reached();
        }
        match rows(database) {
            Ok(rows) => states.push(state(rows)),
            Err(error) => panic!("round {round}: {error}"),
        }
        assert!(states.last() >= Some(&written), "round {round} has not what was written before it");
    }
    drop(writer);
    assert!(states.is_sorted(), "{states:?}");
    assert!(states.first() < states.last(), "nothing was written meanwhile: {states:?}");
}

/// More tables than there may be open files.
fn few_descriptors(program: &Path, database: &Path) {
    let filled = Command::new(program).arg(database).arg("tables").status().expect("run");
    assert!(filled.success());
    let files = std::fs::read_dir(database).expect("read").map(|entry| entry.expect("read").path());
    let tables = files.filter(|path| path.extension().is_some_and(|extension| extension == "ldb")).count();
    assert!(tables > 200, "{tables} tables");
    let few = Rlimit { current: Some(128), maximum: Some(128) };
    setrlimit(Resource::Nofile, few).expect("set");
    assert_eq!(state(rows(database).expect("read")), 2 * WINDOW);
}
