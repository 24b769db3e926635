//! What is particular to this engine.

use std::time::Duration;

use keyplan_postgres::{Postgres, PostgresSettings};
use keyplan_store::Direction;
use keyplan_store::cache::Cached;
use keyplan_store::engine::{
    Batch, Durability, Engine as _, Error, KeyRange, RowRange as _, Snapshot as _, Space, TooLarge, Writers,
};

use crate::place::settings;
use crate::server::shared;

#[test]
fn a_key_has_2600_bytes_at_most_and_the_server_would_take_2692() {
    let directory = tempfile::tempdir().unwrap();
    let mut engine = Postgres::open(settings(directory.path())).unwrap();
    let space = engine.create_space(&Space::map("s")).unwrap();
    let commit = |key: Vec<u8>| {
        let mut batch = Batch::new();
        batch.put(space, key, [1].as_slice());
        engine.commit(batch, Durability::Buffer)
    };
    let refused = commit(vec![7; 2_601]).unwrap_err();
    assert!(
        matches!(refused, Error::TooLarge { what: TooLarge::Key, limit: 2_600, found: 2_601 }),
        "{refused}"
    );
    // Bytes that cannot be made shorter, and none at all.
    let mut random = crate::support::Random::new(1);
    let longest = random.bytes(2_600);
    for key in [longest, vec![0xff; 2_600], Vec::new()] {
        commit(key.clone()).unwrap();
        assert!(engine.snapshot().unwrap().contains(space, &key).unwrap());
    }
}

#[test]
fn a_schema_that_is_not_there_is_not_made_by_whoever_reads() {
    let settings = PostgresSettings::new(&shared().url()).unwrap().schema("nobody's");
    assert!(!Postgres::exists(&settings).unwrap());
    for refused in [Postgres::open_read_only(settings.clone()), Postgres::open_existing(settings.clone())] {
        let refused = refused.unwrap_err();
        assert_eq!(
            refused.to_string(),
            "`postgres://127.0.0.1/postgres?schema=nobody's` holds no database of this engine"
        );
    }
    assert!(!Postgres::exists(&settings).unwrap());
    drop(Postgres::open(settings.clone()).unwrap());
    assert!(Postgres::exists(&settings).unwrap());
    Postgres::remove(&settings).unwrap();
    assert!(!Postgres::exists(&settings).unwrap());
}

#[test]
fn a_writer_that_writes_alone_fences_those_before_it_and_is_fenced_by_those_after_it() {
    let directory = tempfile::tempdir().unwrap();
    let settings = || settings(directory.path());
    let put = |engine: &Postgres| {
        let mut batch = Batch::new();
        batch.put(engine.space("s").unwrap(), b"k".as_slice(), b"v".as_slice());
        engine.commit(batch, Durability::Buffer)
    };
    let mut first = Postgres::open(settings()).unwrap();
    first.create_space(&Space::map("s")).unwrap();
    let second = Postgres::open(settings()).unwrap();
    assert_eq!(first.capabilities().writers, Writers::Several);
    put(&first).unwrap();
    put(&second).unwrap();
    let alone = Postgres::open(settings().alone()).unwrap();
    assert_eq!(alone.capabilities().writers, Writers::Newest);
    put(&alone).unwrap();
    for fenced in [&first, &second] {
        assert!(matches!(put(fenced), Err(Error::Fenced)));
        // It can still read.
        assert!(fenced.snapshot().unwrap().contains(fenced.space("s").unwrap(), b"k").unwrap());
    }
    let last = Postgres::open(settings()).unwrap();
    put(&last).unwrap();
    assert!(matches!(put(&alone), Err(Error::Fenced)));
}

#[test]
fn rows_that_others_may_change_are_not_kept_in_memory() {
    let directory = tempfile::tempdir().unwrap();
    let settings = || settings(directory.path());
    let mut writer = Postgres::open(settings()).unwrap();
    writer.create_space(&Space::map("s")).unwrap();
    let put = |value: &[u8]| {
        let mut batch = Batch::new();
        batch.put(writer.space("s").unwrap(), b"k".as_slice(), value);
        writer.commit(batch, Durability::Buffer).unwrap();
    };
    put(b"1");
    for (number, opened) in
        [Postgres::open(settings()), Postgres::open_read_only(settings())].into_iter().enumerate()
    {
        let other = Cached::new(opened.unwrap(), 1 << 20);
        let space = other.space("s").unwrap();
        let get = || other.snapshot().unwrap().get(space, b"k").unwrap().unwrap().to_vec();
        assert_eq!(get(), get());
        let value = format!("after {number}");
        put(value.as_bytes());
        assert_eq!(get(), value.as_bytes());
        assert_eq!(other.row_statistics(), None);
    }
    // An only writer goes on reading after another has taken over.
    let alone = Cached::new(Postgres::open(settings().alone()).unwrap(), 1 << 20);
    assert_eq!(alone.row_statistics(), None);
}

#[test]
fn a_snapshot_ends_with_its_age() {
    let directory = tempfile::tempdir().unwrap();
    let settings = settings(directory.path()).snapshot_age(Duration::from_millis(300));
    let mut engine = Postgres::open(settings).unwrap();
    let space = engine.create_space(&Space::map("s")).unwrap();
    let snapshot = engine.snapshot().unwrap();
    std::thread::sleep(Duration::from_millis(350));
    let expired = snapshot.get(space, b"k").unwrap_err();
    assert!(matches!(expired, Error::SnapshotExpired { limit, .. } if limit == Duration::from_millis(300)));
    // A new one is read, unless the machine is so busy that it is old by then.
    let found = loop {
        match engine.snapshot().unwrap().get(space, b"k") {
            Err(Error::SnapshotExpired { age, limit }) => assert!(age > limit),
            found => break found.unwrap(),
        }
    };
    assert!(found.is_none());
}

#[test]
fn a_task_of_another_runtime_can_use_it() {
    let directory = tempfile::tempdir().unwrap();
    let mut engine = Postgres::open(settings(directory.path())).unwrap();
    let space = engine.create_space(&Space::map("s")).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let engine = runtime.block_on(async move {
        let mut batch = Batch::new();
        batch.put(space, b"k".as_slice(), b"v".as_slice());
        engine.commit(batch, Durability::Buffer).unwrap();
        assert!(engine.snapshot().unwrap().contains(space, b"k").unwrap());
        engine
    });
    runtime.block_on(async move { drop(engine) });
}

#[test]
fn long_scans_go_page_by_page_from_both_ends() {
    let directory = tempfile::tempdir().unwrap();
    let mut engine = Postgres::open(settings(directory.path())).unwrap();
    let space = engine.create_space(&Space::map("s")).unwrap();
    let rows = (0..40_000_u32).map(|n| Ok((n.to_be_bytes().as_slice().into(), vec![7; 20].into())));
    assert_eq!(engine.ingest(space, rows).unwrap(), 40_000);
    // A second load over the first one replaces rows, and adds others.
    let rows = (39_990..40_010_u32).map(|n| Ok((n.to_be_bytes().as_slice().into(), vec![8; 3].into())));
    assert_eq!(engine.ingest(space, rows).unwrap(), 20);
    let snapshot = engine.snapshot().unwrap();
    let keys = |rows: &mut dyn Iterator<Item = Result<_, Error>>| -> Vec<u32> {
        rows.map(|row: Result<(keyplan_store::engine::SharedBytes, _), Error>| {
            let (key, _): (_, keyplan_store::engine::SharedBytes) = row.unwrap();
            u32::from_be_bytes(key.as_ref().try_into().unwrap())
        })
        .collect()
    };
    assert!(keys(&mut snapshot.range(space, KeyRange::ALL).unwrap()).into_iter().eq(0..40_010));
    assert!(keys(&mut snapshot.range(space, KeyRange::ALL).unwrap().rev()).into_iter().eq((0..40_010).rev()));
    // From both ends in turn, until they meet in the middle.
    let mut both = snapshot.range(space, KeyRange::ALL).unwrap();
    let (mut up, mut down) = (Vec::new(), Vec::new());
    for turn in 0.. {
        let direction = if turn % 2 == 0 { Direction::Ascending } else { Direction::Descending };
        let taken = if turn % 2 == 0 { &mut up } else { &mut down };
        let mut left = 3_000;
        let visited = both.visit(direction, |key, _| {
            taken.push(u32::from_be_bytes(key.try_into().unwrap()));
            left -= 1;
            if left == 0 { std::ops::ControlFlow::Break(()) } else { std::ops::ControlFlow::Continue(()) }
        });
        if visited.unwrap().is_continue() {
            break;
        }
    }
    up.extend(down.into_iter().rev());
    assert!(up.into_iter().eq(0..40_010));
    assert_eq!(snapshot.get(space, &39_990_u32.to_be_bytes()).unwrap().unwrap().to_vec(), [8; 3]);
}
