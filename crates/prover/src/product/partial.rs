//! Lengths of which some bytes are read.
//!
//! A search knows every count: inside of a length it keeps the number that the bytes so far stand for, and asks here what may follow.

use keyplan_plan::codec::LenWidth;

use crate::automaton::{ByteSet, Numbers, Prefix, UNLIMITED};
use crate::sure::{Sure as _, byte as one_byte};

/// The number that a length stands for after one more byte, and whether it is complete.
pub(super) fn extended(prefix: Prefix, read: u8, value: u64, byte: u8) -> (u64, bool) {
    let byte = if prefix.flipped { !byte } else { byte };
    let shifted = |digit: u64, shift: u32| digit.checked_shl(shift).unwrap_or(0);
    match prefix.width {
        LenWidth::Compact | LenWidth::Scale => listed_extended(prefix.width, read, value, byte),
        LenWidth::Varint => (value | shifted(u64::from(byte & 0x7f), 7 * u32::from(read)), byte & 0x80 == 0),
        width if width.is_little_endian() => {
            (value | shifted(byte.into(), 8 * u32::from(read)), width.fixed() == Some(usize::from(read) + 1))
        }
        width => (value << 8 | u64::from(byte), width.fixed() == Some(usize::from(read) + 1)),
    }
}

/// The form of a length whose first byte is the lowest of `value`: how many bytes, the least and the greatest length.
fn listed_form(prefix: Prefix, value: u64) -> Option<(u8, u64, u64)> {
    let width = match (prefix.width, value & 0xff) {
        (LenWidth::Compact, 0..=0xfc) => 1,
        (LenWidth::Compact, 0xfd) => 3,
        (LenWidth::Compact, 0xfe) | (LenWidth::Scale, 3) => 5,
        (LenWidth::Scale, head) if head & 3 < 3 => 1 << (head & 3),
        _ => return None,
    };
    prefix.listed().iter().copied().find(|form| u64::from(form.0) == width)
}

/// The bytes of a length as far as they were read, the first lowest; the number instead once it is complete.
fn listed_extended(width: LenWidth, read: u8, value: u64, byte: u8) -> (u64, bool) {
    let raw = value | u64::from(byte).checked_shl(8 * u32::from(read)).unwrap_or(0);
    match listed_form(Prefix { width, flipped: false }, raw) {
        Some((bytes, ..)) if bytes == read + 1 => {
            let number = match (width, raw & 3) {
                (LenWidth::Compact, _) if bytes == 1 => raw,
                (LenWidth::Scale, 0..=2) => raw >> 2,
                _ => raw >> 8,
            };
            (number, true)
        }
        // No length begins so: one that none has.
        None => (u64::MAX, true),
        Some(_) => (raw, false),
    }
}

/// The bytes that a length may go on with.
pub(super) fn next_bytes(prefix: Prefix, counts: &Numbers, read: u8, value: u64) -> ByteSet {
    ByteSet::FULL
        .iter()
        .filter(|&byte| {
            let (value, done) = extended(prefix, read, value, byte);
            if done {
                counts.contains(value) && prefix.bytes(value).len() == usize::from(read) + 1
            } else {
                least_count(prefix, counts, read + 1, value).is_some()
            }
        })
        .fold(ByteSet::EMPTY, ByteSet::with)
}

/// A length that none whose first `read` bytes stand for `value` is greater than.
pub(super) fn greatest_count(prefix: Prefix, counts: &Numbers, read: u8, value: u64) -> u64 {
    let all = counts.max().unwrap_or(0);
    match prefix.width {
        LenWidth::Varint | LenWidth::Compact | LenWidth::Scale => all,
        width if width.is_little_endian() => all,
        width => {
            let bytes = width.fixed().sure("big-endian lengths have one width");
            let shift = 8 * u32::from(one_byte(bytes)).saturating_sub(read.into());
            let last = value
                .checked_shl(shift)
                .map(|first| first | (1u64.checked_shl(shift).map_or(UNLIMITED, |n| n - 1)));
            if read == 0 { all } else { all.min(last.unwrap_or(UNLIMITED)) }
        }
    }
}

/// The least length whose first `read` bytes stand for `value`.
pub(super) fn least_count(prefix: Prefix, counts: &Numbers, read: u8, value: u64) -> Option<u64> {
    if read == 0 {
        return counts.min();
    }
    let read = u32::from(read);
    let (bits, value, from, to) = match prefix.width {
        LenWidth::Compact | LenWidth::Scale => {
            let (_, first, last) = listed_form(prefix, value)?;
            let (bits, value) = match (prefix.width, value & 3) {
                (LenWidth::Scale, 1 | 2) => (6 + 8 * (read - 1), value >> 2),
                _ => (8 * (read - 1), value >> 8),
            };
            (bits, value, first, last)
        }
        LenWidth::Varint => (7 * read, value, 1u64.checked_shl(7 * read)?, u64::MAX),
        width if width.is_little_endian() => (8 * read, value, 0, u64::MAX),
        width => {
            let shift = 8 * u32::try_from(width.fixed()?).ok()?.checked_sub(read)?;
            let first = value.checked_shl(shift)?;
            let last = first | (1u64.checked_shl(shift)? - 1);
            return counts.at_least(first).filter(|&count| count <= last);
        }
    };
    // Those that end with the bits read so far.
    let Some(period) = 1u64.checked_shl(bits) else {
        return counts.contains(value).then_some(value);
    };
    counts.stretches().iter().find_map(|&(first, last)| {
        let (first, last) = (first.max(from), last.min(to));
        let ahead = value.wrapping_sub(first) & (period - 1);
        first.checked_add(ahead).filter(|&count| count <= last && first <= last)
    })
}
