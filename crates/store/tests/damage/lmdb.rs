//! Damaged files of LMDB, which checks nothing by itself: no process ends by them.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use keyplan_store::engine::{
    Batch, Durability, Engine as _, Error, KeyRange, Lmdb, LmdbSettings, MultimapSnapshot as _,
    Snapshot as _, Space,
};
use keyplan_store::{Store, StoreError};

use crate::chain::{apply, commit, read, schema};
use crate::files::{Damage, Files};
use crate::support::Random;
use crate::{End, LAST, Outcome, damaged, damages, made};

fn open(path: &Path) -> Result<Lmdb, Error> {
    Lmdb::open(path, LmdbSettings::default())
}

#[test]
fn lmdb_gives_an_error_or_the_right_rows_after_a_shutdown() {
    let outcomes = damaged(End::Shutdown, "", damages(150), open, |_, _| ());
    assert_eq!(outcomes.get(&Outcome::Earlier), None);
    assert!(outcomes.contains_key(&Outcome::Refused) && outcomes.contains_key(&Outcome::Whole));
}

/// Without a seal, bytes of a row that were changed in place cannot be told from others. Everything else can, and what is opened
/// can be written.
#[test]
fn lmdb_gives_an_error_or_as_many_rows_after_a_kill() {
    let directory = tempfile::tempdir().unwrap();
    let (whole, states) = made(directory.path(), End::Killed, open, |_, _| ());
    let last = states.last().unwrap();
    let mut random = Random::new(81);
    let mut outcomes: BTreeMap<(Damage, &str), u64> = BTreeMap::new();
    let broken = directory.path().join("broken");
    for round in 0..damages(150) {
        let mut files = whole.clone();
        let (damage, what) = files.damage(&mut random, "file");
        files.write(&broken);
        let found = open(&broken).map_err(StoreError::from).and_then(|engine| Store::open(engine, &schema()));
        let found = found.and_then(|store| Ok((read(&store)?, store)));
        let outcome = match found {
            Err(_) => "refused",
            Ok((found, store)) => {
                let same = found == *last;
                for (space, (found, last)) in found.iter().zip(last).enumerate() {
                    assert_eq!(found.len(), last.len(), "round {round}: {what}: space {space}");
                }
                commit(&store, LAST + 1, Durability::Buffer).unwrap();
                let after = read(&store).unwrap();
                if same {
                    let mut expected = last.clone();
                    apply(&mut expected, LAST + 1);
                    assert!(after == expected, "round {round}: {what}: a commit did something else");
                }
                if same { "whole" } else { "bytes changed" }
            }
        };
        *outcomes.entry((damage, outcome)).or_default() += 1;
        std::fs::remove_dir_all(&broken).unwrap();
    }
    println!("lmdb, killed: {outcomes:?}");
    let of = |outcome: &str| outcomes.keys().any(|(_, found)| *found == outcome);
    assert!(of("refused") && of("whole"));
}

/// Values of several pages, several values of a key on a page and in a tree of their own, and pages that are free.
#[test]
fn every_kind_of_page_is_looked_through() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("original");
    let mut engine = open(&path).unwrap();
    let (rows, many) = (
        engine.create_space(&Space::map("rows")).unwrap(),
        engine.create_space(&Space::multimap("many")).unwrap(),
    );
    let mut random = Random::new(5);
    for round in 0..12_u64 {
        let mut batch = Batch::<Lmdb>::new();
        for row in 0..60_u64 {
            let key = (round * 1_000 + row).to_be_bytes();
            let length = *random.pick(&[0, 30, 900, 5_000, 20_000]);
            batch.put(rows, key.as_slice(), random.bytes(length));
            if round > 0 && row % 3 > 0 {
                batch.delete(rows, ((round - 1) * 1_000 + row).to_be_bytes().as_slice());
            }
            let of = *random.pick(&[1_u64, 2, 3, 4]);
            let length = *random.pick(&[1, 20, 400]);
            batch.put_multi(many, of.to_be_bytes().as_slice(), random.bytes(length));
            batch.put_multi(many, key.as_slice(), b"one".as_slice());
            batch.put_multi(many, key.as_slice(), random.bytes(9));
        }
        engine.commit(batch, Durability::Buffer).unwrap();
    }
    let all = |engine: &Lmdb| -> Result<_, Error> {
        let view = engine.snapshot()?;
        let mut found: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
        for row in view.range(engine.space("rows").ok_or(Error::Closed)?, KeyRange::ALL)? {
            let (key, value) = row?;
            found.push((key.to_vec(), value.to_vec()));
        }
        for row in view.iter_multi(engine.space("many").ok_or(Error::Closed)?, KeyRange::ALL)? {
            let (key, values) = row?;
            for value in values {
                found.push((key.to_vec(), value?.to_vec()));
            }
        }
        Ok(found)
    };
    let expected = all(&engine).unwrap();
    engine.shutdown(Duration::from_mins(1)).unwrap();
    drop(engine);
    let whole = Files::read(&path);
    assert_eq!(all(&open(&path).unwrap()).unwrap(), expected);
    let (mut refused, broken) = (0, directory.path().join("broken"));
    for round in 0..damages(100) {
        let mut files = whole.clone();
        let (_, what) = files.damage(&mut random, "file");
        files.write(&broken);
        match open(&broken).and_then(|engine| all(&engine)) {
            Ok(found) => assert!(found == expected, "round {round}: {what}: other rows"),
            Err(_) => refused += 1,
        }
        // Without what tells of changed bytes, all that is looked at is looked at all the same.
        let _ = std::fs::remove_dir_all(&broken);
        files.0.retain(|(name, ..)| !name.ends_with("keyplan.seal"));
        files.write(&broken);
        if let Ok(found) = open(&broken).and_then(|engine| all(&engine)) {
            assert_eq!(found.len(), expected.len(), "round {round}: {what}");
        }
        std::fs::remove_dir_all(&broken).unwrap();
    }
    assert!(refused > 20, "{refused}");
}

#[test]
fn a_file_that_was_put_back_to_an_earlier_state_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db");
    let file = path.join("data.mdb");
    let closed = |number: u64| {
        let store = Store::open_or_create(open(&path).unwrap(), &schema()).unwrap();
        commit(&store, number, Durability::Buffer).unwrap();
        store.shutdown(Duration::from_secs(20)).unwrap();
        drop(store);
        std::fs::read(&file).unwrap()
    };
    let earlier = closed(1);
    let later = closed(2);
    std::fs::write(&file, earlier).unwrap();
    let refused = open(&path).unwrap_err().to_string();
    assert!(refused.contains("data.mdb ends with transaction"), "{refused}");
    std::fs::remove_file(&file).unwrap();
    let refused = open(&path).unwrap_err().to_string();
    assert!(refused.contains("data.mdb is missing or empty") && !file.exists(), "{refused}");
    std::fs::write(&file, &later).unwrap();
    open(&path).unwrap();
    // One bit of a value.
    let mut flipped = later.clone();
    let value =
        crate::chain::changes(2).into_iter().find_map(|(_, _, value)| value.filter(|v| v.len() == 120));
    let value = value.unwrap();
    let at = flipped.windows(120).position(|bytes| bytes == value).unwrap();
    flipped[at + 60] ^= 1;
    std::fs::write(&file, &flipped).unwrap();
    let refused = open(&path).unwrap_err().to_string();
    assert!(refused.contains("data.mdb has other bytes than when it was closed"), "{refused}");
    let mut unchecked = LmdbSettings::default();
    unchecked.verify_on_open = false;
    Lmdb::open(&path, unchecked).unwrap();
}
