//! `format!` and `split`: the way of the chains whose keys are text.

use crate::{Entity, Outpoint, Position, Tick, User};

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(text.get(at..at + 2)?, 16).ok()).collect()
}

#[inline]
pub fn tick_encode(key: &Tick) -> String {
    format!("tick/{}/{}", key.pool, key.tick)
}

#[inline]
pub fn tick_decode(key: &[u8]) -> Option<Tick> {
    let mut parts = str::from_utf8(key).ok()?.split('/').skip(1);
    Some(Tick { pool: parts.next()?.parse().ok()?, tick: parts.next()?.parse().ok()? })
}

#[inline]
pub fn position_encode(key: &Position) -> String {
    format!("\u{2}/{}/{}/{}", hex(&key.owner), key.pool, key.id)
}

#[inline]
pub fn position_decode(key: &[u8]) -> Option<Position> {
    let mut parts = str::from_utf8(key).ok()?.split('/').skip(1);
    let owner = unhex(parts.next()?)?.try_into().ok()?;
    Some(Position { owner, pool: parts.next()?.parse().ok()?, id: parts.next()?.parse().ok()? })
}

#[inline]
pub fn entity_encode(key: &Entity) -> String {
    format!("{}/{}", hex(&key.ns), hex(&key.key))
}

#[inline]
pub fn outpoint_encode(key: &Outpoint) -> String {
    format!("{}/{}", hex(&key.txid), key.vout)
}

#[inline]
pub fn user_encode(key: &User<'_>) -> String {
    format!("{}/{}/{}", key.first, key.name, key.second)
}
