//! Integers of a type known at run time.

use keyplan_codec::{
    Buffer, CompactSize, DecodeError, Delimited as _, EncodeError, Fault, Segment as _, Sink, Tick9,
};

use super::Value;
use crate::model::table::{signed_codecs, unsigned_codecs};
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

/// Does one of three things with the codec of a shape. There is no number of an encoding that has no codec.
macro_rules! by_codec {
    (
        { $int:ident $shape:ident $does:ident $given:tt $none:expr }
        [$all:ident $first:ident $last:ident]
        $($pattern:pat => $kind:ident($($codec:expr)?);)*
    ) => {{
        let $all = $shape.ty.bytes();
        let ($first, $last) = ends!($shape, $int, $none);
        let _ = ($all, $first, $last);
        match ($shape.encoding, $shape.ty.is_narrow()) {
            $($pattern => $does!($kind $none, $($codec)?; $given),)*
        }
    }};
}

macro_rules! encoded {
    (none $none:expr, ; ($value:expr, $out:expr)) => {
        Err($none)
    };
    ($kind:ident $none:expr, $codec:expr; ($value:expr, $out:expr)) => {
        $codec.encode($value, $out)
    };
}

macro_rules! decoded {
    (none $none:expr, ; ($bytes:expr)) => {
        Err($none)
    };
    ($kind:ident $none:expr, $codec:expr; ($bytes:expr)) => {
        $codec.decode($bytes)
    };
}

macro_rules! ended {
    (end $none:expr, $codec:expr; ($input:expr)) => {
        $codec.extent($input)
    };
    (open $none:expr, $codec:expr; ($input:expr)) => {{
        let _ = $codec;
        Err($none)
    }};
    (none $none:expr, ; ($input:expr)) => {
        Err($none)
    };
}

const NO_NUMBER: DecodeError = DecodeError::new(0, Fault::OutOfRange);

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
        unsigned_codecs!(by_codec { Int shape encoded(value, out) EncodeError::OutOfRange })
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
        signed_codecs!(by_codec { Int shape encoded(value, out) EncodeError::OutOfRange })
    })
}

/// How many bytes a number takes.
pub(crate) fn int_width(shape: &IntShape, value: &Value) -> Option<usize> {
    let mut room = [0; 64];
    let mut out = Buffer::new(&mut room);
    match *value {
        Value::Unsigned(number) => encode_unsigned(shape, number, &mut out).ok()?,
        Value::Signed(number) => encode_signed(shape, number, &mut out).ok()?,
        _ => return None,
    }
    Some(out.written().len())
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
    value.ok_or(NO_NUMBER)
}

#[expect(clippy::useless_conversion, reason = "one of the types is i128 itself")]
fn decode_signed(shape: &IntShape, bytes: &[u8]) -> Result<i128, DecodeError> {
    if shape.encoding == IntEncoding::Tick9 {
        return Ok(Tick9.decode(bytes)?.into());
    }
    with_signed!(shape.ty.bits, Int => {
        let number: Result<Int, DecodeError> = signed_codecs!(by_codec { Int shape decoded(bytes) NO_NUMBER });
        Ok(i128::from(number?))
    })
}

#[expect(clippy::useless_conversion, reason = "one of the types is u128 itself")]
fn decode_unsigned(shape: &IntShape, bytes: &[u8]) -> Result<u128, DecodeError> {
    if shape.encoding == IntEncoding::CompactSize {
        return Ok(CompactSize.decode(bytes)?.into());
    }
    with_unsigned!(shape.ty.native_bits(), Int => {
        let number: Result<Int, DecodeError> = unsigned_codecs!(by_codec { Int shape decoded(bytes) NO_NUMBER });
        Ok(u128::from(number?))
    })
}

/// Returns how many bytes at the front of `input` are a self-delimiting integer.
pub(super) fn extent(shape: &IntShape, input: &[u8]) -> Result<usize, DecodeError> {
    match (shape.encoding, shape.ty.signed) {
        (IntEncoding::CompactSize, _) => CompactSize.extent(input),
        (IntEncoding::Tick9, _) => Tick9.extent(input),
        (_, true) => with_signed!(shape.ty.bits, Int => {
            signed_codecs!(by_codec { Int shape ended(input) NO_NUMBER })
        }),
        (_, false) => with_unsigned!(shape.ty.native_bits(), Int => {
            unsigned_codecs!(by_codec { Int shape ended(input) NO_NUMBER })
        }),
    }
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
