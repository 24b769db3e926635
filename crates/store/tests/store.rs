//! A store on every engine: the plan in it, what may open it, and its reads and batches.
#![cfg(test)]

mod support;

use std::collections::BTreeMap;
use std::ops::{Bound, ControlFlow};
use std::path::Path;
use std::time::Duration;

use keyplan_plan::model::Plan;
use keyplan_plan::{Compiled, compile};
use keyplan_store::engine::{
    Batch, Durability, Engine, Fjall, KeyRange, Memory, Redb, Snapshot as _, Space, SpaceId,
};
use keyplan_store::{
    Access, ChangedSettings, Direction, Figures, Meta, Reader, Schema, SpaceFigures, Store, StoreError,
    TokenFault,
};
use support::{Opened, Random, rounds, small_fjall};

const PLAN: &str = r#"//! Two spaces.
plan demo;
import "lib/types.keyplan";
space cl = "cl-state" {
    key tick = 0x01 pool: Pool tick: u32 -> liquidity: u64 scan by pool in order;
    key owner = 0x02 name: text(1..=20);
}
space other { key row = id: u32; }
"#;

fn compiled(text: &str) -> Compiled {
    compile("demo.keyplan", text, |path| {
        (path == "lib/types.keyplan")
            .then(|| "plan lib; type Pool = u64;".to_owned())
            .ok_or("no such file".into())
    })
}

fn plan() -> Plan {
    compiled(PLAN).plan.unwrap()
}

fn schema() -> Schema {
    Schema::of(&compiled(PLAN)).unwrap()
}

fn tick(pool: u64, tick: u32) -> Vec<u8> {
    [&[1][..], &pool.to_be_bytes(), &tick.to_be_bytes()].concat()
}

fn filled<E: Opened>(path: &Path) -> Store<E> {
    let store = Store::create(E::open_at(path), &schema()).unwrap();
    let (cl, other) = (store.space("cl-state").unwrap(), store.space("other").unwrap());
    let mut batch = store.batch().unwrap();
    for pool in 0..3_u64 {
        for at in 0..10 {
            batch.put(cl, tick(pool, at), u64::from(at).to_be_bytes().as_slice());
        }
    }
    batch.put(cl, b"\x02alice".as_slice(), b"".as_slice());
    batch.put(cl, b"\x09nobody".as_slice(), b"xyz".as_slice());
    batch.put(other, 7_u32.to_be_bytes().as_slice(), b"seven".as_slice());
    batch.commit(Durability::SyncAll).unwrap();
    store
}

fn opens_with_its_own_plan_alone<E: Opened>() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let refused = Store::open(E::open_at(path), &schema()).unwrap_err();
    assert!(matches!(refused, StoreError::NoPlan));
    drop(filled::<E>(path));
    let refused = Store::create(E::open_at(path), &schema()).unwrap_err();
    assert!(matches!(refused, StoreError::AlreadyCreated { theirs } if theirs == schema().fingerprint));

    // Another layout is refused with both fingerprints and the way to see the difference.
    let text = PLAN.replace("tick: u32", "tick: u32.le");
    let other = Schema::of(&compiled(&text)).unwrap();
    let refused = Store::open(E::open_at(path), &other).unwrap_err().to_string();
    let (ours, theirs) = (other.fingerprint, schema().fingerprint);
    assert_eq!(
        refused,
        format!(
            "opened with plan {ours}, but written under {theirs}; `keyplan check PLAN --against DIR` shows what differs"
        )
    );
    assert!(Store::adopt(E::open_at(path), &other).is_err());

    // The same layout in other words is not.
    let text = PLAN.replace("key owner", "/// Renamed.\n    key holder");
    let store = Store::open(E::open_at(path), &Schema::of(&compiled(&text)).unwrap()).unwrap();
    let cl = store.space("cl-state").unwrap();
    assert_eq!(store.snapshot().unwrap().range(cl, KeyRange::ALL).unwrap().count(), 32);
}

#[test]
fn a_store_opens_with_its_own_plan_alone() {
    opens_with_its_own_plan_alone::<Memory>();
    opens_with_its_own_plan_alone::<Fjall>();
    opens_with_its_own_plan_alone::<Redb>();
}

fn explains_itself_without_a_plan_file<E: Opened>() {
    let directory = tempfile::tempdir().unwrap();
    drop(filled::<E>(directory.path()));
    let store = Store::open_recorded(E::open_at(directory.path()), Access::ReadOnly).unwrap();
    let meta = store.meta().unwrap();
    assert_eq!((meta.engine.as_str(), meta.plan_name()), (E::NAME, "demo.keyplan"));
    let recorded = compile(meta.plan_name(), meta.plan_text(), |path| meta.import(path)).plan.unwrap();
    assert_eq!(recorded, plan());

    let reader = Reader::new(&recorded, store.snapshot().unwrap());
    let rows: Vec<_> = reader.rows(0, KeyRange::from(&tick(2, 8))).unwrap().map(Result::unwrap).collect();
    let read: Vec<Option<&str>> = rows
        .iter()
        .map(|row| row.decoded.as_ref().ok().map(|decoded| decoded.family.name.as_str()))
        .collect();
    assert_eq!(read, [Some("tick"), Some("tick"), Some("owner"), None]);
    let backwards = reader.rows(0, KeyRange::ALL).unwrap().rev().map(|row| row.unwrap().key.to_vec());
    assert_eq!(backwards.take(2).collect::<Vec<_>>(), [b"\x09nobody".to_vec(), b"\x02alice".to_vec()]);

    let figures = reader.figures(0, |_| ControlFlow::Continue(())).unwrap();
    let expected = SpaceFigures {
        families: BTreeMap::from([
            ("cl.owner".to_owned(), Figures { rows: 1, key_bytes: 6, value_bytes: 0 }),
            ("cl.tick".to_owned(), Figures { rows: 30, key_bytes: 30 * 13, value_bytes: 240 }),
        ]),
        unknown: Figures { rows: 1, key_bytes: 7, value_bytes: 3 },
        unknown_keys: vec![b"\x09nobody".to_vec()],
    };
    assert_eq!(figures, expected);
    assert_eq!(figures.total(), Figures { rows: 32, key_bytes: 403, value_bytes: 243 });
    assert!(matches!(store.batch(), Err(StoreError::ReadOnly)));
}

#[test]
fn a_store_explains_itself_without_a_plan_file() {
    explains_itself_without_a_plan_file::<Memory>();
    explains_itself_without_a_plan_file::<Fjall>();
    explains_itself_without_a_plan_file::<Redb>();
}

fn adopts_what_another_program_wrote<E: Opened>() {
    let directory = tempfile::tempdir().unwrap();
    let mut engine = E::open_at(directory.path());
    let cl = engine.create_space(&Space::map("cl-state")).unwrap();
    let mut batch = Batch::<E>::new();
    batch.put(cl, tick(1, 1), [0; 8].as_slice());
    engine.commit(batch, Durability::SyncAll).unwrap();
    drop(engine);

    assert!(matches!(Store::create(E::open_at(directory.path()), &schema()), Err(StoreError::NoPlan)));
    let store = Store::adopt(E::open_at(directory.path()), &schema()).unwrap();
    assert_eq!(store.meta(), None);
    assert!(store.snapshot().unwrap().contains(store.space("cl-state").unwrap(), &tick(1, 1)).unwrap());
    assert!(matches!(store.space("other"), Err(StoreError::NoSpace { name }) if name == "other"));
    assert!(matches!(store.commit(Batch::new(), Durability::Buffer), Err(StoreError::ReadOnly)));
    drop(store);
    // Nothing was written by that.
    let spaces: Vec<String> =
        E::open_at(directory.path()).spaces().iter().map(|space| space.name.clone()).collect();
    assert!(!spaces.contains(&"keyplan-meta".to_owned()) && !spaces.contains(&"other".to_owned()));

    drop(Store::claim(E::open_at(directory.path()), &schema()).unwrap());
    let store = Store::open(E::open_at(directory.path()), &schema()).unwrap();
    assert!(store.snapshot().unwrap().contains(store.space("cl-state").unwrap(), &tick(1, 1)).unwrap());
}

#[test]
fn a_store_adopts_what_another_program_wrote() {
    adopts_what_another_program_wrote::<Memory>();
    adopts_what_another_program_wrote::<Fjall>();
    adopts_what_another_program_wrote::<Redb>();
}

#[test]
fn a_setting_fixed_at_creation_cannot_change_in_silence() {
    let directory = tempfile::tempdir().unwrap();
    drop(filled::<Fjall>(directory.path()));
    let mut settings = small_fjall();
    settings.memtable_bytes *= 2;
    let refused =
        Store::open(Fjall::open(directory.path(), settings.clone()).unwrap(), &schema()).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the setting `memtable_bytes` was fixed at 1048576 when the database was made, and cannot become 2097152"
    );
    let engine = Fjall::open(directory.path(), settings).unwrap();
    Store::open_with(engine, &schema(), ChangedSettings::Keep).unwrap();
    let mut settings = small_fjall();
    settings.cache_bytes *= 2;
    Store::open(Fjall::open(directory.path(), settings).unwrap(), &schema()).unwrap();
}

#[test]
fn a_plan_cannot_take_the_metadata_s_space() {
    let mut schema = schema();
    schema.spaces[0] = Space::map("keyplan-meta");
    let refused = Store::create(Memory::new(), &schema).unwrap_err();
    assert!(matches!(refused, StoreError::ReservedSpace { name } if name == "keyplan-meta"));
}

fn sees_its_own_changes<E: Opened>() {
    let directory = tempfile::tempdir().unwrap();
    let store = filled::<E>(directory.path());
    let other = store.space("other").unwrap();
    let mut random = Random::new(11);
    let mut model: BTreeMap<Vec<u8>, Vec<u8>> = BTreeMap::new();
    let before = store.snapshot().unwrap();
    for round in 0..rounds(30) {
        let mut batch = store.batch().unwrap();
        if round == 0 {
            batch.delete(other, 7_u32.to_be_bytes().as_slice());
        }
        for _ in 0..20 {
            let key = u32::try_from(random.below(30)).unwrap().to_be_bytes().to_vec();
            if random.below(3) == 0 {
                batch.delete(other, key.as_slice());
                model.remove(&key);
            } else {
                let value = random.bytes(4);
                batch.put(other, key.as_slice(), value.as_slice());
                model.insert(key.clone(), value);
            }
            let probe = u32::try_from(random.below(30)).unwrap().to_be_bytes();
            let found = batch.get(other, &probe).unwrap().map(|value| value.to_vec());
            assert_eq!(found, model.get(&probe[..]).cloned());
        }
        let [a, b] = [(); 2].map(|()| random.pick(&[0_u32, 3, 9, 17, 25, 40]).to_be_bytes());
        let range = KeyRange { start: Bound::Included(&a), end: Bound::Excluded(&b) };
        let want: Vec<_> = model
            .iter()
            .filter(|(key, _)| range.contains(key))
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        let rows = batch.range(other, range).unwrap();
        let found: Vec<_> =
            rows.map(|row| row.map(|(key, value)| (key.to_vec(), value.to_vec())).unwrap()).collect();
        assert_eq!(found, want);
        let rows = batch.range(other, range).unwrap().rev();
        let mut found: Vec<_> =
            rows.map(|row| row.map(|(key, value)| (key.to_vec(), value.to_vec())).unwrap()).collect();
        found.reverse();
        assert_eq!(found, want);
        // From both ends, so that they meet in the middle.
        let mut rows = batch.range(other, range).unwrap();
        let mut seen = Vec::new();
        while let Some(row) = if random.below(2) == 0 { rows.next() } else { rows.next_back() } {
            seen.push(row.unwrap().0.to_vec());
        }
        seen.sort();
        assert_eq!(seen, want.into_iter().map(|(key, _)| key).collect::<Vec<_>>());
        batch.commit(Durability::Buffer).unwrap();
    }
    assert_eq!(before.range(other, KeyRange::ALL).unwrap().count(), 1);
}

#[test]
fn a_batch_sees_its_own_changes() {
    sees_its_own_changes::<Memory>();
    sees_its_own_changes::<Fjall>();
    sees_its_own_changes::<Redb>();
}

fn pages<E: Engine>(
    store: &Store<E>,
    space: SpaceId,
    direction: Direction,
    token: Option<&[u8]>,
) -> (Vec<Vec<u8>>, Option<Vec<u8>>) {
    let snapshot = store.snapshot().unwrap();
    let prefix = [&[1][..], &1_u64.to_be_bytes()].concat();
    let range = keyplan_store::engine::OwnedKeyRange::prefix(&prefix);
    let page = snapshot.page(space, range.borrow(), direction, token, 4).unwrap();
    let keys = page.rows.iter().map(|(key, _)| key.to_vec()).collect();
    (keys, page.next.map(keyplan_store::PageToken::into_bytes))
}

fn pages_on_after_a_restart<E: Opened>() {
    for direction in [Direction::Ascending, Direction::Descending] {
        let directory = tempfile::tempdir().unwrap();
        let mut store = filled::<E>(directory.path());
        let (mut all, mut token) = (Vec::new(), None::<Vec<u8>>);
        for expected in [4, 4, 2] {
            let space = store.space("cl-state").unwrap();
            let (keys, next) = pages(&store, space, direction, token.as_deref());
            assert_eq!(keys.len(), expected);
            all.extend(keys);
            token = next;
            drop(store);
            store = Store::open(E::open_at(directory.path()), &schema()).unwrap();
        }
        assert_eq!(token, None);
        if direction == Direction::Descending {
            all.reverse();
        }
        assert_eq!(all, (0..10).map(|at| tick(1, at)).collect::<Vec<_>>());
    }
}

#[test]
fn pages_go_on_after_a_restart() {
    pages_on_after_a_restart::<Memory>();
    pages_on_after_a_restart::<Fjall>();
    pages_on_after_a_restart::<Redb>();
}

#[test]
fn a_page_token_is_refused_where_it_does_not_belong() {
    let directory = tempfile::tempdir().unwrap();
    let store = filled::<Memory>(directory.path());
    let (cl, other) = (store.space("cl-state").unwrap(), store.space("other").unwrap());
    let (_, token) = pages(&store, cl, Direction::Ascending, None);
    let token = token.unwrap();
    let snapshot = store.snapshot().unwrap();
    let fault = |space, range, direction| match snapshot.page(space, range, direction, Some(&token), 1) {
        Err(StoreError::Token(fault)) => Some(fault),
        _ => None,
    };
    assert_eq!(fault(cl, KeyRange::ALL, Direction::Ascending), None);
    assert_eq!(fault(cl, KeyRange::from(&[2]), Direction::Ascending), Some(TokenFault::Range));
    assert_eq!(fault(cl, KeyRange::ALL, Direction::Descending), Some(TokenFault::Direction));
    assert_eq!(fault(other, KeyRange::ALL, Direction::Ascending), Some(TokenFault::Space));
}

fn deletes_a_range_in_chunks<E: Opened>() {
    let directory = tempfile::tempdir().unwrap();
    let store = filled::<E>(directory.path());
    let cl = store.space("cl-state").unwrap();
    let before = store.snapshot().unwrap();
    let (from, to) = (tick(0, 5), tick(2, 5));
    let mut told = Vec::new();
    let range = KeyRange::half_open(&from, &to);
    let stopped = store.delete_range(cl, range, 6, Durability::Buffer, |done| {
        told.push(done);
        if done >= 12 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert!(matches!(stopped, Err(StoreError::Stopped { done: 12 })));
    let gone = store.delete_range(cl, range, 6, Durability::SyncAll, |done| {
        told.push(done);
        ControlFlow::Continue(())
    });
    assert_eq!(gone.unwrap(), 8);
    assert_eq!(told, [6, 12, 6, 8]);
    let left: Vec<Vec<u8>> = store
        .snapshot()
        .unwrap()
        .range(cl, KeyRange::ALL)
        .unwrap()
        .map(|row| row.unwrap().0.to_vec())
        .collect();
    let mut want: Vec<Vec<u8>> = (0..5).map(|at| tick(0, at)).chain((5..10).map(|at| tick(2, at))).collect();
    want.extend([b"\x02alice".to_vec(), b"\x09nobody".to_vec()]);
    assert_eq!(left, want);
    assert_eq!(before.range(cl, KeyRange::ALL).unwrap().count(), 32);
}

#[test]
fn a_range_is_deleted_in_chunks() {
    deletes_a_range_in_chunks::<Memory>();
    deletes_a_range_in_chunks::<Fjall>();
    deletes_a_range_in_chunks::<Redb>();
}

#[test]
fn names_behind_digests_are_kept_and_do_not_collide() {
    let directory = tempfile::tempdir().unwrap();
    let store = filled::<Fjall>(directory.path());
    store.record_name("namespace", &[1, 2], "accounts").unwrap();
    store.record_name("namespace", &[1, 2], "accounts").unwrap();
    store.record_name("dimension", &[1, 2], "pools").unwrap();
    let refused = store.record_name("namespace", &[1, 2], "pools").unwrap_err();
    assert_eq!(
        refused.to_string(),
        "`pools` has the same digest in `namespace` as `accounts`, which is in use"
    );
    store.shutdown(Duration::from_secs(10)).unwrap();
    drop(store);
    let store = Store::open(Fjall::open_at(directory.path()), &schema()).unwrap();
    assert_eq!(store.known_name("namespace", &[1, 2]), Some("accounts".into()));
    assert_eq!(store.known_name("dimension", &[1, 2]), Some("pools".into()));
    assert_eq!(store.known_name("namespace", &[1]), None);
    assert!(store.record_name("namespace", &[1, 2], "pools").is_err());
}

#[test]
fn a_creation_that_was_interrupted_can_be_done_again() {
    let directory = tempfile::tempdir().unwrap();
    let mut engine = Fjall::open_at(directory.path());
    for name in ["cl-state", "keyplan-meta"] {
        engine.create_space(&Space::map(name)).unwrap();
    }
    drop(engine);
    assert_eq!(Meta::read(&Fjall::open_at(directory.path())).unwrap(), None);
    let store = Store::open_or_create(Fjall::open_at(directory.path()), &schema()).unwrap();
    assert!(
        store
            .engine()
            .snapshot()
            .unwrap()
            .contains(store.engine().space("keyplan-meta").unwrap(), b"format")
            .unwrap()
    );
}

#[test]
fn an_error_says_its_cause_once() {
    use std::error::Error as _;
    let refused = || std::io::Error::other("refused by the system");
    let engine = keyplan_store::engine::Error::Io { doing: "reading a journal", source: refused() };
    let errors = [
        StoreError::Io { doing: "writing a sorted run", source: refused() },
        engine.into(),
        StoreError::Token(TokenFault::Plan),
    ];
    let said = errors.each_ref().map(|error| {
        let mut said = vec![error.to_string()];
        let mut cause = error.source();
        while let Some(next) = cause {
            said.push(next.to_string());
            cause = next.source();
        }
        said
    });
    assert_eq!(
        said,
        [
            vec!["writing a sorted run failed".to_owned(), "refused by the system".to_owned()],
            vec!["reading a journal failed".to_owned(), "refused by the system".to_owned()],
            vec!["the page token was made under another plan".to_owned()],
        ]
    );
}

#[test]
fn a_space_of_rows_and_structures_is_refused_before_anything_is_made() {
    let text = "plan p; space idx { key epoch = 0x02 kind: u8 day: u32 -> n: u64 scan all in order; \
                zset top = 0x07 day: u32 member chain: u32 score n: u64; }";
    let schema = Schema::of(&compile("p.keyplan", text, |_| Err("no imports".into()))).unwrap();
    let engine = Memory::new();
    for refused in [
        Store::create(engine.clone(), &schema).map(drop),
        Store::open_or_create(engine.clone(), &schema).map(drop),
        Store::claim(engine.clone(), &schema).map(drop),
        Store::adopt(engine.clone(), &schema).map(drop),
    ] {
        assert!(matches!(&refused, Err(StoreError::MixedSpace { name }) if name == "idx"), "{refused:?}");
    }
    assert_eq!(engine.spaces(), []);
}
