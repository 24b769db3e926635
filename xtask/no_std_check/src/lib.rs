//! Links `keyplan-codec`, and what `keyplan::plan!` emits, into a program that has neither `std` nor an allocator.
//!
//! The panic handler below is the only one there may be: if anything brings in `std`, the compiler finds a second
//! one and this does not build. If anything needs `alloc`, there is no allocator to give it.
#![no_std]

use keyplan_codec::{Be, Buffer, Delimited, Literal, Segment, Tick9};

/// Writes a key and reads it back.
pub fn round_trip(pool: u64, tick: i64, room: &mut [u8]) -> Option<(u64, i64)> {
    let mut key = Buffer::new(room);
    Literal(&[0x01]).encode((), &mut key).ok()?;
    Be::<u64>::new().encode(pool, &mut key).ok()?;
    Tick9.encode(tick, &mut key).ok()?;
    let rest = key.written().strip_prefix(&[0x01])?;
    let (pool, rest) = Be::<u64>::new().take(rest).ok()?;
    Some((pool, Tick9.decode(rest).ok()?))
}

keyplan::plan! {
    plan embedded;

    type Outpoint = (txid: bytes(32) vout: u32);

    space s {
        key tick = 0x01 pool: u64 tick: i64.tick9 -> proto("TickInfo") scan by pool in order;
        key position = 0x02 "/" owner: bytes(20).hex "/" pool: u64.dec -> shares: u128;
        key named = 0x03 name: text(0..=40).terminated at: (block: 0x00 height: u32 | time: 0x01 time: time);
        key nonce = 0x04 channel: text "/" sender: text accept ambiguous "a slash may stand in either";
    }

    space t {
        hash output = 0x05 at: Outpoint field inputs = "in" -> outpoints: list(Outpoint);
        zset event = 0x06 name: text.escaped member at: Outpoint score at: score;
    }
}

/// Writes a key with the generated type and reads it back through the enum over all families.
pub fn typed_round_trip(pool: u64, tick: i64) -> Option<(u64, i64)> {
    use embedded::s::{Key, Tick};
    let key = Tick { pool, tick }.encode();
    match Key::decode(&key).ok()? {
        Key::Tick(Tick { pool, tick }) if Tick::by_pool(pool).from(tick).contains(&key) => Some((pool, tick)),
        _ => None,
    }
}

/// Writes a key of which a part is refused.
pub fn guarded<'b>(channel: &str, sender: &str, room: &'b mut [u8]) -> Option<&'b [u8]> {
    embedded::s::Nonce { channel, sender }.encode_to(room).ok()
}

#[panic_handler]
fn panicked(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
