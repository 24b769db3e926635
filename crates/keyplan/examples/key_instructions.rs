//! Runs one way of making or reading a key many times, for an instruction counter to watch.
//!
//! `key_instructions NAME COUNT`, where a name is `LAYOUT-DIRECTION-AUTHOR` such as `tick-encode-ours`, or `empty` for
//! the loop alone. The difference of two counts, divided by that of two runs, is what one key costs:
//!
//! ```text
//! valgrind --tool=callgrind --callgrind-out-file=/dev/null \
//!     target/release/examples/key_instructions tick-encode-ours 100000
//! ```
//!
//! `ours` is what `keyplan::plan!` makes; `hand` is what one would write for that layout alone, with the same checks.
#![expect(clippy::indexing_slicing, reason = "the hand-written side is written as one would by hand")]

use std::env;
use std::hint::black_box;
use std::process::ExitCode;

keyplan::plan! {
    plan layouts;

    space s {
        key tick = 0x01 pool: u64 tick: i64.tick9;
        key position = 0x02 "/" owner: bytes(20).hex "/" pool: u64.dec "/" id: u64.dec;
        key named = 0x05 first: u64 name: text(0..=255).len8 second: u64;
    }
    space entities { key entity = ns: bytes(8) key: bytes(32); }
    space utxos { key outpoint = txid: bytes(32) vout: u32; }
}

use layouts::entities::Entity;
use layouts::s::{Named, Position, Tick};
use layouts::utxos::Outpoint;

fn main() -> ExitCode {
    let mut args = env::args().skip(1);
    let (Some(name), Some(count)) = (args.next(), args.next()) else { return ExitCode::from(2) };
    let Ok(count) = count.parse() else { return ExitCode::from(2) };
    let txid: [u8; 32] = black_box([0xab; 32]);
    let tick = black_box(Tick { pool: 7, tick: -3 });
    let position = black_box(Position { owner: [0xab; 20], pool: 1066, id: 4_000_000 });
    let entity = black_box(Entity { ns: [7; 8], key: txid });
    let outpoint = black_box(Outpoint { txid, vout: 9 });
    let named = black_box(Named { first: 7, name: "uosmo/ibc-transfer", second: 9 });
    let (tick_key, entity_key, outpoint_key) = (tick.encode(), [3; 40], [3; 36]);
    let (text, name_key) = (hand::position_sample(&position), hand::named_sample(&named));
    match name.as_str() {
        "empty" => repeat(count, || 0u8),
        "tick-encode-ours" => repeat(count, || ours::tick_encode(black_box(&tick))),
        "tick-encode-hand" => repeat(count, || hand::tick_encode(black_box(&tick))),
        "tick-decode-ours" => repeat(count, || ours::tick_decode(black_box(&tick_key))),
        "tick-decode-hand" => repeat(count, || hand::tick_decode(black_box(&tick_key))),
        "position-encode-ours" => repeat(count, || ours::position_encode(black_box(&position))),
        "position-encode-hand" => repeat(count, || hand::position_encode(black_box(&position))),
        "position-decode-ours" => repeat(count, || ours::position_decode(black_box(&text))),
        "position-decode-hand" => repeat(count, || hand::position_decode(black_box(&text))),
        "entity-encode-ours" => repeat(count, || ours::entity_encode(black_box(&entity))),
        "entity-encode-hand" => repeat(count, || hand::entity_encode(black_box(&entity))),
        "entity-decode-ours" => repeat(count, || ours::entity_decode(black_box(&entity_key))),
        "entity-decode-hand" => repeat(count, || hand::entity_decode(black_box(&entity_key))),
        "outpoint-encode-ours" => repeat(count, || ours::outpoint_encode(black_box(&outpoint))),
        "outpoint-encode-hand" => repeat(count, || hand::outpoint_encode(black_box(&outpoint))),
        "outpoint-decode-ours" => repeat(count, || ours::outpoint_decode(black_box(&outpoint_key))),
        "outpoint-decode-hand" => repeat(count, || hand::outpoint_decode(black_box(&outpoint_key))),
        "named-encode-ours" => repeat(count, || ours::named_encode(black_box(&named))),
        "named-encode-hand" => repeat(count, || hand::named_encode(black_box(&named))),
        "named-decode-ours" => {
            repeat(count, || ours::named_decode(black_box(&name_key)).is_ok());
        }
        "named-decode-hand" => {
            repeat(count, || hand::named_decode(black_box(&name_key)).is_some());
        }
        _ => return ExitCode::from(2),
    }
    ExitCode::SUCCESS
}

#[inline(never)]
fn repeat<T>(count: u64, mut one: impl FnMut() -> T) {
    for _ in 0..count {
        // By reference: to move a result costs what its size says, which is not what is measured.
        black_box(&one());
    }
}

mod ours {
    use super::{Entity, Named, Outpoint, Position, Tick};
    use keyplan::typed::{KeyError, ShortBytes};

    #[inline(never)]
    pub(super) fn tick_encode(key: &Tick) -> [u8; 18] {
        key.encode()
    }

    #[inline(never)]
    pub(super) fn tick_decode(key: &[u8]) -> Result<Tick, KeyError> {
        Tick::decode(key)
    }

    #[inline(never)]
    pub(super) fn position_encode(key: &Position) -> Result<ShortBytes<{ Position::MAX_LEN }>, KeyError> {
        key.encode()
    }

    #[inline(never)]
    pub(super) fn position_decode(key: &[u8]) -> Result<Position, KeyError> {
        Position::decode(key)
    }

    #[inline(never)]
    pub(super) fn entity_encode(key: &Entity) -> [u8; 40] {
        key.encode()
    }

    #[inline(never)]
    pub(super) fn entity_decode(key: &[u8]) -> Result<Entity, KeyError> {
        Entity::decode(key)
    }

    #[inline(never)]
    pub(super) fn outpoint_encode(key: &Outpoint) -> [u8; 36] {
        key.encode()
    }

    #[inline(never)]
    pub(super) fn outpoint_decode(key: &[u8]) -> Result<Outpoint, KeyError> {
        Outpoint::decode(key)
    }

    #[inline(never)]
    pub(super) fn named_encode(key: &Named<'_>) -> Result<ShortBytes<{ Named::MAX_LEN }>, KeyError> {
        key.encode()
    }

    #[inline(never)]
    pub(super) fn named_decode(key: &[u8]) -> Result<Named<'_>, KeyError> {
        Named::decode(key)
    }
}

mod hand {
    use super::{Entity, Named, Outpoint, Position, Tick};

    #[inline(never)]
    pub(super) fn tick_encode(key: &Tick) -> [u8; 18] {
        let mut out = [0; 18];
        out[0] = 1;
        out[1..9].copy_from_slice(&key.pool.to_be_bytes());
        out[9] = if key.tick < 0 { 5 } else { 6 };
        out[10..].copy_from_slice(&key.tick.to_be_bytes());
        out
    }

    #[inline(never)]
    pub(super) fn tick_decode(key: &[u8]) -> Option<Tick> {
        let key: &[u8; 18] = key.try_into().ok()?;
        let pool = u64::from_be_bytes(*key[1..].first_chunk()?);
        let tick = i64::from_be_bytes(*key[10..].first_chunk()?);
        (key[0] == 1 && key[9] == if tick < 0 { 5 } else { 6 }).then_some(Tick { pool, tick })
    }

    /// The digits of `number`, at the end of `room`.
    fn digits(mut number: u64, room: &mut [u8; 20]) -> usize {
        let mut at = 20;
        loop {
            at -= 1;
            room[at] = b'0' + u8::try_from(number % 10).unwrap_or_default();
            number /= 10;
            if number == 0 {
                return at;
            }
        }
    }

    #[inline(never)]
    pub(super) fn position_encode(key: &Position) -> ([u8; 84], usize) {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut out = [0; 84];
        out[0] = 2;
        out[1] = b'/';
        for (index, byte) in key.owner.iter().enumerate() {
            out[2 + 2 * index] = DIGITS[usize::from(byte >> 4)];
            out[3 + 2 * index] = DIGITS[usize::from(byte & 15)];
        }
        let mut at = 42;
        for number in [key.pool, key.id] {
            out[at] = b'/';
            let mut room = [0; 20];
            let start = digits(number, &mut room);
            let text = &room[start..];
            out[at + 1..at + 1 + text.len()].copy_from_slice(text);
            at += 1 + text.len();
        }
        (out, at)
    }

    pub(super) fn position_sample(key: &Position) -> Vec<u8> {
        let (out, len) = position_encode(key);
        out[..len].to_vec()
    }

    fn number(text: &[u8]) -> Option<u64> {
        if text.is_empty() || (text.len() > 1 && text[0] == b'0') {
            return None;
        }
        let mut number = 0u64;
        for byte in text {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                return None;
            }
            number = number.checked_mul(10)?.checked_add(digit.into())?;
        }
        Some(number)
    }

    #[inline(never)]
    pub(super) fn position_decode(key: &[u8]) -> Option<Position> {
        let rest = key.strip_prefix(&[2, b'/'])?;
        let (hex, rest) = rest.split_at_checked(40)?;
        let value = |digit: u8| match digit {
            b'0'..=b'9' => Some(digit - b'0'),
            b'a'..=b'f' => Some(digit - b'a' + 10),
            _ => None,
        };
        let mut owner = [0; 20];
        for (slot, pair) in owner.iter_mut().zip(hex.chunks_exact(2)) {
            *slot = value(pair[0])? << 4 | value(pair[1])?;
        }
        let rest = rest.strip_prefix(b"/")?;
        let slash = rest.iter().position(|byte| *byte == b'/')?;
        Some(Position { owner, pool: number(&rest[..slash])?, id: number(&rest[slash + 1..])? })
    }

    #[inline(never)]
    pub(super) fn entity_encode(key: &Entity) -> [u8; 40] {
        let mut out = [0; 40];
        out[..8].copy_from_slice(&key.ns);
        out[8..].copy_from_slice(&key.key);
        out
    }

    #[inline(never)]
    pub(super) fn entity_decode(key: &[u8]) -> Option<Entity> {
        let key: &[u8; 40] = key.try_into().ok()?;
        Some(Entity { ns: *key.first_chunk()?, key: *key.last_chunk()? })
    }

    #[inline(never)]
    pub(super) fn outpoint_encode(key: &Outpoint) -> [u8; 36] {
        let mut out = [0; 36];
        out[..32].copy_from_slice(&key.txid);
        out[32..].copy_from_slice(&key.vout.to_be_bytes());
        out
    }

    #[inline(never)]
    pub(super) fn outpoint_decode(key: &[u8]) -> Option<Outpoint> {
        let key: &[u8; 36] = key.try_into().ok()?;
        Some(Outpoint { txid: *key.first_chunk()?, vout: u32::from_be_bytes(*key.last_chunk()?) })
    }

    #[inline(never)]
    pub(super) fn named_encode(key: &Named<'_>) -> Option<([u8; 273], usize)> {
        let mut out = [0; 273];
        let len = u8::try_from(key.name.len()).ok()?;
        out[0] = 5;
        out[1..9].copy_from_slice(&key.first.to_be_bytes());
        out[9] = len;
        let end = 10 + usize::from(len);
        out[10..end].copy_from_slice(key.name.as_bytes());
        out[end..end + 8].copy_from_slice(&key.second.to_be_bytes());
        Some((out, end + 8))
    }

    pub(super) fn named_sample(key: &Named<'_>) -> Vec<u8> {
        named_encode(key).map(|(out, len)| out[..len].to_vec()).unwrap_or_default()
    }

    #[inline(never)]
    pub(super) fn named_decode(key: &[u8]) -> Option<Named<'_>> {
        let (first, rest) = key.strip_prefix(&[5])?.split_first_chunk::<8>()?;
        let (len, rest) = rest.split_first()?;
        let (name, rest) = rest.split_at_checked(usize::from(*len))?;
        let second: &[u8; 8] = rest.try_into().ok()?;
        Some(Named {
            first: u64::from_be_bytes(*first),
            name: str::from_utf8(name).ok()?,
            second: u64::from_be_bytes(*second),
        })
    }
}
