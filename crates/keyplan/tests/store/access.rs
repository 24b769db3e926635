//! Reads, batches, scans and pages by type.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use keyplan::store::engine::{Durability, Memory};
use keyplan::store::raw::{Schema, StoreError, TokenFault};
use keyplan::store::{Batch, Error, Read, Store};
use keyplan::typed::{Key as _, Raw};

use crate::support::{Opened, Random, on_every_engine};

keyplan::plan! {
    plan market;

    space state = "market-state" {
        /// Liquidity at every initialised tick of a pool.
        key tick = 0x01 pool: u64 tick: i64.tick9 -> liquidity: u64
            scan by pool in order
            scan all in order;

        /// What is known of a pool.
        key pool = 0x02 id: u64.dec -> raw
            scan all;

        /// Pairs: two texts in a row, which is a flaw.
        key pair = 0x03 a: text("a-z", 1..=8) b: text("a-z", 1..=8) -> pool: u64
            scan all
            accept ambiguous "as the chain writes it";
    }

    /// As go-ethereum has them: what begins as a header does is told from it by its length.
    space chain {
        key header = "h" number: u64 hash: bytes(4) -> height: u64
            scan by number filtered;
        key total = "h" number: u64 hash: bytes(4) "t" -> "";
        key canonical = "h" number: u64 "n" -> raw;
    }

    space owners {
        /// Positions of an owner.
        key position = owner: bytes(1..=64).len8 id: u32 -> ""
            scan by owner in order;
    }
}

use market::PLAN;
use market::chain::{Canonical, Header, HeaderValue, Total, TotalValue};
use market::owners::{Position, PositionValue};
use market::state::{Pair, PairValue, Pool, Tick, TickValue};

fn filled<E: Opened>(path: &std::path::Path) -> Store<E> {
    let store = Store::create_on(E::open_at(path), &PLAN).unwrap();
    let mut batch = store.batch().unwrap();
    for pool in 6..9 {
        for tick in -5..5 {
            batch.put(&Tick { pool, tick }, &TickValue { liquidity: pool * 10 }).unwrap();
        }
    }
    batch.put(&Pool { id: 7 }, &Raw(b"seven")).unwrap();
    batch.put(&Position { owner: b"alice", id: 3 }, &PositionValue).unwrap();
    batch.put(&Position { owner: b"alice", id: 1 }, &PositionValue).unwrap();
    batch.put(&Position { owner: b"alicia", id: 2 }, &PositionValue).unwrap();
    batch.commit(Durability::Buffer).unwrap();
    store
}

fn ticks<R: Read>(read: &R, scan: keyplan::typed::Scan<'_, market::state::TickByPool>) -> Vec<i64> {
    read.scan(scan).map(|row| row.unwrap().key().unwrap().tick).collect()
}

fn reads_by_type<E: Opened>() {
    let directory = tempfile::tempdir().unwrap();
    let store = filled::<E>(directory.path());
    let found = store.get(&Tick { pool: 7, tick: -5 }).unwrap().unwrap();
    assert_eq!(found.value().unwrap(), TickValue { liquidity: 70 });
    assert_eq!(store.get(&Tick { pool: 9, tick: 0 }).unwrap().map(|found| found.bytes().to_vec()), None);
    let view = store.snapshot().unwrap();
    let pool = view.get(&Pool { id: 7 }).unwrap().unwrap();
    assert_eq!(pool.value().unwrap(), Raw(b"seven"));
    assert!(view.contains(&Position { owner: b"alicia", id: 2 }).unwrap());
    assert!(!view.contains(&Position { owner: b"alice", id: 2 }).unwrap());

    assert_eq!(ticks(&view, Tick::by_pool(7)), (-5..5).collect::<Vec<_>>());
    assert_eq!(ticks(&view, Tick::by_pool(7).from(-2).to(2)), [-2, -1, 0, 1]);
    assert_eq!(ticks(&view, Tick::by_pool(7).after(-2).through(1).rev()), [1, 0, -1]);
    assert_eq!(ticks(&view, Tick::by_pool(7).from(3).to(-3)), [0_i64; 0]);
    assert_eq!(view.scan(Tick::all()).count(), 30);
    let row = view.scan(Tick::all().rev()).next().unwrap().unwrap();
    assert_eq!(row.read().unwrap(), (Tick { pool: 8, tick: 4 }, TickValue { liquidity: 80 }));
    let ids = view.scan(Position::by_owner(b"alice").unwrap()).map(|row| row.unwrap().key().unwrap().id);
    assert_eq!(ids.collect::<Vec<_>>(), [1, 3]);
    // From both ends of one scan.
    let mut rows = view.scan(Tick::by_pool(6).rev());
    let tick = |row: Option<Result<keyplan::store::Row<Tick, _>, Error>>| {
        row.map(|row: Result<_, Error>| row.unwrap().key().unwrap().tick)
    };
    assert_eq!([tick(rows.next()), tick(rows.next_back()), tick(rows.next())], [Some(4), Some(-5), Some(3)]);
}

fn a_batch_sees_itself<E: Opened>() {
    let directory = tempfile::tempdir().unwrap();
    let store = filled::<E>(directory.path());
    let before = store.snapshot().unwrap();
    let mut random = Random::new(3);
    let mut model: BTreeMap<i64, u64> = (-5..5).map(|tick| (tick, 70)).collect();
    let mut batch = store.batch().unwrap();
    for _ in 0..300 {
        let tick = i64::try_from(random.below(30)).unwrap() - 15;
        let key = Tick { pool: 7, tick };
        if random.below(3) == 0 {
            batch.delete(&key).unwrap();
            model.remove(&tick);
        } else {
            let liquidity = random.next();
            batch.put(&key, &TickValue { liquidity }).unwrap();
            model.insert(tick, liquidity);
        }
        let found = batch.get(&key).unwrap().map(|found| found.value().unwrap().liquidity);
        assert_eq!(found, model.get(&tick).copied());
        let from = i64::try_from(random.below(30)).unwrap() - 15;
        let rows: Vec<(i64, u64)> = batch
            .scan(Tick::by_pool(7).from(from))
            .map(|row| row.unwrap().read().map(|(key, value)| (key.tick, value.liquidity)).unwrap())
            .collect();
        assert_eq!(rows, model.range(from..).map(|(&tick, &value)| (tick, value)).collect::<Vec<_>>());
    }
    assert_eq!(ticks(&before, Tick::by_pool(7)).len(), 10);
    assert_eq!(ticks(&store.snapshot().unwrap(), Tick::by_pool(7)).len(), 10);
    batch.commit(Durability::SyncAll).unwrap();
    drop((before, store));
    let store = Store::open_on(E::open_at(directory.path()), &PLAN).unwrap();
    assert_eq!(
        ticks(&store.snapshot().unwrap(), Tick::by_pool(7)),
        model.keys().copied().collect::<Vec<_>>()
    );
}

fn a_scan_is_deleted<E: Opened>() {
    let directory = tempfile::tempdir().unwrap();
    let store = filled::<E>(directory.path());
    let mut batch = store.batch().unwrap();
    batch.put(&Tick { pool: 6, tick: 9 }, &TickValue { liquidity: 1 }).unwrap();
    assert_eq!(batch.delete_scan(Tick::by_pool(6)).unwrap(), 11);
    assert_eq!(ticks(&batch, Tick::by_pool(6)), [0_i64; 0]);
    assert_eq!(ticks(&store.snapshot().unwrap(), Tick::by_pool(6)).len(), 10);
    batch.commit(Durability::Buffer).unwrap();
    let mut told = Vec::new();
    let gone = store.delete_scan(Tick::by_pool(7).from(-4), 4, Durability::Buffer, |done| {
        told.push(done);
        ControlFlow::Continue(())
    });
    assert_eq!((gone.unwrap(), told), (9, vec![4, 8, 9]));
    let left = store.snapshot().unwrap();
    let left: Vec<Tick> = left.scan(Tick::all()).map(|row| row.unwrap().key().unwrap()).collect();
    let mut want = vec![Tick { pool: 7, tick: -5 }];
    want.extend((-5..5).map(|tick| Tick { pool: 8, tick }));
    assert_eq!(left, want);
    let stopped =
        store.delete_scan(Tick::all(), 2, Durability::Buffer, |_| ControlFlow::Break(())).unwrap_err();
    assert!(matches!(stopped, Error::Store(StoreError::Stopped { done: 2 })), "{stopped}");
}

fn pages_go_on<E: Opened>() {
    let directory = tempfile::tempdir().unwrap();
    let mut store = filled::<E>(directory.path());
    for reverse in [false, true] {
        let scan = || if reverse { Tick::by_pool(7).rev() } else { Tick::by_pool(7) };
        let (mut seen, mut token) = (Vec::new(), None::<Vec<u8>>);
        loop {
            let page = store.snapshot().unwrap().page(scan(), 4, token.as_deref()).unwrap();
            seen.extend(page.rows.iter().map(|row| row.key().unwrap().tick));
            drop(store);
            store = Store::open_on(E::open_at(directory.path()), &PLAN).unwrap();
            let Some(next) = page.next else { break };
            token = Some(next.into_bytes());
        }
        let mut want: Vec<i64> = (-5..5).collect();
        if reverse {
            want.reverse();
        }
        assert_eq!(seen, want);
        let other = store.snapshot().unwrap().page(Tick::by_pool(8), 4, token.as_deref());
        let fault = if reverse { TokenFault::Direction } else { TokenFault::Range };
        assert!(matches!(other, Err(Error::Store(StoreError::Token(found))) if found == fault));
    }
}

fn rows_are_lent<E: Opened>() {
    let directory = tempfile::tempdir().unwrap();
    let store = filled::<E>(directory.path());
    let mut batch = store.batch().unwrap();
    batch.delete(&Tick { pool: 7, tick: 2 }).unwrap();
    batch.put(&Tick { pool: 7, tick: 9 }, &TickValue { liquidity: 1 }).unwrap();
    let lent = |scan| {
        let mut lent = Vec::new();
        let each = |Tick { tick, .. }: Tick, TickValue { liquidity }: TickValue| lent.push((tick, liquidity));
        batch.scan(scan).each(each).unwrap();
        lent
    };
    assert_eq!(lent(Tick::by_pool(7).from(1)), [(1, 70), (3, 70), (4, 70), (9, 1)]);
    assert_eq!(lent(Tick::by_pool(7).from(1).rev()), [(9, 1), (4, 70), (3, 70), (1, 70)]);

    let view = store.snapshot().unwrap();
    let mut seen = 0;
    let found = view.scan(Tick::all().rev()).visit(|key, _| {
        seen += 1;
        if key.tick < 0 { ControlFlow::Break(key) } else { ControlFlow::Continue(()) }
    });
    assert_eq!((found.unwrap(), seen), (ControlFlow::Break(Tick { pool: 8, tick: -1 }), 6));
    assert_eq!(
        view.scan(Tick::by_pool(7)).visit(|_, _| ControlFlow::<()>::Continue(())).unwrap(),
        ControlFlow::Continue(())
    );
}

fn values_are_lent<E: Opened>() {
    let directory = tempfile::tempdir().unwrap();
    let store = filled::<E>(directory.path());
    let (there, other) = (Tick { pool: 7, tick: 2 }, Tick { pool: 8, tick: 2 });
    let view = store.snapshot().unwrap();
    // What is lent can be compared with what else is there.
    let both = view.get_with(&there, |one: TickValue| {
        view.get_with(&other, |other: TickValue| (one.liquidity, other.liquidity)).unwrap()
    });
    assert_eq!(both.unwrap(), Some(Some((70, 80))));
    assert_eq!(view.get_with(&Pool { id: 7 }, |value| value.0.to_vec()).unwrap(), Some(b"seven".to_vec()));
    assert_eq!(view.get_with(&Tick { pool: 7, tick: 99 }, |_| ()).unwrap(), None);

    let mut batch = store.checked_batch().unwrap();
    batch.put(&there, &TickValue { liquidity: 1 }).unwrap();
    batch.delete(&other).unwrap();
    let both = batch.get_with(&there, |one: TickValue| {
        (one.liquidity, batch.get_with(&other, |other: TickValue| other.liquidity).unwrap())
    });
    assert_eq!(both.unwrap(), Some((1, None)));
    assert!(batch.contains(&there).unwrap() && !batch.contains(&other).unwrap());
    // What a batch was lent, or was told is there, is what it was made from.
    for read in [
        (|batch, key| batch.get_with(key, |_| ()).unwrap().is_some()) as fn(&Batch<'_, E>, &Tick) -> bool,
        |batch, key| batch.contains(key).unwrap(),
    ] {
        for key in [Tick { pool: 7, tick: 3 }, Tick { pool: 7, tick: 77 }] {
            let mut checked = store.checked_batch().unwrap();
            let found = read(&checked, &key);
            checked.put(&Tick { pool: 1, tick: 1 }, &TickValue { liquidity: 1 }).unwrap();
            let mut meanwhile = store.batch().unwrap();
            if found {
                meanwhile.delete(&key).unwrap();
            } else {
                meanwhile.put(&key, &TickValue { liquidity: 5 }).unwrap();
            }
            meanwhile.commit(Durability::Buffer).unwrap();
            assert!(matches!(checked.commit(Durability::Buffer), Err(Error::Conflict)), "{key:?}");
        }
    }
}

const HASHES: [[u8; 4]; 4] = [*b"\0\0\0\0", *b"aaaa", *b"n\0\0\0", *b"zzzz"];

/// Four headers of each of three blocks, and after each of them, and before all, what begins as they do.
fn chained<E: Opened>(path: &std::path::Path) -> Store<E> {
    let store = Store::create_on(E::open_at(path), &PLAN).unwrap();
    let mut batch = store.batch().unwrap();
    for number in [6, 7, 8] {
        batch.put(&Canonical { number }, &Raw(b"hash")).unwrap();
        for hash in HASHES {
            batch.put(&Header { number, hash }, &HeaderValue { height: number }).unwrap();
            batch.put(&Total { number, hash }, &TotalValue).unwrap();
        }
    }
    batch.commit(Durability::Buffer).unwrap();
    store
}

fn other_rows_are_dropped<E: Opened>() {
    let directory = tempfile::tempdir().unwrap();
    let store = chained::<E>(directory.path());
    let view = store.snapshot().unwrap();
    let hashes: Vec<[u8; 4]> =
        view.scan(Header::by_number(7)).map(|row| row.unwrap().key().unwrap().hash).collect();
    assert_eq!(hashes, HASHES);
    let last = view.scan(Header::by_number(7).rev()).next().unwrap().unwrap();
    assert_eq!(last.key().unwrap().hash, *b"zzzz");
    let mut lent = Vec::new();
    view.scan(Header::by_number(7)).each(|key, value| lent.push((key.hash, value.height))).unwrap();
    assert_eq!(lent, HASHES.map(|hash| (hash, 7)));
    // A page is full, whatever was dropped.
    let (mut pages, mut token) = (Vec::new(), None::<Vec<u8>>);
    loop {
        let page = view.page(Header::by_number(7), 3, token.as_deref()).unwrap();
        pages.push(page.rows.len());
        let Some(next) = page.next else { break };
        token = Some(next.into_bytes());
    }
    assert_eq!(pages.iter().sum::<usize>(), 4);
    assert_eq!(pages.first(), Some(&3));

    let mut batch = store.batch().unwrap();
    assert_eq!(batch.delete_scan(Header::by_number(6)).unwrap(), 4);
    batch.commit(Durability::Buffer).unwrap();
    let mut told = Vec::new();
    let gone = store.delete_scan(Header::by_number(7), 3, Durability::Buffer, |done| {
        told.push(done);
        ControlFlow::Continue(())
    });
    assert_eq!((gone.unwrap(), told), (4, vec![3, 4]));
    let stopped = store.delete_scan(Header::by_number(8), 3, Durability::Buffer, |_| ControlFlow::Break(()));
    let stopped = stopped.unwrap_err();
    assert!(matches!(stopped, Error::Store(StoreError::Stopped { done: 3 })), "{stopped}");
    let view = store.snapshot().unwrap();
    for (number, headers) in [(6, 0), (7, 0), (8, 1)] {
        assert_eq!(view.scan(Header::by_number(number)).count(), headers);
        assert!(view.contains(&Canonical { number }).unwrap());
        assert!(HASHES.into_iter().all(|hash| view.contains(&Total { number, hash }).unwrap()));
    }
}

on_every_engine! {
    a_filtered_scan_gives_and_deletes_the_rows_of_its_family = other_rows_are_dropped;
    rows_are_read_by_their_types = reads_by_type;
    rows_are_lent_in_the_direction_of_the_scan = rows_are_lent;
    values_are_lent_and_what_was_lent_is_what_a_batch_was_made_from = values_are_lent;
    a_batch_sees_its_own_changes = a_batch_sees_itself;
    a_scan_is_deleted_in_one_step_or_in_chunks = a_scan_is_deleted;
    pages_of_a_scan_go_on_after_a_restart = pages_go_on;
}

#[test]
fn arguments_that_make_an_accepted_flaw_bite_are_refused() {
    let store = Store::create_on(Memory::new(), &PLAN).unwrap();
    let mut batch = store.batch().unwrap();
    let value = PairValue { pool: 1 };
    let refused = batch.put(&Pair { a: "aaa", b: "aaaa" }, &value).unwrap_err();
    assert!(matches!(refused, Error::Refused(_)), "{refused:?}");
    assert!(refused.to_string().starts_with("`state.pair`"), "{refused}");
    let long = [0; 65];
    let refused = batch.put(&Position { owner: &long, id: 1 }, &PositionValue).unwrap_err();
    assert_eq!(refused.to_string(), "`owners.position`, in `owner`: a length of 65 is not allowed");
    assert!(batch.is_empty());
    assert!(matches!(batch.get(&Pair { a: "aaa", b: "aaaa" }), Err(Error::Refused(_))));
    batch.put(&Pair { a: "a", b: "b" }, &value).unwrap();
    assert_eq!(batch.len(), 1);
    // Where a part ends is searched for.
    let mut lent = Vec::new();
    batch.scan(Pair::all()).each(|pair, value| lent.push((pair.to_string(), value.pool))).unwrap();
    assert_eq!(lent, [(r#"pair(a="a", b="b")"#.to_owned(), 1)]);
}

#[test]
fn a_row_that_the_plan_does_not_make_is_named() {
    let store = Store::create_on(Memory::new(), &PLAN).unwrap();
    let space = store.raw().space(Tick::SPACE).unwrap();
    let mut batch = store.raw().batch().unwrap();
    batch.put(space, [1, 0, 0, 0, 0, 0, 0, 0, 7, 9].as_slice(), b"".as_slice());
    batch.put(space, b"\x01\0\0\0\0\0\0\0\x08\x06\0\0\0\0\0\0\0\0".as_slice(), b"short".as_slice());
    batch.commit(Durability::Buffer).unwrap();
    let view = store.snapshot().unwrap();
    let row = view.scan(Tick::by_pool(7)).next().unwrap().unwrap();
    let error = row.key().unwrap_err();
    assert!(
        matches!(&error, Error::ForeignKey { family: "state.tick", key, .. } if key == "01000000000000000709")
    );
    let mut lent = 0;
    let error = view.scan(Tick::all()).each(|_, _| lent += 1).unwrap_err();
    assert!(matches!(error, Error::ForeignKey { family: "state.tick", .. }), "{error}");
    let error = view.scan(Tick::by_pool(8)).each(|_, _| lent += 1).unwrap_err();
    assert!(matches!(error, Error::MalformedValue { family: "state.tick", .. }), "{error}");
    assert_eq!(lent, 0);
    let found = view.get(&Tick { pool: 8, tick: 0 }).unwrap().unwrap();
    let error = found.value().unwrap_err();
    assert!(matches!(error, Error::MalformedValue { family: "state.tick", .. }), "{error}");
}

#[test]
fn a_store_of_another_layout_is_refused() {
    let other = keyplan::plan::compile("other", "plan other; space s { key k = id: u64; }", |_| {
        Err("no imports".into())
    });
    let raw = keyplan::store::raw::Store::create(Memory::new(), &Schema::of(&other).unwrap()).unwrap();
    let (memory, theirs) = (raw.engine().clone(), raw.fingerprint());
    let refused = Store::typed(raw, &PLAN).unwrap_err();
    let ours = keyplan::store::raw::PlanFingerprint(PLAN.fingerprint);
    let mismatch = |error: Error| match error {
        Error::Store(StoreError::PlanMismatch { ours, theirs }) => Some((ours, theirs)),
        _ => None,
    };
    assert_eq!(mismatch(refused), Some((ours, theirs)));
    assert_eq!(mismatch(Store::open_on(memory, &PLAN).unwrap_err()), Some((ours, theirs)));
}

#[test]
fn a_page_token_of_another_plan_is_refused() {
    // The same space and the same keys, with another layout beside them.
    let text = r#"plan other; space state = "market-state" { key tick = 0x01 pool: u64 tick: i64.tick9; }"#;
    let other = keyplan::plan::compile("other", text, |_| Err("no imports".into()));
    let theirs = keyplan::store::raw::Store::create(Memory::new(), &Schema::of(&other).unwrap()).unwrap();
    let space = theirs.space("market-state").unwrap();
    let mut batch = theirs.batch().unwrap();
    for tick in 0..3 {
        batch.put(space, Tick { pool: 7, tick }.to_vec().unwrap(), b"".as_slice());
    }
    batch.commit(Durability::Buffer).unwrap();
    let view = theirs.snapshot().unwrap();
    let all = keyplan::store::engine::KeyRange::ALL;
    let page = view.page(space, all, keyplan::store::raw::Direction::Ascending, None, 1).unwrap();
    let token = page.next.unwrap().into_bytes();

    let ours = filled::<Memory>(std::path::Path::new("token"));
    let refused = ours.snapshot().unwrap().page(Tick::by_pool(7), 1, Some(&token)).unwrap_err();
    assert!(matches!(refused, Error::Store(StoreError::Token(TokenFault::Plan))), "{refused}");
    assert_eq!(refused.to_string(), "the page token was made under another plan");
}
