//! Structures as rows on a server with several writers.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use keyplan_postgres::Postgres;
use keyplan_store::structure::{Claim, Embedded, Now, StructureRead as _, Structures as _};
use keyplan_store::{Schema, Store};

use crate::suite;
use crate::support::{Opened as _, rounds};

const PLAN: &str = "plan test;
    space things { hash thing = key: bytes field any = field: bytes -> raw; }
    space beside { key row = id: u64 -> raw; }";

fn open(path: &Path) -> Embedded<Postgres> {
    let compiled = keyplan_plan::compile("test.keyplan", PLAN, |_| Err("no imports".into()));
    let schema = Schema::of(&compiled).expect("sound");
    let store = Store::open_or_create(Postgres::open_at(path), &schema).expect("opens");
    Embedded::open(Arc::new(store), "things").expect("has the space")
}

#[test]
fn structures_agree_with_the_model() {
    let directory = tempfile::tempdir().unwrap();
    suite::run(30, rounds(120), || Box::new(open(directory.path())));
}

/// Two handles that know nothing of each other: what one counts, the other one counts on from.
#[test]
fn two_writers_count_together() {
    let directory = tempfile::tempdir().unwrap();
    let handles = [open(directory.path()), open(directory.path())];
    std::thread::scope(|scope| {
        for (writer, structures) in (0_u32..).zip(&handles) {
            scope.spawn(move || {
                for number in 0..20_u32 {
                    let member = [writer.to_be_bytes(), number.to_be_bytes()].concat();
                    structures.set_add(b"s", &member).unwrap();
                    structures.zset_increment(b"z", b"both", 1.0).unwrap();
                }
            });
        }
    });
    for structures in &handles {
        assert_eq!(structures.set_count(b"s").unwrap(), 40);
        assert_eq!(structures.zset_score(b"z", b"both").unwrap(), Some(40.0.into()));
    }
}

#[test]
fn no_two_writers_claim_one_item() {
    let directory = tempfile::tempdir().unwrap();
    let handles = [open(directory.path()), open(directory.path())];
    for item in 0..20_u32 {
        handles[0].queue_push(b"q:", &item.to_be_bytes(), 1.0.into()).unwrap();
    }
    let claimed = std::thread::scope(|scope| {
        let workers = handles.each_ref().map(|structures| {
            scope.spawn(move || {
                let mut claimed = Vec::new();
                loop {
                    let claim = Claim::new(2, Duration::from_secs(1_000)).at(Now::Millis(1));
                    let items = structures.queue_claim(b"q:", claim).unwrap();
                    if items.is_empty() {
                        break claimed;
                    }
                    claimed.extend(items.into_iter().map(|item| item.member));
                }
            })
        });
        workers.map(|worker| worker.join().unwrap()).concat()
    });
    let mut claimed: Vec<Vec<u8>> = claimed;
    claimed.sort();
    assert_eq!(claimed, (0..20_u32).map(|item| item.to_be_bytes().to_vec()).collect::<Vec<_>>());
}
