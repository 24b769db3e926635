//! Filling a store from a snapshot of the state.

use std::collections::BTreeMap;

use keyplan_chains::cardano::{EntityKey, EraCbor, StateError, StateStore, TxoRef, UtxoSetDelta};
use keyplan_store::{BulkOptions, StoreError};

use crate::support::{
    Kind, OnRedb, Place, Random, config, entities, key, on_every_engine, output, schema, slot, txo, utxos,
};

/// So little memory that rows are sorted in files.
fn options() -> BulkOptions {
    let mut options = BulkOptions::default();
    options.memory_bytes = 64 * 1024;
    options
}

fn random_bytes<const N: usize>(random: &mut Random) -> [u8; N] {
    std::array::from_fn(|_| random.byte())
}

fn a_load_is_the_state_that_was_pushed_in_any_order<K: Kind>() {
    let place = Place::new();
    let store = K::open(&place, config());
    let mut random = Random(7);
    let mut outputs: BTreeMap<TxoRef, EraCbor> = BTreeMap::new();
    let mut accounts: BTreeMap<EntityKey, Vec<u8>> = BTreeMap::new();
    let mut load = store.start_load(options()).unwrap();
    for _ in 0..3_000 {
        let txo = TxoRef { tx_hash: random_bytes(&mut random), index: u32::from(random.byte()) };
        let value = EraCbor { era: 6, cbor: random_bytes::<40>(&mut random).to_vec() };
        load.push_utxo(&txo, &value).unwrap();
        outputs.insert(txo, value);
        let account = EntityKey(random_bytes(&mut random));
        let value = random_bytes::<20>(&mut random).to_vec();
        load.push_entity("accounts", &account, &value).unwrap();
        accounts.insert(account, value);
    }
    assert_eq!((store.read_cursor().unwrap(), utxos(&store).len()), (None, 0));
    let mut told = 0;
    assert_eq!(load.finish(slot(100), |_| told += 1).unwrap(), 6_000);
    assert!(told > 0);
    drop(store);

    let store = K::open(&place, config());
    assert_eq!(store.read_cursor().unwrap(), Some(slot(100)));
    assert_eq!((utxos(&store), entities(&store, "accounts")), (outputs.clone(), accounts.clone()));
    // The blocks after it can be taken back, and it cannot.
    let mut writer = store.start_writer().unwrap();
    let spent = *outputs.keys().next().unwrap();
    writer.apply_utxoset(&UtxoSetDelta { consumed: vec![spent], ..UtxoSetDelta::default() }).unwrap();
    writer.set_cursor(slot(101));
    writer.commit().unwrap();
    assert_eq!(utxos(&store).len(), 2_999);
    store.rollback_to(&slot(100)).unwrap();
    assert_eq!((utxos(&store), entities(&store, "accounts")), (outputs, accounts));
    assert!(matches!(store.rollback_to(&slot(99)), Err(StateError::OutsideHistory { .. })));
}

fn a_store_that_has_a_cursor_is_not_loaded_into<K: Kind>() {
    let place = Place::new();
    let store = K::open(&place, config());
    let mut load = store.start_load(options()).unwrap();
    load.push_entity("pools", &key(1), b"loaded").unwrap();
    let mut writer = store.start_writer().unwrap();
    writer.write_entity("pools", &key(1), b"written").unwrap();
    writer.set_cursor(slot(3));
    writer.commit().unwrap();
    // A block came while the load went on, and another load comes too late.
    let refused = [
        load.finish(slot(2), |_| ()).map(drop).unwrap_err(),
        store.start_load(options()).map(drop).unwrap_err(),
    ];
    let expected = format!("the store is at {} already: a snapshot is loaded into an empty one", slot(3));
    assert_eq!(refused.map(|error| error.to_string()), [expected.clone(), expected]);
    assert_eq!(entities(&store, "pools"), BTreeMap::from([(key(1), b"written".to_vec())]));
}

fn what_an_interrupted_load_left_is_removed<K: Kind>() {
    let place = Place::new();
    let store = K::open(&place, config());
    // Rows without a cursor: as far as a load came that did not end.
    let mut writer = store.start_writer().unwrap();
    writer.write_entity("pools", &key(1), b"left").unwrap();
    writer
        .apply_utxoset(&UtxoSetDelta {
            produced: vec![(txo(1, 0), output(6, b"left"))],
            ..UtxoSetDelta::default()
        })
        .unwrap();
    writer.commit().unwrap();
    drop(store.start_load(options()).unwrap());
    let mut load = store.start_load(options()).unwrap();
    load.push_utxo(&txo(2, 0), &output(6, b"new")).unwrap();
    load.finish(slot(9), |_| ()).unwrap();
    assert_eq!(utxos(&store), BTreeMap::from([(txo(2, 0), output(6, b"new"))]));
    assert_eq!(entities(&store, "pools"), BTreeMap::new());
    assert!(matches!(store.rollback_to(&slot(1)), Err(StateError::OutsideHistory { blocks: 0, .. })));
}

fn an_output_that_comes_twice_with_two_values_is_named<K: Kind>() {
    let place = Place::new();
    let store = K::open(&place, config());
    let mut load = store.start_load(options()).unwrap();
    load.push_utxo(&txo(1, 2), &output(6, b"one")).unwrap();
    load.push_utxo(&txo(1, 2), &output(6, b"one")).unwrap();
    load.push_utxo(&txo(1, 2), &output(6, b"other")).unwrap();
    let refused = load.finish(slot(9), |_| ()).unwrap_err();
    let name = if K::TABLES { "utxos" } else { "state-utxos" };
    let key = format!("{}00000002", "01".repeat(32));
    assert!(matches!(
        &refused,
        StateError::Store(StoreError::DuplicateKey { space, key: found }) if space == name && *found == key
    ));
    assert_eq!(store.read_cursor().unwrap(), None);
}

on_every_engine! {
    a_load_is_the_state_that_was_pushed_in_any_order
    a_store_that_has_a_cursor_is_not_loaded_into
    what_an_interrupted_load_left_is_removed
    an_output_that_comes_twice_with_two_values_is_named
}

#[test]
fn keys_with_several_values_are_loaded_too() {
    let place = Place::new();
    let store = OnRedb::open(&place, config());
    let mut load = store.start_load(options()).unwrap();
    for value in [b"c", b"a", b"b"] {
        load.push_entity("pool_delegators", &key(1), value).unwrap();
    }
    assert!(matches!(load.push_entity("none", &key(1), b""), Err(StateError::NoNamespace { .. })));
    assert_eq!(load.finish(slot(5), |_| ()).unwrap(), 3);
    drop(store);
    let store = StateStore::open_redb(place.path(), &schema(), config()).unwrap();
    let values = store.iter_entity_values("pool_delegators", &key(1)).unwrap();
    assert_eq!(values.map(|value| value.unwrap().to_vec()).collect::<Vec<_>>(), [b"a", b"b", b"c"]);
}
