//! Random blocks, rollbacks and reopenings against a model.

use std::collections::{BTreeMap, BTreeSet};

use keyplan_chains::cardano::{
    ChainPoint, Config, EntityKey, EraCbor, StateError, StateStore, TxoRef, UtxoSetDelta,
};

use crate::support::{
    Kind, Place, Random, config, entities, key, on_every_engine, output, rounds, txo, utxos,
};

on_every_engine! { random_blocks_and_rollbacks_agree_with_a_model }

const NAMESPACES: [&str; 3] = ["accounts", "pools", "epochs"];
const MANY: &str = "pool_delegators";

/// The whole state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Model {
    cursor: Option<ChainPoint>,
    utxos: BTreeMap<TxoRef, EraCbor>,
    entities: BTreeMap<(&'static str, EntityKey), Vec<u8>>,
    values: BTreeMap<EntityKey, BTreeSet<Vec<u8>>>,
}

/// Few keys, so that they meet; with those at both ends.
fn some_key(random: &mut Random) -> EntityKey {
    key([0, 1, 2, 0x80, 0xfe, 0xff][usize::try_from(random.below(6)).unwrap()])
}

fn some_txo(random: &mut Random) -> TxoRef {
    txo([0, 7, 0xff][usize::try_from(random.below(3)).unwrap()], u32::try_from(random.below(12)).unwrap())
}

fn some_bytes(random: &mut Random) -> Vec<u8> {
    (0..random.below(6)).map(|_| random.byte() & 3).collect()
}

fn some_delta(random: &mut Random) -> UtxoSetDelta {
    let outputs = |random: &mut Random| {
        (0..random.below(4))
            .map(|_| (some_txo(random), output(u16::from(random.byte() & 7), &some_bytes(random))))
            .collect::<Vec<_>>()
    };
    let (produced, recovered) = (outputs(random), outputs(random));
    let refs = |random: &mut Random| (0..random.below(3)).map(|_| some_txo(random)).collect::<Vec<_>>();
    UtxoSetDelta { produced, recovered, consumed: refs(random), undone: refs(random) }
}

impl Model {
    /// Applies random changes to the model and to a writer.
    fn step<K: Kind>(
        &mut self,
        store: &StateStore<K::Engine>,
        random: &mut Random,
        cursor: Option<ChainPoint>,
    ) {
        let mut writer = store.start_writer().unwrap();
        for _ in 0..random.below(8) {
            let (namespace, key) = (NAMESPACES[usize::try_from(random.below(3)).unwrap()], some_key(random));
            let value = (random.below(3) > 0).then(|| some_bytes(random));
            writer.save_entity(namespace, &key, value.as_deref()).unwrap();
            match value {
                Some(value) => self.entities.insert((namespace, key), value),
                None => self.entities.remove(&(namespace, key)),
            };
        }
        for _ in 0..if K::TABLES { random.below(6) } else { 0 } {
            let (key, mut value) = (some_key(random), some_bytes(random));
            if value.is_empty() && !K::EMPTY {
                value.push(0);
            }
            let values = self.values.entry(key).or_default();
            match random.below(5) {
                0 => {
                    writer.delete_entity(MANY, &key).unwrap();
                    values.clear();
                }
                1 => {
                    writer.delete_entity_value(MANY, &key, &value).unwrap();
                    values.remove(&value);
                }
                _ => {
                    writer.write_entity(MANY, &key, &value).unwrap();
                    values.insert(value);
                }
            }
        }
        self.values.retain(|_, values| !values.is_empty());
        for _ in 0..random.below(3) {
            let delta = some_delta(random);
            writer.apply_utxoset(&delta).unwrap();
            self.utxos.extend(delta.produced.into_iter().chain(delta.recovered));
            for txo in delta.consumed.iter().chain(&delta.undone) {
                self.utxos.remove(txo);
            }
        }
        if let Some(point) = cursor {
            writer.set_cursor(point);
            self.cursor = cursor;
        }
        writer.commit().unwrap();
    }

    fn read<K: Kind>(store: &StateStore<K::Engine>) -> Self {
        let of = |namespace: &'static str| {
            entities(store, namespace).into_iter().map(move |(key, value)| ((namespace, key), value))
        };
        let mut values = BTreeMap::new();
        for byte in (0..=u8::MAX).filter(|_| K::TABLES) {
            let found = store.iter_entity_values(MANY, &key(byte)).unwrap();
            let found: BTreeSet<Vec<u8>> = found.map(|value| value.unwrap().to_vec()).collect();
            if !found.is_empty() {
                values.insert(key(byte), found);
            }
        }
        Self {
            cursor: store.read_cursor().unwrap(),
            utxos: utxos(store),
            entities: NAMESPACES.into_iter().flat_map(of).collect(),
            values,
        }
    }
}

fn random_blocks_and_rollbacks_agree_with_a_model<K: Kind>() {
    for seed in 0..rounds(2) {
        let mut random = Random(seed);
        let config = || Config { history: 5, ..config() };
        let place = Place::new();
        let mut store = K::open(&place, config());
        // The last state at each point that can be rolled back to, the newest at the end.
        let mut states = vec![Model::default()];
        let mut slot = 0;
        for _ in 0..60 {
            match random.below(10) {
                0 => {
                    drop(store);
                    store = K::open(&place, config());
                }
                1..=2 => {
                    let back = usize::try_from(random.below(8)).unwrap();
                    let to = states.len().checked_sub(1 + back).filter(|_| back <= 5);
                    let expected = to.map(|to| states[to].clone());
                    let point = expected.as_ref().and_then(|model| model.cursor);
                    if let (Some(to), Some(point)) = (to, point.or(Some(ChainPoint::Origin))) {
                        let done = store.rollback_to(&point).unwrap();
                        assert_eq!(done.blocks, back as u64, "seed {seed}");
                        states.truncate(to + 1);
                    } else {
                        let gone = ChainPoint::Slot { slot: slot + 1 };
                        assert!(matches!(store.rollback_to(&gone), Err(StateError::OutsideHistory { .. })));
                    }
                }
                3 => {
                    states.last_mut().unwrap().step::<K>(&store, &mut random, None);
                }
                _ => {
                    slot += 1;
                    let hash = [u8::try_from(slot).unwrap(); 32];
                    let point = if slot % 2 == 0 {
                        ChainPoint::Slot { slot }
                    } else {
                        ChainPoint::Specific { slot, hash }
                    };
                    let mut next = states.last().unwrap().clone();
                    next.step::<K>(&store, &mut random, Some(point));
                    states.push(next);
                    if states.len() > 6 {
                        states.remove(0);
                    }
                }
            }
            assert_eq!(Model::read::<K>(&store), *states.last().unwrap(), "seed {seed}");
        }
    }
}
