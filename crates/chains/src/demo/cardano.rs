//! The state of a Cardano node: its cursor, unspent outputs, and entities of several kinds.

use crate::five::ChainPoint;
use crate::five::cursor::{Cursor, CursorValue};
use crate::five::entities::{Entity, EntityNs};
use crate::five::utxos::{Utxo, UtxoValue};
use keyplan::typed::Cbor;

use super::error::Result;
use super::fill::Filler;

/// The era that most outputs are of.
const CONWAY: u16 = 7;

/// Writes about `rows` rows.
pub(super) fn fill(filler: &mut Filler<'_>, rows: u64) -> Result<()> {
    let point = ChainPoint::Specific { slot: 139_000_000, hash: filler.random.bytes() };
    filler.put(&Cursor, &CursorValue { point })?;
    let mut tx_hash = filler.random.bytes();
    for number in 0..rows * 3 / 4 {
        let index = u32::try_from(number % 3)?;
        if index == 0 {
            tx_hash = filler.random.bytes();
        }
        let body = output(filler);
        filler.put(&Utxo { tx_hash, index }, &UtxoValue { era: CONWAY, body: Cbor(&body) })?;
    }
    let kinds = [EntityNs::ACCOUNTS, EntityNs::POOLS, EntityNs::DREPS, EntityNs::ASSETS];
    for number in 0..rows / 4 {
        // Nearly all entities are accounts.
        let kind = if number.is_multiple_of(10) { filler.random.below(3) + 1 } else { 0 };
        let Some(ns) = usize::try_from(kind).ok().and_then(|kind| kinds.get(kind)) else { continue };
        let key = filler.random.bytes();
        let stake = filler.random.below(1 << 45);
        let body = [&[0x82, 0x1b][..], &stake.to_be_bytes(), &[0xf6]].concat();
        filler.put(&Entity { ns: *ns, key }, &Cbor(&body))?;
    }
    Ok(())
}

/// An output in CBOR: an address of 57 bytes and an amount.
fn output(filler: &mut Filler<'_>) -> Vec<u8> {
    let address = filler.random.bytes::<57>();
    let lovelace = filler.random.below(1 << 40);
    [&[0xa2, 0x00, 0x58, 57][..], &address, &[0x01, 0x1b], &lovelace.to_be_bytes()].concat()
}
