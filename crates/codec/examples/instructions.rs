//! Runs one way of making or reading a key many times, for an instruction counter to watch.
//!
//! `instructions NAME COUNT`, where a name is `LAYOUT-DIRECTION-AUTHOR` such as `tick-encode-ours`, or `empty` for
//! only the loop. The difference of two counts, divided by that of two runs, is what one key costs:
//!
//! ```text
//! valgrind --tool=callgrind --callgrind-out-file=/dev/null target/release/examples/instructions tick-encode-ours 100000
//! ```
//!
//! `ours` goes through this crate's segments, part by part, as generated code does. `hand` is what one would
//! write for that one layout, with the same checks.

use std::env;
use std::hint::black_box;
use std::process::ExitCode;

use keyplan_codec::{Buffer, DecodeError, EncodeError, Fault};

fn main() -> ExitCode {
    let mut args = env::args().skip(1);
    let (Some(name), Some(count)) = (args.next(), args.next()) else { return ExitCode::from(2) };
    let Ok(count) = count.parse() else { return ExitCode::from(2) };
    let txid: [u8; 32] = black_box([0xab; 32]);
    match name.as_str() {
        "empty" => repeat(count, || 0u8),
        "tick-encode-ours" => {
            repeat(count, || tick::encode_ours(black_box(7), black_box(-3)));
        }
        "tick-encode-hand" => {
            repeat(count, || tick::encode_hand(black_box(7), black_box(-3)));
        }
        "tick-decode-ours" => {
            let key = [1, 0, 0, 0, 0, 0, 0, 0, 7, 5, 255, 255, 255, 255, 255, 255, 255, 253];
            repeat(count, || tick::decode_ours(black_box(&key)));
        }
        "tick-decode-hand" => {
            let key = [1, 0, 0, 0, 0, 0, 0, 0, 7, 5, 255, 255, 255, 255, 255, 255, 255, 253];
            repeat(count, || tick::decode_hand(black_box(&key)));
        }
        "outpoint-encode-ours" => {
            repeat(count, || outpoint::encode_ours(black_box(&txid), black_box(9)));
        }
        "outpoint-encode-hand" => {
            repeat(count, || outpoint::encode_hand(black_box(&txid), black_box(9)));
        }
        "outpoint-decode-ours" => repeat(count, || outpoint::decode_ours(black_box(&[3; 36]))),
        "outpoint-decode-hand" => repeat(count, || outpoint::decode_hand(black_box(&[3; 36]))),
        "entity-encode-ours" => {
            repeat(count, || entity::encode_ours(black_box(&txid)));
        }
        "entity-encode-hand" => {
            repeat(count, || entity::encode_hand(black_box(&txid)));
        }
        "entity-decode-ours" => {
            let key = entity::sample();
            repeat(count, || entity::decode_ours(black_box(&key)));
        }
        "entity-decode-hand" => {
            let key = entity::sample();
            repeat(count, || entity::decode_hand(black_box(&key)));
        }
        _ => return ExitCode::from(2),
    }
    ExitCode::SUCCESS
}

#[inline(never)]
fn repeat<T>(count: u64, mut one: impl FnMut() -> T) {
    for _ in 0..count {
        black_box(one());
    }
}

/// Returns what `write` appends, which has always `N` bytes.
#[inline]
fn array<const N: usize>(write: impl FnOnce(&mut Buffer<'_>) -> Result<(), EncodeError>) -> [u8; N] {
    let mut key = [0; N];
    let written = write(&mut Buffer::new(&mut key));
    debug_assert_eq!(written, Ok(()), "the layout has one length, and no argument is refused");
    key
}

/// The error of code written by hand, which says less but not nothing.
#[cold]
fn wrong(offset: usize) -> DecodeError {
    DecodeError::new(offset, Fault::Mismatch)
}

/// `01 | pool (8) | tick (9)`.
mod tick {
    use super::{array, wrong};
    use keyplan_codec::{Be, DecodeError, Delimited, Literal, Segment, Tick9, expect_width};

    #[inline(never)]
    pub(crate) fn encode_ours(pool: u64, tick: i64) -> [u8; 18] {
        array(|out| {
            Literal(&[1]).encode((), out)?;
            Be::new().encode(pool, out)?;
            Tick9.encode(tick, out)
        })
    }

    #[inline(never)]
    pub(crate) fn encode_hand(pool: u64, tick: i64) -> [u8; 18] {
        let mut key = [0; 18];
        key[0] = 1;
        key[1..9].copy_from_slice(&pool.to_be_bytes());
        key[9] = if tick < 0 { 5 } else { 6 };
        key[10..].copy_from_slice(&tick.to_be_bytes());
        key
    }

    #[inline(never)]
    pub(crate) fn decode_ours(key: &[u8]) -> Result<(u64, i64), DecodeError> {
        expect_width::<18, _, _>(key, |key| {
            let ((), rest) = Literal(&[1]).take(key)?;
            let (pool, rest) = Be::new().take(rest).map_err(|error| error.behind(1))?;
            let tick = Tick9.decode(rest).map_err(|error| error.behind(9))?;
            Ok((pool, tick))
        })
    }

    #[inline(never)]
    pub(crate) fn decode_hand(key: &[u8]) -> Result<(u64, i64), DecodeError> {
        let Ok(key) = <&[u8; 18]>::try_from(key) else { return Err(wrong(0)) };
        if key[0] != 1 {
            return Err(wrong(0));
        }
        let pool = u64::from_be_bytes(*key[1..].first_chunk().ok_or(wrong(1))?);
        let tick = i64::from_be_bytes(*key[10..].first_chunk().ok_or(wrong(10))?);
        if key[9] != if tick < 0 { 5 } else { 6 } {
            return Err(wrong(9));
        }
        Ok((pool, tick))
    }
}

/// `txid (32) | output (4)`.
mod outpoint {
    use super::{array, wrong};
    use keyplan_codec::{Be, Bytes, DecodeError, Lengths, Segment, expect_width};

    const TXID: Bytes<'_> = Bytes { lengths: Lengths::exactly(32) };

    #[inline(never)]
    pub(crate) fn encode_ours(txid: &[u8; 32], vout: u32) -> [u8; 36] {
        array(|out| {
            TXID.encode(txid, out)?;
            Be::new().encode(vout, out)
        })
    }

    #[inline(never)]
    pub(crate) fn encode_hand(txid: &[u8; 32], vout: u32) -> [u8; 36] {
        let mut key = [0; 36];
        key[..32].copy_from_slice(txid);
        key[32..].copy_from_slice(&vout.to_be_bytes());
        key
    }

    #[inline(never)]
    pub(crate) fn decode_ours(key: &[u8]) -> Result<(&[u8], u32), DecodeError> {
        expect_width::<36, _, _>(key, |key| {
            let (txid, rest) = key.split_at_checked(32).unwrap_or((key, &[]));
            let txid = TXID.decode(txid)?;
            let vout = Be::new().decode(rest).map_err(|error| error.behind(32))?;
            Ok((txid, vout))
        })
    }

    #[inline(never)]
    pub(crate) fn decode_hand(key: &[u8]) -> Result<(&[u8], u32), DecodeError> {
        let Ok(key) = <&[u8; 36]>::try_from(key) else { return Err(wrong(0)) };
        Ok((&key[..32], u32::from_be_bytes(*key[32..].first_chunk().ok_or(wrong(32))?)))
    }
}

/// `hash of the namespace (8) | entity (32)`.
mod entity {
    use super::{array, wrong};
    use keyplan_codec::{Bytes, DecodeError, Delimited, Lengths, Literal, Segment, expect_width};

    const NAMESPACE: [u8; 8] = [0x13, 0x8a, 0x7b, 0x25, 0x41, 0x4c, 0x08, 0x3a];
    const ENTITY: Bytes<'_> = Bytes { lengths: Lengths::exactly(32) };

    pub(crate) fn sample() -> [u8; 40] {
        let mut key = [9; 40];
        key[..8].copy_from_slice(&NAMESPACE);
        key
    }

    #[inline(never)]
    pub(crate) fn encode_ours(entity: &[u8; 32]) -> [u8; 40] {
        array(|out| {
            Literal(&NAMESPACE).encode((), out)?;
            ENTITY.encode(entity, out)
        })
    }

    #[inline(never)]
    pub(crate) fn encode_hand(entity: &[u8; 32]) -> [u8; 40] {
        let mut key = [0; 40];
        key[..8].copy_from_slice(&NAMESPACE);
        key[8..].copy_from_slice(entity);
        key
    }

    #[inline(never)]
    pub(crate) fn decode_ours(key: &[u8]) -> Result<&[u8], DecodeError> {
        expect_width::<40, _, _>(key, |key| {
            let ((), rest) = Literal(&NAMESPACE).take(key)?;
            ENTITY.decode(rest).map_err(|error| error.behind(8))
        })
    }

    #[inline(never)]
    pub(crate) fn decode_hand(key: &[u8]) -> Result<&[u8], DecodeError> {
        let Ok(key) = <&[u8; 40]>::try_from(key) else { return Err(wrong(0)) };
        if key[..8] == NAMESPACE { Ok(&key[8..]) } else { Err(wrong(0)) }
    }
}
