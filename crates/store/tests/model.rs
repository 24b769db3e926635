//! Every engine against a `BTreeMap`, and under readers that check what they see.
#![cfg(test)]

#[path = "support/cached.rs"]
mod cached;
mod support;

use std::collections::BTreeMap;
use std::ops::{Bound, ControlFlow};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use keyplan_store::Direction;
use keyplan_store::cache::Cached;
use keyplan_store::engine::{
    Batch, Durability, Engine, Error, Fjall, FjallSettings, KeyRange, Lmdb, Memory, MultimapSnapshot as _,
    Redb, RedbSettings, RowRange as _, Snapshot, Space, SpaceId, TooLarge,
};
use support::{Opened, Random, rounds, small_fjall};

type Model = Vec<BTreeMap<Vec<u8>, Vec<u8>>>;

const SPACES: [&str; 3] = ["one", "two", "three"];

fn spaces<E: Engine>(engine: &mut E) -> Vec<SpaceId> {
    SPACES.iter().map(|name| engine.create_space(&Space::map(*name)).unwrap()).collect()
}

/// Keys that meet often, with `ff` and `00` at their ends.
fn key(random: &mut Random) -> Vec<u8> {
    let mut key: Vec<u8> = (0..=random.below(3)).map(|_| *random.pick(&[0, 1, 0x7f, 0xfe, 0xff])).collect();
    if random.below(3) == 0 {
        key.extend(random.below(40).to_be_bytes());
    }
    key
}

fn bound<'k>(random: &mut Random, key: &'k [u8]) -> Bound<&'k [u8]> {
    match random.below(5) {
        0 => Bound::Unbounded,
        1 | 2 => Bound::Included(key),
        _ => Bound::Excluded(key),
    }
}

fn rows_of<S: Snapshot>(rows: S::Range) -> Vec<(Vec<u8>, Vec<u8>)> {
    rows.map(|row| row.map(|(key, value)| (key.to_vec(), value.to_vec())).unwrap()).collect()
}

fn expected(model: &BTreeMap<Vec<u8>, Vec<u8>>, range: KeyRange<'_>) -> Vec<(Vec<u8>, Vec<u8>)> {
    model
        .iter()
        .filter(|(key, _)| range.contains(key))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

fn check_snapshot<S: Snapshot>(snapshot: &S, ids: &[SpaceId], model: &Model, random: &mut Random) {
    for (&id, rows) in ids.iter().zip(model) {
        let all: Vec<_> = rows.clone().into_iter().collect();
        assert_eq!(rows_of::<S>(snapshot.range(id, KeyRange::ALL).unwrap()), all);
        let keys: Vec<Vec<u8>> = (0..8).map(|_| key(random)).collect();
        let found = snapshot.multi_get(id, &keys).unwrap();
        let found: Vec<Option<Vec<u8>>> =
            found.into_iter().map(|value| value.map(|value| value.to_vec())).collect();
        assert_eq!(found, keys.iter().map(|key| rows.get(key).cloned()).collect::<Vec<_>>());
        for key in &keys {
            assert_eq!(snapshot.contains(id, key).unwrap(), rows.contains_key(key));
        }
        for _ in 0..4 {
            let (a, b) = (key(random), key(random));
            let range = KeyRange { start: bound(random, &a), end: bound(random, &b) };
            let want = expected(rows, range);
            assert_eq!(rows_of::<S>(snapshot.range(id, range).unwrap()), want, "{range:?}");
            let mut back = rows_of_back::<S>(snapshot.range(id, range).unwrap());
            back.reverse();
            assert_eq!(back, want, "{range:?} from the back");
            check_both_ends::<S>(snapshot.range(id, range).unwrap(), &want, random);
            let prefix = rows_of::<S>(snapshot.prefix(id, &a).unwrap());
            let want: Vec<_> = all.iter().filter(|(key, _)| key.starts_with(&a)).cloned().collect();
            assert_eq!(prefix, want, "prefix {a:?}");
        }
    }
}

fn rows_of_back<S: Snapshot>(rows: S::Range) -> Vec<(Vec<u8>, Vec<u8>)> {
    rows.rev().map(|row| row.map(|(key, value)| (key.to_vec(), value.to_vec())).unwrap()).collect()
}

/// Takes rows from both ends at random until they meet.
fn check_both_ends<S: Snapshot>(mut rows: S::Range, want: &[(Vec<u8>, Vec<u8>)], random: &mut Random) {
    let (mut front, mut back) = (Vec::new(), Vec::new());
    loop {
        let forwards = random.below(2) == 0;
        let taken = if forwards { &mut front } else { &mut back };
        if random.below(2) == 0 {
            // Some are lent, and those behind them are still there.
            let mut left = 1 + random.below(3);
            let direction = if forwards { Direction::Ascending } else { Direction::Descending };
            let visited = rows.visit(direction, |key, value| {
                taken.push((key.to_vec(), value.to_vec()));
                left -= 1;
                if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            if visited.unwrap().is_continue() {
                break;
            }
            continue;
        }
        let row = if forwards { rows.next() } else { rows.next_back() };
        let Some(row) = row else { break };
        let (key, value) = row.unwrap();
        taken.push((key.to_vec(), value.to_vec()));
    }
    assert!(rows.next().is_none() && rows.next_back().is_none());
    let visited = rows.visit(Direction::Ascending, |_, _| ControlFlow::Break(()));
    assert_eq!(visited.unwrap(), ControlFlow::Continue(()));
    front.extend(back.into_iter().rev());
    assert_eq!(front, want);
}

fn agrees_with_a_map<E: Opened>(seed: u64) {
    let directory = tempfile::tempdir().unwrap();
    let mut random = Random::new(seed);
    let mut model: Model = vec![BTreeMap::new(); SPACES.len()];
    for _ in 0..rounds(4) {
        let mut engine = E::open_at(directory.path());
        let ids = spaces(&mut engine);
        let mut held: Vec<(E::Snapshot, Model)> = Vec::new();
        // Commits so far, and how many there were before each state that a snapshot is held of.
        let (mut commits, mut states) = (0, std::collections::BTreeSet::new());
        for _ in 0..60 {
            let mut batch = Batch::<E>::new();
            let mut next = model.clone();
            for _ in 0..random.below(40) {
                let at = usize::try_from(random.below(3)).unwrap();
                let key = key(&mut random);
                if random.below(3) == 0 {
                    batch.delete(ids[at], key.as_slice());
                    next[at].remove(&key);
                } else {
                    let length = usize::try_from(random.below(300)).unwrap();
                    let value = random.bytes(length);
                    batch.put(ids[at], key.as_slice(), value.as_slice());
                    next[at].insert(key, value);
                }
                if random.below(10) == 0 {
                    check_pending(&mut batch, &ids, &model, &next, &mut random);
                }
            }
            if random.below(8) == 0 {
                // A batch that is not committed leaves nothing.
                drop(batch);
            } else {
                let durability = *random.pick(&[Durability::Buffer, Durability::Buffer, Durability::SyncAll]);
                engine.commit(batch, durability).unwrap();
                commits += 1;
                model = next;
            }
            if random.below(20) == 0 {
                engine.checkpoint(Duration::from_secs(20)).unwrap();
            }
            if random.below(10) == 0 {
                held.push((engine.snapshot().unwrap(), model.clone()));
                states.insert(commits);
            }
        }
        check_snapshot(&engine.snapshot().unwrap(), &ids, &model, &mut random);
        for (snapshot, model) in &held {
            check_snapshot(snapshot, &ids, model, &mut random);
        }
        // fjall counts those of one state as one.
        let open = if E::NAME == "fjall" { states.len() } else { held.len() };
        assert_eq!(engine.statistics().open_snapshots, open as u64);
        assert_eq!(engine.statistics().oldest_snapshot.is_some(), !held.is_empty());
        drop(held);
        engine.compact().unwrap();
        check_snapshot(&engine.snapshot().unwrap(), &ids, &model, &mut random);
    }
}

/// What a batch says of its own changes, against the state before and after it.
fn check_pending<E: Engine>(
    batch: &mut Batch<E>,
    ids: &[SpaceId],
    before: &Model,
    after: &Model,
    random: &mut Random,
) {
    for ((&id, before), after) in ids.iter().zip(before).zip(after) {
        let key = key(random);
        match batch.pending(id, &key) {
            Some(value) => assert_eq!(value.map(|value| value.to_vec()), after.get(&key).cloned()),
            None => assert_eq!(before.get(&key), after.get(&key)),
        }
        let mut merged = before.clone();
        for (key, value) in batch.pending_range(id, KeyRange::ALL) {
            match value {
                Some(value) => merged.insert(key.to_vec(), value.to_vec()),
                None => merged.remove(&**key),
            };
        }
        assert_eq!(&merged, after);
    }
}

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

fn keeps_a_snapshot_over_thousands_of_commits<E: Opened>() {
    let directory = tempfile::tempdir().unwrap();
    let mut engine = E::open_at(directory.path());
    let ids = spaces(&mut engine);
    let state = |round: u32| -> Vec<(Vec<u8>, Vec<u8>)> {
        // A key is rewritten in most rounds, missing in some, and new in others.
        let present = (0..40_u32).filter(|key| !(key + round).is_multiple_of(7));
        present.map(|key| (key.to_be_bytes().to_vec(), [round; 8].map(u32::to_be_bytes).concat())).collect()
    };
    let mut held = Vec::new();
    for round in 0..2_000 {
        let mut batch = Batch::<E>::new();
        for key in 0..40_u32 {
            batch.delete(ids[0], key.to_be_bytes().as_slice());
        }
        for (key, value) in state(round) {
            batch.put(ids[0], key, value);
        }
        engine.commit(batch, Durability::Buffer).unwrap();
        if round % 400 == 0 {
            held.push((engine.snapshot().unwrap(), round));
        }
        if round % 500 == 250 {
            engine.checkpoint(Duration::from_secs(20)).unwrap();
        }
    }
    // Nothing that an open snapshot needs may go, whatever is rewritten; redb refuses instead.
    if E::NAME == "fjall" {
        engine.compact().unwrap();
    }
    for (snapshot, round) in &held {
        assert_eq!(rows_of::<E::Snapshot>(snapshot.range(ids[0], KeyRange::ALL).unwrap()), state(*round));
        for (key, value) in state(*round) {
            assert_eq!(snapshot.get(ids[0], &key).unwrap().unwrap().to_vec(), value);
        }
    }
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
fn a_row_cache_keeps_a_snapshot_over_thousands_of_commits() {
    keeps_a_snapshot_over_thousands_of_commits::<Cached<Memory>>();
    keeps_a_snapshot_over_thousands_of_commits::<Cached<Fjall>>();
}

/// Every batch writes one number everywhere; a reader that sees two numbers has seen half of a batch.
fn shows_no_half_of_a_batch<E: Opened>() {
    let directory = tempfile::tempdir().unwrap();
    let mut engine = E::open_at(directory.path());
    let ids = spaces(&mut engine);
    let engine = Arc::new(engine);
    let done = Arc::new(AtomicBool::new(false));
    let write = |round: u64| {
        let mut batch = Batch::<E>::new();
        for &id in &ids {
            for key in 0..100_u64 {
                batch.put(id, key.to_be_bytes().as_slice(), round.to_be_bytes().as_slice());
            }
            // One row moves on, so that a scan meets deletions.
            batch.delete(id, (1_000 + round).to_be_bytes().as_slice());
            batch.put(id, (1_001 + round).to_be_bytes().as_slice(), round.to_be_bytes().as_slice());
        }
        engine.commit(batch, Durability::Buffer).unwrap();
    };
    write(0);
    std::thread::scope(|scope| {
        let readers: Vec<_> = (0..4)
            .map(|reader| {
                let (engine, done, ids) = (engine.clone(), done.clone(), ids.clone());
                scope.spawn(move || {
                    let mut random = Random::new(reader);
                    let (mut checks, mut newest) = (0_u64, 0);
                    while !done.load(Ordering::Relaxed) {
                        let snapshot = engine.snapshot().unwrap();
                        let first = snapshot.get(ids[2], &99_u64.to_be_bytes()).unwrap().unwrap().to_vec();
                        let number = u64::from_be_bytes(first.clone().try_into().unwrap());
                        assert!(number >= newest, "a later snapshot shows an earlier state");
                        newest = number;
                        let id = *random.pick(&ids);
                        let rows = rows_of::<E::Snapshot>(snapshot.range(id, KeyRange::ALL).unwrap());
                        assert_eq!(rows.len(), 101);
                        assert!(rows.iter().all(|(_, value)| *value == first), "half of a batch");
                        assert_eq!(rows[100].0, (1_001 + number).to_be_bytes());
                        let key = random.below(100).to_be_bytes();
                        assert_eq!(snapshot.get(*random.pick(&ids), &key).unwrap().unwrap().to_vec(), first);
                        checks += 1;
                    }
                    checks
                })
            })
            .collect();
        let until = Instant::now() + Duration::from_secs(2 * rounds(1));
        let mut round = 1;
        while Instant::now() < until {
            write(round);
            round += 1;
        }
        done.store(true, Ordering::Relaxed);
        let checks = readers.into_iter().map(|reader| reader.join().unwrap());
        let checks: Vec<u64> = checks.inspect(|checks| assert!(*checks > 0)).collect();
        println!("{}: {round} batches beside {checks:?} snapshots", E::NAME);
    });
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
fn a_row_cache_shows_no_half_of_a_batch() {
    shows_no_half_of_a_batch::<Cached<Fjall>>();
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

fn refuses_commits_after_shutdown<E: Opened>() {
    let directory = tempfile::tempdir().unwrap();
    let mut engine = E::open_at(directory.path());
    let ids = spaces(&mut engine);
    let mut batch = Batch::<E>::new();
    batch.put(ids[0], b"k".as_slice(), b"v".as_slice());
    engine.commit(batch, Durability::Buffer).unwrap();
    let begun = Instant::now();
    engine.shutdown(Duration::from_secs(5)).unwrap();
    assert!(begun.elapsed() < Duration::from_secs(5));
    let mut batch = Batch::<E>::new();
    batch.put(ids[0], b"k".as_slice(), b"w".as_slice());
    assert!(matches!(engine.commit(batch, Durability::Buffer), Err(Error::Closed)));
    assert_eq!(engine.snapshot().unwrap().get(ids[0], b"k").unwrap().unwrap().to_vec(), b"v");
}

#[test]
fn engines_refuse_commits_after_shutdown() {
    refuses_commits_after_shutdown::<Memory>();
    refuses_commits_after_shutdown::<Fjall>();
    refuses_commits_after_shutdown::<Redb>();
    refuses_commits_after_shutdown::<Lmdb>();
    refuses_commits_after_shutdown::<Cached<Fjall>>();
}

/// Some thousand rows of a space, enough for many memtables of a small engine.
fn fill<E: Engine>(engine: &E, id: SpaceId, batches: u32) {
    for number in 0..batches {
        let mut batch = Batch::<E>::new();
        for row in 0..500_u32 {
            let key = (number * 500 + row).wrapping_mul(0x9e37_79b9).to_be_bytes();
            batch.put(id, key.as_slice(), vec![7; 200]);
        }
        engine.commit(batch, Durability::Buffer).unwrap();
    }
}

fn ends_in_time_and_loses_nothing<E: Opened>() {
    let directory = tempfile::tempdir().unwrap();
    let mut engine = E::open_at(directory.path());
    let ids = spaces(&mut engine);
    fill(&engine, ids[0], 200);
    let begun = Instant::now();
    let ended = engine.shutdown(Duration::ZERO);
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    assert!(matches!(ended, Ok(()) | Err(Error::Deadline { limit: Duration::ZERO })), "{ended:?}");
    drop(engine);
    let mut engine = E::open_at(directory.path());
    let ids = spaces(&mut engine);
    assert_eq!(engine.snapshot().unwrap().range(ids[0], KeyRange::ALL).unwrap().count(), 100_000);
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
            Err(Error::AlreadyOpen { .. }) if begun.elapsed() < Duration::from_secs(60) => {}
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

fn ingests_ascending_rows<E: Opened>() {
    let directory = tempfile::tempdir().unwrap();
    let mut engine = E::open_at(directory.path());
    let ids = spaces(&mut engine);
    let row = |n: u32| {
        let (key, value) = (n.to_be_bytes().to_vec(), [n; 4].map(u32::to_be_bytes).concat());
        (key, value)
    };
    let rows = (0..50_000).map(row).map(|(key, value)| Ok((E::Buffer::from(key), E::Buffer::from(value))));
    assert_eq!(engine.ingest(ids[1], rows).unwrap(), 50_000);
    let snapshot = engine.snapshot().unwrap();
    let found = rows_of::<E::Snapshot>(snapshot.range(ids[1], KeyRange::ALL).unwrap());
    assert!(found.into_iter().eq((0..50_000).map(row)));
    let unsorted = [[2_u8], [1]].map(|key| Ok((E::Buffer::from(&key[..]), E::Buffer::from(&[][..]))));
    let refused = engine.ingest(ids[2], unsorted).unwrap_err();
    assert_eq!(refused.to_string(), "key 0x01 does not come after the one before it");
}

#[test]
fn engines_ingest_ascending_rows() {
    ingests_ascending_rows::<Memory>();
    ingests_ascending_rows::<Fjall>();
    ingests_ascending_rows::<Redb>();
    ingests_ascending_rows::<Lmdb>();
    ingests_ascending_rows::<Cached<Fjall>>();
}

fn lets_a_visitor_panic<E: Opened>() {
    let directory = tempfile::tempdir().unwrap();
    let mut engine = E::open_at(directory.path());
    let ids = spaces(&mut engine);
    let mut batch = Batch::new();
    for key in [b"a", b"b", b"c"] {
        batch.put(ids[0], key.as_slice(), key.as_slice());
    }
    engine.commit(batch, Durability::Buffer).unwrap();
    let mut rows = engine.snapshot().unwrap().range(ids[0], KeyRange::ALL).unwrap();
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        rows.visit(Direction::Ascending, |key, _| {
            if key == b"b" {
                std::panic::panic_any("the visitor's own");
            }
            ControlFlow::<()>::Continue(())
        })
    }));
    assert_eq!(panicked.unwrap_err().downcast_ref(), Some(&"the visitor's own"));
}

#[test]
fn a_panic_of_a_visitor_is_not_taken_for_the_engine_s() {
    lets_a_visitor_panic::<Memory>();
    lets_a_visitor_panic::<Fjall>();
    lets_a_visitor_panic::<Redb>();
    lets_a_visitor_panic::<Lmdb>();
    lets_a_visitor_panic::<Cached<Redb>>();
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
