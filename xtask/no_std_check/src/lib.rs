//! Links `keyplan-codec` into a program that has neither `std` nor an allocator.
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

#[panic_handler]
fn panicked(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
