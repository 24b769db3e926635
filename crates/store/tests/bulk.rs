//! Bulk loads: rows in any order, in bounded memory, on every engine.
#![cfg(test)]

mod support;

use std::collections::BTreeMap;

use keyplan_plan::compile;
use keyplan_store::engine::{Batch, Durability, Engine, Error, Fjall, KeyRange, Memory, Redb, SpaceId};
use keyplan_store::{BulkLoad, BulkOptions, BulkProgress, Duplicates, Schema, Store, StoreError};
use support::{Opened, Random, rounds, small_fjall};

const PLAN: &str = "plan p; space a { key x = id: u64 tail: bytes; } space b { key y = id: u64; } \
                    space cursor { key at = 0x00; }";

fn store<E: Engine>(engine: E) -> Store<E> {
    let compiled = compile("p.keyplan", PLAN, |_| Err("no imports".into()));
    Store::open_or_create(engine, &Schema::of(&compiled).unwrap()).unwrap()
}

fn spaces<E: Engine>(store: &Store<E>) -> [SpaceId; 3] {
    ["a", "b", "cursor"].map(|name| store.space(name).unwrap())
}

/// A little memory, so that a load has many runs.
fn options(duplicates: Duplicates, compact: bool) -> BulkOptions {
    let mut options = BulkOptions::default();
    options.memory_bytes = 20_000;
    options.duplicates = duplicates;
    options.compact = compact;
    options
}

fn rows<E: Engine>(store: &Store<E>, space: SpaceId) -> Vec<(Vec<u8>, Vec<u8>)> {
    let rows = store.snapshot().unwrap().range(space, KeyRange::ALL).unwrap();
    rows.map(|row| row.map(|(key, value)| (key.to_vec(), value.to_vec())).unwrap()).collect()
}

fn loads_rows_in_any_order<E: Opened>(compact: bool) {
    let directory = tempfile::tempdir().unwrap();
    let store = store(E::open_at(directory.path()));
    let [a, b, cursor] = spaces(&store);
    // What is there already gives way to the load.
    let mut batch = store.batch().unwrap();
    batch.put(a, 5_u64.to_be_bytes().as_slice(), b"old".as_slice());
    batch.put(a, b"\xff\xff\xff".as_slice(), b"kept".as_slice());
    batch.commit(Durability::Buffer).unwrap();

    let mut random = Random::new(5);
    let mut model = BTreeMap::from([((a, b"\xff\xff\xff".to_vec()), b"kept".to_vec())]);
    let mut load = BulkLoad::new(&store, options(Duplicates::KeepLast, compact)).unwrap();
    let mut pushed = std::collections::BTreeSet::new();
    for _ in 0..rounds(1) * 20_000 {
        let space = *random.pick(&[a, a, b]);
        let mut key = random.below(9_000).to_be_bytes().to_vec();
        if space == a && random.below(2) == 0 {
            key.extend(random.bytes(2));
        }
        let length = usize::try_from(random.below(40)).unwrap();
        let value = random.bytes(length);
        load.push(space, &key, &value).unwrap();
        pushed.insert((space, key.clone()));
        model.insert((space, key), value);
    }
    model.entry((a, 5_u64.to_be_bytes().to_vec())).or_insert_with(|| b"old".to_vec());
    let mut last = Batch::new();
    last.put(cursor, [0].as_slice(), b"here".as_slice());
    let mut told = Vec::new();
    let written = load.finish(last, |progress| told.push(progress)).unwrap();
    assert_eq!(written, pushed.len() as u64);
    let mut counts = told.iter().filter_map(|progress| match progress {
        BulkProgress::Written(rows) => Some(*rows),
        _ => None,
    });
    assert!(counts.clone().is_sorted());
    assert_eq!(counts.next_back(), Some(written));
    assert_eq!(told.contains(&BulkProgress::Compacting), compact);
    for space in [a, b] {
        let want: Vec<_> = model
            .iter()
            .filter(|((of, _), _)| *of == space)
            .map(|((_, key), value)| (key.clone(), value.clone()))
            .collect();
        assert_eq!(rows(&store, space), want);
    }
    assert_eq!(rows(&store, cursor), [(vec![0], b"here".to_vec())]);
    assert!(!directory.path().join("keyplan-bulk").exists());
    drop(store);
    let store = self::store(E::open_at(directory.path()));
    let [a, b, _] = spaces(&store);
    assert_eq!(rows(&store, a).len() + rows(&store, b).len(), model.len());
}

#[test]
fn a_load_takes_rows_in_any_order() {
    loads_rows_in_any_order::<Memory>(false);
    loads_rows_in_any_order::<Fjall>(false);
    loads_rows_in_any_order::<Fjall>(true);
    loads_rows_in_any_order::<Redb>(true);
}

#[test]
fn a_key_that_comes_twice_is_named_unless_the_value_is_the_same() {
    let directory = tempfile::tempdir().unwrap();
    let store = store(Fjall::open(directory.path(), small_fjall()).unwrap());
    let [_, b, cursor] = spaces(&store);
    // In one run, and in runs far apart, which are merged on the way.
    for between in [0, 40_000_u64] {
        let load = |second: &[u8]| {
            let mut load = BulkLoad::new(&store, options(Duplicates::Refuse, false))?;
            load.push(b, &7_u64.to_be_bytes(), b"one")?;
            for id in 0..between {
                load.push(b, &(100 + id).to_be_bytes(), b"")?;
            }
            load.push(b, &7_u64.to_be_bytes(), second)?;
            let mut last = Batch::new();
            last.put(cursor, [0].as_slice(), b"".as_slice());
            load.finish(last, |_| ())
        };
        let refused = load(b"two").unwrap_err();
        assert_eq!(
            refused.to_string(),
            "space `b` was given key 0x0000000000000007 twice, with different values"
        );
        assert_eq!(rows(&store, cursor), []);
        assert!(!directory.path().join("keyplan-bulk").exists());
        assert_eq!(load(b"one").unwrap(), between + 1);
        store
            .delete_range(cursor, KeyRange::ALL, 10, Durability::Buffer, |_| {
                std::ops::ControlFlow::Continue(())
            })
            .unwrap();
    }
}

#[test]
fn a_load_of_many_runs_keeps_few_files() {
    let directory = tempfile::tempdir().unwrap();
    let store = store(Fjall::open(directory.path(), small_fjall()).unwrap());
    let [_, b, _] = spaces(&store);
    let mut options = options(Duplicates::KeepLast, false);
    options.memory_bytes = 2_000;
    let mut load = BulkLoad::new(&store, options).unwrap();
    let (mut most, mut made) = (0, 0);
    let ids = 5_000_u64;
    for (count, id) in (1..=12 * ids).zip((0..ids).rev().cycle()) {
        load.push(b, &id.to_be_bytes(), &(count / ids).to_be_bytes()).unwrap();
        if count.is_multiple_of(97) {
            let files = std::fs::read_dir(directory.path().join("keyplan-bulk")).unwrap();
            let numbers =
                files.map(|file| file.unwrap().file_name().to_string_lossy().parse::<u64>().unwrap());
            let numbers: Vec<u64> = numbers.collect();
            most = most.max(numbers.len());
            made = made.max(numbers.into_iter().max().unwrap_or(0));
        }
    }
    assert!(made > 1_000, "{made} runs");
    assert!(most <= 3 * 16, "{most} files at once");
    assert_eq!(load.finish(Batch::new(), |_| ()).unwrap(), ids);
    let last = |value: &[u8]| u64::from_be_bytes(value.try_into().unwrap());
    // The last value of an id came in the last round, and the very last push begins the next.
    assert!(rows(&store, b).iter().all(|(key, value)| last(value) == if last(key) == 0 { 12 } else { 11 }));
}

#[test]
fn what_an_interrupted_load_left_is_removed_by_the_next() {
    let directory = tempfile::tempdir().unwrap();
    let store = store(Fjall::open(directory.path(), small_fjall()).unwrap());
    let left = directory.path().join("keyplan-bulk");
    std::fs::create_dir(&left).unwrap();
    std::fs::write(left.join("0"), b"rubbish").unwrap();
    let load = BulkLoad::new(&store, BulkOptions::default()).unwrap();
    assert!(!left.join("0").exists());
    assert_eq!(load.finish(Batch::new(), |_| ()).unwrap(), 0);
    let mut load = BulkLoad::new(&store, BulkOptions::default()).unwrap();
    let refused = load.push(SpaceId(0), &[], b"").unwrap_err();
    assert!(matches!(refused, StoreError::Engine(Error::Unsupported { what: "empty keys", .. })));
}
