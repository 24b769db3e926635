//! What a conforming state store does, method by method, on every engine.

use keyplan_chains::cardano::{
    CborEntity, ChainPoint, Config, EntityKey, StateError, StateStore, UtxoSetDelta,
};
use keyplan_store::StoreError;
use keyplan_store::engine::{self, Durability};

use crate::support::{
    Kind, OnFjall, Place, config, entities, key, on_every_engine, output, slot, txo, utxos,
};

on_every_engine! {
    a_fresh_store_has_no_cursor_and_nothing_in_it
    the_last_cursor_of_a_writer_wins
    entities_come_back_slot_for_slot
    ranges_hold_what_they_say
    iteration_sees_one_namespace_alone
    nothing_is_visible_before_the_commit_and_nothing_left_of_a_dropped_writer
    removal_wins_over_insertion_and_recovered_over_produced
    several_calls_of_one_writer_come_one_after_the_other
    saving_nothing_deletes
    outputs_come_in_the_order_of_their_references_from_either_end
    an_iterator_keeps_its_view
    a_snapshot_is_one_point_in_time_for_all_reads
    entities_of_a_type_are_decoded_by_it
    clones_are_handles_on_one_store
    a_store_that_was_shut_down_takes_no_more_commits
    every_setting_of_durability_commits
    rolling_back_restores_everything_in_one_step
    only_the_last_blocks_can_be_rolled_back
    changes_without_a_cursor_go_with_their_block
    without_history_nothing_is_kept
    writers_side_by_side_lose_nothing
}

fn a_fresh_store_has_no_cursor_and_nothing_in_it<K: Kind>() {
    let store = K::open(&Place::new(), config());
    assert_eq!(store.read_cursor().unwrap(), None);
    assert_eq!(utxos(&store).len(), 0);
    assert_eq!(entities(&store, "accounts").len(), 0);
}

fn the_last_cursor_of_a_writer_wins<K: Kind>() {
    let place = Place::new();
    let store = K::open(&place, config());
    for point in [ChainPoint::Origin, slot(7), ChainPoint::Specific { slot: u64::MAX, hash: [0xab; 32] }] {
        let mut writer = store.start_writer().unwrap();
        writer.set_cursor(slot(99));
        writer.set_cursor(point);
        writer.commit().unwrap();
        assert_eq!(store.read_cursor().unwrap(), Some(point));
    }
    drop(store);
    let store = K::open(&place, config());
    assert_eq!(store.read_cursor().unwrap(), Some(ChainPoint::Specific { slot: u64::MAX, hash: [0xab; 32] }));
}

fn filled<K: Kind>(place: &Place) -> StateStore<K::Engine> {
    let store = K::open(place, config());
    let mut writer = store.start_writer().unwrap();
    for byte in [0x00, 0x01, 0x7f, 0xfe, 0xff] {
        writer.write_entity("accounts", &key(byte), &[byte]).unwrap();
    }
    writer.write_entity("pools", &key(0x01), b"pool").unwrap();
    writer.set_cursor(slot(1));
    writer.commit().unwrap();
    store
}

fn entities_come_back_slot_for_slot<K: Kind>() {
    let store = filled::<K>(&Place::new());
    let read = |keys: &[EntityKey]| {
        let found = store.read_entities("accounts", keys).unwrap();
        found.into_iter().map(|value| value.map(|value| value.to_vec())).collect::<Vec<_>>()
    };
    assert_eq!(read(&[]), Vec::<Option<Vec<u8>>>::new());
    assert_eq!(
        read(&[key(0xff), key(0x02), key(0x00), key(0xff)]),
        [Some(vec![0xff]), None, Some(vec![0x00]), Some(vec![0xff])]
    );
}

fn ranges_hold_what_they_say<K: Kind>() {
    let store = filled::<K>(&Place::new());
    macro_rules! found {
        ($range:expr) => {{
            let forward: Vec<u8> =
                store.iter_entities("accounts", $range).unwrap().map(|row| row.unwrap().0.0[0]).collect();
            let mut back: Vec<u8> =
                store.iter_entities("accounts", $range).unwrap().rev().map(|row| row.unwrap().1[0]).collect();
            back.reverse();
            assert_eq!(forward, back);
            forward
        }};
    }
    assert_eq!(found!(..), [0x00, 0x01, 0x7f, 0xfe, 0xff]);
    assert_eq!(found!(EntityKey::MIN..EntityKey::MAX), [0x00, 0x01, 0x7f, 0xfe]);
    assert_eq!(found!(EntityKey::MIN..=EntityKey::MAX), [0x00, 0x01, 0x7f, 0xfe, 0xff]);
    assert_eq!(found!(key(0x01)..key(0xfe)), [0x01, 0x7f]);
    assert_eq!(found!(key(0x01)..=key(0xfe)), [0x01, 0x7f, 0xfe]);
    assert_eq!(found!(key(0x02)..), [0x7f, 0xfe, 0xff]);
    assert_eq!(found!(..key(0x01)), [0x00]);
    assert_eq!(found!(key(0x01)..key(0x01)), [0; 0]);
    assert_eq!(found!(key(0xfe)..key(0x01)), [0; 0]);
    assert_eq!(found!(key(0xfe)..=key(0x01)), [0; 0]);
    let behind = (std::ops::Bound::Excluded(key(0x01)), std::ops::Bound::Unbounded);
    assert_eq!(found!(behind), [0x7f, 0xfe, 0xff]);
}

fn iteration_sees_one_namespace_alone<K: Kind>() {
    let store = filled::<K>(&Place::new());
    assert_eq!(entities(&store, "pools"), [(key(1), b"pool".to_vec())].into());
    assert_eq!(entities(&store, "epochs").len(), 0);
}

fn nothing_is_visible_before_the_commit_and_nothing_left_of_a_dropped_writer<K: Kind>() {
    let place = Place::new();
    let store = filled::<K>(&place);
    let mut writer = store.start_writer().unwrap();
    writer.write_entity("epochs", &key(1), b"x").unwrap();
    writer.delete_entity("pools", &key(1)).unwrap();
    writer.apply_utxoset(&produced(&[(1, 0)])).unwrap();
    writer.set_cursor(slot(2));
    let unchanged = |store: &StateStore<K::Engine>| {
        assert_eq!(store.read_cursor().unwrap(), Some(slot(1)));
        assert_eq!(utxos(store).len(), 0);
        assert_eq!(entities(store, "epochs").len(), 0);
        assert_eq!(entities(store, "pools").len(), 1);
    };
    unchanged(&store);
    drop(writer);
    unchanged(&store);
    drop(store);
    unchanged(&K::open(&place, config()));
}

fn produced(refs: &[(u8, u32)]) -> UtxoSetDelta {
    let produced = refs.iter().map(|&(byte, index)| (txo(byte, index), output(6, &[byte])));
    UtxoSetDelta { produced: produced.collect(), ..UtxoSetDelta::default() }
}

fn removal_wins_over_insertion_and_recovered_over_produced<K: Kind>() {
    let store = K::open(&Place::new(), config());
    let mut writer = store.start_writer().unwrap();
    let delta = UtxoSetDelta {
        produced: vec![
            (txo(1, 0), output(1, b"produced")),
            (txo(2, 0), output(1, b"produced")),
            (txo(3, 0), output(1, b"produced")),
            (txo(3, 0), output(2, b"twice")),
        ],
        recovered: vec![(txo(2, 0), output(9, b"recovered")), (txo(4, 0), output(9, b""))],
        consumed: vec![txo(1, 0), txo(8, 0)],
        undone: vec![txo(5, 0)],
    };
    writer.apply_utxoset(&delta).unwrap();
    writer.commit().unwrap();
    let expected =
        [(txo(2, 0), output(9, b"recovered")), (txo(3, 0), output(2, b"twice")), (txo(4, 0), output(9, b""))];
    assert_eq!(utxos(&store), expected.into());
}

fn several_calls_of_one_writer_come_one_after_the_other<K: Kind>() {
    let store = K::open(&Place::new(), config());
    let mut writer = store.start_writer().unwrap();
    writer.apply_utxoset(&produced(&[(1, 0), (2, 0)])).unwrap();
    writer
        .apply_utxoset(&UtxoSetDelta { consumed: vec![txo(1, 0), txo(2, 0)], ..UtxoSetDelta::default() })
        .unwrap();
    writer.apply_utxoset(&produced(&[(2, 0)])).unwrap();
    writer.write_entity("accounts", &key(1), b"first").unwrap();
    writer.delete_entity("accounts", &key(1)).unwrap();
    writer.write_entity("accounts", &key(1), b"last").unwrap();
    writer.write_entity("accounts", &key(2), b"gone").unwrap();
    writer.delete_entity("accounts", &key(2)).unwrap();
    writer.commit().unwrap();
    assert_eq!(utxos(&store), [(txo(2, 0), output(6, &[2]))].into());
    assert_eq!(entities(&store, "accounts"), [(key(1), b"last".to_vec())].into());
}

fn saving_nothing_deletes<K: Kind>() {
    let store = filled::<K>(&Place::new());
    let mut writer = store.start_writer().unwrap();
    writer.save_entity("pools", &key(1), None).unwrap();
    writer.save_entity("pools", &key(2), Some(b"")).unwrap();
    writer.save_entity("pools", &key(3), None).unwrap();
    writer.commit().unwrap();
    assert_eq!(entities(&store, "pools"), [(key(2), Vec::new())].into());
}

fn outputs_come_in_the_order_of_their_references_from_either_end<K: Kind>() {
    let store = K::open(&Place::new(), config());
    let mut writer = store.start_writer().unwrap();
    writer.apply_utxoset(&produced(&[(2, 1), (1, 256), (1, 3), (2, 0), (0xff, u32::MAX)])).unwrap();
    writer.commit().unwrap();
    let sorted = [txo(1, 3), txo(1, 256), txo(2, 0), txo(2, 1), txo(0xff, u32::MAX)];
    let forward: Vec<_> = store.iter_utxos().unwrap().map(|row| row.unwrap().0).collect();
    assert_eq!(forward, sorted);
    let back: Vec<_> = store.iter_utxos().unwrap().rev().map(|row| row.unwrap().0).collect();
    assert_eq!(back.iter().rev().copied().collect::<Vec<_>>(), sorted);
    let found = store.get_utxos(&[txo(2, 0), txo(9, 9), txo(1, 3), txo(2, 0)]).unwrap();
    assert_eq!(found.keys().copied().collect::<Vec<_>>(), [txo(1, 3), txo(2, 0)]);
    assert_eq!(found[&txo(1, 3)], output(6, &[1]));
    assert!(store.get_utxos(&[]).unwrap().is_empty());
}

fn an_iterator_keeps_its_view<K: Kind>() {
    let store = filled::<K>(&Place::new());
    let mut writer = store.start_writer().unwrap();
    writer.apply_utxoset(&produced(&[(1, 0), (2, 0), (3, 0)])).unwrap();
    writer.commit().unwrap();
    let mut outputs = store.iter_utxos().unwrap();
    let accounts = store.iter_entities("accounts", ..).unwrap();
    assert_eq!(outputs.next().unwrap().unwrap().0, txo(1, 0));
    let mut writer = store.start_writer().unwrap();
    let delta = UtxoSetDelta { consumed: vec![txo(2, 0)], ..produced(&[(2, 5), (4, 0)]) };
    writer.apply_utxoset(&delta).unwrap();
    writer.delete_entity("accounts", &key(0xff)).unwrap();
    writer.commit().unwrap();
    assert_eq!(outputs.map(|row| row.unwrap().0).collect::<Vec<_>>(), [txo(2, 0), txo(3, 0)]);
    assert_eq!(accounts.count(), 5);
    assert_eq!(utxos(&store).len(), 4);
}

fn a_snapshot_is_one_point_in_time_for_all_reads<K: Kind>() {
    let store = filled::<K>(&Place::new());
    let snapshot = store.snapshot().unwrap();
    let mut writer = store.start_writer().unwrap();
    writer.apply_utxoset(&produced(&[(1, 0)])).unwrap();
    writer.write_entity("pools", &key(1), b"changed").unwrap();
    writer.set_cursor(slot(2));
    writer.commit().unwrap();
    assert_eq!(snapshot.read_cursor().unwrap(), Some(slot(1)));
    assert_eq!(snapshot.get_utxo(&txo(1, 0)).unwrap().map(|output| output.era()), None);
    assert_eq!(&*snapshot.read_entity("pools", &key(1)).unwrap().unwrap(), b"pool");
    assert_eq!(store.read_cursor().unwrap(), Some(slot(2)));
    assert_eq!(store.get_utxo(&txo(1, 0)).unwrap().map(|output| output.era()), Some(6));
}

/// An account, as a node might have it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Account {
    lovelace: u64,
    pool: Option<u32>,
}

impl<C> minicbor::Encode<C> for Account {
    fn encode<W: minicbor::encode::Write>(
        &self,
        out: &mut minicbor::Encoder<W>,
        context: &mut C,
    ) -> Result<(), minicbor::encode::Error<W::Error>> {
        (self.lovelace, self.pool).encode(out, context)
    }
}

impl<'b, C> minicbor::Decode<'b, C> for Account {
    fn decode(input: &mut minicbor::Decoder<'b>, context: &mut C) -> Result<Self, minicbor::decode::Error> {
        let (lovelace, pool) = minicbor::Decode::decode(input, context)?;
        Ok(Self { lovelace, pool })
    }
}

impl CborEntity for Account {
    const NAMESPACE: &'static str = "accounts";
}

fn entities_of_a_type_are_decoded_by_it<K: Kind>() {
    let store = K::open(&Place::new(), config());
    let (poor, rich) = (Account { lovelace: 0, pool: None }, Account { lovelace: u64::MAX, pool: Some(7) });
    let mut writer = store.start_writer().unwrap();
    writer.write_entity_typed(&key(1), &poor).unwrap();
    writer.save_entity_typed(&key(2), Some(&rich)).unwrap();
    writer.save_entity_typed::<Account>(&key(9), None).unwrap();
    writer.commit().unwrap();
    assert_eq!(store.read_entity_typed(&key(1)).unwrap(), Some(poor.clone()));
    let snapshot = store.snapshot().unwrap();
    let read = snapshot.read_entities_typed::<Account>(&[key(2), key(3)]).unwrap();
    assert_eq!(read, [Some(rich.clone()), None]);
    let all = store.iter_entities_typed::<Account>(..).unwrap().map(Result::unwrap);
    assert_eq!(all.collect::<Vec<_>>(), [(key(1), poor.clone()), (key(2), rich)]);

    let mut writer = store.start_writer().unwrap();
    let mut long = Vec::new();
    minicbor::encode(&poor, &mut long).unwrap();
    long.push(0);
    writer.write_entity("accounts", &key(2), &long).unwrap();
    writer.commit().unwrap();
    let refused = store.read_entity_typed::<Account>(&key(2)).unwrap_err();
    assert_eq!(refused.to_string(), format!("entity 0x{} of `accounts` cannot be decoded", "02".repeat(32)));
    let mut rows = store.iter_entities_typed::<Account>(..).unwrap();
    assert_eq!(rows.next().unwrap().unwrap(), (key(1), poor));
    assert!(matches!(rows.next(), Some(Err(StateError::EntityDecode { .. }))));
    assert!(rows.next().is_none());
}

fn clones_are_handles_on_one_store<K: Kind>() {
    let store = filled::<K>(&Place::new());
    let other = store.clone();
    let mut writer = other.start_writer().unwrap();
    writer.set_cursor(slot(5));
    std::thread::spawn(move || writer.commit().unwrap()).join().unwrap();
    assert_eq!(store.read_cursor().unwrap(), Some(slot(5)));
}

fn a_store_that_was_shut_down_takes_no_more_commits<K: Kind>() {
    let place = Place::new();
    let store = filled::<K>(&place);
    let mut early = store.start_writer().unwrap();
    early.set_cursor(slot(9));
    store.shutdown().unwrap();
    let refused = early.commit();
    assert!(
        matches!(refused, Err(StateError::Store(StoreError::Engine(engine::Error::Closed)))),
        "{refused:?}"
    );
    assert_eq!(store.read_cursor().unwrap(), Some(slot(1)));
}

fn every_setting_of_durability_commits<K: Kind>() {
    let place = Place::new();
    for (at, durability) in
        [Durability::Buffer, Durability::SyncData, Durability::SyncAll].into_iter().enumerate()
    {
        for flush_on_commit in [false, true] {
            let store = K::open(&place, Config { durability, flush_on_commit, ..config() });
            let mut writer = store.start_writer().unwrap();
            writer.set_cursor(slot(at as u64));
            writer.commit().unwrap();
            drop(store);
            let store = K::open(&place, config());
            assert_eq!(store.read_cursor().unwrap(), Some(slot(at as u64)));
        }
    }
}

/// Commits three blocks that touch the same rows in every way.
fn three_blocks<K: Kind>(place: &Place, config: Config) -> StateStore<K::Engine> {
    let store = K::open(place, config);
    for block in 1..=3_u8 {
        let mut writer = store.start_writer().unwrap();
        writer
            .apply_utxoset(&UtxoSetDelta {
                produced: vec![
                    (txo(block, 0), output(6, &[block])),
                    (txo(9, 9), output(block.into(), b"same")),
                ],
                consumed: if block == 1 { vec![] } else { vec![txo(block - 1, 0)] },
                ..UtxoSetDelta::default()
            })
            .unwrap();
        writer.write_entity("accounts", &key(1), &[block]).unwrap();
        writer.write_entity("accounts", &key(block), &[block]).unwrap();
        if block == 3 {
            writer.delete_entity("accounts", &key(2)).unwrap();
        }
        writer.set_cursor(slot(block.into()));
        writer.commit().unwrap();
    }
    store
}

fn rolling_back_restores_everything_in_one_step<K: Kind>() {
    let place = Place::new();
    let store = three_blocks::<K>(&place, config());
    let before = store.snapshot().unwrap();
    assert_eq!(store.rollback_to(&slot(3)).unwrap().blocks, 0);
    assert_eq!(store.rollback_to(&slot(1)).unwrap().blocks, 2);
    let first = |store: &StateStore<K::Engine>| {
        assert_eq!(store.read_cursor().unwrap(), Some(slot(1)));
        assert_eq!(utxos(store), [(txo(1, 0), output(6, &[1])), (txo(9, 9), output(1, b"same"))].into());
        assert_eq!(entities(store, "accounts"), [(key(1), vec![1])].into());
    };
    first(&store);
    assert_eq!(before.read_cursor().unwrap(), Some(slot(3)));
    drop((store, before));
    let store = K::open(&place, config());
    first(&store);
    // What was undone cannot be rolled back to, and the first block can still be undone.
    assert!(matches!(store.rollback_to(&slot(2)), Err(StateError::OutsideHistory { .. })));
    first(&store);
    assert_eq!(store.rollback_to(&ChainPoint::Origin).unwrap().blocks, 1);
    assert_eq!(store.read_cursor().unwrap(), None);
    assert_eq!((utxos(&store).len(), entities(&store, "accounts").len()), (0, 0));
    // And it goes on from there.
    drop(store);
    let store = three_blocks::<K>(&place, config());
    assert_eq!(store.rollback_to(&slot(2)).unwrap().blocks, 1);
    assert_eq!(entities(&store, "accounts"), [(key(1), vec![2]), (key(2), vec![2])].into());
}

fn only_the_last_blocks_can_be_rolled_back<K: Kind>() {
    let store = three_blocks::<K>(&Place::new(), Config { history: 1, ..config() });
    let refused = store.rollback_to(&slot(1)).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "cannot roll back to slot(slot=1): the 1 blocks that are kept reach back to slot(slot=2)"
    );
    assert_eq!(store.read_cursor().unwrap(), Some(slot(3)));
    assert_eq!(store.rollback_to(&slot(2)).unwrap().blocks, 1);
    assert_eq!(store.read_cursor().unwrap(), Some(slot(2)));
}

fn changes_without_a_cursor_go_with_their_block<K: Kind>() {
    let store = K::open(&Place::new(), Config { history: 2, ..config() });
    let write = |byte: u8, cursor: Option<u64>| {
        let mut writer = store.start_writer().unwrap();
        writer.write_entity("pools", &key(byte), &[byte]).unwrap();
        if let Some(at) = cursor {
            writer.set_cursor(slot(at));
        }
        writer.commit().unwrap();
    };
    let pools = || entities(&store, "pools").into_keys().map(|key| key.0[0]).collect::<Vec<_>>();
    write(1, None);
    write(2, Some(1));
    write(3, None);
    write(4, None);
    write(5, Some(2));
    write(6, None);
    assert_eq!(store.rollback_to(&slot(1)).unwrap().blocks, 1);
    assert_eq!(pools(), [1, 2, 3, 4]);
    write(7, Some(2));
    assert_eq!(store.rollback_to(&ChainPoint::Origin).unwrap().blocks, 2);
    assert_eq!(pools(), [1]);
}

fn without_history_nothing_is_kept<K: Kind>() {
    let place = Place::new();
    let store = three_blocks::<K>(&place, Config::import());
    let refused = store.rollback_to(&slot(2)).unwrap_err();
    assert_eq!(refused.to_string(), "cannot roll back to slot(slot=2): no block is kept for it");
    drop(store);
    // What was kept before is of no use once commits were made without it.
    let store = three_blocks::<K>(&place, config());
    drop(store);
    let store = K::open(&place, Config::import());
    let mut writer = store.start_writer().unwrap();
    writer.write_entity("accounts", &key(1), b"unseen").unwrap();
    writer.commit().unwrap();
    drop(store);
    let store = K::open(&place, config());
    assert!(matches!(store.rollback_to(&slot(2)), Err(StateError::OutsideHistory { blocks: 0, .. })));
}

fn writers_side_by_side_lose_nothing<K: Kind>() {
    let store = K::open(&Place::new(), config());
    let commit = |writer: u8, round: u8| {
        let mut changes = store.start_writer().unwrap();
        changes.write_entity("pools", &EntityKey::padded(&[writer, round]).unwrap(), &[round]).unwrap();
        changes.set_cursor(slot(u64::from(writer) << 8 | u64::from(round)));
        changes.commit().unwrap();
    };
    std::thread::scope(|scope| {
        for writer in 0..4 {
            scope.spawn(move || (0..20).for_each(|round| commit(writer, round)));
        }
    });
    assert_eq!(entities(&store, "pools").len(), 80);
    // Each commit undid exactly what the one before it had left.
    assert_eq!(store.rollback_to(&ChainPoint::Origin).unwrap().blocks, 80);
    assert_eq!(entities(&store, "pools").len(), 0);
}

#[test]
fn a_fixed_setting_that_is_asked_for_otherwise_is_kept_and_told() {
    let place = Place::new();
    drop(OnFjall::open(&place, config()));
    let asked = Config { memtable_bytes: Some(2 << 20), ..config() };
    let store = StateStore::open(place.path(), asked).unwrap();
    let [kept] = store.kept_settings() else { panic!("{:?}", store.kept_settings()) };
    assert_eq!((kept.name, &*kept.kept, &*kept.asked), ("memtable_bytes", "1048576", "2097152"));
    drop(store);
    let store = StateStore::open(place.path(), Config::default()).unwrap();
    assert_eq!(store.kept_settings(), []);
}

#[test]
fn a_second_handle_is_told_that_the_store_is_open() {
    let place = Place::new();
    let store = OnFjall::open(&place, config());
    let refused = StateStore::open(place.path(), config());
    assert!(
        matches!(refused, Err(StateError::Store(StoreError::Engine(engine::Error::AlreadyOpen { .. })))),
        "{refused:?}"
    );
    drop(store);
    OnFjall::open(&place, config());
}
