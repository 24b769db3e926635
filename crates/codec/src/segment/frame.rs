use super::{exactly, put_fill, short, trailing};
use crate::{DecodeError, Delimited, EncodeError, Expected, Fault, Int, Leb128, Segment, Sink};

/// How the length before a [`LenPrefix`] is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LenWidth {
    /// One byte.
    L8,
    /// Two bytes, big-endian.
    L16,
    /// Four bytes, big-endian.
    L32,
    /// Eight bytes, big-endian.
    L64,
    /// Eight bytes, little-endian.
    L64Le,
    /// LEB128.
    Varint,
}

/// Contents behind their length in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LenPrefix {
    /// How the length is written.
    pub width: LenWidth,
}

/// Contents of which each `00` is written as `00 ff`, ended by `00 00`. Byte order is the order of the
/// contents, whatever stands behind them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Terminated;

/// Contents of which each `00` is written as `00 ff`, ended by `00`.
///
/// What stands behind them must not begin with `ff`: the end is the first `00` that has no `ff` behind it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Escaped;

/// Contents in groups of 8, the last one padded with `00`, each with a marker byte behind it: `ff` less the
/// count of padding bytes. A full group is always followed by another. Byte order is the order of the
/// contents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memcmp;

/// A length as it is written: the first `len` of `bytes`.
struct Header {
    bytes: [u8; 10],
    len: usize,
}

impl Header {
    fn new(front: &[u8]) -> Self {
        let mut bytes = [0; 10];
        for (slot, byte) in bytes.iter_mut().zip(front) {
            *slot = *byte;
        }
        Self { bytes, len: front.len().min(10) }
    }

    #[inline]
    fn as_slice(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }
}

impl LenPrefix {
    /// The length prefix of contents of `len` bytes.
    #[inline]
    fn header(self, len: usize) -> Result<Header, EncodeError> {
        let too_long = EncodeError::Length { found: len };
        let wide = u64::try_from(len).map_err(|_| too_long)?;
        Ok(match self.width {
            LenWidth::L8 => Header::new(&[u8::try_from(len).map_err(|_| too_long)?]),
            LenWidth::L16 => Header::new(&u16::try_from(len).map_err(|_| too_long)?.to_be_bytes()),
            LenWidth::L32 => Header::new(&u32::try_from(len).map_err(|_| too_long)?.to_be_bytes()),
            LenWidth::L64 => Header::new(&wide.to_be_bytes()),
            LenWidth::L64Le => Header::new(&wide.le_array()),
            LenWidth::Varint => {
                let mut bytes = [0; 10];
                let mut room = crate::Buffer::new(&mut bytes);
                Leb128::new().encode(wide, &mut room)?;
                let len = room.len();
                Header { bytes, len }
            }
        })
    }

    /// Returns how many bytes the length takes; for a varint, the least that it can take.
    #[inline]
    const fn header_len(self) -> usize {
        match self.width {
            LenWidth::L8 | LenWidth::Varint => 1,
            LenWidth::L16 => 2,
            LenWidth::L32 => 4,
            LenWidth::L64 | LenWidth::L64Le => 8,
        }
    }

    /// Returns the end of the length and the end of the contents.
    #[inline]
    fn bounds(self, input: &[u8]) -> Result<(usize, usize), DecodeError> {
        let start = match self.width {
            LenWidth::Varint => Leb128::<u64>::new().extent(input)?,
            _ => self.header_len(),
        };
        let Some(header) = input.get(..start) else { return Err(short(input.len(), start)) };
        let len = match self.width {
            LenWidth::L8 => u8::from_be_bytes(*exactly(header)?).into(),
            LenWidth::L16 => u16::from_be_bytes(*exactly(header)?).into(),
            LenWidth::L32 => u32::from_be_bytes(*exactly(header)?).into(),
            LenWidth::L64 => u64::from_be_bytes(*exactly(header)?),
            LenWidth::L64Le => u64::from_le_slice(header).ok_or(short(input.len(), start))?,
            LenWidth::Varint => Leb128::new().decode(header)?,
        };
        let end = start.saturating_add(usize::try_from(len).unwrap_or(usize::MAX));
        if input.len() < end { Err(short(input.len(), end)) } else { Ok((start, end)) }
    }

    /// Appends what `inner` appends, behind its length.
    #[inline]
    pub fn wrap<S, E>(&self, out: &mut S, inner: impl FnOnce(&mut S) -> Result<(), E>) -> Result<(), E>
    where
        S: Sink + ?Sized,
        E: From<EncodeError>,
    {
        let start = out.len();
        let reserved = self.header_len();
        put_fill(0, reserved, out)?;
        inner(out)?;
        let len = out.len().saturating_sub(start + reserved);
        let header = self.header(len)?;
        let more = header.len.saturating_sub(reserved);
        if more > 0 {
            // A varint of more than one byte: the contents move up.
            put_fill(0, more, out)?;
            out.tail_mut(start).rotate_right(more);
        }
        for (slot, byte) in out.tail_mut(start).iter_mut().zip(header.as_slice()) {
            *slot = *byte;
        }
        Ok(())
    }
}

impl Segment for LenPrefix {
    type Arg<'a> = &'a [u8];
    type View<'a> = &'a [u8];

    #[inline]
    fn encode<S: Sink + ?Sized>(&self, arg: &[u8], out: &mut S) -> Result<(), EncodeError> {
        out.put(self.header(arg.len())?.as_slice())?;
        out.put(arg)
    }

    #[inline]
    fn decode<'a>(&self, bytes: &'a [u8]) -> Result<&'a [u8], DecodeError> {
        let (start, end) = self.bounds(bytes)?;
        match bytes.get(start..) {
            Some(contents) if bytes.len() == end => Ok(contents),
            _ => Err(trailing(bytes.len(), end)),
        }
    }
}

impl Delimited for LenPrefix {
    #[inline]
    fn extent(&self, input: &[u8]) -> Result<usize, DecodeError> {
        self.bounds(input).map(|(_, end)| end)
    }
}

const ESCAPE: u8 = 0xff;

/// Appends `arg` with each `00` as `00 ff`, then `end`.
#[inline]
pub(super) fn put_escaped<S: Sink + ?Sized>(arg: &[u8], end: &[u8], out: &mut S) -> Result<(), EncodeError> {
    for piece in arg.split_inclusive(|&byte| byte == 0) {
        out.put(piece)?;
        if piece.ends_with(&[0]) {
            out.put(&[ESCAPE])?;
        }
    }
    out.put(end)
}

/// Writes each `00` of what was appended since `start` as `00 ff`, then appends `end`.
fn escape_tail<S: Sink + ?Sized>(start: usize, end: &[u8], out: &mut S) -> Result<(), EncodeError> {
    let contents = out.tail_mut(start);
    let zeros = contents.iter().map(|&byte| usize::from(byte == 0)).sum();
    let mut read = contents.len();
    let mut write = read + zeros;
    put_fill(0, zeros, out)?;
    let tail = out.tail_mut(start);
    // From the back, so that nothing is overwritten before it is read; once the two places meet, no zero is
    // left before them.
    while read < write {
        read -= 1;
        let Some(&byte) = tail.get(read) else { break };
        if byte == 0 {
            write -= 1;
            set(tail, write, ESCAPE);
        }
        write -= 1;
        set(tail, write, byte);
    }
    out.put(end)
}

#[inline]
fn set(bytes: &mut [u8], at: usize, byte: u8) {
    if let Some(slot) = bytes.get_mut(at) {
        *slot = byte;
    }
}

/// Returns the length of the escaped contents at the front of `input`, and the byte behind the `00` that ends
/// them.
#[inline]
fn escaped_end(input: &[u8]) -> Option<(usize, Option<u8>)> {
    let mut from = 0;
    loop {
        let zero = from + input.get(from..)?.iter().position(|&byte| byte == 0)?;
        match input.get(zero + 1) {
            Some(&ESCAPE) => from = zero + 2,
            behind => return Some((zero, behind.copied())),
        }
    }
}

/// Returns how many bytes at the front of `input` are escaped contents with their `00`.
#[inline]
pub(super) fn escaped_extent(input: &[u8]) -> Result<usize, DecodeError> {
    match escaped_end(input) {
        Some((zero, _)) => Ok(zero + 1),
        None => Err(short(input.len(), input.len() + 1)),
    }
}

macro_rules! wrap_escaped {
    ($frame:ident, $end:expr) => {
        impl $frame {
            /// Appends what `inner` appends, escaped and ended.
            #[inline]
            pub fn wrap<S, E>(
                &self,
                out: &mut S,
                inner: impl FnOnce(&mut S) -> Result<(), E>,
            ) -> Result<(), E>
            where
                S: Sink + ?Sized,
                E: From<EncodeError>,
            {
                let start = out.len();
                inner(out)?;
                Ok(escape_tail(start, $end, out)?)
            }
        }

        impl Segment for $frame {
            type Arg<'a> = &'a [u8];
            type View<'a> = Unescaped<'a>;

            #[inline]
            fn encode<S: Sink + ?Sized>(&self, arg: &[u8], out: &mut S) -> Result<(), EncodeError> {
                put_escaped(arg, $end, out)
            }

            #[inline]
            fn decode<'a>(&self, bytes: &'a [u8]) -> Result<Unescaped<'a>, DecodeError> {
                let extent = self.extent(bytes)?;
                if bytes.len() > extent {
                    return Err(trailing(bytes.len(), extent));
                }
                Ok(Unescaped::zeros(bytes.get(..extent - $end.len()).unwrap_or_default()))
            }
        }
    };
}

wrap_escaped!(Terminated, &[0, 0]);
wrap_escaped!(Escaped, &[0]);

impl Delimited for Terminated {
    #[inline]
    fn extent(&self, input: &[u8]) -> Result<usize, DecodeError> {
        match escaped_end(input) {
            Some((zero, Some(0))) => Ok(zero + 2),
            Some((zero, Some(found))) => {
                Err(DecodeError::new(zero + 1, Fault::Byte { found, expected: Expected::Escape }))
            }
            Some((zero, None)) => Err(short(input.len(), zero + 2)),
            None => Err(short(input.len(), input.len() + 2)),
        }
    }
}

impl Delimited for Escaped {
    #[inline]
    fn extent(&self, input: &[u8]) -> Result<usize, DecodeError> {
        escaped_extent(input)
    }
}

/// How many bytes of the contents a group holds.
const GROUP: usize = 8;

/// The last group: what is left of the contents, its padding, its marker.
fn last_group(rest: &[u8]) -> [u8; GROUP + 1] {
    let mut group = [0; GROUP + 1];
    let mut marker = 0xff - 8;
    for (slot, byte) in group.iter_mut().zip(rest) {
        *slot = *byte;
        marker += 1;
    }
    let [.., last] = &mut group;
    *last = marker;
    group
}

impl Memcmp {
    /// Appends what `inner` appends, in groups.
    #[inline]
    pub fn wrap<S, E>(&self, out: &mut S, inner: impl FnOnce(&mut S) -> Result<(), E>) -> Result<(), E>
    where
        S: Sink + ?Sized,
        E: From<EncodeError>,
    {
        let start = out.len();
        inner(out)?;
        Ok(group_tail(start, out)?)
    }
}

/// Puts what was appended since `start` into groups.
fn group_tail<S: Sink + ?Sized>(start: usize, out: &mut S) -> Result<(), EncodeError> {
    let contents: &[u8] = out.tail_mut(start);
    let (groups, rest) = contents.as_chunks::<GROUP>();
    let full = groups.len();
    let last = last_group(rest);
    out.truncate(start + full * GROUP);
    put_fill(0xff, full, out)?;
    let tail = out.tail_mut(start);
    // From the back, so that no group is overwritten before it has moved; the first one stays.
    for group in (1..full).rev() {
        let at = group * GROUP;
        tail.copy_within(at..at + GROUP, at + group);
        set(tail, at + group - 1, 0xff);
    }
    out.put(&last)
}

impl Segment for Memcmp {
    type Arg<'a> = &'a [u8];
    type View<'a> = Unescaped<'a>;

    #[inline]
    fn encode<S: Sink + ?Sized>(&self, arg: &[u8], out: &mut S) -> Result<(), EncodeError> {
        let (groups, rest) = arg.as_chunks::<GROUP>();
        for &[a, b, c, d, e, f, g, h] in groups {
            out.put(&[a, b, c, d, e, f, g, h, 0xff])?;
        }
        out.put(&last_group(rest))
    }

    #[inline]
    fn decode<'a>(&self, bytes: &'a [u8]) -> Result<Unescaped<'a>, DecodeError> {
        let extent = self.extent(bytes)?;
        if bytes.len() > extent {
            return Err(trailing(bytes.len(), extent));
        }
        let padding = bytes.last().map_or(0, |marker| usize::from(0xff - marker));
        let end = extent - 1;
        let padded = bytes.get(end.saturating_sub(padding)..end).unwrap_or_default();
        if let Some(at) = padded.iter().position(|&byte| byte != 0) {
            let found = padded.get(at).copied().unwrap_or_default();
            let fault = Fault::Byte { found, expected: Expected::Padding };
            return Err(DecodeError::new(end - padding + at, fault));
        }
        Ok(Unescaped { raw: bytes, form: Form::Groups })
    }
}

impl Delimited for Memcmp {
    #[inline]
    fn extent(&self, input: &[u8]) -> Result<usize, DecodeError> {
        let (groups, _) = input.as_chunks::<{ GROUP + 1 }>();
        for (index, &[.., marker]) in groups.iter().enumerate() {
            let end = (index + 1) * (GROUP + 1);
            match marker {
                0xff => {}
                0xf7..0xff => return Ok(end),
                found => {
                    let fault = Fault::Byte { found, expected: Expected::GroupMarker };
                    return Err(DecodeError::new(end - 1, fault));
                }
            }
        }
        Err(short(input.len(), (groups.len() + 1) * (GROUP + 1)))
    }
}

/// Contents that stand in a key escaped or in groups, already checked.
#[derive(Clone, Copy)]
pub struct Unescaped<'a> {
    raw: &'a [u8],
    form: Form,
}

#[derive(Clone, Copy)]
enum Form {
    Zeros,
    Groups,
}

impl<'a> Unescaped<'a> {
    /// Contents of which each `00` has `ff` behind it.
    pub(super) const fn zeros(raw: &'a [u8]) -> Self {
        Self { raw, form: Form::Zeros }
    }

    /// Returns the contents in pieces that stand in the key as they are.
    #[inline]
    pub fn pieces(&self) -> impl Iterator<Item = &'a [u8]> + Clone + use<'a> {
        Pieces { rest: self.raw, form: self.form }
    }

    /// Returns the contents.
    #[inline]
    pub fn bytes(&self) -> impl Iterator<Item = u8> + Clone + use<'a> {
        self.pieces().flatten().copied()
    }

    /// Returns the length of the contents.
    pub fn len(&self) -> usize {
        self.pieces().map(<[u8]>::len).sum()
    }

    /// Returns the contents as a slice of the key, or `None` if they do not stand in it in one piece.
    pub fn as_slice(&self) -> Option<&'a [u8]> {
        let mut pieces = self.pieces().filter(|piece| !piece.is_empty());
        let piece = pieces.next().unwrap_or_default();
        pieces.next().is_none().then_some(piece)
    }
}

byte_view!(Unescaped);

#[derive(Clone)]
struct Pieces<'a> {
    rest: &'a [u8],
    form: Form,
}

impl<'a> Iterator for Pieces<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        if self.rest.is_empty() {
            return None;
        }
        match self.form {
            Form::Zeros => {
                let end =
                    self.rest.iter().position(|&byte| byte == 0).map_or(self.rest.len(), |zero| zero + 1);
                let piece = self.rest.get(..end)?;
                self.rest = self.rest.get(end + 1..).unwrap_or_default();
                Some(piece)
            }
            Form::Groups => {
                let ([contents @ .., marker], rest) = self.rest.split_first_chunk::<{ GROUP + 1 }>()?;
                self.rest = rest;
                contents.get(..GROUP.saturating_sub(usize::from(0xff - marker)))
            }
        }
    }
}
