//! The bytes on disk, seen through fjall itself: those of Dolos, both ways.

use std::collections::BTreeMap;
use std::path::Path;

use fjall::{Database, KeyspaceCreateOptions, PersistMode};
use keyplan_chains::cardano::{
    ChainPoint, Config, EntityKey, Namespace, StateError, StateStore, UtxoSetDelta, entities as families,
};
use keyplan_store::StoreError;

use crate::support::{Kind, OnFjall, Place, config, entities, key, output, slot, txo, utxos};
use crate::vectors::lines;

type Rows = Vec<(Vec<u8>, Vec<u8>)>;

const KEYSPACES: [&str; 3] = ["state-cursor", "state-utxos", "state-entities"];

/// All rows of Dolos's keyspaces, as fjall has them.
fn rows(path: &Path) -> BTreeMap<&'static str, Rows> {
    let database = Database::builder(path).open().unwrap();
    let rows = |name| {
        let keyspace = database.keyspace(name, KeyspaceCreateOptions::default).unwrap();
        let rows = keyspace.iter().map(|row| row.into_inner().unwrap());
        (name, rows.map(|(key, value)| (key.to_vec(), value.to_vec())).collect())
    };
    KEYSPACES.into_iter().map(rows).collect()
}

/// Writes rows as another program would, with its own settings.
fn write(path: &Path, rows: &[(&str, &[u8], &[u8])]) {
    let database = Database::builder(path).open().unwrap();
    let options = || KeyspaceCreateOptions::default().max_memtable_size(8 << 20);
    let keyspaces = KEYSPACES.map(|name| database.keyspace(name, options).unwrap());
    let mut batch = database.batch();
    for (name, key, value) in rows {
        let at = KEYSPACES.iter().position(|known| known == name).unwrap();
        batch.insert(&keyspaces[at], *key, *value);
    }
    batch.commit().unwrap();
    database.persist(PersistMode::SyncAll).unwrap();
}

/// The operations that the dump in the vectors was made with.
fn dumped(store: &StateStore<keyplan_store::engine::Fjall>) {
    let mut writer = store.start_writer().unwrap();
    writer.write_entity("accounts", &key(1), &[0xaa]).unwrap();
    writer.write_entity("pools", &EntityKey::padded(&[1; 28]).unwrap(), &[0xbb]).unwrap();
    writer.write_entity("never-declared-ns", &key(2), b"").unwrap();
    writer.write_entity("accounts", &key(0xff), &[0xee]).unwrap();
    let refs = [(1, txo(2, 1)), (2, txo(2, 0)), (3, txo(1, 256)), (4, txo(1, 3))];
    let produced = refs.map(|(byte, txo)| (txo, output(6, &[byte; 4]))).to_vec();
    writer.apply_utxoset(&UtxoSetDelta { produced, ..UtxoSetDelta::default() }).unwrap();
    writer.set_cursor(point());
    writer.commit().unwrap();
}

fn point() -> ChainPoint {
    ChainPoint::Specific { slot: 77, hash: std::array::from_fn(|at| u8::try_from(at).unwrap()) }
}

#[test]
fn the_rows_on_disk_are_those_of_dolos() {
    let place = Place::new();
    let store = OnFjall::open(&place, config());
    dumped(&store);
    store.shutdown().unwrap();
    drop(store);
    let found = rows(place.path());
    let mut compared = 0;
    for line in lines().iter().filter(|line| line["family"] == "dolos.store_dump") {
        let args = &line["args"];
        let hex = |json: &serde_json::Value| const_hex::decode(json.as_str().unwrap()).unwrap();
        let at = usize::try_from(args["seq"].as_u64().unwrap()).unwrap();
        let row = &found[args["keyspace"].as_str().unwrap()][at];
        assert_eq!(*row, (hex(&line["hex"]), hex(&args["value_hex"])), "{args}");
        compared += 1;
    }
    assert_eq!(compared, 7);
    // The dump shows up to three rows of a keyspace; these are all that there are.
    assert_eq!(KEYSPACES.map(|name| found[name].len()), [1, 4, 4]);
    let pools = families::EntityNs::of("pools").unwrap().digest();
    let padded = [&pools[..], &[1; 28], &[0; 4]].concat();
    assert_eq!(found["state-entities"][3], (padded, vec![0xbb]));
}

#[test]
fn a_directory_of_dolos_is_taken_over_and_given_back() {
    let place = Place::new();
    let ours = Place::new();
    let store = OnFjall::open(&ours, config());
    dumped(&store);
    store.shutdown().unwrap();
    drop(store);
    let made = rows(ours.path());
    let theirs: Vec<(&str, &[u8], &[u8])> = made
        .iter()
        .flat_map(|(name, rows)| rows.iter().map(move |(key, value)| (*name, &key[..], &value[..])))
        .collect();
    write(place.path(), &theirs);

    // Only read: nothing of ours is written.
    let read = StateStore::open_read_only(place.path(), Config::default()).unwrap();
    assert_eq!(read.read_cursor().unwrap(), Some(point()));
    assert!(matches!(read.start_writer(), Err(StateError::Store(StoreError::ReadOnly))));
    drop(read);
    let names = Database::builder(place.path()).open().unwrap().list_keyspace_names();
    assert_eq!(names.len(), 3, "{names:?}");

    let store = StateStore::open(place.path(), Config::default()).unwrap();
    assert_eq!(store.read_cursor().unwrap(), Some(point()));
    assert_eq!(utxos(&store).len(), 4);
    assert_eq!(entities(&store, Namespace::ACCOUNTS).len(), 2);
    // Names that are known are recorded; of another only the hash is.
    let found = store.snapshot().unwrap().find_namespaces().unwrap();
    let found: Vec<_> = found.into_iter().map(|found| store.namespace_name(found.ns)).collect();
    assert_eq!(found, [Some("accounts".to_owned()), None, Some("pools".to_owned())]);
    assert_eq!(
        store.store().known_name("Namespace", &families::EntityNs::POOLS.digest()).as_deref(),
        Some("pools")
    );
    let mut writer = store.start_writer().unwrap();
    writer.write_entity("never-declared-ns", &key(3), b"new").unwrap();
    writer.set_cursor(slot(78));
    writer.commit().unwrap();
    let unknown = families::EntityNs::of("never-declared-ns").unwrap();
    assert_eq!(store.namespace_name(unknown).as_deref(), Some("never-declared-ns"));
    store.shutdown().unwrap();
    drop(store);

    // Back in the other program: its rows and the new ones, and nothing else in its keyspaces.
    let back = rows(place.path());
    assert_eq!(back["state-utxos"], made["state-utxos"]);
    assert_eq!(back["state-entities"].len(), 5);
    assert_eq!(const_hex::encode(&back["state-cursor"][0].1), "010000004e00000000000000");

    // It goes on; what we kept for rolling back no longer fits, and is found out.
    write(place.path(), &[("state-cursor", &[0], &const_hex::decode("010000004f00000000000000").unwrap())]);
    let store = StateStore::open(place.path(), Config::default()).unwrap();
    assert_eq!(store.read_cursor().unwrap(), Some(slot(79)));
    let refused = store.rollback_to(&point());
    assert!(matches!(refused, Err(StateError::OutsideHistory { blocks: 0, .. })), "{refused:?}");
    let mut writer = store.start_writer().unwrap();
    writer.set_cursor(slot(80));
    writer.commit().unwrap();
    assert_eq!(store.rollback_to(&slot(79)).unwrap().blocks, 1);
}

#[test]
fn a_taken_over_directory_records_no_setting_that_it_does_not_know() {
    let place = Place::new();
    // The other program's memtables have 8 MiB.
    write(place.path(), &[("state-cursor", &[0], &const_hex::decode("010000004f00000000000000").unwrap())]);
    drop(StateStore::open(place.path(), Config::default()).unwrap());
    let truth = Config { memtable_bytes: Some(8 << 20), ..Config::default() };
    let store = StateStore::open(place.path(), truth).unwrap();
    assert_eq!(store.kept_settings(), []);
    let settings = &store.store().meta().unwrap().settings;
    assert!(settings.iter().all(|setting| !setting.fixed), "{settings:?}");
}

#[test]
fn a_row_that_another_program_changed_is_not_rolled_over() {
    let place = Place::new();
    let store = OnFjall::open(&place, config());
    for at in [1, 2] {
        let mut writer = store.start_writer().unwrap();
        writer.write_entity("pools", &key(1), &[at]).unwrap();
        writer.write_entity("pools", &key(2), &[at]).unwrap();
        writer.set_cursor(slot(at.into()));
        writer.commit().unwrap();
    }
    store.shutdown().unwrap();
    drop(store);
    let changed = [&families::EntityNs::POOLS.digest()[..], &[1; 32]].concat();
    write(place.path(), &[("state-entities", &changed, b"theirs")]);
    let store = OnFjall::open(&place, config());
    let refused = store.rollback_to(&slot(1)).unwrap_err();
    assert_eq!(
        refused.to_string(),
        format!(
            "cannot roll back: another program has changed row 0x{} of space `state-entities` since; roll back there, \
             or load the state anew",
            const_hex::encode(&changed)
        )
    );
    // Nothing was touched.
    assert_eq!(store.read_cursor().unwrap(), Some(slot(2)));
    let found = store.read_entities("pools", &[key(1), key(2)]).unwrap();
    assert_eq!(
        found.iter().map(|value| value.as_deref().unwrap()).collect::<Vec<_>>(),
        [b"theirs", &[2][..]]
    );
}

#[test]
fn the_first_rows_of_a_namespace_and_its_name_are_one_commit() {
    let place = Place::new();
    let store = OnFjall::open(&place, config());
    let mut writer = store.start_writer().unwrap();
    writer.write_entity("made-up", &key(1), b"x").unwrap();
    drop(writer);
    let ns = families::EntityNs::of("made-up").unwrap();
    assert_eq!(store.namespace_name(ns), None);
    let mut writer = store.start_writer().unwrap();
    writer.write_entity("made-up", &key(1), b"x").unwrap();
    writer.commit().unwrap();
    assert_eq!(store.namespace_name(ns).as_deref(), Some("made-up"));
    drop(store);
    assert_eq!(OnFjall::open(&place, config()).namespace_name(ns).as_deref(), Some("made-up"));
}

#[test]
fn a_database_without_any_state_is_refused() {
    let place = Place::new();
    let database = Database::builder(place.path()).open().unwrap();
    database.keyspace("chess", KeyspaceCreateOptions::default).unwrap().insert("a", "b").unwrap();
    drop(database);
    let refused = StateStore::open(place.path(), Config::default()).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the database has no plan in it and none of the spaces of a state store, but `chess`"
    );
}

#[test]
fn a_database_explains_itself() {
    let place = Place::new();
    let store = OnFjall::open(&place, config());
    dumped(&store);
    let meta = store.store().meta().unwrap();
    let compiled = keyplan::plan::compile(meta.plan_name(), meta.plan_text(), |path| meta.import(path));
    let plan = compiled.plan.unwrap();
    let reader = keyplan_store::Reader::new(&plan, store.store().snapshot().unwrap());
    for (at, space) in plan.spaces.iter().enumerate() {
        let figures = reader.figures(at, |_| std::ops::ControlFlow::Continue(())).unwrap();
        assert_eq!(figures.unknown.rows, 0, "{}", space.name);
        assert!(figures.total().rows > 0, "{}", space.name);
    }
}

#[test]
fn a_name_with_the_hash_of_another_is_refused() {
    // No two texts with one hash are known; a recorded name stands in for the other one.
    let store = StateStore::in_memory(config()).unwrap();
    let ns = families::EntityNs::of("mine").unwrap();
    store.store().record_name("Namespace", &ns.digest(), "theirs").unwrap();
    let mut writer = store.start_writer().unwrap();
    let refused = writer.write_entity("mine", &key(1), b"x").unwrap_err();
    assert_eq!(refused.to_string(), "`mine` has the same digest in `Namespace` as `theirs`, which is in use");
}
