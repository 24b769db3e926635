//! Damaged files of LMDB, which checks nothing by itself: no process ends by them.

use std::path::Path;
use std::time::Duration;

use keyplan_store::engine::{
    Batch, Durability, Engine as _, Error, KeyRange, Lmdb, LmdbSettings, MultimapSnapshot as _,
    Snapshot as _, Space,
};
use keyplan_store::{Store, StoreError};

use crate::chain::{apply, commit, read, schema};
use crate::files::Files;
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

#[test]
fn lmdb_gives_an_error_or_the_right_rows_after_a_kill() {
    let outcomes = damaged(End::Killed, "", damages(151), open, |_, _| ());
    assert_eq!(outcomes.get(&Outcome::Earlier), None);
    assert!(outcomes.contains_key(&Outcome::Refused) && outcomes.contains_key(&Outcome::Whole));
}

/// What is looked through can be written, too: nothing that a commit relies on has gone unnoticed.
#[test]
fn lmdb_commits_to_what_it_opens_after_a_kill() {
    let directory = tempfile::tempdir().unwrap();
    let (whole, states) = made(directory.path(), End::Killed, open, |_, _| ());
    let mut expected = states.last().unwrap().clone();
    apply(&mut expected, LAST + 1);
    let mut random = Random::new(81);
    let mut opened = 0;
    let broken = directory.path().join("broken");
    for round in 0..damages(150) {
        let mut files = whole.clone();
        let (_, what) = files.damage(&mut random, "file");
        files.write(&broken);
        let store = open(&broken).map_err(StoreError::from).and_then(|engine| Store::open(engine, &schema()));
        if let Ok(store) = store {
            opened += 1;
            commit(&store, LAST + 1, Durability::Buffer).unwrap();
            assert!(read(&store).unwrap() == expected, "round {round}: {what}: a commit did something else");
            drop(store);
            open(&broken).unwrap();
        }
        std::fs::remove_dir_all(&broken).unwrap();
    }
    assert!(opened > 0);
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
        // Without the checksum of all pages there is the one of all rows.
        let _ = std::fs::remove_dir_all(&broken);
        files.0.retain(|(name, ..)| !name.ends_with("keyplan.seal"));
        files.write(&broken);
        if let Ok(found) = open(&broken).and_then(|engine| all(&engine)) {
            assert!(found == expected, "round {round}: {what}: other rows");
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
    let places: Vec<usize> =
        (0..flipped.len() - 120).filter(|at| flipped[*at..].starts_with(value.as_slice())).collect();
    for (count, why) in
        [(1, "has other bytes than when it was closed"), (places.len(), "has other rows than were committed")]
    {
        // The first of them is in room that a page has left, and the last is the row.
        places.iter().take(count).for_each(|at| flipped[at + 60] = later[at + 60] ^ 1);
        std::fs::write(&file, &flipped).unwrap();
        let refused = open(&path).unwrap_err().to_string();
        assert!(refused.contains(&format!("data.mdb {why}")), "{refused}");
    }
    let mut unchecked = LmdbSettings::default();
    unchecked.verify_on_open = false;
    Lmdb::open(&path, unchecked).unwrap();
}
