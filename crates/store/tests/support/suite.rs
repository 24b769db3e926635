//! What every engine does, whoever made it: the checks that are run on each of them.

use std::collections::BTreeMap;
use std::ops::{Bound, ControlFlow};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use keyplan_store::Direction;
use keyplan_store::engine::{
    Batch, Durability, Engine, Error, KeyRange, OwnedKeyRange, RowRange as _, RowsDigest, Snapshot, Space,
    SpaceId,
};

use super::support::{Opened, Random, rounds};

pub(crate) type Model = Vec<BTreeMap<Vec<u8>, Vec<u8>>>;

pub(crate) const SPACES: [&str; 3] = ["one", "two", "three"];

pub(crate) fn spaces<E: Engine>(engine: &mut E) -> Vec<SpaceId> {
    SPACES.iter().map(|name| engine.create_space(&Space::map(*name)).unwrap()).collect()
}

/// Keys that meet often, with `ff` and `00` at their ends.
pub(crate) fn key(random: &mut Random) -> Vec<u8> {
    let mut key: Vec<u8> = (0..=random.below(3)).map(|_| *random.pick(&[0, 1, 0x7f, 0xfe, 0xff])).collect();
    if random.below(3) == 0 {
        key.extend(random.below(40).to_be_bytes());
    }
    key
}

pub(crate) fn bound<'k>(random: &mut Random, key: &'k [u8]) -> Bound<&'k [u8]> {
    match random.below(5) {
        0 => Bound::Unbounded,
        1 | 2 => Bound::Included(key),
        _ => Bound::Excluded(key),
    }
}

pub(crate) fn rows_of<S: Snapshot>(rows: S::Range) -> Vec<(Vec<u8>, Vec<u8>)> {
    rows.map(|row| row.map(|(key, value)| (key.to_vec(), value.to_vec())).unwrap()).collect()
}

pub(crate) fn expected(model: &BTreeMap<Vec<u8>, Vec<u8>>, range: KeyRange<'_>) -> Vec<(Vec<u8>, Vec<u8>)> {
    model
        .iter()
        .filter(|(key, _)| range.contains(key))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

pub(crate) fn check_snapshot<S: Snapshot>(snapshot: &S, ids: &[SpaceId], model: &Model, random: &mut Random) {
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
            assert_eq!(snapshot.get_with(id, key, <[u8]>::to_vec).unwrap(), rows.get(key).cloned());
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

pub(crate) fn rows_of_back<S: Snapshot>(rows: S::Range) -> Vec<(Vec<u8>, Vec<u8>)> {
    rows.rev().map(|row| row.map(|(key, value)| (key.to_vec(), value.to_vec())).unwrap()).collect()
}

/// Takes rows from both ends at random until they meet.
pub(crate) fn check_both_ends<S: Snapshot>(
    mut rows: S::Range,
    want: &[(Vec<u8>, Vec<u8>)],
    random: &mut Random,
) {
    let (mut front, mut back) = (Vec::new(), Vec::new());
    loop {
        let forwards = random.below(2) == 0;
        let taken = if forwards { &mut front } else { &mut back };
        if random.below(2) == 0 {
            // Some are lent, and those after them are still there.
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

pub(crate) fn agrees_with_a_map<E: Opened>(seed: u64) {
    let directory = tempfile::tempdir().unwrap();
    agrees_with_a_map_at::<E>(seed, directory.path(), rounds(4));
}

/// Random batches, snapshots and reopenings at a path.
pub(crate) fn agrees_with_a_map_at<E: Opened>(seed: u64, path: &Path, rounds: u64) {
    let mut random = Random::new(seed);
    let mut model: Model = vec![BTreeMap::new(); SPACES.len()];
    for _ in 0..rounds {
        let mut engine = E::open_at(path);
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
pub(crate) fn check_pending<E: Engine>(
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

pub(crate) fn keeps_a_snapshot_over_thousands_of_commits<E: Opened>() {
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

/// Every batch writes one number everywhere; a reader that sees two numbers has seen half of a batch.
pub(crate) fn shows_no_half_of_a_batch<E: Opened>() {
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

pub(crate) fn refuses_commits_after_shutdown<E: Opened>() {
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

/// Some thousand rows of a space, enough for many memtables of a small engine.
pub(crate) fn fill<E: Engine>(engine: &E, id: SpaceId, batches: u32) {
    for number in 0..batches {
        let mut batch = Batch::<E>::new();
        for row in 0..500_u32 {
            let key = (number * 500 + row).wrapping_mul(0x9e37_79b9).to_be_bytes();
            batch.put(id, key.as_slice(), vec![7; 200]);
        }
        engine.commit(batch, Durability::Buffer).unwrap();
    }
}

pub(crate) fn ends_in_time_and_loses_nothing<E: Opened>() {
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

pub(crate) fn ingests_ascending_rows<E: Opened>() {
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

pub(crate) fn lets_a_visitor_panic<E: Opened>() {
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
    let snapshot = engine.snapshot().unwrap();
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        snapshot.get_with(ids[0], b"a", |_| std::panic::panic_any("the visitor's own"))
    }));
    assert_eq!(panicked.unwrap_err().downcast_ref(), Some(&"the visitor's own"));
    // The snapshot can be read afterwards, also by others.
    let read = || snapshot.get_with(ids[0], b"a", <[u8]>::to_vec).unwrap();
    assert_eq!(std::thread::scope(|scope| scope.spawn(read).join()).unwrap(), Some(b"a".to_vec()));
}

/// Whoever is lent a row can read the same snapshot, write, and open others.
pub(crate) fn lends_to_who_reads_on<E: Opened>() {
    const ROWS: u32 = 1_300;
    let directory = tempfile::tempdir().unwrap();
    let mut engine = E::open_at(directory.path());
    let ids = spaces(&mut engine);
    let row = |number: u32| (number.to_be_bytes(), number.wrapping_mul(7).to_be_bytes());
    let mut batch = Batch::<E>::new();
    for (key, value) in (0..ROWS).map(row) {
        batch.put_row(ids[0], &key, &value);
    }
    engine.commit(batch, Durability::Buffer).unwrap();

    let snapshot = engine.snapshot().unwrap();
    let found = snapshot.get_with(ids[0], &row(5).0, |five| {
        let six = snapshot.get_with(ids[0], &row(6).0, |six| [five, six].concat());
        let same = snapshot.clone().get(ids[0], &row(5).0).unwrap().unwrap();
        assert_eq!((&same[..], snapshot.contains(ids[1], five).unwrap()), (five, false));
        six.unwrap().unwrap()
    });
    assert_eq!(found.unwrap(), Some([row(5).1, row(6).1].concat()));
    assert_eq!(snapshot.get_with(ids[0], b"nothing", |_| ()).unwrap(), None);
    assert_eq!(snapshot.get_with(ids[0], &[7; 4_000], |_| ()).unwrap(), None);
    let elsewhere = snapshot.get_with(SpaceId(ids[0].0.wrapping_add(20_000)), b"a", |_| ());
    assert!(matches!(elsewhere, Err(Error::NoSpace { .. })), "{elsewhere:?}");

    let mut rows = snapshot.range(ids[0], KeyRange::ALL).unwrap();
    let mut seen = 0;
    // Some are given away before, at both ends.
    assert_eq!(rows.next().unwrap().unwrap().0[..], row(0).0);
    assert_eq!(rows.next_back().unwrap().unwrap().0[..], row(ROWS - 1).0);
    let visited = rows.visit(Direction::Ascending, |key, value| {
        seen += 1;
        assert_eq!((key, value), (&row(seen).0[..], &row(seen).1[..]));
        let next = snapshot.get_with(ids[0], &row(seen + 1).0, <[u8]>::to_vec).unwrap();
        assert_eq!(next, Some(row(seen + 1).1.to_vec()));
        if seen.is_multiple_of(200) {
            let mut batch = Batch::<E>::new();
            batch.delete(ids[0], row(seen + 1).0.as_slice());
            batch.put_row(ids[0], &row(seen + 2).0, b"later");
            engine.commit(batch, Durability::Buffer).unwrap();
            let now = engine.snapshot().unwrap();
            assert!(!now.contains(ids[0], &row(seen + 1).0).unwrap());
            let inside = snapshot.range(ids[0], KeyRange::ALL).unwrap();
            assert_eq!(inside.rev().count(), ROWS as usize);
        }
        if seen == 1_100 { ControlFlow::Break(seen) } else { ControlFlow::Continue(()) }
    });
    assert_eq!(visited.unwrap(), ControlFlow::Break(1_100));
    assert_eq!(rows.next().unwrap().unwrap().0[..], row(1_101).0);
    // The rest, from the other end, goes down to where the first end is.
    let mut next = ROWS - 1;
    let visited = rows.visit(Direction::Descending, |key, value| {
        next -= 1;
        assert_eq!((key, value), (&row(next).0[..], &row(next).1[..]));
        ControlFlow::<()>::Continue(())
    });
    assert_eq!((visited.unwrap(), next), (ControlFlow::Continue(()), 1_102));
    assert!(rows.next().is_none() && rows.next_back().is_none());
}

/// What a batch expects, and what that is called.
type Expect<'e, E> = (&'e str, Box<dyn Fn(&mut Batch<E>) + 'e>);

/// Two batches that were made from the same rows: the second is refused, and leaves nothing.
pub(crate) fn refuses_what_was_made_from_rows_that_changed<E: Opened>() {
    let directory = tempfile::tempdir().unwrap();
    let mut engine = E::open_at(directory.path());
    let ids = spaces(&mut engine);
    assert!(engine.capabilities().checks);
    let mut batch = Batch::<E>::new();
    for key in 1_u8..=5 {
        batch.put(ids[0], [key].as_slice(), [key].as_slice());
    }
    batch.put(ids[1], b"k".as_slice(), b"v".as_slice());
    engine.commit(batch, Durability::Buffer).unwrap();
    let range = |start: u8, end: u8| {
        KeyRange { start: Bound::Included(&[start]), end: Bound::Included(&[end]) }.to_owned()
    };
    let rows = |direction, keys: &[u8]| {
        let mut rows = RowsDigest::new(direction);
        for key in keys {
            rows.add(&[*key], &[*key]);
        }
        rows
    };
    let (up, down) = (Direction::Ascending, Direction::Descending);
    let so: Vec<Expect<'_, E>> = vec![
        ("a value", Box::new(|batch| batch.expect(ids[0], &[1], Some(&[1])))),
        ("no value", Box::new(|batch| batch.expect(ids[0], &[6], None))),
        ("a value of another space", Box::new(|batch| batch.expect(ids[1], b"k", Some(b"v")))),
        ("rows", Box::new(|batch| batch.expect_rows(ids[0], range(2, 4), rows(up, &[2, 3, 4])))),
        (
            "rows from the back",
            Box::new(|batch| batch.expect_rows(ids[0], range(2, 4), rows(down, &[4, 3, 2]))),
        ),
        ("no rows", Box::new(|batch| batch.expect_rows(ids[0], range(6, 8), rows(up, &[])))),
        ("an inverted range", Box::new(|batch| batch.expect_rows(ids[0], range(8, 6), rows(up, &[])))),
        (
            "everything",
            Box::new(|batch| {
                let all = OwnedKeyRange { start: Bound::Unbounded, end: Bound::Excluded(vec![9]) };
                batch.expect_rows(ids[0], all, rows(up, &[1, 2, 3, 4, 5]));
            }),
        ),
    ];
    let commit = |expect: &dyn Fn(&mut Batch<E>), number: u8| {
        let mut batch = Batch::<E>::new();
        batch.put(ids[0], [9].as_slice(), [number].as_slice());
        batch.put(ids[2], [9].as_slice(), [number].as_slice());
        expect(&mut batch);
        engine.commit(batch, Durability::Buffer)
    };
    for (what, expect) in &so {
        commit(expect, 1).unwrap_or_else(|error| panic!("{what}: {error}"));
    }
    let otherwise: Vec<Expect<'_, E>> = vec![
        ("another value", Box::new(|batch| batch.expect(ids[0], &[1], Some(&[2])))),
        ("a value where none was", Box::new(|batch| batch.expect(ids[0], &[1], None))),
        ("no value where one was", Box::new(|batch| batch.expect(ids[0], &[6], Some(&[6])))),
        ("a row less", Box::new(|batch| batch.expect_rows(ids[0], range(2, 4), rows(up, &[2, 4])))),
        ("a row more", Box::new(|batch| batch.expect_rows(ids[0], range(2, 4), rows(up, &[2, 3, 4, 5])))),
        (
            "one of several",
            Box::new(|batch| {
                batch.expect(ids[1], b"k", Some(b"v"));
                batch.expect(ids[0], &[1], Some(&[1]));
                batch.expect(ids[1], b"k", Some(b"w"));
            }),
        ),
    ];
    for (what, expect) in &otherwise {
        let refused = commit(expect, 2);
        assert!(matches!(refused, Err(Error::Conflict)), "{what}: {refused:?}");
    }
    let snapshot = engine.snapshot().unwrap();
    for id in [ids[0], ids[2]] {
        assert_eq!(
            snapshot.get(id, &[9]).unwrap().unwrap().to_vec(),
            [1],
            "nothing of a refused batch is there"
        );
    }
}

/// How often each of them adds one.
const EACH: u64 = 15;

/// Threads that each read, add one and write, and try again after a conflict: every one is counted.
pub(crate) fn counts_every_one_of_many_writers<E: Opened>() {
    let directory = tempfile::tempdir().unwrap();
    let mut engine = E::open_at(directory.path());
    let ids = spaces(&mut engine);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for _ in 0..EACH {
                    loop {
                        let found = engine.snapshot().unwrap().get(ids[0], b"count").unwrap();
                        // A copy: what is borrowed of an engine is held while others commit.
                        let found = found.map(|value| value.to_vec());
                        let count =
                            found.as_deref().map_or(0, |value| u64::from_be_bytes(value.try_into().unwrap()));
                        let mut batch = Batch::<E>::new();
                        batch.expect(ids[0], b"count", found.as_deref());
                        batch.put(ids[0], b"count".as_slice(), (count + 1).to_be_bytes().as_slice());
                        match engine.commit(batch, Durability::Buffer) {
                            Ok(()) => break,
                            Err(Error::Conflict) => {}
                            Err(error) => panic!("{error}"),
                        }
                    }
                }
            });
        }
    });
    let count = engine.snapshot().unwrap().get(ids[0], b"count").unwrap().unwrap().to_vec();
    assert_eq!(count, (3 * EACH).to_be_bytes());
}
