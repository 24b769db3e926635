//! What goes wrong on the way: interruptions at every step, other plans, rows that fit nothing.

use keyplan_store::engine::{Fjall, FjallSettings, Memory};
use keyplan_store::migrate::{Attached, Migration, MigrationError, Phase, ProblemKind, Step};
use keyplan_store::{Access, Schema, Store, StoreError};

use crate::rows::fill;
use crate::support::{Rows, attach, folder, plan, prove, rows, run};

const OLD: &str = "plan p;
space s {
    key pool = 0x01 id: u32.dec;
    key pair = 0x02 a: u8 b: u8 -> n: u16;
    key swap = 0x03 x: u8 y: u8;
    key gone = 0x04 id: u8;
    key still = 0x05 id: u8;
}
";

/// Keys in binary, a space of its own, arguments the other way round under the same prefix, a family that is dropped.
const NEW: &str = r#"plan p;
space s {
    drop s.gone "nobody reads it";
    key pool = 0x11 id: u32;
    key swap = 0x03 y: u8 x: u8;
    key still = 0x05 id: u8;
}
space t {
    key pair = b: u8 a: u8 -> n: u32
        from s.pair;
}
"#;

fn before() -> Rows {
    let mut rows = Rows::new();
    let mut put = |key: Vec<u8>, value: &[u8]| rows.insert(("s".to_owned(), key), value.to_vec());
    for n in 0..30_u8 {
        put(format!("\x01{}", u32::from(n) * 7).into_bytes(), &[n]);
        put(vec![2, n, 255 - n], &[0, n]);
        put(vec![3, n, n.wrapping_mul(3)], &[n, n]);
        put(vec![4, n], b"old");
        put(vec![5, n], b"kept");
    }
    rows
}

fn after() -> Rows {
    let mut rows = Rows::new();
    let mut put =
        |space: &str, key: Vec<u8>, value: &[u8]| rows.insert((space.to_owned(), key), value.to_vec());
    for n in 0..30_u8 {
        put("s", [&[0x11][..], &(u32::from(n) * 7).to_be_bytes()].concat(), &[n]);
        put("t", vec![255 - n, n], &[0, 0, 0, n]);
        put("s", vec![3, n.wrapping_mul(3), n], &[n, n]);
        put("s", vec![5, n], b"kept");
    }
    rows
}

#[test]
fn a_migration_goes_on_from_every_step() {
    let (old, new) = (plan("old", OLD), plan("new", NEW));
    let migration = Migration::between(&old, &new, prove(&old, &new).mapping).unwrap();
    let engine = Memory::new();
    fill(engine.clone(), &old, &before());
    let mut running = attach(&migration, engine.clone());
    let survey = running.survey(|_| ()).unwrap();
    running.begin(&survey, false).unwrap();
    let mut steps = 0;
    loop {
        // Whoever opens it meanwhile is told what it is in the middle of.
        let refused = Store::open(engine.clone(), &Schema::of(&old).unwrap()).unwrap_err();
        assert!(matches!(refused, StoreError::Migrating { .. }), "{refused}");
        let refused = Store::open(engine.clone(), &Schema::of(&new).unwrap()).unwrap_err();
        assert!(matches!(refused, StoreError::Migrating { .. }), "{refused}");
        let refused = Store::open_recorded(engine.clone(), Access::ReadOnly).unwrap_err();
        assert!(refused.to_string().contains("--undo"), "{refused}");
        // The program ends and starts again between any two steps.
        let mut running = attach(&migration, engine.clone());
        steps += 1;
        if running.step(7).unwrap() == Step::Finished {
            while running.purge(7).unwrap() > 0 {}
            break;
        }
    }
    assert!(steps > 20, "{steps}");
    assert_eq!(rows(&engine), after());
    Store::open(engine.clone(), &Schema::of(&new).unwrap()).unwrap();
    assert!(matches!(migration.attach(engine).unwrap(), Attached::Done(_)));
}

/// Rows that stay and rows that were moved are not gone over to move the others.
#[test]
fn moving_goes_over_the_rows_that_leave_and_no_others() {
    let (old, new) = (plan("old", OLD), plan("new", NEW));
    let migration = Migration::between(&old, &new, prove(&old, &new).mapping).unwrap();
    let engine = Memory::new();
    fill(engine.clone(), &old, &before());
    let mut running = attach(&migration, engine);
    let survey = running.survey(|_| ()).unwrap();
    running.begin(&survey, false).unwrap();
    let mut moved = 0;
    while let Step::More { phase: Phase::Move, done } = running.step(7).unwrap() {
        moved = done;
    }
    // Four families of thirty rows leave: one is dropped, and one of the others is staged; the fifth stays.
    assert_eq!(moved, 4 * 30);
}

#[test]
fn an_undo_from_every_step_gives_the_old_database_back() {
    let (old, new) = (plan("old", OLD), plan("new", NEW));
    let migration = Migration::between(&old, &new, prove(&old, &new).mapping).unwrap();
    assert_eq!(migration.keeps_old_rows(), None);
    let mut phases = Vec::new();
    for steps in 0.. {
        let engine = Memory::new();
        fill(engine.clone(), &old, &before());
        let mut running = attach(&migration, engine.clone());
        let survey = running.survey(|_| ()).unwrap();
        running.begin(&survey, false).unwrap();
        let taken =
            (0..steps).map_while(|_| (running.step(7).unwrap() != Step::Finished).then_some(())).count();
        if taken < steps {
            break;
        }
        phases.push(running.mark().unwrap().phase);
        running.turn_back().unwrap();
        drop(running);
        // The way back is interrupted after each step, too.
        loop {
            let mut running = attach(&migration, engine.clone());
            if running.step(5).unwrap() == Step::Undone {
                break;
            }
        }
        assert_eq!(rows(&engine), before(), "after {steps} steps");
        Store::open(engine, &Schema::of(&old).unwrap()).unwrap();
    }
    phases.dedup();
    assert_eq!(phases, [Phase::Move, Phase::Settle, Phase::Check]);
}

#[test]
fn rows_without_a_new_key_are_listed_and_set_aside_on_request_only() {
    let (old, new) = (plan("old", OLD), plan("new", NEW));
    let migration = Migration::between(&old, &new, prove(&old, &new).mapping).unwrap();
    let engine = Memory::new();
    let mut filled = before();
    // One that no family makes, and one that only the new plan makes.
    filled.insert(("s".to_owned(), vec![9, 9]), b"what".to_vec());
    filled.insert(("s".to_owned(), vec![0x11, 0, 0, 0, 0]), b"early".to_vec());
    fill(engine.clone(), &old, &filled);
    let mut running = attach(&migration, engine.clone());
    let survey = running.survey(|_| ()).unwrap();
    let [problem] = survey.problems.as_slice() else { panic!("{:?}", survey.problems) };
    assert_eq!((problem.kind, problem.rows, problem.ruled), (ProblemKind::Unreadable, 2, 0));
    assert_eq!(problem.examples[0].key, [9, 9]);
    let refused = running.begin(&survey, false).unwrap_err();
    assert_eq!(refused.to_string(), "2 rows have no new key, and may not be set aside");
    assert_eq!(rows(&engine), filled);
    running.begin(&survey, true).unwrap();
    assert_eq!(run(&mut running, 7).0, Step::Finished);
    while running.purge(100).unwrap() > 0 {}
    let mut found = rows(&engine);
    found.retain(|(space, _), _| space != keyplan_store::migrate::ASIDE_SPACE);
    assert_eq!(found, after());
}

#[test]
fn a_plan_that_changed_between_two_runs_is_refused() {
    let (old, new) = (plan("old", OLD), plan("new", NEW));
    let migration = Migration::between(&old, &new, prove(&old, &new).mapping).unwrap();
    let engine = Memory::new();
    fill(engine.clone(), &old, &before());
    let mut running = attach(&migration, engine.clone());
    let survey = running.survey(|_| ()).unwrap();
    running.begin(&survey, false).unwrap();
    running.step(7).unwrap();
    drop(running);
    let other = plan("other", &NEW.replace("0x11 id: u32", "0x12 id: u32"));
    let changed = Migration::between(&old, &other, prove(&old, &other).mapping).unwrap();
    assert!(matches!(changed.attach(engine.clone()), Err(MigrationError::OtherMigration { .. })));
    // The same layouts and another mapping are another migration, too.
    let ruled = plan("ruled", &NEW.replace("from s.pair;", "from s.pair park;"));
    let changed = Migration::between(&old, &ruled, prove(&old, &ruled).mapping).unwrap();
    assert!(matches!(changed.attach(engine.clone()), Err(MigrationError::OtherMigration { .. })));
    let mut running = attach(&migration, engine.clone());
    assert_eq!(run(&mut running, 7).0, Step::Finished);
    let stranger = plan("stranger", "plan x; space s { key a = 0x01; }");
    let wrong = Migration::between(&stranger, &new, prove_anyway(&stranger, &new)).unwrap_err();
    assert!(matches!(wrong, MigrationError::Unspoken { .. }), "{wrong}");
}

fn prove_anyway(
    old: &keyplan_plan::Compiled,
    new: &keyplan_plan::Compiled,
) -> keyplan_plan::mapping::Mapping {
    let options = keyplan_prover::Options::default();
    keyplan_prover::prove_migration(old.plan.as_ref().unwrap(), new.plan.as_ref().unwrap(), &options).mapping
}

#[test]
fn a_row_that_is_lost_on_the_way_is_noticed_at_the_end() {
    let (old, new) = (plan("old", OLD), plan("new", NEW));
    let migration = Migration::between(&old, &new, prove(&old, &new).mapping).unwrap();
    let engine = Memory::new();
    fill(engine.clone(), &old, &before());
    let mut running = attach(&migration, engine.clone());
    let survey = running.survey(|_| ()).unwrap();
    running.begin(&survey, false).unwrap();
    while running.mark().unwrap().phase != Phase::Check {
        running.step(7).unwrap();
    }
    let mut batch = keyplan_store::engine::Batch::<Memory>::new();
    let space = keyplan_store::engine::Engine::space(&engine, "t").unwrap();
    batch.delete(space, &[255, 0][..]);
    keyplan_store::engine::Engine::commit(&engine, batch, keyplan_store::engine::Durability::Buffer).unwrap();
    let refused = running.step(7).unwrap_err();
    assert!(matches!(refused, MigrationError::Checksum { rows: 30, found_rows: 29, .. }), "{refused}");
}

#[test]
fn two_migrations_at_once_are_refused_by_the_engine() {
    let folder = folder("two");
    let (old, new) = (plan("old", OLD), plan("new", NEW));
    fill(Fjall::open(&folder, FjallSettings::default()).unwrap(), &old, &before());
    let migration = Migration::between(&old, &new, prove(&old, &new).mapping).unwrap();
    let first = attach(&migration, Fjall::open(&folder, FjallSettings::default()).unwrap());
    assert!(Fjall::open_existing(&folder, FjallSettings::default()).is_err());
    drop(first);
}

/// Arguments are given up, two families become one, and values are made by a function: new rows do not tell the old ones.
const UNTOLD: &str = r"plan p;
space s {
    key pool = 0x11 id: u32;
    key pair = 0x02 a: u8
        from s.pair(drop b);
    key swap = 0x03 y: u8 x: u8;
    key gone = 0x14 id: u8;
    key still = 0x05 id: u8;
}
";

#[test]
fn an_undo_has_the_old_rows_also_where_the_new_ones_do_not_tell_them() {
    let (old, new) = (plan("old", OLD), plan("new", UNTOLD));
    // Giving an argument up merges keys in general, and the prover says so; these rows do not meet.
    let mut migration = Migration::between(&old, &new, prove_anyway(&old, &new)).unwrap();
    let twice = |key: &[u8], value: &[u8]| Ok((vec![0x14, key[1]], value.repeat(2)));
    migration.map_rows("s.gone", twice).unwrap();
    assert!(migration.keeps_old_rows().is_some());
    let mut ended = false;
    for steps in 0.. {
        let engine = Memory::new();
        fill(engine.clone(), &old, &before());
        let mut running = attach(&migration, engine.clone());
        let survey = running.survey(|_| ()).unwrap();
        running.begin(&survey, false).unwrap();
        let taken =
            (0..steps).map_while(|_| (running.step(7).unwrap() != Step::Finished).then_some(())).count();
        if taken < steps {
            while running.purge(7).unwrap() > 0 {}
            let found = rows(&engine);
            assert_eq!(found.len(), before().len());
            assert_eq!(found[&("s".to_owned(), vec![0x14, 3])], b"oldold");
            ended = true;
            break;
        }
        running.turn_back().unwrap();
        drop(running);
        loop {
            let mut running = attach(&migration, engine.clone());
            if running.step(5).unwrap() == Step::Undone {
                break;
            }
        }
        assert_eq!(rows(&engine), before(), "after {steps} steps");
    }
    assert!(ended);
}

#[test]
fn a_function_that_makes_one_key_of_two_rows_is_refused_with_both_there() {
    let (old, new) = (plan("old", OLD), plan("new", UNTOLD));
    let mut migration = Migration::between(&old, &new, prove_anyway(&old, &new)).unwrap();
    migration.map_rows("s.gone", |_, value| Ok((vec![0x14, 9], value.to_vec()))).unwrap();
    let engine = Memory::new();
    fill(engine.clone(), &old, &before());
    let mut running = attach(&migration, engine.clone());
    let survey = running.survey(|_| ()).unwrap();
    running.begin(&survey, false).unwrap();
    let refused = loop {
        if let Err(error) = running.step(7) {
            break error;
        }
    };
    assert!(matches!(&refused, MigrationError::Merged { family, .. } if family == "s.gone"), "{refused}");
    running.turn_back().unwrap();
    assert_eq!(run(&mut running, 7).0, Step::Undone);
    assert_eq!(rows(&engine), before());
    // A key of another family is not a key, and the row keeps the migration from beginning.
    let mut migration = Migration::between(&old, &new, prove_anyway(&old, &new)).unwrap();
    migration.map_rows("s.gone", |key, value| Ok((vec![0x05, key[1]], value.to_vec()))).unwrap();
    let running = attach(&migration, engine);
    let survey = running.survey(|_| ()).unwrap();
    assert_eq!(survey.open_rows(), 30);
    assert!(survey.problems[0].examples[0].why.contains("made a key of `s.still`"), "{:?}", survey.problems);
}
