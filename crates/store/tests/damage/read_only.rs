//! Databases that are only read: nothing is written where they are.

use std::path::Path;

use keyplan_store::engine::{Batch, Durability, Engine, Error, Fjall, Redb, RedbSettings, Space};
use keyplan_store::{Access, Store};

use crate::chain::{Mounted, commit, read, schema};
use crate::files::Files;
use crate::support::{Opened as _, small_fjall};
use crate::{End, flush_fjall, made, open_fjall};

trait ReadOnly: Engine {
    fn open_to_read(path: &Path) -> Result<Self, Error>;
}

impl ReadOnly for Fjall {
    fn open_to_read(path: &Path) -> Result<Self, Error> {
        Self::open_read_only(path, small_fjall())
    }
}

impl ReadOnly for Redb {
    fn open_to_read(path: &Path) -> Result<Self, Error> {
        Self::open_read_only(path, RedbSettings::default())
    }
}

/// Reads everything, and says whether it is as it should be.
fn reads_all<E: ReadOnly>(path: &Path, expected: &crate::chain::State) {
    let mut engine = E::open_to_read(path).unwrap();
    let refused = engine.create_space(&Space::map("new")).unwrap_err();
    assert!(matches!(refused, Error::Closed), "{refused}");
    let mut batch = Batch::<E>::new();
    let space = engine.space("state-cursor").unwrap();
    batch.put(space, [1].as_slice(), [2].as_slice());
    assert!(matches!(engine.commit(batch, Durability::Buffer), Err(Error::Closed)));
    // A second reader is welcome.
    let second = Store::open_recorded(E::open_to_read(path).unwrap(), Access::ReadOnly).unwrap();
    let store = Store::open_recorded(engine, Access::ReadOnly).unwrap();
    assert!(read(&store).unwrap() == *expected);
    assert!(read(&second).unwrap() == *expected);
}

fn writes_nothing<E: ReadOnly>(
    end: End,
    open: impl Fn(&Path) -> Result<E, Error>,
    flush: impl Fn(&Path, &str),
) {
    let directory = tempfile::tempdir().unwrap();
    let (files, states) = made(directory.path(), end, open, flush);
    let path = directory.path().join("copy");
    files.write(&path);
    let times = |path: &Path| {
        let mut times: Vec<_> = Vec::new();
        let mut waiting = vec![path.to_owned()];
        while let Some(at) = waiting.pop() {
            let about = std::fs::metadata(&at).unwrap();
            if about.is_dir() {
                waiting.extend(std::fs::read_dir(&at).unwrap().map(|entry| entry.unwrap().path()));
            }
            times.push((at, about.modified().unwrap(), about.len()));
        }
        times.sort();
        times
    };
    let before = times(&path);
    reads_all::<E>(&path, states.last().unwrap());
    assert_eq!(times(&path), before);
    assert!(Files::read(&path) == files);
}

#[test]
fn a_database_on_fjall_that_is_only_read_is_not_written() {
    for end in [End::Shutdown, End::Drop, End::Killed] {
        writes_nothing::<Fjall>(end, open_fjall, flush_fjall);
    }
}

#[test]
fn a_database_on_redb_that_is_only_read_is_not_written() {
    for end in [End::Shutdown, End::Drop] {
        writes_nothing::<Redb>(end, |path| Redb::open(path, RedbSettings::default()), |_, _| ());
    }
}

/// A copy of an open file of redb is at its last durable commit, and the engine would repair it.
#[test]
fn a_file_of_redb_that_was_not_closed_is_read_without_a_repair() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db");
    let store =
        Store::open_or_create(Redb::open(&path, RedbSettings::default()).unwrap(), &schema()).unwrap();
    commit(&store, 1, Durability::SyncAll).unwrap();
    let files = Files::read(&path);
    let copy = directory.path().join("copy");
    files.write(&copy);
    let expected = read(&store).unwrap();
    reads_all::<Redb>(&copy, &expected);
    assert!(Files::read(&copy) == files);
}

#[test]
fn a_database_is_read_from_a_file_system_that_cannot_be_written() {
    let Some(disk) = Mounted::new("200m") else {
        assert!(std::env::var_os("CI").is_none(), "mounting a file system is not allowed: run as root");
        println!("not allowed to mount a file system: skipped");
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let (files, states) = made(directory.path(), End::Drop, open_fjall, flush_fjall);
    files.write(&disk.0.path().join("fjall"));
    let redb = disk.0.path().join("redb");
    let store =
        Store::open_or_create(Redb::open(&redb, RedbSettings::default()).unwrap(), &schema()).unwrap();
    commit(&store, 1, Durability::SyncAll).unwrap();
    let expected = read(&store).unwrap();
    drop(store);
    disk.remount("ro");
    reads_all::<Fjall>(&disk.0.path().join("fjall"), states.last().unwrap());
    reads_all::<Redb>(&redb, &expected);
    disk.remount("rw");
}

#[test]
fn a_reader_and_a_writer_exclude_each_other() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db");
    drop(Store::open_or_create(Fjall::open_at(&path), &schema()).unwrap());
    let reader = Fjall::open_to_read(&path).unwrap();
    assert!(matches!(open_fjall(&path), Err(Error::AlreadyOpen { .. })));
    drop(reader);
    let writer = open_fjall(&path).unwrap();
    assert!(matches!(Fjall::open_to_read(&path), Err(Error::AlreadyOpen { .. })));
    drop(writer);
}
