//! Namespaces with tables of their own, and keys with several values: redb only.

use keyplan_chains::cardano::{EntityKey, StateError, StateSchema, StateStore};
use keyplan_store::StoreError;
use keyplan_store::engine::{self, Memory, Redb};

use crate::support::{Kind, OnRedb, Place, config, key, schema, slot};

const MANY: &str = "pool_delegators";

fn values(store: &StateStore<Redb>, key: &EntityKey) -> Vec<Vec<u8>> {
    store.iter_entity_values(MANY, key).unwrap().map(|value| value.unwrap().to_vec()).collect()
}

#[test]
fn a_key_has_several_values_in_order() {
    let place = Place::new();
    let store = OnRedb::open(&place, config());
    let mut writer = store.start_writer().unwrap();
    for value in [&b"c"[..], b"a", b"b", b"a"] {
        writer.write_entity(MANY, &key(1), value).unwrap();
    }
    writer.write_entity(MANY, &key(2), b"other").unwrap();
    writer.set_cursor(slot(1));
    writer.commit().unwrap();
    assert_eq!(values(&store, &key(1)), [b"a", b"b", b"c"]);
    let mut writer = store.start_writer().unwrap();
    writer.delete_entity_value(MANY, &key(1), b"b").unwrap();
    writer.delete_entity_value(MANY, &key(1), b"absent").unwrap();
    writer.write_entity(MANY, &key(1), b"d").unwrap();
    writer.delete_entity(MANY, &key(2)).unwrap();
    writer.write_entity(MANY, &key(2), b"after").unwrap();
    writer.set_cursor(slot(2));
    writer.commit().unwrap();
    drop(store);
    let store = OnRedb::open(&place, config());
    assert_eq!(values(&store, &key(1)), [b"a", b"c", b"d"]);
    assert_eq!(values(&store, &key(2)), [b"after"]);
    assert_eq!(values(&store, &key(3)), [b""; 0]);
    store.rollback_to(&slot(1)).unwrap();
    assert_eq!(values(&store, &key(1)), [b"a", b"b", b"c"]);
    assert_eq!(values(&store, &key(2)), [b"other"]);
}

#[test]
fn a_namespace_of_one_kind_is_not_read_as_the_other() {
    let store = OnRedb::open(&Place::new(), config());
    let several = "the keys of namespace `pool_delegators` have several values, not one value";
    assert_eq!(store.read_entities(MANY, &[key(1)]).unwrap_err().to_string(), several);
    assert_eq!(store.iter_entities(MANY, ..).unwrap_err().to_string(), several);
    let one = "the keys of namespace `pools` have one value, not several values";
    assert_eq!(store.iter_entity_values("pools", &key(1)).map(drop).unwrap_err().to_string(), one);
    let mut writer = store.start_writer().unwrap();
    assert_eq!(writer.delete_entity_value("pools", &key(1), b"x").unwrap_err().to_string(), one);
    let missing = "there is no namespace `rewards` in the schema";
    assert_eq!(writer.write_entity("rewards", &key(1), b"x").unwrap_err().to_string(), missing);
    assert_eq!(store.iter_entity_values("rewards", &key(1)).map(drop).unwrap_err().to_string(), missing);
}

#[test]
fn a_database_gains_the_namespaces_that_it_lacks_and_keeps_the_others() {
    let place = Place::new();
    let store = OnRedb::open(&place, config());
    for at in [1, 2] {
        let mut writer = store.start_writer().unwrap();
        writer.write_entity("pools", &key(1), &[at]).unwrap();
        writer.set_cursor(slot(at.into()));
        writer.commit().unwrap();
    }
    drop(store);
    // An upgrade of the node: `aaa` is before all others by name, and some are not asked for any more.
    let asked = StateSchema::new().single("aaa").single("pools").multi("zzz");
    let store = StateStore::open_redb(place.path(), &asked, config()).unwrap();
    let mut writer = store.start_writer().unwrap();
    writer.write_entity("aaa", &key(1), b"new").unwrap();
    writer.write_entity("zzz", &key(1), b"new").unwrap();
    writer.write_entity("accounts", &key(1), b"old").unwrap();
    writer.set_cursor(slot(3));
    writer.commit().unwrap();
    drop(store);
    let store = OnRedb::open(&place, config());
    assert_eq!(store.read_entities("aaa", &[key(1)]).unwrap()[0].as_deref(), Some(&b"new"[..]));
    // What was kept before the upgrade is still of the right spaces.
    assert_eq!(store.rollback_to(&slot(1)).unwrap().blocks, 2);
    assert_eq!(store.read_entities("pools", &[key(1)]).unwrap()[0].as_deref(), Some(&[1][..]));
    assert_eq!(store.read_entities("aaa", &[key(1)]).unwrap()[0].as_deref(), None);
}

#[test]
fn a_namespace_does_not_change_its_kind() {
    let place = Place::new();
    drop(OnRedb::open(&place, config()));
    let refused = StateStore::open_redb(place.path(), &StateSchema::new().multi("pools"), config());
    assert_eq!(
        refused.unwrap_err().to_string(),
        "the keys of namespace `pools` have one value, not several values"
    );
    // The order in which they are declared is not a difference.
    let other = StateSchema::new().multi(MANY).single("epochs").single("pools").single("accounts");
    assert_eq!(other, schema());
    StateStore::open_redb(place.path(), &other, config()).unwrap();
}

#[test]
fn the_document_has_every_namespace_that_dolos_writes() {
    let document = StateSchema::document();
    let names: Vec<&str> = document.namespaces().collect();
    for name in [
        "accounts",
        "account-epochs",
        "pools",
        "epochs",
        "dreps",
        "gov",
        "proposals",
        "assets",
        "datums",
        "eras",
        "stakes",
        "pending_mirs",
        "pending_rewards",
    ] {
        assert!(names.contains(&name), "{name}");
    }
}

#[test]
fn every_namespace_of_the_document_has_a_table() {
    let store = StateStore::open_redb(Place::new().path(), &StateSchema::document(), config()).unwrap();
    let mut writer = store.start_writer().unwrap();
    for namespace in StateSchema::document().namespaces() {
        writer.write_entity(namespace, &key(1), namespace.as_bytes()).unwrap();
    }
    writer.commit().unwrap();
    assert_eq!(store.read_entities("eras", &[key(1)]).unwrap()[0].as_deref(), Some(&b"eras"[..]));
    assert_eq!(values(&store, &key(1)), [MANY.as_bytes()]);
}

#[test]
fn engines_without_several_values_refuse_them_by_name() {
    let refused = StateStore::with_tables(Memory::new(), &schema(), config()).unwrap_err();
    let StateError::Store(StoreError::Engine(engine::Error::Unsupported { engine, .. })) = refused else {
        panic!("{refused}")
    };
    assert_eq!(engine, "memory");
    // Tables with one value for a key they have.
    let single = StateSchema::new().single("pools");
    let store = StateStore::with_tables(Memory::new(), &single, config()).unwrap();
    let mut writer = store.start_writer().unwrap();
    writer.write_entity("pools", &key(1), b"x").unwrap();
    writer.commit().unwrap();
    assert_eq!(store.iter_entities("pools", ..).unwrap().count(), 1);
}
