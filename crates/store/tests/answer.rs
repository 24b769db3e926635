//! A store that is open is read through its socket, and nothing that a peer does harms it.
#![cfg(test)]
#![cfg(unix)]

use std::io::{Read as _, Write as _};
use std::net::Shutdown;
use std::ops::Bound;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use keyplan_store::engine::{
    Durability, Engine, Error, Fjall, FjallSettings, KeyRange, Memory, Redb, RedbSettings, Snapshot as _,
};
use keyplan_store::live::{CONNECTIONS, Live, SOCKET};
use keyplan_store::{Access, Schema, Store, StoreError};

const PLAN: &str = "plan demo; space cl { key tick = 0x01 pool: u32 -> liquidity: u32; }";

fn schema() -> Schema {
    Schema::of(&keyplan_plan::compile("demo.keyplan", PLAN, |_| Err("no imports".into()))).unwrap()
}

fn filled<E: Engine>(engine: E) -> Arc<Store<E>> {
    let store = Arc::new(Store::open_or_create(engine, &schema()).unwrap());
    put(&store, 0..5000);
    store
}

fn put<E: Engine>(store: &Store<E>, pools: std::ops::Range<u32>) {
    let space = store.space("cl").unwrap();
    let mut batch = store.batch().unwrap();
    for pool in pools {
        batch.put(space, [&[1], &pool.to_be_bytes()[..]].concat(), pool.to_be_bytes().as_slice());
    }
    batch.commit(Durability::Buffer).unwrap();
}

fn fjall(directory: &Path) -> Arc<Store<Fjall>> {
    filled(Fjall::open(directory, FjallSettings::default()).unwrap())
}

fn count(store: &Store<Live>) -> usize {
    let space = store.space("cl").unwrap();
    let snapshot = store.engine().snapshot().unwrap();
    snapshot.range(space, KeyRange::ALL).unwrap().map(Result::unwrap).count()
}

fn seen(directory: &Path) -> Store<Live> {
    let live = Live::connect(directory).unwrap().expect("somebody answers");
    Store::open_recorded(live, Access::ReadOnly).unwrap()
}

fn read_like_the_engine<E: Engine>(store: &Arc<Store<E>>, directory: &Path) {
    let answering = store.answer().unwrap();
    assert_eq!(answering.path(), directory.join(SOCKET));
    let mode = std::fs::metadata(answering.path()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let live = seen(directory);
    assert_eq!(live.fingerprint(), store.fingerprint());
    assert_eq!(live.engine().name(), E::NAME);
    assert!(matches!(live.batch(), Err(StoreError::ReadOnly)), "{:?}", live.batch().map(drop));
    let (ours, theirs) = (store.engine().snapshot().unwrap(), live.engine().snapshot().unwrap());
    let (own, other) = (store.space("cl").unwrap(), live.space("cl").unwrap());
    let key = |pool: u32| [&[1], &pool.to_be_bytes()[..]].concat();
    for pool in [0, 17, 4999, 5000] {
        let value = |found: Option<Vec<u8>>| found;
        assert_eq!(
            value(ours.get(own, &key(pool)).unwrap().map(|value| value.to_vec())),
            value(theirs.get(other, &key(pool)).unwrap().map(|value| value.to_vec())),
        );
    }
    let (from, to) = (key(100), key(4900));
    for range in [
        KeyRange::ALL,
        KeyRange::half_open(&from, &to),
        KeyRange { start: Bound::Excluded(&from), end: Bound::Included(&to) },
        KeyRange { start: Bound::Included(&to), end: Bound::Excluded(&from) },
    ] {
        let all: Vec<Vec<u8>> = ours.range(own, range).unwrap().map(|row| row.unwrap().0.to_vec()).collect();
        let live: Vec<Vec<u8>> =
            theirs.range(other, range).unwrap().map(|row| row.unwrap().0.to_vec()).collect();
        assert_eq!(all, live);
        let mut back: Vec<Vec<u8>> =
            theirs.range(other, range).unwrap().rev().map(|row| row.unwrap().0.to_vec()).collect();
        back.reverse();
        assert_eq!(all, back);
        // From both ends at once: every row once.
        let mut walk = theirs.range(other, range).unwrap();
        let mut both = Vec::new();
        while let Some(row) = if both.len() % 3 == 0 { walk.next_back() } else { walk.next() } {
            both.push(row.unwrap().0.to_vec());
        }
        both.sort();
        assert_eq!(all, both);
    }
    drop(theirs);
    // A moment stays what it was; a new one sees what was written since.
    let old = live.engine().snapshot().unwrap();
    put(store, 5000..5001);
    assert_eq!(old.range(other, KeyRange::ALL).unwrap().count(), 5000);
    drop(old);
    assert_eq!(count(&live), 5001);
    drop(answering);
    assert!(!directory.join(SOCKET).exists());
    assert!(Live::connect(directory).unwrap().is_none());
    assert!(matches!(live.engine().snapshot(), Err(Error::Unavailable { .. })));
}

#[test]
fn a_live_store_is_read_like_its_engine() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("f");
    read_like_the_engine(&fjall(&path), &path);
    let path = directory.path().join("r");
    read_like_the_engine(&filled(Redb::open(&path, RedbSettings::default()).unwrap()), &path);
}

#[test]
fn a_store_without_a_directory_does_not_answer() {
    let store = filled(Memory::new());
    assert!(matches!(store.answer(), Err(StoreError::Engine(Error::Unsupported { .. }))));
}

#[test]
fn one_answers_and_what_a_dead_process_left_is_no_hindrance() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("f");
    let store = fjall(&path);
    let answering = store.answer().unwrap();
    assert!(matches!(store.answer(), Err(StoreError::Engine(Error::Io { .. }))));
    drop(answering);
    // A socket that nobody listens at, as after a crash.
    drop(std::os::unix::net::UnixListener::bind(path.join(SOCKET)).unwrap());
    assert!(path.join(SOCKET).exists());
    assert!(Live::connect(&path).unwrap().is_none());
    let answering = store.answer().unwrap();
    assert_eq!(count(&seen(&path)), 5000);
    drop(answering);
    // A file of that name is somebody's, and is left alone.
    std::fs::write(path.join(SOCKET), "mine").unwrap();
    assert!(store.answer().is_err());
    assert!(Live::connect(&path).unwrap().is_none());
    assert_eq!(std::fs::read_to_string(path.join(SOCKET)).unwrap(), "mine");
    std::fs::remove_file(path.join(SOCKET)).unwrap();
    // The database opens again as ever.
    let answering = store.answer().unwrap();
    drop(answering);
    drop(store);
    drop(Store::open(Fjall::open(&path, FjallSettings::default()).unwrap(), &schema()).unwrap());
}

// Elsewhere a system has no way to reach it, and says so.
#[cfg(target_os = "linux")]
#[test]
fn a_long_path_is_reached_too() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a".repeat(90)).join("b".repeat(90));
    std::fs::create_dir_all(&path).unwrap();
    let store = fjall(&path.join("f"));
    let _answering = store.answer().unwrap();
    assert_eq!(count(&seen(&path.join("f"))), 5000);
}

fn dial(directory: &Path) -> UnixStream {
    let stream = UnixStream::connect(directory.join(SOCKET)).unwrap();
    stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
    stream
}

fn message(body: &[u8]) -> Vec<u8> {
    [&u32::try_from(body.len()).unwrap().to_be_bytes(), body].concat()
}

/// What comes until the other end closes.
fn rest(stream: &mut UnixStream) -> Vec<u8> {
    let mut all = Vec::new();
    // A connection that is reset has said what it had to say.
    let _ = stream.read_to_end(&mut all);
    all
}

#[test]
fn hostile_peers_get_an_answer_and_harm_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("f");
    let store = fjall(&path);
    let answering = store.answer().unwrap();
    let hello = message(b"keyplan live 1");
    let first: [&[u8]; 6] = [
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        b"\xff\xff\xff\xff",
        b"\x00\x00\x00\x00",
        b"\x7f",
        b"",
        &message(b"keyplan live 9"),
    ];
    for garbage in first {
        let mut stream = dial(&path);
        stream.write_all(garbage).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        let said = rest(&mut stream);
        if garbage.len() >= 4 {
            assert!(
                String::from_utf8_lossy(&said).contains("that is not a question that it knows"),
                "{garbage:?} {said:?}"
            );
        }
    }
    let questions: Vec<Vec<u8>> = vec![
        message(&[]),
        message(&[0]),
        message(&[9, 1, 2, 3]),
        // Cut off, too long, of no space, of no walk, with something after it.
        message(&[1, 0, 0]),
        message(&[1, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 1]),
        message(&[1, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]),
        message(&[2, 0, 0, 0, 99, 0, 0]),
        message(&[2, 0, 0, 0, 0, 7, 7]),
        message(&[3, 0, 0, 0, 77, 0]),
        message(&[4, 0, 0, 0, 77, 1]),
        (u32::MAX).to_be_bytes().to_vec(),
        (2_u32 << 20).to_be_bytes().to_vec(),
    ];
    for question in &questions {
        let mut stream = dial(&path);
        stream.write_all(&[&hello[..], question].concat()).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        let said = rest(&mut stream);
        // The greeting, and then a refusal.
        let length = usize::try_from(u32::from_be_bytes(said[..4].try_into().unwrap())).unwrap();
        assert_eq!(said[4], 1, "{question:?}");
        let answer = &said[4 + length..];
        assert_eq!(answer.get(4), Some(&0), "{question:?} {answer:?}");
    }
    // Every byte of a good question changed, and the question cut at every place.
    let good = [&[2, 0, 0, 0, 0, 1, 0, 0, 0, 1, 1, 2, 0, 0, 0, 1, 2][..]].concat();
    for at in 0..good.len() {
        for byte in [0_u8, 1, 0x7f, 0xff] {
            let mut changed = good.clone();
            changed[at] = byte;
            let mut stream = dial(&path);
            stream.write_all(&[&hello[..], &message(&changed), &message(&good[..at])].concat()).unwrap();
            drop(stream);
        }
    }
    // Peers that go in the middle of an answer.
    for _ in 0..20 {
        let mut stream = dial(&path);
        stream
            .write_all(
                &[&hello[..], &message(&[2, 0, 0, 0, 0, 0, 0]), &message(&[3, 0, 0, 0, 1, 0])].concat(),
            )
            .unwrap();
        drop(stream);
    }
    // Too many at once: those beyond the limit are told so, and none of them stays in the way.
    let mut many: Vec<UnixStream> = (0..CONNECTIONS * 2).map(|_| dial(&path)).collect();
    let told = many
        .iter_mut()
        .skip(CONNECTIONS)
        .map(rest)
        .filter(|said| String::from_utf8_lossy(said).contains("try again later"));
    assert!(told.count() > 0);
    drop(many);
    // The store is as it was, is written to as ever, and answers.
    put(&store, 5000..5010);
    let all = (0..2000).find_map(|_| {
        let found = Live::connect(&path)
            .ok()
            .flatten()
            .and_then(|live| Store::open_recorded(live, Access::ReadOnly).ok());
        if found.is_none() {
            std::thread::sleep(Duration::from_millis(20));
        }
        found
    });
    assert_eq!(count(&all.expect("it answers again")), 5010);
    drop(answering);
}

#[test]
fn walks_of_a_connection_have_a_limit_and_end_with_their_range() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("f");
    let store = fjall(&path);
    let _answering = store.answer().unwrap();
    let live = seen(&path);
    let space = live.space("cl").unwrap();
    let snapshot = live.engine().snapshot().unwrap();
    for _ in 0..200 {
        drop(snapshot.range(space, KeyRange::ALL).unwrap());
    }
    let open: Vec<_> = (0..80).map(|_| snapshot.range(space, KeyRange::ALL)).collect();
    assert!(open.iter().filter(|walk| walk.is_ok()).count() >= 60);
    assert!(open.iter().any(|walk| matches!(walk, Err(Error::Unavailable { .. }))));
    drop(open);
    assert_eq!(snapshot.range(space, KeyRange::ALL).unwrap().count(), 5000);
}
