//! Integers: graphs of all numbers of a range, in each way of writing them.

use keyplan_plan::codec::Case;
use keyplan_plan::model::{IntEncoding, IntRange, IntShape};
use keyplan_plan::order;

use super::{Arena, ByteSet, NodeId, Numbers};
use crate::sure::{self, Sure as _, byte, front};

/// How digits are written as bytes.
#[derive(Clone, Copy)]
struct Digits<'d> {
    base: u32,
    /// The bytes of a set of digits at a place; the place counts from the first byte on.
    bytes: &'d dyn Fn(usize, ByteSet) -> ByteSet,
    /// Whether logical order is against numeric order.
    reversed: bool,
}

impl Digits<'_> {
    fn top(&self) -> u8 {
        byte(self.base - 1)
    }

    fn range(&self, place: usize, first: u8, last: u8) -> ByteSet {
        (self.bytes)(place, ByteSet::range(first, last))
    }

    fn below(&self, place: usize, digit: u8) -> ByteSet {
        digit.checked_sub(1).map_or(ByteSet::EMPTY, |last| self.range(place, 0, last))
    }

    fn above(&self, place: usize, digit: u8) -> ByteSet {
        digit.checked_add(1).map_or(ByteSet::EMPTY, |first| self.range(place, first, self.top()))
    }
}

/// The digits of `number`, most significant first, `width` of them.
fn digits_of(mut number: u128, base: u32, width: usize) -> Vec<u8> {
    let mut digits = vec![0; width];
    for slot in digits.iter_mut().rev() {
        *slot = byte(number % u128::from(base));
        number /= u128::from(base);
    }
    digits
}

fn count_digits(mut number: u128, base: u32) -> usize {
    let mut count = 1;
    while number >= u128::from(base) {
        number /= u128::from(base);
        count += 1;
    }
    count
}

impl Arena {
    /// The numbers from `min` to `max`, `width` digits each, most significant first.
    fn fixed(&mut self, digits: Digits<'_>, min: u128, max: u128, width: usize, next: NodeId) -> NodeId {
        let (low, high) = (digits_of(min, digits.base, width), digits_of(max, digits.base, width));
        let top = digits.top();
        let (mut free, mut from, mut to, mut both) = (next, next, next, next);
        let (mut low_free, mut high_free) = (true, true);
        // Whether the bytes of all digits are the same at every place from here on, so that they make one run.
        let mut same = 0u64;
        let mut class = None;
        let behind = next;
        for (place, (&low, &high)) in low.iter().zip(&high).enumerate().rev() {
            let all = digits.range(place, 0, top);
            same = if class == Some(all) { same + 1 } else { 1 };
            let new_free = if class == Some(all) || class.is_none() {
                self.run(all, Numbers::one(same), behind, false)
            } else {
                self.byte(all, free)
            };
            // Places of another class before the run are read one by one.
            if class.is_some() && class != Some(all) {
                class = Some(ByteSet::EMPTY);
            } else if class.is_none() {
                class = Some(all);
            }
            let equal =
                |arena: &mut Self, digit: u8, next| arena.byte(digits.range(place, digit, digit), next);
            let new_from = if low_free && low == 0 {
                new_free
            } else {
                let (tight, more) = (equal(self, low, from), self.byte(digits.above(place, low), free));
                self.split(vec![tight, more], digits.reversed)
            };
            let new_to = if high_free && high == top {
                new_free
            } else {
                let (less, tight) = (self.byte(digits.below(place, high), free), equal(self, high, to));
                self.split(vec![less, tight], digits.reversed)
            };
            let new_both = if low == high {
                equal(self, low, both)
            } else if low_free && low == 0 {
                new_to
            } else if high_free && high == top {
                new_from
            } else {
                let between = low.checked_add(1).zip(high.checked_sub(1));
                let middle = between.map_or(ByteSet::EMPTY, |(a, b)| digits.range(place, a, b));
                let ways = vec![equal(self, low, from), self.byte(middle, free), equal(self, high, to)];
                self.split(ways, digits.reversed)
            };
            (low_free, high_free) = (low_free && low == 0, high_free && high == top);
            (free, from, to, both) = (new_free, new_from, new_to, new_both);
        }
        both
    }

    /// The numbers from `min` to `max`, `width` digits each, least significant first.
    fn fixed_le(&mut self, min: u128, max: u128, width: usize, next: NodeId, flip: bool) -> NodeId {
        let class = |digits: ByteSet| digits.flipped_if(flip);
        if min == 0 && count_digits(max, 256) == width && digits_of(max, 256, width).iter().all(|&d| d == 255)
        {
            return self.run(ByteSet::FULL, Numbers::one(width as u64), next, false);
        }
        let (low, high) = (digits_of(min, 256, width), digits_of(max, 256, width));
        // What is still to be read, by whether what was read is at least `min`'s and at most `max`'s lower digits.
        let mut nodes = [[super::DEAD, super::DEAD], [super::DEAD, next]];
        for (&low, &high) in low.iter().zip(&high) {
            let mut before = [[super::DEAD; 2]; 2];
            for (at_least, row) in before.iter_mut().enumerate() {
                for (at_most, slot) in row.iter_mut().enumerate() {
                    let groups = compared(low, high, at_least == 1, at_most == 1, 255);
                    let ways = groups
                        .into_iter()
                        .map(|(digits, at_least, at_most)| {
                            let [[a, b], [c, d]] = nodes;
                            let target = match (at_least, at_most) {
                                (false, false) => a,
                                (false, true) => b,
                                (true, false) => c,
                                (true, true) => d,
                            };
                            self.byte(class(digits), target)
                        })
                        .collect();
                    *slot = self.split(ways, flip);
                }
            }
            nodes = before;
        }
        let [_, [_, start]] = nodes;
        start
    }

    /// LEB128 of the numbers from `min` to `max`, shortest form only.
    fn leb128(&mut self, min: u128, max: u128, next: NodeId, flip: bool) -> NodeId {
        let width = count_digits(max, 128);
        let (low, high) = (digits_of(min, 128, width), digits_of(max, 128, width));
        let mut nodes = [[super::DEAD; 2]; 2];
        for (place, (&low_digit, &high_digit)) in low.iter().zip(&high).enumerate() {
            let index = width - 1 - place;
            let more_low = low.iter().take(place).any(|&d| d != 0);
            let more_high = high.iter().take(place).any(|&d| d != 0);
            let mut before = [[super::DEAD; 2]; 2];
            for (at_least, row) in before.iter_mut().enumerate() {
                for (at_most, slot) in row.iter_mut().enumerate() {
                    let mut last = ByteSet::EMPTY;
                    let mut ways = Vec::new();
                    for (digits, at_least, at_most) in
                        compared(low_digit, high_digit, at_least == 1, at_most == 1, 127)
                    {
                        if (at_least && !more_low) && (at_most || more_high) {
                            last = last.or(digits);
                        }
                        let [[a, b], [c, d]] = nodes;
                        let target = match (at_least, at_most) {
                            (false, false) => a,
                            (false, true) => b,
                            (true, false) => c,
                            (true, true) => d,
                        };
                        let marked = digits.iter().fold(ByteSet::EMPTY, |set, digit| set.with(digit | 0x80));
                        ways.push(self.byte(marked.flipped_if(flip), target));
                    }
                    // A last digit of zero would not be the shortest form.
                    let last = if index > 0 { last.minus(ByteSet::of(0)) } else { last };
                    ways.insert(0, self.byte(last.flipped_if(flip), next));
                    *slot = self.split(ways, flip);
                }
            }
            nodes = before;
        }
        let [_, [_, start]] = nodes;
        start
    }

    /// Text of the numbers from `min` to `max` without leading zeros.
    fn open_text(&mut self, text: Text, min: u128, max: u128, next: NodeId, flip: bool) -> NodeId {
        let base = text.base();
        let bytes = |_: usize, digits: ByteSet| text.bytes(digits).flipped_if(flip);
        let digits = Digits { base, bytes: &bytes, reversed: flip };
        let mut ways = Vec::new();
        if min == 0 {
            ways.push(self.byte(digits.range(0, 0, 0), next));
        }
        let low = min.max(1);
        if low <= max {
            let mut full = Vec::new();
            let mut partial = Vec::new();
            for length in count_digits(low, base)..=count_digits(max, base) {
                let exponent = u32::try_from(length).sure("no more digits than a number has bits");
                let least = u128::from(base).checked_pow(exponent - 1).unwrap_or(u128::MAX);
                let most = u128::from(base).checked_pow(exponent).map_or(u128::MAX, |limit| limit - 1);
                // The greatest number of so many digits may be beyond what fits: then the range is cut, not full.
                let whole = u128::from(base).checked_pow(exponent).is_some();
                if low <= least && most <= max && whole {
                    full.push((length as u64 - 1, length as u64 - 1));
                } else {
                    let node = self.fixed(digits, low.max(least), max.min(most), length, next);
                    partial.push((length, node));
                }
            }
            let full = Numbers::from_stretches(full);
            if let Some(fewest) = full.min() {
                let run = self.run(digits.range(0, 0, digits.top()), full, next, flip);
                let node = self.byte(digits.range(0, 1, digits.top()), run);
                partial
                    .push((usize::try_from(fewest).sure("no more digits than a number has bits") + 1, node));
            }
            order::sort(&mut partial);
            ways.extend(partial.into_iter().map(|(_, node)| node));
        }
        self.split(ways, flip)
    }

    /// An integer.
    pub(super) fn int(&mut self, int: &IntShape, next: NodeId, flip: bool) -> NodeId {
        match int.range {
            IntRange::Unsigned { min, max } => self.unsigned(int, min, max, next, flip),
            IntRange::Signed { min, max } => self.signed(int, min, max, next, flip),
        }
    }

    /// Big-endian bytes of the numbers from `min` to `max`; `flip` complements them and turns the order around.
    pub(super) fn be(&mut self, min: u128, max: u128, width: usize, next: NodeId, flip: bool) -> NodeId {
        let bytes = |_: usize, digits: ByteSet| digits.flipped_if(flip);
        self.fixed(Digits { base: 256, bytes: &bytes, reversed: flip }, min, max, width, next)
    }

    fn unsigned(&mut self, int: &IntShape, min: u128, max: u128, next: NodeId, flip: bool) -> NodeId {
        let width = int.ty.bytes();
        let byte = |byte: u8| ByteSet::of(byte).flipped_if(flip);
        match int.encoding {
            IntEncoding::Le => self.fixed_le(min, max, width, next, flip),
            IntEncoding::Dec => self.open_text(Text::Decimal, min, max, next, flip),
            IntEncoding::Hex(case) => self.open_text(Text::Hex(case), min, max, next, flip),
            IntEncoding::DecPadded(width) => self.padded(Text::Decimal, min, max, width, next, flip),
            IntEncoding::HexPadded(case, width) => self.padded(Text::Hex(case), min, max, width, next, flip),
            IntEncoding::Leb128 => self.leb128(min, max, next, flip),
            IntEncoding::OrdVar => {
                let mut ways = Vec::new();
                if min <= 109 {
                    let small = |n: u128| sure::byte(n.min(109)) + 0x88;
                    ways.push(self.byte(ByteSet::range(small(min), small(max)).flipped_if(flip), next));
                }
                for count in 1..=8u8 {
                    let (least, most) = byte_bounds(count.into());
                    let (low, high) = (min.max(least).max(110), max.min(most));
                    if low <= high {
                        let number = self.be(low, high, count.into(), next, flip);
                        ways.push(self.byte(byte(0xf5 + count), number));
                    }
                }
                self.split(ways, flip)
            }
            IntEncoding::BitcoinVarint => self.bitcoin_varint(min, max, next, flip),
            IntEncoding::CompactSize => {
                let mut ways = Vec::new();
                if min <= 0xfc {
                    let small = |n: u128| sure::byte(n.min(0xfc));
                    ways.push(self.byte(ByteSet::range(small(min), small(max)).flipped_if(flip), next));
                }
                for (mark, width, least) in [(0xfd, 2, 0xfd), (0xfe, 4, 1 << 16), (0xff, 8, 1 << 32)] {
                    let most = (1u128 << (8 * width)) - 1;
                    let (low, high) = (min.max(least), max.min(most));
                    if low <= high {
                        let number = self.fixed_le(low, high, width, next, flip);
                        ways.push(self.byte(byte(mark), number));
                    }
                }
                self.split(ways, flip)
            }
            IntEncoding::ScaleCompact => {
                let mut ways = Vec::new();
                // The mark is below the number, so that the bytes are those of the number four times as large.
                let small = [(1, 0, 1u128 << 6, 0u128), (2, 1 << 6, 1 << 14, 1), (4, 1 << 14, 1 << 30, 2)];
                for (width, first, limit, mark) in small {
                    let (low, high) = (min.max(first), max.min(limit - 1));
                    if low <= high {
                        ways.push(self.scale_marked(low, high, width, mark, next, flip));
                    }
                }
                for count in 4..=16u8 {
                    let (least, most) = byte_bounds(count.into());
                    let (low, high) = (min.max(least).max(1 << 30), max.min(most));
                    if low <= high {
                        let number = self.fixed_le(low, high, count.into(), next, flip);
                        ways.push(self.byte(byte((count - 4) << 2 | 3), number));
                    }
                }
                self.split(ways, flip)
            }
            IntEncoding::OrderedCode => {
                let mut ways = Vec::new();
                if min == 0 {
                    ways.push(self.byte(byte(0), next));
                }
                for count in 1..=8u8 {
                    let (least, most) = byte_bounds(count.into());
                    let (low, high) = (min.max(least), max.min(most));
                    if low <= high {
                        let number = self.be(low, high, count.into(), next, flip);
                        ways.push(self.byte(byte(count), number));
                    }
                }
                self.split(ways, flip)
            }
            IntEncoding::Tuple => {
                let ways = self.tuple_magnitudes(min, max, next, flip, Sign::Positive);
                self.split(ways, flip)
            }
            IntEncoding::Low(kept) => self.lowest_bytes(min, max, kept, next, flip),
            IntEncoding::High(kept) => {
                let high = |number: u128| number.checked_shr(8 * cut(width, kept)).unwrap_or_default();
                self.be(high(min), high(max), kept, next, flip)
            }
            IntEncoding::Float => {
                let ways = self.float_magnitudes(min, max, next, flip, Sign::Positive);
                self.split(ways, flip)
            }
            IntEncoding::Be | IntEncoding::SignFlip | IntEncoding::Tick9 | IntEncoding::Saturating => {
                self.be(min, max, width, next, flip)
            }
        }
    }

    /// The lowest `kept` bytes of the numbers from `min` to `max`, most significant first.
    fn lowest_bytes(&mut self, min: u128, max: u128, kept: usize, next: NodeId, flip: bool) -> NodeId {
        let mask = u128::MAX.checked_shr(8 * cut(16, kept)).unwrap_or_default();
        if max - min >= mask {
            return self.run(ByteSet::FULL, Numbers::one(kept as u64), next, false);
        }
        let (first, last) = (min & mask, max & mask);
        if first <= last {
            return self.be(first, last, kept, next, flip);
        }
        let ways = vec![self.be(0, last, kept, next, flip), self.be(first, mask, kept, next, flip)];
        self.split(ways, flip)
    }

    /// The numbers from `min` to `max` above two bits that are `mark`, least significant byte first.
    fn scale_marked(
        &mut self,
        min: u128,
        max: u128,
        width: usize,
        mark: u128,
        next: NodeId,
        flip: bool,
    ) -> NodeId {
        // By the six bits of the first byte: which numbers go on after it depends on them.
        let mut ways: Vec<(NodeId, ByteSet)> = Vec::new();
        for low in 0..64u128 {
            // Numbers `64 × high + low` from `min` to `max`.
            let (first, last) =
                (min.saturating_sub(low).div_ceil(64), max.checked_sub(low).map(|max| max / 64));
            let Some(last) = last.filter(|&last| first <= last) else { continue };
            let head = byte(low << 2 | mark);
            let rest = if width == 1 { next } else { self.fixed_le(first, last, width - 1, next, flip) };
            match ways.iter_mut().find(|(node, _)| *node == rest) {
                Some((_, set)) => *set = set.with(head),
                None => ways.push((rest, ByteSet::of(head))),
            }
        }
        let ways = ways.into_iter().map(|(rest, set)| self.byte(set.flipped_if(flip), rest)).collect();
        self.split(ways, flip)
    }

    /// Signed numbers of orderedcode whose magnitude, or one less if they are negative, is from `min` to `max`; the
    /// smallest first. Those of negative numbers are complemented.
    fn ordered_magnitudes(
        &mut self,
        min: u128,
        max: u128,
        next: NodeId,
        flip: bool,
        sign: Sign,
    ) -> Vec<NodeId> {
        let negative = sign == Sign::Negative;
        let mut ways = Vec::new();
        for width in 1..=10usize {
            let least = if width == 1 { 0 } else { 1u128 << (7 * width - 8) };
            let (low, high) = (min.max(least), max.min((1u128 << (7 * width - 1)) - 1));
            if low <= high {
                let marks = ((1u128 << width) - 1) << (7 * width);
                ways.push(self.be(low | marks, high | marks, width, next, flip != negative));
            }
        }
        ways
    }

    /// The floats of magnitudes, the smallest first.
    fn float_magnitudes(
        &mut self,
        min: u128,
        max: u128,
        next: NodeId,
        flip: bool,
        sign: Sign,
    ) -> Vec<NodeId> {
        let mark = if sign == Sign::Negative { 1u128 << 63 } else { 0 };
        let mut ways = Vec::new();
        if min == 0 {
            ways.push(self.be(mark, mark, 8, next, flip));
        }
        let (first, last) = (float_bits(min.max(1)), float_bits(max));
        for exponent in first >> 52..=last >> 52 {
            // Below 2⁵² the lowest bits of a whole number are zero: first the bytes of zeros, then bits of one byte.
            let zeros = 1075u128.saturating_sub(exponent);
            let (bytes, bits) = (usize::from(byte(zeros / 8)).min(6), zeros % 8);
            let step = 1u128 << zeros.min(52);
            let low = first.max(exponent << 52) | mark;
            let high = last.min(((exponent + 1) << 52) - step) | mark;
            if low > high || max == 0 {
                continue;
            }
            let tail = self.literal_flipped(front(&[0u8; 8], bytes), next, flip);
            let width = 8 - bytes;
            let whole = |place: usize, digits: ByteSet| {
                let digits = if place + 1 == width {
                    digits
                        .iter()
                        .filter(|digit| u128::from(*digit) % (1 << bits) == 0)
                        .fold(ByteSet::EMPTY, ByteSet::with)
                } else {
                    digits
                };
                digits.flipped_if(flip)
            };
            let digits = Digits { base: 256, bytes: &whole, reversed: flip };
            ways.push(self.fixed(digits, low >> (8 * bytes), high >> (8 * bytes), width, tail));
        }
        ways
    }

    fn padded(&mut self, text: Text, min: u128, max: u128, width: usize, next: NodeId, flip: bool) -> NodeId {
        let bytes = |_: usize, digits: ByteSet| text.bytes(digits).flipped_if(flip);
        self.fixed(Digits { base: text.base(), bytes: &bytes, reversed: flip }, min, max, width, next)
    }

    fn bitcoin_varint(&mut self, min: u128, max: u128, next: NodeId, flip: bool) -> NodeId {
        let mut ways = Vec::new();
        let mut full = Vec::new();
        let mut first = 0u128;
        for length in 1..=19usize {
            // Numbers of `length` bytes are those from `first` on, counted in base 128.
            let exponent = u32::try_from(7 * length).sure("no more than 19 digits");
            let size = 1u128.checked_shl(exponent);
            let last = size.and_then(|size| first.checked_add(size - 1)).unwrap_or(u128::MAX);
            if first > max {
                break;
            }
            let (low, high) = (min.max(first), max.min(last));
            if low == first && high == last && size.is_some() {
                full.push((length as u64 - 1, length as u64 - 1));
            } else if low <= high {
                let bytes = |place: usize, digits: ByteSet| {
                    let mark = if place + 1 < length { 0x80 } else { 0 };
                    digits.iter().fold(ByteSet::EMPTY, |set, digit| set.with(digit | mark)).flipped_if(flip)
                };
                let digits = Digits { base: 128, bytes: &bytes, reversed: flip };
                ways.push((length, self.fixed(digits, low - first, high - first, length, next)));
            }
            let Some(after) = last.checked_add(1) else { break };
            first = after;
        }
        let full = Numbers::from_stretches(full);
        if let Some(fewest) = full.min() {
            let last = self.byte(ByteSet::range(0, 0x7f).flipped_if(flip), next);
            let node = self.run(ByteSet::range(0x80, 0xff).flipped_if(flip), full, last, flip);
            ways.push((usize::try_from(fewest).sure("no more digits than a number has bits") + 1, node));
        }
        order::sort(&mut ways);
        self.split(ways.into_iter().map(|(_, node)| node).collect(), flip)
    }

    /// Tuple elements of magnitudes, the smallest first; those of negative numbers are complemented.
    fn tuple_magnitudes(
        &mut self,
        min: u128,
        max: u128,
        next: NodeId,
        flip: bool,
        sign: Sign,
    ) -> Vec<NodeId> {
        let negative = sign == Sign::Negative;
        let byte = |byte: u8| ByteSet::of(byte).flipped_if(flip);
        let mut ways = Vec::new();
        if min == 0 && !negative {
            ways.push(self.byte(byte(0x14), next));
        }
        for count in 1..=16u8 {
            let (least, most) = byte_bounds(count.into());
            let (low, high) = (min.max(least), max.min(most));
            if low > high {
                continue;
            }
            let number = self.be(low, high, count.into(), next, flip != negative);
            let node = match (count, negative) {
                (1..=8, false) => self.byte(byte(0x14 + count), number),
                (1..=8, true) => self.byte(byte(0x14 - count), number),
                (_, false) => self.literal_flipped(&[0x1d, count], number, flip),
                (_, true) => self.literal_flipped(&[0x0b, !count], number, flip),
            };
            ways.push(node);
        }
        ways
    }

    pub(super) fn literal_flipped(&mut self, bytes: &[u8], next: NodeId, flip: bool) -> NodeId {
        bytes.iter().rev().fold(next, |next, &byte| self.byte(ByteSet::of(byte).flipped_if(flip), next))
    }

    fn signed(&mut self, int: &IntShape, min: i128, max: i128, next: NodeId, flip: bool) -> NodeId {
        let (width, bits) = (int.ty.bytes(), int.ty.bits);
        let below = (min < 0).then(|| (min, max.min(-1)));
        let above = (max >= 0).then(|| (min.max(0).unsigned_abs(), max.unsigned_abs()));
        let pattern = |n: i128| n.cast_unsigned() & (u128::MAX >> (128 - bits));
        let mut ways = Vec::new();
        match int.encoding {
            IntEncoding::SignFlip => {
                let half = 1u128 << (bits - 1);
                return self.be(pattern(min) ^ half, pattern(max) ^ half, width, next, flip);
            }
            IntEncoding::Saturating => {
                return self.be(min.max(0).unsigned_abs(), max.max(0).unsigned_abs(), width, next, flip);
            }
            IntEncoding::Dec => {
                if let Some((min, max)) = below {
                    let (low, high) = (max.unsigned_abs(), min.unsigned_abs());
                    let number = self.open_text(Text::Decimal, low, high, next, flip);
                    ways.push(self.literal_flipped(b"-", number, flip));
                }
                if let Some((min, max)) = above {
                    ways.push(self.open_text(Text::Decimal, min, max, next, flip));
                }
            }
            IntEncoding::Tuple => {
                if let Some((min, max)) = below {
                    let (low, high) = (max.unsigned_abs(), min.unsigned_abs());
                    ways = self.tuple_magnitudes(low, high, next, flip, Sign::Negative);
                    ways.reverse();
                }
                if let Some((min, max)) = above {
                    ways.extend(self.tuple_magnitudes(min, max, next, flip, Sign::Positive));
                }
            }
            IntEncoding::OrderedCode => {
                if let Some((min, max)) = below {
                    let (low, high) = (max.unsigned_abs() - 1, min.unsigned_abs() - 1);
                    ways = self.ordered_magnitudes(low, high, next, flip, Sign::Negative);
                    ways.reverse();
                }
                if let Some((min, max)) = above {
                    ways.extend(self.ordered_magnitudes(min, max, next, flip, Sign::Positive));
                }
            }
            IntEncoding::Float => {
                if let Some((min, max)) = below {
                    let (low, high) = (max.unsigned_abs(), min.unsigned_abs());
                    ways = self.float_magnitudes(low, high, next, flip, Sign::Negative);
                }
                if let Some((min, max)) = above {
                    ways.extend(self.float_magnitudes(min, max, next, flip, Sign::Positive));
                }
            }
            IntEncoding::Tick9 => {
                if let Some((min, max)) = below {
                    let number = self.be(pattern(min), pattern(max), width, next, flip);
                    ways.push(self.literal_flipped(&[5], number, flip));
                }
                if let Some((min, max)) = above {
                    let number = self.be(min, max, width, next, flip);
                    ways.push(self.literal_flipped(&[6], number, flip));
                }
            }
            encoding => {
                let whole = int.ty.range() == int.range;
                let le = encoding == IntEncoding::Le;
                if whole {
                    return self.run(ByteSet::FULL, Numbers::one(width as u64), next, false);
                }
                let range = below.map(|(min, max)| (pattern(min), pattern(max)));
                for (min, max) in range.into_iter().chain(above) {
                    ways.push(if le {
                        self.fixed_le(min, max, width, next, flip)
                    } else {
                        self.be(min, max, width, next, flip)
                    });
                }
            }
        }
        self.split(ways, flip)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    Positive,
    Negative,
}

/// A base that is written as text.
#[derive(Clone, Copy)]
enum Text {
    Decimal,
    Hex(Case),
}

impl Text {
    fn base(self) -> u32 {
        match self {
            Self::Decimal => 10,
            Self::Hex(_) => 16,
        }
    }

    fn bytes(self, digits: ByteSet) -> ByteSet {
        let first_letter = match self {
            Self::Hex(Case::Upper) => b'A',
            _ => b'a',
        };
        let byte = |digit: u8| if digit < 10 { b'0' + digit } else { first_letter + (digit - 10) };
        digits.iter().fold(ByteSet::EMPTY, |set, digit| set.with(byte(digit)))
    }
}

/// How many bytes are left of `all` without `kept`.
fn cut(all: usize, kept: usize) -> u32 {
    u32::try_from(all.saturating_sub(kept)).unwrap_or(16)
}

/// The bits of the float that is nearest to a number.
#[expect(clippy::cast_precision_loss, reason = "that is what is written")]
fn float_bits(number: u128) -> u128 {
    (number as f64).to_bits().into()
}

/// The least and the greatest number of exactly `count` bytes.
fn byte_bounds(count: u32) -> (u128, u128) {
    (1u128 << (8 * (count - 1)), u128::MAX >> (128 - 8 * count))
}

/// The digits up to `top`, grouped by how a number whose lower digits compare as given compares with this digit
/// before them.
fn compared(low: u8, high: u8, at_least: bool, at_most: bool, top: u8) -> Vec<(ByteSet, bool, bool)> {
    let mut groups: Vec<(ByteSet, bool, bool)> = Vec::new();
    for digit in 0..=top {
        let least = digit > low || (digit == low && at_least);
        let most = digit < high || (digit == high && at_most);
        match groups.iter_mut().find(|(_, a, b)| (*a, *b) == (least, most)) {
            Some((set, ..)) => *set = set.with(digit),
            None => groups.push((ByteSet::of(digit), least, most)),
        }
    }
    groups
}
