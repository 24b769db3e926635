//! Layouts drawn as graphs.

mod escape;
mod length;
mod list;
mod memcmp;
mod scalar;
mod text;
mod values;

use std::collections::BTreeSet;

use keyplan_plan::codec::{Case, Hash};
use keyplan_plan::model::{
    Derived, IntRange, IntShape, LengthSet, NibbleEncoding, Same, Segment, Sequence, Shape,
};

use scalar::{halves, is_checked, plain_bytes};

use super::{Arena, ByteSet, END, NodeId, Numbers, UNLIMITED};
use crate::sure;

/// How much is spent on drawing a layout exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Precision {
    /// Long bounds are left out where that saves much.
    Coarse,
    /// Bounds are kept up to some hundred bytes.
    Fine,
    /// As [`Precision::Fine`], and where an argument has few values, what depends on it is that of each.
    Values,
    /// As [`Precision::Values`], and what has a long length in front is drawn as it is, whatever the length says.
    Contents,
    /// As [`Precision::Values`], and what has a long count in front is as many bytes as so many elements may take.
    Lengths,
}

impl Precision {
    /// Drawings that see other things than the coarse and the fine one do.
    pub(crate) const OTHERS: [Self; 3] = [Self::Values, Self::Contents, Self::Lengths];

    /// Whether few values are written out.
    fn by_value(self) -> bool {
        Self::OTHERS.contains(&self)
    }

    /// The most repetitions that are written out one by one.
    fn unrolled(self) -> u64 {
        match self {
            Self::Coarse => 16,
            Self::Fine | Self::Values | Self::Contents | Self::Lengths => 128,
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
    /// Whether a count may be followed by more bytes or fewer: no words are searched for in it, and no order.
    pub(crate) measured: bool,
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
        broken: false,
    };
    let start = pen.row(sequence, END, false, Some(marks))?;
    let Pen { loose, coarse, hidden, hashes, loops, broken, .. } = pen;
    if broken {
        arena.broken = true;
        return None;
    }
    if loops {
        arena.settle(first);
    }
    let measured = precision == Precision::Lengths;
    Some(Drawing { start, loose, coarse, hidden, hashes, measured })
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
    /// Whether something happened that cannot: the graph may lack paths.
    broken: bool,
}

const HEX_LOWER: &[u8] = b"0123456789abcdef";
const HEX_UPPER: &[u8] = b"0123456789ABCDEF";
const BECH32: &[u8] = b"qpzry9x8gf2tvdw0s3jn54khce6mua7l";
/// The characters of base58.
const BASE58: &[u8] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/// Why a graph has texts that the domain has not.
const LEFT_OUT: &str = "texts that are left out count in the graph";

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
        if self.precision.by_value()
            && let Some(node) = self.row_by_value(sequence, next, flip, marks)
        {
            return Some(node);
        }
        let mut node = next;
        let marked = |index: usize| marks.is_some_and(|marks| marks.contains(&index));
        let mark = |arena: &mut Arena, index: usize, node: NodeId| {
            if marked(index) { arena.mark(sure::mark(index), node) } else { node }
        };
        node = mark(self.arena, sequence.segments().len(), node);
        for (index, segment) in sequence.segments().iter().enumerate().rev() {
            node = match segment {
                Segment::Literal(literal) => self.arena.literal_flipped(&literal.bytes, node, flip),
                Segment::Argument(argument) => self.shape(&argument.shape, node, flip)?,
                Segment::Same(same) => self.free_copy(same, node, flip)?,
                Segment::Derived(derived) => self.free_derived(derived, node, flip),
            };
            node = mark(self.arena, index, node);
            if self.arena.len() > self.limit {
                return None;
            }
        }
        Some(node)
    }

    /// A copy that may be any value of its argument.
    fn free_copy(&mut self, same: &Same, next: NodeId, flip: bool) -> Option<NodeId> {
        self.loose.insert("a repeated argument may differ from the first in the graph");
        self.shape(&same.shape, next, flip)
    }

    /// A derived part that may be any number of its own.
    fn free_derived(&mut self, derived: &Derived, next: NodeId, flip: bool) -> NodeId {
        self.loose.insert("a derived part is free in the graph");
        self.arena.int(&numbers_of(derived), next, flip)
    }

    fn shape(&mut self, shape: &Shape, next: NodeId, flip: bool) -> Option<NodeId> {
        if self.arena.len() > self.limit {
            return None;
        }
        if self.precision.by_value()
            && is_free(shape)
            && let Some(node) = self.written_out(shape, next, flip)
        {
            return Some(node);
        }
        Some(match shape {
            Shape::Int(int) => self.arena.int(int, next, flip),
            Shape::Bool(encoding) => self.bool(*encoding, next, flip),
            Shape::Float(encoding) => self.float(*encoding, next, flip),
            Shape::Time(encoding) => self.time(*encoding, next, flip),
            Shape::Score { heights, encoding } => self.score(*heights, *encoding, next, flip),
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
            Shape::Framed { frame, inner } => self.framed(*frame, inner, next, flip)?,
            Shape::Desc(inner) => self.shape(inner, next, !flip)?,
            Shape::Hashed { hash, keep, inner, .. } => {
                self.hashes.insert((*hash, *keep));
                // What is written alike before it is hashed has one digest.
                if !inner.is_leaf() {
                    self.hidden.push((**inner).clone());
                    hashes_in(inner, &mut self.hashes);
                }
                self.arena.run(ByteSet::FULL, Numbers::one(*keep as u64), next, false)
            }
            Shape::HashConcat { keep, inner, .. } => {
                self.loose.insert("a hash in front of its argument is free in the graph");
                let inner = self.shape(inner, next, flip)?;
                self.arena.run(ByteSet::FULL, Numbers::one(*keep as u64), inner, false)
            }
        })
    }

    /// A layout that is nothing but a number of bytes of one set, before any complement.
    fn plain(shape: &Shape) -> Option<Plain> {
        let exact = |set: ByteSet, counts: Numbers| Some(Plain { set, counts, loose: None });
        match shape {
            Shape::Bytes { lengths, encoding } => plain_bytes(lengths, encoding),
            Shape::Text(text) if !text.tuple && text.first.is_none() && text.except.is_empty() => {
                Some(Plain {
                    set: ByteSet::from_bits(text.alphabet.bits()).and(ByteSet::utf8()),
                    counts: numbers(&text.lengths),
                    loose: text
                        .alphabet
                        .beyond_ascii()
                        .then_some("bytes that are not UTF-8 count as text in the graph"),
                })
            }
            Shape::Nibbles { lengths, encoding } => match encoding {
                NibbleEncoding::Unpacked => exact(ByteSet::range(0, 15), numbers(lengths)),
                NibbleEncoding::Packed => exact(ByteSet::FULL, halves(&numbers(lengths)).0),
                _ => None,
            },
            Shape::Opaque(_) => exact(ByteSet::FULL, Numbers::range(0, UNLIMITED)),
            _ => None,
        }
    }

    /// Notes that a layout is drawn as plain bytes.
    fn hide(&mut self, inner: &Shape, why: &'static str) {
        self.loose.insert(why);
        self.hidden.push(inner.clone());
        hashes_in(inner, &mut self.hashes);
    }

    /// A node of its own for what follows an inner layout that is still to be changed.
    fn hole(&mut self) -> NodeId {
        self.arena.open_loop(END)
    }
}

/// Notes the hashes that stand for arguments inside of a shape.
fn hashes_in(shape: &Shape, all: &mut BTreeSet<(Hash, usize)>) {
    if let Some(digest) = shape.digest() {
        all.insert(digest);
        return;
    }
    for inside in shape.inner().into_iter().chain(shape.rows().flat_map(Sequence::shapes)) {
        hashes_in(inside, all);
    }
}

/// Whether the graph of a shape does not know a checksum, a hash, or which texts stand for a value.
fn is_free(shape: &Shape) -> bool {
    match shape {
        Shape::Bytes { encoding, .. } => is_checked(encoding),
        Shape::HashConcat { .. } => true,
        _ => false,
    }
}

fn hex_set(case: Case) -> ByteSet {
    match case {
        Case::Lower => set_of(HEX_LOWER),
        Case::Upper => set_of(HEX_UPPER),
    }
}

/// The numbers that a derived part may be, as it writes them.
pub(crate) fn numbers_of(derived: &Derived) -> IntShape {
    let top = derived.modulus.map_or(u128::MAX, |modulus| modulus - 1);
    let range = match derived.shape.range {
        IntRange::Unsigned { min, max } => IntRange::Unsigned { min, max: max.min(top) },
        range @ IntRange::Signed { .. } => range,
    };
    IntShape { range, ..derived.shape.clone() }
}
