//! Nonces, locks, sums, ends and checked batches: random operations against a model, on every engine.
#![cfg(test)]
#![cfg(all(feature = "lmdb", feature = "redb"))]

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use keyplan::store::collection::{
    Expiring, ExpiringMap, ExpiringRows, LockKey, Locks, Nonces, NumberKey, Summed, SummedMap,
};
use keyplan::store::engine::{
    Durability, Engine, Fjall, FjallSettings, Lmdb, LmdbSettings, Memory, Redb, RedbSettings,
};
use keyplan::store::raw::Steps;
use keyplan::store::{Batch, Error, Read as _, Store};
use keyplan::typed::Scan;
use keyplan_testkit::Random;

keyplan::plan! {
    plan guards;

    space state {
        key nonce = 0x01 channel: u8 -> last: u64;
        key lock = 0x02 pool: u8 -> until: u64 owner: bytes;
        key share = 0x03 pool: u8 owner: u8 -> amount: u64 scan by pool in order;
        key shares = 0x04 pool: u8 -> count: u64;
        key total = 0x05 pool: u8 -> amount: u64;
        key session = 0x06 id: u8 -> until: u64 user: u8 scan all in order;
        key ending = 0x07 until: u64 id: u8 -> "" scan all in order;
        key old = 0x09 id: u8 -> "" retired since "v2" "nobody asks for it" scan all in order;
        key vote = 0x08 height: u64 voter: u8 -> "" scan all in order retain 10 by height;
    }
}
use guards::state::{
    Ending, EndingAll, Lock, LockValue, Nonce, NonceValue, Session, SessionValue, Share, ShareByPool,
    ShareValue, Shares, SharesValue, Total, TotalValue, Vote, VoteValue,
};

impl NumberKey for Nonce {
    fn value_of(last: u64) -> NonceValue {
        NonceValue { last }
    }
    fn number_of(value: NonceValue) -> u64 {
        value.last
    }
}

impl NumberKey for Shares {
    fn value_of(count: u64) -> SharesValue {
        SharesValue { count }
    }
    fn number_of(value: SharesValue) -> u64 {
        value.count
    }
}

impl NumberKey for Total {
    fn value_of(amount: u64) -> TotalValue {
        TotalValue { amount }
    }
    fn number_of(value: TotalValue) -> u64 {
        value.amount
    }
}

impl<'v> LockKey<'v> for Lock {
    fn value_of(owner: &'v [u8], until: u64) -> LockValue<'v> {
        LockValue { until, owner }
    }
    fn held_of(value: LockValue<'v>) -> (&'v [u8], u64) {
        (value.owner, value.until)
    }
}

struct OfPool;

impl Summed for OfPool {
    type Row = Share;
    fn amount(value: ShareValue) -> u64 {
        value.amount
    }
}

struct Sessions;

impl Expiring for Sessions {
    type Row = Session;
    type Ending = Ending;
    type EndingScan = EndingAll;

    fn ended(now: u64) -> Scan<'static, EndingAll> {
        Ending::all().through(now)
    }
}

impl ExpiringRows<'_> for Sessions {
    fn until(value: SessionValue) -> Option<u64> {
        (value.until != u64::MAX).then_some(value.until)
    }
    fn ending(key: &Session, until: u64) -> Ending {
        Ending { until, id: key.id }
    }
    fn row(ending: Ending) -> Session {
        Session { id: ending.id }
    }
}

/// Random operations on one store, each batch committed or dropped, against what they mean.
#[expect(clippy::too_many_lines, reason = "a line for each operation and what the model says of it")]
fn as_the_model_says<E: Engine>(store: &Store<E>, seed: u64) {
    let mut random = Random(seed);
    let sessions = ExpiringMap::<Sessions>::new();
    let mut nonces: BTreeMap<u8, u64> = BTreeMap::new();
    let mut locks: BTreeMap<u8, (u8, u64)> = BTreeMap::new();
    let mut amounts: BTreeMap<(u8, u8), u64> = BTreeMap::new();
    let mut ends: BTreeMap<u8, u64> = BTreeMap::new();
    for now in 0..200_u64 {
        let before = (nonces.clone(), locks.clone(), amounts.clone(), ends.clone());
        let mut batch = store.checked_batch().unwrap();
        for _ in 0..=random.below(4) {
            let (pool, owner) = (random.byte_below(2), random.byte_below(3));
            let shares = SummedMap::<OfPool, ShareByPool, _, _>::new(
                Share::by_pool(pool),
                Shares { pool },
                Total { pool },
            );
            match random.below(8) {
                0 => {
                    let given = random.below(300);
                    let advanced = Nonces.advance(&mut batch, &Nonce { channel: pool }, given);
                    match nonces.get(&pool) {
                        Some(last) if given <= *last => {
                            assert!(matches!(advanced, Err(Error::Replayed { .. })));
                        }
                        _ => {
                            advanced.unwrap();
                            nonces.insert(pool, given);
                        }
                    }
                }
                1 | 2 => {
                    let until = now + random.below(6);
                    let taken = Locks.acquire(&mut batch, &Lock { pool }, &[owner], now, until);
                    if locks.get(&pool).is_some_and(|(_, until)| now <= *until) {
                        assert!(matches!(taken, Err(Error::Locked { .. })));
                    } else {
                        taken.unwrap();
                        locks.insert(pool, (owner, until));
                    }
                }
                3 => {
                    let released = Locks.release(&mut batch, &Lock { pool }, &[owner]);
                    match locks.get(&pool).filter(|(holder, _)| *holder == owner) {
                        Some(_) => {
                            released.unwrap();
                            locks.remove(&pool);
                        }
                        None => assert!(matches!(released, Err(Error::NotHeld { .. }))),
                    }
                }
                4 => {
                    let amount = random.below(50);
                    let new = shares.put(&mut batch, &Share { pool, owner }, &ShareValue { amount }).unwrap();
                    assert_eq!(new, amounts.insert((pool, owner), amount).is_none());
                }
                5 => {
                    let gone = shares.remove(&mut batch, &Share { pool, owner }).unwrap();
                    assert_eq!(gone, amounts.remove(&(pool, owner)).is_some());
                }
                6 => {
                    let until = if owner == 0 { u64::MAX } else { now + random.below(9) };
                    sessions
                        .put(&mut batch, &Session { id: owner }, &SessionValue { until, user: pool })
                        .unwrap();
                    ends.insert(owner, until);
                }
                _ => {
                    let gone = sessions.expire(&mut batch, now, 2).unwrap();
                    let due = ends.values().filter(|until| **until < now).count();
                    assert_eq!(gone, due.min(2));
                    let mut order: Vec<(u64, u8)> = ends
                        .iter()
                        .filter(|(_, until)| **until < now)
                        .map(|(id, until)| (*until, *id))
                        .collect();
                    order.sort_unstable();
                    for (_, id) in order.into_iter().take(2) {
                        ends.remove(&id);
                    }
                }
            }
        }
        if random.below(5) == 0 {
            // A batch that is dropped leaves nothing.
            drop(batch);
            (nonces, locks, amounts, ends) = before;
        } else {
            batch.commit(Durability::Buffer).unwrap();
        }
        let view = store.snapshot().unwrap();
        for pool in 0..2 {
            let last = Nonces.last(&view, &Nonce { channel: pool }).unwrap();
            assert_eq!(last, nonces.get(&pool).copied());
            let holder = Locks.holder(&view, &Lock { pool }, now).unwrap();
            let holder = holder.map(|held| (held.owner[0], held.until));
            assert_eq!(holder, locks.get(&pool).copied().filter(|(_, until)| now <= *until));
            let shares = SummedMap::<OfPool, ShareByPool, _, _>::new(
                Share::by_pool(pool),
                Shares { pool },
                Total { pool },
            );
            let own = amounts.iter().filter(|((of, _), _)| *of == pool).map(|(_, amount)| *amount);
            assert_eq!(shares.count(&view).unwrap(), own.clone().count() as u64);
            assert_eq!(shares.total(&view).unwrap(), own.sum::<u64>());
        }
        for id in 0..3 {
            let found = sessions.get(&view, &Session { id }, now).unwrap();
            let until = found.map(|found| found.value().unwrap().until);
            assert_eq!(until, ends.get(&id).copied().filter(|until| now <= *until));
        }
        let ending =
            view.scan(Ending::all()).map(|row| row.unwrap().key().unwrap().id).collect::<Vec<_>>().len();
        assert_eq!(
            ending,
            ends.values().filter(|until| **until != u64::MAX).count(),
            "no end is left behind"
        );
    }
}

/// Of threads that try at once, one gets the lock, and one number passes once.
fn one_of_many<E: Engine + Sync>(store: &Store<E>) {
    let entered = std::sync::atomic::AtomicUsize::new(0);
    let passed = std::sync::atomic::AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for thread in 0..6_u8 {
            let (entered, passed) = (&entered, &passed);
            scope.spawn(move || {
                match Locks.hold(store, &Lock { pool: 9 }, &[thread], 1, 5) {
                    Ok(held) => {
                        entered.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                        held.keep();
                    }
                    Err(Error::Locked { .. }) => {}
                    Err(other) => panic!("{other}"),
                }
                loop {
                    let mut batch = store.checked_batch().unwrap();
                    match Nonces.advance(&mut batch, &Nonce { channel: 9 }, 7) {
                        Err(Error::Replayed { .. }) => break,
                        other => other.unwrap(),
                    }
                    match batch.commit(Durability::Buffer) {
                        Ok(()) => {
                            passed.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                        }
                        Err(Error::Conflict) => {}
                        Err(other) => panic!("{other}"),
                    }
                }
            });
        }
    });
    assert_eq!((entered.into_inner(), passed.into_inner()), (1, 1));
    // The lock of one that is gone ends by itself; one that is dropped is given back at once.
    let held = Locks.hold(store, &Lock { pool: 9 }, b"next", 6, 9).unwrap();
    assert!(Locks.hold(store, &Lock { pool: 9 }, b"other", 7, 9).is_err());
    drop(held);
    Locks.hold(store, &Lock { pool: 9 }, b"other", 7, 9).unwrap().release().unwrap();
}

/// Every one of many that count together is counted, and one that is always too late is told so.
fn updates_are_done_again<E: Engine + Sync>(store: &Store<E>) {
    fn add<E: Engine>(batch: &mut Batch<'_, E>) -> Result<u64, Error> {
        let count = batch.get(&Shares { pool: 200 })?.map_or(0, |found| found.value().unwrap().count) + 1;
        batch.put(&Shares { pool: 200 }, &SharesValue { count })?;
        Ok(count)
    }
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..10 {
                    store.update(Durability::Buffer, add).unwrap();
                }
            });
        }
    });
    assert_eq!(store.update(Durability::Buffer, add).unwrap(), 41);
    let mut tries = 0;
    let late = store.update(Durability::Buffer, |batch| {
        tries += 1;
        add(batch)?;
        // Another is quicker each time.
        let mut other = store.batch()?;
        other.put(&Shares { pool: 200 }, &SharesValue { count: 1_000 + u64::from(tries) })?;
        other.commit(Durability::Buffer)
    });
    assert!(matches!(late, Err(Error::Conflict)) && tries == Store::<E>::ATTEMPTS, "{late:?} after {tries}");
    let refused = store.update(Durability::Buffer, |_| Err::<(), _>(Error::Conflict));
    assert!(matches!(refused, Err(Error::Conflict)));
}

fn prunes_by_type<E: Engine>(store: &Store<E>) {
    let mut batch = store.batch().unwrap();
    for height in 1..=30 {
        batch.put(&Vote { height, voter: 1 }, &VoteValue).unwrap();
    }
    batch.commit(Durability::Buffer).unwrap();
    let steps = Steps { rows: 6, durability: Durability::Buffer, dry_run: false };
    let gone = store.prune::<Vote>(&guards::PLAN, Some(30), &steps, |_| ControlFlow::Continue(())).unwrap();
    assert_eq!((gone.rows, gone.ranges, gone.steps), (20, 1, 4));
    let left: Vec<u64> =
        store.snapshot().unwrap().scan(Vote::all()).map(|row| row.unwrap().key().unwrap().height).collect();
    assert_eq!(left, (21..=30).collect::<Vec<_>>());
    assert!(store.prune::<Nonce>(&guards::PLAN, None, &steps, |_| ControlFlow::Continue(())).is_err());
}

/// Whoever uses the type of a retired key is told so, or the expectation would not be met.
#[test]
fn the_type_of_a_retired_key_is_deprecated() {
    #[expect(deprecated, reason = "it is retired")]
    let key = guards::state::Old { id: 7 };
    assert_eq!(key.to_vec().unwrap(), [9, 7]);
}

fn on<E: Engine + Sync>(store: &Store<E>, seed: u64) {
    as_the_model_says(store, seed);
    one_of_many(store);
    updates_are_done_again(store);
    prunes_by_type(store);
}

#[test]
fn guards_hold_in_memory() {
    for seed in 0..20 {
        on(&Store::create_on(Memory::new(), &guards::PLAN).unwrap(), seed);
    }
}

#[test]
fn guards_hold_on_fjall() {
    let folder = tempfile::tempdir().unwrap();
    on(
        &Store::create_on(Fjall::open(folder.path(), FjallSettings::default()).unwrap(), &guards::PLAN)
            .unwrap(),
        3,
    );
}

#[test]
fn guards_hold_on_lmdb() {
    let folder = tempfile::tempdir().unwrap();
    on(
        &Store::create_on(Lmdb::open(folder.path(), LmdbSettings::default()).unwrap(), &guards::PLAN)
            .unwrap(),
        5,
    );
}

#[test]
fn guards_hold_on_redb() {
    let folder = tempfile::tempdir().unwrap();
    on(
        &Store::create_on(Redb::open(folder.path(), RedbSettings::default()).unwrap(), &guards::PLAN)
            .unwrap(),
        4,
    );
}
