use std::path::Path;

use fjall::{Database, Keyspace, KeyspaceCreateOptions, PersistMode, Readable as _, Snapshot};
use keyplan_chains::cardano::{EntityKey, TxoRef, cursor::CursorValue, entities::EntityNs};

use crate::chain::{BATCH, Block, Size, hash};
use crate::{ITERATED, Result};

/// The same state, by hand: fjall with its defaults, and batches in the order of transactions.
pub(crate) struct Hand {
    pub(crate) database: Database,
    cursor: Keyspace,
    pub(crate) utxos: Keyspace,
    pub(crate) entities: Keyspace,
}

impl Hand {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let database = Database::builder(path).open()?;
        let keyspace = |name| database.keyspace(name, KeyspaceCreateOptions::default);
        let (cursor, utxos, entities) =
            (keyspace("state-cursor")?, keyspace("state-utxos")?, keyspace("state-entities")?);
        Ok(Self { database, cursor, utxos, entities })
    }

    pub(crate) fn commit(&self, block: &Block) -> Result<()> {
        let mut batch = self.database.batch().durability(Some(PersistMode::Buffer));
        for (txo, output) in &block.delta.produced {
            let mut value = Vec::with_capacity(2 + output.cbor.len());
            value.extend_from_slice(&output.era.to_be_bytes());
            value.extend_from_slice(&output.cbor);
            batch.insert(&self.utxos, txo_key(txo), value);
        }
        for txo in &block.delta.consumed {
            batch.remove(&self.utxos, txo_key(txo));
        }
        let ns = EntityNs::ACCOUNTS.digest();
        for (key, value) in &block.entities {
            batch.insert(&self.entities, entity_key(ns, key), value);
        }
        let point = CursorValue { point: block.point }.encode()?;
        batch.insert(&self.cursor, [0_u8], point.as_slice());
        Ok(batch.commit()?)
    }

    /// Writes the entities of the namespace that is iterated over.
    pub(crate) fn write_entities(&self, size: Size) -> Result<()> {
        for chunk in 0..size.entities / BATCH {
            let mut batch = self.database.batch().durability(Some(PersistMode::Buffer));
            for at in chunk * BATCH..(chunk + 1) * BATCH {
                batch.insert(&self.entities, entity_key(iterated(), &EntityKey(hash(at))), [9_u8; 64]);
            }
            batch.commit()?;
        }
        Ok(())
    }

    /// An output: its era and the length of its body.
    pub(crate) fn get(&self, snapshot: &Snapshot, txo: &TxoRef) -> Result<Option<(u16, usize)>> {
        let Some(value) = snapshot.get(&self.utxos, txo_key(txo))? else { return Ok(None) };
        let (era, cbor) = value.split_first_chunk().ok_or("a value without an era")?;
        Ok(Some((u16::from_be_bytes(*era), cbor.len())))
    }
}

/// What the keys of the namespace that is iterated over begin with.
pub(crate) fn iterated() -> [u8; 8] {
    EntityNs::of(ITERATED).unwrap().digest()
}

fn txo_key(txo: &TxoRef) -> [u8; 36] {
    let mut key = [0; 36];
    key[..32].copy_from_slice(&txo.tx_hash);
    key[32..].copy_from_slice(&txo.index.to_be_bytes());
    key
}

fn entity_key(ns: [u8; 8], entity: &EntityKey) -> [u8; 40] {
    let mut key = [0; 40];
    key[..8].copy_from_slice(&ns);
    key[8..].copy_from_slice(&entity.0);
    key
}
