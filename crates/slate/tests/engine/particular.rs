//! What is particular to this engine.

use std::sync::Arc;
use std::time::Duration;

use keyplan_slate::object_store::memory::InMemory;
use keyplan_slate::{Slate, SlateSettings};
use keyplan_store::cache::Cached;
use keyplan_store::engine::{
    Batch, Durability, Engine as _, Error, KeyRange, Snapshot as _, Space, Survives, Writers,
};

use crate::faulty::Faulty;
use crate::place::small;

fn put(engine: &Slate, key: &[u8], value: &[u8]) {
    let mut batch = Batch::new();
    batch.put(engine.space("s").unwrap(), key, value);
    engine.commit(batch, Durability::SyncAll).unwrap();
}

fn get(engine: &Slate, key: &[u8]) -> Option<Vec<u8>> {
    let space = engine.space("s").unwrap();
    engine.snapshot().unwrap().get(space, key).unwrap().map(|value| value.to_vec())
}

#[test]
fn it_says_what_it_can_do() {
    let engine = Slate::open(SlateSettings::new("memory://capabilities").unwrap()).unwrap();
    let capabilities = engine.capabilities();
    assert_eq!((capabilities.buffer, capabilities.sync), (Survives::Nothing, Survives::Power));
    assert_eq!(capabilities.writers, Writers::Newest);
    assert!(capabilities.atomic_across_spaces && capabilities.checks && capabilities.empty_keys);
}

#[test]
fn a_reader_sees_what_is_durable_and_keeps_what_it_has_seen() {
    let storage = Arc::new(InMemory::new());
    let settings = || small("memory://given").object_store(storage.clone());
    assert!(matches!(Slate::open_reader(settings()), Err(Error::NotFound { .. })));
    let mut writer = Slate::open(settings()).unwrap();
    writer.create_space(&Space::map("s")).unwrap();
    put(&writer, b"k", b"1");
    let reader = Slate::open_reader(settings()).unwrap();
    assert_eq!(get(&reader, b"k"), Some(b"1".to_vec()));
    let space = reader.space("s").unwrap();
    let before = reader.snapshot().unwrap();
    put(&writer, b"k", b"2");
    put(&writer, b"l", b"2");
    assert_eq!(get(&reader, b"k"), Some(b"2".to_vec()));
    assert_eq!(before.get(space, b"k").unwrap().as_deref(), Some(&b"1"[..]));
    assert_eq!(before.range(space, KeyRange::ALL).unwrap().count(), 1);
    // It writes nothing.
    let mut batch = Batch::new();
    batch.put(space, b"k".as_slice(), b"3".as_slice());
    assert!(matches!(reader.commit(batch, Durability::Buffer), Err(Error::Closed)));
    // With an interval, it looks again only after that.
    let slow = Slate::open_reader(settings().poll_interval(Duration::from_mins(50))).unwrap();
    assert_eq!(get(&slow, b"k"), Some(b"2".to_vec()));
    put(&writer, b"k", b"4");
    assert_eq!(get(&slow, b"k"), Some(b"2".to_vec()));
    assert_eq!(get(&reader, b"k"), Some(b"4".to_vec()));
}

#[test]
fn a_reader_keeps_no_rows_in_memory_and_the_writer_does() {
    let storage = Arc::new(InMemory::new());
    let settings = || small("memory://given").object_store(storage.clone());
    let mut writer = Slate::open(settings()).unwrap();
    writer.create_space(&Space::map("s")).unwrap();
    put(&writer, b"k", b"1");
    let reader = Cached::new(Slate::open_reader(settings()).unwrap(), 1 << 20);
    let theirs = reader.space("s").unwrap();
    let get = || reader.snapshot().unwrap().get(theirs, b"k").unwrap().unwrap().to_vec();
    assert_eq!((get(), get()), (b"1".to_vec(), b"1".to_vec()));
    put(&writer, b"k", b"2");
    assert_eq!(get(), b"2");
    assert_eq!(reader.row_statistics(), None);
    assert!(Cached::new(writer, 1 << 20).row_statistics().is_some());
}

#[test]
fn what_was_read_once_is_on_the_disk_when_storage_is_gone() {
    let memory = Arc::new(InMemory::new());
    let settings = || small("memory://given").memory_cache(0).limit(Duration::from_secs(3));
    let mut writer = Slate::open(settings().object_store(memory.clone())).unwrap();
    let space = writer.create_space(&Space::map("s")).unwrap();
    let mut batch = Batch::new();
    for row in 0..20_000_u32 {
        batch.put(space, row.to_be_bytes().as_slice(), [7; 100].as_slice());
    }
    writer.commit(batch, Durability::SyncAll).unwrap();
    // Into tables: what is only in the log is read when a database is opened.
    writer.checkpoint(Duration::from_mins(1)).unwrap();
    drop(writer);
    let folder = tempfile::tempdir().unwrap();
    for kept in [false, true] {
        let storage = Faulty::sound(memory.clone());
        let settings = settings().object_store(storage.clone());
        let settings = if kept { settings.disk_cache(folder.path(), 64 << 20) } else { settings };
        let reader = Slate::open_reader(settings.poll_interval(Duration::from_mins(50))).unwrap();
        let (space, view) = (reader.space("s").unwrap(), reader.snapshot().unwrap());
        assert_eq!(view.range(space, KeyRange::ALL).unwrap().count(), 20_000);
        // The disk has it a moment later.
        std::thread::sleep(Duration::from_millis(500));
        storage.set_cut(true);
        // What is not there is waited for.
        let tried = if kept { 21 } else { 1 };
        let rows = (0..20_000_u32).step_by(997).take(tried).map(|row| view.get(space, &row.to_be_bytes()));
        let found = rows.filter(|found| matches!(found, Ok(Some(value)) if **value == [7; 100])).count();
        assert_eq!(found, if kept { 21 } else { 0 }, "kept on the disk: {kept}");
        storage.set_cut(false);
    }
}

#[test]
fn a_checkpoint_is_a_state_that_stays() {
    let storage = Arc::new(InMemory::new());
    let settings = || small("memory://given").object_store(storage.clone());
    let mut writer = Slate::open(settings()).unwrap();
    writer.create_space(&Space::map("s")).unwrap();
    put(&writer, b"k", b"1");
    let checkpoint = writer.create_checkpoint(None).unwrap();
    put(&writer, b"k", b"2");
    writer.checkpoint(Duration::from_mins(1)).unwrap();
    let name = checkpoint.to_string();
    let pinned = Slate::open_checkpoint(settings(), &name.parse().unwrap()).unwrap();
    assert_eq!(get(&pinned, b"k"), Some(b"1".to_vec()));
    drop(pinned);
    writer.remove_checkpoint(&checkpoint).unwrap();
    assert!(Slate::open_checkpoint(settings(), &checkpoint).is_err());
    assert!(Slate::open_checkpoint(settings(), &"nonsense".parse().unwrap()).is_err());
}

#[test]
fn scans_go_both_ways_over_many_tables() {
    let storage = Arc::new(InMemory::new());
    let mut engine = Slate::open(small("memory://given").object_store(storage)).unwrap();
    let space = engine.create_space(&Space::map("s")).unwrap();
    engine.create_space(&Space::map("after")).unwrap();
    for round in 0..12_u32 {
        let mut batch = Batch::new();
        for row in 0..500_u32 {
            let key = (row * 12 + round).to_be_bytes();
            batch.put(space, key.as_slice(), vec![7; 50]);
        }
        // Some are deleted again in a later table.
        batch.delete(space, (round * 12).to_be_bytes().as_slice());
        engine.commit(batch, Durability::Buffer).unwrap();
        engine.checkpoint(Duration::from_mins(1)).unwrap();
    }
    let keys = |rows: &mut dyn Iterator<
        Item = Result<(keyplan_slate::SlateBytes, keyplan_slate::SlateBytes), Error>,
    >| {
        rows.map(|row| u32::from_be_bytes(row.unwrap().0.as_ref().try_into().unwrap())).collect::<Vec<_>>()
    };
    let snapshot = engine.snapshot().unwrap();
    let up = keys(&mut snapshot.range(space, KeyRange::ALL).unwrap());
    let mut down = keys(&mut snapshot.range(space, KeyRange::ALL).unwrap().rev());
    down.reverse();
    assert_eq!(up, down);
    // Each batch deletes a row of the first one; the first its own.
    assert!(up.into_iter().eq((0..6_000).filter(|key| key % 12 != 0 || key / 12 >= 12)));
}

#[test]
fn a_directory_without_a_database_is_not_one() {
    let directory = tempfile::tempdir().unwrap();
    let url = format!("file://{}/none", directory.path().display());
    let settings = || SlateSettings::new(&url).unwrap();
    assert!(!Slate::exists(&settings()).unwrap());
    assert!(matches!(Slate::open_existing(settings()), Err(Error::NotFound { .. })));
    assert!(!directory.path().join("none").exists());
    drop(Slate::open(settings()).unwrap());
    assert!(Slate::exists(&settings()).unwrap());
    drop(Slate::open_existing(settings()).unwrap());
}
