//! The row cache: what a snapshot sees with it is what it sees without.
#![cfg(test)]

mod support;

use std::collections::BTreeMap;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, RwLock};

use keyplan_plan::compile;
use keyplan_store::cache::{Cached, CachedSnapshot, MemoryBudget, RowCache, RowStatistics};
use keyplan_store::engine::{
    Batch, Durability, Engine, Error, Fjall, FjallSettings, KeyRange, Lmdb, LmdbSettings, Memory,
    MultimapSnapshot as _, Redb, Snapshot, Space, SpaceId,
};
use keyplan_store::structure::{Embedded, StructureRead as _, Structures as _};
use keyplan_store::{BulkLoad, BulkOptions, Schema, Store};
use support::{Opened, Random, rounds};

type State = BTreeMap<Vec<u8>, Vec<u8>>;
/// The state after each commit.
type History = RwLock<Vec<Arc<State>>>;

/// In every batch, with the number of the commit.
const CURSOR: &[u8] = b"cursor";

fn key(random: &mut Random) -> Vec<u8> {
    let key = random.below(60);
    [b"key/".as_slice(), &vec![7; usize::try_from(key % 20).unwrap()], &key.to_be_bytes()].concat()
}

/// What a snapshot must see, by the number that it has of the last commit. The number is read below, past the cache.
fn seen<S: Snapshot>(snapshot: &CachedSnapshot<S>, space: SpaceId, history: &History) -> Arc<State> {
    let below = snapshot.below().get(space, CURSOR).unwrap().unwrap();
    let number = u64::from_be_bytes(below[..].try_into().unwrap());
    assert_eq!(snapshot.get(space, CURSOR).unwrap().unwrap()[..], below[..]);
    history.read().unwrap()[usize::try_from(number).unwrap()].clone()
}

fn check<S: Snapshot>(
    snapshot: &CachedSnapshot<S>,
    space: SpaceId,
    state: &State,
    random: &mut Random,
) -> usize {
    match random.below(6) {
        0 => {
            let keys: Vec<Vec<u8>> = (0..=random.below(6)).map(|_| key(random)).collect();
            let found = snapshot.multi_get(space, &keys).unwrap();
            for (key, found) in keys.iter().zip(&found) {
                assert_eq!(found.as_deref(), state.get(key).map(Vec::as_slice), "{key:?}");
            }
            keys.len()
        }
        1 => {
            let key = key(random);
            let found = snapshot.get_with(space, &key, <[u8]>::to_vec).unwrap();
            assert_eq!(found.as_ref(), state.get(&key), "{key:?}");
            1
        }
        2 => {
            let key = key(random);
            assert_eq!(snapshot.contains(space, &key).unwrap(), state.contains_key(&key), "{key:?}");
            1
        }
        _ => {
            let key = key(random);
            let found = snapshot.get(space, &key).unwrap();
            assert_eq!(found.as_deref(), state.get(&key).map(Vec::as_slice), "{key:?}");
            1
        }
    }
}

/// Four readers with snapshots of different ages beside a writer that writes, deletes, fails and ingests.
fn agrees_beside_a_writer<E: Opened>(budget: u64, reads: usize) {
    let directory = tempfile::tempdir().unwrap();
    let mut cached = Cached::new(E::open_at(directory.path()), RowCache::bytes(budget));
    let space = cached.create_space(&Space::map("rows")).unwrap();
    let ingested = cached.create_space(&Space::map("ingested")).unwrap();
    let history: History = RwLock::default();
    let done = AtomicUsize::new(0);
    let commit = |number: u64, random: &mut Random| {
        let last = history.read().unwrap().last().cloned().unwrap_or_default();
        let mut next = (*last).clone();
        let mut batch = Batch::<Cached<E>>::new();
        for _ in 0..random.below(12) {
            let key = key(random);
            if random.below(3) == 0 {
                next.remove(&key);
                batch.delete(space, key);
            } else {
                let length = usize::try_from(random.below(120)).unwrap();
                let value = random.bytes(length);
                batch.put(space, key.as_slice(), value.as_slice());
                next.insert(key, value);
            }
        }
        let cursor = number.to_be_bytes().to_vec();
        batch.put(space, CURSOR, cursor.as_slice());
        next.insert(CURSOR.to_vec(), cursor);
        // There before it can be seen.
        history.write().unwrap().push(Arc::new(next));
        cached.commit(batch, Durability::Buffer).unwrap();
    };
    commit(0, &mut Random::new(budget));
    let (history, cached, done) = (&history, &cached, &done);
    std::thread::scope(|scope| {
        for reader in 0..4 {
            scope.spawn(move || {
                let mut random = Random::new(budget * 10 + reader);
                let mut open: Vec<(CachedSnapshot<E::Snapshot>, Arc<State>)> = Vec::new();
                let mut left = reads;
                while left > 0 {
                    if open.len() < 5 || random.below(20) == 0 {
                        let snapshot = cached.snapshot().unwrap();
                        let state = seen(&snapshot, space, history);
                        if open.len() == 5 {
                            open.swap_remove(usize::try_from(random.below(5)).unwrap());
                        }
                        open.push((snapshot, state));
                    }
                    let (snapshot, state) = random.pick(&open);
                    left = left.saturating_sub(check(snapshot, space, state, &mut random));
                    if random.below(200) == 0 {
                        let scanned = snapshot.range(space, KeyRange::ALL).unwrap();
                        let scanned: State =
                            scanned.map(|row| row.unwrap()).map(|(k, v)| (k.to_vec(), v.to_vec())).collect();
                        assert!(scanned == **state);
                    }
                }
                done.fetch_add(1, Ordering::Relaxed);
            });
        }
        let mut random = Random::new(budget + 99);
        let mut number = 0;
        while done.load(Ordering::Relaxed) < 4 {
            number += 1;
            commit(number, &mut random);
            if number % 100 == 0 {
                // Refused after the cache has been told of it: nothing of it may be found.
                let mut refused = Batch::<Cached<E>>::new();
                refused.put(space, key(&mut random), b"refused".as_slice());
                refused.put(SpaceId(space.0 + 77), b"x".as_slice(), b"x".as_slice());
                cached.commit(refused, Durability::Buffer).unwrap_err();
            }
            if number % 150 == 0 && number < 2_000 {
                let rows = (0..20_u64).map(|row| {
                    Ok((E::Buffer::from((number * 100 + row).to_be_bytes().to_vec()), vec![1].into()))
                });
                assert_eq!(cached.ingest(ingested, rows).unwrap(), 20);
            }
        }
    });
    if let Some(statistics) = cached.row_statistics() {
        assert!(statistics.bytes <= statistics.budget, "{statistics:?}");
        assert!(statistics.hits() > 0 || budget < 2_000, "{statistics:?}");
        println!(
            "{} with {budget}: {} hits, {} misses, {} evictions",
            E::NAME,
            statistics.hits(),
            statistics.misses(),
            statistics.evictions()
        );
    } else {
        assert!(budget < 768);
    }
}

#[test]
fn readers_of_any_age_see_the_same_at_every_size() {
    let reads = 4_000 * usize::try_from(rounds(1)).unwrap();
    for budget in [0, 767, 768, 900, 1_500, 3_000, 6_000, 20_000, 1 << 20] {
        agrees_beside_a_writer::<Memory>(budget, reads);
    }
}

#[test]
fn readers_of_any_age_see_the_same_on_fjall_and_redb() {
    let reads = 8_000 * usize::try_from(rounds(1)).unwrap();
    for budget in [3_000, 1 << 20] {
        agrees_beside_a_writer::<Fjall>(budget, reads);
        agrees_beside_a_writer::<Redb>(budget, reads / 4);
    }
}

fn schema() -> Schema {
    let text = "plan demo;
        space cl { key tick = 0x01 pool: u64; key pool = 0x02 pool: u64; }
        space things { hash thing = key: bytes field any = field: bytes -> raw; }";
    Schema::of(&compile("demo.keyplan", text, |_| Err("no imports".into()))).unwrap()
}

fn at(tag: u8, pool: u64) -> Vec<u8> {
    [&[tag][..], &pool.to_be_bytes()].concat()
}

#[test]
fn reads_are_counted_for_their_families() {
    let store = Store::create(Memory::new(), &schema()).unwrap().row_cache(64_000);
    let space = store.space("cl").unwrap();
    let mut batch = store.batch().unwrap();
    for pool in 0..10 {
        batch.put(space, at(1, pool), b"tick".as_slice());
    }
    batch.commit(Durability::Buffer).unwrap();
    let snapshot = store.snapshot().unwrap();
    for pool in 0..10 {
        assert!(snapshot.contains(space, &at(1, pool)).unwrap());
    }
    // A key that does not exist is known from the second time on.
    for _ in 0..3 {
        assert!(snapshot.get(space, &at(2, 7)).unwrap().is_none());
    }
    assert!(snapshot.get(space, &[9]).unwrap().is_none());
    let statistics = store.row_statistics().unwrap();
    let counts: Vec<_> = statistics
        .families
        .iter()
        .map(|of| (of.family.as_deref(), of.hits, of.misses, of.evictions))
        .collect();
    assert_eq!(counts, [(None, 0, 1, 0), (Some("cl.tick"), 10, 0, 0), (Some("cl.pool"), 1, 2, 0)]);
    assert_eq!((statistics.rows, statistics.budget), (11, 64_000));
    assert_eq!(store.engine().statistics().rows, Some(statistics));
}

#[test]
fn a_scan_leaves_the_cache_as_it_is() {
    let store = Store::create(Memory::new(), &schema()).unwrap();
    let space = store.space("cl").unwrap();
    let rows = (0..1_000).map(|pool| Ok((at(1, pool).into(), b"tick".to_vec().into())));
    store.engine().ingest(space, rows).unwrap();
    let store = store.row_cache(64_000);
    let before = store.row_statistics().unwrap();
    assert_eq!(store.snapshot().unwrap().range(space, KeyRange::ALL).unwrap().count(), 1_000);
    assert_eq!(store.row_statistics().unwrap(), before);
}

#[test]
fn rows_that_are_loaded_replace_what_was_known() {
    let store = Store::create(Memory::new(), &schema()).unwrap().row_cache(64_000);
    let space = store.space("cl").unwrap();
    let old = store.snapshot().unwrap();
    for _ in 0..3 {
        assert!(old.get(space, &at(1, 5)).unwrap().is_none());
    }
    let mut load = BulkLoad::new(&store, BulkOptions::default()).unwrap();
    for pool in 0..10 {
        load.push(space, &at(1, pool), b"loaded").unwrap();
    }
    load.finish(Batch::new(), |_| ()).unwrap();
    assert_eq!(&*store.snapshot().unwrap().get(space, &at(1, 5)).unwrap().unwrap(), b"loaded");
    assert!(old.get(space, &at(1, 5)).unwrap().is_none());
}

#[test]
fn a_space_that_comes_later_is_cached_and_old_snapshots_do_not_know_it() {
    let mut cached = Cached::new(Memory::new(), 64_000);
    let one = cached.create_space(&Space::map("one")).unwrap();
    let mut batch = Batch::<Cached<Memory>>::new();
    batch.put(one, b"k".as_slice(), b"1".as_slice());
    cached.commit(batch, Durability::Buffer).unwrap();
    let old = cached.snapshot().unwrap();
    let two = cached.create_space(&Space::map("two")).unwrap();
    let mut batch = Batch::<Cached<Memory>>::new();
    batch.put(one, b"k".as_slice(), b"2".as_slice());
    batch.put(two, b"k".as_slice(), b"3".as_slice());
    cached.commit(batch, Durability::Buffer).unwrap();
    let new = cached.snapshot().unwrap();
    for _ in 0..2 {
        assert_eq!(&*new.get(one, b"k").unwrap().unwrap(), b"2");
        assert_eq!(&*new.get(two, b"k").unwrap().unwrap(), b"3");
        assert_eq!(&*old.get(one, b"k").unwrap().unwrap(), b"1");
        assert!(matches!(old.get(two, b"k"), Err(Error::NoSpace { .. })));
    }
}

/// A snapshot that is open when a space comes does not have a second cache kept.
#[test]
fn a_space_that_comes_later_leaves_the_cache_and_its_counts() {
    let mut cached = Cached::new(Memory::new(), 64_000);
    let one = cached.create_space(&Space::map("one")).unwrap();
    let mut batch = Batch::<Cached<Memory>>::new();
    batch.put(one, b"k".as_slice(), b"1".as_slice());
    cached.commit(batch, Durability::Buffer).unwrap();
    let old = cached.snapshot().unwrap();
    assert_eq!(&*old.get(one, b"k").unwrap().unwrap(), b"1");
    let before = cached.row_statistics().unwrap();
    assert_eq!((before.rows, before.hits()), (1, 1));
    cached.create_space(&Space::map("two")).unwrap();
    assert_eq!(cached.row_statistics().unwrap(), before);
    assert_eq!(&*cached.snapshot().unwrap().get(one, b"k").unwrap().unwrap(), b"1");
    assert_eq!(cached.row_statistics().unwrap().hits(), 2);
}

#[test]
fn spaces_with_several_values_and_those_that_are_left_out_go_past_the_cache() {
    let directory = tempfile::tempdir().unwrap();
    let mut cache = RowCache::bytes(64_000);
    cache.without.push("out".into());
    let mut cached = Cached::new(Redb::open_at(directory.path()), cache);
    let many = cached.create_space(&Space::multimap("many")).unwrap();
    let out = cached.create_space(&Space::map("out")).unwrap();
    let mut batch = Batch::<Cached<Redb>>::new();
    batch.put_multi(many, b"k".as_slice(), b"1".as_slice());
    batch.put_multi(many, b"k".as_slice(), b"2".as_slice());
    batch.put(out, b"k".as_slice(), b"3".as_slice());
    cached.commit(batch, Durability::Buffer).unwrap();
    let snapshot = cached.snapshot().unwrap();
    let values: Vec<Vec<u8>> =
        snapshot.iter_values(many, b"k").unwrap().rev().map(|value| value.unwrap().to_vec()).collect();
    assert_eq!(values, [b"2", b"1"]);
    let pairs: Vec<usize> =
        snapshot.iter_multi(many, KeyRange::ALL).unwrap().map(|row| row.unwrap().1.count()).collect();
    assert_eq!(pairs, [2]);
    assert!(matches!(snapshot.get(many, b"k"), Err(Error::SpaceKind { .. })));
    assert_eq!(&*snapshot.get(out, b"k").unwrap().unwrap(), b"3");
    let statistics = cached.row_statistics().unwrap();
    assert_eq!((statistics.rows, statistics.families), (0, Vec::new()));
}

#[test]
fn an_old_snapshot_ends_also_where_its_rows_are_cached() {
    let directory = tempfile::tempdir().unwrap();
    let mut settings = FjallSettings::default();
    settings.snapshot_age = Some(std::time::Duration::ZERO);
    let engine = Fjall::open(directory.path().join("db"), settings).unwrap();
    let mut cached = Cached::new(engine, 64_000);
    let space = cached.create_space(&Space::map("s")).unwrap();
    let mut batch = Batch::<Cached<Fjall>>::new();
    batch.put(space, b"k".as_slice(), b"v".as_slice());
    cached.commit(batch, Durability::Buffer).unwrap();
    let snapshot = cached.snapshot().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(2));
    assert!(matches!(snapshot.get(space, b"k"), Err(Error::SnapshotExpired { .. })));
    assert!(matches!(snapshot.contains(space, b"k"), Err(Error::SnapshotExpired { .. })));
    assert!(matches!(snapshot.multi_get(space, &[b"k"]), Err(Error::SnapshotExpired { .. })));
}

#[test]
fn the_heads_of_structures_and_their_members_are_read_from_the_cache() {
    let store = Store::create(Memory::new(), &schema()).unwrap().row_cache(1 << 20);
    let structures = Embedded::open(Arc::new(store), "things").unwrap();
    structures.set_add(b"set", b"member").unwrap();
    structures.hash_set(b"hash", b"field", b"value").unwrap();
    let hits = || structures.store().row_statistics().unwrap().hits();
    let misses = || structures.store().row_statistics().unwrap().misses();
    let before = (hits(), misses());
    assert!(structures.set_contains(b"set", b"member").unwrap());
    assert_eq!(structures.set_count(b"set").unwrap(), 1);
    assert_eq!(structures.hash_get(b"hash", b"field").unwrap().as_deref(), Some(&b"value"[..]));
    assert!(hits() >= before.0 + 3 && misses() == before.1, "{} {}", hits(), misses());
}

#[test]
fn a_batch_that_would_fill_the_cache_only_takes_out_what_it_changes() {
    let store = Store::create(Memory::new(), &schema()).unwrap().row_cache(40_000);
    let space = store.space("cl").unwrap();
    let put = |from: u64, to: u64, value: &[u8]| {
        let mut batch = store.batch().unwrap();
        (from..to).for_each(|pool| batch.put(space, at(1, pool), value));
        batch.commit(Durability::Buffer).unwrap();
    };
    put(0, 20, b"hot");
    put(10, 1_000, &[7; 50]);
    assert_eq!(store.row_statistics().unwrap().rows, 10);
    let snapshot = store.snapshot().unwrap();
    assert_eq!(&*snapshot.get(space, &at(1, 3)).unwrap().unwrap(), b"hot");
    assert_eq!(&*snapshot.get(space, &at(1, 13)).unwrap().unwrap(), [7; 50]);
}

#[test]
fn the_default_budget_is_divided_between_blocks_and_rows() {
    let whole = FjallSettings::default().cache_bytes;
    let divided = MemoryBudget::default();
    assert_eq!((divided.blocks + divided.rows, divided.blocks), (whole, whole / 4));
}

/// The state of each space.
type Spaces = Vec<Arc<State>>;

/// Several keys of a space, asked for in every way.
fn reads_as<S: Snapshot>(snapshot: &S, space: SpaceId, rows: &State, keys: &[Vec<u8>], random: &mut Random) {
    // With repetitions, and with keys that nobody writes.
    let mut asked: Vec<Vec<u8>> = (0..random.below(9)).map(|_| random.choose(keys)).collect();
    asked.push(vec![random.byte(); 3]);
    asked.push(random.choose(&asked));
    let found = snapshot.multi_get(space, &asked).unwrap();
    assert_eq!(found.len(), asked.len());
    for (key, found) in asked.iter().zip(&found) {
        let expected = rows.get(key).map(Vec::as_slice);
        assert_eq!(found.as_deref(), expected, "a key of {} bytes", key.len());
        assert_eq!(snapshot.get_with(space, key, <[u8]>::to_vec).unwrap().as_deref(), expected);
        assert_eq!(snapshot.get(space, key).unwrap().as_deref(), expected);
        assert_eq!(snapshot.contains(space, key).unwrap(), expected.is_some());
    }
}

/// Keys and values of every length, in spaces that come one by one, written in every way: reads of any snapshot are those of
/// a map.
fn rows_of_any_size_agree<E: Opened>(cache: RowCache, longest: usize, seed: u64) {
    let directory = tempfile::tempdir().unwrap();
    let engine = E::open_at(directory.path());
    let empty_keys = engine.capabilities().empty_keys;
    let mut cached = Cached::new(engine, cache);
    let mut random = Random::new(seed);
    let lengths: Vec<usize> = [0, 1, 8, 20, 21, 36, longest - 1, longest]
        .into_iter()
        .filter(|length| *length > 0 || empty_keys)
        .collect();
    let keys: Vec<Vec<u8>> = (0..40_usize).map(|nth| random.bytes(lengths[nth % lengths.len()])).collect();
    let mut ids: Vec<SpaceId> = Vec::new();
    let mut state: Spaces = Vec::new();
    let mut held: Vec<(CachedSnapshot<E::Snapshot>, Spaces)> = Vec::new();
    for turn in 0..400_u64 * rounds(1) {
        // Many spaces at first, and one more now and then.
        if turn < 30 || turn % 200 == 0 {
            ids.push(cached.create_space(&Space::map(format!("s{turn}"))).unwrap());
            state.push(Arc::default());
        }
        let at = random.index(ids.len());
        match random.below(12) {
            0..6 => {
                let mut batch = Batch::<Cached<E>>::new();
                let mut next = state.clone();
                // The same key may come several times: the last counts.
                for _ in 0..random.below(12) {
                    let at = if random.coin() { at } else { random.index(ids.len()) };
                    let (key, rows) = (random.choose(&keys), Arc::make_mut(&mut next[at]));
                    if random.chance(30) {
                        rows.remove(&key);
                        batch.delete(ids[at], key);
                    } else {
                        let length = *random.pick(&[0, 1, 19, 20, 150, 150, 150, 4_000, 70_000]);
                        let value = vec![random.byte(); length];
                        batch.put_row(ids[at], &key, &value);
                        rows.insert(key, value);
                    }
                }
                if random.chance(10) {
                    // Refused as a whole, though the cache has been told of it.
                    batch.put(SpaceId(ids[0].0 + 10_000), b"x".as_slice(), b"x".as_slice());
                    cached.commit(batch, Durability::Buffer).unwrap_err();
                } else {
                    cached.commit(batch, Durability::Buffer).unwrap();
                    state = next;
                }
            }
            6 => {
                // Rows of a range, in two steps.
                let (mut from, mut to) = (random.choose(&keys), random.choose(&keys));
                if from > to {
                    std::mem::swap(&mut from, &mut to);
                }
                let gone: Vec<Vec<u8>> = state[at].range(from..to).map(|(key, _)| key.clone()).collect();
                for some in gone.chunks(5) {
                    let mut batch = Batch::<Cached<E>>::new();
                    for key in some {
                        batch.delete(ids[at], key.as_slice());
                    }
                    cached.commit(batch, Durability::Buffer).unwrap();
                    let rows = Arc::make_mut(&mut state[at]);
                    for key in some {
                        rows.remove(key);
                    }
                }
            }
            7 if random.chance(30) => {
                let rows: State = (0..random.below(10))
                    .map(|_| (random.choose(&keys), vec![random.byte(); random.index(300)]))
                    .collect();
                let sorted =
                    rows.iter().map(|(key, value)| Ok((key.as_slice().into(), value.as_slice().into())));
                assert_eq!(cached.ingest(ids[at], sorted).unwrap(), rows.len() as u64);
                Arc::make_mut(&mut state[at]).extend(rows);
            }
            8 if random.chance(20) => {
                // Out of order, and so refused; an engine may have kept the rows before it, and says which.
                let [one, other] =
                    [vec![2], vec![1]].map(|key| Ok((key.into(), b"unsorted".as_slice().into())));
                cached.ingest(ids[at], [one, other]).unwrap_err();
                let below = cached.below().snapshot().unwrap();
                let kept = below.range(ids[at], KeyRange::ALL).unwrap();
                let kept = kept.map(|row| row.unwrap()).map(|(key, value)| (key.to_vec(), value.to_vec()));
                state[at] = Arc::new(kept.collect());
            }
            _ => {}
        }
        if random.chance(25) {
            if held.len() == 6 {
                held.swap_remove(random.index(6));
            }
            held.push((cached.snapshot().unwrap(), state.clone()));
        }
        let now = [(cached.snapshot().unwrap(), state.clone())];
        for _ in 0..8 {
            let (snapshot, state) =
                if random.coin() || held.is_empty() { &now[0] } else { random.pick(&held) };
            let at = random.index(state.len());
            let (id, rows) = (ids[at], &state[at]);
            reads_as(snapshot, id, rows, &keys, &mut random);
        }
        if let Some(RowStatistics { bytes, budget, .. }) = cached.row_statistics() {
            assert!(bytes <= budget, "{bytes} of {budget}");
        }
    }
}

#[test]
fn rows_of_any_size_in_a_cache_of_any_size_are_those_of_a_map() {
    let with = |bytes: u64, row_bytes: u64| {
        let mut cache = RowCache::bytes(bytes);
        cache.row_bytes = row_bytes;
        cache
    };
    let mut sizes =
        vec![(0, 200), (1, 200), (767, 200), (768, 0), (768, u64::MAX), (5_000, 1), (100_000, 200)];
    sizes.extend([(1 << 20, 0), (1 << 20, 100_000), (64 << 20, 200), (u64::MAX, 200), (u64::MAX, u64::MAX)]);
    for (seed, (bytes, row_bytes)) in (0..).zip(sizes) {
        rows_of_any_size_agree::<Memory>(with(bytes, row_bytes), 65_536, seed);
    }
    rows_of_any_size_agree::<Fjall>(with(100_000, 200), 65_535, 20);
    rows_of_any_size_agree::<Redb>(with(100_000, 200), 65_536, 21);
    rows_of_any_size_agree::<Lmdb>(with(100_000, 200), 511, 22);
}

const MEASURED: &str = "KEYPLAN_ROWS_MEASURED";

/// Not a test by itself: a process whose memory is looked at while its cache fills.
#[test]
fn child_that_fills_a_cache() {
    let Ok(directory) = std::env::var(MEASURED) else { return };
    // Pages of files that the engine maps are not counted.
    let anonymous = || -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
    };
    let engine = Lmdb::open_existing(directory, LmdbSettings::default()).unwrap();
    let space = engine.space("rows").unwrap();
    let rows = {
        let snapshot = engine.snapshot().unwrap();
        snapshot.range(space, KeyRange::ALL).unwrap().count() as u64
    };
    let before = anonymous();
    let cached = Cached::new(engine, BUDGET);
    let mut random = Random::new(4);
    // Far more reads than there is room for rows: of those in it most have come after others had to go.
    for _ in 0..20 {
        let snapshot = cached.snapshot().unwrap();
        for _ in 0..rows / 4 {
            snapshot.get(space, &random.below(rows).to_be_bytes()).unwrap().unwrap();
        }
    }
    let statistics = cached.row_statistics().unwrap();
    let taken = anonymous() - before;
    println!("\ntaken {taken} counted {} evicted {}", statistics.bytes, statistics.evictions());
}

/// The bytes that the cache has whose memory is measured.
const BUDGET: u64 = 16 << 20;

#[test]
fn the_memory_of_a_cache_is_its_budget() {
    for (name, lengths) in [("alike", [180, 180, 180]), ("mixed", [60, 180, 900])] {
        let directory = tempfile::tempdir().unwrap();
        {
            let mut engine = Lmdb::open_at(directory.path());
            let space = engine.create_space(&Space::map("rows")).unwrap();
            // Twice as much as the budget.
            let average: u64 = lengths.iter().sum::<u64>() / 3;
            let rows = (0..2 * BUDGET / average).map(|row| {
                let length = lengths[usize::try_from(row % 3).unwrap()];
                let value = vec![7; usize::try_from(length).unwrap() - 8];
                Ok((row.to_be_bytes().as_slice().into(), value.into()))
            });
            engine.ingest(space, rows).unwrap();
        }
        let run = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "child_that_fills_a_cache", "--nocapture", "--test-threads=1"])
            .env(MEASURED, directory.path())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&run.stdout);
        let line = said.lines().find_map(|line| line.strip_prefix("taken ")).expect("measured");
        let numbers: Vec<u64> = line.split(' ').filter_map(|word| word.parse().ok()).collect();
        let [taken, counted, evicted] = numbers[..] else { panic!("{line}") };
        println!("{name}: {line}");
        assert!(evicted > 10_000, "{name}: {line}");
        assert!(counted * 100 >= BUDGET * 90 && counted <= BUDGET, "{name}: {line}");
        assert!(taken * 100 <= BUDGET * 105, "{name}: {line}");
    }
}
