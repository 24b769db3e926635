//! Whether every value of one shape is a value of another, whatever the bytes.
//!
//! Everything here answers "surely" or "not surely": what is not listed is not sure.

use keyplan_plan::mapping::{Arguments, Leaf, Pairing, Source, leaves, partners};
use keyplan_plan::model::{
    BytesEncoding, Derivation, FloatEncoding, Frame, Framing, IntEncoding, IntRange, IntShape,
    NibbleEncoding, Opaque, ScoreEncoding, Segment, Sequence, Shape, TextShape, TimeEncoding, Width,
};

use crate::compat::relate::{Number, ends, within};
use crate::reader::alone;

/// Whether every old argument list is one that the new layout writes, given where its values come from.
pub(super) fn takes_all(
    old: &Sequence,
    value: Option<&Sequence>,
    new: &Sequence,
    arguments: &Arguments,
) -> bool {
    let (before, after) = leaves(old, new);
    let leaf = |leaf: &Leaf<'_>| {
        let source = arguments.sources.iter().find(|(path, _)| *path == leaf.path);
        match source.map(|(_, source)| source) {
            // The constant was encoded when the plan was read.
            Some(Source::Constant(_)) => true,
            Some(Source::Key(path)) => {
                before.iter().find(|old| old.path == *path).is_some_and(|old| takes(old.shape, leaf.shape))
            }
            Some(Source::Value(path)) => {
                let argument =
                    path.first().zip(value).and_then(|(&index, value)| value.arguments().nth(index));
                argument.is_some_and(|argument| takes(&argument.shape, leaf.shape))
            }
            None => leaf.shape.optional().is_some(),
        }
    };
    written(new) && after.iter().all(leaf)
}

/// As [`takes_all`], with values matched as [`keyplan_plan::mapping::convert`] matches them.
fn takes_row(old: &Sequence, new: &Sequence) -> bool {
    let (before, after) = leaves(old, new);
    let Ok(pairing) = Pairing::between(&before, &after) else { return false };
    let leaf = |leaf: &Leaf<'_>| match pairing.old_of(&leaf.path) {
        Some(path) => {
            before.iter().find(|old| old.path == *path).is_some_and(|old| takes(old.shape, leaf.shape))
        }
        None => leaf.shape.optional().is_some(),
    };
    written(new) && after.iter().all(leaf)
}

/// Whether nothing but the domains of its arguments keeps a layout from writing a list.
fn written(new: &Sequence) -> bool {
    new.segments().iter().all(|segment| match segment {
        Segment::Literal(_) => true,
        Segment::Argument(argument) => around(&argument.shape),
        Segment::Same(same) => {
            let of = new.segments().get(same.of);
            matches!(of, Some(Segment::Argument(argument)) if argument.shape == same.shape)
        }
        Segment::Derived(derived) => {
            let most = match (derived.modulus, derived.function) {
                (Some(modulus), _) => modulus.saturating_sub(1),
                (None, Derivation::Crc16) => u16::MAX.into(),
                (None, Derivation::Crc32) => u32::MAX.into(),
                (None, Derivation::Xxh3 | Derivation::Twox) => u64::MAX.into(),
            };
            let made = IntShape { range: IntRange::Unsigned { min: 0, max: most }, ..derived.shape };
            integers(&made, &derived.shape)
        }
    })
}

/// Whether the frames around records have room for them. Frames around values are looked at with the values.
fn around(shape: &Shape) -> bool {
    match shape {
        Shape::Record(inner) => written(inner),
        Shape::Framed { frame, inner } => room(*frame, inner) && around(inner),
        Shape::Desc(inner) | Shape::Hashed { inner, .. } | Shape::HashConcat { inner, .. } => around(inner),
        Shape::Int(_)
        | Shape::Bool(_)
        | Shape::Float(_)
        | Shape::Time(_)
        | Shape::Score { .. }
        | Shape::Bytes { .. }
        | Shape::Text(_)
        | Shape::Nibbles { .. }
        | Shape::Opaque(_)
        | Shape::Choice(_)
        | Shape::Option(_)
        | Shape::List { .. } => true,
    }
}

/// Whether a frame holds everything that its contents may be.
fn room(frame: Frame, inner: &Shape) -> bool {
    let limit = frame.longest();
    limit == usize::MAX || Width::of_shape(inner).max.is_some_and(|max| max <= limit)
}

/// Whether every value of the old shape is one that the new shape writes.
fn takes(old: &Shape, new: &Shape) -> bool {
    if old == new {
        return true;
    }
    match (old, new) {
        // A digest may be all that is known of a value.
        (Shape::Hashed { .. }, _) => false,
        (Shape::Framed { inner, .. } | Shape::Desc(inner) | Shape::HashConcat { inner, .. }, new) => {
            takes(inner, new)
        }
        (old, Shape::Framed { frame, inner }) => room(*frame, inner) && takes(old, inner),
        (old, Shape::Desc(inner) | Shape::Hashed { inner, .. } | Shape::HashConcat { inner, .. }) => {
            takes(old, inner)
        }
        (Shape::Option(a), Shape::Option(b)) => takes_row(&alone(a), &alone(b)),
        (Shape::Option(_), _) => false,
        (old, Shape::Option(b)) => takes_row(&alone(old), &alone(b)),
        (Shape::Int(a), Shape::Int(b)) => integers(a, b),
        // Of times, 64 bits of nanoseconds are all in the years 0000 to 9999, and these are not all in 64 bits.
        (Shape::Bool(_), Shape::Bool(_)) | (Shape::Time(TimeEncoding::Nanos), Shape::Time(_)) => true,
        (
            Shape::Score { heights: m, encoding: ScoreEncoding::Exact },
            Shape::Score { heights: n, encoding: ScoreEncoding::Exact },
        ) => n.is_none_or(|new| m.is_some_and(|old| old.are_within(new))),
        (Shape::Float(a), Shape::Float(b)) => {
            let whole =
                |encoding: FloatEncoding| matches!(encoding, FloatEncoding::Bits | FloatEncoding::Ordered);
            whole(*a) && whole(*b)
        }
        (Shape::Bytes { lengths: m, encoding: old }, Shape::Bytes { lengths: n, encoding }) => {
            is_signed(old) == is_signed(encoding) && within(m, n) && writes_all(encoding, m.max())
        }
        (Shape::Text(a), Shape::Text(b)) => texts(a, b),
        (Shape::Text(a), Shape::Bytes { lengths, encoding }) => {
            is_signed(encoding).is_none()
                && within(&a.lengths, lengths)
                && writes_all(encoding, a.lengths.max())
        }
        (Shape::Nibbles { lengths: m, .. }, Shape::Nibbles { lengths: n, encoding }) => {
            within(m, n) && !matches!(encoding, NibbleEncoding::Packed)
        }
        (Shape::List { item: a, counts: m, framing: was }, Shape::List { item: b, counts: n, framing }) => {
            // More than the old count can tell was never written.
            let most = match was {
                Framing::Counted(width) => Some(m.max().unwrap_or(usize::MAX).min(width.limit())),
                Framing::ToEnd | Framing::Joined(_) => m.max(),
            };
            let room = match framing {
                Framing::ToEnd => true,
                Framing::Counted(width) => most.is_some_and(|most| most <= width.limit()),
                // Whether an element may hold the separator is not looked at.
                Framing::Joined(_) => false,
            };
            room && within(m, n) && takes_row(&alone(a), &alone(b))
        }
        (Shape::Choice(a), Shape::Choice(b)) => {
            let pairs = partners(a, b);
            a.iter().zip(pairs).all(|(alternative, partner)| {
                let other = partner.and_then(|index| b.get(index));
                other.is_some_and(|other| takes_row(&alternative.sequence, &other.sequence))
            })
        }
        (Shape::Record(a), Shape::Record(b)) => takes_row(a, b),
        (Shape::Opaque(a), Shape::Opaque(b)) => {
            a == b || matches!((a, b), (Opaque::Proto(_), Opaque::Proto(_)))
        }
        _ => false,
    }
}

/// Whether bytes are an integer, and whether that has a sign.
const fn is_signed(encoding: &BytesEncoding) -> Option<bool> {
    match encoding {
        BytesEncoding::Wide { signed, .. } => Some(*signed),
        _ => None,
    }
}

/// Whether an encoding writes byte strings of every length up to the greatest.
fn writes_all(encoding: &BytesEncoding, most: Option<usize>) -> bool {
    match encoding {
        BytesEncoding::Raw
        | BytesEncoding::Hex(_)
        | BytesEncoding::Wide { .. }
        | BytesEncoding::Fit(_)
        // More bytes than it writes are refused with the domain.
        | BytesEncoding::Base58 { .. } => true,
        // The text has at most 1023 characters: 8 for every 5 bytes, the prefix and the checksum.
        BytesEncoding::Bech32(prefix) => {
            most.is_some_and(|most| prefix.len() + 7 + most.saturating_mul(8).div_ceil(5) <= 1023)
        }
        // Which bytes those of a class are made of is not looked at here.
        _ => false,
    }
}

fn integers(old: &IntShape, new: &IntShape) -> bool {
    let ((a, b), (c, d)) = (ends(old.range), ends(new.range));
    if !(c <= a && b <= d) {
        return false;
    }
    match new.encoding {
        IntEncoding::Be
        | IntEncoding::Le
        | IntEncoding::SignFlip
        | IntEncoding::Dec
        | IntEncoding::Tick9
        | IntEncoding::Hex(_)
        | IntEncoding::Leb128
        | IntEncoding::OrdVar
        | IntEncoding::ScaleCompact
        | IntEncoding::OrderedCode
        | IntEncoding::CompactSize => true,
        IntEncoding::DecPadded(width) => digits(b, 10) <= width,
        IntEncoding::HexPadded(_, width) => digits(b, 16) <= width,
        _ => false,
    }
}

/// How many digits a number has in a base; too many for any width if it is negative.
fn digits(number: Number, base: u128) -> usize {
    let Number::Natural(mut number) = number else { return usize::MAX };
    let mut count = 1;
    while number >= base {
        number /= base;
        count += 1;
    }
    count
}

fn texts(old: &TextShape, new: &TextShape) -> bool {
    let first = |text: &TextShape| text.first.unwrap_or(text.alphabet);
    let inside = |a: keyplan_plan::codec::Alphabet, b: keyplan_plan::codec::Alphabet| {
        (0..=255).all(|byte| !a.contains(byte) || b.contains(byte))
    };
    let left_out = new.except.texts().iter().all(|text| old.except.texts().contains(text));
    left_out
        && within(&old.lengths, &new.lengths)
        && inside(first(old), first(new))
        && inside(old.alphabet, new.alphabet)
}
