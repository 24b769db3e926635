//! What `keyplan::plan!` makes.

keyplan::plan! {
    plan layouts;

    space cl {
        key tick = 0x01 pool: u64 tick: i64.tick9;
        key position = 0x02 "/" owner: bytes(20).hex "/" pool: u64.dec "/" id: u64.dec;
    }
    space entities { key entity = ns: bytes(8) key: bytes(32); }
    space utxos { key outpoint = txid: bytes(32) vout: u32; }
    space users { key user = first: u64 name: text(0..=64).len8 second: u64; }
}

use keyplan::typed::{KeyError, ShortBytes};
pub use layouts::cl::{Position, Tick};
pub use layouts::entities::Entity;
pub use layouts::users::User;
pub use layouts::utxos::Outpoint;

#[inline(always)]
pub fn tick_encode(key: &Tick) -> [u8; 18] {
    key.encode()
}

#[inline(always)]
pub fn tick_decode(key: &[u8]) -> Result<Tick, KeyError> {
    Tick::decode(key)
}

#[inline(always)]
pub fn position_encode(key: &Position) -> Result<ShortBytes<{ Position::MAX_LEN }>, KeyError> {
    key.encode()
}

pub fn position_sample(key: &Position) -> ShortBytes<{ Position::MAX_LEN }> {
    key.encode().unwrap()
}

#[inline(always)]
pub fn position_decode(key: &[u8]) -> Result<Position, KeyError> {
    Position::decode(key)
}

#[inline(always)]
pub fn entity_encode(key: &Entity) -> [u8; 40] {
    key.encode()
}

#[inline(always)]
pub fn entity_decode(key: &[u8]) -> Result<Entity, KeyError> {
    Entity::decode(key)
}

#[inline(always)]
pub fn outpoint_encode(key: &Outpoint) -> [u8; 36] {
    key.encode()
}

#[inline(always)]
pub fn outpoint_decode(key: &[u8]) -> Result<Outpoint, KeyError> {
    Outpoint::decode(key)
}

#[inline(always)]
pub fn user_encode(key: &User<'_>) -> Result<ShortBytes<{ User::MAX_LEN }>, KeyError> {
    key.encode()
}

pub fn user_sample(key: &User<'_>) -> ShortBytes<{ User::MAX_LEN }> {
    key.encode().unwrap()
}

#[inline(always)]
pub fn user_decode(key: &[u8]) -> Result<User<'_>, KeyError> {
    User::decode(key)
}
