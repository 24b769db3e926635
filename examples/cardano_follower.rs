//! A chain followed block by block, with a rollback to another fork.

use std::error::Error;

use keyplan::store::engine::Memory;
use keyplan_chains::cardano::{ChainPoint, Config, EraCbor, StateStore, TxoRef, UtxoSetDelta};

/// The output that the block of a slot makes, on one of two forks.
const fn output(slot: u64, fork: u8) -> TxoRef {
    let mut tx_hash = [fork; 32];
    tx_hash[0] = slot.to_be_bytes()[7];
    TxoRef { tx_hash, index: 0 }
}

/// Makes an output and spends the one of the block before.
fn follow(
    store: &StateStore<Memory>,
    slot: u64,
    fork: u8,
    spent: Option<TxoRef>,
) -> Result<(), Box<dyn Error>> {
    let mut writer = store.start_writer()?;
    writer.apply_utxoset(&UtxoSetDelta {
        produced: vec![(output(slot, fork), EraCbor { era: 6, cbor: vec![0x80] })],
        consumed: spent.into_iter().collect(),
        ..UtxoSetDelta::default()
    })?;
    writer.set_cursor(ChainPoint::Slot { slot });
    writer.commit()?;
    Ok(())
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let store = StateStore::in_memory(Config::default())?;
    for slot in 1..=5 {
        follow(&store, slot, 0xaa, (slot > 1).then(|| output(slot - 1, 0xaa)))?;
    }
    assert!(store.get_utxos(&[output(3, 0xaa)])?.is_empty(), "the block of slot 4 has spent it");

    // The network has gone on from slot 3 in another way.
    store.rollback_to(&ChainPoint::Slot { slot: 3 })?;
    assert_eq!(store.get_utxos(&[output(3, 0xaa)])?.len(), 1, "it is unspent again");
    follow(&store, 4, 0xbb, Some(output(3, 0xaa)))?;

    let unspent = store.get_utxos(&[output(4, 0xaa), output(4, 0xbb)])?;
    assert!(unspent.contains_key(&output(4, 0xbb)) && unspent.len() == 1);
    println!("at {:?}, on the other fork", store.read_cursor()?);
    Ok(())
}
