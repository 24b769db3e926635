use std::fmt;

use keyplan_codec::{
    Bytes, Count, Crc16, Crc32, Hash, HashConcat, Hashed, Heights, Lengths, Score, Segment as _, Sink,
    TupleText, complement,
};

use super::{Value, int};
use crate::model::table::{
    bool_codecs, bytes_codecs, float_codecs, frame_codecs, nibble_codecs, score_codecs, time_codecs,
};
use crate::model::{
    Alternative, BoolEncoding, BytesEncoding, Derivation, Derived, FloatEncoding, Frame, Framing, LengthSet,
    NibbleEncoding, ScoreEncoding, Segment, Sequence, Shape, TextShape, TimeEncoding,
};

/// Why values cannot be written under a layout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodeError {
    /// The names of the arguments that lead to it, outermost first.
    pub path: Vec<String>,
    /// What is wrong there.
    pub fault: EncodeFault,
}

/// What is wrong with a value.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EncodeFault {
    /// The segment refuses the value.
    Refused(keyplan_codec::EncodeError),
    /// A value of another kind than the argument's.
    Kind {
        /// What the argument is.
        expected: &'static str,
        /// What was given.
        found: &'static str,
    },
    /// Too few or too many arguments.
    Arguments {
        /// How many there are.
        expected: usize,
        /// How many were given.
        found: usize,
    },
    /// An alternative that does not exist.
    Alternative {
        /// The index given.
        found: usize,
    },
    /// A list of a length that is not allowed.
    Count {
        /// How many elements were given.
        found: usize,
    },
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "`{}`: ", self.path.join("."))?;
        }
        match &self.fault {
            EncodeFault::Refused(error) => error.fmt(f),
            EncodeFault::Kind { expected, found } => write!(f, "{found} where {expected} belongs"),
            EncodeFault::Arguments { expected, found } => {
                write!(f, "{found} argument(s) where {expected} belong")
            }
            EncodeFault::Alternative { found } => write!(f, "there is no alternative {found}"),
            EncodeFault::Count { found } => write!(f, "{found} elements are not allowed"),
        }
    }
}

impl std::error::Error for EncodeError {}

impl From<keyplan_codec::EncodeError> for EncodeError {
    fn from(error: keyplan_codec::EncodeError) -> Self {
        Self { path: Vec::new(), fault: EncodeFault::Refused(error) }
    }
}

impl EncodeError {
    fn new(fault: EncodeFault) -> Self {
        Self { path: Vec::new(), fault }
    }

    fn within(mut self, name: &str) -> Self {
        self.path.insert(0, name.to_owned());
        self
    }
}

/// Appends the bytes of `values`, one for each argument of the sequence.
pub fn encode(sequence: &Sequence, values: &[Value], out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let expected = sequence.argument_count();
    if values.len() != expected {
        return Err(EncodeError::new(EncodeFault::Arguments { expected, found: values.len() }));
    }
    row(sequence, sequence.segments().len(), values, out)
}

/// Appends the bytes of the first `segments` segments, of which `values` gives the arguments.
pub fn prefix(
    sequence: &Sequence,
    segments: usize,
    values: &[Value],
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let expected = sequence.arguments_before(segments);
    if values.len() != expected {
        return Err(EncodeError::new(EncodeFault::Arguments { expected, found: values.len() }));
    }
    row(sequence, segments, values, out)
}

fn row(sequence: &Sequence, count: usize, values: &[Value], out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let mut rest = values.iter();
    for segment in sequence.segments().iter().take(count) {
        match segment {
            Segment::Literal(literal) => out.extend_from_slice(&literal.bytes),
            Segment::Argument(argument) => {
                let value = rest.next().ok_or_else(|| missing(sequence, values))?;
                shape(&argument.shape, value, out).map_err(|error| match &argument.name {
                    Some(name) => error.within(name),
                    None => error,
                })?;
            }
            Segment::Same(same) => {
                let value = values.get(sequence.arguments_before(same.of));
                let value = value.ok_or_else(|| missing(sequence, values))?;
                shape(&same.shape, value, out).map_err(|error| error.within(&same.name))?;
            }
            Segment::Derived(derived) => {
                let mut pieces = Vec::new();
                for &of in &derived.of {
                    let value = values.get(sequence.arguments_before(of));
                    let value = value.ok_or_else(|| missing(sequence, values))?;
                    if let Some(Segment::Argument(argument)) = sequence.segments().get(of) {
                        shape(&argument.shape, value, &mut pieces)
                            .map_err(|error| error.within(argument.name.as_deref().unwrap_or_default()))?;
                    }
                }
                int::encode_unsigned(&derived.shape, derive(derived, &pieces), out)
                    .map_err(|error| EncodeError::from(error).within(&derived.name))?;
            }
        }
    }
    Ok(())
}

/// Appends the bytes of one value by itself.
pub fn encode_one(shape: &Shape, value: &Value, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    self::shape(shape, value, out)
}

fn missing(sequence: &Sequence, values: &[Value]) -> EncodeError {
    EncodeError::new(EncodeFault::Arguments { expected: sequence.argument_count(), found: values.len() })
}

/// The value of the derived part at `index` in a key of these arguments.
pub fn derived_value(sequence: &Sequence, index: usize, values: &[Value]) -> Result<u128, EncodeError> {
    let Some(Segment::Derived(derived)) = sequence.segments().get(index) else {
        return Err(missing(sequence, values));
    };
    let mut pieces = Vec::new();
    for &of in &derived.of {
        let value = values.get(sequence.arguments_before(of)).ok_or_else(|| missing(sequence, values))?;
        if let Some(Segment::Argument(argument)) = sequence.segments().get(of) {
            shape(&argument.shape, value, &mut pieces)?;
        }
    }
    Ok(derive(derived, &pieces))
}

/// The value of a derived part, from the joined bytes of the arguments that go into it.
pub fn derive(derived: &Derived, bytes: &[u8]) -> u128 {
    let eight = |hash: Hash| {
        let mut word = [0; 8];
        for (to, from) in word.iter_mut().zip(hash.digest(bytes).iter()) {
            *to = *from;
        }
        word
    };
    let value = match derived.function {
        Derivation::Crc16 => u128::from(Crc16::of(&[bytes])),
        Derivation::Crc32 => u128::from(Crc32::of(&[bytes])),
        Derivation::Xxh3 => u128::from(u64::from_be_bytes(eight(Hash::Xxh3_64))),
        // The digest is little-endian; the number is what it stands for.
        Derivation::Twox => u128::from(u64::from_be_bytes(eight(Hash::Twox64)).swap_bytes()),
    };
    derived.modulus.map_or(value, |modulus| value % modulus)
}

/// Appends a value by the codec of its encoding.
macro_rules! encoded {
    ({ $encoding:expr, $value:expr, $out:expr } $($pattern:pat => $codec:expr;)*) => {
        match $encoding {
            $($pattern => $codec.encode($value, $out),)*
        }
    };
}

macro_rules! nibbles_encoded {
    (
        { $encoding:expr, $lengths:expr, $value:expr, $out:expr }
        [$name:ident]
        $($pattern:pat => $kind:ident($codec:expr);)*
    ) => {{
        let $name = $lengths;
        match $encoding {
            $($pattern => $codec.encode($value, $out),)*
        }
    }};
}

fn shape(shape: &Shape, value: &Value, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    match (shape, value) {
        (Shape::Int(int), Value::Unsigned(n)) if !int.ty.signed => Ok(int::encode_unsigned(int, *n, out)?),
        (Shape::Int(int), Value::Signed(n)) if int.ty.signed => Ok(int::encode_signed(int, *n, out)?),
        (Shape::Bool(encoding), Value::Bool(value)) => Ok(bool_codecs!(encoded { *encoding, *value, out })?),
        (Shape::Float(encoding), Value::Float(value)) => {
            Ok(float_codecs!(encoded { *encoding, *value, out })?)
        }
        (Shape::Time(encoding), Value::Time(nanos)) => Ok(time_codecs!(encoded { *encoding, *nanos, out })?),
        (Shape::Score { heights, encoding }, Value::Score(score)) => {
            Ok(place(*heights, *encoding, *score, out)?)
        }
        (Shape::Score { heights, encoding }, Value::Float(score)) if encoding.is_float() => {
            Ok(float_score(*heights, *encoding, *score, out)?)
        }
        (Shape::Bytes { lengths, encoding }, Value::Bytes(bytes)) => {
            Ok(byte_string(lengths.lengths(), encoding, bytes, out)?)
        }
        (Shape::Text(shape), Value::Text(value)) => text(shape, value, out),
        (Shape::Nibbles { lengths, encoding }, Value::Nibbles(nibbles)) => {
            let lengths = lengths.lengths();
            Ok(nibble_codecs!(nibbles_encoded { *encoding, lengths, nibbles, out })?)
        }
        (Shape::Opaque(_), Value::Bytes(bytes)) => {
            out.extend_from_slice(bytes);
            Ok(())
        }
        (Shape::Record(sequence), Value::Record(values)) => encode(sequence, values, out),
        (Shape::Choice(alternatives), Value::Choice(index, values)) => {
            alternative(alternatives, *index, values, out)
        }
        (Shape::Option(_), Value::Option(None)) => Ok(()),
        (Shape::Option(inner), Value::Option(Some(value))) => self::shape(inner, value, out),
        (Shape::List { item, counts, framing }, Value::List(values)) => {
            list(item, counts, framing, values, out)
        }
        (Shape::Framed { frame, inner }, value) => framed(*frame, inner, value, out),
        (Shape::Desc(inner), value) => {
            let start = out.len();
            self::shape(inner, value, out)?;
            complement(out.tail_mut(start));
            Ok(())
        }
        (Shape::Hashed { keep, .. }, Value::Digest(digest)) => {
            Ok(Bytes { lengths: keyplan_codec::Lengths::exactly(*keep) }.encode(digest, out)?)
        }
        (Shape::Hashed { hash, keep, inner, .. }, value) => {
            Hashed { hash: *hash, keep: *keep }.wrap(out, |out| self::shape(inner, value, out))
        }
        (Shape::HashConcat { hash, keep, inner }, value) => {
            HashConcat { hash: *hash, keep: *keep }.wrap(out, |out| self::shape(inner, value, out))
        }
        (shape, value) => {
            Err(EncodeError::new(EncodeFault::Kind { expected: shape.kind(), found: value.kind() }))
        }
    }
}

/// Appends a score by the codec of its encoding, for the heights that it may have.
macro_rules! score_encoded {
    (
        { $encoding:expr, $heights:expr, $score:expr, $out:expr, $how:ident }
        $($pattern:pat => $kind:ident($any:ident, $within:ident);)*
    ) => {
        match $encoding {
            $($pattern => score_encoded!($how $kind $any, $within, $heights, $score, $out),)*
        }
    };
    (float place $any:ident, $within:ident, $heights:expr, $score:expr, $out:expr) => { Ok(()) };
    (float float $any:ident, $within:ident, $heights:expr, $score:expr, $out:expr) => {
        score_encoded!(encode_float, $any, $within, $heights, $score, $out)
    };
    (place $kind:ident $any:ident, $within:ident, $heights:expr, $score:expr, $out:expr) => {
        score_encoded!(encode, $any, $within, $heights, $score, $out)
    };
    ($call:ident, $any:ident, $within:ident, $heights:expr, $score:expr, $out:expr) => {
        match $heights {
            Some(heights) => keyplan_codec::$within { heights }.$call($score, $out),
            None => keyplan_codec::$any.$call($score, $out),
        }
    };
}

fn place(
    heights: Option<Heights>,
    encoding: ScoreEncoding,
    score: Score,
    out: &mut Vec<u8>,
) -> Result<(), keyplan_codec::EncodeError> {
    score_codecs!(score_encoded { encoding, heights, score, out, place })
}

/// Appends the float of a score. What is not a float has none, and does not come here.
fn float_score(
    heights: Option<Heights>,
    encoding: ScoreEncoding,
    score: f64,
    out: &mut Vec<u8>,
) -> Result<(), keyplan_codec::EncodeError> {
    score_codecs!(score_encoded { encoding, heights, score, out, float })
}

macro_rules! bytes_encoded {
    (
        { $encoding:expr, $lengths:expr, $bytes:expr, $out:expr }
        [$name:ident]
        $($pattern:pat => $kind:ident($codec:expr);)*
    ) => {{
        let $name = $lengths;
        match *$encoding {
            $($pattern => bytes_encoded!($kind $codec, $name, $bytes, $out),)*
        }
    }};
    (cut $codec:expr, $lengths:ident, $bytes:expr, $out:expr) => {
        admitted($lengths, $bytes).and_then(|bytes| $codec.encode(bytes, $out))
    };
    (marked $codec:expr, $lengths:ident, $bytes:expr, $out:expr) => {
        admitted($lengths, $bytes).and_then(|bytes| $codec.encode(bytes, $out))
    };
    ($kind:ident $codec:expr, $lengths:ident, $bytes:expr, $out:expr) => { $codec.encode($bytes, $out) };
}

fn byte_string(
    lengths: Lengths<'_>,
    encoding: &BytesEncoding,
    bytes: &[u8],
    out: &mut Vec<u8>,
) -> Result<(), keyplan_codec::EncodeError> {
    bytes_codecs!(bytes_encoded { encoding, lengths, bytes, out })
}

/// The bytes, if they have one of the lengths.
fn admitted<'b>(lengths: Lengths<'_>, bytes: &'b [u8]) -> Result<&'b [u8], keyplan_codec::EncodeError> {
    if lengths.admits(bytes.len()) {
        Ok(bytes)
    } else {
        Err(keyplan_codec::EncodeError::Length { found: bytes.len() })
    }
}

fn text(shape: &TextShape, value: &str, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let start = out.len();
    shape.codec().encode(value, out)?;
    if shape.tuple {
        out.truncate(start);
        TupleText.encode(value, out)?;
    }
    Ok(())
}

fn alternative(
    alternatives: &[Alternative],
    index: usize,
    values: &[Value],
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let Some(alternative) = alternatives.get(index) else {
        return Err(EncodeError::new(EncodeFault::Alternative { found: index }));
    };
    encode(&alternative.sequence, values, out).map_err(|error| error.within(&alternative.label))
}

fn list(
    item: &Shape,
    counts: &LengthSet,
    framing: &Framing,
    values: &[Value],
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    if !counts.admits(values.len()) {
        return Err(EncodeError::new(EncodeFault::Count { found: values.len() }));
    }
    if let Framing::Counted(width) = framing {
        Count { width: *width }
            .encode(values.len(), out)
            .map_err(|_| EncodeError::new(EncodeFault::Count { found: values.len() }))?;
    }
    for (index, value) in values.iter().enumerate() {
        if let Framing::Joined(separator) = framing
            && index > 0
        {
            out.extend_from_slice(separator);
        }
        shape(item, value, out).map_err(|error| error.within(&index.to_string()))?;
    }
    Ok(())
}

macro_rules! frame_encoded {
    ({ $frame:expr, $out:expr, $inside:expr } $($pattern:pat => $kind:ident($codec:expr);)*) => {
        match $frame {
            $($pattern => $codec.wrap($out, $inside),)*
        }
    };
}

fn framed(frame: Frame, inner: &Shape, value: &Value, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let inside = |out: &mut Vec<u8>| shape(inner, value, out);
    frame_codecs!(frame_encoded { frame, out, inside })
}
