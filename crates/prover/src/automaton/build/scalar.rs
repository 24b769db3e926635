//! Truth values, floats, times, scores, bytes and nibbles.

use keyplan_plan::codec::{Base58, Heights, Lengths};
use keyplan_plan::model::{
    BoolEncoding, BytesEncoding, FloatEncoding, LengthSet, NibbleEncoding, ScoreEncoding, TimeEncoding,
};

use super::escape::Escape;
use super::{BASE58, BECH32, MOST_LENGTHS, Pen, Plain, hex_set, numbers, set_of, size};
use crate::automaton::{Arena, ByteSet, NodeId, Numbers, UNLIMITED};
use crate::sure::byte;

impl Pen<'_> {
    pub(super) fn bool(&mut self, encoding: BoolEncoding, next: NodeId, flip: bool) -> NodeId {
        let set = match encoding {
            BoolEncoding::Byte => ByteSet::range(0, 1),
            BoolEncoding::Tuple => ByteSet::range(0x26, 0x27),
        };
        self.arena.byte(set.flipped_if(flip), next)
    }

    pub(super) fn time(&mut self, encoding: TimeEncoding, next: NodeId, flip: bool) -> NodeId {
        match encoding {
            TimeEncoding::Text9 => self.text9(next, flip),
            TimeEncoding::Nanos => self.arena.run(ByteSet::FULL, Numbers::one(8), next, false),
        }
    }

    pub(super) fn float(&mut self, encoding: FloatEncoding, next: NodeId, flip: bool) -> NodeId {
        let infinity = u128::from(f64::INFINITY.to_bits());
        let sign = 1u128 << 63;
        // Not a number is left out, and so is the negative zero.
        let ranges = match encoding {
            FloatEncoding::Bits => [(0, infinity), (sign + 1, sign | infinity)],
            FloatEncoding::Ordered | FloatEncoding::Tuple => {
                [((1u128 << 52) - 1, sign - 2), (sign, sign | infinity)]
            }
            FloatEncoding::Badger => [(0, sign - 2), (sign, sign | infinity)],
            FloatEncoding::Fixed(_) => {
                self.loose.insert("not every fixed-point number stands for a float");
                return self.arena.run(ByteSet::FULL, Numbers::one(8), next, false);
            }
        };
        let ways = ranges.into_iter().map(|(min, max)| self.arena.be(min, max, 8, next, flip)).collect();
        let node = self.arena.split(ways, flip);
        if encoding == FloatEncoding::Tuple { self.arena.literal_flipped(&[0x21], node, flip) } else { node }
    }

    /// `2006-01-02T15:04:05.000000000`, without regard to how many days a month has.
    fn text9(&mut self, next: NodeId, flip: bool) -> NodeId {
        self.loose.insert("every month has 31 days in the graph");
        let digits = |first: u8, last: u8| ByteSet::range(b'0' + first, b'0' + last).flipped_if(flip);
        let arena = &mut *self.arena;
        let two = |arena: &mut Arena, min: u128, max: u128, next: NodeId| {
            let tens = byte(max / 10);
            let ones = byte(max % 10);
            let mut ways = Vec::new();
            for ten in 0..=tens {
                let first = if ten == 0 { byte(min) } else { 0 };
                let last = if ten == tens { ones } else { 9 };
                let one = arena.byte(digits(first, last), next);
                ways.push(arena.byte(digits(ten, ten), one));
            }
            arena.split(ways, flip)
        };
        let node = arena.run(digits(0, 9), Numbers::one(9), next, false);
        let node = arena.literal_flipped(b".", node, flip);
        let node = two(arena, 0, 59, node);
        let node = arena.literal_flipped(b":", node, flip);
        let node = two(arena, 0, 59, node);
        let node = arena.literal_flipped(b":", node, flip);
        let node = two(arena, 0, 23, node);
        let node = arena.literal_flipped(b"T", node, flip);
        let node = two(arena, 1, 31, node);
        let node = arena.literal_flipped(b"-", node, flip);
        let node = two(arena, 1, 12, node);
        let node = arena.literal_flipped(b"-", node, flip);
        arena.run(digits(0, 9), Numbers::one(4), node, false)
    }

    pub(super) fn score(
        &mut self,
        heights: Option<Heights>,
        encoding: ScoreEncoding,
        next: NodeId,
        flip: bool,
    ) -> NodeId {
        match (heights, encoding) {
            (Some(heights), ScoreEncoding::Exact) => {
                let index = self.arena.be(0, 999_999_999, 8, next, flip);
                let height = self.arena.be(heights.least.into(), heights.most.into(), 4, index, flip);
                self.arena.literal_flipped(&[0], height, flip)
            }
            (Some(heights), ScoreEncoding::HeightScore) => {
                // Floats from 0 on sort as their bits do.
                let (least, most) = heights.floats();
                self.arena.be(least.to_bits().into(), most.to_bits().into(), 8, next, flip)
            }
            (None, ScoreEncoding::Exact) => {
                let confirmed = self.arena.run(ByteSet::FULL, Numbers::one(12), next, false);
                let confirmed = self.arena.literal_flipped(&[0], confirmed, flip);
                let nanos = self.arena.be(0, 999_999_999, 4, next, flip);
                let pending = self.arena.run(ByteSet::FULL, Numbers::one(8), nanos, false);
                let pending = self.arena.literal_flipped(&[1], pending, flip);
                self.arena.split(vec![confirmed, pending], flip)
            }
            (None, ScoreEncoding::HeightScore) => {
                self.arena.be(0, u128::from(f64::MAX.to_bits()), 8, next, flip)
            }
        }
    }

    pub(super) fn bytes(
        &mut self,
        lengths: &LengthSet,
        encoding: &BytesEncoding,
        next: NodeId,
        flip: bool,
    ) -> NodeId {
        let counts = numbers(lengths);
        match encoding {
            BytesEncoding::Raw | BytesEncoding::Wide { .. } => {
                self.arena.run(ByteSet::FULL, counts, next, flip)
            }
            BytesEncoding::Class(class) => {
                self.arena.run(ByteSet::from_bits(class.bits()).flipped_if(flip), counts, next, flip)
            }
            BytesEncoding::Fit(width) => {
                // What is shorter than the width is padded.
                let width = *width as u64;
                let own = counts.max().unwrap_or(0).min(width);
                let padding =
                    self.arena.run(ByteSet::of(0).flipped_if(flip), Numbers::one(width - own), next, false);
                self.arena.run(ByteSet::FULL, Numbers::one(own), padding, false)
            }
            BytesEncoding::Hex(case) => {
                let set = hex_set(*case).flipped_if(flip);
                match doubled(&counts) {
                    Some(counts) => self.arena.run(set, counts, next, flip),
                    None => self.hex_loop(set, &counts, next, flip),
                }
            }
            BytesEncoding::Bech32(hrp) => {
                self.loose.insert("a checksum is free in the graph");
                let characters = |n: u64| n.saturating_mul(8).div_ceil(5).saturating_add(6);
                let most = counts.max().unwrap_or(0).min(1 << 16);
                let listed: Vec<(u64, u64)> = (0..=most)
                    .filter(|&n| counts.contains(n))
                    .map(|n| (characters(n), characters(n)))
                    .collect();
                let texts = Numbers::from_stretches(listed);
                let data = self.arena.run(set_of(BECH32).flipped_if(flip), texts, next, flip);
                let data = self.arena.literal_flipped(b"1", data, flip);
                self.arena.literal_flipped(hrp.as_bytes(), data, flip)
            }
            BytesEncoding::Base58 { check } => {
                self.loose.insert(if *check {
                    "a checksum is free in the graph"
                } else {
                    "which numbers base58 text stands for is free in the graph"
                });
                let of = Base58 { check: *check, lengths: Lengths::ANY };
                let most = usize::try_from(counts.max().unwrap_or(0)).unwrap_or(usize::MAX).min(Base58::MOST);
                let listed = (0..=most).filter(|&n| counts.contains(n as u64)).map(|n| {
                    let (least, most) = of.text_lengths(n);
                    (least as u64, most as u64)
                });
                let texts = Numbers::from_stretches(listed.collect());
                self.arena.run(set_of(BASE58).flipped_if(flip), texts, next, flip)
            }
            BytesEncoding::Tuple => {
                let end = self.arena.literal_flipped(&[0], next, flip);
                let contents = self.escaped_run(Escape::ZEROS, ByteSet::FULL, &counts, end, flip, flip);
                self.arena.literal_flipped(&[1], contents, flip)
            }
        }
    }

    /// Pairs of digits, as many as `counts` or more where the greatest count is left out.
    fn hex_loop(&mut self, set: ByteSet, counts: &Numbers, next: NodeId, flip: bool) -> NodeId {
        if counts.stretches().len() > 1 || counts.max() != Some(UNLIMITED) {
            self.loose.insert("a long bound on a length is left out of the graph");
        }
        let least = counts.min().unwrap_or(0);
        let pairs = self.arena.open_loop(next);
        let low = self.arena.byte(set, pairs);
        let high = self.arena.byte(set, low);
        self.arena.close_loop(pairs, vec![next, high], flip);
        self.arena.run(set, Numbers::one(least.saturating_mul(2)), pairs, false)
    }

    pub(super) fn nibbles(
        &mut self,
        lengths: &LengthSet,
        encoding: NibbleEncoding,
        next: NodeId,
        flip: bool,
    ) -> NodeId {
        let counts = numbers(lengths);
        let (even, odd) = halves(&counts);
        match encoding {
            NibbleEncoding::Unpacked => {
                self.arena.run(ByteSet::range(0, 15).flipped_if(flip), counts, next, flip)
            }
            NibbleEncoding::Packed => self.arena.run(ByteSet::FULL, even, next, flip),
            NibbleEncoding::HexPrefix => {
                let even = self.arena.run(ByteSet::FULL, even, next, flip);
                let even = self.arena.literal_flipped(&[0], even, flip);
                let odd = self.arena.run(ByteSet::FULL, odd, next, flip);
                let odd = self.arena.byte(ByteSet::range(0x10, 0x1f).flipped_if(flip), odd);
                self.arena.split(vec![even, odd], flip)
            }
            NibbleEncoding::Counted => {
                let most = counts.max().unwrap_or(0).min(255);
                let padded =
                    (0..=15u8).fold(ByteSet::EMPTY, |set, digit| set.with(digit << 4)).flipped_if(flip);
                let mut ways = Vec::new();
                for count in (0..=most).filter(|&count| counts.contains(count)) {
                    let last = if count % 2 == 1 { self.arena.byte(padded, next) } else { next };
                    let pairs = self.arena.run(ByteSet::FULL, Numbers::one(count / 2), last, false);
                    let head = byte(count);
                    ways.push(self.arena.literal_flipped(&[head], pairs, flip));
                }
                self.arena.split(ways, flip)
            }
        }
    }
}

/// Byte strings that are nothing but a number of bytes of one set.
pub(super) fn plain_bytes(lengths: &LengthSet, encoding: &BytesEncoding) -> Option<Plain> {
    let exact = |set: ByteSet, counts: Numbers| Some(Plain { set, counts, loose: None });
    match encoding {
        BytesEncoding::Raw => exact(ByteSet::FULL, numbers(lengths)),
        BytesEncoding::Class(class) => exact(ByteSet::from_bits(class.bits()), numbers(lengths)),
        BytesEncoding::Hex(case) => exact(hex_set(*case), doubled(&numbers(lengths))?),
        BytesEncoding::Fit(width) if lengths.max().is_none_or(|max| max >= *width) => {
            exact(ByteSet::FULL, Numbers::one(*width as u64))
        }
        BytesEncoding::Wide { .. } => exact(ByteSet::FULL, Numbers::one(32)),
        BytesEncoding::Fit(_)
        | BytesEncoding::Bech32(_)
        | BytesEncoding::Base58 { .. }
        | BytesEncoding::Tuple => None,
    }
}

/// Whether the graph of byte strings does not know a checksum, or which texts stand for one.
pub(super) const fn is_checked(encoding: &BytesEncoding) -> bool {
    matches!(encoding, BytesEncoding::Bech32(_) | BytesEncoding::Base58 { .. })
}

/// The halves of the even numbers, and those of the odd ones less one.
pub(super) fn halves(numbers: &Numbers) -> (Numbers, Numbers) {
    let half = |n: u64| if n == UNLIMITED { n } else { n / 2 };
    let stretches = numbers.stretches();
    let even = stretches.iter().map(|&(a, b)| (a.div_ceil(2), half(b))).filter(|(a, b)| a <= b);
    let odd = stretches.iter().filter_map(|&(a, b)| {
        let last = if b == UNLIMITED { b } else { b.checked_sub(1)? / 2 };
        let first = a / 2;
        (first <= last).then_some((first, last))
    });
    (Numbers::from_stretches(even.collect()), Numbers::from_stretches(odd.collect()))
}

/// The lengths of hex text, if they are not too many to list.
fn doubled(counts: &Numbers) -> Option<Numbers> {
    if size(counts)? > MOST_LENGTHS {
        return None;
    }
    let all = counts.stretches().iter().flat_map(|&(first, last)| first..=last);
    Some(Numbers::from_stretches(all.map(|n| (n.saturating_mul(2), n.saturating_mul(2))).collect()))
}
