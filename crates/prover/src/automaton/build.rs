use std::collections::BTreeSet;

use keyplan_plan::codec::{Alphabet, Case, Hash, LenWidth};
use keyplan_plan::model::{
    BoolEncoding, BytesEncoding, Extent, FloatEncoding, Frame, Framing, IntRange, IntShape, LengthSet,
    NibbleEncoding, ScoreEncoding, Segment, Sequence, Shape, TextShape, TimeEncoding, Width,
};

use super::{Arena, ByteSet, DEAD, END, Node, NodeId, Numbers, Prefix, UNLIMITED};
use crate::hash::Map;

/// How much is spent on drawing a layout exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Precision {
    /// Long bounds are left out where that saves much.
    Coarse,
    /// Bounds are kept up to some hundred bytes.
    Fine,
}

impl Precision {
    /// The most repetitions that are written out one by one.
    fn unrolled(self) -> u64 {
        match self {
            Self::Coarse => 16,
            Self::Fine => 128,
        }
    }
}

/// A layout as a graph.
#[derive(Clone, Debug)]
pub(crate) struct Drawing {
    /// Its first node.
    pub(crate) start: NodeId,
    /// Why the graph has more paths than the layout has keys; empty if it has not.
    pub(crate) loose: BTreeSet<&'static str>,
    /// Whether a finer drawing may be less loose.
    pub(crate) coarse: bool,
    /// Layouts that are drawn as plain bytes: their own arguments are not told apart in the graph.
    pub(crate) hidden: Vec<Shape>,
    /// The hashes that stand for their arguments, and how many bytes of each are kept.
    pub(crate) hashes: BTreeSet<(Hash, usize)>,
}

/// Draws a layout, with a mark before each segment of `marks`. `None` if it takes more than `most` nodes.
pub(crate) fn draw(
    arena: &mut Arena,
    sequence: &Sequence,
    marks: &BTreeSet<usize>,
    precision: Precision,
    most: usize,
) -> Option<Drawing> {
    let limit = arena.len().saturating_add(most);
    let first = NodeId::try_from(arena.len()).ok()?;
    let mut pen = Pen {
        arena,
        precision,
        limit,
        loose: BTreeSet::new(),
        coarse: false,
        hidden: Vec::new(),
        hashes: BTreeSet::new(),
        loops: false,
    };
    let start = pen.row(sequence, END, false, Some(marks))?;
    let Pen { loose, coarse, hidden, hashes, loops, .. } = pen;
    if loops {
        arena.settle(first);
    }
    Some(Drawing { start, loose, coarse, hidden, hashes })
}

struct Pen<'a> {
    arena: &'a mut Arena,
    precision: Precision,
    limit: usize,
    loose: BTreeSet<&'static str>,
    coarse: bool,
    hidden: Vec<Shape>,
    hashes: BTreeSet<(Hash, usize)>,
    /// Whether a loop of an inner layout was copied, before all its ways were known.
    loops: bool,
}

const HEX_LOWER: &[u8] = b"0123456789abcdef";
const HEX_UPPER: &[u8] = b"0123456789ABCDEF";
const BECH32: &[u8] = b"qpzry9x8gf2tvdw0s3jn54khce6mua7l";

/// The most lengths of hex text that are listed one by one.
const MOST_LENGTHS: u64 = 640;

/// The longest contents that are cut to each of their lengths.
const MOST_SLICED: u64 = 48;

fn set_of(bytes: &[u8]) -> ByteSet {
    bytes.iter().fold(ByteSet::EMPTY, |set, &byte| set.with(byte))
}

/// The lengths of a model, as numbers.
pub(crate) fn numbers(lengths: &LengthSet) -> Numbers {
    let wide = |n: usize| u64::try_from(n).unwrap_or(UNLIMITED);
    match lengths {
        LengthSet::Range { min, max } => {
            Numbers::range(wide(*min), if *max == usize::MAX { UNLIMITED } else { wide(*max) })
        }
        LengthSet::OneOf(list) => Numbers::from_stretches(list.iter().map(|&n| (wide(n), wide(n))).collect()),
    }
}

/// How many numbers there are; `None` without a limit.
fn size(numbers: &Numbers) -> Option<u64> {
    numbers.stretches().iter().try_fold(0u64, |sum, &(first, last)| {
        (last != UNLIMITED).then(|| sum.saturating_add(last - first).saturating_add(1))
    })
}

/// The halves of the even numbers, and those of the odd ones less one.
fn halves(numbers: &Numbers) -> (Numbers, Numbers) {
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

/// A layout that is nothing but a number of bytes of one set.
struct Plain {
    set: ByteSet,
    counts: Numbers,
    /// Why that is more than the layout holds.
    loose: Option<&'static str>,
}

impl Pen<'_> {
    fn row(
        &mut self,
        sequence: &Sequence,
        next: NodeId,
        flip: bool,
        marks: Option<&BTreeSet<usize>>,
    ) -> Option<NodeId> {
        let mut node = next;
        let marked = |index: usize| marks.is_some_and(|marks| marks.contains(&index));
        let mark = |arena: &mut Arena, index: usize, node: NodeId| {
            if marked(index) { arena.mark(u32::try_from(index).unwrap_or(u32::MAX), node) } else { node }
        };
        node = mark(self.arena, sequence.segments().len(), node);
        for (index, segment) in sequence.segments().iter().enumerate().rev() {
            node = match segment {
                Segment::Literal(literal) => self.arena.literal_flipped(&literal.bytes, node, flip),
                Segment::Argument(argument) => self.shape(&argument.shape, node, flip)?,
                Segment::Same(same) => {
                    self.loose.insert("a repeated argument may differ from the first in the graph");
                    self.shape(&same.shape, node, flip)?
                }
                Segment::Derived(derived) => {
                    self.loose.insert("a derived part is free in the graph");
                    let top = derived.modulus.map_or(u128::MAX, |modulus| modulus - 1);
                    let range = match derived.shape.range {
                        IntRange::Unsigned { min, max } => IntRange::Unsigned { min, max: max.min(top) },
                        range @ IntRange::Signed { .. } => range,
                    };
                    self.arena.int(&IntShape { range, ..derived.shape.clone() }, node, flip)
                }
            };
            node = mark(self.arena, index, node);
            if self.arena.len() > self.limit {
                return None;
            }
        }
        Some(node)
    }

    fn shape(&mut self, shape: &Shape, next: NodeId, flip: bool) -> Option<NodeId> {
        if self.arena.len() > self.limit {
            return None;
        }
        Some(match shape {
            Shape::Int(int) => self.arena.int(int, next, flip),
            Shape::Bool(encoding) => {
                let set = match encoding {
                    BoolEncoding::Byte => ByteSet::range(0, 1),
                    BoolEncoding::Tuple => ByteSet::range(0x26, 0x27),
                };
                self.arena.byte(set.flipped_if(flip), next)
            }
            Shape::Float(encoding) => self.float(*encoding, next, flip),
            Shape::Time(TimeEncoding::Text9) => self.time(next, flip),
            Shape::Time(TimeEncoding::Nanos) => self.arena.run(ByteSet::FULL, Numbers::one(8), next, false),
            Shape::Score(ScoreEncoding::Exact) => {
                let confirmed = self.arena.run(ByteSet::FULL, Numbers::one(12), next, false);
                let confirmed = self.arena.literal_flipped(&[0], confirmed, flip);
                let nanos = self.arena.be(0, 999_999_999, 4, next, flip);
                let pending = self.arena.run(ByteSet::FULL, Numbers::one(8), nanos, false);
                let pending = self.arena.literal_flipped(&[1], pending, flip);
                self.arena.split(vec![confirmed, pending], flip)
            }
            Shape::Score(ScoreEncoding::HeightScore) => {
                self.arena.be(0, u128::from(f64::MAX.to_bits()), 8, next, flip)
            }
            Shape::Bytes { lengths, encoding } => self.bytes(lengths, encoding, next, flip),
            Shape::Text(text) => self.text(text, next, flip),
            Shape::Nibbles { lengths, encoding } => self.nibbles(lengths, *encoding, next, flip),
            Shape::Opaque(_) => self.arena.run(ByteSet::FULL, Numbers::range(0, UNLIMITED), next, flip),
            Shape::Record(sequence) => self.row(sequence, next, flip, None)?,
            Shape::Choice(alternatives) => {
                let mut ways = Vec::new();
                for alternative in alternatives {
                    ways.push(self.row(&alternative.sequence, next, flip, None)?);
                }
                self.arena.split(ways, flip)
            }
            Shape::Option(inner) => {
                let present = self.shape(inner, next, flip)?;
                self.arena.split(vec![next, present], flip)
            }
            Shape::List { item, counts, framing } => self.list(item, counts, framing, next, flip)?,
            Shape::Framed { frame, inner } => match frame {
                Frame::Len(width) => self.len(*width, inner, next, flip)?,
                Frame::Terminated => self.escaped(inner, &[0, 0], next, flip)?,
                Frame::Escaped => self.escaped(inner, &[0], next, flip)?,
                Frame::Memcmp => self.memcmp(inner, next, flip)?,
            },
            Shape::Desc(inner) => self.shape(inner, next, !flip)?,
            Shape::Hashed { hash, keep, .. } => {
                self.hashes.insert((*hash, *keep));
                self.arena.run(ByteSet::FULL, Numbers::one(*keep as u64), next, false)
            }
            Shape::HashConcat { keep, inner, .. } => {
                self.loose.insert("a hash in front of its argument is free in the graph");
                let inner = self.shape(inner, next, flip)?;
                self.arena.run(ByteSet::FULL, Numbers::one(*keep as u64), inner, false)
            }
        })
    }

    fn float(&mut self, encoding: FloatEncoding, next: NodeId, flip: bool) -> NodeId {
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
    fn time(&mut self, next: NodeId, flip: bool) -> NodeId {
        self.loose.insert("every month has 31 days in the graph");
        let digits = |first: u8, last: u8| ByteSet::range(b'0' + first, b'0' + last).flipped_if(flip);
        let arena = &mut *self.arena;
        let two = |arena: &mut Arena, min: u128, max: u128, next: NodeId| {
            let tens = u8::try_from(max / 10).unwrap_or(0);
            let ones = u8::try_from(max % 10).unwrap_or(0);
            let mut ways = Vec::new();
            for ten in 0..=tens {
                let first = if ten == 0 { u8::try_from(min).unwrap_or(0) } else { 0 };
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

    /// A layout that is nothing but a number of bytes of one set, before any complement.
    fn plain(shape: &Shape) -> Option<Plain> {
        let exact = |set: ByteSet, counts: Numbers| Some(Plain { set, counts, loose: None });
        match shape {
            Shape::Bytes { lengths, encoding } => match encoding {
                BytesEncoding::Raw => exact(ByteSet::FULL, numbers(lengths)),
                BytesEncoding::Hex(case) => exact(hex_set(*case), doubled(&numbers(lengths))?),
                BytesEncoding::Fit(width) if lengths.max().is_none_or(|max| max >= *width) => {
                    exact(ByteSet::FULL, Numbers::one(*width as u64))
                }
                BytesEncoding::Fit(_) | BytesEncoding::Bech32(_) | BytesEncoding::Tuple => None,
            },
            Shape::Text(text) if !text.tuple && text.first.is_none() => Some(Plain {
                set: ByteSet::from_bits(text.alphabet.bits()).and(ByteSet::utf8()),
                counts: numbers(&text.lengths),
                loose: text
                    .alphabet
                    .beyond_ascii()
                    .then_some("bytes that are not UTF-8 count as text in the graph"),
            }),
            Shape::Nibbles { lengths, encoding } => match encoding {
                NibbleEncoding::Unpacked => exact(ByteSet::range(0, 15), numbers(lengths)),
                NibbleEncoding::Packed => exact(ByteSet::FULL, halves(&numbers(lengths)).0),
                NibbleEncoding::HexPrefix => None,
            },
            Shape::Opaque(_) => exact(ByteSet::FULL, Numbers::range(0, UNLIMITED)),
            _ => None,
        }
    }

    fn bytes(&mut self, lengths: &LengthSet, encoding: &BytesEncoding, next: NodeId, flip: bool) -> NodeId {
        let counts = numbers(lengths);
        match encoding {
            BytesEncoding::Raw => self.arena.run(ByteSet::FULL, counts, next, flip),
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
            BytesEncoding::Tuple => {
                let end = self.arena.literal_flipped(&[0], next, flip);
                let contents = self.escaped_run(ByteSet::FULL, &counts, end, flip, flip);
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

    fn nibbles(&mut self, lengths: &LengthSet, encoding: NibbleEncoding, next: NodeId, flip: bool) -> NodeId {
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
        }
    }

    fn text(&mut self, text: &TextShape, next: NodeId, flip: bool) -> NodeId {
        if text.tuple {
            let end = self.arena.literal_flipped(&[0], next, flip);
            let hole = self.hole();
            let contents = self.plain_text(text, hole, flip);
            let node = self.escape(contents, hole, end, flip);
            return self.arena.literal_flipped(&[2], node, flip);
        }
        self.plain_text(text, next, flip)
    }

    fn plain_text(&mut self, text: &TextShape, next: NodeId, flip: bool) -> NodeId {
        let counts = numbers(&text.lengths);
        let wide = text.alphabet.beyond_ascii() || text.first.is_some_and(|first| first.beyond_ascii());
        let set = ByteSet::from_bits(text.alphabet.bits()).and(ByteSet::utf8());
        if !wide {
            return match text.first {
                None => self.arena.run(set.flipped_if(flip), counts, next, flip),
                Some(first) => {
                    let rest = self.arena.run(set.flipped_if(flip), counts.positive().lowered(1), next, flip);
                    let first = self.arena.byte(ByteSet::from_bits(first.bits()).flipped_if(flip), rest);
                    let absent = if counts.contains(0) { next } else { DEAD };
                    self.arena.split(vec![absent, first], flip)
                }
            };
        }
        let first = text.first.unwrap_or(text.alphabet);
        let open = counts.stretches().len() == 1 && counts.max() == Some(UNLIMITED);
        if open && counts.min().is_some_and(|min| min <= 1) {
            let all = self.arena.open_loop(next);
            let mut ways = vec![next];
            ways.extend(self.character(text.alphabet, all, flip));
            self.arena.close_loop(all, ways, flip);
            if counts.min() == Some(0) && text.first.is_none() {
                return all;
            }
            let mut ways = self.character(first, all, flip);
            if counts.min() == Some(0) {
                ways.insert(0, next);
            }
            return self.arena.split(ways, flip);
        }
        let most = counts.max().unwrap_or(0);
        if most != UNLIMITED && most <= self.precision.unrolled() {
            return self.counted_text(first, text.alphabet, &counts, most, next, flip);
        }
        if most != UNLIMITED {
            self.coarse = true;
        }
        self.loose.insert("bytes that are not UTF-8 count as text in the graph");
        let later = ByteSet::range(0x80, 0xbf);
        let rest = if first.beyond_ascii() { set.or(later) } else { set };
        let tail = self.arena.run(rest.flipped_if(flip), counts.positive().lowered(1), next, flip);
        let first = ByteSet::from_bits(first.bits()).and(ByteSet::utf8());
        let head = self.arena.byte(first.flipped_if(flip), tail);
        let absent = if counts.contains(0) { next } else { DEAD };
        self.arena.split(vec![absent, head], flip)
    }

    /// The ways to read one character of an alphabet, in the order of their bytes.
    fn character(&mut self, alphabet: Alphabet, next: NodeId, flip: bool) -> Vec<NodeId> {
        self.characters(alphabet, flip, |_| Some(next))
    }

    /// The ways to read one character; `next` gives what follows one of so many bytes.
    fn characters(
        &mut self,
        alphabet: Alphabet,
        flip: bool,
        next: impl Fn(u64) -> Option<NodeId>,
    ) -> Vec<NodeId> {
        let set = ByteSet::from_bits(alphabet.bits());
        let mut ways = Vec::new();
        let range = |a: u8, b: u8| ByteSet::range(a, b).flipped_if(flip);
        if let Some(next) = next(1) {
            ways.push(self.arena.byte(set.and(ByteSet::range(0, 0x7f)).flipped_if(flip), next));
        }
        if !alphabet.beyond_ascii() {
            return ways;
        }
        // Lead byte, second byte, and how many more follow.
        let forms: [(u8, u8, u8, u8, u64); 8] = [
            (0xc2, 0xdf, 0x80, 0xbf, 0),
            (0xe0, 0xe0, 0xa0, 0xbf, 1),
            (0xe1, 0xec, 0x80, 0xbf, 1),
            (0xed, 0xed, 0x80, 0x9f, 1),
            (0xee, 0xef, 0x80, 0xbf, 1),
            (0xf0, 0xf0, 0x90, 0xbf, 2),
            (0xf1, 0xf3, 0x80, 0xbf, 2),
            (0xf4, 0xf4, 0x80, 0x8f, 2),
        ];
        for (first, last, from, to, more) in forms {
            let Some(next) = next(2 + more) else { continue };
            let rest = self.arena.run(range(0x80, 0xbf), Numbers::one(more), next, false);
            let second = self.arena.byte(range(from, to), rest);
            ways.push(self.arena.byte(range(first, last), second));
        }
        ways
    }

    /// UTF-8 of a bounded number of bytes, one node for each number that was read.
    fn counted_text(
        &mut self,
        first: Alphabet,
        rest: Alphabet,
        counts: &Numbers,
        most: u64,
        next: NodeId,
        flip: bool,
    ) -> NodeId {
        let mut after: Map<u64, NodeId> = Map::default();
        for count in (0..=most).rev() {
            let alphabet = if count == 0 { first } else { rest };
            let known = &after;
            let mut ways = self.characters(alphabet, flip, |bytes| known.get(&(count + bytes)).copied());
            if counts.contains(count) {
                ways.insert(0, next);
            }
            let node = self.arena.split(ways, flip);
            if node != DEAD {
                after.insert(count, node);
            }
        }
        after.get(&0).copied().unwrap_or(DEAD)
    }

    fn list(
        &mut self,
        item: &Shape,
        counts: &LengthSet,
        framing: &Framing,
        next: NodeId,
        flip: bool,
    ) -> Option<NodeId> {
        let counts = numbers(counts);
        if let Framing::Counted(width) = framing {
            return self.counted(item, &counts, *width, next, flip);
        }
        let separator: &[u8] = if let Framing::Joined(separator) = framing { separator } else { &[] };
        let unrolled = self.precision.unrolled();
        let most = counts.max().unwrap_or(0);
        let (mut after, mut count) = if most <= unrolled {
            (next, most)
        } else {
            // Written out up to the least count, then over and over.
            if counts.stretches().len() > 1 || most != UNLIMITED {
                self.loose.insert("a long bound on a list is left out of the graph");
                self.coarse = true;
            }
            let all = self.arena.open_loop(next);
            let body = self.shape(item, all, flip)?;
            let body = self.arena.literal_flipped(separator, body, flip);
            self.arena.close_loop(all, vec![next, body], flip);
            let least = counts.min().unwrap_or(0);
            if least > unrolled {
                self.loose.insert("a long bound on a list is left out of the graph");
            }
            (all, least.clamp(1, unrolled))
        };
        // `after` is what follows `count` elements.
        while count > 1 {
            count -= 1;
            let element = self.shape(item, after, flip)?;
            let more = self.arena.literal_flipped(separator, element, flip);
            let exit = if counts.contains(count) { next } else { DEAD };
            after = self.arena.split(vec![exit, more], flip);
        }
        let some = if count == 1 { self.shape(item, after, flip)? } else { DEAD };
        let none = if counts.contains(0) { next } else { DEAD };
        Some(self.arena.split(vec![none, some], flip))
    }

    fn counted(
        &mut self,
        item: &Shape,
        counts: &Numbers,
        width: LenWidth,
        next: NodeId,
        flip: bool,
    ) -> Option<NodeId> {
        let prefix = Prefix { width, flipped: flip };
        let counts = counts.intersection(&Numbers::range(0, prefix.limit()));
        let most = counts.max().unwrap_or(0);
        if most <= self.precision.unrolled() {
            let mut elements = next;
            let mut ways = Vec::new();
            for count in 0..=most {
                if count > 0 {
                    elements = self.shape(item, elements, flip)?;
                }
                if counts.contains(count) {
                    ways.push(self.arena.literal(&prefix.bytes(count), elements));
                }
            }
            return Some(self.arena.split(ways, flip));
        }
        self.loose.insert("a long count is free in the graph");
        self.coarse |= most != UNLIMITED && most <= Precision::Fine.unrolled();
        let all = self.arena.open_loop(next);
        let body = self.shape(item, all, flip)?;
        self.arena.close_loop(all, vec![next, body], flip);
        if let Some(width) = width.fixed() {
            return Some(self.arena.run(ByteSet::FULL, Numbers::one(width as u64), all, false));
        }
        let last = self.arena.byte(ByteSet::range(0, 0x7f).flipped_if(flip), all);
        let more = ByteSet::range(0x80, 0xff).flipped_if(flip);
        Some(self.arena.run(more, Numbers::range(0, 9), last, false))
    }

    fn len(&mut self, width: LenWidth, inner: &Shape, next: NodeId, flip: bool) -> Option<NodeId> {
        let prefix = Prefix { width, flipped: flip };
        if let Some(plain) = Self::plain(inner) {
            self.loose.extend(plain.loose);
            return Some(self.arena.prefixed(prefix, plain.set.flipped_if(flip), &plain.counts, next));
        }
        if let Extent::Fixed(length) = inner.extent() {
            let contents = self.shape(inner, next, flip)?;
            return Some(self.arena.literal(&prefix.bytes(length as u64), contents));
        }
        let bounds = Width::of_shape(inner);
        let most = bounds.max.map_or(UNLIMITED, |max| max as u64).min(prefix.limit());
        if most <= MOST_SLICED {
            let hole = self.hole();
            let contents = self.shape(inner, hole, flip)?;
            let mut slices = Slices { memo: Map::default(), hole, next, cyclic: false };
            let mut ways = Vec::new();
            for length in bounds.min as u64..=most {
                let slice = self.slice(&mut slices, contents, length)?;
                ways.push(self.arena.literal(&prefix.bytes(length), slice));
            }
            if !slices.cyclic {
                return Some(self.arena.split(ways, flip));
            }
        }
        self.hide(inner, "length-prefixed contents are free in the graph");
        let counts = Numbers::range(bounds.min as u64, most);
        Some(self.arena.prefixed(prefix, ByteSet::FULL, &counts, next))
    }

    /// Notes that a layout is drawn as plain bytes.
    fn hide(&mut self, inner: &Shape, why: &'static str) {
        self.loose.insert(why);
        self.hidden.push(inner.clone());
    }

    /// A node of its own for what follows an inner layout that is still to be changed.
    fn hole(&mut self) -> NodeId {
        self.arena.open_loop(END)
    }

    /// What is left of an inner layout when exactly `left` bytes of it are to come.
    fn slice(&mut self, slices: &mut Slices, node: NodeId, left: u64) -> Option<NodeId> {
        if node == slices.hole {
            return Some(if left == 0 { slices.next } else { DEAD });
        }
        match slices.memo.get(&(node, left)) {
            Some(Some(done)) => return Some(*done),
            Some(None) => {
                // A way back without a byte: an element that may be empty.
                slices.cyclic = true;
                return Some(DEAD);
            }
            None => {}
        }
        if self.arena.len() > self.limit || slices.memo.len() > 20_000 {
            return None;
        }
        slices.memo.insert((node, left), None);
        let result = match self.arena.node(node).clone() {
            Node::End | Node::Mark { .. } => DEAD,
            Node::Byte { set, next } => match left.checked_sub(1) {
                Some(left) => {
                    let next = self.slice(slices, next, left)?;
                    self.arena.byte(set, next)
                }
                None => DEAD,
            },
            Node::Run { set, counts, next, reversed } => {
                let mut ways = Vec::new();
                for count in (0..=left).filter(|&count| counts.contains(count)) {
                    let next = self.slice(slices, next, left - count)?;
                    ways.push(self.arena.run(set, Numbers::one(count), next, false));
                }
                self.arena.split(ways, reversed)
            }
            Node::Prefixed { prefix, set, counts, next } => {
                let mut ways = Vec::new();
                for count in (0..=left).filter(|&count| counts.contains(count)) {
                    let Some(left) = left.checked_sub(count + prefix.width(count)) else { continue };
                    let next = self.slice(slices, next, left)?;
                    let contents = self.arena.run(set, Numbers::one(count), next, false);
                    ways.push(self.arena.literal(&prefix.bytes(count), contents));
                }
                self.arena.split(ways, false)
            }
            Node::Split(ways) => {
                let mut cut = Vec::new();
                for way in ways {
                    cut.push(self.slice(slices, way, left)?);
                }
                self.arena.split(cut, false)
            }
        };
        slices.memo.insert((node, left), Some(result));
        Some(result)
    }

    fn escaped(&mut self, inner: &Shape, end: &[u8], next: NodeId, flip: bool) -> Option<NodeId> {
        let end = self.arena.literal_flipped(end, next, flip);
        let hole = self.hole();
        let contents = self.shape(inner, hole, flip)?;
        let nodes = self.arena.reachable(contents, None);
        let long = nodes.iter().any(|&id| match self.arena.node(id) {
            Node::Prefixed { counts, .. } => counts.max().is_none_or(|most| most > MOST_SLICED),
            _ => false,
        });
        if long {
            self.hide(inner, "escaped contents are free in the graph");
            return Some(self.escaped_run(ByteSet::FULL, &Numbers::range(0, UNLIMITED), end, flip, flip));
        }
        Some(self.escape(contents, hole, end, flip))
    }

    /// The same graph with `ff` behind each `00`, and `end` in place of `hole`.
    fn escape(&mut self, start: NodeId, hole: NodeId, end: NodeId, flip: bool) -> NodeId {
        let nodes: Vec<NodeId> =
            self.arena.reachable(start, None).into_iter().filter(|&id| id != hole && id != END).collect();
        let mut changed: Map<NodeId, NodeId> = [(hole, end), (END, DEAD)].into_iter().collect();
        let mut loops = Vec::new();
        // A way that leads to a later node is the way into a loop.
        for &id in &nodes {
            if let Node::Split(ways) = self.arena.node(id)
                && ways.iter().any(|&way| way >= id)
            {
                self.loops = true;
                let open = self.arena.open_loop(end);
                changed.insert(id, open);
                loops.push((id, open));
            }
        }
        let zero = ByteSet::of(0).flipped_if(flip);
        for &id in &nodes {
            if changed.contains_key(&id) {
                continue;
            }
            let to = |next: NodeId| changed.get(&next).copied().unwrap_or(DEAD);
            let new = match self.arena.node(id).clone() {
                Node::Byte { set, next } => {
                    let next = to(next);
                    let escaped = self.escaped_zero(set.and(zero), next, flip);
                    let other = self.arena.byte(set.minus(zero), next);
                    self.arena.split(vec![escaped, other], flip)
                }
                Node::Run { set, counts, next, reversed } => {
                    let next = to(next);
                    if set.meets(zero) {
                        self.escaped_run(set.flipped_if(flip), &counts, next, flip, reversed)
                    } else {
                        self.arena.run(set, counts, next, reversed)
                    }
                }
                Node::Split(ways) => {
                    let ways = ways.into_iter().map(to).collect();
                    self.arena.split(ways, false)
                }
                Node::Prefixed { prefix, set, counts, next } => {
                    let next = to(next);
                    let mut ways = Vec::new();
                    for count in (0..=MOST_SLICED).filter(|&count| counts.contains(count)) {
                        let mut node =
                            self.escaped_run(set.flipped_if(flip), &Numbers::one(count), next, flip, flip);
                        for byte in prefix.bytes(count).into_iter().rev() {
                            node = if zero.contains(byte) {
                                self.escaped_zero(zero, node, flip)
                            } else {
                                self.arena.byte(ByteSet::of(byte), node)
                            };
                        }
                        ways.push(node);
                    }
                    self.arena.split(ways, false)
                }
                Node::End | Node::Mark { .. } => DEAD,
            };
            changed.insert(id, new);
        }
        for (id, open) in loops {
            if let Node::Split(ways) = self.arena.node(id).clone() {
                let ways = ways.into_iter().map(|way| changed.get(&way).copied().unwrap_or(DEAD)).collect();
                self.arena.close_loop(open, ways, false);
            }
        }
        changed.get(&start).copied().unwrap_or(DEAD)
    }

    /// A zero of `set` with its escape behind it.
    fn escaped_zero(&mut self, set: ByteSet, next: NodeId, flip: bool) -> NodeId {
        let escape = self.arena.literal_flipped(&[0xff], next, flip);
        self.arena.byte(set, escape)
    }

    /// As many bytes of `set` as one of `counts`, each `00` with `ff` behind it. Fewer bytes come first in logical
    /// order, or last if `reversed`, which is not `flip` where what is escaped is itself complemented.
    fn escaped_run(
        &mut self,
        set: ByteSet,
        counts: &Numbers,
        next: NodeId,
        flip: bool,
        reversed: bool,
    ) -> NodeId {
        let (zero, other) =
            (set.and(ByteSet::of(0)).flipped_if(flip), set.minus(ByteSet::of(0)).flipped_if(flip));
        let one = |pen: &mut Self, exit: NodeId, next: NodeId| {
            let mut ways = vec![pen.escaped_zero(zero, next, flip), pen.arena.byte(other, next)];
            if flip {
                ways.reverse();
            }
            ways.insert(if reversed { 2 } else { 0 }, exit);
            ways
        };
        let most = counts.max().unwrap_or(0);
        let least = counts.min().unwrap_or(0);
        let unrolled = self.precision.unrolled();
        let (mut after, mut count) = if most <= unrolled {
            (next, most)
        } else {
            if counts.stretches().len() > 1 || most != UNLIMITED || least > unrolled {
                self.loose.insert("a long bound on a length is left out of the graph");
                self.coarse |= most != UNLIMITED;
            }
            let all = self.arena.open_loop(next);
            let ways = one(self, next, all);
            self.arena.close_loop(all, ways, false);
            (all, least.min(unrolled))
        };
        while count > 0 {
            count -= 1;
            let exit = if counts.contains(count) { next } else { DEAD };
            let ways = one(self, exit, after);
            after = self.arena.split(ways, false);
        }
        after
    }

    fn memcmp(&mut self, inner: &Shape, next: NodeId, flip: bool) -> Option<NodeId> {
        if let Some(plain) = Self::plain(inner) {
            self.loose.extend(plain.loose);
            return Some(self.grouped_run(plain.set.flipped_if(flip), &plain.counts, next, flip));
        }
        let hole = self.hole();
        let contents = self.shape(inner, hole, flip)?;
        let mut groups = Groups { memo: Map::default(), hole, next, flip, refused: false };
        let grouped = self.group(&mut groups, contents, 0)?;
        if !groups.refused {
            return Some(grouped);
        }
        self.hide(inner, "grouped contents are free in the graph");
        Some(self.grouped_run(ByteSet::FULL, &Numbers::range(0, UNLIMITED), next, flip))
    }

    /// The same graph with a marker behind each eighth byte, and padding in place of the hole.
    fn group(&mut self, groups: &mut Groups, node: NodeId, place: u8) -> Option<NodeId> {
        if node == groups.hole {
            return Some(self.last_group(place, groups.next, groups.flip));
        }
        match groups.memo.get(&(node, place)) {
            Some(Some(done)) => return Some(*done),
            Some(None) => {
                groups.refused = true;
                return Some(DEAD);
            }
            None => {}
        }
        if self.arena.len() > self.limit || groups.memo.len() > 20_000 {
            return None;
        }
        groups.memo.insert((node, place), None);
        let grouped = match self.arena.node(node).clone() {
            Node::End | Node::Mark { .. } => DEAD,
            Node::Byte { set, next } => self.group_bytes(groups, &[set], next, place)?,
            Node::Run { counts, .. } | Node::Prefixed { counts, .. }
                if counts.max().is_none_or(|most| most > MOST_SLICED) =>
            {
                groups.refused = true;
                DEAD
            }
            Node::Run { set, counts, next, reversed } => {
                let mut ways = Vec::new();
                for count in (0..=MOST_SLICED).filter(|&count| counts.contains(count)) {
                    let sets: Vec<ByteSet> = (0..count).map(|_| set).collect();
                    ways.push(self.group_bytes(groups, &sets, next, place)?);
                }
                self.arena.split(ways, reversed)
            }
            Node::Prefixed { prefix, set, counts, next } => {
                let mut ways = Vec::new();
                for count in (0..=MOST_SLICED).filter(|&count| counts.contains(count)) {
                    let length = prefix.bytes(count).into_iter().map(ByteSet::of);
                    let sets: Vec<ByteSet> = length.chain((0..count).map(|_| set)).collect();
                    ways.push(self.group_bytes(groups, &sets, next, place)?);
                }
                self.arena.split(ways, false)
            }
            Node::Split(ways) => {
                let mut grouped = Vec::new();
                for way in ways {
                    grouped.push(self.group(groups, way, place)?);
                }
                self.arena.split(grouped, false)
            }
        };
        groups.memo.insert((node, place), Some(grouped));
        Some(grouped)
    }

    /// A byte of each set from a place of a group on.
    fn group_bytes(
        &mut self,
        groups: &mut Groups,
        sets: &[ByteSet],
        next: NodeId,
        place: u8,
    ) -> Option<NodeId> {
        let place_after = |count: usize| u8::try_from((usize::from(place) + count) % 8).unwrap_or(0);
        let mut node = self.group(groups, next, place_after(sets.len()))?;
        for (index, &set) in sets.iter().enumerate().rev() {
            if place_after(index + 1) == 0 {
                node = self.arena.literal_flipped(&[0xff], node, groups.flip);
            }
            node = self.arena.byte(set, node);
        }
        Some(node)
    }

    /// The padding and the marker of the last group, of which `place` bytes are read.
    fn last_group(&mut self, place: u8, next: NodeId, flip: bool) -> NodeId {
        let mut end = vec![0; usize::from(8 - place)];
        end.push(0xf7 + place);
        self.arena.literal_flipped(&end, next, flip)
    }

    /// As many bytes of `set` as one of `counts`, in groups.
    fn grouped_run(&mut self, set: ByteSet, counts: &Numbers, next: NodeId, flip: bool) -> NodeId {
        let most = counts.max().unwrap_or(0);
        let exit =
            |pen: &mut Self, place: u64| pen.last_group(u8::try_from(place % 8).unwrap_or(0), next, flip);
        if most <= self.precision.unrolled() {
            let mut after = DEAD;
            for count in (0..=most).rev() {
                let stay = if count < most {
                    let full = (count + 1).is_multiple_of(8);
                    let behind = if full { self.arena.literal_flipped(&[0xff], after, flip) } else { after };
                    self.arena.byte(set, behind)
                } else {
                    DEAD
                };
                let end = if counts.contains(count) { exit(self, count) } else { DEAD };
                after = self.arena.split(vec![end, stay], flip);
            }
            return after;
        }
        if *counts != Numbers::range(0, UNLIMITED) {
            self.loose.insert("a long bound on a length is left out of the graph");
            self.coarse |= most != UNLIMITED;
        }
        let empty = exit(self, 0);
        let group = self.arena.open_loop(empty);
        let mut after = self.arena.literal_flipped(&[0xff], group, flip);
        for place in (1..8).rev() {
            let stay = self.arena.byte(set, after);
            let end = exit(self, place);
            after = self.arena.split(vec![end, stay], flip);
        }
        let first = self.arena.byte(set, after);
        self.arena.close_loop(group, vec![empty, first], flip);
        group
    }
}

/// The lengths of hex text, if they are not too many to list.
fn doubled(counts: &Numbers) -> Option<Numbers> {
    if size(counts)? > MOST_LENGTHS {
        return None;
    }
    let all = counts.stretches().iter().flat_map(|&(first, last)| first..=last);
    Some(Numbers::from_stretches(all.map(|n| (n.saturating_mul(2), n.saturating_mul(2))).collect()))
}

fn hex_set(case: Case) -> ByteSet {
    match case {
        Case::Lower => set_of(HEX_LOWER),
        Case::Upper => set_of(HEX_UPPER),
    }
}

/// The state of putting an inner layout into groups.
struct Groups {
    memo: Map<(NodeId, u8), Option<NodeId>>,
    hole: NodeId,
    next: NodeId,
    flip: bool,
    /// A loop or a long run cannot be put into groups place by place.
    refused: bool,
}

/// The state of cutting an inner layout to its lengths.
struct Slices {
    memo: Map<(NodeId, u64), Option<NodeId>>,
    hole: NodeId,
    next: NodeId,
    cyclic: bool,
}
