//! Single values, and the frames around others.

use keyplan_codec::{
    Base58, Bech32, ByteClass, Bytes, Count, DecodeError, Delimited, Escaped, Fault, Fit, HeightScore,
    HeightScoreWithin, HexBytes, LenPrefix, LenWidth, Memcmp, Open, OrderedCode, ScoreExact, ScoreWithin,
    Segment as _, Terminated, TupleBytes, TupleText, Wide,
};

use super::{Value, int};
use crate::model::table::{bool_codecs, float_codecs, nibble_codecs, time_codecs};
use crate::model::{
    BoolEncoding, BytesEncoding, FloatEncoding, Frame, LengthSet, NibbleEncoding, ScoreEncoding, Shape,
    TextShape, TimeEncoding,
};

/// The content of a frame: in place after its prefix, or with its escapes undone.
pub(crate) enum Unframed<'k> {
    Borrowed(usize, &'k [u8]),
    Owned(Vec<u8>),
}

pub(crate) fn unframe(frame: Frame, bytes: &[u8]) -> Result<Unframed<'_>, DecodeError> {
    Ok(match frame {
        Frame::Len(width) => {
            let content = LenPrefix { width }.decode(bytes)?;
            Unframed::Borrowed(bytes.len() - content.len(), content)
        }
        Frame::Terminated => Unframed::Owned(Terminated.decode(bytes)?.bytes().collect()),
        Frame::Escaped => Unframed::Owned(Escaped.decode(bytes)?.bytes().collect()),
        Frame::Memcmp => Unframed::Owned(Memcmp.decode(bytes)?.bytes().collect()),
        Frame::OrderedCode => Unframed::Owned(OrderedCode.decode(bytes)?.bytes().collect()),
    })
}

/// The count at the front of `input`, and how many bytes it takes.
pub(super) fn counted(width: LenWidth, input: &[u8]) -> Result<(usize, usize), DecodeError> {
    let extent = Count { width }.extent(input)?;
    let count = Count { width }.decode(input.get(..extent).unwrap_or_default())?;
    Ok((count, extent))
}

/// How many bytes at the front of `rest` an open shape could take at most.
pub(super) fn longest(shape: &Shape, rest: &[u8]) -> usize {
    match shape {
        Shape::Int(int) => int::longest_text(int, rest),
        Shape::Text(text) if !text.tuple => text.codec().longest(rest),
        Shape::Bytes { lengths, encoding } if *encoding != BytesEncoding::Tuple => {
            let lengths = lengths.lengths();
            match encoding {
                BytesEncoding::Class(class) => ByteClass { class: *class, lengths }.longest(rest),
                BytesEncoding::Hex(case) => HexBytes { case: *case, lengths }.longest(rest),
                BytesEncoding::Bech32(hrp) => Bech32 { hrp, lengths }.longest(rest),
                BytesEncoding::Base58 { check } => Base58 { check: *check, lengths }.longest(rest),
                _ => Bytes { lengths }.longest(rest),
            }
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
        Shape::Score { heights, encoding: ScoreEncoding::Exact } => Value::Score(match *heights {
            Some(heights) => ScoreWithin { heights }.decode(bytes)?,
            None => ScoreExact.decode(bytes)?,
        }),
        Shape::Score { heights, encoding: ScoreEncoding::HeightScore } => Value::Float(match *heights {
            Some(heights) => HeightScoreWithin { heights }.decode(bytes)?,
            None => HeightScore.decode(bytes)?,
        }),
        Shape::Bytes { lengths, encoding } => Value::Bytes(decode_bytes(lengths, encoding, bytes)?),
        Shape::Text(text) => Value::Text(decode_text(text, bytes)?),
        Shape::Nibbles { lengths, encoding } => {
            let lengths = lengths.lengths();
            Value::Nibbles(nibble_codecs!(nibbles_decoded { *encoding, lengths, bytes }))
        }
        Shape::Opaque(_) => Value::Bytes(bytes.to_vec()),
        _ => return Err(DecodeError::new(0, Fault::NoAlternative)),
    })
}

fn decode_bytes(lengths: &LengthSet, encoding: &BytesEncoding, bytes: &[u8]) -> Result<Vec<u8>, DecodeError> {
    let lengths = lengths.lengths();
    Ok(match encoding {
        BytesEncoding::Raw => Bytes { lengths }.decode(bytes)?.to_vec(),
        BytesEncoding::Class(class) => ByteClass { class: *class, lengths }.decode(bytes)?.to_vec(),
        BytesEncoding::Hex(case) => HexBytes { case: *case, lengths }.decode(bytes)?.bytes().collect(),
        BytesEncoding::Bech32(hrp) => Bech32 { hrp, lengths }.decode(bytes)?.bytes().collect(),
        BytesEncoding::Base58 { check } => Base58 { check: *check, lengths }.decode(bytes)?.bytes().collect(),
        BytesEncoding::Wide { form, .. } => Wide { form: *form }.decode(bytes)?.bytes().collect(),
        BytesEncoding::Fit(width) => Fit { width: *width }.decode(bytes)?.to_vec(),
        BytesEncoding::Tuple => {
            let content: Vec<u8> = TupleBytes.decode(bytes)?.bytes().collect();
            if !lengths.admits(content.len()) {
                return Err(DecodeError::new(1, Fault::Length { found: content.len() }));
            }
            content
        }
    })
}

fn decode_text(shape: &TextShape, bytes: &[u8]) -> Result<String, DecodeError> {
    if !shape.tuple {
        return Ok(shape.codec().decode(bytes)?.to_owned());
    }
    let content: Vec<u8> = TupleText.decode(bytes)?.contents().bytes().collect();
    shape.codec().decode(&content).map(str::to_owned).map_err(|error| error.behind(1))
}
