//! What is particular to LMDB.
#![cfg(test)]

#[path = "support/chain.rs"]
mod chain;
mod support;

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

use chain::{Mounted, State, apply, commit, cursor, read, schema};
use keyplan_store::cache::Cached;
use keyplan_store::engine::{
    Batch, Durability, Engine as _, Error, KeyRange, Lmdb, LmdbBuffer, LmdbSettings, MultimapSnapshot as _,
    Snapshot as _, Space, Survives, TooLarge,
};
use keyplan_store::{Access, Store, StoreError};
use support::{Opened as _, Random, rounds, small_fjall};

fn small_map() -> LmdbSettings {
    let mut settings = LmdbSettings::default();
    settings.map_bytes = 1 << 20;
    settings
}

#[test]
fn the_map_grows_by_itself() {
    let directory = tempfile::tempdir().unwrap();
    let mut engine = Lmdb::open(directory.path(), small_map()).unwrap();
    let space = engine.create_space(&Space::map("s")).unwrap();
    let mut random = Random::new(1);
    for _ in 0..rounds(20) {
        let mut batch = Batch::<Lmdb>::new();
        for _ in 0..400 {
            batch.put(space, random.bytes(20), random.bytes(1_000));
        }
        engine.commit(batch, Durability::Buffer).unwrap();
    }
    assert_eq!(
        engine.snapshot().unwrap().range(space, KeyRange::ALL).unwrap().count() as u64,
        400 * rounds(20)
    );
    // Not under a snapshot: then the commit leaves nothing, and the next one passes once it is gone.
    let held = engine.snapshot().unwrap();
    let mut committed = 0;
    let refused = loop {
        let mut batch = Batch::<Lmdb>::new();
        for _ in 0..2_000 {
            let length = *random.pick(&[900, 1_000, 1_100]);
            batch.put(space, random.bytes(20), random.bytes(length));
        }
        match engine.commit(batch, Durability::Buffer) {
            Ok(()) => committed += 2_000,
            Err(error) => break error,
        }
        assert!(committed < 1_000_000);
    };
    assert!(
        matches!(&refused, Error::Io { source, .. } if source.kind() == std::io::ErrorKind::StorageFull),
        "{refused:?}"
    );
    drop(held);
    let found = engine.snapshot().unwrap().range(space, KeyRange::ALL).unwrap().count() as u64;
    assert_eq!(found, 400 * rounds(20) + committed);
    let mut batch = Batch::<Lmdb>::new();
    for _ in 0..2_000 {
        batch.put(space, random.bytes(20), random.bytes(1_000));
    }
    engine.commit(batch, Durability::Buffer).unwrap();
}

#[test]
fn limits_are_refused_by_name_and_leave_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let mut engine = Lmdb::open_at(directory.path());
    let (one, many) = (
        engine.create_space(&Space::map("one")).unwrap(),
        engine.create_space(&Space::multimap("many")).unwrap(),
    );
    let refused = |fill: &dyn Fn(&mut Batch<Lmdb>)| {
        let mut batch = Batch::<Lmdb>::new();
        batch.put(one, b"beside".as_slice(), b"".as_slice());
        fill(&mut batch);
        engine.commit(batch, Durability::Buffer).unwrap_err()
    };
    let long = vec![7; 512];
    assert!(matches!(
        refused(&|batch| batch.put(one, long.as_slice(), b"".as_slice())),
        Error::TooLarge { what: TooLarge::Key, limit: 511, found: 512 }
    ));
    assert!(matches!(
        refused(&|batch| batch.put_multi(many, b"k".as_slice(), long.as_slice())),
        Error::TooLarge { what: TooLarge::Value, limit: 511, found: 512 }
    ));
    assert!(matches!(
        refused(&|batch| batch.put(one, b"".as_slice(), b"".as_slice())),
        Error::Unsupported { .. }
    ));
    let empty = refused(&|batch| batch.put_multi(many, b"k".as_slice(), b"".as_slice()));
    assert_eq!(empty.to_string(), "the engine `lmdb` has no empty values where a key has several");
    let mut none = Batch::<Lmdb>::new();
    none.remove_multi(many, b"k".as_slice(), b"".as_slice());
    engine.commit(none, Durability::Buffer).unwrap();
    assert!(matches!(
        refused(&|batch| batch.put(many, b"k".as_slice(), b"".as_slice())),
        Error::SpaceKind { .. }
    ));
    assert!(matches!(
        refused(&|batch| batch.put_multi(one, b"k".as_slice(), b"".as_slice())),
        Error::SpaceKind { .. }
    ));
    let snapshot = engine.snapshot().unwrap();
    assert_eq!(snapshot.range(one, KeyRange::ALL).unwrap().count(), 0);
    // Keys and bounds that there cannot be are asked for without harm.
    assert!(snapshot.get(one, &long).unwrap().is_none() && !snapshot.contains(one, b"").unwrap());
    assert!(snapshot.iter_values(many, &long).unwrap().next().is_none());
    assert_eq!(snapshot.prefix(one, &long).unwrap().count(), 0);
    assert_eq!(snapshot.prefix(one, b"").unwrap().rev().count(), 0);
}

#[test]
fn bounds_longer_than_any_key_lie_where_they_should() {
    let directory = tempfile::tempdir().unwrap();
    let mut engine = Lmdb::open_at(directory.path());
    let space = engine.create_space(&Space::map("s")).unwrap();
    let keys = [vec![5; 511], vec![6; 1], vec![6; 511]];
    let mut batch = Batch::<Lmdb>::new();
    for key in &keys {
        batch.put(space, key.as_slice(), b"".as_slice());
    }
    engine.commit(batch, Durability::Buffer).unwrap();
    let snapshot = engine.snapshot().unwrap();
    let long = vec![5; 600];
    let count = |range: KeyRange<'_>| {
        let forwards = snapshot.range(space, range).unwrap().count();
        assert_eq!(snapshot.range(space, range).unwrap().rev().count(), forwards);
        forwards
    };
    assert_eq!(count(KeyRange::from(&long)), 2);
    assert_eq!(count(KeyRange::half_open(&[], &long)), 1);
    assert_eq!(count(KeyRange::half_open(&[5], &[6, 6])), 2);
}

#[test]
fn what_a_commit_survives_is_said_as_it_is() {
    let directory = tempfile::tempdir().unwrap();
    let said = |buffer: LmdbBuffer| {
        let mut settings = LmdbSettings::default();
        settings.buffer = buffer;
        let capabilities = Lmdb::open(directory.path(), settings).unwrap().capabilities();
        (capabilities.survives(Durability::Buffer), capabilities.survives(Durability::SyncAll))
    };
    assert_eq!(said(LmdbBuffer::Rows), (Survives::Process, Survives::Power));
    // A later commit may damage what was synced: nothing of it is promised to outlive the power.
    assert_eq!(said(LmdbBuffer::Nothing), (Survives::Process, Survives::Process));
}

#[test]
fn a_database_is_read_beside_its_writer() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::create(Lmdb::open_at(directory.path()), &schema()).unwrap();
    commit(&store, 1, Durability::Buffer).unwrap();
    // In this process it is open already; another may read it.
    let run = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child_that_reads", "--nocapture"])
        .env(READER, directory.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success() && said.contains("found 1, may not write"), "{said}");
    commit(&store, 2, Durability::Buffer).unwrap();
    assert_eq!(cursor(&read(&store).unwrap()), 2);
}

const READER: &str = "KEYPLAN_LMDB_READER";

/// What the writer commits is not told to a reader: a row that was kept would be served for ever.
#[test]
fn a_reader_beside_the_writer_keeps_no_rows_in_memory() {
    let directory = tempfile::tempdir().unwrap();
    let mut writer = Lmdb::open_at(directory.path());
    let space = writer.create_space(&Space::map("s")).unwrap();
    let put = |value: &[u8]| {
        let mut batch = Batch::<Lmdb>::new();
        batch.put(space, b"k".as_slice(), value);
        writer.commit(batch, Durability::Buffer).unwrap();
    };
    put(b"1");
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child_that_reads_twice", "--nocapture"])
        .env(TWICE, directory.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut told = || lines.by_ref().map(Result::unwrap).find(|line| line.contains("found "));
    assert_eq!(told().as_deref(), Some("found 1"));
    put(b"2");
    drop(child.stdin.take());
    assert_eq!(told().as_deref(), Some("found 2"));
    assert!(child.wait().unwrap().success());
    // The writer is told of everything, and keeps rows.
    assert!(!writer.capabilities().foreign_commits);
    assert!(Cached::new(writer, 1 << 20).row_statistics().is_some());
}

const TWICE: &str = "KEYPLAN_LMDB_TWICE";

/// Not a test by itself: a process that reads a row, and again once it is told to.
#[test]
fn child_that_reads_twice() {
    let Ok(path) = std::env::var(TWICE) else { return };
    let reader = Lmdb::open_read_only(path, LmdbSettings::default()).unwrap();
    let reader = Cached::new(reader, 1 << 20);
    let space = reader.space("s").unwrap();
    let get = || reader.snapshot().unwrap().get(space, b"k").unwrap().unwrap().to_vec();
    // The second time it would be found in memory.
    assert_eq!(get(), get());
    println!("\nfound {}", String::from_utf8(get()).unwrap());
    std::io::stdin().read_line(&mut String::new()).unwrap();
    println!("\nfound {}", String::from_utf8(get()).unwrap());
    assert_eq!(reader.row_statistics(), None);
}

/// Not a test by itself: a process that reads a database which another has open.
#[test]
fn child_that_reads() {
    let Ok(directory) = std::env::var(READER) else { return };
    assert!(matches!(Lmdb::open(&directory, LmdbSettings::default()), Err(Error::AlreadyOpen { .. })));
    let engine = Lmdb::open_read_only(&directory, LmdbSettings::default()).unwrap();
    let store = Store::open_recorded(engine, Access::ReadOnly).unwrap();
    let found = cursor(&read(&store).unwrap());
    assert!(matches!(commit(&store, 9, Durability::Buffer), Err(StoreError::ReadOnly)));
    println!("found {found}, may not write");
}

#[test]
fn a_database_is_read_from_a_disk_that_cannot_be_written() {
    let Some(disk) = Mounted::new("100m") else {
        assert!(std::env::var_os("CI").is_none(), "mounting a file system is not allowed: run as root");
        println!("not allowed to mount a file system: skipped");
        return;
    };
    let directory = disk.0.path().join("db");
    let store = Store::create(Lmdb::open_at(&directory), &schema()).unwrap();
    (1..=5).for_each(|number| commit(&store, number, Durability::SyncAll).unwrap());
    let mut expected = State::default();
    (1..=5).for_each(|number| apply(&mut expected, number));
    drop(store);
    disk.remount("ro");
    assert!(Lmdb::open(&directory, LmdbSettings::default()).is_err());
    let engine = Lmdb::open_read_only(&directory, LmdbSettings::default()).unwrap();
    let store = Store::open_recorded(engine, Access::ReadOnly).unwrap();
    assert!(read(&store).unwrap() == expected);
}

#[test]
fn a_read_only_opening_leaves_no_file_behind() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::create(Lmdb::open_at(directory.path()), &schema()).unwrap();
    commit(&store, 1, Durability::SyncAll).unwrap();
    drop(store);
    std::fs::remove_file(directory.path().join("lock.mdb")).unwrap();
    let engine = Lmdb::open_read_only(directory.path(), LmdbSettings::default()).unwrap();
    let store = Store::open_recorded(engine, Access::ReadOnly).unwrap();
    assert_eq!(cursor(&read(&store).unwrap()), 1);
    assert!(!directory.path().join("lock.mdb").exists());
}

const LITTLE: &str = "KEYPLAN_LMDB_LITTLE";

/// Not a test by itself: a process that may not map much.
#[test]
fn child_with_few_addresses() {
    let Ok(directory) = std::env::var(LITTLE) else { return };
    let store =
        Store::open_or_create(Lmdb::open(directory, LmdbSettings::default()).unwrap(), &schema()).unwrap();
    (1..=50).for_each(|number| commit(&store, number, Durability::Buffer).unwrap());
    println!("reached {}", cursor(&read(&store).unwrap()));
}

#[test]
fn a_process_that_may_not_map_much_maps_less() {
    let directory = tempfile::tempdir().unwrap();
    let run = Command::new("sh")
        .args(["-c", "ulimit -v 2000000 && ulimit -n 64 && exec \"$0\" --exact child_with_few_addresses --nocapture --test-threads=1"])
        .arg(std::env::current_exe().unwrap())
        .env(LITTLE, directory.path())
        .output()
        .unwrap();
    let (said, complaint) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    assert!(run.status.success() && said.contains("reached 50"), "{said}{complaint}");
}

/// A file says how much its writer maps, and that is more than others may.
#[test]
fn a_process_that_may_not_map_much_reads_what_another_made() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::create(Lmdb::open_at(directory.path()), &schema()).unwrap();
    (1..=50).for_each(|number| commit(&store, number, Durability::Buffer).unwrap());
    let run = Command::new("sh")
        .args([
            "-c",
            "ulimit -v 2000000 && exec \"$0\" --exact child_that_reads --nocapture --test-threads=1",
        ])
        .arg(std::env::current_exe().unwrap())
        .env(READER, directory.path())
        .output()
        .unwrap();
    let (said, complaint) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    assert!(run.status.success() && said.contains("found 50, may not write"), "{said}{complaint}");
}

#[test]
fn other_files_and_other_engines_are_refused_by_name() {
    let directory = tempfile::tempdir().unwrap();
    assert!(matches!(
        Lmdb::open_existing(directory.path(), LmdbSettings::default()),
        Err(Error::NotFound { .. })
    ));
    std::fs::write(directory.path().join("data.mdb"), vec![0x5a; 8192]).unwrap();
    let refused = Lmdb::open(directory.path(), LmdbSettings::default()).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the database is damaged: data.mdb has a page 0 that does not describe an LMDB database"
    );
    // The engine itself says what it can.
    let mut unchecked = LmdbSettings::default();
    unchecked.verify_on_open = false;
    assert!(matches!(Lmdb::open(directory.path(), unchecked), Err(Error::Format { .. })));
    let fjall = tempfile::tempdir().unwrap();
    drop(keyplan_store::engine::Fjall::open(fjall.path(), small_fjall()).unwrap());
    assert!(matches!(
        Lmdb::open(fjall.path(), LmdbSettings::default()),
        Err(Error::OtherEngine { found: "fjall", .. })
    ));
}

/// A commit of a cached store keeps the state before it open, and the map must have grown by then.
#[test]
fn the_map_grows_below_a_row_cache_too() {
    let directory = tempfile::tempdir().unwrap();
    let mut cached = Cached::new(Lmdb::open(directory.path(), small_map()).unwrap(), 1 << 20);
    let space = cached.create_space(&Space::map("s")).unwrap();
    let mut random = Random::new(2);
    let mut expected = 0;
    // One batch is larger than the whole map, and the last many times.
    for rows in [10, 3_000, 10, 20_000] {
        let mut batch = Batch::<Cached<Lmdb>>::new();
        for _ in 0..rows {
            batch.put(space, random.bytes(20), vec![7; 1_000]);
        }
        cached.commit(batch, Durability::Buffer).unwrap();
        expected += rows;
    }
    assert_eq!(cached.snapshot().unwrap().range(space, KeyRange::ALL).unwrap().count(), expected);
}

#[test]
fn more_snapshots_than_there_may_be_are_refused_by_name() {
    let directory = tempfile::tempdir().unwrap();
    let mut settings = LmdbSettings::default();
    settings.snapshots = 3;
    let mut engine = Lmdb::open(directory.path(), settings).unwrap();
    let space = engine.create_space(&Space::map("s")).unwrap();
    let put = |engine: &Lmdb| {
        let mut batch = Batch::<Lmdb>::new();
        batch.put(space, b"k".as_slice(), b"v".as_slice());
        engine.commit(batch, Durability::Buffer)
    };
    put(&engine).unwrap();
    let mut held = Vec::new();
    let refused = loop {
        match engine.snapshot() {
            Ok(snapshot) => held.push(snapshot),
            Err(error) => break error,
        }
        assert!(held.len() < 1_000);
    };
    assert_eq!(
        refused.to_string(),
        "the engine `lmdb` has no place for more snapshots at a time (`LmdbSettings::snapshots`)"
    );
    // Clones share one, and writers need none.
    held.push(held[0].clone());
    put(&engine).unwrap();
    held.pop();
    held.pop();
    assert_eq!(&*engine.snapshot().unwrap().get(space, b"k").unwrap().unwrap(), b"v");
}

const HELD: &str = "KEYPLAN_LMDB_HELD";

/// Not a test by itself: a process that holds a snapshot until it is killed.
#[test]
fn child_that_holds_a_snapshot() {
    let Ok(path) = std::env::var(HELD) else { return };
    let reader = Lmdb::open_read_only(path, LmdbSettings::default()).unwrap();
    let _held = reader.snapshot().unwrap();
    println!("\nholds it");
    std::io::stdin().read_line(&mut String::new()).unwrap();
}

#[test]
fn a_reader_that_was_killed_keeps_no_pages() {
    let directory = tempfile::tempdir().unwrap();
    let mut settings = LmdbSettings::default();
    settings.buffer = LmdbBuffer::Nothing;
    let mut writer = Lmdb::open(directory.path(), settings).unwrap();
    let space = writer.create_space(&Space::map("s")).unwrap();
    // The same 200 KB again and again.
    let rewrite = |times: u8| {
        for value in 0..times {
            let mut batch = Batch::<Lmdb>::new();
            for key in 0..200_u32 {
                batch.put(space, key.to_be_bytes().as_slice(), vec![value; 1_000]);
            }
            writer.commit(batch, Durability::Buffer).unwrap();
        }
        std::fs::metadata(directory.path().join("data.mdb")).unwrap().len()
    };
    rewrite(20);
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child_that_holds_a_snapshot", "--nocapture"])
        .env(HELD, directory.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.by_ref().map(Result::unwrap).any(|line| line == "holds it"));
    let before = rewrite(20);
    // While it lives its pages are kept.
    assert!(rewrite(20) > before + (2 << 20));
    child.kill().unwrap();
    child.wait().unwrap();
    let killed = rewrite(100);
    assert!(rewrite(250) < killed + (8 << 20), "{killed} bytes, and then more and more");
}

const FOLLOWS: &str = "KEYPLAN_LMDB_FOLLOWS";

/// Not a test by itself: a process that counts rows whenever it is told to, and says what hinders it.
#[test]
fn child_that_follows() {
    let Ok(path) = std::env::var(FOLLOWS) else { return };
    let reader = Lmdb::open_read_only(path, LmdbSettings::default()).unwrap();
    let space = reader.space("s").unwrap();
    let count = || -> Result<usize, Error> {
        reader.snapshot()?.range(space, KeyRange::ALL)?.try_fold(0, |count, row| row.map(|_| count + 1))
    };
    let mut held = None;
    println!("\nopen");
    for line in std::io::stdin().lines() {
        match line.unwrap().as_str() {
            "hold" => held = Some(reader.snapshot().unwrap()),
            "let go" => held = None,
            _ => {}
        }
        match count() {
            Ok(count) => println!("\ncounted {count}"),
            Err(error) => println!("\nrefused: {error}: {}", std::error::Error::source(&error).unwrap()),
        }
        if let Some(held) = &held {
            println!("\nheld {}", held.range(space, KeyRange::ALL).unwrap().count());
        }
    }
}

/// A reader maps as much as there was when it opened the file.
#[test]
fn a_reader_follows_a_writer_whose_map_grows() {
    let directory = tempfile::tempdir().unwrap();
    let mut writer = Lmdb::open(directory.path(), small_map()).unwrap();
    let space = writer.create_space(&Space::map("s")).unwrap();
    let mut random = Random::new(5);
    let mut grow = |rows: usize| {
        let mut batch = Batch::<Lmdb>::new();
        for _ in 0..rows {
            batch.put(space, random.bytes(20), random.bytes(1_000));
        }
        writer.commit(batch, Durability::Buffer).unwrap();
    };
    grow(100);
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child_that_follows", "--nocapture"])
        .env(FOLLOWS, directory.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut tell = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut hears =
        |said: &str| assert_eq!(lines.find(|line| line.contains(':') || line.contains(said)).unwrap(), said);
    hears("open");
    for (rows, more) in [(100, 0), (5_100, 5_000), (5_101, 1), (25_101, 20_000)] {
        if more > 0 {
            grow(more);
        }
        writeln!(tell, "count").unwrap();
        hears(&format!("counted {rows}"));
    }
    writeln!(tell, "hold").unwrap();
    hears("counted 25101");
    hears("held 25101");
    // Not under a snapshot, which is read in the old map.
    grow(80_000);
    writeln!(tell, "count").unwrap();
    hears(
        "refused: mapping what another process has written failed: it is more than is mapped here, and no more can be mapped \
         while snapshots are open",
    );
    hears("held 25101");
    writeln!(tell, "let go").unwrap();
    hears("counted 105101");
    drop(tell);
    assert!(child.wait().unwrap().success());
}

const CRAMPED: &str = "KEYPLAN_LMDB_CRAMPED";

/// Not a test by itself: a process that has no addresses left when its map is full.
#[test]
fn child_without_addresses() {
    let Ok(path) = std::env::var(CRAMPED) else { return };
    let mut settings = LmdbSettings::default();
    settings.map_bytes = 16 << 20;
    settings.buffer = LmdbBuffer::Nothing;
    let mut engine = Lmdb::open(path, settings).unwrap();
    let space = engine.create_space(&Space::map("s")).unwrap();
    let put = |key: u32| {
        let mut batch = Batch::<Lmdb>::new();
        batch.put(space, key.to_be_bytes().as_slice(), vec![7; 100_000]);
        engine.commit(batch, Durability::Buffer)
    };
    let count = || engine.snapshot().unwrap().range(space, KeyRange::ALL).unwrap().count();
    put(0).unwrap();
    let mut taken: Vec<Vec<u8>> = Vec::new();
    loop {
        let mut more = Vec::new();
        if more.try_reserve_exact(4 << 20).is_err() {
            break;
        }
        taken.push(more);
    }
    let room = taken.pop();
    drop(room);
    let mut written = 1;
    let refused = loop {
        match put(written) {
            Ok(()) => written += 1,
            Err(error) => break error,
        }
        assert!(written < 10_000);
    };
    assert!(
        matches!(&refused, Error::Io { source, .. } if source.kind() == std::io::ErrorKind::StorageFull),
        "{refused:?}"
    );
    // Whatever was refused, what is there can be read, and later there is room again.
    assert_eq!(u32::try_from(count()).unwrap(), written);
    drop(taken);
    put(written).unwrap();
    println!("\nwrote {written} and one more: {}", count());
}

/// The engine takes the old map away before it asks for a new one.
#[test]
fn a_map_that_the_process_may_not_enlarge_stays() {
    let directory = tempfile::tempdir().unwrap();
    let run = Command::new("sh")
        .args([
            "-c",
            "ulimit -v 1000000 && exec \"$0\" --exact child_without_addresses --nocapture --test-threads=1",
        ])
        .arg(std::env::current_exe().unwrap())
        .env(CRAMPED, directory.path())
        .output()
        .unwrap();
    let (said, complaint) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    assert!(run.status.success() && said.contains("and one more"), "{:?} {said}{complaint}", run.status);
}
