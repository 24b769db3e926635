//! Where the bytes of a shape end, as the checker defines it; of an integer and a frame also whether it sorts by them, and of what
//! may merge values, which encodings do.
//!
//! The model has its own notion for decoding, [`Extent`](keyplan_plan::model::Extent), which may look at the byte that
//! follows. Here nothing is taken from it: what a certificate rests on is written down twice, once for those who read
//! keys and once for those who check proofs.

use keyplan_plan::codec::Heights;
use keyplan_plan::model::{
    BoolEncoding, BytesEncoding, FloatEncoding, Frame, Framing, IntEncoding, IntRange, IntShape,
    NibbleEncoding, ScoreEncoding, Segment, Sequence, Shape, TimeEncoding,
};

use super::reason::{class, first_byte, told_apart};
use crate::sure::rest;

/// Where the bytes of something end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// After this many bytes, whatever they are.
    Fixed(usize),
    /// Where its own bytes say: no encoding is the front of another.
    Own,
    /// Where its own bytes say, if this byte does not follow. An escaped `00` begins like the mark of the end.
    Unless(u8),
    /// Nothing in it tells.
    Open,
}

impl End {
    /// Whether no encoding is the front of another, whatever follows.
    pub(super) fn is_marked(self) -> bool {
        matches!(self, Self::Fixed(_) | Self::Own)
    }

    /// Where one segment ends.
    pub(super) fn of_segment(segment: &Segment) -> Self {
        match segment {
            Segment::Literal(literal) => Self::Fixed(literal.bytes.len()),
            Segment::Argument(argument) => Self::of_shape(&argument.shape),
            Segment::Same(same) => Self::of_shape(&same.shape),
            Segment::Derived(derived) => Self::of_int(&derived.shape),
        }
    }

    /// Where segments in a row end, if each of them ends where the next begins.
    pub(super) fn of_row(segments: &[Segment]) -> Self {
        let mut row = Self::Fixed(0);
        for (index, segment) in segments.iter().enumerate() {
            let behind = rest(segments, index + 1);
            row = match (row, Self::of_segment(segment)) {
                (_, Self::Open) => return Self::Open,
                (Self::Fixed(a), Self::Fixed(b)) => Self::Fixed(a.saturating_add(b)),
                (_, Self::Unless(byte)) if is_last(behind) => return Self::Unless(byte),
                (_, Self::Unless(byte)) if first_byte(behind).is_none_or(|first| first.contains(byte)) => {
                    return Self::Open;
                }
                _ => Self::Own,
            };
        }
        row
    }

    /// Where a shape ends.
    pub(super) fn of_shape(shape: &Shape) -> Self {
        let of_width = |width: Option<usize>| width.map_or(Self::Open, Self::Fixed);
        match shape {
            Shape::Int(int) => Self::of_int(int),
            Shape::Bool(BoolEncoding::Byte | BoolEncoding::Tuple) => Self::Fixed(1),
            Shape::Float(FloatEncoding::Tuple) => Self::Fixed(9),
            Shape::Float(
                FloatEncoding::Bits
                | FloatEncoding::Ordered
                | FloatEncoding::Badger
                | FloatEncoding::Fixed(_),
            )
            | Shape::Time(TimeEncoding::Nanos)
            | Shape::Score { encoding: ScoreEncoding::HeightScore, .. } => Self::Fixed(8),
            Shape::Time(TimeEncoding::Text9) => Self::Fixed(29),
            Shape::Score { encoding: ScoreEncoding::Exact, .. } => Self::Fixed(13),
            Shape::Bytes { lengths, encoding } => match encoding {
                BytesEncoding::Raw | BytesEncoding::Class(_) => of_width(lengths.fixed()),
                BytesEncoding::Hex(_) => of_width(lengths.fixed().map(|n| n.saturating_mul(2))),
                BytesEncoding::Bech32(hrp) => of_width(lengths.fixed().map(|n| bech32_length(hrp, n))),
                BytesEncoding::Base58 { .. } => Self::Open,
                BytesEncoding::Wide { .. } => Self::Fixed(32),
                BytesEncoding::Fit(width) => Self::Fixed(*width),
                BytesEncoding::Tuple if lengths.fixed() == Some(0) => Self::Fixed(2),
                BytesEncoding::Tuple => Self::Unless(0xff),
            },
            // A text without NUL has nothing to escape.
            Shape::Text(text) if text.tuple => {
                let class =
                    text.first.map_or(text.alphabet, |first| super::reason::union(first, text.alphabet));
                if class.contains(0) { Self::Unless(0xff) } else { Self::Own }
            }
            Shape::Text(text) => of_width(text.lengths.fixed()),
            // The count comes first.
            Shape::Nibbles { encoding: NibbleEncoding::Counted, .. } => Self::Own,
            Shape::Nibbles { lengths, encoding } => of_width(lengths.fixed().map(|n| match encoding {
                NibbleEncoding::Unpacked => n,
                NibbleEncoding::Packed => n.div_ceil(2),
                NibbleEncoding::HexPrefix | NibbleEncoding::Counted => n / 2 + 1,
            })),
            Shape::Opaque(_) | Shape::Option(_) => Self::Open,
            Shape::Record(sequence) => Self::of_row(sequence.segments()),
            Shape::Choice(alternatives) => {
                Self::of_choice(shape, alternatives.iter().map(|alternative| &alternative.sequence))
            }
            Shape::List { item, counts, framing } => {
                match (framing, counts.fixed(), Self::of_shape(item)) {
                    (Framing::ToEnd, Some(n), Self::Fixed(width)) => Self::Fixed(width.saturating_mul(n)),
                    (Framing::Joined(separator), Some(n), Self::Fixed(width)) => {
                        let between = separator.len().saturating_mul(n.saturating_sub(1));
                        Self::Fixed(width.saturating_mul(n).saturating_add(between))
                    }
                    // The count says how many elements there are, and each says where it ends.
                    (Framing::Counted(_), _, end) if end.is_marked() => Self::Own,
                    _ => Self::Open,
                }
            }
            Shape::Framed { frame, inner } => match frame {
                // The length comes first, and no length is the front of another.
                Frame::Len(width) => match (width.fixed(), Self::of_shape(inner)) {
                    (Some(prefix), Self::Fixed(n)) => Self::Fixed(n.saturating_add(prefix)),
                    _ => Self::Own,
                },
                Frame::Escaped if class(inner).contains(0) => Self::Unless(0xff),
                // After `00` comes `ff` or `01`, and only the latter ends it.
                Frame::Escaped | Frame::Terminated | Frame::Memcmp | Frame::OrderedCode => Self::Own,
            },
            Shape::Desc(inner) => match Self::of_shape(inner) {
                Self::Unless(byte) => Self::Unless(!byte),
                end => end,
            },
            Shape::Hashed { keep, .. } => Self::Fixed(*keep),
            Shape::HashConcat { keep, inner, .. } => match Self::of_shape(inner) {
                Self::Fixed(n) => Self::Fixed(n.saturating_add(*keep)),
                end => end,
            },
        }
    }

    /// A choice ends where its alternatives do, if the first bytes tell which one it is.
    fn of_choice<'m>(shape: &Shape, alternatives: impl Iterator<Item = &'m Sequence>) -> Self {
        let ends: Vec<Self> = alternatives.map(|alternative| Self::of_row(alternative.segments())).collect();
        match ends.as_slice() {
            [first @ Self::Fixed(_), rest @ ..] if rest.iter().all(|end| end == first) => *first,
            _ if ends.iter().all(|end| end.is_marked()) && told_apart(shape) => Self::Own,
            _ => Self::Open,
        }
    }

    fn of_int(int: &IntShape) -> Self {
        match int.encoding {
            IntEncoding::Be | IntEncoding::Le | IntEncoding::SignFlip | IntEncoding::Saturating => {
                Self::Fixed(int.ty.bytes())
            }
            IntEncoding::Tick9 => Self::Fixed(9),
            IntEncoding::Float => Self::Fixed(8),
            IntEncoding::DecPadded(width)
            | IntEncoding::HexPadded(_, width)
            | IntEncoding::Low(width)
            | IntEncoding::High(width) => Self::Fixed(width),
            // Shorter numbers begin longer ones.
            IntEncoding::Dec | IntEncoding::Hex(_) => Self::Open,
            // The first byte, or the top bit of each byte, says how many follow.
            IntEncoding::Leb128
            | IntEncoding::OrdVar
            | IntEncoding::BitcoinVarint
            | IntEncoding::CompactSize
            | IntEncoding::ScaleCompact
            | IntEncoding::OrderedCode
            | IntEncoding::Tuple => Self::Own,
        }
    }
}

/// Whether nothing with a byte of its own follows.
fn is_last(behind: &[Segment]) -> bool {
    behind.iter().all(|segment| End::of_segment(segment) == End::Fixed(0))
}

/// The human-readable part, `1`, five bits per character, and six characters of checksum.
fn bech32_length(hrp: &str, bytes: usize) -> usize {
    hrp.len().saturating_add(7).saturating_add(bytes.saturating_mul(8).div_ceil(5))
}

/// Whether numbers sort by their bytes, and no number is the front of another.
pub(super) fn int_sorts(int: &IntShape) -> bool {
    let (negative, largest) = match int.range {
        IntRange::Unsigned { max, .. } => (false, max),
        IntRange::Signed { min, max } => (min < 0, max.unsigned_abs()),
    };
    let one_sign = !negative || matches!(int.range, IntRange::Signed { max, .. } if max < 0);
    match int.encoding {
        IntEncoding::Be => one_sign,
        IntEncoding::Le => one_sign && int.ty.bytes() == 1,
        IntEncoding::SignFlip
        | IntEncoding::Tick9
        | IntEncoding::OrdVar
        | IntEncoding::OrderedCode
        | IntEncoding::Tuple => true,
        IntEncoding::DecPadded(_) | IntEncoding::HexPadded(..) => !negative,
        // Numbers of one byte.
        IntEncoding::Leb128 | IntEncoding::BitcoinVarint => !negative && largest < 0x80,
        IntEncoding::CompactSize => !negative && largest < 0xfd,
        IntEncoding::ScaleCompact => !negative && largest < 0x40,
        IntEncoding::Dec => !negative && one_length(int.range, 10),
        IntEncoding::Hex(_) => !negative && one_length(int.range, 16),
        // Where they merge numbers, what follows decides.
        IntEncoding::Saturating | IntEncoding::Low(_) | IntEncoding::High(_) | IntEncoding::Float => false,
    }
}

/// Whether every number of a range that begins at 0 or above has equally many digits.
fn one_length(range: IntRange, base: u128) -> bool {
    let (min, max) = match range {
        IntRange::Unsigned { min, max } => (min, max),
        IntRange::Signed { min, max } => (min.unsigned_abs(), max.unsigned_abs()),
    };
    let digits = |number: u128| number.checked_ilog(base).unwrap_or(0);
    digits(min) == digits(max)
}

/// Whether two numbers may have the same bytes.
pub(super) const fn int_merges(encoding: IntEncoding) -> bool {
    match encoding {
        IntEncoding::Saturating | IntEncoding::Low(_) | IntEncoding::High(_) | IntEncoding::Float => true,
        IntEncoding::Be
        | IntEncoding::Le
        | IntEncoding::SignFlip
        | IntEncoding::Tick9
        | IntEncoding::Dec
        | IntEncoding::DecPadded(_)
        | IntEncoding::Hex(_)
        | IntEncoding::HexPadded(..)
        | IntEncoding::Leb128
        | IntEncoding::OrdVar
        | IntEncoding::BitcoinVarint
        | IntEncoding::CompactSize
        | IntEncoding::ScaleCompact
        | IntEncoding::OrderedCode
        | IntEncoding::Tuple => false,
    }
}

/// Whether two floats that are not both zeros may have the same bytes.
pub(super) const fn float_merges(encoding: FloatEncoding) -> bool {
    match encoding {
        FloatEncoding::Badger => true,
        FloatEncoding::Bits | FloatEncoding::Ordered | FloatEncoding::Fixed(_) | FloatEncoding::Tuple => {
            false
        }
    }
}

/// Whether two scores may have the same bytes.
pub(super) fn score_merges(heights: Option<Heights>, encoding: ScoreEncoding) -> bool {
    match encoding {
        ScoreEncoding::Exact => false,
        // Below 2²³ a float tells a billionth from the next.
        ScoreEncoding::HeightScore => heights.is_none_or(|heights| heights.most >= 1 << 23),
    }
}

/// Whether two byte strings may have the same bytes.
pub(super) const fn bytes_merge(encoding: &BytesEncoding) -> bool {
    match encoding {
        BytesEncoding::Fit(_) => true,
        BytesEncoding::Raw
        | BytesEncoding::Class(_)
        | BytesEncoding::Hex(_)
        | BytesEncoding::Bech32(_)
        | BytesEncoding::Base58 { .. }
        | BytesEncoding::Wide { .. }
        | BytesEncoding::Tuple => false,
    }
}

/// Where contents that sort also do in a frame.
pub(super) enum FrameOrder {
    /// Only if all have one length.
    OneLength,
    /// Always: the end sorts below whatever a longer value goes on with.
    Anywhere,
    /// Always, but where there is a zero in the contents, the end is the front of what goes on with this byte.
    Front(u8),
}

/// How a frame sorts its contents.
pub(super) const fn frame_order(frame: Frame) -> FrameOrder {
    match frame {
        Frame::Len(_) => FrameOrder::OneLength,
        Frame::Terminated | Frame::Memcmp | Frame::OrderedCode => FrameOrder::Anywhere,
        Frame::Escaped => FrameOrder::Front(0xff),
    }
}
