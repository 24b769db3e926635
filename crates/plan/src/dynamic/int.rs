//! Integers of a type known at run time.

use keyplan_codec::{
    Be, BitcoinVarint, CompactSize, Decimal, DecodeError, Delimited, EncodeError, Fault, HexInt, HighBytes,
    IntFloat, Le, Leb128, LowBytes, Narrow, OrdVar, OrderedCodeInt, PaddedDecimal, PaddedHexInt, Saturating,
    ScaleCompact, Segment, SignFlip, Sink, Tick9, TupleInt,
};

use super::Value;
use crate::model::{IntEncoding, IntRange, IntShape};

/// Runs an expression with `$int` standing for the type of the shape.
macro_rules! with_unsigned {
    ($bits:expr, $int:ident => $body:expr) => {
        match $bits {
            8 => {
                type $int = u8;
                $body
            }
            16 => {
                type $int = u16;
                $body
            }
            32 => {
                type $int = u32;
                $body
            }
            64 => {
                type $int = u64;
                $body
            }
            _ => {
                type $int = u128;
                $body
            }
        }
    };
}

macro_rules! with_signed {
    ($bits:expr, $int:ident => $body:expr) => {
        match $bits {
            8 => {
                type $int = i8;
                $body
            }
            16 => {
                type $int = i16;
                $body
            }
            32 => {
                type $int = i32;
                $body
            }
            64 => {
                type $int = i64;
                $body
            }
            _ => {
                type $int = i128;
                $body
            }
        }
    };
}

/// The ends of the range of a shape, in the type of its numbers.
macro_rules! ends {
    ($shape:expr, $int:ident, $error:expr) => {{
        let (least, most) = match $shape.range {
            IntRange::Unsigned { min, max } => ($int::try_from(min).ok(), $int::try_from(max).ok()),
            IntRange::Signed { min, max } => ($int::try_from(min).ok(), $int::try_from(max).ok()),
        };
        least.zip(most).ok_or($error)?
    }};
}

/// Appends an unsigned integer.
pub(super) fn encode_unsigned<S: Sink>(
    shape: &IntShape,
    value: u128,
    out: &mut S,
) -> Result<(), EncodeError> {
    if !shape.range.contains_unsigned(value) {
        return Err(EncodeError::OutOfRange);
    }
    if shape.encoding == IntEncoding::CompactSize {
        return CompactSize.encode(u64::try_from(value).map_err(|_| EncodeError::OutOfRange)?, out);
    }
    with_unsigned!(shape.ty.native_bits(), Int => {
        let value = Int::try_from(value).map_err(|_| EncodeError::OutOfRange)?;
        match shape.encoding {
            IntEncoding::Be if shape.ty.is_narrow() => Narrow::<Int>::be(shape.ty.bytes()).encode(value, out),
            IntEncoding::Le if shape.ty.is_narrow() => Narrow::<Int>::le(shape.ty.bytes()).encode(value, out),
            IntEncoding::Le => Le::<Int>::new().encode(value, out),
            IntEncoding::ScaleCompact => ScaleCompact::<Int>::new().encode(value, out),
            IntEncoding::OrderedCode => OrderedCodeInt::<Int>::new().encode(value, out),
            IntEncoding::Dec => Decimal::<Int>::full().encode(value, out),
            IntEncoding::DecPadded(width) => PaddedDecimal::<Int>::full(width).encode(value, out),
            IntEncoding::Hex(case) => HexInt::<Int>::full(case).encode(value, out),
            IntEncoding::HexPadded(case, width) => PaddedHexInt::<Int>::full(case, width).encode(value, out),
            IntEncoding::Leb128 => Leb128::<Int>::new().encode(value, out),
            IntEncoding::OrdVar => OrdVar::<Int>::new().encode(value, out),
            IntEncoding::BitcoinVarint => BitcoinVarint::<Int>::new().encode(value, out),
            IntEncoding::Tuple => TupleInt::<Int>::new().encode(value, out),
            IntEncoding::Low(width) => {
                let (least, most) = ends!(shape, Int, EncodeError::OutOfRange);
                LowBytes { width, least, most }.encode(value, out)
            }
            IntEncoding::High(width) => {
                let (least, most) = ends!(shape, Int, EncodeError::OutOfRange);
                HighBytes { bytes: shape.ty.bytes(), width, least, most }.encode(value, out)
            }
            IntEncoding::Float => {
                let (least, most) = ends!(shape, Int, EncodeError::OutOfRange);
                IntFloat { least, most }.encode(value, out)
            }
            _ => Be::<Int>::new().encode(value, out),
        }
    })
}

/// Appends a signed integer.
pub(super) fn encode_signed<S: Sink>(shape: &IntShape, value: i128, out: &mut S) -> Result<(), EncodeError> {
    if !shape.range.contains_signed(value) {
        return Err(EncodeError::OutOfRange);
    }
    if shape.encoding == IntEncoding::Tick9 {
        return Tick9.encode(i64::try_from(value).map_err(|_| EncodeError::OutOfRange)?, out);
    }
    with_signed!(shape.ty.bits, Int => {
        let value = Int::try_from(value).map_err(|_| EncodeError::OutOfRange)?;
        match shape.encoding {
            IntEncoding::Le => Le::<Int>::new().encode(value, out),
            IntEncoding::SignFlip => SignFlip::<Int>::new().encode(value, out),
            IntEncoding::Saturating => Saturating::<Int>::new().encode(value, out),
            IntEncoding::OrderedCode => OrderedCodeInt::<Int>::new().encode(value, out),
            IntEncoding::Dec => Decimal::<Int>::full().encode(value, out),
            IntEncoding::Tuple => TupleInt::<Int>::new().encode(value, out),
            IntEncoding::Float => {
                let (least, most) = ends!(shape, Int, EncodeError::OutOfRange);
                IntFloat { least, most }.encode(value, out)
            }
            _ => Be::<Int>::new().encode(value, out),
        }
    })
}

/// Decodes an integer that is exactly `bytes`.
pub(crate) fn decode(shape: &IntShape, bytes: &[u8]) -> Result<Value, DecodeError> {
    let value = if shape.ty.signed {
        let value = decode_signed(shape, bytes)?;
        shape.range.contains_signed(value).then_some(Value::Signed(value))
    } else {
        let value = decode_unsigned(shape, bytes)?;
        shape.range.contains_unsigned(value).then_some(Value::Unsigned(value))
    };
    value.ok_or(DecodeError::new(0, Fault::OutOfRange))
}

#[expect(clippy::useless_conversion, reason = "one of the types is i128 itself")]
fn decode_signed(shape: &IntShape, bytes: &[u8]) -> Result<i128, DecodeError> {
    if shape.encoding == IntEncoding::Tick9 {
        return Ok(Tick9.decode(bytes)?.into());
    }
    Ok(with_signed!(shape.ty.bits, Int => i128::from(match shape.encoding {
        IntEncoding::Le => Le::<Int>::new().decode(bytes)?,
        IntEncoding::SignFlip => SignFlip::<Int>::new().decode(bytes)?,
        IntEncoding::Saturating => Saturating::<Int>::new().decode(bytes)?,
        IntEncoding::OrderedCode => OrderedCodeInt::<Int>::new().decode(bytes)?,
        IntEncoding::Dec => Decimal::<Int>::full().decode(bytes)?,
        IntEncoding::Tuple => TupleInt::<Int>::new().decode(bytes)?,
        IntEncoding::Float => {
            let (least, most) = ends!(shape, Int, DecodeError::new(0, Fault::OutOfRange));
            IntFloat { least, most }.decode(bytes)?
        }
        _ => Be::<Int>::new().decode(bytes)?,
    })))
}

#[expect(clippy::useless_conversion, reason = "one of the types is u128 itself")]
fn decode_unsigned(shape: &IntShape, bytes: &[u8]) -> Result<u128, DecodeError> {
    if shape.encoding == IntEncoding::CompactSize {
        return Ok(CompactSize.decode(bytes)?.into());
    }
    Ok(with_unsigned!(shape.ty.native_bits(), Int => u128::from(match shape.encoding {
        IntEncoding::Be if shape.ty.is_narrow() => Narrow::<Int>::be(shape.ty.bytes()).decode(bytes)?,
        IntEncoding::Le if shape.ty.is_narrow() => Narrow::<Int>::le(shape.ty.bytes()).decode(bytes)?,
        IntEncoding::ScaleCompact => ScaleCompact::<Int>::new().decode(bytes)?,
        IntEncoding::OrderedCode => OrderedCodeInt::<Int>::new().decode(bytes)?,
        IntEncoding::Le => Le::<Int>::new().decode(bytes)?,
        IntEncoding::Dec => Decimal::<Int>::full().decode(bytes)?,
        IntEncoding::DecPadded(width) => PaddedDecimal::<Int>::full(width).decode(bytes)?,
        IntEncoding::Hex(case) => HexInt::<Int>::full(case).decode(bytes)?,
        IntEncoding::HexPadded(case, width) => PaddedHexInt::<Int>::full(case, width).decode(bytes)?,
        IntEncoding::Leb128 => Leb128::<Int>::new().decode(bytes)?,
        IntEncoding::OrdVar => OrdVar::<Int>::new().decode(bytes)?,
        IntEncoding::BitcoinVarint => BitcoinVarint::<Int>::new().decode(bytes)?,
        IntEncoding::Tuple => TupleInt::<Int>::new().decode(bytes)?,
        IntEncoding::Low(width) => {
            let (least, most) = ends!(shape, Int, DecodeError::new(0, Fault::OutOfRange));
            LowBytes { width, least, most }.decode(bytes)?
        }
        IntEncoding::High(width) => {
            let (least, most) = ends!(shape, Int, DecodeError::new(0, Fault::OutOfRange));
            HighBytes { bytes: shape.ty.bytes(), width, least, most }.decode(bytes)?
        }
        IntEncoding::Float => {
            let (least, most) = ends!(shape, Int, DecodeError::new(0, Fault::OutOfRange));
            IntFloat { least, most }.decode(bytes)?
        }
        _ => Be::<Int>::new().decode(bytes)?,
    })))
}

/// Returns how many bytes at the front of `input` are a self-delimiting integer.
pub(super) fn extent(shape: &IntShape, input: &[u8]) -> Result<usize, DecodeError> {
    if shape.ty.signed {
        return with_signed!(shape.ty.bits, Int => match shape.encoding {
            IntEncoding::OrderedCode => OrderedCodeInt::<Int>::new().extent(input),
            _ => TupleInt::<Int>::new().extent(input),
        });
    }
    with_unsigned!(shape.ty.native_bits(), Int => match shape.encoding {
        IntEncoding::ScaleCompact => ScaleCompact::<Int>::new().extent(input),
        IntEncoding::OrderedCode => OrderedCodeInt::<Int>::new().extent(input),
        IntEncoding::Leb128 => Leb128::<Int>::new().extent(input),
        IntEncoding::OrdVar => OrdVar::<Int>::new().extent(input),
        IntEncoding::BitcoinVarint => BitcoinVarint::<Int>::new().extent(input),
        IntEncoding::CompactSize => CompactSize.extent(input),
        _ => TupleInt::<Int>::new().extent(input),
    })
}

/// The most digits, sign included, that open text of the integer may have.
pub(super) fn longest_text(shape: &IntShape, input: &[u8]) -> usize {
    let is_digit = |byte: &u8| match shape.encoding {
        IntEncoding::Hex(_) => byte.is_ascii_hexdigit(),
        _ => byte.is_ascii_digit(),
    };
    let sign = usize::from(shape.ty.signed && input.first() == Some(&b'-'));
    sign + input.iter().skip(sign).take_while(|byte| is_digit(byte)).count()
}

impl IntRange {
    /// The value as this range's kind of number, for text that was read without a type.
    pub(super) fn value(self, negative: bool, magnitude: u128) -> Option<Value> {
        match self {
            Self::Unsigned { .. } => (!negative || magnitude == 0).then_some(Value::Unsigned(magnitude)),
            Self::Signed { .. } => {
                let value = if negative {
                    0i128.checked_sub_unsigned(magnitude)
                } else {
                    i128::try_from(magnitude).ok()
                };
                value.map(Value::Signed)
            }
        }
    }
}
