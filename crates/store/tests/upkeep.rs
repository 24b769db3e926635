//! Pruning, retirement and checked batches: random rows against a model, on every engine, stopped between any two steps.
#![cfg(test)]

mod support;

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

use keyplan_plan::model::Plan;
use keyplan_store::engine::{Durability, Engine, Error, Fjall, KeyRange, Lmdb, Memory, Redb, RedbSettings};
use keyplan_store::{Prune, Removed, Retire, Schema, Steps, Store, StoreError, retired_targets, to_the_end};
use support::{Opened, Random, rounds, small_fjall};

const PLAN: &str = "plan p; space s {
    retired 0x09 since \"v2\" \"moved\";
    key vote = 0x01 height: u64 voter: bytes(2) scan all in order retain 20 by height;
    key price = 0x02 pool: u8 height: i32.signflip -> raw scan by pool in order retain 7 by height;
    key trade = 0x03 pool: u8 id: u16 scan by pool in order retain newest 3 per pool;
    key recent = 0x04 pool: u8 id: u16.desc scan by pool in order retain newest 2 per pool;
    key log = 0x05 at: time.nanos scan all in order retain 10 seconds by at;
    key kept = 0x06 id: u16 scan all in order;
    key old = 0x07 id: u16 retired since \"v3\" \"gone\";
}";

fn plan() -> (Plan, Schema) {
    let compiled = keyplan_plan::compile("p.keyplan", PLAN, |_| Err("no imports".into()));
    assert_eq!(compiled.diagnostics, []);
    let schema = Schema::of(&compiled).unwrap();
    (compiled.plan.unwrap(), schema)
}

type Rows = BTreeMap<Vec<u8>, Vec<u8>>;

fn rows<E: Engine>(store: &Store<E>) -> Rows {
    let space = store.space("s").unwrap();
    let found = store.snapshot().unwrap().range(space, KeyRange::ALL).unwrap();
    found.map(|row| row.map(|(key, value)| (key.to_vec(), value.to_vec())).unwrap()).collect()
}

/// Random rows of every family, of the retired prefix, and of none.
fn fill<E: Engine>(store: &Store<E>, random: &mut Random) {
    let space = store.space("s").unwrap();
    let mut batch = store.batch().unwrap();
    for _ in 0..120 {
        let pool = u8::try_from(random.below(3)).unwrap();
        let id = u16::try_from(random.below(40)).unwrap();
        let height = random.below(60);
        let key: Vec<u8> = match random.below(9) {
            0 => [&[1][..], &height.to_be_bytes(), &[pool, 7]].concat(),
            1 => {
                let signed = i32::try_from(height).unwrap() - 30;
                let flipped = signed.cast_unsigned() ^ 0x8000_0000;
                [&[2, pool][..], &flipped.to_be_bytes()].concat()
            }
            2 => [&[3, pool][..], &id.to_be_bytes()].concat(),
            3 => [&[4, pool][..], &(!id).to_be_bytes()].concat(),
            4 => {
                let nanos = i64::try_from(height).unwrap() * 1_000_000_000 - 30_000_000_000;
                let flipped = nanos.cast_unsigned() ^ (1 << 63);
                [&[5][..], &flipped.to_be_bytes()].concat()
            }
            5 => [&[6][..], &id.to_be_bytes()].concat(),
            6 => [&[7][..], &id.to_be_bytes()].concat(),
            7 => [&[9][..], &id.to_be_bytes()].concat(),
            // Of no family: between the others, and too long or too short for them.
            _ => [&[*random.pick(&[1, 2, 3, 4, 5, 7, 8])][..], &id.to_be_bytes()[..1]].concat(),
        };
        batch.put_row(space, &key, &random.bytes(3));
    }
    batch.commit(Durability::Buffer).unwrap();
}

/// What stays of these rows by the rule of a family, worked out one by one.
fn expected(all: &Rows, family: &str, now: i128) -> Rows {
    let number = |bytes: &[u8]| bytes.iter().fold(0_u128, |n, byte| n << 8 | u128::from(*byte));
    let gone = |key: &Vec<u8>| -> bool {
        match (family, key.as_slice()) {
            ("vote", [1, rest @ ..]) if rest.len() == 10 => {
                i128::try_from(number(&rest[..8])).unwrap() <= now - 20
            }
            ("price", [2, _, rest @ ..]) if rest.len() == 4 => {
                i128::try_from(number(rest)).unwrap() - (1 << 31) <= now - 7
            }
            ("log", [5, rest @ ..]) if rest.len() == 8 => {
                i128::try_from(number(rest)).unwrap() - (1 << 63) <= now - 10_000_000_000
            }
            ("trade", [3, pool, rest @ ..]) if rest.len() == 2 => {
                let newer =
                    all.keys().filter(|other| other.len() == 4 && other[..2] == [3, *pool] && *other > key);
                newer.count() >= 3
            }
            ("recent", [4, pool, rest @ ..]) if rest.len() == 2 => {
                let newer =
                    all.keys().filter(|other| other.len() == 4 && other[..2] == [4, *pool] && *other < key);
                newer.count() >= 2
            }
            _ => false,
        }
    };
    all.iter().filter(|(key, _)| !gone(key)).map(|(key, value)| (key.clone(), value.clone())).collect()
}

/// Keeps a test by itself that opens a database again: a process that another test starts has this one's locks for a moment.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Prunes every family with a stop after each number of steps, and compares with the model.
fn pruned_as_expected<E: Engine>(mut open: impl FnMut() -> Store<E>, rounds: u64) {
    let _alone = alone();
    let (plan, _) = plan();
    let mut random = Random::new(20);
    for round in 0..rounds {
        let mut store = open();
        fill(&store, &mut random);
        for family in ["vote", "price", "trade", "recent", "log"] {
            let all = rows(&store);
            let now = match family {
                "vote" => i128::from(random.below(90)),
                "log" => i128::from(random.below(90)) * 1_000_000_000 - 40_000_000_000,
                _ => i128::from(random.below(90)) - 40,
            };
            let want = expected(&all, family, now);
            let prune = Prune::new(&plan, family, Some(now)).unwrap();
            let steps =
                Steps { rows: *random.pick(&[1, 2, 3, 4]), durability: Durability::Buffer, dry_run: true };
            let told = prune.run(&store, &steps, to_the_end).unwrap();
            assert_eq!(rows(&store), all, "a dry run changes nothing");
            assert_eq!(told.rows, (all.len() - want.len()) as u64, "{family} at {now} in round {round}");
            let steps = Steps { dry_run: false, ..steps };
            // Stopped after one step again and again: what is there in between is some of the rows that go.
            let mut gone = 0;
            loop {
                let mut left = 1;
                let run = prune.run(&store, &steps, |_| {
                    left -= 1;
                    if left < 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                });
                let between = rows(&store);
                assert!(
                    want.iter().all(|(key, value)| between.get(key) == Some(value)),
                    "{family}: a row too many"
                );
                assert!(between.iter().all(|(key, value)| all.get(key) == Some(value)));
                match run {
                    Ok(removed) => {
                        gone += removed.rows;
                        break;
                    }
                    Err(StoreError::Stopped { done }) => gone += done,
                    Err(other) => panic!("{other}"),
                }
                drop(store);
                store = open();
            }
            assert_eq!(rows(&store), want, "{family} at {now} in round {round}");
            assert_eq!(gone, told.rows);
        }
    }
}

#[test]
fn pruning_removes_what_is_past_and_nothing_else_in_memory() {
    let (plan, schema) = plan();
    let mut random = Random::new(7);
    for _ in 0..60 {
        let store = Store::create(Memory::new(), &schema).unwrap();
        fill(&store, &mut random);
        for family in ["vote", "price", "trade", "recent", "log"] {
            let all = rows(&store);
            let now = i128::from(random.below(60));
            let want = expected(&all, family, now);
            let prune = Prune::new(&plan, family, Some(now)).unwrap();
            let steps =
                Steps { rows: *random.pick(&[1, 2, 3, 9]), durability: Durability::Buffer, dry_run: false };
            let removed = prune.run(&store, &steps, to_the_end).unwrap();
            assert_eq!(rows(&store), want, "{family} at {now}");
            assert_eq!(removed.rows, (all.len() - want.len()) as u64);
            // Each range holds nothing that stays.
            for range in &removed.examples {
                let inside = want.keys().filter(|key| range.first <= **key && **key <= range.last);
                let own = inside.filter(|key| prune_would_see(&plan, family, key));
                assert_eq!(own.count(), 0);
            }
            let again = prune.run(&store, &steps, to_the_end).unwrap();
            assert_eq!((again.rows, again.steps), (0, 0));
        }
    }
}

/// Whether a key is one of the family.
fn prune_would_see(plan: &Plan, family: &str, key: &[u8]) -> bool {
    let decoder = keyplan_plan::dynamic::Decoder::new(plan);
    decoder.decode(0, key).is_ok_and(|read| read.family.name == family)
}

#[test]
fn pruning_that_is_stopped_goes_on_on_fjall() {
    let folder = tempfile::tempdir().unwrap();
    let (_, schema) = plan();
    let open = || Store::open_or_create(Fjall::open_at(folder.path()), &schema).unwrap();
    pruned_as_expected(open, rounds(1));
}

#[test]
fn pruning_that_is_stopped_goes_on_on_redb() {
    let folder = tempfile::tempdir().unwrap();
    let (_, schema) = plan();
    let open = || Store::open_or_create(Redb::open_at(folder.path()), &schema).unwrap();
    pruned_as_expected(open, rounds(1));
}

#[test]
fn pruning_that_is_stopped_goes_on_on_lmdb() {
    let folder = tempfile::tempdir().unwrap();
    let (_, schema) = plan();
    let open = || Store::open_or_create(Lmdb::open_at(folder.path()), &schema).unwrap();
    pruned_as_expected(open, rounds(1));
}

/// What the child is told: an engine, what to remove, after how many steps it dies, and where.
const CHILD: &str = "KEYPLAN_UPKEEP_CHILD";

/// The present height, of the removals that are killed.
const NOW: i128 = 60;

/// Not a test by itself: the process that is killed. It removes rows, and is no more after so many steps.
#[test]
fn child() {
    let Ok(told) = std::env::var(CHILD) else { return };
    let parts: Vec<&str> = told.splitn(4, ':').collect();
    let [engine, what, steps, folder] = parts[..] else { panic!("{told}") };
    let (steps, folder) = (steps.parse().unwrap(), Path::new(folder));
    match engine {
        "fjall" => removed(&opened::<Fjall>(folder), what, Some(steps)),
        "redb" => removed(&opened::<Redb>(folder), what, Some(steps)),
        "lmdb" => removed(&opened::<Lmdb>(folder), what, Some(steps)),
        other => panic!("no engine {other}"),
    }
}

fn opened<E: Opened>(folder: &Path) -> Store<E> {
    Store::open_or_create(E::open_at(folder), &plan().1).unwrap()
}

/// Prunes a family or removes what is retired, and dies after so many steps.
fn removed<E: Engine>(store: &Store<E>, what: &str, dies_after: Option<u64>) {
    let (plan, _) = plan();
    let mut steps = 0;
    let progress = |_: &Removed| {
        steps += 1;
        if Some(steps) == dies_after {
            let own = std::process::id().to_string();
            Command::new("kill").args(["-9", &own]).status().unwrap();
            // It takes effect before long.
            loop {
                std::thread::park();
            }
        }
        ControlFlow::Continue(())
    };
    let every = Steps { rows: 3, durability: Durability::Buffer, dry_run: false };
    match what.split_once(' ') {
        Some(("prune", family)) => {
            Prune::new(&plan, family, Some(NOW)).unwrap().run(store, &every, progress).unwrap();
        }
        Some(("retire", name)) => {
            Retire::new(&plan, name).unwrap().run(store, &every, |_, _| {}, progress).unwrap();
        }
        _ => panic!("{what}"),
    }
}

/// Kills the removal of rows after each of its steps: what stays is there, what is left of the rest goes with the next run.
fn survives_a_kill_after_every_step<E: Opened>(engine: &str) {
    let _alone = alone();
    for what in ["prune vote", "prune trade", "retire old", "retire 0x09"] {
        let mut killed = 0;
        for dies_after in 1_u64.. {
            let folder = tempfile::tempdir().unwrap();
            let store = opened::<E>(folder.path());
            let mut random = Random::new(5);
            (0..3).for_each(|_| fill(&store, &mut random));
            store.batch().unwrap().commit(Durability::SyncAll).unwrap();
            let all = rows(&store);
            drop(store);
            let want = match what.split_once(' ') {
                Some(("prune", family)) => expected(&all, family, NOW),
                Some((_, "old")) => {
                    all.clone().into_iter().filter(|(key, _)| !(key[0] == 7 && key.len() == 3)).collect()
                }
                _ => all.clone().into_iter().filter(|(key, _)| key[0] != 9).collect(),
            };
            assert!(want.len() + 6 < all.len(), "{what}: several steps are needed");
            let mut child = Command::new(std::env::current_exe().unwrap());
            child.args(["--exact", "child"]);
            let told = format!("{engine}:{what}:{dies_after}:{}", folder.path().display());
            let ended = child.env(CHILD, told).output().unwrap();
            let store = opened::<E>(folder.path());
            let between = rows(&store);
            assert!(
                want.iter().all(|(key, value)| between.get(key) == Some(value)),
                "{what}: a row too many"
            );
            assert!(between.iter().all(|(key, value)| all.get(key) == Some(value)), "{what}: a row was made");
            removed(&store, what, None);
            assert_eq!(rows(&store), want, "{what} on {engine}, killed after {dies_after} steps");
            if ended.status.success() {
                assert_eq!(between, want);
                break;
            }
            assert_eq!(ended.status.signal(), Some(9), "{}", String::from_utf8_lossy(&ended.stderr));
            killed += 1;
        }
        assert!(killed >= 2, "{what} on {engine} took {killed} steps");
    }
}

#[test]
fn removing_rows_survives_a_kill_after_every_step_on_fjall() {
    survives_a_kill_after_every_step::<Fjall>("fjall");
}

#[test]
fn removing_rows_survives_a_kill_after_every_step_on_redb() {
    survives_a_kill_after_every_step::<Redb>("redb");
}

#[test]
fn removing_rows_survives_a_kill_after_every_step_on_lmdb() {
    survives_a_kill_after_every_step::<Lmdb>("lmdb");
}

#[test]
fn a_family_without_a_rule_is_not_pruned() {
    let (plan, _) = plan();
    let refused = |family: &str, now| Prune::new(&plan, family, now).unwrap_err().to_string();
    assert_eq!(refused("kept", Some(1)), "`kept` cannot be pruned: the plan states no `retain` for it");
    assert_eq!(refused("vote", None), "`vote` cannot be pruned: the present height or time is needed");
    assert_eq!(refused("nothing", None), "`nothing` cannot be pruned: the plan has no such family");
    assert!(Prune::new(&plan, "trade", None).is_ok());
}

fn retired_as_expected<E: Engine>(mut open: impl FnMut() -> Store<E>) {
    let _alone = alone();
    let (plan, _) = plan();
    let names: Vec<String> = retired_targets(&plan).into_iter().map(|target| target.name).collect();
    assert_eq!(names, ["s.old", "s.0x09"]);
    let mut random = Random::new(11);
    for (name, first) in [("old", 7_u8), ("0x09", 9)] {
        let mut store = open();
        fill(&store, &mut random);
        let all = rows(&store);
        // A family's rows have its length; a prefix is everything that begins so.
        let gone = |key: &Vec<u8>| key[0] == first && (first == 9 || key.len() == 3);
        let retire = Retire::new(&plan, name).unwrap();
        let dry = Steps { rows: 2, durability: Durability::Buffer, dry_run: true };
        let mut listed = Vec::new();
        let (told, _) = retire.run(&store, &dry, |key, _| listed.push(key.to_vec()), to_the_end).unwrap();
        assert_eq!(listed, all.keys().filter(|key| gone(key)).cloned().collect::<Vec<_>>());
        assert_eq!(told.rows, listed.len() as u64);
        assert_eq!(rows(&store), all);
        let mut done = 0;
        loop {
            let steps = Steps { dry_run: false, ..dry };
            let run = retire.run(&store, &steps, |_, _| {}, |_: &Removed| ControlFlow::Break(()));
            match run {
                Ok((removed, _)) => {
                    done += removed.rows;
                    break;
                }
                Err(StoreError::Stopped { done: some }) => {
                    done += some;
                    // Only rows that were there before the steps had rows to remove remain to be looked at.
                    if some == 0 {
                        let whole = retire.run(&store, &steps, |_, _| {}, to_the_end).unwrap().0;
                        done += whole.rows;
                        break;
                    }
                }
                Err(other) => panic!("{other}"),
            }
            drop(store);
            store = open();
        }
        assert_eq!(done, told.rows);
        assert_eq!(rows(&store), all.into_iter().filter(|(key, _)| !gone(key)).collect::<Rows>());
    }
    assert!(matches!(Retire::new(&plan, "kept"), Err(StoreError::NotRetired { .. })));
}

#[test]
fn retired_rows_are_removed_by_name_on_fjall() {
    let folder = tempfile::tempdir().unwrap();
    let (_, schema) = plan();
    retired_as_expected(|| {
        Store::open_or_create(Fjall::open(folder.path(), small_fjall()).unwrap(), &schema).unwrap()
    });
}

#[test]
fn retired_rows_are_removed_by_name_on_redb() {
    let folder = tempfile::tempdir().unwrap();
    let (_, schema) = plan();
    retired_as_expected(|| {
        Store::open_or_create(Redb::open(folder.path(), RedbSettings::default()).unwrap(), &schema).unwrap()
    });
}

#[test]
fn retired_rows_are_removed_by_name_on_lmdb() {
    let folder = tempfile::tempdir().unwrap();
    let (_, schema) = plan();
    retired_as_expected(|| Store::open_or_create(Lmdb::open_at(folder.path()), &schema).unwrap());
}

#[test]
fn a_row_that_a_family_in_use_makes_is_not_removed_with_a_prefix() {
    let text =
        "plan p; space s { retired 0x09 \"old\"; key new = 0x0901 id: u8 accept misallotted \"kept\"; }";
    let compiled = keyplan_plan::compile("p", text, |_| Err(String::new()));
    let store = Store::create(Memory::new(), &Schema::of(&compiled).unwrap()).unwrap();
    let space = store.space("s").unwrap();
    let mut batch = store.batch().unwrap();
    for key in [&[9, 0][..], &[9, 1, 5], &[9, 2]] {
        batch.put_row(space, key, b"");
    }
    batch.commit(Durability::Buffer).unwrap();
    let plan = compiled.plan.unwrap();
    let retire = Retire::new(&plan, "s.0x09").unwrap();
    let steps = Steps { dry_run: false, ..Steps::default() };
    let (removed, kept) = retire.run(&store, &steps, |_, _| {}, to_the_end).unwrap();
    assert_eq!((removed.rows, removed.ranges, kept), (2, 2, 1));
    assert_eq!(rows(&store).into_keys().collect::<Vec<_>>(), [vec![9, 1, 5]]);
}

#[test]
fn a_checked_batch_is_refused_when_what_it_has_read_has_changed() {
    let (_, schema) = plan();
    let store = Store::create(Memory::new(), &schema).unwrap();
    let space = store.space("s").unwrap();
    let write = |key: &[u8], value: &[u8]| {
        let mut batch = store.batch().unwrap();
        batch.put_row(space, key, value);
        batch.commit(Durability::Buffer).unwrap();
    };
    write(&[6, 0, 1], b"one");
    // Reads of one row: changed, deleted, made.
    for (read, change) in [(&[6_u8, 0, 1], &[6_u8, 0, 1]), (&[6, 0, 2], &[6, 0, 2])] {
        let mut batch = store.checked_batch().unwrap();
        let _ = batch.get(space, read).unwrap();
        batch.put_row(space, &[6, 0, 9], b"mine");
        write(change, b"theirs");
        let refused = batch.commit(Durability::Buffer).unwrap_err();
        assert!(matches!(refused, StoreError::Engine(Error::Conflict)), "{refused}");
        assert!(!rows(&store).contains_key(&vec![6, 0, 9]));
    }
    // A range that gained a row.
    let mut batch = store.checked_batch().unwrap();
    let seen = batch.range(space, KeyRange::half_open(&[6], &[7])).unwrap().count();
    assert_eq!(seen, 2);
    batch.put_row(space, &[6, 0, 9], b"mine");
    write(&[6, 0, 3], b"theirs");
    let refused = batch.commit(Durability::Buffer).unwrap_err();
    assert!(matches!(&refused, StoreError::Engine(Error::Conflict)), "{refused}");
    // What it did not read may change.
    let mut batch = store.checked_batch().unwrap();
    assert!(batch.get(space, &[6, 0, 1]).unwrap().is_some());
    batch.put_row(space, &[6, 0, 9], b"mine");
    write(&[6, 0, 4], b"theirs");
    batch.commit(Durability::Buffer).unwrap();
    assert_eq!(rows(&store)[&vec![6, 0, 9]], b"mine");
}

/// Threads that count in one row: with checked batches no step is lost.
fn no_step_is_lost<E: Engine + Sync>(store: &Store<E>) {
    let space = store.space("s").unwrap();
    let key = [6_u8, 0, 0];
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut done = 0;
                while done < 25 {
                    let mut batch = store.checked_batch().unwrap();
                    let now = batch.get(space, &key).unwrap().map_or(0, |value| value[0]);
                    batch.put_row(space, &key, &[now + 1]);
                    match batch.commit(Durability::Buffer) {
                        Ok(()) => done += 1,
                        Err(StoreError::Engine(Error::Conflict)) => {}
                        Err(other) => panic!("{other}"),
                    }
                }
            });
        }
    });
    assert_eq!(rows(store)[key.as_slice()], [100]);
}

#[test]
fn threads_that_check_lose_no_step() {
    let (_, schema) = plan();
    no_step_is_lost(&Store::create(Memory::new(), &schema).unwrap());
    let folder = tempfile::tempdir().unwrap();
    no_step_is_lost(&Store::create(Fjall::open(folder.path(), small_fjall()).unwrap(), &schema).unwrap());
    let folder = tempfile::tempdir().unwrap();
    no_step_is_lost(
        &Store::create(Redb::open(folder.path(), RedbSettings::default()).unwrap(), &schema).unwrap(),
    );
    let folder = tempfile::tempdir().unwrap();
    no_step_is_lost(&Store::create(Lmdb::open_at(folder.path()), &schema).unwrap());
}
