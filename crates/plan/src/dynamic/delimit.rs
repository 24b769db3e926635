//! Where a shape that marks its own end ends.

use keyplan_codec::{DecodeError, Delimited, Fault, TupleText, complement};

use super::decode::Search;
use super::int;
use super::leaf::counted;
use crate::model::table::{bytes_codecs, frame_codecs, nibble_codecs};
use crate::model::{BytesEncoding, Extent, Frame, Framing, NibbleEncoding, Segment, Shape};

/// Where nibbles or bytes end, by their codec if it knows.
macro_rules! end {
    (
        { $encoding:expr, $lengths:expr, $input:expr }
        [$name:ident]
        $($pattern:pat => $kind:ident($codec:expr);)*
    ) => {{
        let $name = $lengths;
        match $encoding {
            $($pattern => end!($kind $codec, $input),)*
        }
    }};
    (marked $codec:expr, $input:expr) => { $codec.extent($input) };
    ($kind:ident $codec:expr, $input:expr) => {{
        let _ = $codec;
        Err(DecodeError::new(0, Fault::NoAlternative))
    }};
}

macro_rules! frame_end {
    ({ $frame:expr, $input:expr } $($pattern:pat => $kind:ident($codec:expr);)*) => {
        match $frame {
            $($pattern => $codec.extent($input),)*
        }
    };
}

impl<'m> Search<'m> {
    /// Returns how many bytes at the front of `input` belong to a shape that marks its own end.
    pub(super) fn delimit(&mut self, shape: &'m Shape, input: &[u8]) -> Result<usize, DecodeError> {
        match shape {
            Shape::Int(int) => int::extent(int, input),
            Shape::Bytes { lengths, encoding } => {
                bytes_codecs!(end { *encoding, lengths.lengths(), input })
            }
            Shape::Text(_) => TupleText.extent(input),
            Shape::Nibbles { lengths, encoding } => {
                nibble_codecs!(end { *encoding, lengths.lengths(), input })
            }
            Shape::Framed { frame, .. } => frame_codecs!(frame_end { *frame, input }),
            Shape::Record(sequence) => {
                let mut at = 0usize;
                for (segment, extent) in sequence.segments().iter().zip(sequence.extents()) {
                    let rest = input.get(at..).unwrap_or_default();
                    let width = match (extent, segment) {
                        (Extent::Fixed(width), _) => *width,
                        (_, Segment::Argument(argument)) => {
                            self.delimit(&argument.shape, rest).map_err(|error| error.behind(at))?
                        }
                        (_, Segment::Same(same)) => {
                            self.delimit(&same.shape, rest).map_err(|error| error.behind(at))?
                        }
                        (_, Segment::Derived(derived)) => {
                            int::extent(&derived.shape, rest).map_err(|error| error.behind(at))?
                        }
                        (_, Segment::Literal(literal)) => literal.bytes.len(),
                    };
                    at = at.saturating_add(width);
                    if at > input.len() {
                        return Err(DecodeError::new(
                            input.len(),
                            Fault::Short { missing: at - input.len() },
                        ));
                    }
                }
                Ok(at)
            }
            Shape::List { item, framing: Framing::Counted(width), .. } => {
                let (count, mut at) = counted(*width, input)?;
                for _ in 0..count {
                    if !self.step() {
                        return Err(DecodeError::new(at, Fault::OutOfRange));
                    }
                    let rest = input.get(at..).unwrap_or_default();
                    let width = match item.extent() {
                        Extent::Fixed(width) => width,
                        _ => self.delimit(item, rest).map_err(|error| error.behind(at))?,
                    };
                    if width > rest.len() {
                        let missing = width - rest.len();
                        return Err(DecodeError::new(input.len(), Fault::Short { missing }));
                    }
                    at += width;
                }
                Ok(at)
            }
            Shape::Desc(inner) => {
                let mut flipped = input.to_vec();
                complement(&mut flipped);
                self.delimit(inner, &flipped)
            }
            Shape::HashConcat { keep, inner, .. } => {
                let rest = input.get(*keep..).ok_or_else(|| {
                    DecodeError::new(input.len(), Fault::Short { missing: keep - input.len() })
                })?;
                self.delimit(inner, rest).map(|width| width + keep).map_err(|error| error.behind(*keep))
            }
            _ => Err(DecodeError::new(0, Fault::NoAlternative)),
        }
    }
}
