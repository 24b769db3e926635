//! Lengths in front: where they sort as the values after them do.
//!
//! A value with its length in front sorts by the length first. That keeps the logical order if no value is longer than one
//! that comes after it, if the lengths sort as they are written, and if values of one length sort by their bytes.

use keyplan_plan::codec::{Count, LenWidth, Segment as _};
use keyplan_plan::dynamic::Value;
use keyplan_plan::model::{
    BytesEncoding, Frame, IntEncoding, IntRange, IntShape, LengthSet, Segment, Sequence, Shape, TextShape,
    Width,
};

use crate::automaton::ByteSet;
use crate::every;
use crate::guarantee::unordered::law::right;
use crate::written::written;

/// The most numbers, or lengths, that are looked at one by one.
const MOST: usize = 4_096;

/// Whether no value of a shape is longer than one that comes after it in logical order.
pub(crate) fn lengths_rise(shape: &Shape) -> bool {
    match shape {
        shape if Width::of_shape(shape).fixed().is_some() => true,
        Shape::Int(int) => int_lengths_rise(int),
        Shape::Text(text) if text.tuple => false,
        Shape::Text(text) => is_empty_or_one(&text.lengths) || has_one_letter(text),
        Shape::Bytes { encoding: BytesEncoding::Raw | BytesEncoding::Hex(_), lengths } => {
            is_empty_or_one(lengths)
        }
        Shape::Bytes { encoding: BytesEncoding::Class(class), lengths } => {
            is_empty_or_one(lengths) || ByteSet::from_bits(class.bits()).iter().count() == 1
        }
        Shape::Nibbles { lengths, .. } => is_empty_or_one(lengths),
        Shape::List { item, counts, .. } => {
            is_empty_or_one(counts) && Width::of_shape(item).fixed().is_some()
        }
        // Nothing comes first, and has no bytes. In a frame, what a longer value takes is not shorter.
        Shape::Option(inner) | Shape::Framed { frame: Frame::Len(_) | Frame::Memcmp, inner } => {
            lengths_rise(inner)
        }
        Shape::Choice(_) => {
            let widths: Vec<Width> = shape.rows().map(Sequence::width).collect();
            widths.iter().all(|width| width.fixed().is_some()) && widths.is_sorted_by_key(|width| width.min)
        }
        // The first argument decides; whatever follows must not make up for its length.
        Shape::Record(sequence) => {
            let mut arguments = sequence.segments().iter().skip_while(|s| matches!(s, Segment::Literal(_)));
            matches!(arguments.next(), Some(Segment::Argument(first)) if lengths_rise(&first.shape))
                && arguments.all(|segment| Width::of_segment(segment).fixed().is_some())
        }
        _ => false,
    }
}

/// Whether the lengths of a shape, as they are written, sort as the numbers that they are.
pub(crate) fn lengths_sort(width: LenWidth, shape: &Shape) -> bool {
    let lengths = Width::of_shape(shape);
    let big_endian = matches!(width, LenWidth::L8 | LenWidth::L16 | LenWidth::L32 | LenWidth::L64);
    big_endian || lengths.max.is_some_and(|max| max - lengths.min < MOST) && turn(width, shape).is_none()
}

/// The first two neighbours among the lengths of a shape that do not sort as they are written.
pub(crate) fn turn(width: LenWidth, shape: &Shape) -> Option<(usize, usize)> {
    let prefix = |length: usize| {
        let mut bytes = Vec::new();
        Count { width }.encode(length, &mut bytes).ok().map(|()| bytes)
    };
    let lengths = Width::of_shape(shape);
    let last = lengths.max.unwrap_or(usize::MAX).min(lengths.min.saturating_add(MOST));
    (lengths.min..last).map(|length| (length, length + 1)).find(
        |&(short, long)| matches!((prefix(short), prefix(long)), (Some(short), Some(long)) if short >= long),
    )
}

/// Whether values of a shape that take equally many bytes sort by them; else why not.
pub(crate) fn right_at_one_length(shape: &Shape) -> Result<(), &'static str> {
    match shape {
        Shape::Int(int) if int_right_at_one_length(int) => Ok(()),
        Shape::Option(inner) => right_at_one_length(inner),
        shape => right(shape),
    }
}

/// Whether values differ in length only if one of them is empty, and so comes first.
pub(crate) fn is_empty_or_one(lengths: &LengthSet) -> bool {
    match lengths {
        LengthSet::Range { min, max } => min == max || (*min, *max) == (0, 1),
        LengthSet::OneOf(all) => all.iter().filter(|&&length| length > 0).count() <= 1,
    }
}

/// Whether all values are fronts of the longest.
fn has_one_letter(text: &TextShape) -> bool {
    let one = |bits: [u64; 4]| ByteSet::from_bits(bits).iter().count() == 1;
    let names = text.names.as_ref().is_none_or(|set| set.names.is_empty());
    names && one(text.alphabet.bits()) && text.first.is_none_or(|first| one(first.bits()))
}

fn written_int(int: &IntShape, value: &Value) -> Option<Vec<u8>> {
    written(&Shape::Int(int.clone()), value)
}

/// Whether a number takes no fewer bytes than one below it. On either side of zero it does not if it is farther away.
fn int_lengths_rise(int: &IntShape) -> bool {
    let IntRange::Signed { min, max } = int.range else { return true };
    if min >= 0 {
        return true;
    }
    let length = |number: i128| written_int(int, &Value::Signed(number)).map(|bytes| bytes.len());
    let last = max.min(-1);
    match (length(min), length(last)) {
        (Some(first), Some(second)) if first == second => {
            max < 0 || length(0).is_some_and(|zero| second <= zero)
        }
        _ => false,
    }
}

fn int_right_at_one_length(int: &IntShape) -> bool {
    let positive = match int.range {
        IntRange::Unsigned { .. } => true,
        IntRange::Signed { min, .. } => min >= 0,
    };
    // The most significant digit comes first.
    let digits = matches!(int.encoding, IntEncoding::Dec | IntEncoding::Hex(_) | IntEncoding::BitcoinVarint);
    if positive && digits {
        return true;
    }
    let Some(all) = every::numbers(int.range, MOST) else { return false };
    let all: Option<Vec<Vec<u8>>> = all.iter().map(|value| written_int(int, value)).collect();
    // Lengths rise, so that neighbours decide.
    all.is_some_and(|all| all.windows(2).all(|pair| matches!(pair, [a, b] if (a.len(), a) < (b.len(), b))))
}

/// Whether the numbers of a range are few, sort by their bytes, and none is the front of another.
pub(crate) fn few_sort(int: &IntShape) -> bool {
    let Some(all) = every::numbers(int.range, MOST) else { return false };
    let all: Option<Vec<Vec<u8>>> = all.iter().map(|value| written_int(int, value)).collect();
    // Whatever begins with a number comes right after it.
    let apart = |pair: &[Vec<u8>]| matches!(pair, [a, b] if a < b && !b.starts_with(a));
    all.is_some_and(|all| !all.is_empty() && all.windows(2).all(apart))
}

/// A value of a shape with so many bytes.
pub(crate) fn of_length(shape: &Shape, length: usize) -> Option<Value> {
    match shape {
        Shape::Bytes { encoding: BytesEncoding::Raw, .. } => Some(Value::Bytes(vec![0; length])),
        Shape::Bytes { encoding: BytesEncoding::Class(class), .. } => {
            Some(Value::Bytes(vec![ByteSet::from_bits(class.bits()).min()?; length]))
        }
        Shape::Text(text) if !text.tuple => {
            let ascii = |bits: [u64; 4]| ByteSet::from_bits(bits).and(ByteSet::range(0, 0x7f)).min();
            let rest = ascii(text.alphabet.bits())?;
            let mut bytes = vec![rest; length];
            if let (Some(first), Some(slot)) = (text.first, bytes.first_mut()) {
                *slot = ascii(first.bits())?;
            }
            String::from_utf8(bytes).ok().map(Value::Text)
        }
        Shape::Option(inner) => {
            let none = Value::Option(None);
            if length == 0 {
                Some(none)
            } else {
                Some(Value::Option(Some(Box::new(of_length(inner, length)?))))
            }
        }
        _ => None,
    }
}
