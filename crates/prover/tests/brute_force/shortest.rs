//! Which witnesses must be shortest ones.

use keyplan_plan::codec::LenWidth;
use keyplan_plan::model::{
    BytesEncoding, Extent, Family, FloatEncoding, Frame, Framing, ScanEnd, Segment, Sequence, Shape, Width,
};
use keyplan_prover::{Guarantee, Statement};

/// Why a witness need not be a shortest one; `None` if it must be.
pub(crate) fn may_be_longer(statement: &Statement, families: &[&Family]) -> Option<&'static str> {
    if families.iter().any(|family| blurred(&family.key)) {
        return Some("the graph has paths that are not keys, and its shortest path may be such a one");
    }
    let scan = statement.scan.and_then(|id| {
        families.iter().find_map(|family| family.scan(id).filter(|_| family.path == statement.family))
    });
    if scan.is_some_and(|scan| scan.end != ScanEnd::Prefix) {
        return Some("the rows of a range are found by those of its prefix, and by samples");
    }
    let loses = |family: &&Family| family.key.arguments().any(|argument| argument.shape.loses_information());
    let own = families.iter().filter(|family| family.path == statement.family);
    match statement.guarantee {
        Guarantee::Unambiguous | Guarantee::NoSiblingRows if own.clone().any(loses) => {
            Some("what a loss merges is shown only where nothing else is, since `accept lossy` covers it")
        }
        Guarantee::InOrder if own.clone().any(|family| sized(&family.key) || loses(family)) => {
            Some("which parts inside a frame make the shortest pair is found by samples")
        }
        _ => None,
    }
}

/// Whether the graph of a layout has more paths than the layout has keys.
fn blurred(sequence: &Sequence) -> bool {
    sequence.segments().iter().any(|segment| match segment {
        Segment::Literal(_) => false,
        Segment::Argument(argument) => blurred_shape(&argument.shape),
        // A copy or a derived part is free in the graph.
        Segment::Same(_) | Segment::Derived(_) => true,
    })
}

fn blurred_shape(shape: &Shape) -> bool {
    match shape {
        Shape::Hashed { .. } | Shape::HashConcat { .. } | Shape::Time(_) | Shape::Score { .. } => true,
        Shape::Float(encoding) => matches!(encoding, FloatEncoding::Fixed(_) | FloatEncoding::Badger),
        Shape::Bytes { encoding, .. } => {
            matches!(encoding, BytesEncoding::Bech32(_) | BytesEncoding::Base58 { .. })
        }
        Shape::Option(inner) | Shape::Desc(inner) => blurred_shape(inner),
        Shape::List { item, counts, framing } => {
            // A long count is free in the graph.
            matches!(framing, Framing::Counted(_)) && counts.max().is_none_or(|max| max > 16)
                || blurred_shape(item)
        }
        Shape::Framed { inner, .. } => match &**inner {
            Shape::Text(text) => {
                text.alphabet.beyond_ascii()
                    || text.first.is_some()
                    || (!text.except.is_empty() && text.lengths.max().is_none_or(|max| max > 48))
            }
            // A count of bytes so long is left out of a graph in which they are escaped.
            inner if holds_wide(inner) => true,
            inner => blurred_shape(inner) || Width::of_shape(inner).max.is_none_or(|max| max > 48),
        },
        // Texts that are left out count in the graph where they are not ASCII alone.
        Shape::Text(text) => {
            let first = text.first.is_some_and(|first| first.beyond_ascii());
            !text.except.is_empty() && (text.alphabet.beyond_ascii() || first)
        }
        Shape::Record(sequence) => blurred(sequence),
        Shape::Choice(alternatives) => alternatives.iter().any(|alternative| blurred(&alternative.sequence)),
        _ => false,
    }
}

/// Whether an integer of 256 bits stands in a shape.
fn holds_wide(shape: &Shape) -> bool {
    let row = |sequence: &Sequence| sequence.arguments().any(|argument| holds_wide(&argument.shape));
    match shape {
        Shape::Bytes { encoding, .. } => matches!(encoding, BytesEncoding::Wide { .. }),
        Shape::Record(sequence) => row(sequence),
        Shape::Choice(alternatives) => alternatives.iter().any(|alternative| row(&alternative.sequence)),
        Shape::Option(inner)
        | Shape::Desc(inner)
        | Shape::List { item: inner, .. }
        | Shape::Framed { inner, .. }
        | Shape::Hashed { inner, .. }
        | Shape::HashConcat { inner, .. } => holds_wide(inner),
        _ => false,
    }
}

/// Whether a layout has a count in front of several parts, or a frame around them.
fn sized(sequence: &Sequence) -> bool {
    sequence.arguments().any(|argument| sized_shape(&argument.shape))
}

fn sized_shape(shape: &Shape) -> bool {
    let parts = |inner: &Shape| {
        matches!(
            inner,
            Shape::List { .. }
                | Shape::Record(_)
                | Shape::Choice(_)
                | Shape::Option(_)
                | Shape::Framed { .. }
        )
    };
    match shape {
        Shape::Framed { frame: Frame::Len(width), inner } if !matches!(inner.extent(), Extent::Fixed(_)) => {
            // A length that is itself longer for longer texts: which two lengths are out of order is found by samples.
            let grows = matches!(width, LenWidth::Varint | LenWidth::Compact | LenWidth::Scale)
                && Width::of_shape(inner).max.is_none_or(|max| max > 48);
            grows || !matches!(**inner, Shape::Text(_) | Shape::Bytes { .. })
        }
        Shape::Framed { inner, .. } if parts(inner) => true,
        Shape::List { framing: Framing::Counted(_), counts, .. } if counts.fixed().is_none() => true,
        Shape::List { item: inner, .. }
        | Shape::Framed { inner, .. }
        | Shape::Option(inner)
        | Shape::Desc(inner)
        | Shape::HashConcat { inner, .. } => sized_shape(inner),
        Shape::Record(sequence) => sized(sequence),
        Shape::Choice(alternatives) => alternatives.iter().any(|alternative| sized(&alternative.sequence)),
        _ => false,
    }
}
