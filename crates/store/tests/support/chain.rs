//! A chain's state in three spaces, of which every batch is known: what several tests write, damage and compare.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

use keyplan_plan::compile;
use keyplan_store::engine::{Batch, Durability, Engine, KeyRange, SpaceId};
use keyplan_store::{Schema, Store, StoreError};

use crate::support::Random;

pub(crate) const PLAN: &str = "plan p; space cursor = \"state-cursor\" { key at = 0x00; } \
                    space utxos = \"state-utxos\" { key utxo = txid: bytes(32) index: u32; } \
                    space entities = \"state-entities\" { key entity = ns: u64 key: bytes(32); }";

pub(crate) fn schema() -> Schema {
    Schema::of(&compile("p.keyplan", PLAN, |_| Err("no imports".into()))).unwrap()
}

pub(crate) const SPACES: [&str; 3] = ["state-cursor", "state-utxos", "state-entities"];

/// All rows of the three spaces.
pub(crate) type State = [BTreeMap<Vec<u8>, Vec<u8>>; 3];

/// A change of one row of one of the spaces.
pub(crate) type Change = (usize, Vec<u8>, Option<Vec<u8>>);

/// What batch `number` does: outputs come and go, entities are rewritten, the cursor moves.
pub(crate) fn changes(number: u64) -> Vec<Change> {
    let mut random = Random::new(number);
    let mut changes = vec![(0, vec![0], Some(number.to_be_bytes().to_vec()))];
    let utxo = |batch: u64, index: u64| {
        let mut random = Random::new(batch.wrapping_mul(1_000).wrapping_add(index));
        let mut key = random.bytes(32);
        key.extend(u32::try_from(index).unwrap().to_be_bytes());
        key
    };
    for index in 0..40 {
        changes.push((1, utxo(number, index), Some(random.bytes(120))));
    }
    for index in 0..35 {
        if let Some(earlier) = number.checked_sub(3) {
            changes.push((1, utxo(earlier, index), None));
        }
    }
    for _ in 0..10 {
        let mut key = random.below(3).to_be_bytes().to_vec();
        key.extend([0; 31]);
        key.push(u8::try_from(random.below(200)).unwrap());
        let value = (random.below(5) > 0).then(|| random.bytes(60));
        changes.push((2, key, value));
    }
    changes
}

pub(crate) fn apply(state: &mut State, number: u64) {
    for (space, key, value) in changes(number) {
        match value {
            Some(value) => state[space].insert(key, value),
            None => state[space].remove(&key),
        };
    }
}

pub(crate) fn ids<E: Engine>(store: &Store<E>) -> [SpaceId; 3] {
    SPACES.map(|name| store.space(name).unwrap())
}

pub(crate) fn commit<E: Engine>(
    store: &Store<E>,
    number: u64,
    durability: Durability,
) -> Result<(), StoreError> {
    let ids = ids(store);
    let mut batch = Batch::<E>::new();
    for (space, key, value) in changes(number) {
        match value {
            Some(value) => batch.put(ids[space], key, value),
            None => batch.delete(ids[space], key),
        }
    }
    store.commit(batch, durability)
}

pub(crate) fn read<E: Engine>(store: &Store<E>) -> Result<State, StoreError> {
    let snapshot = store.snapshot()?;
    let mut state = State::default();
    for (name, rows) in SPACES.iter().zip(&mut state) {
        // A damaged database may lack a space: then it has no rows.
        let Ok(space) = store.space(name) else { continue };
        for row in snapshot.range(space, KeyRange::ALL)? {
            let (key, value) = row?;
            rows.insert(key.to_vec(), value.to_vec());
        }
        // Point reads take another way than scans.
        for (key, value) in rows.iter().step_by(17) {
            assert_eq!(snapshot.get(space, key)?.as_deref(), Some(value.as_slice()));
        }
    }
    Ok(state)
}

pub(crate) fn cursor(state: &State) -> u64 {
    state[0].get(&[0][..]).map_or(0, |value| u64::from_be_bytes(value.as_slice().try_into().unwrap()))
}

/// A small file system in memory, if this process may mount one.
pub(crate) struct Mounted(pub(crate) tempfile::TempDir);

impl Mounted {
    pub(crate) fn new(size: &str) -> Option<Self> {
        let directory = tempfile::tempdir().unwrap();
        let done = Self::mount(&["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"], directory.path());
        done.then_some(Self(directory))
    }

    pub(crate) fn remount(&self, options: &str) {
        // A process that another test is just starting has its files for a moment.
        let options = format!("remount,{options}");
        let done = (0..100).any(|round| {
            std::thread::sleep(std::time::Duration::from_millis(10 * round));
            Self::mount(&["-o", &options], self.0.path())
        });
        assert!(done, "the file system is busy");
    }

    fn mount(arguments: &[&str], at: &Path) -> bool {
        let command = Command::new("mount").args(arguments).arg(at).stderr(Stdio::null()).status();
        command.is_ok_and(|status| status.success())
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0.path()).status();
    }
}
