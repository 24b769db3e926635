//! Rows that are not what the plan makes: each is an error that names the row, and none is passed over.

use keyplan_chains::cardano::{Config, StateError, StateStore};
use keyplan_store::engine::{Batch, Durability, Memory};

use crate::support::{Kind, Place, config, key, on_every_engine, slot};

on_every_engine! {
    an_entity_with_a_key_of_another_length_ends_the_iteration_with_its_name
    a_malformed_cursor_is_named_when_it_is_read
    a_malformed_undo_record_is_named_and_nothing_is_rolled_back
}

/// Puts a row into a space, whatever it is.
fn plant<K: Kind>(store: &StateStore<K::Engine>, space: &str, key: &[u8], value: &[u8]) {
    let mut batch = Batch::<K::Engine>::new();
    batch.put(store.store().space(space).unwrap(), key, value);
    store.store().commit(batch, Durability::Buffer).unwrap();
}

fn an_entity_with_a_key_of_another_length_ends_the_iteration_with_its_name<K: Kind>() {
    for length in [0, 31, 33, 40].into_iter().filter(|length| *length > 0 || K::EMPTY) {
        let place = Place::new();
        let store = K::open(&place, config());
        let mut writer = store.start_writer().unwrap();
        writer.write_entity("accounts", &key(1), b"good").unwrap();
        writer.write_entity("accounts", &key(9), b"good").unwrap();
        writer.commit().unwrap();
        let (space, prefix) =
            if K::TABLES { ("accounts", "") } else { ("state-entities", "138a7b25414c083a") };
        let row = format!("{prefix}{}", "02".repeat(length));
        let Ok(planted) = const_hex::decode(&row) else { panic!("{row}") };
        plant::<K>(&store, space, &planted, b"bad");
        let rows: Vec<_> = store.iter_entities("accounts", ..).unwrap().collect();
        // A key of no bytes sorts first.
        let (good, last) = rows.split_at(usize::from(length > 0));
        assert!(good.iter().all(Result::is_ok));
        let [Err(error)] = last else { panic!("{last:?}") };
        assert_eq!(error.to_string(), format!("space `{space}` holds a malformed row 0x{row}"));
        // From the end, the row that is good comes first.
        let mut back = store.iter_entities("accounts", ..).unwrap().rev();
        assert_eq!(back.next().unwrap().unwrap().0, key(9));
    }
}

fn a_malformed_cursor_is_named_when_it_is_read<K: Kind>() {
    let (space, row) = if K::TABLES { ("cursor", "0000") } else { ("state-cursor", "00") };
    // Too short, an unknown tag, and bytes after a valid point: Dolos takes the last.
    for value in ["010000", "0300000000", "0000000000", "010000000500000000000000ff"] {
        let store = K::open(&Place::new(), config());
        plant::<K>(&store, space, &const_hex::decode(row).unwrap(), &const_hex::decode(value).unwrap());
        let refused = store.read_cursor().unwrap_err().to_string();
        assert_eq!(refused, format!("space `{space}` holds a malformed row 0x{row}"));
    }
}

fn a_malformed_undo_record_is_named_and_nothing_is_rolled_back<K: Kind>() {
    // No positions; a row of a space that does not exist; bytes that end too soon.
    for value in ["", "0201", "0000030000ff", "000004000000", "0000ff"] {
        let store = K::open(&Place::new(), config());
        for at in [1, 2] {
            let mut writer = store.start_writer().unwrap();
            writer.write_entity("pools", &key(1), &[at]).unwrap();
            writer.set_cursor(slot(at.into()));
            writer.commit().unwrap();
        }
        let newest = "000000000000000200000000";
        plant::<K>(
            &store,
            "keyplan-undo",
            &const_hex::decode(newest).unwrap(),
            &const_hex::decode(value).unwrap(),
        );
        let refused = store.rollback_to(&slot(1)).unwrap_err();
        let text = refused.to_string();
        let named = text == format!("space `keyplan-undo` holds a malformed row 0x{newest}");
        // A record that can be read, but does not lead to where the chain is, is of no use.
        assert!(named || matches!(refused, StateError::OutsideHistory { .. }), "{value}: {text}");
        assert_eq!(store.read_cursor().unwrap(), Some(slot(2)));
    }
}

#[test]
fn a_store_with_a_malformed_cursor_or_history_does_not_open() {
    for (space, row, value) in [
        ("state-cursor", "00", "ff"),
        ("keyplan-undo", "01", "00"),
        ("keyplan-undo", "000000000000000200000000", "07"),
    ] {
        let memory = Memory::new();
        let store = StateStore::with_engine(memory.clone(), Config::default()).unwrap();
        let mut batch = Batch::<Memory>::new();
        let row = const_hex::decode(row).unwrap();
        batch.put(store.store().space(space).unwrap(), row, const_hex::decode(value).unwrap());
        store.store().commit(batch, Durability::Buffer).unwrap();
        let refused = StateStore::with_engine(memory, Config::default()).unwrap_err();
        assert!(
            matches!(&refused, StateError::Malformed { space: found, .. } if found == space),
            "{refused}"
        );
    }
}
