//! Every engine against a `BTreeMap`, and under readers that check what they see.
#![cfg(test)]

#[path = "support/cached.rs"]
mod cached;
#[path = "support/suite.rs"]
mod suite;
mod support;

use std::time::{Duration, Instant};

use keyplan_store::cache::Cached;
use keyplan_store::engine::{
    Batch, Durability, Engine as _, Error, Fjall, FjallSettings, KeyRange, Lmdb, Memory,
    MultimapSnapshot as _, Redb, RedbSettings, Snapshot as _, Space, SpaceId, TooLarge,
};
use suite::{
    agrees_with_a_map, counts_every_one_of_many_writers, ends_in_time_and_loses_nothing, fill,
    ingests_ascending_rows, keeps_a_snapshot_over_thousands_of_commits, lends_to_who_reads_on,
    lets_a_visitor_panic, refuses_commits_after_shutdown, refuses_what_was_made_from_rows_that_changed,
    shows_no_half_of_a_batch, spaces,
};
use support::{Opened as _, small_fjall};

#[test]
fn memory_agrees_with_a_map() {
    agrees_with_a_map::<Memory>(1);
}

#[test]
fn fjall_agrees_with_a_map() {
    agrees_with_a_map::<Fjall>(2);
}

#[test]
fn redb_agrees_with_a_map() {
    agrees_with_a_map::<Redb>(3);
}

#[test]
fn lmdb_agrees_with_a_map() {
    agrees_with_a_map::<Lmdb>(4);
}

#[test]
fn engines_with_a_row_cache_agree_with_a_map() {
    agrees_with_a_map::<Cached<Lmdb>>(14);
    agrees_with_a_map::<Cached<Memory>>(11);
    agrees_with_a_map::<Cached<Fjall>>(12);
    agrees_with_a_map::<Cached<Redb>>(13);
}

#[test]
fn a_row_cache_keeps_a_snapshot_over_thousands_of_commits() {
    keeps_a_snapshot_over_thousands_of_commits::<Cached<Memory>>();
    keeps_a_snapshot_over_thousands_of_commits::<Cached<Fjall>>();
}

#[test]
fn a_row_cache_shows_no_half_of_a_batch() {
    shows_no_half_of_a_batch::<Cached<Fjall>>();
}

#[test]
fn memory_keeps_a_snapshot_over_thousands_of_commits() {
    keeps_a_snapshot_over_thousands_of_commits::<Memory>();
}

#[test]
fn fjall_keeps_a_snapshot_over_thousands_of_commits() {
    keeps_a_snapshot_over_thousands_of_commits::<Fjall>();
}

#[test]
fn lmdb_keeps_a_snapshot_over_thousands_of_commits() {
    keeps_a_snapshot_over_thousands_of_commits::<Lmdb>();
}

#[test]
fn redb_keeps_a_snapshot_over_thousands_of_commits() {
    keeps_a_snapshot_over_thousands_of_commits::<Redb>();
}

#[test]
fn memory_shows_no_half_of_a_batch() {
    shows_no_half_of_a_batch::<Memory>();
}

#[test]
fn fjall_shows_no_half_of_a_batch() {
    shows_no_half_of_a_batch::<Fjall>();
}

#[test]
fn lmdb_shows_no_half_of_a_batch() {
    shows_no_half_of_a_batch::<Lmdb>();
}

#[test]
fn redb_shows_no_half_of_a_batch() {
    shows_no_half_of_a_batch::<Redb>();
}

#[test]
fn a_second_opening_is_told_that_the_database_is_open() {
    let directory = tempfile::tempdir().unwrap();
    let fjall = Fjall::open(directory.path().join("f"), FjallSettings::default()).unwrap();
    let second = Fjall::open(directory.path().join("f"), FjallSettings::default());
    assert!(matches!(second, Err(Error::AlreadyOpen { path }) if path == directory.path().join("f")));
    drop(fjall);
    Fjall::open(directory.path().join("f"), FjallSettings::default()).unwrap();

    let redb = Redb::open(directory.path().join("r"), RedbSettings::default()).unwrap();
    let second = Redb::open(directory.path().join("r"), RedbSettings::default());
    assert!(matches!(second, Err(Error::AlreadyOpen { path }) if path == directory.path().join("r")));
    drop(redb);
    Redb::open(directory.path().join("r"), RedbSettings::default()).unwrap();
}

#[test]
fn a_batch_over_a_limit_leaves_nothing_behind() {
    let directory = tempfile::tempdir().unwrap();
    let mut settings = FjallSettings::default();
    settings.batch_bytes = 100_000;
    let mut engine = Fjall::open(directory.path(), settings).unwrap();
    let id = engine.create_space(&Space::map("s")).unwrap();
    let refused = |fill: &dyn Fn(&mut Batch<Fjall>)| {
        let mut batch = Batch::new();
        batch.put(id, [1].as_slice(), [1].as_slice());
        fill(&mut batch);
        let refused = engine.commit(batch, Durability::Buffer).unwrap_err();
        assert_eq!(engine.snapshot().unwrap().range(id, KeyRange::ALL).unwrap().count(), 0);
        refused
    };
    let key = refused(&|batch| batch.put(id, vec![0; 65_536], [].as_slice()));
    assert!(matches!(key, Error::TooLarge { what: TooLarge::Key, limit: 65_535, found: 65_536 }), "{key}");
    let bytes = refused(&|batch| batch.put(id, [2].as_slice(), vec![0; 100_000]));
    assert!(matches!(bytes, Error::TooLarge { what: TooLarge::BatchBytes, limit: 100_000, found: 100_003 }));
    let empty = refused(&|batch| batch.put(id, [].as_slice(), [].as_slice()));
    assert_eq!(empty.to_string(), "the engine `fjall` has no empty keys");
    let space = refused(&|batch| batch.put(SpaceId(9), [1].as_slice(), [].as_slice()));
    assert_eq!(space.to_string(), "there is no space 9");
    let longest = vec![7; 65_535];
    let mut batch = Batch::new();
    batch.put(id, longest.as_slice(), [].as_slice());
    engine.commit(batch, Durability::SyncAll).unwrap();
    assert!(engine.snapshot().unwrap().contains(id, &longest).unwrap());
}

#[test]
fn an_old_snapshot_ends_where_the_settings_say_so() {
    let directory = tempfile::tempdir().unwrap();
    let mut settings = FjallSettings::default();
    settings.snapshot_age = Some(Duration::from_millis(30));
    let mut engine = Fjall::open(directory.path(), settings).unwrap();
    let id = engine.create_space(&Space::map("s")).unwrap();
    let snapshot = engine.snapshot().unwrap();
    assert!(snapshot.get(id, b"k").unwrap().is_none());
    std::thread::sleep(Duration::from_millis(40));
    let expired = snapshot.get(id, b"k").unwrap_err();
    assert!(matches!(expired, Error::SnapshotExpired { limit, .. } if limit == Duration::from_millis(30)));
    assert!(snapshot.range(id, KeyRange::ALL).is_err());
    assert!(engine.snapshot().unwrap().get(id, b"k").unwrap().is_none());
}

#[test]
fn an_engine_that_lacks_a_capability_says_which() {
    let directory = tempfile::tempdir().unwrap();
    let mut fjall = Fjall::open(directory.path(), FjallSettings::default()).unwrap();
    let refused = fjall.create_space(&Space::multimap("m")).unwrap_err();
    assert_eq!(refused.to_string(), "the engine `fjall` has no spaces with several values for a key");
    let refused = Memory::new().create_space(&Space::multimap("m")).unwrap_err();
    assert_eq!(refused.to_string(), "the engine `memory` has no spaces with several values for a key");
}

#[test]
fn redb_keeps_several_values_for_a_key() {
    let directory = tempfile::tempdir().unwrap();
    let mut engine = Redb::open(directory.path(), RedbSettings::default()).unwrap();
    let many = engine.create_space(&Space::multimap("many")).unwrap();
    let one = engine.create_space(&Space::map("one")).unwrap();
    let mut batch = Batch::<Redb>::new();
    for value in [3_u8, 1, 2, 3] {
        batch.put_multi(many, b"a".as_slice(), [value].as_slice());
        batch.put_multi(many, b"b".as_slice(), [value].as_slice());
    }
    batch.remove_multi(many, b"a".as_slice(), [2].as_slice());
    batch.put(one, b"cursor".as_slice(), b"1".as_slice());
    engine.commit(batch, Durability::SyncAll).unwrap();
    drop(engine);

    let mut engine = Redb::open(directory.path(), RedbSettings::default()).unwrap();
    let (many, one) = (engine.space("many").unwrap(), engine.space("one").unwrap());
    let before = engine.snapshot().unwrap();
    let mut batch = Batch::<Redb>::new();
    batch.delete(many, b"b".as_slice());
    engine.commit(batch, Durability::Buffer).unwrap();
    let values = |key: &[u8]| -> Vec<Vec<u8>> {
        before.iter_values(many, key).unwrap().map(|value| value.unwrap().to_vec()).collect()
    };
    assert_eq!(values(b"a"), [[1], [3]]);
    assert_eq!(values(b"b"), [[1], [2], [3]]);
    assert_eq!(values(b"c"), Vec::<Vec<u8>>::new());
    let now = engine.snapshot().unwrap();
    let rows: Vec<(Vec<u8>, usize)> = now
        .iter_multi(many, KeyRange::ALL)
        .unwrap()
        .map(|row| row.map(|(key, values)| (key.to_vec(), values.count())).unwrap())
        .collect();
    assert_eq!(rows, [(b"a".to_vec(), 2)]);

    // A space is one kind or the other.
    assert_eq!(now.get(many, b"a").unwrap_err().to_string(), "space `many` is a multimap, not a map");
    assert_eq!(now.iter_values(one, b"a").unwrap_err().to_string(), "space `one` is a map, not a multimap");
    let refused = engine.create_space(&Space::map("many")).unwrap_err();
    assert_eq!(refused.to_string(), "space `many` is a multimap, not a map");
    let mut batch = Batch::<Redb>::new();
    batch.put(one, b"x".as_slice(), b"x".as_slice());
    batch.put(many, b"x".as_slice(), b"x".as_slice());
    assert!(engine.commit(batch, Durability::Buffer).is_err());
    assert!(!engine.snapshot().unwrap().contains(one, b"x").unwrap());
}

#[test]
fn engines_refuse_commits_after_shutdown() {
    refuses_commits_after_shutdown::<Memory>();
    refuses_commits_after_shutdown::<Fjall>();
    refuses_commits_after_shutdown::<Redb>();
    refuses_commits_after_shutdown::<Lmdb>();
    refuses_commits_after_shutdown::<Cached<Fjall>>();
}

#[test]
fn a_shutdown_without_time_ends_at_once_and_loses_nothing() {
    ends_in_time_and_loses_nothing::<Memory>();
    ends_in_time_and_loses_nothing::<Fjall>();
    ends_in_time_and_loses_nothing::<Redb>();
    ends_in_time_and_loses_nothing::<Lmdb>();
}

#[test]
fn a_shutdown_beside_a_writer_keeps_every_batch_that_was_acknowledged() {
    for round in 0..5 {
        let directory = tempfile::tempdir().unwrap();
        let mut engine = Fjall::open_at(directory.path());
        let ids = spaces(&mut engine);
        let written = std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                let write = |number: u64| {
                    let mut batch = Batch::<Fjall>::new();
                    batch.put(ids[0], number.to_be_bytes().as_slice(), vec![1; 100]);
                    engine.commit(batch, Durability::Buffer)
                };
                (0..).find_map(|number| write(number).err().map(|error| (number, error))).unwrap()
            });
            std::thread::sleep(Duration::from_millis(3 * (round + 1)));
            engine.shutdown(Duration::from_secs(20)).unwrap();
            // Everything is in tables: nothing is left for the journal.
            let statistics = engine.statistics();
            let (written, refused) = writer.join().unwrap();
            assert!(matches!(refused, Error::Closed), "{refused}");
            assert_eq!(statistics.waiting_memtables, 0);
            written
        });
        drop(engine);
        let mut engine = Fjall::open_at(directory.path());
        let ids = spaces(&mut engine);
        let found = engine.snapshot().unwrap().range(ids[0], KeyRange::ALL).unwrap().count();
        assert_eq!(found as u64, written);
    }
}

#[test]
fn dropping_an_engine_does_not_wait_for_readers_or_compactions() {
    let directory = tempfile::tempdir().unwrap();
    let mut settings = small_fjall();
    settings.drop_wait = Duration::from_millis(300);
    let mut engine = Fjall::open(directory.path(), settings).unwrap();
    let ids = spaces(&mut engine);
    fill(&engine, ids[0], 200);
    let snapshot = engine.snapshot().unwrap();
    let mut rows = snapshot.range(ids[0], KeyRange::ALL).unwrap();
    assert!(rows.next().unwrap().is_ok());
    let begun = Instant::now();
    drop(engine);
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    // What was opened before can still be read.
    assert_eq!(rows.map(Result::unwrap).count(), 99_999);
    drop(snapshot);
    // The database is free once the last reader is gone and the engine's threads have ended.
    let begun = Instant::now();
    let mut reopened = loop {
        match Fjall::open(directory.path(), small_fjall()) {
            Ok(reopened) => break reopened,
            Err(Error::AlreadyOpen { .. }) if begun.elapsed() < Duration::from_mins(1) => {}
            Err(error) => panic!("{error:?}"),
        }
    };
    let ids = spaces(&mut reopened);
    assert_eq!(reopened.snapshot().unwrap().range(ids[0], KeyRange::ALL).unwrap().count(), 100_000);
}

#[test]
fn handles_on_one_memory_see_the_spaces_that_the_others_make() {
    let mut first = Memory::new();
    let second = first.clone();
    let id = first.create_space(&Space::map("s")).unwrap();
    assert_eq!((second.space("s"), second.spaces()), (Some(id), vec![Space::map("s")]));
    let mut batch = Batch::new();
    batch.put(id, b"k".as_slice(), b"v".as_slice());
    second.commit(batch, Durability::Buffer).unwrap();
    assert!(first.snapshot().unwrap().contains(id, b"k").unwrap());
}

#[test]
fn engines_ingest_ascending_rows() {
    ingests_ascending_rows::<Memory>();
    ingests_ascending_rows::<Fjall>();
    ingests_ascending_rows::<Redb>();
    ingests_ascending_rows::<Lmdb>();
    ingests_ascending_rows::<Cached<Fjall>>();
}

#[test]
fn a_panic_of_a_visitor_is_not_taken_for_the_engine_s() {
    lets_a_visitor_panic::<Memory>();
    lets_a_visitor_panic::<Fjall>();
    lets_a_visitor_panic::<Redb>();
    lets_a_visitor_panic::<Lmdb>();
    lets_a_visitor_panic::<Cached<Redb>>();
    lets_a_visitor_panic::<Cached<Lmdb>>();
}

#[test]
fn who_is_lent_a_row_can_read_on_and_write() {
    lends_to_who_reads_on::<Memory>();
    lends_to_who_reads_on::<Fjall>();
    lends_to_who_reads_on::<Redb>();
    lends_to_who_reads_on::<Lmdb>();
    lends_to_who_reads_on::<Cached<Memory>>();
    lends_to_who_reads_on::<Cached<Lmdb>>();
}

#[test]
fn a_creation_that_was_killed_at_any_step_is_begun_anew() {
    let steps: [fn(&std::path::Path) -> std::io::Result<()>; 6] = [
        |at| std::fs::write(at.join("lock"), b""),
        |at| std::fs::create_dir(at.join("keyspaces")),
        |at| std::fs::write(at.join("0.jnl"), b""),
        |at| std::fs::write(at.join("version"), b""),
        |at| std::fs::write(at.join("version"), b"FJL\x03"),
        |at| std::fs::create_dir(at.join("keyspaces/0")),
    ];
    for done in 0..=steps.len() {
        let directory = tempfile::tempdir().unwrap();
        steps.iter().take(done).for_each(|step| step(directory.path()).unwrap());
        let mut engine = Fjall::open_at(directory.path());
        let ids = spaces(&mut engine);
        let mut batch = Batch::new();
        batch.put(ids[0], b"k".as_slice(), b"v".as_slice());
        engine.commit(batch, Durability::Buffer).unwrap();
        drop(engine);
        let mut engine = Fjall::open_at(directory.path());
        let ids = spaces(&mut engine);
        let found = engine.snapshot().unwrap().get(ids[0], b"k").unwrap();
        assert_eq!(found.as_deref(), Some(b"v".as_slice()), "{done} steps");
        let second = Fjall::open(directory.path(), FjallSettings::default()).unwrap_err();
        assert!(matches!(second, Error::AlreadyOpen { .. }), "{second}");
    }
    // A directory of somebody else is left alone.
    let directory = tempfile::tempdir().unwrap();
    for name in ["lock", "notes"] {
        std::fs::write(directory.path().join(name), b"mine").unwrap();
    }
    let _ = Fjall::open(directory.path(), FjallSettings::default());
    assert_eq!(std::fs::read(directory.path().join("notes")).unwrap(), b"mine");
}

#[test]
fn engines_refuse_what_was_made_from_rows_that_changed() {
    refuses_what_was_made_from_rows_that_changed::<Memory>();
    refuses_what_was_made_from_rows_that_changed::<Fjall>();
    refuses_what_was_made_from_rows_that_changed::<Redb>();
    refuses_what_was_made_from_rows_that_changed::<Lmdb>();
    refuses_what_was_made_from_rows_that_changed::<Cached<Fjall>>();
}

#[test]
fn engines_count_every_one_of_many_writers() {
    counts_every_one_of_many_writers::<Memory>();
    counts_every_one_of_many_writers::<Fjall>();
    counts_every_one_of_many_writers::<Redb>();
    counts_every_one_of_many_writers::<Lmdb>();
}
