//! Structures as rows.

use std::path::Path;
use std::sync::Arc;

use keyplan_slate::Slate;
use keyplan_store::structure::Embedded;
use keyplan_store::{Schema, Store};

use crate::suite;
use crate::support::{Opened as _, rounds};

const PLAN: &str = "plan test;
    space things { hash thing = key: bytes field any = field: bytes -> raw; }
    space beside { key row = id: u64 -> raw; }";

fn open(path: &Path) -> Embedded<Slate> {
    let compiled = keyplan_plan::compile("test.keyplan", PLAN, |_| Err("no imports".into()));
    let schema = Schema::of(&compiled).expect("sound");
    let store = Store::open_or_create(Slate::open_at(path), &schema).expect("opens");
    Embedded::open(Arc::new(store), "things").expect("has the space")
}

#[test]
fn structures_agree_with_the_model() {
    let directory = tempfile::tempdir().unwrap();
    suite::run(40, rounds(200), || Box::new(open(directory.path())));
}
