//! What one would write for each layout by itself, into an array, with the same checks.

use crate::{Entity, Outpoint, Position, Tick, User};

#[inline(always)]
pub fn tick_encode(key: &Tick) -> [u8; 18] {
    let mut out = [0; 18];
    out[0] = 1;
    out[1..9].copy_from_slice(&key.pool.to_be_bytes());
    out[9] = if key.tick < 0 { 5 } else { 6 };
    out[10..].copy_from_slice(&key.tick.to_be_bytes());
    out
}

#[inline(always)]
pub fn tick_decode(key: &[u8]) -> Option<Tick> {
    let key: &[u8; 18] = key.try_into().ok()?;
    let pool = u64::from_be_bytes(*key[1..].first_chunk()?);
    let tick = i64::from_be_bytes(*key[10..].first_chunk()?);
    (key[0] == 1 && key[9] == if tick < 0 { 5 } else { 6 }).then_some(Tick { pool, tick })
}

/// The hex digits of each byte.
static PAIRS: [[u8; 2]; 256] = {
    let digits = b"0123456789abcdef";
    let mut pairs = [[0; 2]; 256];
    let mut byte = 0;
    while byte < 256 {
        pairs[byte] = [digits[byte >> 4], digits[byte & 15]];
        byte += 1;
    }
    pairs
};

#[inline(always)]
pub fn position_encode(key: &Position) -> ([u8; 84], usize) {
    let mut out = [0; 84];
    out[0] = 2;
    out[1] = b'/';
    for (pair, byte) in out[2..42].chunks_exact_mut(2).zip(&key.owner) {
        pair.copy_from_slice(&PAIRS[usize::from(*byte)]);
    }
    let mut at = 42;
    let mut digits = itoa::Buffer::new();
    for number in [key.pool, key.id] {
        let text = digits.format(number).as_bytes();
        out[at] = b'/';
        out[at + 1..at + 1 + text.len()].copy_from_slice(text);
        at += 1 + text.len();
    }
    (out, at)
}

pub fn position_sample(key: &Position) -> Vec<u8> {
    let (out, len) = position_encode(key);
    out[..len].to_vec()
}

/// The value of each hex digit; 255 for what is none.
static VALUES: [u8; 256] = {
    let mut values = [255; 256];
    let mut digit = 0;
    while digit < 16 {
        values[b"0123456789abcdef"[digit] as usize] = digit as u8;
        digit += 1;
    }
    values
};

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

#[inline(always)]
pub fn position_decode(key: &[u8]) -> Option<Position> {
    let rest = key.strip_prefix(&[2, b'/'])?;
    let (hex, rest) = rest.split_at_checked(40)?;
    let mut owner = [0; 20];
    let mut wrong = 0;
    for (slot, pair) in owner.iter_mut().zip(hex.chunks_exact(2)) {
        let (high, low) = (VALUES[usize::from(pair[0])], VALUES[usize::from(pair[1])]);
        *slot = high << 4 | low;
        wrong |= high | low;
    }
    if wrong > 15 {
        return None;
    }
    let rest = rest.strip_prefix(b"/")?;
    let slash = rest.iter().position(|byte| *byte == b'/')?;
    Some(Position { owner, pool: number(&rest[..slash])?, id: number(&rest[slash + 1..])? })
}

#[inline(always)]
pub fn entity_encode(key: &Entity) -> [u8; 40] {
    let mut out = [0; 40];
    out[..8].copy_from_slice(&key.ns);
    out[8..].copy_from_slice(&key.key);
    out
}

#[inline(always)]
pub fn entity_decode(key: &[u8]) -> Option<Entity> {
    let key: &[u8; 40] = key.try_into().ok()?;
    Some(Entity { ns: *key.first_chunk()?, key: *key.last_chunk()? })
}

#[inline(always)]
pub fn outpoint_encode(key: &Outpoint) -> [u8; 36] {
    let mut out = [0; 36];
    out[..32].copy_from_slice(&key.txid);
    out[32..].copy_from_slice(&key.vout.to_be_bytes());
    out
}

#[inline(always)]
pub fn outpoint_decode(key: &[u8]) -> Option<Outpoint> {
    let key: &[u8; 36] = key.try_into().ok()?;
    Some(Outpoint { txid: *key.first_chunk()?, vout: u32::from_be_bytes(*key.last_chunk()?) })
}

#[inline(always)]
pub fn user_encode(key: &User<'_>) -> Option<([u8; 81], usize)> {
    let mut out = [0; 81];
    let len = u8::try_from(key.name.len()).ok().filter(|len| *len <= 64)?;
    out[..8].copy_from_slice(&key.first.to_be_bytes());
    out[8] = len;
    let end = 9 + usize::from(len);
    out[9..end].copy_from_slice(key.name.as_bytes());
    out[end..end + 8].copy_from_slice(&key.second.to_be_bytes());
    Some((out, end + 8))
}

pub fn user_sample(key: &User<'_>) -> Vec<u8> {
    let (out, len) = user_encode(key).unwrap();
    out[..len].to_vec()
}

#[inline(always)]
pub fn user_decode(key: &[u8]) -> Option<User<'_>> {
    let (first, rest) = key.split_first_chunk::<8>()?;
    let (len, rest) = rest.split_first()?;
    let (name, rest) = rest.split_at_checked(usize::from(*len).min(65))?;
    let second: &[u8; 8] = rest.try_into().ok()?;
    if name.len() > 64 {
        return None;
    }
    Some(User {
        first: u64::from_be_bytes(*first),
        name: str::from_utf8(name).ok()?,
        second: u64::from_be_bytes(*second),
    })
}
