//! storekey: tuples.

use storekey::{DecodeError, decode, encode_vec};

use crate::{Entity, Outpoint, Position, Tick, User};

#[inline]
pub fn tick_encode(key: &Tick) -> Vec<u8> {
    encode_vec(&(1u8, key.pool, key.tick)).unwrap()
}

#[inline]
pub fn tick_decode(key: &[u8]) -> Result<(u8, u64, i64), DecodeError> {
    decode(key)
}

#[inline]
pub fn position_encode(key: &Position) -> Vec<u8> {
    encode_vec(&(2u8, key.owner, key.pool, key.id)).unwrap()
}

#[inline]
pub fn position_decode(key: &[u8]) -> Result<(u8, [u8; 20], u64, u64), DecodeError> {
    decode(key)
}

#[inline]
pub fn entity_encode(key: &Entity) -> Vec<u8> {
    encode_vec(&(key.ns, key.key)).unwrap()
}

#[inline]
pub fn entity_decode(key: &[u8]) -> Result<([u8; 8], [u8; 32]), DecodeError> {
    decode(key)
}

#[inline]
pub fn outpoint_encode(key: &Outpoint) -> Vec<u8> {
    encode_vec(&(key.txid, key.vout)).unwrap()
}

#[inline]
pub fn outpoint_decode(key: &[u8]) -> Result<([u8; 32], u32), DecodeError> {
    decode(key)
}

#[inline]
pub fn user_encode(key: &User<'_>) -> Vec<u8> {
    encode_vec(&(key.first, key.name, key.second)).unwrap()
}

#[inline]
pub fn user_decode(key: &[u8]) -> Result<(u64, String, u64), DecodeError> {
    decode(key)
}
