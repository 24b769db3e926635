//! Rows that need care: under prefixes of earlier releases, with values that have several spellings, and too long for
//! an engine.

use keyplan_plan::Compiled;
use keyplan_store::cache::Cached;
use keyplan_store::engine::{
    Batch, Durability, Engine as _, Fjall, FjallSettings, Lmdb, LmdbSettings, Memory, Snapshot as _,
};
use keyplan_store::migrate::{Migration, MigrationError, Phase, Step, visit_parked};
use keyplan_store::{Access, Store};

use crate::rows::fill;
use crate::support::{Rows, attach, folder, plan, prove, rows, run};

fn row(space: &str, key: &[u8], value: &[u8]) -> ((String, Vec<u8>), Vec<u8>) {
    ((space.to_owned(), key.to_vec()), value.to_vec())
}

#[test]
fn rows_under_a_prefix_that_an_earlier_plan_retired_stay_where_they_are() {
    let first = "plan p; space s { key gone = 0x01 id: u8; key pool = 0x02 id: u8; }";
    let second = "plan p; space s { retired 0x01 \"nobody reads it\"; key pool = 0x02 id: u8; }";
    let third = "plan p; space s { retired 0x01 \"nobody reads it\"; key pool = 0x12 id: u16; }";
    let plans = [plan("first", first), plan("second", second), plan("third", third)];
    let engine = Memory::new();
    let before = Rows::from([row("s", &[1, 7], b"old"), row("s", &[2, 7], b"pool")]);
    fill(engine.clone(), &plans[0], &before);
    for pair in plans.windows(2) {
        let migration = Migration::between(&pair[0], &pair[1], prove(&pair[0], &pair[1]).mapping).unwrap();
        let mut running = attach(&migration, engine.clone());
        let survey = running.survey(|_| ()).unwrap();
        assert_eq!(survey.problems, []);
        running.begin(&survey, false).unwrap();
        assert_eq!(run(&mut running, 7).0, Step::Finished);
    }
    assert_eq!(rows(&engine), Rows::from([row("s", &[1, 7], b"old"), row("s", &[0x12, 0, 7], b"pool")]));
}

#[test]
fn the_way_back_to_the_plan_before_takes_its_prefix_into_use_again() {
    let first = "plan p; space s { key pool = 0x01 id: u8; }";
    let second = "plan p; space s { retired 0x01 \"one byte was not enough\"; key pool = 0x11 id: u16; }";
    let back = "plan p; space s { key pool = 0x01 id: u8 from s.pool park; }";
    let plans = [plan("first", first), plan("second", second), plan("back", back)];
    let engine = Memory::new();
    let before = Rows::from([row("s", &[1, 7], b"seven"), row("s", &[1, 8], b"eight")]);
    fill(engine.clone(), &plans[0], &before);
    for pair in plans.windows(2) {
        let migration = Migration::between(&pair[0], &pair[1], prove(&pair[0], &pair[1]).mapping).unwrap();
        let mut running = attach(&migration, engine.clone());
        let survey = running.survey(|_| ()).unwrap();
        running.begin(&survey, false).unwrap();
        assert_eq!(run(&mut running, 1).0, Step::Finished);
    }
    assert_eq!(rows(&engine), before);
}

#[test]
fn a_prefix_that_is_no_longer_retired_leaves_rows_that_nobody_speaks_of() {
    let old = plan("old", "plan p; space s { retired 0x01 \"nobody reads it\"; key pool = 0x02 id: u8; }");
    let new = plan("new", "plan p; space s { key pool = 0x12 id: u8; }");
    let engine = Memory::new();
    fill(engine.clone(), &old, &Rows::from([row("s", &[1, 7], b"old"), row("s", &[2, 7], b"pool")]));
    let migration = Migration::between(&old, &new, prove(&old, &new).mapping).unwrap();
    let survey = attach(&migration, engine).survey(|_| ()).unwrap();
    assert_eq!((survey.open_rows(), survey.moved()), (1, 1));
}

#[test]
fn an_undo_gives_back_the_very_text_that_became_a_float() {
    let old = plan("old", "plan p; space s { key price = 0x01 id: u8 -> price: text; }");
    let new = plan("new", "plan p; space s { key price = 0x02 id: u8 -> price: f64; }");
    let texts = ["1.50", "1e3", "007", "-0", "+2", "0.1"];
    let before: Rows = (0..).zip(texts).map(|(id, text)| row("s", &[1, id], text.as_bytes())).collect();
    let migration = Migration::between(&old, &new, prove(&old, &new).mapping).unwrap();
    let engine = Memory::new();
    fill(engine.clone(), &old, &before);
    let mut running = attach(&migration, engine.clone());
    let survey = running.survey(|_| ()).unwrap();
    running.begin(&survey, false).unwrap();
    while running.mark().unwrap().phase != Phase::Check {
        running.step(2).unwrap();
    }
    running.turn_back().unwrap();
    assert_eq!(run(&mut running, 2).0, Step::Undone);
    assert_eq!(rows(&engine), before);
}

#[test]
fn rows_that_an_engine_has_no_room_for_are_found_before_the_first_is_moved() {
    let old = plan("old", "plan p; space s { key name = 0x01 name: bytes(1..=400); }");
    let new = plan("new", "plan p; space s { key name = 0x02 name: bytes(1..=400).hex; }");
    let folder = folder("long");
    let open = || Lmdb::open(&folder, LmdbSettings::default()).unwrap();
    let before = Rows::from([row("s", &[&[1][..], &[7; 300]].concat(), b"x"), row("s", &[1, 7], b"y")]);
    fill(open(), &old, &before);
    let migration = Migration::between(&old, &new, prove(&old, &new).mapping).unwrap();
    let mut running = attach(&migration, open());
    let survey = running.survey(|_| ()).unwrap();
    assert_eq!((survey.open_rows(), survey.moved()), (1, 1));
    let refused = running.begin(&survey, false).unwrap_err();
    assert!(matches!(refused, MigrationError::Unfit { rows: 1 }), "{refused}");
    drop(running);
    assert_eq!(rows(&open()), before);
    // On an engine with longer keys it fits.
    let store =
        migration.create_copy(Fjall::open(folder.join("copy"), FjallSettings::default()).unwrap()).unwrap();
    let survey = migration.copy(&open(), &store, false, |_| ()).unwrap();
    assert_eq!((survey.open_rows(), survey.moved()), (0, 2));
}

#[test]
fn rows_that_an_earlier_run_has_set_aside_are_left_as_they_are() {
    let first = plan("first", "plan p; space s { key a = 0x01 n: u32 -> raw; key gone = 0x09 n: u8; }");
    let text = "plan p; space s { drop s.gone \"unused\"; key a = 0x02 n: u32(0..=9) -> raw from s.a park; }";
    let second = plan("second", text);
    let back = "plan p; space s { key a = 0x01 n: u32 -> raw; key gone = 0x09 n: u8; }";
    let back = plan("back", back);
    let engine = Memory::new();
    fill(engine.clone(), &first, &Rows::from([row("s", &[1, 0, 0, 0, 100], b"one"), row("s", &[9, 1], b"")]));
    let parked = |engine: &Memory| {
        let mut all = Vec::new();
        visit_parked(engine, |parked| all.push((parked.key.to_vec(), parked.value.to_vec()))).unwrap();
        all.sort();
        all
    };
    let carry = |old: &Compiled, new: &Compiled| {
        let migration = Migration::between(old, new, prove(old, new).mapping).unwrap();
        let mut running = attach(&migration, engine.clone());
        let survey = running.survey(|_| ()).unwrap();
        running.begin(&survey, false).unwrap();
        // It is killed before rows of dropped families have gone.
        assert_eq!(run(&mut running, 1).0, Step::Finished);
    };
    carry(&first, &second);
    carry(&second, &back);
    let key = [1, 0, 0, 0, 100];
    let store = Store::open_recorded(engine.clone(), Access::ReadWrite).unwrap();
    let mut batch = Batch::new();
    batch.put(store.space("s").unwrap(), key.to_vec(), b"two".to_vec());
    store.commit(batch, Durability::SyncAll).unwrap();
    drop(store);
    let before = rows(&engine);
    // Back from any place, only what this run has set aside returns.
    for steps in 0..4 {
        let migration = Migration::between(&first, &second, prove(&first, &second).mapping).unwrap();
        let mut running = attach(&migration, engine.clone());
        let survey = running.survey(|_| ()).unwrap();
        running.begin(&survey, false).unwrap();
        for _ in 0..steps {
            running.step(1).unwrap();
        }
        running.turn_back().unwrap();
        assert_eq!(run(&mut running, 1).0, Step::Undone);
        assert_eq!(parked(&engine), [(key.to_vec(), b"one".to_vec())], "{steps} steps");
        let of_plan = |rows: &Rows| rows.iter().filter(|((space, _), _)| space == "s").count();
        assert_eq!(of_plan(&rows(&engine)), of_plan(&before), "{steps} steps");
    }
    carry(&first, &second);
    assert_eq!(parked(&engine), [(key.to_vec(), b"one".to_vec()), (key.to_vec(), b"two".to_vec())]);
}

/// Every key, of both plans, is read as a scan has it; said by a cache that knew all of them before.
#[test]
fn a_row_cache_serves_nothing_that_a_migration_has_moved() {
    let old = plan("old", "plan p; space s { key a = 0x01 n: u8 -> raw; key b = 0x03 n: u8 -> raw; }");
    let new = plan("new", "plan p; space s { key a = 0x02 n: u8 -> raw; key b = 0x01 n: u8 -> raw; }");
    let before: Rows = (0..40)
        .flat_map(|n| [row("s", &[1, n], &[b'a', n]), row("s", &[3, n.wrapping_mul(2)], &[b'b', n])])
        .collect();
    let migration = Migration::between(&old, &new, prove(&old, &new).mapping).unwrap();
    let agrees = |cached: &Cached<Memory>| {
        let (snapshot, all) = (cached.snapshot().unwrap(), rows(cached));
        let space = cached.space("s").unwrap();
        for key in (0..4).flat_map(|tag| (0..=80).map(move |n| [tag, n])) {
            let expected = all.get(&("s".to_owned(), key.to_vec()));
            // The second time it is in the cache, there or not.
            for _ in 0..2 {
                let found = snapshot.get_with(space, &key, <[u8]>::to_vec).unwrap();
                assert_eq!(found.as_ref(), expected, "{key:?}");
            }
        }
    };
    for steps in [0, 1, 3, 10, 20, 1_000] {
        let engine = Memory::new();
        fill(engine.clone(), &old, &before);
        let mut cached = Cached::new(engine.clone(), 1 << 20);
        agrees(&cached);
        let mut running = attach(&migration, cached);
        let survey = running.survey(|_| ()).unwrap();
        running.begin(&survey, false).unwrap();
        for _ in 0..steps {
            if !matches!(running.step(3).unwrap(), Step::More { .. }) {
                break;
            }
        }
        cached = running.into_engine();
        agrees(&cached);
        if steps < 1_000 {
            let mut running = attach(&migration, cached);
            running.turn_back().unwrap();
            assert_eq!(run(&mut running, 3).0, Step::Undone);
            cached = running.into_engine();
            agrees(&cached);
            assert_eq!(rows(&cached), before, "{steps} steps");
        }
        assert!(cached.row_statistics().unwrap().hits() > 600);
    }
}
