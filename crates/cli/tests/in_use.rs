//! Databases that another process has: one that answers is read through its socket, one that does not says what to do, and
//! what a killed process left is read as it is.
#![cfg(test)]
#![cfg(unix)]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;

use keyplan_store::engine::{Durability, Engine, Fjall, FjallSettings, Redb, RedbSettings};
use keyplan_store::live::SOCKET;
use keyplan_store::structure::{Embedded, Structures as _};
use keyplan_store::{Schema, Store};

const PLAN: &str = "plan demo; space cl { key tick = 0x01 pool: u32 at: u32 -> liquidity: u32 scan all scan by pool in order; } \
                    space things { hash profile = \"user:\" id: u32.dec field mail = \"mail\" -> address: text; }";

fn filled<E: Engine>(engine: E) -> Arc<Store<E>> {
    let compiled = keyplan_plan::compile("demo.keyplan", PLAN, |_| Err("no imports".into()));
    let store = Arc::new(Store::create(engine, &Schema::of(&compiled).unwrap()).unwrap());
    let space = store.space("cl").unwrap();
    let mut batch = store.batch().unwrap();
    for pool in 0..30_u32 {
        for at in 0..100_u32 {
            let key = [&[1], &pool.to_be_bytes()[..], &at.to_be_bytes()].concat();
            batch.put(space, key, (pool * 1000 + at).to_be_bytes().as_slice());
        }
    }
    batch.put(space, vec![0x7f], [].as_slice());
    batch.commit(Durability::SyncAll).unwrap();
    let things = Embedded::open(Arc::clone(&store), "things").unwrap();
    things.hash_set(b"user:7", b"mail", b"a@b.example").unwrap();
    store
}

fn keyplan(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_keyplan")).env("NO_COLOR", "1").args(arguments).output().unwrap()
}

fn said(arguments: &[&str]) -> String {
    let output = keyplan(arguments);
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{arguments:?}: {out}{err}");
    out.into_owned()
}

fn refused(arguments: &[&str]) -> String {
    let output = keyplan(arguments);
    assert!(!output.status.success(), "{arguments:?}");
    String::from_utf8(output.stderr).unwrap()
}

/// What is asked of a database whose answers are the same whether somebody has it or not.
fn questions(directory: &str) -> Vec<String> {
    let all: [&[&str]; 8] = [
        &["db", "get", directory, "cl.tick", "pool=7", "at=3"],
        &["db", "get", directory, "profile", "id=7"],
        &["db", "scan", directory, "cl.tick", "pool=7", "--limit", "5"],
        &["db", "scan", directory, "cl.tick", "--rev", "--limit", "3"],
        &["db", "scan", directory, "--unknown"],
        &["db", "dump", directory],
        &["db", "checksum", directory],
        &["db", "plan", directory],
    ];
    all.iter().map(|arguments| said(arguments)).collect()
}

/// An explorer of a database, and one of its pages.
fn explored(directory: &str, page: &str) -> serde_json::Value {
    let mut child = Command::new(env!("CARGO_BIN_EXE_keyplan"))
        .env("NO_COLOR", "1")
        .args(["explore", directory])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let url = lines.find_map(|line| {
        line.unwrap().split_whitespace().find(|word| word.starts_with("http://")).map(str::to_owned)
    });
    let url = url.expect("an address");
    let (host, token) = url.strip_prefix("http://").unwrap().split_once("/?token=").unwrap();
    let port = host.rsplit_once(':').unwrap().1;
    let mut stream = TcpStream::connect(host).unwrap();
    write!(
        stream,
        "GET /api/{page} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nCookie: keyplan_{port}={token}\r\n\r\n"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap_or_else(|_| panic!("{answer}"))
}

fn used<E: Engine>(store: Arc<Store<E>>, directory: &Path) {
    let name = directory.to_str().unwrap();
    // Nobody answers yet: one clear line, on every way in.
    for arguments in [
        &["db", "scan", name, "cl.tick"][..],
        &["db", "stats", name],
        &["db", "checksum", name],
        &["explore", name],
    ] {
        let why = refused(arguments);
        assert!(
            why.contains("is in use by another process, which does not answer for it"),
            "{arguments:?}: {why}"
        );
        assert!(why.contains("call `answer` on its store"), "{why}");
        assert_eq!(why.trim_end().lines().count(), 1, "{why}");
    }
    let answering = store.answer().unwrap();
    let live = questions(name);
    let stats: serde_json::Value =
        serde_json::from_str(&said(&["db", "stats", name, "--format", "json"])).unwrap();
    assert_eq!(stats["families"]["cl.tick"]["rows"], 3000, "{stats}");
    let rows = explored(name, "rows?family=cl.tick&limit=3");
    assert_eq!(rows["rows"][2]["cells"], serde_json::json!(["0", "2", "2"]), "{rows}");
    let structure = explored(name, "structure?family=things.profile&key=757365723a37");
    assert_eq!(structure["parts"][0]["field"], "mail", "{structure}");
    // Written to while somebody looks: the next look sees it.
    let mut batch = store.batch().unwrap();
    let key = [&[1], &99_u32.to_be_bytes()[..], &1_u32.to_be_bytes()].concat();
    batch.put(store.space("cl").unwrap(), key.clone(), 5_u32.to_be_bytes().as_slice());
    batch.commit(Durability::Buffer).unwrap();
    assert!(said(&["db", "scan", name, "cl.tick", "pool=99"]).contains("at=1"));
    // Nothing is ever written from outside.
    let why = refused(&["db", "put", name, "cl.tick", "pool=1", "at=1", "liquidity=1"]);
    assert!(why.contains("is in use by another process, and only that one writes to it"), "{why}");
    let mut batch = store.batch().unwrap();
    batch.delete(store.space("cl").unwrap(), key);
    batch.commit(Durability::SyncAll).unwrap();
    drop(answering);
    drop(store);
    assert!(!directory.join(SOCKET).exists());
    assert_eq!(questions(name), live);
}

#[test]
fn a_database_in_use_answers_as_if_it_were_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fjall");
    used(filled(Fjall::open(&path, FjallSettings::default()).unwrap()), &path);
    let path = folder.path().join("redb");
    used(filled(Redb::open(&path, RedbSettings::default()).unwrap()), &path);
}

/// The process that holds a database, started by the test below and killed by it.
#[test]
fn holder() {
    let Some(directory) = std::env::var_os("KEYPLAN_TEST_HOLDS") else { return };
    let store = filled(Fjall::open(directory, FjallSettings::default()).unwrap());
    let _answering = store.answer().unwrap();
    println!("it answers");
    let mut line = String::new();
    // Until it is killed, or the test that started it is gone.
    let _ = std::io::stdin().read_line(&mut line);
}

fn hold(directory: &Path) -> Child {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "holder", "--nocapture"])
        .env("KEYPLAN_TEST_HOLDS", directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    lines
        .find(|line| line.as_ref().is_ok_and(|line| line.contains("it answers")))
        .expect("it answers")
        .unwrap();
    child
}

#[test]
fn what_a_killed_process_left_is_read_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    let name = path.to_str().unwrap();
    let mut child = hold(&path);
    let live = questions(name);
    let rows = explored(name, "rows?family=cl.tick&limit=1");
    child.kill().unwrap();
    child.wait().unwrap();
    // Its socket is still there, and nobody is at its other end.
    assert!(path.join(SOCKET).exists());
    assert_eq!(questions(name), live);
    assert_eq!(explored(name, "rows?family=cl.tick&limit=1"), rows);
}
