//! foundationdb-tuple.

use std::borrow::Cow;

use foundationdb_tuple::{Bytes, PackResult, pack, unpack};

use crate::{Entity, Outpoint, Position, Tick, User};

#[inline]
pub fn tick_encode(key: &Tick) -> Vec<u8> {
    pack(&(1u64, key.pool, key.tick))
}

#[inline]
pub fn tick_decode(key: &[u8]) -> PackResult<(u64, u64, i64)> {
    unpack(key)
}

#[inline]
pub fn position_encode(key: &Position) -> Vec<u8> {
    pack(&(2u64, key.owner.as_slice(), key.pool, key.id))
}

#[inline]
pub fn position_decode(key: &[u8]) -> PackResult<(u64, Bytes<'_>, u64, u64)> {
    unpack(key)
}

#[inline]
pub fn entity_encode(key: &Entity) -> Vec<u8> {
    pack(&(key.ns.as_slice(), key.key.as_slice()))
}

#[inline]
pub fn entity_decode(key: &[u8]) -> PackResult<(Bytes<'_>, Bytes<'_>)> {
    unpack(key)
}

#[inline]
pub fn outpoint_encode(key: &Outpoint) -> Vec<u8> {
    pack(&(key.txid.as_slice(), key.vout))
}

#[inline]
pub fn outpoint_decode(key: &[u8]) -> PackResult<(Bytes<'_>, u32)> {
    unpack(key)
}

#[inline]
pub fn user_encode(key: &User<'_>) -> Vec<u8> {
    pack(&(key.first, key.name, key.second))
}

#[inline]
pub fn user_decode(key: &[u8]) -> PackResult<(u64, Cow<'_, str>, u64)> {
    unpack(key)
}
