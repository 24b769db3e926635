use keyplan_codec::{Buffer, Count, LenWidth, Segment as _};

use super::table::{Encoding, ExtentRule, Part};
use super::{Frame, Framing, IntEncoding, IntRange, IntShape, LengthSet, Segment, Sequence, Shape, escape};
use crate::dynamic::{Value, int_width};

/// Where the bytes of a segment end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// After this many bytes.
    Fixed(usize),
    /// Where its own bytes say.
    Delimited,
    /// Only where something else begins.
    Open,
}

impl Default for Extent {
    fn default() -> Self {
        Self::Fixed(0)
    }
}

impl Extent {
    /// The extent of one segment.
    pub fn of_segment(segment: &Segment) -> Self {
        match segment {
            Segment::Literal(literal) => Self::Fixed(literal.bytes.len()),
            Segment::Argument(argument) => Self::of_shape(&argument.shape),
            Segment::Same(same) => Self::of_shape(&same.shape),
            Segment::Derived(derived) => Self::of_int(&derived.shape),
        }
    }

    /// The extent of segments in a row.
    pub fn of_row(extents: &[Self]) -> Self {
        extents.iter().fold(Self::Fixed(0), |row, next| match (row, next) {
            (Self::Fixed(a), Self::Fixed(b)) => Self::Fixed(a.saturating_add(*b)),
            (Self::Open, _) | (_, Self::Open) => Self::Open,
            _ => Self::Delimited,
        })
    }

    /// The extent of a shape.
    pub fn of_shape(shape: &Shape) -> Self {
        match shape {
            Shape::Int(int) => Self::of_int(int),
            Shape::Bool(encoding) => Self::of_parts(encoding.parts(), || None),
            Shape::Float(encoding) => Self::of_parts(encoding.parts(), || None),
            Shape::Time(encoding) => Self::of_parts(encoding.parts(), || None),
            Shape::Score { encoding, .. } => Self::of_parts(encoding.parts(), || None),
            Shape::Bytes { lengths, encoding } => {
                Self::of_parts(encoding.parts(), || lengths.fixed().map(|n| encoding.width(n).1))
            }
            Shape::Text(text) => Self::of_parts((text.row(), None), || text.lengths.fixed()),
            Shape::Nibbles { lengths, encoding } => match lengths.fixed() {
                Some(n) => Self::Fixed(encoding.width(n)),
                None => Self::of_parts(encoding.parts(), || None),
            },
            Shape::Opaque(_) | Shape::Option(_) => Self::Open,
            Shape::Record(sequence) => sequence.extent(),
            Shape::Choice(alternatives) => {
                let mut extents = alternatives.iter().map(|alternative| alternative.sequence.extent());
                let first = extents.next().unwrap_or_default();
                if extents.all(|extent| extent == first) && matches!(first, Self::Fixed(_)) {
                    first
                } else {
                    // Which alternative it is shows only in its bytes, and two may be alike at the start.
                    Self::Open
                }
            }
            Shape::List { item, counts, framing } => {
                match (framing, counts.fixed(), Self::of_item(item, framing)) {
                    (Framing::ToEnd, Some(n), Self::Fixed(width)) => Self::Fixed(width.saturating_mul(n)),
                    (Framing::Joined(separator), Some(n), Self::Fixed(width)) => Self::Fixed(
                        width
                            .saturating_mul(n)
                            .saturating_add(separator.len().saturating_mul(n.saturating_sub(1))),
                    ),
                    (Framing::Counted(_), _, Self::Fixed(_) | Self::Delimited) => Self::Delimited,
                    _ => Self::Open,
                }
            }
            Shape::Framed { frame: Frame::Len(width), inner } => match (inner.extent(), width.fixed()) {
                (Self::Fixed(n), Some(prefix)) => Self::Fixed(n.saturating_add(prefix)),
                _ => Self::Delimited,
            },
            Shape::Framed { .. } => Self::Delimited,
            Shape::Desc(inner) => inner.extent(),
            Shape::Hashed { keep, .. } => Self::Fixed(*keep),
            Shape::HashConcat { keep, inner, .. } => match inner.extent() {
                Self::Fixed(n) => Self::Fixed(n.saturating_add(*keep)),
                extent => extent,
            },
        }
    }

    /// The extent of an element of a list, before the next one.
    pub fn of_item(item: &Shape, framing: &Framing) -> Self {
        escape::extent_of_item(item, framing)
    }

    /// The extent of an integer.
    pub fn of_int(int: &IntShape) -> Self {
        Self::of_parts(int.encoding.parts(), || Some(int.ty.bytes()))
    }

    /// The extent by the rule of an encoding, and by the number of bytes that the value always has.
    fn of_parts((row, part): (&Encoding, Option<Part<'_>>), bytes: impl Fn() -> Option<usize>) -> Self {
        match (row.extent, part) {
            (ExtentRule::After(bytes), _) | (ExtentRule::Argument, Some(Part::Number(bytes))) => {
                Self::Fixed(bytes)
            }
            (ExtentRule::Type | ExtentRule::Length, _) => bytes().map_or(Self::Open, Self::Fixed),
            (ExtentRule::Marked, _) => Self::Delimited,
            (ExtentRule::Open | ExtentRule::Argument | ExtentRule::Inside, _) => Self::Open,
        }
    }
}

/// How many bytes something may take. Both ends are bounds, not always reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Width {
    /// At least this many.
    pub min: usize,
    /// At most this many; `None` without a limit.
    pub max: Option<usize>,
}

impl Width {
    /// Exactly `n` bytes.
    pub const fn exactly(n: usize) -> Self {
        Self { min: n, max: Some(n) }
    }

    /// The only number of bytes, if there is just one.
    pub fn fixed(self) -> Option<usize> {
        self.max.filter(|max| *max == self.min)
    }

    /// Whether `n` bytes are possible.
    pub fn admits(self, n: usize) -> bool {
        n >= self.min && self.max.is_none_or(|max| n <= max)
    }

    /// The width of the two in a row.
    #[must_use]
    pub fn then(self, next: Self) -> Self {
        Self {
            min: self.min.saturating_add(next.min),
            max: self.max.zip(next.max).map(|(a, b)| a.saturating_add(b)),
        }
    }

    /// The width of either.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.zip(other.max).map(|(a, b)| a.max(b)) }
    }

    /// The width of one segment.
    pub fn of_segment(segment: &Segment) -> Self {
        match segment {
            Segment::Literal(literal) => Self::exactly(literal.bytes.len()),
            Segment::Argument(argument) => Self::of_shape(&argument.shape),
            Segment::Same(same) => Self::of_shape(&same.shape),
            Segment::Derived(derived) => Self::of_int(&derived.shape),
        }
    }

    /// The width of a shape.
    pub fn of_shape(shape: &Shape) -> Self {
        if let Extent::Fixed(n) = shape.extent() {
            return Self::exactly(n);
        }
        match shape {
            Shape::Int(int) => Self::of_int(int),
            Shape::Bool(_) => Self::exactly(1),
            Shape::Float(_) | Shape::Time(_) | Shape::Score { .. } => Self { min: 8, max: Some(29) },
            Shape::Bytes { lengths, encoding } => {
                Self { min: encoding.width(lengths.min()).0, max: lengths.max().map(|n| encoding.width(n).1) }
            }
            Shape::Text(text) if text.tuple => {
                // Only a NUL is written with two bytes.
                let scale = if text.may_hold(0) { 2 } else { 1 };
                Self {
                    min: text.lengths.min().saturating_add(2),
                    max: text.lengths.max().map(|n| n.saturating_mul(scale).saturating_add(2)),
                }
            }
            Shape::Text(text) => Self { min: text.lengths.min(), max: text.lengths.max() },
            Shape::Nibbles { lengths, encoding } => Self {
                min: encoding.width(lengths.min()),
                max: lengths.max().or(encoding.most()).map(|n| encoding.width(n)),
            },
            Shape::Opaque(_) => Self { min: 0, max: None },
            Shape::Record(sequence) => sequence.width(),
            Shape::Choice(alternatives) => alternatives
                .iter()
                .map(|alternative| alternative.sequence.width())
                .reduce(Self::or)
                .unwrap_or_default(),
            Shape::Option(inner) => Self { min: 0, max: Self::of_shape(inner).max },
            Shape::List { item, counts, framing } => Self::of_list(item, counts, framing),
            Shape::Framed { frame, inner } => Self::of_frame(*frame, Self::of_shape(inner)),
            Shape::Desc(inner) => Self::of_shape(inner),
            Shape::Hashed { keep, .. } => Self::exactly(*keep),
            Shape::HashConcat { keep, inner, .. } => Self::exactly(*keep).then(Self::of_shape(inner)),
        }
    }

    fn of_list(item: &Shape, counts: &LengthSet, framing: &Framing) -> Self {
        let item = Self::of_shape(item);
        let between = match framing {
            Framing::Joined(separator) => separator.len(),
            Framing::ToEnd | Framing::Counted(_) => 0,
        };
        let total = |n: usize, width: usize| {
            width.saturating_mul(n).saturating_add(between.saturating_mul(n.saturating_sub(1)))
        };
        let most = match framing {
            Framing::Counted(width) if width.limit() < usize::MAX => {
                Some(counts.max().map_or(width.limit(), |n| n.min(width.limit())))
            }
            Framing::ToEnd | Framing::Counted(_) | Framing::Joined(_) => counts.max(),
        };
        let body = Self {
            min: total(counts.min(), item.min),
            max: most.zip(item.max).map(|(n, width)| total(n, width)),
        };
        match framing {
            Framing::Counted(width) => Self::of_prefix(*width, counts.min(), most).then(body),
            Framing::ToEnd | Framing::Joined(_) => body,
        }
    }

    fn of_frame(frame: Frame, inner: Self) -> Self {
        let Frame::Len(width) = frame else {
            return Self { min: frame.width(inner.min).0, max: inner.max.map(|n| frame.width(n).1) };
        };
        let limit = width.limit();
        let capped = Self { min: inner.min, max: Some(inner.max.map_or(limit, |n| n.min(limit))) };
        let unlimited = limit == usize::MAX && inner.max.is_none();
        let body = if unlimited { inner } else { capped };
        Self::of_prefix(width, body.min, body.max).then(body)
    }

    /// The width of a length or a count that lies between two others.
    fn of_prefix(width: LenWidth, least: usize, most: Option<usize>) -> Self {
        let bytes = |number: usize| {
            let mut room = [0; 10];
            let mut out = Buffer::new(&mut room);
            Count { width }.encode(number, &mut out).ok().map(|()| out.written().len())
        };
        let of = || Self { min: bytes(least).unwrap_or(1), max: most.and_then(bytes).or(Some(10)) };
        width.fixed().map_or_else(of, Self::exactly)
    }

    fn of_int(int: &IntShape) -> Self {
        if let Extent::Fixed(n) = Extent::of_int(int) {
            return Self::exactly(n);
        }
        let digits = |base: u128| {
            let count = |mut n: u128| {
                let mut digits = 1;
                while n >= base {
                    n /= base;
                    digits += 1;
                }
                digits
            };
            match int.range {
                IntRange::Unsigned { min, max } => Self { min: count(min), max: Some(count(max)) },
                IntRange::Signed { min, max } => {
                    let width = |n: i128| count(n.unsigned_abs()) + usize::from(n < 0);
                    let least = if min <= 0 && max >= 0 { 1 } else { width(min).min(width(max)) };
                    Self { min: least, max: Some(width(min).max(width(max))) }
                }
            }
        };
        match int.encoding {
            IntEncoding::Dec => digits(10),
            IntEncoding::Hex(_) => digits(16),
            _ => Self::of_ends(int).unwrap_or(Self {
                min: 1,
                max: Some(int.ty.bytes().saturating_mul(8).div_ceil(7).max(int.ty.bytes() + 2)),
            }),
        }
    }

    /// The width of an integer whose bytes grow with its distance from 0.
    fn of_ends(int: &IntShape) -> Option<Self> {
        let (least, a, b) = match int.range {
            IntRange::Unsigned { min, max } => {
                let width = |n| int_width(int, &Value::Unsigned(n));
                (width(min)?, width(min)?, width(max)?)
            }
            IntRange::Signed { min, max } => {
                let width = |n| int_width(int, &Value::Signed(n));
                let nearest = if min > 0 { min } else { max.min(0) };
                (width(nearest)?, width(min)?, width(max)?)
            }
        };
        Some(Self { min: least, max: Some(a.max(b)) })
    }
}

impl Sequence {
    /// The longest key that the layout allows; `None` without a limit.
    pub fn longest(&self) -> Option<usize> {
        self.width().max
    }
}
