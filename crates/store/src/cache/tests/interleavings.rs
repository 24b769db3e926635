//! Every order in which the steps of readers and writers can follow each other.
//!
//! A step is what happens under one lock: nothing comes between its parts. A schedule says whose step is next; all of
//! them are run, each on an engine of its own, and every read is compared with the state that its snapshot was opened at.
//! The protocol that is used passes. Each of the faults is found, and the schedule that shows it is named here, so that it
//! is known to be the one that the rule it breaks is for.

use std::collections::BTreeMap;

use super::super::fault::{Fault, Faults};
use super::super::table::{Look, Place};
use super::super::{Cached, Commit, RowCache};
use crate::engine::{Batch, Durability, Engine, Error, Memory, Snapshot as _, Space, SpaceId};

type Below = Memory;
type Model = BTreeMap<u8, u8>;

/// What one thread does, in its order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// Opens a snapshot.
    Open,
    /// Of a broken protocol: opens the engine's snapshot, and takes the number that belongs to it later.
    OpenBelow,
    Number,
    /// Looks for a key in the cache, and compares what it finds.
    Look(u8),
    /// Reads it below, if it was not found, and compares what it finds.
    Below(u8),
    /// Keeps what was read below.
    Fill(u8),
    /// Begins to write these values to the keys, `None` to delete.
    Begin(&'static [(u8, Option<u8>)]),
    /// The engine applies them.
    Apply,
    /// The engine fails, after it may have applied them.
    Fail,
    /// The cache learns of the next of them.
    Change,
    /// They are given out.
    Publish,
    /// A row has to give way.
    Evict(u8),
}
use Step::{
    Apply, Begin, Below as ReadBelow, Change, Evict, Fail, Fill, Look as LookFor, Number, Open, OpenBelow,
    Publish,
};

/// A thread: its steps, and what it has in hand.
#[derive(Default)]
struct Thread<'c> {
    snapshot: Option<super::super::CachedSnapshot<crate::engine::MemorySnapshot>>,
    below: Option<crate::engine::MemorySnapshot>,
    /// What the snapshot must see.
    sees: Model,
    missed: Option<u8>,
    read: Option<(u8, Option<Vec<u8>>)>,
    commit: Option<Commit<'c, Below>>,
    writes: &'static [(u8, Option<u8>)],
    changed: usize,
}

/// Runs the steps in the order that `schedule` says; the first read that is wrong is the answer.
fn run(fault: Option<Fault>, threads: &[&[Step]], schedule: &[usize]) -> Result<(), String> {
    let mut memory = Memory::new();
    let space = memory.create_space(&Space::map("s")).unwrap();
    let cached = Cached::with_families(memory, RowCache::bytes(1 << 14), Vec::new(), Faults { on: fault });
    let mut first = Batch::<Cached<Below>>::new();
    first.put(space, [1].as_slice(), [10].as_slice());
    first.put(space, [2].as_slice(), [20].as_slice());
    cached.commit(first, Durability::Buffer).unwrap();
    // What the cache holds at the start is for each test to say, with `Evict`.
    let mut model = Model::from([(1, 10), (2, 20)]);
    let mut given_out = model.clone();
    let mut hands: Vec<Thread<'_>> = threads.iter().map(|_| Thread::default()).collect();
    let mut next = vec![0; threads.len()];
    for &thread in schedule {
        let step = threads[thread][next[thread]];
        next[thread] += 1;
        let hand = &mut hands[thread];
        take(&cached, space, step, hand, &mut model, &mut given_out)
            .map_err(|wrong| format!("{wrong} in {schedule:?}"))?;
    }
    // Commits that are under way were given out by their last step, or are dropped here.
    Ok(())
}

fn place(cached: &Cached<Below>, space: SpaceId, key: u8) -> Place {
    cached.rows.as_ref().unwrap().place(space, &[key]).unwrap()
}

fn take<'c>(
    cached: &'c Cached<Below>,
    space: SpaceId,
    step: Step,
    hand: &mut Thread<'c>,
    model: &mut Model,
    given_out: &mut Model,
) -> Result<(), String> {
    let rows = cached.rows.as_ref().unwrap();
    let expect = |key: u8, found: Option<&[u8]>, sees: &Model| {
        let want = sees.get(&key).map(|value| vec![*value]);
        if found.map(<[u8]>::to_vec) == want {
            Ok(())
        } else {
            Err(format!("key {key} is {found:?}, not {want:?}"))
        }
    };
    match step {
        Open => {
            hand.snapshot = Some(cached.snapshot().unwrap());
            hand.sees = given_out.clone();
        }
        OpenBelow => {
            hand.below = Some(match &cached.state().before {
                Some(before) => before.clone(),
                None => cached.engine.snapshot().unwrap(),
            });
            hand.sees = given_out.clone();
        }
        Number => {
            let at = cached.state().number;
            let below = hand.below.take().unwrap();
            hand.snapshot = Some(super::super::CachedSnapshot::new(below, Some(rows.clone()), at, None));
        }
        LookFor(key) => {
            let snapshot = hand.snapshot.as_ref().unwrap();
            hand.missed = None;
            match snapshot.look(rows, place(cached, space, key), &[key]) {
                Look::Hit(value) => expect(key, value.as_deref(), &hand.sees)?,
                Look::Miss(_) => hand.missed = Some(key),
            }
        }
        ReadBelow(key) if hand.missed == Some(key) => {
            let value = hand.snapshot.as_ref().unwrap().below().get(space, &[key]).unwrap();
            expect(key, value.as_deref(), &hand.sees)?;
            hand.read = Some((key, value.map(|value| value.to_vec())));
        }
        Fill(key) => {
            if let Some((read, value)) = hand.read.take() {
                assert_eq!(read, key);
                let snapshot = hand.snapshot.as_ref().unwrap();
                // Always, as if it had been missed before: what is worth keeping is a question of its own.
                snapshot.fill(rows, place(cached, space, key), &[key], value.as_deref());
            }
        }
        ReadBelow(_) => {}
        Begin(writes) => {
            let mut batch = Batch::<Cached<Below>>::new();
            for (key, value) in writes {
                match value {
                    Some(value) => batch.put(space, [*key].as_slice(), [*value].as_slice()),
                    None => batch.delete(space, [*key].as_slice()),
                }
            }
            hand.writes = writes;
            hand.commit = Some(cached.begin(rows, &batch).unwrap());
            hand.changed = 0;
        }
        Apply | Fail => {
            let mut batch = Batch::<Below>::new();
            for (key, value) in hand.writes {
                if let Some(value) = value {
                    batch.put(space, [*key].as_slice(), [*value].as_slice());
                    model.insert(*key, *value);
                } else {
                    batch.delete(space, [*key].as_slice());
                    model.remove(key);
                }
            }
            cached.engine.commit(batch, Durability::Buffer).unwrap();
            let commit = hand.commit.as_mut().unwrap();
            commit.applied = step == Apply;
            if cached.faults.has(Fault::PublishFirst) {
                cached.publish(commit.number);
                given_out.clone_from(model);
            }
        }
        Change => {
            let commit = hand.commit.as_ref().unwrap();
            commit.change(&commit.changes[hand.changed]);
            hand.changed += 1;
        }
        Publish => {
            let mut commit = hand.commit.take().unwrap();
            commit.changes.clear();
            drop(commit);
            given_out.clone_from(model);
        }
        Evict(key) => rows.table.evict_key(place(cached, space, key), &[key]),
    }
    Ok(())
}

/// All orders of threads with these numbers of steps, writers one after the other.
fn schedules(threads: &[&[Step]]) -> Vec<Vec<usize>> {
    fn go(threads: &[&[Step]], next: &mut Vec<usize>, so_far: &mut Vec<usize>, all: &mut Vec<Vec<usize>>) {
        let mut ended = true;
        let writing = threads.iter().zip(next.iter()).position(|(steps, at)| {
            let begun = steps[..*at].iter().filter(|step| matches!(step, Begin(_))).count();
            let over = steps[..*at].iter().filter(|step| **step == Publish).count();
            begun > over
        });
        for thread in 0..threads.len() {
            let Some(step) = threads[thread].get(next[thread]) else { continue };
            ended = false;
            // A row that is to be gone at the start goes first.
            if so_far.is_empty() && matches!(threads[0].first(), Some(Evict(_))) && thread > 0 {
                continue;
            }
            // The writer's lock: nobody begins while another is under way.
            if matches!(step, Begin(_)) && writing.is_some() {
                continue;
            }
            next[thread] += 1;
            so_far.push(thread);
            go(threads, next, so_far, all);
            so_far.pop();
            next[thread] -= 1;
        }
        if ended {
            all.push(so_far.clone());
        }
    }
    let mut all = Vec::new();
    go(threads, &mut vec![0; threads.len()], &mut Vec::new(), &mut all);
    all
}

/// The protocol passes under every schedule; with the fault some do not, and `named` is one of them.
fn found(fault: Fault, threads: &[&[Step]], named: &[usize]) {
    found_with(fault, threads, threads, named);
}

fn found_with(fault: Fault, right: &[&[Step]], broken: &[&[Step]], named: &[usize]) {
    let all = schedules(right);
    for schedule in &all {
        assert_eq!(run(None, right, schedule), Ok(()), "the protocol itself");
    }
    let all_broken = schedules(broken);
    let wrong: Vec<&Vec<usize>> =
        all_broken.iter().filter(|schedule| run(Some(fault), broken, schedule).is_err()).collect();
    assert!(
        wrong.iter().any(|schedule| **schedule == named),
        "{fault:?} is not found by {named:?}: {wrong:?}"
    );
    println!(
        "{fault:?}: {} of {} schedules show it; {} pass without it",
        wrong.len(),
        all_broken.len(),
        all.len()
    );
}

const READ: &[Step] = &[Open, LookFor(1), ReadBelow(1), Fill(1)];
const LOOK: &[Step] = &[Open, LookFor(1), ReadBelow(1)];
const WRITE: &[Step] = &[Begin(&[(1, Some(11))]), Apply, Change, Publish];
const DELETE: &[Step] = &[Begin(&[(1, None)]), Apply, Change, Publish];
const WRITE_BOTH: &[Step] = &[Begin(&[(1, Some(11)), (2, Some(21))]), Apply, Change, Change, Publish];

#[test]
fn a_reader_that_was_overtaken_does_not_keep_what_it_read() {
    // The reader reads, the commit passes it, the reader keeps the old value, a later snapshot finds it.
    let threads: &[&[Step]] = &[&[Evict(1), Open, LookFor(1), ReadBelow(1), Fill(1)], DELETE, LOOK];
    found(Fault::FillWithoutTest, threads, &[0, 0, 0, 0, 1, 1, 1, 1, 0, 2, 2, 2]);
}

#[test]
fn a_commit_is_not_given_out_before_the_cache_knows_of_it() {
    // Snapshots see the commit, and find the row that it replaces.
    found(Fault::PublishFirst, &[WRITE, LOOK], &[0, 0, 1, 1, 1, 0, 0]);
}

#[test]
fn a_snapshot_does_not_take_a_row_from_after_it() {
    // It was opened before the commit, and finds what the commit wrote.
    let threads: &[&[Step]] = &[&[Open, LookFor(1), ReadBelow(1), LookFor(2), ReadBelow(2)], WRITE_BOTH];
    found(Fault::HitWithoutAge, threads, &[0, 0, 0, 1, 1, 1, 1, 1, 0, 0]);
}

#[test]
fn a_commit_leaves_its_mark_also_where_its_key_is_not_cached() {
    // The key is not cached when it is deleted; the reader that read it before then keeps it.
    let threads: &[&[Step]] = &[&[Evict(1), Open, LookFor(1), ReadBelow(1), Fill(1)], DELETE, LOOK];
    found(Fault::MarkOnlyCached, threads, &[0, 0, 0, 0, 1, 1, 1, 1, 0, 2, 2, 2]);
}

#[test]
fn the_mark_of_a_commit_outlives_its_row() {
    // The row that the commit wrote has to give way; the reader that read the one before then keeps that.
    let threads: &[&[Step]] = &[
        &[Evict(1), Open, LookFor(1), ReadBelow(1), Fill(1)],
        &[Begin(&[(1, Some(11))]), Apply, Change, Publish, Evict(1)],
        LOOK,
    ];
    found(Fault::MarkInRow, threads, &[0, 0, 0, 0, 1, 1, 1, 1, 1, 0, 2, 2, 2]);
}

#[test]
fn what_a_reader_keeps_is_not_true_of_the_time_before() {
    // Opened before the commit; another reads after it and keeps that; the first must not find it.
    let threads: &[&[Step]] = &[
        LOOK,
        &[Begin(&[(1, Some(11))]), Apply, Change, Publish, Evict(1), Open, LookFor(1), ReadBelow(1), Fill(1)],
    ];
    found(Fault::FillFromZero, threads, &[0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0]);
}

#[test]
fn a_snapshot_and_its_number_belong_together() {
    // The snapshot is opened, a commit passes, and its number is taken for the snapshot's: what that reads below is kept.
    let right: &[&[Step]] = &[&[Evict(1), Open, LookFor(1), ReadBelow(1), Fill(1)], DELETE, LOOK];
    let broken: &[&[Step]] =
        &[&[Evict(1), OpenBelow, Number, LookFor(1), ReadBelow(1), Fill(1)], DELETE, LOOK];
    found_with(Fault::NumberApart, right, broken, &[0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 2, 2, 2]);
}

#[test]
fn a_commit_that_may_have_happened_leaves_nothing_known_of_its_keys() {
    let threads: &[&[Step]] = &[&[Begin(&[(1, Some(11))]), Fail, Change, Publish], LOOK];
    found(Fault::FailedCommitKept, threads, &[0, 0, 0, 0, 1, 1, 1]);
}

#[test]
fn two_writers_two_readers_and_evictions_agree_in_every_order() {
    let threads: &[&[Step]] = &[READ, WRITE, DELETE, &[Evict(1)]];
    let all = schedules(threads);
    assert!(all.len() > 4_000, "{}", all.len());
    for schedule in &all {
        assert_eq!(run(None, threads, schedule), Ok(()));
    }
    let threads: &[&[Step]] = &[READ, WRITE_BOTH, &[Open, LookFor(2), ReadBelow(2)]];
    for schedule in &schedules(threads) {
        assert_eq!(run(None, threads, schedule), Ok(()));
    }
}

#[test]
fn a_panic_of_the_engine_takes_out_what_was_known() {
    let mut memory = Memory::new();
    let space = memory.create_space(&Space::map("s")).unwrap();
    let cached = Cached::new(memory, 1 << 14);
    let rows = cached.rows.as_ref().unwrap();
    let mut batch = Batch::<Cached<Below>>::new();
    batch.put(space, [1].as_slice(), [10].as_slice());
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let _commit = cached.begin(rows, &batch).unwrap();
        std::panic::resume_unwind(Box::new("the engine"));
    }));
    assert!(panicked.is_err());
    assert_eq!(rows.table.rows(), 0);
    assert!(cached.state().before.is_none() && cached.state().number == 2);
    cached.commit(batch, Durability::Buffer).unwrap();
    assert_eq!(&*cached.snapshot().unwrap().get(space, &[1]).unwrap().unwrap(), [10]);
    // A batch that the engine refuses leaves nothing known either.
    let mut refused = Batch::<Cached<Below>>::new();
    refused.put(SpaceId(space.0 + 1), [1].as_slice(), [10].as_slice());
    refused.put(space, [1].as_slice(), [11].as_slice());
    assert!(matches!(cached.commit(refused, Durability::Buffer), Err(Error::NoSpace { .. })));
    assert_eq!(rows.table.rows(), 0);
    assert_eq!(&*cached.snapshot().unwrap().get(space, &[1]).unwrap().unwrap(), [10]);
}
