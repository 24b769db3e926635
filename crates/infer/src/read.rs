//! The cheapest reading of pieces that were cut from keys: a number, a text, a hash.

use std::collections::BTreeSet;

use keyplan_plan::codec::{Bech32, Lengths, Segment as _};

use crate::bits::{Bits, SEGMENT, choice, float, log2_next};
use crate::class::Class;
use crate::guess::{Guess, Order, Seen, number, number_le};
use crate::search::common_prefix;

/// What may be read where a piece ends: before a separator only text can be told from what follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Readers {
    /// Text without this byte.
    TextBefore(u8),
    /// Digits, up to what is none.
    Digits,
    /// Anything.
    All,
}

/// The cheapest reading of all the pieces, with what it costs; `None` if there is none.
///
/// `free_length` says that the lengths are already paid for, by a frame.
pub(crate) fn read(pieces: &[&[u8]], readers: Readers, free_length: bool) -> Option<(Bits, Guess)> {
    let lengths = Seen::of(pieces.iter().map(|piece| piece.len()));
    let n = float(pieces.len());
    let length_bits = if free_length { 0.0 } else { n * choice(lengths.span()) };
    let mut found: Vec<(Bits, Guess)> = Vec::new();
    let separator = match readers {
        Readers::TextBefore(byte) => Some(byte),
        Readers::Digits | Readers::All => None,
    };
    let decimal = decimal(pieces, n);
    let is_decimal = decimal.is_some();
    found.extend(decimal);
    if readers != Readers::Digits {
        let texts = texts(pieces, &lengths, length_bits, separator);
        // Digits are a number, however few of them there are.
        found.extend(
            texts.into_iter().filter(|(_, guess)| !is_decimal || !matches!(guess, Guess::Text { .. })),
        );
    }
    if readers == Readers::All {
        // Numbers of a fixed width are not all printable.
        let is_binary = || pieces.iter().any(|piece| !piece.iter().all(u8::is_ascii_graphic));
        if let Some(width) = lengths.fixed()
            && is_binary()
        {
            found.extend(integers(pieces, width));
        }
        found.push(bytes(pieces, lengths, length_bits));
    }
    found.into_iter().reduce(|best, next| if next.0.total() < best.0.total() { next } else { best })
}

fn bytes(pieces: &[&[u8]], lengths: Seen, length_bits: f64) -> (Bits, Guess) {
    let all: usize = pieces.iter().map(|piece| piece.len()).sum();
    let flat = 8.0 * float(all) + length_bits;
    let (plan, keys) = match repeated(pieces) {
        Some((stored, each)) if 8.0 * float(stored) + each < flat => (8.0 + 8.0 * float(stored), each),
        _ => (4.0, flat),
    };
    let awkward = if lengths.fixed().is_some_and(|width| width < 4) { 10.0 } else { 0.0 };
    let open = if lengths.fixed().is_none() { 8.0 } else { 0.0 };
    (Bits::new(SEGMENT + plan + awkward + open, keys), Guess::Bytes(lengths))
}

/// The bytes of the distinct pieces, and the bits that choose among them, if few come again and again.
fn repeated(pieces: &[&[u8]]) -> Option<(usize, f64)> {
    let distinct: BTreeSet<&[u8]> = pieces.iter().copied().collect();
    let is_few = distinct.len() >= 2 && distinct.len() * 4 <= pieces.len();
    let stored = distinct.iter().map(|piece| piece.len()).sum();
    is_few.then(|| (stored, float(pieces.len()) * choice(distinct.len())))
}

fn integers(pieces: &[&[u8]], width: usize) -> Vec<(Bits, Guess)> {
    let mut found = Vec::new();
    // Bytes that are the same in every key, and no filler of a small number, are as likely a literal.
    let same = common_prefix(pieces);
    let filled = same.iter().take_while(|byte| matches!(byte, 0x00 | 0xff | 0x7f | 0x80)).count();
    let literal = if same.len() > filled { 10.0 + 8.0 * float(same.len() - filled) } else { 0.0 };
    let mut add = |order: Order, prior: f64, values: &mut dyn Iterator<Item = u128>| {
        found.push((integer_bits(width, prior + literal, values), Guess::Int { width, order }));
    };
    match width {
        1 | 2 | 4 | 8 | 16 => {
            let prior = match width {
                1 => 12.0,
                2 | 16 => 4.0,
                _ => 0.0,
            };
            add(Order::Big, prior, &mut pieces.iter().map(|piece| number(piece)));
            if width > 1 {
                add(Order::Little, prior + 6.0, &mut pieces.iter().map(|piece| number_le(piece)));
            }
            let top = 1_u128 << (width * 8 - 1);
            let first = |byte: &[u8]| byte.first().copied().unwrap_or_default();
            let has = |wanted: u8| pieces.iter().any(|piece| first(piece) == wanted);
            if width > 1 && has(0x00) && has(0xff) {
                // Two's complement: shifted by half of the range, order is that of the numbers.
                add(Order::Signed, prior + 2.0, &mut pieces.iter().map(|piece| number(piece) ^ top));
            }
            let is_flipped = width > 1 && pieces.iter().all(|piece| matches!(first(piece), 0x7f | 0x80));
            if is_flipped {
                add(Order::SignFlip, prior - 10.0, &mut pieces.iter().map(|piece| number(piece)));
            }
        }
        9 if pieces.iter().all(|piece| is_tick(piece)) => {
            let top = 1_u128 << 63;
            let values = pieces.iter().filter_map(|piece| piece.get(1..)).map(|piece| number(piece) ^ top);
            add(Order::Tick, -20.0, &mut values.into_iter());
        }
        _ => {}
    }
    found
}

fn is_tick(piece: &[u8]) -> bool {
    matches!(piece, [5, 0x80..=0xff, ..] | [6, 0x00..=0x7f, ..])
}

/// A range of numbers, each at the same cost, or each by its size.
fn integer_bits(width: usize, prior: f64, values: &mut dyn Iterator<Item = u128>) -> Bits {
    let (mut min, mut max, mut n, mut sizes) = (u128::MAX, 0, 0_usize, 0.0);
    for value in values {
        min = min.min(value);
        max = max.max(value);
        sizes += f64::from(128 - value.leading_zeros());
        n += 1;
    }
    let range = log2_next(max.saturating_sub(min));
    let each = float(n) * range;
    let by_size = sizes + float(n) * choice(width * 8);
    Bits::new(SEGMENT + 6.0 + prior + range / 2.0, each.min(by_size))
}

/// Digits without needless zeros, or padded to one width.
fn decimal(pieces: &[&[u8]], n: f64) -> Option<(Bits, Guess)> {
    let lengths = Seen::of(pieces.iter().map(|piece| piece.len()));
    if lengths.min() == 0 || !pieces.iter().all(|piece| piece.iter().all(u8::is_ascii_digit)) {
        return None;
    }
    let mut digits = 0_usize;
    let (mut min, mut max) = (u128::MAX, 0);
    for piece in pieces {
        let value: u64 = str::from_utf8(piece).ok()?.parse().ok()?;
        min = min.min(u128::from(value));
        max = max.max(u128::from(value));
        digits += piece.len();
    }
    let flat = (n * log2_next(max - min)).min(float(digits) * 10_f64.log2() + n * choice(lengths.span()));
    let few = repeated(pieces).map(|(stored, each)| float(stored) * 10_f64.log2() + each);
    let keys = few.map_or(flat, |few| few.min(flat));
    let padded = pieces.iter().any(|piece| piece.len() > 1 && piece.starts_with(b"0"));
    match (padded, lengths.fixed()) {
        (false, _) => Some((Bits::new(SEGMENT + 4.0, keys), Guess::Dec)),
        (true, Some(width)) if width > 2 => Some((Bits::new(SEGMENT + 6.0, keys), Guess::DecPadded(width))),
        (true, _) => None,
    }
}

fn texts(pieces: &[&[u8]], lengths: &Seen, length_bits: f64, separator: Option<u8>) -> Vec<(Bits, Guess)> {
    let Some(class) = Class::of(pieces.iter().copied()) else { return Vec::new() };
    let all: usize = pieces.iter().map(|piece| piece.len()).sum();
    let mut found = Vec::new();
    found.extend(hex(pieces, all, length_bits));
    found.extend(bech32(pieces));
    if lengths.fixed() == Some(29) && pieces.iter().all(|piece| is_time(piece)) {
        found.push((Bits::new(SEGMENT, 48.0 * float(pieces.len())), Guess::Time));
    }
    let mut class = class.widened();
    if let Some(byte) = separator {
        class = class.without(byte);
    }
    let flat = float(all) * class.bits() + length_bits;
    let (plan, keys) = match repeated(pieces) {
        Some((stored, each)) if float(stored) * class.bits() + each < flat => {
            (float(stored) * class.bits(), each)
        }
        _ => (0.0, flat),
    };
    let named = if class.is_base58() { 6.0 } else { 0.0 };
    let guess = Guess::Text { class, lengths: lengths.clone(), separator };
    found.push((Bits::new(SEGMENT + 8.0 + named + plan, keys), guess));
    found
}

fn hex(pieces: &[&[u8]], all: usize, length_bits: f64) -> Option<(Bits, Guess)> {
    let is = |letters: std::ops::RangeInclusive<u8>| {
        let digit = |byte: &u8| byte.is_ascii_digit() || letters.contains(byte);
        let letter = |byte: &u8| letters.contains(byte);
        let fits = pieces.iter().all(|piece| piece.len().is_multiple_of(2) && piece.iter().all(digit));
        fits && pieces.iter().any(|piece| piece.iter().any(letter))
    };
    let upper = is(b'A'..=b'F');
    if all < 8 || !(upper || is(b'a'..=b'f')) {
        return None;
    }
    let lengths = Seen::of(pieces.iter().map(|piece| piece.len() / 2));
    Some((Bits::new(SEGMENT + 4.0, 4.0 * float(all) + length_bits), Guess::Hex { lengths, upper }))
}

/// Bech32 with one human-readable part; the checksum of every piece is verified.
fn bech32(pieces: &[&[u8]]) -> Option<(Bits, Guess)> {
    let first = str::from_utf8(pieces.first()?).ok()?;
    let (hrp, _) = first.rsplit_once('1')?;
    if hrp.is_empty() || hrp.len() > 16 {
        return None;
    }
    let mut lengths = Vec::new();
    for piece in pieces {
        let reader = Bech32 { hrp, lengths: Lengths::ANY };
        lengths.push(reader.decode(piece).ok()?.bytes().count());
    }
    let bytes: usize = lengths.iter().sum();
    let lengths = Seen::of(lengths);
    let keys = 8.0 * float(bytes) + float(pieces.len()) * choice(lengths.span());
    Some((Bits::new(SEGMENT + 8.0 * float(hrp.len()), keys), Guess::Bech32 { hrp: hrp.to_owned(), lengths }))
}

/// `2006-01-02T15:04:05.000000000`
fn is_time(piece: &[u8]) -> bool {
    let pattern = b"dddd-dd-ddTdd:dd:dd.ddddddddd";
    let fits = |(at, byte): (&u8, &u8)| if *at == b'd' { byte.is_ascii_digit() } else { at == byte };
    piece.len() == pattern.len() && pattern.iter().zip(piece).all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pieces: &[&[u8]], expected: &str) {
        let (_, guess) = read(pieces, Readers::All, false).expect("read");
        assert_eq!(guess.notation(), expected);
    }

    #[test]
    fn the_cheapest_reading_is_what_people_would_say() {
        let numbers: Vec<[u8; 8]> = (1..200_u64).map(u64::to_be_bytes).collect();
        let numbers: Vec<&[u8]> = numbers.iter().map(<[u8; 8]>::as_slice).collect();
        check(&numbers, "u64");
        check(&[b"1", b"20", b"300", b"7"], "u64.dec");
        check(&[b"0a1b", b"ffee", b"0102", b"beef"], "bytes(2).hex");
        check(&[b"uosmo", b"uatom", b"stake"], "text(\"a-z\", 5)");
        check(&[b"2024-03-01T12:00:00.000000000".as_slice(); 3], "time");
        check(&[b"\x06\0\0\0\0\0\0\0\x07", b"\x05\xff\xff\xff\xff\xff\xff\xff\x9c"], "i64.tick9");
        check(&[b"00017", b"00123", b"10000"], "u64(0..=99999).dec(5)");
        check(&[b"\xff\x01", b"\x80\x7f\x33"], "bytes(1..)");
    }
}
