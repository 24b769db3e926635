//! Threads that read, write and drive rows out, in orders that the checker `shuttle` draws: it says who goes on at every lock and every
//! counter that the cache has. What a snapshot reads through the cache must be what it reads below.
//!
//! `interleavings.rs` has every order of the protocol's steps; here are the locks as they are taken, in many orders of longer runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};
use shuttle::{Config, Runner};

use super::super::fault::{Fault, Faults};
use super::super::sync::checked;
use super::super::{Cached, CachedSnapshot, RowCache};
use crate::engine::{Batch, Durability, Engine as _, Memory, MemorySnapshot, Snapshot as _, Space, SpaceId};

/// Each seed has orders of its own.
const SEED: u64 = 20_261_115;

/// In how many orders a fault must show.
const ORDERS_OF_A_FAULT: usize = 20_000;

/// What the threads share.
struct Shared {
    cached: Cached<Memory>,
    space: SpaceId,
    wrong: Arc<AtomicBool>,
    reads: Arc<AtomicU64>,
}

type Body = fn(&Shared);

impl Shared {
    fn new(fault: Option<Fault>, wrong: Arc<AtomicBool>, reads: Arc<AtomicU64>) -> Self {
        let mut memory = Memory::new();
        let space = memory.create_space(&Space::map("s")).unwrap();
        let cached =
            Cached::with_families(memory, RowCache::bytes(1 << 12), Vec::new(), Faults { on: fault });
        let shared = Self { cached, space, wrong, reads };
        shared.commit(&[(1, Some(10)), (2, Some(20))]);
        shared.evict(1);
        shared
    }

    fn batch<E: crate::engine::Engine>(&self, writes: &[(u8, Option<u8>)]) -> Batch<E>
    where
        E::Buffer: for<'a> From<&'a [u8]>,
    {
        let mut batch = Batch::new();
        for (key, value) in writes {
            match value {
                Some(value) => batch.put(self.space, [*key].as_slice(), [*value].as_slice()),
                None => batch.delete(self.space, [*key].as_slice()),
            }
        }
        batch
    }

    fn commit(&self, writes: &[(u8, Option<u8>)]) {
        self.cached.commit(self.batch(writes), Durability::Buffer).unwrap();
    }

    /// Applies writes of which the engine says that it does not know.
    fn commit_perhaps(&self, writes: &[(u8, Option<u8>)]) {
        let _writer = self.cached.writer.lock().unwrap();
        let rows = self.cached.rows.as_ref().unwrap();
        let batch: Batch<Cached<Memory>> = self.batch(writes);
        let commit = self.cached.begin(rows, &batch).unwrap();
        self.cached.engine.commit(self.batch(writes), Durability::Buffer).unwrap();
        drop(commit);
    }

    fn evict(&self, key: u8) {
        let rows = self.cached.rows.as_ref().unwrap();
        rows.table.evict_key(rows.place(self.space, &[key]).unwrap(), &[key]);
    }

    fn read(&self, snapshot: &CachedSnapshot<MemorySnapshot>, key: u8) {
        let found = snapshot.get(self.space, &[key]).unwrap().map(|value| value.to_vec());
        let below = snapshot.below().get(self.space, &[key]).unwrap().map(|value| value.to_vec());
        self.reads.fetch_add(1, Ordering::Relaxed);
        if found != below {
            self.wrong.store(true, Ordering::Relaxed);
        }
    }

    /// Opens a snapshot in two steps, and its number is that of the second.
    fn snapshot_apart(&self) -> CachedSnapshot<MemorySnapshot> {
        let below = match &self.cached.state().before {
            Some(before) => before.clone(),
            None => self.cached.engine.snapshot().unwrap(),
        };
        let at = self.cached.state().number;
        CachedSnapshot::new(below, self.cached.rows.clone(), at, None)
    }
}

fn reads(shared: &Shared) {
    for _ in 0..2 {
        let snapshot = shared.cached.snapshot().unwrap();
        for key in [1, 2, 1] {
            shared.read(&snapshot, key);
        }
    }
}

fn reads_apart(shared: &Shared) {
    let apart = shared.cached.faults.has(Fault::NumberApart);
    for _ in 0..2 {
        let snapshot = if apart { shared.snapshot_apart() } else { shared.cached.snapshot().unwrap() };
        shared.read(&snapshot, 1);
    }
}

fn writes(shared: &Shared) {
    shared.commit(&[(1, Some(11)), (2, Some(21))]);
    shared.commit(&[(1, None)]);
}

fn deletes(shared: &Shared) {
    shared.commit(&[(1, None)]);
}

fn fails(shared: &Shared) {
    shared.commit_perhaps(&[(1, Some(12))]);
    shared.commit_perhaps(&[(2, None)]);
}

fn evicts(shared: &Shared) {
    shared.evict(1);
    shared.evict(1);
}

/// Whether a read was wrong in one of the orders, and how many reads there were.
fn run(fault: Option<Fault>, bodies: &'static [Body], scheduler: impl Scheduler + 'static) -> (bool, u64) {
    let (wrong, reads) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let (seen, counted) = (wrong.clone(), reads.clone());
    let mut config = Config::new();
    config.silence_warnings = true;
    checked(|| {
        Runner::new(scheduler, config).run(move || {
            if seen.load(Ordering::Relaxed) {
                return;
            }
            let shared = Arc::new(Shared::new(fault, seen.clone(), counted.clone()));
            let threads = bodies.iter().map(|body| {
                let (body, shared) = (*body, shared.clone());
                shuttle::thread::spawn(move || body(&shared))
            });
            for thread in threads.collect::<Vec<_>>() {
                thread.join().unwrap();
            }
        });
    });
    (wrong.load(Ordering::Relaxed), reads.load(Ordering::Relaxed))
}

/// The protocol passes in every order that is drawn; with the fault one of them shows it.
fn found(fault: Fault, bodies: &'static [Body]) {
    let orders = usize::try_from(keyplan_testkit::rounds(500)).unwrap();
    let (wrong, reads) = run(None, bodies, RandomScheduler::new_from_seed(SEED, orders));
    assert!(!wrong && reads > 500, "the protocol itself: {wrong}, {reads} reads");
    let (wrong, reads) = run(Some(fault), bodies, RandomScheduler::new_from_seed(SEED, ORDERS_OF_A_FAULT));
    assert!(wrong, "{fault:?} is not found by {reads} reads");
}

#[test]
fn no_order_of_locks_shows_a_stale_row() {
    let orders = usize::try_from(keyplan_testkit::rounds(1_500)).unwrap();
    let bodies: &'static [Body] = &[reads, reads, writes, fails, evicts];
    let (wrong, reads) = run(None, bodies, RandomScheduler::new_from_seed(SEED, orders));
    assert!(!wrong && reads > 10_000, "{wrong}, {reads} reads");
    let (wrong, reads) = run(None, bodies, PctScheduler::new_from_seed(SEED, 3, orders));
    assert!(!wrong && reads > 10_000, "{wrong}, {reads} reads");
}

#[test]
fn a_reader_that_was_overtaken_is_found() {
    found(Fault::FillWithoutTest, &[reads, deletes, reads]);
}

#[test]
fn a_commit_that_is_given_out_too_soon_is_found() {
    found(Fault::PublishFirst, &[writes, reads]);
}

#[test]
fn a_row_from_after_the_snapshot_is_found() {
    found(Fault::HitWithoutAge, &[reads, writes]);
}

#[test]
fn a_commit_that_leaves_no_mark_is_found() {
    found(Fault::MarkOnlyCached, &[reads, deletes, reads]);
}

#[test]
fn a_mark_that_goes_with_its_row_is_found() {
    found(Fault::MarkInRow, &[reads, writes, evicts, reads]);
}

#[test]
fn a_row_that_is_taken_to_be_of_the_time_before_is_found() {
    found(Fault::FillFromZero, &[reads, writes, evicts, reads]);
}

#[test]
fn a_number_that_is_not_the_snapshot_s_is_found() {
    found(Fault::NumberApart, &[reads_apart, deletes, reads]);
}

#[test]
fn a_failed_commit_that_leaves_what_was_known_is_found() {
    found(Fault::FailedCommitKept, &[fails, reads, reads]);
}
