//! The embedded implementation on every engine.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use keyplan_store::cache::Cached;
use keyplan_store::engine::{Durability, Engine, Fjall, Lmdb, Memory, Redb};
use keyplan_store::structure::{
    Claim, Command, Embedded, End, Kind, Now, RangeQuery, ScoreRange, Scored, SetScore, StructureError,
    StructureRead, Structures,
};
use keyplan_store::{Direction, Schema, Store};

use crate::support::{Opened, rounds};
use crate::{checked, suite};

/// A plan with a space for structures, and one for rows beside them.
const PLAN: &str = "plan test;
    space things { hash thing = key: bytes field any = field: bytes -> raw; }
    space beside { key row = id: u64 -> raw; }";

pub(crate) fn schema() -> Schema {
    let compiled = keyplan_plan::compile("test.keyplan", PLAN, |_| Err("no imports".into()));
    Schema::of(&compiled).expect("sound")
}

pub(crate) fn open<E: Opened>(path: &Path) -> Embedded<E> {
    let store = Store::open_or_create(E::open_at(path), &schema()).expect("opens");
    Embedded::open(Arc::new(store), "things").expect("has the space")
}

fn agrees<E: Opened>(seed: u64, count: u64) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db");
    suite::run(seed, rounds(count), || Box::new(open::<E>(&path)));
}

#[test]
fn structures_in_memory_agree_with_the_model() {
    for seed in 0..4 {
        agrees::<Memory>(seed, 1_000);
    }
}

#[test]
fn commands_are_done_if_what_they_were_made_from_is_still_so() {
    let directory = tempfile::tempdir().unwrap();
    checked::run(40, rounds(500), &open::<Memory>(&directory.path().join("memory")));
    checked::run(41, rounds(300), &open::<Fjall>(&directory.path().join("fjall")));
    checked::run(42, rounds(100), &open::<Redb>(&directory.path().join("redb")));
    checked::run(43, rounds(100), &open::<Lmdb>(&directory.path().join("lmdb")));
}

#[test]
fn structures_on_fjall_agree_with_the_model() {
    agrees::<Fjall>(10, 1_000);
}

#[test]
fn structures_on_redb_agree_with_the_model() {
    agrees::<Redb>(20, 300);
}

#[test]
fn structures_on_lmdb_agree_with_the_model() {
    agrees::<Lmdb>(40, 300);
}

#[test]
fn structures_with_a_row_cache_agree_with_the_model() {
    agrees::<Cached<Memory>>(30, 1_000);
    agrees::<Cached<Fjall>>(31, 500);
}

fn memory() -> Embedded<Memory> {
    let store = Store::create(Memory::new(), &schema()).unwrap();
    Embedded::open(Arc::new(store), "things").unwrap()
}

#[test]
fn a_key_of_another_kind_is_refused_by_name() {
    let structures = memory();
    structures.hash_set(b"k", b"f", b"v").unwrap();
    structures.put(b"p", b"v").unwrap();
    let said = |result: Result<bool, StructureError>| result.unwrap_err().to_string();
    assert_eq!(said(structures.set_add(b"k", b"m")), "key 0x6b is a hash, and was used as a set");
    assert_eq!(said(structures.put(b"k", b"v")), "key 0x6b is a hash, and was used as a plain value");
    assert_eq!(said(structures.delete(b"k")), "key 0x6b is a hash, and was used as a plain value");
    assert_eq!(
        said(structures.queue_push(b"k", b"m", 1.0.into())),
        "key 0x6b is a hash, and was used as a queue"
    );
    assert_eq!(
        said(structures.zset_add(b"p", b"m", 1.0.into())),
        "key 0x70 is a plain value, and was used as a sorted set"
    );
    assert_eq!(said(structures.set_contains(b"p", b"m")), "key 0x70 is a plain value, and was used as a set");
    // What is empty is of no kind.
    structures.hash_delete(b"k", b"f").unwrap();
    structures.set_add(b"k", b"m").unwrap();
    assert_eq!(structures.kind(b"k").unwrap(), Some(Kind::Set));
}

#[test]
fn scores_of_two_kinds_do_not_mix() {
    let structures = memory();
    structures.zset_add(b"z", b"m", SetScore::confirmed(1, 2)).unwrap();
    let refused = structures.zset_add(b"z", b"n", 1.0.into()).unwrap_err();
    assert_eq!(refused.to_string(), "the members of key 0x7a are ranked by places, not by numbers");
    let refused = structures.zset_increment(b"z", b"m", 1.0).unwrap_err();
    assert_eq!(refused.to_string(), "the members of key 0x7a are ranked by places, not by numbers");
    let refused = structures.zset_sum(b"z", &ScoreRange::ALL).unwrap_err();
    assert_eq!(refused.to_string(), "the members of key 0x7a are ranked by places, not by numbers");
}

#[test]
fn a_batch_that_fails_leaves_nothing_and_the_next_one_counts_right() {
    let structures = memory();
    structures.set_add(b"s", b"1").unwrap();
    let commands = [
        Command::SetAdd { key: b"s", member: b"2" },
        Command::ZsetAdd { key: b"z", member: b"m", score: 1.0.into() },
        Command::HashSet { key: b"s", field: b"f", value: b"v" },
    ];
    structures.apply(&commands, Durability::Buffer).unwrap_err();
    assert_eq!(structures.set_count(b"s").unwrap(), 1);
    assert_eq!(structures.kind(b"z").unwrap(), None);
    structures.set_add(b"s", b"2").unwrap();
    assert_eq!(structures.set_count(b"s").unwrap(), 2);

    let mut transaction = structures.transaction().unwrap();
    transaction.apply_one(&commands[0]).unwrap();
    transaction.apply_one(&commands[2]).unwrap_err();
    let refused = transaction.commit(Durability::Buffer).unwrap_err();
    assert_eq!(refused.to_string(), "a command of the transaction failed: it cannot be committed");
}

#[test]
fn structures_and_other_rows_are_committed_as_one_step() {
    let structures = memory();
    let beside = structures.store().space("beside").unwrap();
    let mut transaction = structures.transaction().unwrap();
    transaction.apply(&[Command::SetAdd { key: b"s", member: b"1" }]).unwrap();
    transaction.batch().put(beside, [0; 8].as_slice(), [1].as_slice());
    assert_eq!(structures.set_count(b"s").unwrap(), 0);
    transaction.commit(Durability::SyncAll).unwrap();
    assert_eq!(structures.set_count(b"s").unwrap(), 1);
    assert!(structures.store().snapshot().unwrap().get(beside, &[0; 8]).unwrap().is_some());
}

#[test]
fn structures_that_are_opened_twice_are_the_same_ones() {
    let first = memory();
    first.set_add(b"s", b"a").unwrap();
    let second = Embedded::open(first.store().clone(), "things").unwrap();
    second.set_add(b"s", b"b").unwrap();
    first.set_add(b"s", b"c").unwrap();
    let other = Embedded::open(first.store().clone(), "beside").unwrap();
    assert_eq!([&first, &second, &other].map(|opened| opened.set_count(b"s").unwrap()), [3, 3, 0]);
    // Nothing is left of them but their rows once nobody uses them.
    let store = first.store().clone();
    drop((first, second, other));
    assert_eq!(Arc::strong_count(&store), 1);
    let again = Embedded::open(store, "things").unwrap();
    again.set_add(b"s", b"d").unwrap();
    assert_eq!(again.set_count(b"s").unwrap(), 4);
}

#[test]
fn a_snapshot_sees_one_moment() {
    let structures = memory();
    structures.zset_add(b"z", b"a", 1.0.into()).unwrap();
    let snapshot = structures.snapshot().unwrap();
    structures.zset_add(b"z", b"b", 2.0.into()).unwrap();
    structures.zset_pop(b"z", End::Min, 1).unwrap();
    assert_eq!(snapshot.zset_count(b"z").unwrap(), 1);
    let seen = snapshot.zset_range(b"z", &RangeQuery::default()).unwrap();
    assert_eq!(seen, [Scored { member: b"a".to_vec(), score: 1.0.into() }]);
}

fn takes_large_values<E: Opened>() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db");
    let structures = open::<E>(&path);
    let value = vec![0x5a; 16 << 20];
    structures.hash_set(b"", b"", &value).unwrap();
    structures.put(b"big", &value).unwrap();
    drop(structures);
    let structures = open::<E>(&path);
    assert!(structures.hash_get(b"", b"").unwrap().as_ref() == Some(&value));
    assert!(structures.get(b"big").unwrap().as_ref() == Some(&value));
    assert_eq!(structures.hash_count(b"").unwrap(), 1);
}

#[test]
fn values_of_16_mib_under_empty_keys_are_read_back() {
    takes_large_values::<Memory>();
    takes_large_values::<Fjall>();
    takes_large_values::<Redb>();
}

#[test]
fn a_key_and_member_that_the_engine_cannot_hold_are_refused_and_leave_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let structures = open::<Fjall>(&directory.path().join("db"));
    let refused = structures.set_add(b"s", &vec![1; 70_000]).unwrap_err();
    assert_eq!(refused.to_string(), "a key, in bytes, of 70003 is over the limit of 65535");
    assert_eq!(structures.set_count(b"s").unwrap(), 0);
    structures.set_add(b"s", b"m").unwrap();
    assert_eq!(structures.set_count(b"s").unwrap(), 1);
}

/// What a look at the front takes, at best of several tries.
#[test]
fn a_hash_of_a_million_fields_costs_what_is_asked_of_it() {
    const FIELDS: u32 = 1_000_000;
    let directory = tempfile::tempdir().unwrap();
    let structures = open::<Fjall>(directory.path());
    // Its rows as they are declared: a head with the count, and a row for each field.
    let head = (b"\x02h".as_slice().into(), [&[2], &u64::from(FIELDS).to_be_bytes()[..]].concat().into());
    let field =
        |at: u32| ([b"\x04\x01h".as_slice(), &at.to_be_bytes()].concat().into(), at.to_be_bytes()[..].into());
    let rows = std::iter::once(head).chain((0..FIELDS).map(field)).map(Ok);
    structures.store().engine().ingest(structures.space(), rows).unwrap();

    assert_eq!(structures.hash_count(b"h").unwrap(), 1_000_000);
    let last = (FIELDS - 1).to_be_bytes();
    assert_eq!(structures.hash_get(b"h", &last).unwrap(), Some(last.to_vec()));
    assert!(!structures.hash_set(b"h", &last, b"again").unwrap());
    assert!(structures.hash_set(b"h", b"more", b"").unwrap());
    assert!(structures.hash_delete(b"h", &[0; 4]).unwrap());
    assert_eq!(structures.hash_count(b"h").unwrap(), 1_000_000);
    // The first rows come without the others, and all of them one by one.
    let first = structures.hash_all(b"h").unwrap().next().unwrap().unwrap();
    assert_eq!(first, (vec![0, 0, 0, 1], vec![0, 0, 0, 1]));
    assert_eq!(structures.hash_all(b"h").unwrap().map(Result::unwrap).count(), 1_000_000);
}

fn look<E: Engine>(structures: &Embedded<E>) -> Duration {
    let query = RangeQuery { limit: Some(1), ..RangeQuery::default() };
    let look = |_| {
        let begun = Instant::now();
        structures.zset_range(b"z", &query).unwrap();
        begun.elapsed()
    };
    (0..10).map(look).min().unwrap()
}

/// What one pop takes, on average.
fn cost<E: Engine>(structures: &Embedded<E>, pops: u32) -> Duration {
    let begun = Instant::now();
    for _ in 0..pops {
        assert_eq!(structures.zset_pop(b"z", End::Min, 1).unwrap().len(), 1);
    }
    begun.elapsed() / pops
}

#[test]
fn taking_the_first_member_stays_flat_and_so_after_a_reopen() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db");
    let structures = open::<Fjall>(&path);
    for chunk in 0..110_u32 {
        let members: Vec<[u8; 4]> = (chunk * 1_000..(chunk + 1) * 1_000).map(u32::to_be_bytes).collect();
        let commands: Vec<Command<'_>> = members
            .iter()
            .map(|member| {
                let score = SetScore::Number(f64::from(u32::from_be_bytes(*member)));
                Command::ZsetAdd { key: b"z", member, score }
            })
            .collect();
        structures.apply(&commands, Durability::Buffer).unwrap();
    }
    let first = cost(&structures, 1_000);
    for _ in 0..99 {
        structures.zset_pop(b"z", End::Min, 1_000).unwrap();
    }
    let late = cost(&structures, 1_000);
    // A walk over 100,000 removed rows takes milliseconds; a pop takes microseconds, more on a busy machine.
    let most = (first * 10).max(Duration::from_micros(500));
    assert!(late < most, "{late:?} after {first:?}");
    assert!(look(&structures) < most, "{:?} after {first:?}", look(&structures));
    drop(structures);
    let structures = open::<Fjall>(&path);
    assert_eq!(structures.zset_count(b"z").unwrap(), 9_000);
    let reopened = cost(&structures, 1_000);
    assert!(reopened < most, "{reopened:?} after {first:?}");
    // What is added before the front is first, and what was taken after it is not walked again.
    structures.zset_add(b"z", b"early", SetScore::Number(-1.0)).unwrap();
    let taken = structures.zset_pop(b"z", End::Min, 1).unwrap();
    assert_eq!(taken[0].member, b"early");
    assert!(look(&structures) < most, "{:?} after {first:?}", look(&structures));
    assert_eq!(structures.zset_pop(b"z", End::Min, 1).unwrap()[0].score, SetScore::Number(102_000.0));
}

#[test]
fn a_sorted_set_that_was_emptied_leaves_no_row() {
    let structures = memory();
    for round in 0..3 {
        structures.zset_add(b"z", &[round], 1.0.into()).unwrap();
        structures.zset_pop(b"z", End::Max, 5).unwrap();
    }
    assert_eq!(structures.keys(Kind::Zset, b"").unwrap().count(), 0);
    let rows = structures.store().snapshot().unwrap();
    let rows = rows.range(structures.space(), keyplan_store::engine::KeyRange::ALL).unwrap();
    assert_eq!(rows.count(), 0);
}

#[test]
fn a_receipt_from_before_a_queue_was_empty_is_worth_nothing() {
    let structures = memory();
    let claim = |now| Claim::new(1, Duration::from_millis(10)).at(Now::Millis(now));
    structures.queue_push(b"q", b"m", 1.0.into()).unwrap();
    let asleep = structures.queue_claim(b"q", claim(0)).unwrap().remove(0);
    let other = structures.queue_claim(b"q", claim(20)).unwrap().remove(0);
    assert_eq!((asleep.attempts, other.attempts), (1, 2));
    assert!(structures.queue_acknowledge(b"q", b"m", other.receipt).unwrap());
    assert_eq!(structures.kind(b"q").unwrap(), None);
    structures.queue_push(b"q", b"m", 1.0.into()).unwrap();
    let again = structures.queue_claim(b"q", claim(30)).unwrap().remove(0);
    assert!(!structures.queue_acknowledge(b"q", b"m", asleep.receipt).unwrap());
    assert!(structures.queue_acknowledge(b"q", b"m", again.receipt).unwrap());
}

#[test]
fn a_range_from_the_far_end_returns_what_one_from_the_near_end_does() {
    let structures = memory();
    for member in 0..10_u8 {
        structures.zset_add(b"z", &[member], SetScore::Number(f64::from(member / 2))).unwrap();
    }
    let scores = ScoreRange::between(1.0, 3.0);
    let query = |direction| RangeQuery { scores, direction, offset: 1, limit: Some(3) };
    let members = |direction| -> Vec<u8> {
        let found = structures.zset_range(b"z", &query(direction)).unwrap();
        found.iter().map(|scored| scored.member[0]).collect()
    };
    assert_eq!(members(Direction::Ascending), [3, 4, 5]);
    assert_eq!(members(Direction::Descending), [6, 5, 4]);
}
