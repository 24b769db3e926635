//! Faults: processes killed at any moment, full disks, directories that cannot be written.
#![cfg(test)]

#[path = "support/cached.rs"]
mod cached;
#[path = "support/chain.rs"]
mod chain;
#[path = "support/kills.rs"]
mod kills;
mod support;

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use chain::{Mounted, State, apply, commit, cursor, ids, read, schema};
use keyplan_store::cache::Cached;
use keyplan_store::engine::{Batch, Durability, Error, Fjall, FjallSettings, KeyRange, Lmdb, Redb};
use keyplan_store::{Store, StoreError};
use kills::{CHILD, Shared, import, survives_being_killed};
use support::{Opened, Random, rounds, small_fjall};

impl Shared for Fjall {}
impl Shared for Redb {}
impl Shared for Lmdb {}
impl Shared for Cached<Fjall> {}

/// Not a test by itself: the process that is killed. It commits batch after batch and says so.
#[test]
fn child() {
    let Ok(directory) = std::env::var(CHILD) else { return };
    let (engine, directory) = directory.split_once(':').unwrap();
    let directory = Path::new(directory);
    match engine {
        "fjall" => import(&Store::open_or_create(Fjall::open_at(directory), &schema()).unwrap()),
        "redb" => import(&Store::open_or_create(Redb::open_at(directory), &schema()).unwrap()),
        "lmdb" => import(&Store::open_or_create(Lmdb::open_at(directory), &schema()).unwrap()),
        "cached" => {
            import(&Store::open_or_create(Cached::<Fjall>::open_at(directory), &schema()).unwrap());
        }
        other => panic!("no engine {other}"),
    }
}

#[test]
fn fjall_is_at_one_committed_batch_after_a_kill() {
    survives_being_killed::<Fjall>("fjall", 1, rounds(20));
}

#[test]
fn redb_is_at_one_committed_batch_after_a_kill() {
    survives_being_killed::<Redb>("redb", 2, rounds(20));
}

#[test]
fn lmdb_is_at_one_committed_batch_after_a_kill() {
    survives_being_killed::<Lmdb>("lmdb", 4, rounds(20));
}

#[test]
fn a_store_with_a_row_cache_is_at_one_committed_batch_after_a_kill() {
    survives_being_killed::<Cached<Fjall>>("cached", 3, rounds(6));
}

fn open_fjall(path: &Path) -> Result<Fjall, Error> {
    Fjall::open(path, small_fjall())
}

fn goes_on_once_the_disk_has_room_again<E: Opened>() {
    let Some(disk) = Mounted::new("6m") else {
        assert!(std::env::var_os("CI").is_none(), "mounting a file system is not allowed: run as root");
        println!("not allowed to mount a file system: skipped");
        return;
    };
    let directory = disk.0.path().join("db");
    let mut state = State::default();
    let mut committed = 0;
    {
        let store = Store::open_or_create(E::open_at(&directory), &schema()).unwrap();
        let refused = loop {
            match commit(&store, committed + 1, Durability::SyncData) {
                Ok(()) => committed += 1,
                Err(error) => break error,
            }
            assert!(committed < 100_000);
        };
        assert!(
            matches!(
                &refused,
                StoreError::Engine(Error::CommitUnknown { .. } | Error::Io { .. } | Error::Poisoned { .. })
            ),
            "{refused:?}"
        );
        let mut causes = vec![refused.to_string()];
        let mut cause = std::error::Error::source(&refused);
        while let Some(error) = cause {
            causes.push(error.to_string());
            cause = error.source();
        }
        let said = |cause: &String| cause.contains("No space left") || cause.contains("the disk is full");
        assert!(causes.iter().any(said), "{causes:?}");
        // The handle says that it is of no more use, and goes without hanging.
        assert!(commit(&store, committed + 2, Durability::SyncData).is_err());
    }
    disk.remount("size=200m");
    let store = Store::open(E::open_at(&directory), &schema()).unwrap();
    let found = read(&store).unwrap();
    // The batch that failed may or may not be there, as its error says; what was acknowledged is.
    assert!((committed..=committed + 1).contains(&cursor(&found)), "{committed} {}", cursor(&found));
    (1..=cursor(&found)).for_each(|number| apply(&mut state, number));
    assert!(found == state);
    commit(&store, cursor(&found) + 1, Durability::SyncAll).unwrap();
}

#[test]
fn a_store_goes_on_once_the_disk_has_room_again() {
    goes_on_once_the_disk_has_room_again::<Fjall>();
    goes_on_once_the_disk_has_room_again::<Redb>();
    goes_on_once_the_disk_has_room_again::<Lmdb>();
}

#[test]
fn a_directory_that_cannot_be_written_is_an_error_and_no_loss() {
    let Some(disk) = Mounted::new("100m") else {
        assert!(std::env::var_os("CI").is_none(), "mounting a file system is not allowed: run as root");
        println!("not allowed to mount a file system: skipped");
        return;
    };
    let directory = disk.0.path().join("db");
    let store = Store::open_or_create(open_fjall(&directory).unwrap(), &schema()).unwrap();
    commit(&store, 1, Durability::SyncAll).unwrap();
    drop(store);
    disk.remount("ro");
    let refused = open_fjall(&directory).unwrap_err();
    assert!(
        matches!(&refused, Error::Io { source, .. } if source.kind() == std::io::ErrorKind::ReadOnlyFilesystem)
    );
    assert!(open_fjall(&disk.0.path().join("new")).is_err());
    disk.remount("rw");
    let store = Store::open(open_fjall(&directory).unwrap(), &schema()).unwrap();
    assert_eq!(cursor(&read(&store).unwrap()), 1);
}

const FEW_FILES: &str = "KEYPLAN_FEW_FILES";

/// Not a test by itself: an import in a process that may open few files.
#[test]
fn child_with_few_files() {
    let Ok(directory) = std::env::var(FEW_FILES) else { return };
    // Small memtables make many small tables; a soak takes the real ones, and ten times the rows.
    let (settings, rows) =
        if rounds(0) > 0 { (FjallSettings::default(), 2_000_000) } else { (small_fjall(), 200_000_u64) };
    let store = Store::open_or_create(Fjall::open(directory, settings.clone()).unwrap(), &schema()).unwrap();
    let [_, utxos, _] = ids(&store);
    let mut random = Random::new(9);
    for _ in 0..rows / 5_000 {
        let mut batch = Batch::<Fjall>::new();
        for _ in 0..5_000 {
            batch.put(utxos, random.bytes(36), vec![0x58; 150]);
        }
        store.commit(batch, Durability::Buffer).unwrap();
    }
    assert_eq!(store.snapshot().unwrap().range(utxos, KeyRange::ALL).unwrap().count() as u64, rows);
    store.shutdown(Duration::from_mins(1)).unwrap();
    println!("imported {rows} rows with {} files", settings.open_files);
}

#[test]
fn an_import_passes_with_128_open_files() {
    let directory = tempfile::tempdir().unwrap();
    let run = Command::new("sh")
        .args(["-c", "ulimit -n 128 && exec \"$0\" --exact child_with_few_files --nocapture"])
        .arg(std::env::current_exe().unwrap())
        .env(FEW_FILES, directory.path())
        .output()
        .unwrap();
    let (said, complaint) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    assert!(run.status.success() && complaint.is_empty(), "{said}{complaint}");
    // The engine was told of the limit, and keeps to half of it.
    assert!(said.contains("rows with 64 files"), "{said}");
}
