//! A length in front of other parts.

use keyplan_plan::codec::LenWidth;
use keyplan_plan::model::{
    Extent, IntEncoding, IntRange, IntShape, IntType, LengthSet, Shape, TextShape, Width,
};

use super::{LEFT_OUT, MOST_SLICED, Pen, Precision, numbers};
use crate::automaton::{BYTES, ByteSet, DEAD, Node, NodeId, Numbers, Prefix, UNLIMITED};
use crate::hash::Map;
use crate::layout::class_of;

/// The greatest length of a text that is drawn for each of its lengths.
const MOST_LENGTHS: usize = 256;

/// Whether a text, whose lengths are few, is ASCII and nothing is left out of it.
fn is_short(text: &TextShape) -> bool {
    let ascii = !text.alphabet.beyond_ascii() && text.first.is_none_or(|first| !first.beyond_ascii());
    ascii && text.except.is_empty() && text.lengths.max().is_some_and(|most| most <= MOST_LENGTHS)
}

impl Pen<'_> {
    pub(super) fn len(&mut self, width: LenWidth, inner: &Shape, next: NodeId, flip: bool) -> Option<NodeId> {
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
        if let Shape::Text(text) = inner
            && !text.tuple
        {
            if is_short(text) {
                match self.precision {
                    Precision::Coarse => self.coarse = true,
                    _ => return Some(self.each_length(prefix, text, next, flip)),
                }
            }
            // A text is its own bytes: nothing in it is to be told apart.
            self.loose.insert("the first character of a text is any of its characters in the graph");
            if !text.except.is_empty() {
                self.loose.insert(LEFT_OUT);
            }
            let set = class_of(inner).flipped_if(flip);
            return Some(self.arena.prefixed(prefix, set, &numbers(&text.lengths), next));
        }
        if self.precision == Precision::Contents {
            if bounds.min as u64 > most {
                return Some(DEAD);
            }
            self.loose.insert("a length may differ from that of its contents in the graph");
            let contents = self.shape(inner, next, flip)?;
            let (min, max) = (bounds.min as u128, u128::from(most));
            return Some(self.arena.int(&as_number(width, min, max), contents, flip));
        }
        self.hide(inner, "length-prefixed contents are free in the graph");
        let counts = Numbers::range(bounds.min as u64, most);
        Some(self.arena.prefixed(prefix, ByteSet::FULL, &counts, next))
    }

    /// A text after its length, one way for each length: so its first character is one of those that a text begins with.
    fn each_length(&mut self, prefix: Prefix, text: &TextShape, next: NodeId, flip: bool) -> NodeId {
        let mut ways = Vec::new();
        for length in (0..=MOST_LENGTHS).filter(|&length| text.lengths.admits(length)) {
            if length as u64 > prefix.limit() {
                break;
            }
            let one = TextShape { lengths: LengthSet::Range { min: length, max: length }, ..text.clone() };
            let contents = self.text(&one, next, flip);
            ways.push(self.arena.literal(&prefix.bytes(length as u64), contents));
        }
        self.arena.split(ways, flip)
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
            Node::Prefixed { each, .. } if each != BYTES => {
                slices.cyclic = true;
                DEAD
            }
            Node::Prefixed { prefix, set, counts, next, .. } => {
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
}

/// A length as the number that it is written like.
pub(super) fn as_number(width: LenWidth, min: u128, max: u128) -> IntShape {
    let (bits, encoding) = match width {
        LenWidth::L8 => (8, IntEncoding::Be),
        LenWidth::L16 => (16, IntEncoding::Be),
        LenWidth::L32 => (32, IntEncoding::Be),
        LenWidth::L64 => (64, IntEncoding::Be),
        LenWidth::L16Le => (16, IntEncoding::Le),
        LenWidth::L32Le => (32, IntEncoding::Le),
        LenWidth::L64Le => (64, IntEncoding::Le),
        LenWidth::Varint => (64, IntEncoding::Leb128),
        LenWidth::Compact => (64, IntEncoding::CompactSize),
        LenWidth::Scale => (64, IntEncoding::ScaleCompact),
    };
    let ty = IntType { signed: false, bits };
    // Beyond the largest number of the type there is no length.
    let max = max.min((1 << bits) - 1);
    IntShape { ty, range: IntRange::Unsigned { min, max }, encoding }
}

/// The state of cutting an inner layout to its lengths.
struct Slices {
    memo: Map<(NodeId, u64), Option<NodeId>>,
    hole: NodeId,
    next: NodeId,
    /// A way back without a byte, or a count of something else than bytes, cannot be cut to a length.
    cyclic: bool,
}
