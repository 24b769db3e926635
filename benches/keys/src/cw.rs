//! cw-storage-plus: a map with a composite key.

use cosmwasm_std::{Empty, StdResult};
use cw_storage_plus::{KeyDeserialize, Map, Path, PrimaryKey};

use crate::{Entity, Outpoint, Position, Tick, User};

const TICKS: Map<(u64, i64), Empty> = Map::new("\u{1}");
const POSITIONS: Map<(&[u8], u64, u64), Empty> = Map::new("\u{2}");
const ENTITIES: Map<(&[u8], &[u8]), Empty> = Map::new("");
const OUTPOINTS: Map<(&[u8], u32), Empty> = Map::new("");
const USERS: Map<(u64, &str, u64), Empty> = Map::new("");

#[inline]
pub fn tick_encode(key: &Tick) -> Path<Empty> {
    TICKS.key((key.pool, key.tick))
}

pub fn tick_sample(key: &Tick) -> Vec<u8> {
    (key.pool, key.tick).joined_key()
}

#[inline]
pub fn tick_decode(key: &[u8]) -> StdResult<(u64, i64)> {
    <(u64, i64)>::from_slice(key)
}

#[inline]
pub fn position_encode(key: &Position) -> Path<Empty> {
    POSITIONS.key((&key.owner, key.pool, key.id))
}

pub fn position_sample(key: &Position) -> Vec<u8> {
    (key.owner.as_slice(), key.pool, key.id).joined_key()
}

#[inline]
pub fn position_decode(key: &[u8]) -> StdResult<(Vec<u8>, u64, u64)> {
    <(Vec<u8>, u64, u64)>::from_slice(key)
}

#[inline]
pub fn entity_encode(key: &Entity) -> Path<Empty> {
    ENTITIES.key((&key.ns, &key.key))
}

pub fn entity_sample(key: &Entity) -> Vec<u8> {
    (key.ns.as_slice(), key.key.as_slice()).joined_key()
}

#[inline]
pub fn entity_decode(key: &[u8]) -> StdResult<(Vec<u8>, Vec<u8>)> {
    <(Vec<u8>, Vec<u8>)>::from_slice(key)
}

#[inline]
pub fn outpoint_encode(key: &Outpoint) -> Path<Empty> {
    OUTPOINTS.key((&key.txid, key.vout))
}

pub fn outpoint_sample(key: &Outpoint) -> Vec<u8> {
    (key.txid.as_slice(), key.vout).joined_key()
}

#[inline]
pub fn outpoint_decode(key: &[u8]) -> StdResult<(Vec<u8>, u32)> {
    <(Vec<u8>, u32)>::from_slice(key)
}

#[inline]
pub fn user_encode(key: &User<'_>) -> Path<Empty> {
    USERS.key((key.first, key.name, key.second))
}

pub fn user_sample(key: &User<'_>) -> Vec<u8> {
    (key.first, key.name, key.second).joined_key()
}

#[inline]
pub fn user_decode(key: &[u8]) -> StdResult<(u64, String, u64)> {
    <(u64, &str, u64)>::from_slice(key)
}
