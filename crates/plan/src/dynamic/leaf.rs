//! Single values, and the frames around others.

use std::borrow::Cow;

use keyplan_codec::{
    Bytes, Count, DecodeError, Delimited, Fault, Heights, LenWidth, Lengths, Open, Segment as _, TupleText,
};

use super::{Value, int};
use crate::model::table::{
    bool_codecs, bytes_codecs, float_codecs, frame_codecs, nibble_codecs, score_codecs, time_codecs,
};
use crate::model::{
    BoolEncoding, BytesEncoding, FloatEncoding, Frame, NibbleEncoding, ScoreEncoding, Shape, TextShape,
    TimeEncoding,
};

/// The content of a frame: in place after its prefix, or with its escapes undone.
pub(crate) enum Unframed<'k> {
    Borrowed(usize, &'k [u8]),
    Owned(Vec<u8>),
}

macro_rules! frame_decoded {
    ({ $frame:expr, $bytes:expr } $($pattern:pat => $kind:ident($codec:expr);)*) => {
        match $frame {
            $($pattern => frame_decoded!($kind $codec.decode($bytes)?, $bytes),)*
        }
    };
    (prefix $read:expr, $bytes:expr) => {{
        let content = $read;
        Unframed::Borrowed($bytes.len() - content.len(), content)
    }};
    (coded $read:expr, $bytes:expr) => { Unframed::Owned($read.bytes().collect()) };
}

pub(crate) fn unframe(frame: Frame, bytes: &[u8]) -> Result<Unframed<'_>, DecodeError> {
    Ok(frame_codecs!(frame_decoded { frame, bytes }))
}

/// The contents of a frame that `bytes` are, with its escapes undone.
pub fn contents(frame: Frame, bytes: &[u8]) -> Result<Cow<'_, [u8]>, DecodeError> {
    unframe(frame, bytes).map(|unframed| match unframed {
        Unframed::Borrowed(_, content) => Cow::Borrowed(content),
        Unframed::Owned(content) => Cow::Owned(content),
    })
}

/// The count at the front of `input`, and how many bytes it takes.
pub(super) fn counted(width: LenWidth, input: &[u8]) -> Result<(usize, usize), DecodeError> {
    let extent = Count { width }.extent(input)?;
    let count = Count { width }.decode(input.get(..extent).unwrap_or_default())?;
    Ok((count, extent))
}

macro_rules! bytes_longest {
    (
        { $encoding:expr, $lengths:expr, $rest:expr }
        [$name:ident]
        $($pattern:pat => $kind:ident($codec:expr);)*
    ) => {{
        let $name = $lengths;
        match *$encoding {
            $($pattern => bytes_longest!($kind $codec, $name, $rest),)*
        }
    }};
    (plain $codec:expr, $lengths:ident, $rest:expr) => { $codec.longest($rest) };
    (coded $codec:expr, $lengths:ident, $rest:expr) => { $codec.longest($rest) };
    ($kind:ident $codec:expr, $lengths:ident, $rest:expr) => {{
        let _ = $codec;
        Bytes { lengths: $lengths }.longest($rest)
    }};
}

/// How many bytes at the front of `rest` an open shape could take at most.
pub(super) fn longest(shape: &Shape, rest: &[u8]) -> usize {
    match shape {
        Shape::Int(int) => int::longest_text(int, rest),
        Shape::Text(text) if !text.tuple => text.codec().longest(rest),
        Shape::Bytes { lengths, encoding } if *encoding != BytesEncoding::Tuple => {
            bytes_codecs!(bytes_longest { encoding, lengths.lengths(), rest })
        }
        _ => rest.len(),
    }
}

/// Reads a value by the codec of its encoding.
macro_rules! decoded {
    ({ $encoding:expr, $bytes:expr } $($pattern:pat => $codec:expr;)*) => {
        match $encoding {
            $($pattern => $codec.decode($bytes),)*
        }
    };
}

macro_rules! nibbles_decoded {
    (
        { $encoding:expr, $lengths:expr, $bytes:expr }
        [$name:ident]
        $($pattern:pat => $kind:ident($codec:expr);)*
    ) => {{
        let $name = $lengths;
        match $encoding {
            $($pattern => nibbles_decoded!($kind $codec.decode($bytes)?),)*
        }
    }};
    (plain $read:expr) => { $read.to_vec() };
    ($kind:ident $read:expr) => { $read.bytes().collect() };
}

pub(super) fn decode_leaf(shape: &Shape, bytes: &[u8]) -> Result<Value, DecodeError> {
    Ok(match shape {
        Shape::Int(int) => int::decode(int, bytes)?,
        Shape::Bool(encoding) => Value::Bool(bool_codecs!(decoded { *encoding, bytes })?),
        Shape::Float(encoding) => Value::Float(float_codecs!(decoded { *encoding, bytes })?),
        Shape::Time(encoding) => Value::Time(time_codecs!(decoded { *encoding, bytes })?),
        Shape::Score { heights, encoding } => decode_score(*heights, *encoding, bytes)?,
        Shape::Bytes { lengths, encoding } => Value::Bytes(decode_bytes(lengths.lengths(), encoding, bytes)?),
        Shape::Text(text) => Value::Text(decode_text(text, bytes)?),
        Shape::Nibbles { lengths, encoding } => {
            let lengths = lengths.lengths();
            Value::Nibbles(nibble_codecs!(nibbles_decoded { *encoding, lengths, bytes }))
        }
        Shape::Opaque(_) => Value::Bytes(bytes.to_vec()),
        _ => return Err(DecodeError::new(0, Fault::NoAlternative)),
    })
}

macro_rules! score_decoded {
    (
        { $encoding:expr, $heights:expr, $bytes:expr }
        $($pattern:pat => $kind:ident($any:ident, $within:ident);)*
    ) => {
        match $encoding {
            $($pattern => score_decoded!($kind match $heights {
                Some(heights) => keyplan_codec::$within { heights }.decode($bytes),
                None => keyplan_codec::$any.decode($bytes),
            }),)*
        }
    };
    (place $read:expr) => { $read.map(Value::Score) };
    (float $read:expr) => { $read.map(Value::Float) };
}

fn decode_score(
    heights: Option<Heights>,
    encoding: ScoreEncoding,
    bytes: &[u8],
) -> Result<Value, DecodeError> {
    score_codecs!(score_decoded { encoding, heights, bytes })
}

macro_rules! bytes_decoded {
    (
        { $encoding:expr, $lengths:expr, $bytes:expr }
        [$name:ident]
        $($pattern:pat => $kind:ident($codec:expr);)*
    ) => {{
        let $name = $lengths;
        match *$encoding {
            $($pattern => bytes_decoded!($kind $codec.decode($bytes)?, $name),)*
        }
    }};
    (plain $read:expr, $lengths:ident) => { $read.to_vec() };
    (cut $read:expr, $lengths:ident) => { $read.to_vec() };
    (marked $read:expr, $lengths:ident) => { admitted($lengths, $read.bytes().collect())? };
    ($kind:ident $read:expr, $lengths:ident) => { $read.bytes().collect() };
}

fn decode_bytes(
    lengths: Lengths<'_>,
    encoding: &BytesEncoding,
    bytes: &[u8],
) -> Result<Vec<u8>, DecodeError> {
    Ok(bytes_codecs!(bytes_decoded { encoding, lengths, bytes }))
}

/// What was read after a type code, if it has one of the lengths.
fn admitted(lengths: Lengths<'_>, content: Vec<u8>) -> Result<Vec<u8>, DecodeError> {
    if lengths.admits(content.len()) {
        Ok(content)
    } else {
        Err(DecodeError::new(1, Fault::Length { found: content.len() }))
    }
}

fn decode_text(shape: &TextShape, bytes: &[u8]) -> Result<String, DecodeError> {
    if !shape.tuple {
        return Ok(shape.codec().decode(bytes)?.to_owned());
    }
    let content: Vec<u8> = TupleText.decode(bytes)?.contents().bytes().collect();
    shape.codec().decode(&content).map(str::to_owned).map_err(|error| error.behind(1))
}
