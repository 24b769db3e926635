//! The PAW chain: its operations, a model of them, and processes that race for a nonce and for a lock.

#[path = "../../../chains/tests/paw/model.rs"]
mod model;
#[path = "../../../chains/tests/paw/suite.rs"]
mod suite;

use std::collections::BTreeSet;
use std::process::{Command, Stdio};
use std::time::Duration;

use keyplan::store::Error;
use keyplan_chains::paw::{Module, Packet, Paw, PawError};
use keyplan_postgres::{Postgres, PostgresSettings};
use tempfile::TempDir;

use crate::support::settings;

#[test]
fn every_operation_is_one_step() {
    let directory = TempDir::new().unwrap();
    suite::operations(&Paw::create(Postgres::open(settings(directory.path())).unwrap()).unwrap());
}

#[test]
fn random_operations_agree_with_a_model() {
    let directory = TempDir::new().unwrap();
    let open = || Paw::open(Postgres::open(settings(directory.path())).unwrap()).unwrap();
    model::random_operations_agree(open, 5, 400);
}

/// Where the child finds the chain: the server and the schema.
const CHILD: &str = "KEYPLAN_PAW_CHILD";

/// How often each process enters the pool.
const ENTRIES: u64 = 10;

/// How many nonces both processes try to use.
const NONCES: u64 = 30;

/// Not a test by itself: one of the processes that race. It says which nonces it has used.
#[test]
fn child() {
    let Ok(told) = std::env::var(CHILD) else { return };
    let (url, schema) = told.split_once(' ').unwrap();
    let engine = Postgres::open(PostgresSettings::new(url).unwrap().schema(schema)).unwrap();
    let chain = Paw::open(engine).unwrap();
    for nonce in 1..=NONCES {
        let packet = Packet { channel: "channel-0", sender: "same", nonce };
        match chain.receive_packet(Module::Dex, &packet) {
            Ok(()) => println!("used {nonce}"),
            Err(PawError::Store(Error::Replayed { .. })) => {}
            Err(other) => panic!("{other}"),
        }
    }
    let own = std::process::id().to_string();
    let mut entered = 0;
    while entered < ENTRIES {
        match chain.enter(1, own.as_bytes(), 1, 1_000_000) {
            Ok(inside) => {
                // Read and written in two steps: without the lock one of two would be lost.
                let count = chain.breaker(1).unwrap().unwrap_or(0);
                chain.trip_breaker(1, count + 1).unwrap();
                inside.leave().unwrap();
                entered += 1;
            }
            Err(PawError::Store(Error::Locked { .. })) => std::thread::sleep(Duration::from_millis(1)),
            Err(other) => panic!("{other}"),
        }
    }
}

#[test]
fn a_nonce_passes_for_one_process_and_a_pool_is_entered_by_one() {
    let schema = format!("race{}", std::process::id());
    let url = crate::server::shared().url();
    let open = || Postgres::open(PostgresSettings::new(&url).unwrap().schema(&schema)).unwrap();
    let chain = Paw::create(open()).unwrap();
    assert_eq!(chain.create_pool("upaw", "usdc").unwrap(), 1);
    let children: Vec<_> = (0..2)
        .map(|_| {
            let mut child = Command::new(std::env::current_exe().unwrap());
            child.args(["--exact", "paw::child", "--nocapture"]).env(CHILD, format!("{url} {schema}"));
            child.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    let mut used = BTreeSet::new();
    for child in children {
        let ended = child.wait_with_output().unwrap();
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
        for line in String::from_utf8(ended.stdout).unwrap().lines() {
            if let Some((_, nonce)) = line.split_once("used ") {
                assert!(used.insert(nonce.parse::<u64>().unwrap()), "{nonce} has passed twice");
            }
        }
    }
    assert_eq!(used.last(), Some(&NONCES));
    assert_eq!(chain.breaker(1).unwrap(), Some(2 * ENTRIES), "both were inside at once");
    // Nobody is inside any more.
    chain.enter(1, b"after", 2, 3).unwrap();
}
