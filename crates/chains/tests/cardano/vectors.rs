//! What Dolos was seen to do, line by line, on our store on every engine.
//!
//! A line without bytes records a behaviour. Each is named here; one that is not known fails the run. Where Dolos is
//! wrong the right thing is checked, beside what it did.

use std::path::PathBuf;

use keyplan_chains::cardano::{ChainPoint, EntityKey, StateError, StateStore, UtxoSetDelta};
use keyplan_store::StoreError;
use keyplan_store::engine::{self, Batch, Durability};
use serde_json::Value as Json;

use crate::support::{Kind, Place, config, entities, key, on_every_engine, output, slot, txo, utxos};

/// The lines of the file.
pub(crate) fn lines() -> Vec<Json> {
    let folder = std::env::var_os("KEYPLAN_VECTORS").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata/vectors"),
        PathBuf::from,
    );
    let text = std::fs::read_to_string(folder.join("dolos.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

on_every_engine! { the_store_behaves_as_dolos_or_better }

fn the_store_behaves_as_dolos_or_better<K: Kind>() {
    let lines = lines();
    let behaviours: Vec<&Json> = lines.iter().filter(|line| line["hex"].is_null()).collect();
    assert_eq!(behaviours.len(), 16, "lines without bytes");
    for line in behaviours {
        let args = &line["args"];
        match (line["family"].as_str().unwrap(), args["what"].as_str().unwrap_or_default()) {
            ("dolos.eq_asymmetry", _) => equality_is_symmetric(args),
            ("dolos.delta", _) => delta::<K>(args),
            ("dolos.behaviour", "full_range iteration of accounts holding 01*32 and ff*32") => {
                full_range::<K>(args);
            }
            ("dolos.behaviour", "unknown namespace") => unknown_namespace::<K>(args),
            ("dolos.behaviour", "inverted range") => inverted_range::<K>(args),
            ("dolos.behaviour", "read_entities of no keys") => no_keys::<K>(args),
            ("dolos.behaviour", "iter_entity_values") => entity_values::<K>(args),
            ("dolos.behaviour", "last op on a key wins inside one writer; dropped writer leaves nothing") => {
                last_operation::<K>(args);
            }
            ("dolos.behaviour", "utxo row with a 1-byte value") => short_output::<K>(args),
            // These are of the indexes beside the state, which this store does not have: the vectors of the plan
            // check what their keys make of it.
            ("dolos.tag_key_hash", _)
            | (
                "dolos.defect",
                "state-tags prefix overlap: asset policy||TOK query while policy||TOKEN exists",
            ) => {}
            (family, what) => panic!("no such behaviour is known: {family} {what}"),
        }
    }
}

fn equality_is_symmetric(args: &Json) {
    assert_eq!(args["Slot(5)==Specific(5,h)"], false);
    assert_eq!(args["Specific(5,h)==Slot(5)"], true, "what Dolos does");
    let block = ChainPoint::Specific { slot: 5, hash: [7; 32] };
    assert!(slot(5) != block);
    assert!(block != slot(5));
    assert!(slot(5) < block);
}

/// What each set of a delta holds.
fn delta<K: Kind>(args: &Json) {
    let add = || vec![(txo(1, 0), output(6, b"x"))];
    let none = UtxoSetDelta::default();
    let delta = match args["sets"].as_str().unwrap() {
        "produced+consumed" => UtxoSetDelta { produced: add(), consumed: vec![txo(1, 0)], ..none },
        "produced+undone" => UtxoSetDelta { produced: add(), undone: vec![txo(1, 0)], ..none },
        "recovered+consumed" => UtxoSetDelta { recovered: add(), consumed: vec![txo(1, 0)], ..none },
        "recovered+undone" => UtxoSetDelta { recovered: add(), undone: vec![txo(1, 0)], ..none },
        "consumed of absent" => UtxoSetDelta { consumed: vec![txo(1, 0)], ..none },
        "undone of absent" => UtxoSetDelta { undone: vec![txo(1, 0)], ..none },
        other => panic!("no such sets are known: {other}"),
    };
    let store = K::open(&Place::new(), config());
    let mut writer = store.start_writer().unwrap();
    writer.apply_utxoset(&delta).unwrap();
    writer.commit().unwrap();
    for theirs in ["fjall", "memory"] {
        assert_eq!(args[theirs].as_array().unwrap().len(), utxos(&store).len(), "{args}");
    }
}

fn accounts<K: Kind>(keys: &[(EntityKey, &[u8])]) -> StateStore<K::Engine> {
    let store = K::open(&Place::new(), config());
    let mut writer = store.start_writer().unwrap();
    for (key, value) in keys {
        writer.write_entity("accounts", key, value).unwrap();
    }
    writer.commit().unwrap();
    store
}

fn full_range<K: Kind>(args: &Json) {
    let store = accounts::<K>(&[(key(1), b"a"), (key(0xff), b"z")]);
    assert_eq!(
        args["yielded"],
        store.iter_entities("accounts", EntityKey::MIN..EntityKey::MAX).unwrap().count()
    );
    let found = store.read_entities("accounts", &[key(0xff)]).unwrap();
    assert_eq!(args["point_read_of_ff"], found[0].is_some());
    // The full range here is everything.
    assert_eq!(store.iter_entities("accounts", ..).unwrap().count(), 2);
}

fn unknown_namespace<K: Kind>(args: &Json) {
    let store = accounts::<K>(&[(key(1), b"a")]);
    let read = store.read_entities("no-such-thing", &[key(1)]);
    let iterated = store.iter_entities("no-such-thing", ..);
    if K::TABLES {
        for refused in [read.map(drop), iterated.map(drop)] {
            let refused = refused.unwrap_err().to_string();
            assert_eq!(refused, "there is no namespace `no-such-thing` in the schema");
        }
    } else {
        assert_eq!(args["read"], format!("Ok({:?})", read.unwrap()));
        assert_eq!(args["iter_count"], iterated.unwrap().count());
    }
}

fn inverted_range<K: Kind>(args: &Json) {
    let store = accounts::<K>(&[(key(1), b"a"), (key(2), b"b")]);
    assert_eq!(args["count"], store.iter_entities("accounts", key(3)..key(1)).unwrap().count());
}

fn no_keys<K: Kind>(args: &Json) {
    let store = accounts::<K>(&[(key(1), b"a")]);
    assert_eq!(args["len"], store.read_entities::<EntityKey>("accounts", &[]).unwrap().len());
    let twice = store.read_entities("accounts", &[key(1), key(1)]).unwrap();
    assert_eq!(args["duplicate keys len"], twice.len());
    assert!(twice.iter().all(|value| value.as_deref() == Some(b"a")));
}

fn entity_values<K: Kind>(args: &Json) {
    let store = accounts::<K>(&[(key(1), b"a")]);
    let refused = store.iter_entity_values("accounts", &key(1)).map(drop);
    assert_eq!(args["err"], refused.is_err());
    let refused = refused.unwrap_err();
    if K::TABLES {
        assert_eq!(
            refused.to_string(),
            "the keys of namespace `accounts` have one value, not several values"
        );
        return;
    }
    let StateError::Store(StoreError::Engine(engine::Error::Unsupported { engine, what })) = refused else {
        panic!("{refused}")
    };
    assert_eq!(
        (engine, what),
        (store.store().meta().unwrap().engine.as_str(), "namespaces with several values for a key")
    );
    let mut writer = store.start_writer().unwrap();
    assert!(writer.delete_entity_value("accounts", &key(1), b"a").is_err());
}

fn last_operation<K: Kind>(args: &Json) {
    let store = K::open(&Place::new(), config());
    let mut writer = store.start_writer().unwrap();
    writer.write_entity("accounts", &key(1), &[0]).unwrap();
    writer.write_entity("accounts", &key(1), &[1]).unwrap();
    writer.write_entity("accounts", &key(2), &[0]).unwrap();
    writer.delete_entity("accounts", &key(2)).unwrap();
    writer.delete_entity("accounts", &key(3)).unwrap();
    writer.write_entity("accounts", &key(3), &[2]).unwrap();
    writer.set_cursor(slot(1));
    writer.set_cursor(slot(2));
    writer.commit().unwrap();
    let mut dropped = store.start_writer().unwrap();
    dropped.write_entity("accounts", &key(4), &[4]).unwrap();
    dropped.set_cursor(slot(3));
    drop(dropped);
    let found = entities(&store, "accounts");
    let found: Vec<String> = found
        .into_iter()
        .map(|(key, value)| format!("{:02x}={}", key.0[0], const_hex::encode(value)))
        .collect();
    assert_eq!(args["entities"], Json::from(found));
    assert_eq!(args["cursor"], "Some(Slot(2))");
    assert_eq!(store.read_cursor().unwrap(), Some(slot(2)));
}

fn short_output<K: Kind>(args: &Json) {
    let store = K::open(&Place::new(), config());
    let mut writer = store.start_writer().unwrap();
    let produced = vec![(txo(2, 0), output(6, b"x"))];
    writer.apply_utxoset(&UtxoSetDelta { produced, ..UtxoSetDelta::default() }).unwrap();
    writer.commit().unwrap();
    let name = if K::TABLES { "utxos" } else { "state-utxos" };
    let mut batch = Batch::<K::Engine>::new();
    batch.put(store.store().space(name).unwrap(), txo(1, 0).encode().as_slice(), [6].as_slice());
    store.store().commit(batch, Durability::Buffer).unwrap();

    let row = format!("space `{name}` holds a malformed row 0x{}00000000", "01".repeat(32));
    let mut rows = store.iter_utxos().unwrap();
    let first = rows.next().unwrap();
    assert_eq!(args["iter_first"], if first.is_err() { "error" } else { "a row" });
    assert_eq!(first.unwrap_err().to_string(), row);
    assert_eq!(args["then_none"], rows.next().is_none());
    // Dolos answers as if the malformed row were not there.
    assert_eq!(args["get_utxos_len"], store.get_utxos(&[txo(2, 0)]).unwrap().len());
    let refused = store.get_utxos(&[txo(1, 0), txo(2, 0)]).unwrap_err();
    assert_eq!(refused.to_string(), row);
}
