//! bytekey2: serde. A text that is not the last argument does not decode.

use bytekey2::de::Result;
use bytekey2::{deserialize, serialize};

use crate::{Entity, Outpoint, Position, Tick, User};

#[inline]
pub fn tick_encode(key: &Tick) -> Vec<u8> {
    serialize(&(1u8, key.pool, key.tick)).unwrap()
}

#[inline]
pub fn tick_decode(key: &[u8]) -> Result<(u8, u64, i64)> {
    deserialize(key)
}

#[inline]
pub fn position_encode(key: &Position) -> Vec<u8> {
    serialize(&(2u8, key.owner, key.pool, key.id)).unwrap()
}

#[inline]
pub fn position_decode(key: &[u8]) -> Result<(u8, [u8; 20], u64, u64)> {
    deserialize(key)
}

#[inline]
pub fn entity_encode(key: &Entity) -> Vec<u8> {
    serialize(&(key.ns, key.key)).unwrap()
}

#[inline]
pub fn entity_decode(key: &[u8]) -> Result<([u8; 8], [u8; 32])> {
    deserialize(key)
}

#[inline]
pub fn outpoint_encode(key: &Outpoint) -> Vec<u8> {
    serialize(&(key.txid, key.vout)).unwrap()
}

#[inline]
pub fn outpoint_decode(key: &[u8]) -> Result<([u8; 32], u32)> {
    deserialize(key)
}

#[inline]
pub fn user_encode(key: &User<'_>) -> Vec<u8> {
    serialize(&(key.first, key.name, key.second)).unwrap()
}
