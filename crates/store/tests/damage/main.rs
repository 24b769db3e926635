//! Files that were damaged, cut, emptied, swapped or deleted: an error that names the file, or the right rows.
#![cfg(test)]

#[path = "../support/chain.rs"]
mod chain;
mod files;
mod lmdb;
mod particular;
mod read_only;
#[path = "../support/mod.rs"]
mod support;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use chain::{State, apply, commit, cursor, read, schema};
use files::{Damage, Files};
use keyplan_store::engine::{Durability, Engine, Error, Fjall, Redb, RedbSettings};
use keyplan_store::{Store, StoreError};
use support::{Random, rounds, small_fjall};

/// What became of a damaged database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    /// All rows are there.
    Whole,
    /// There was an error, when opening or when reading.
    Refused,
    /// The rows are exactly those of an earlier batch.
    Earlier,
}

/// How a database ends before it is damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// Everything is in tables.
    Shutdown,
    /// The last batches are in a journal.
    Drop,
    /// It is copied while it is open, as a process that is killed leaves it.
    Killed,
}

/// How many batches a database that is damaged has.
pub(crate) const LAST: u64 = 60;

/// The batch after which the database was last opened.
pub(crate) const OPENED: u64 = 35;

/// Makes a database whose spaces were flushed at different moments, and gives its files and the state after each batch.
pub(crate) fn made<E: Engine>(
    directory: &Path,
    end: End,
    open: impl Fn(&Path) -> Result<E, Error>,
    flush: impl Fn(&Path, &str),
) -> (Files, Vec<State>) {
    let original = directory.join("original");
    let mut states = vec![State::default()];
    let mut next = |store: &Store<E>, upto: u64| {
        for number in states.len() as u64..=upto {
            commit(store, number, Durability::Buffer).unwrap();
            let mut state = states.last().unwrap().clone();
            apply(&mut state, number);
            states.push(state);
        }
    };
    next(&Store::open_or_create(open(&original).unwrap(), &schema()).unwrap(), 20);
    flush(&original, "state-utxos");
    next(&Store::open(open(&original).unwrap(), &schema()).unwrap(), OPENED);
    flush(&original, "state-entities");
    let store = Store::open(open(&original).unwrap(), &schema()).unwrap();
    next(&store, LAST);
    if end == End::Killed {
        store.engine().sync().unwrap();
        let files = Files::read(&original);
        drop(store);
        return (files, states);
    }
    if end == End::Shutdown {
        store.shutdown(Duration::from_secs(20)).unwrap();
    }
    drop(store);
    (Files::read(&original), states)
}

/// Flushes one space, as another program that uses the same engine does.
pub(crate) fn flush_fjall(directory: &Path, space: &str) {
    let database = fjall::Database::builder(directory).open().unwrap();
    let keyspace = database.keyspace(space, fjall::KeyspaceCreateOptions::default).unwrap();
    keyspace.rotate_memtable_and_wait().unwrap();
}

fn damaged<E: Engine>(
    end: End,
    only: &str,
    rounds: u64,
    open: impl Fn(&Path) -> Result<E, Error>,
    flush: impl Fn(&Path, &str),
) -> BTreeMap<Outcome, u64> {
    let directory = tempfile::tempdir().unwrap();
    let (whole, states) = made(directory.path(), end, &open, flush);
    let mut random = Random::new(rounds);
    let mut outcomes = BTreeMap::new();
    let mut said: BTreeMap<(&str, Damage), [u64; 3]> = BTreeMap::new();
    for round in 0..rounds {
        let broken = directory.path().join("broken");
        let mut files = whole.clone();
        let (damage, what) = files.damage(&mut random, only);
        files.write(&broken);
        let written = Files::read(&broken);
        let opened = open(&broken).map_err(StoreError::from);
        if let Err(error) = &opened {
            // A lock file is made again; nothing else is touched by what refuses to open.
            assert!(!error.to_string().is_empty());
            assert!(
                Files::read(&broken) == written,
                "round {round}: {what}: {error}, and files were changed"
            );
        }
        let found = opened.and_then(|engine| read(&Store::open(engine, &schema())?));
        let outcome = match found {
            Err(_) => Outcome::Refused,
            Ok(state) if Some(&state) == states.last() => Outcome::Whole,
            Ok(state) => {
                let at = usize::try_from(cursor(&state)).unwrap();
                assert!(state == states[at], "round {round}: {what}: the rows of no batch");
                // What a killed process wrote since it opened the database cannot be told from a write that was torn,
                // if nothing of it is left.
                let unknown = end == End::Killed && what.contains(".jnl") && at as u64 >= OPENED;
                assert!(unknown, "round {round}: {what}: batches after {at} are lost without a word");
                Outcome::Earlier
            }
        };
        *outcomes.entry(outcome).or_default() += 1;
        said.entry((files::kind(&PathBuf::from(what.split(':').next().unwrap())), damage)).or_default()
            [outcome as usize] += 1;
        std::fs::remove_dir_all(&broken).unwrap();
    }
    println!("{end:?} {rounds} times damaged: {outcomes:?}");
    for ((kind, damage), [whole, refused, earlier]) in said {
        println!("  {kind} {damage:?}: whole {whole}, refused {refused}, earlier {earlier}");
    }
    outcomes
}

/// A soak goes ten times as often round as it says: damage has more places than the others.
fn damages(usual: u64) -> u64 {
    if rounds(0) > 0 { rounds(usual) * 10 } else { usual }
}

pub(crate) fn open_fjall(path: &Path) -> Result<Fjall, Error> {
    Fjall::open(path, small_fjall())
}

#[test]
fn fjall_gives_an_error_or_the_right_rows_after_a_shutdown() {
    let outcomes = damaged(End::Shutdown, "", damages(70), open_fjall, flush_fjall);
    assert_eq!(outcomes.get(&Outcome::Earlier), None);
    assert!(outcomes.contains_key(&Outcome::Refused) && outcomes.contains_key(&Outcome::Whole));
}

#[test]
fn fjall_gives_an_error_or_the_right_rows_after_a_drop() {
    let outcomes = damaged(End::Drop, "", damages(71), open_fjall, flush_fjall);
    assert_eq!(outcomes.get(&Outcome::Earlier), None);
}

#[test]
fn fjall_gives_an_error_or_the_rows_of_one_batch_after_a_kill() {
    damaged(End::Killed, "", damages(72), open_fjall, flush_fjall);
}

#[test]
fn fjall_loses_no_batch_in_silence_when_a_journal_is_damaged() {
    let outcomes = damaged(End::Drop, "journal", damages(60), open_fjall, flush_fjall);
    assert_eq!(outcomes.get(&Outcome::Earlier), None);
}

#[test]
fn redb_gives_an_error_or_the_right_rows_when_a_file_is_damaged() {
    let open = |path: &Path| Redb::open(path, RedbSettings::default());
    let outcomes = damaged(End::Shutdown, "", damages(60), open, |_, _| ());
    assert_eq!(outcomes.get(&Outcome::Earlier), None);
    assert!(outcomes.contains_key(&Outcome::Refused));
}
