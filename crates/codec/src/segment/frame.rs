use super::{exactly, put_fill, short, trailing};
use crate::{Count, DecodeError, Delimited, EncodeError, Expected, Fault, Int, Segment, Sink};

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
    /// Two bytes, little-endian.
    L16Le,
    /// Four bytes, little-endian.
    L32Le,
    /// Eight bytes, little-endian.
    L64Le,
    /// LEB128.
    Varint,
    /// Bitcoin's CompactSize, for lengths below 2³².
    Compact,
    /// Substrate's SCALE compact form, for lengths below 2³².
    Scale,
}

/// Contents after their length in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LenPrefix {
    /// How the length is written.
    pub width: LenWidth,
}

/// Contents of which each `00` is written as `00 ff`, ended by `00 00`. Byte order is the order of the
/// contents, whatever comes after them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Terminated;

/// Contents of which each `00` is written as `00 ff`, ended by `00`.
///
/// What comes after them must not begin with `ff`: the end is the first `00` that has no `ff` after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Escaped;

/// Contents in groups of 8, the last one padded with `00`, each with a marker byte after it: `ff` less the
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
            LenWidth::L16Le => Header::new(&u16::try_from(len).map_err(|_| too_long)?.le_array()),
            LenWidth::L32Le => Header::new(&u32::try_from(len).map_err(|_| too_long)?.le_array()),
            LenWidth::L64Le => Header::new(&wide.le_array()),
            LenWidth::Varint | LenWidth::Compact | LenWidth::Scale => {
                let mut bytes = [0; 10];
                let mut room = crate::Buffer::new(&mut bytes);
                Count { width: self.width }.encode(len, &mut room)?;
                let len = room.len();
                Header { bytes, len }
            }
        })
    }

    /// Returns how many bytes the length takes; the least that it can take where that depends on the length.
    #[inline]
    const fn header_len(self) -> usize {
        match self.width {
            LenWidth::L8 | LenWidth::Varint | LenWidth::Compact | LenWidth::Scale => 1,
            LenWidth::L16 | LenWidth::L16Le => 2,
            LenWidth::L32 | LenWidth::L32Le => 4,
            LenWidth::L64 | LenWidth::L64Le => 8,
        }
    }

    /// Returns the end of the length and the end of the contents.
    #[inline]
    fn bounds(self, input: &[u8]) -> Result<(usize, usize), DecodeError> {
        let start = match self.width {
            LenWidth::Varint | LenWidth::Compact | LenWidth::Scale => {
                Count { width: self.width }.extent(input)?
            }
            _ => self.header_len(),
        };
        let Some(header) = input.get(..start) else { return Err(short(input.len(), start)) };
        let len = match self.width {
            LenWidth::L8 => u8::from_be_bytes(*exactly(header)?).into(),
            LenWidth::L16 => u16::from_be_bytes(*exactly(header)?).into(),
            LenWidth::L32 => u32::from_be_bytes(*exactly(header)?).into(),
            LenWidth::L64 => u64::from_be_bytes(*exactly(header)?),
            LenWidth::L16Le => u16::from_le_slice(header).ok_or(short(input.len(), start))?.into(),
            LenWidth::L32Le => u32::from_le_slice(header).ok_or(short(input.len(), start))?.into(),
            LenWidth::L64Le => u64::from_le_slice(header).ok_or(short(input.len(), start))?,
            LenWidth::Varint | LenWidth::Compact | LenWidth::Scale => {
                Count { width: self.width }.number(header)?
            }
        };
        let end = start.saturating_add(usize::try_from(len).unwrap_or(usize::MAX));
        if input.len() < end { Err(short(input.len(), end)) } else { Ok((start, end)) }
    }

    /// Appends what `inner` appends, after its length.
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
            // A length of more than one byte: the contents move up.
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

/// Returns the length of the escaped contents at the front of `input`, and the byte after the `00` that ends
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

/// Contents that are in a key escaped or in groups, already checked.
#[derive(Clone, Copy)]
pub struct Unescaped<'a> {
    raw: &'a [u8],
    form: Form,
}

#[derive(Clone, Copy)]
enum Form {
    Zeros,
    Ordered,
    Groups,
}

impl<'a> Unescaped<'a> {
    /// Contents of which each `00` has `ff` after it.
    pub(super) const fn zeros(raw: &'a [u8]) -> Self {
        Self { raw, form: Form::Zeros }
    }

    /// Contents of which each `00` has `ff` after it, and each `ff` has `00`.
    pub(super) const fn ordered(raw: &'a [u8]) -> Self {
        Self { raw, form: Form::Ordered }
    }

    /// Returns the contents in pieces that are in the key as they are.
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

    /// Returns the contents as a slice of the key, or `None` if they are not in it in one piece.
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
            Form::Zeros | Form::Ordered => {
                let ordered = matches!(self.form, Form::Ordered);
                let is_escaped = |&byte: &u8| byte == 0 || (ordered && byte == 0xff);
                let end = self.rest.iter().position(is_escaped).map_or(self.rest.len(), |at| at + 1);
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

#[cfg(test)]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use super::*;
    use crate::laws::Law;
    use crate::{Be, Buffer};

    const fn prefix(width: LenWidth) -> LenPrefix {
        LenPrefix { width }
    }

    fn contents() -> [Vec<u8>; 9] {
        [
            vec![],
            vec![0],
            vec![0, 0],
            vec![0, 0xff],
            vec![1],
            b"abcdefg\0".to_vec(),
            b"abcdefgh".to_vec(),
            b"abcdefghi".to_vec(),
            vec![0xff; 17],
        ]
    }

    crate::laws! {
        len8: prefix(LenWidth::L8), contents(), delimited;
        len16: prefix(LenWidth::L16), contents(), delimited;
        len32: prefix(LenWidth::L32), contents(), delimited;
        len64: prefix(LenWidth::L64), contents(), delimited;
        len16le: prefix(LenWidth::L16Le), contents(), delimited;
        compact_length: prefix(LenWidth::Compact), contents(), delimited;
        scale_length: prefix(LenWidth::Scale), contents(), delimited;
        len32le: prefix(LenWidth::L32Le), contents(), delimited;
        len64le: prefix(LenWidth::L64Le), contents(), delimited;
        varlen: prefix(LenWidth::Varint), contents(), delimited;
        varlen_long: prefix(LenWidth::Varint), [vec![7; 127], vec![7; 128], vec![7; 300]], delimited;
        terminated: Terminated, contents(), ordered, delimited;
        escaped: Escaped, contents(), ordered;
        memcmp: Memcmp, contents(), ordered, delimited;
    }

    #[test]
    fn an_escaped_end_is_found_before_anything_but_ff() {
        Law::new(&Escaped, &contents()).delimited_before(&[b"", b"\0", b"\x01", b"\xfe\xff"]);
        assert_eq!(Escaped.extent(b"ab\0\xffc\0d"), Ok(6));
        assert_eq!(Escaped.extent(b"ab\0\xff"), Err(DecodeError::new(4, Fault::Short { missing: 1 })));
    }

    fn bytes<T: for<'a> Segment<Arg<'a> = &'a [u8]>>(segment: &T, arg: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        segment.encode(arg, &mut out).unwrap();
        out
    }

    #[test]
    fn lengths_come_first() {
        assert_eq!(bytes(&prefix(LenWidth::L8), b"ab"), b"\x02ab");
        assert_eq!(bytes(&prefix(LenWidth::L16), b"hello"), b"\x00\x05hello");
        assert_eq!(bytes(&prefix(LenWidth::L32), b"ab"), b"\0\0\0\x02ab");
        assert_eq!(bytes(&prefix(LenWidth::L64), b"ab"), b"\0\0\0\0\0\0\0\x02ab");
        assert_eq!(bytes(&prefix(LenWidth::L16Le), b"hello"), b"\x05\x00hello");
        assert_eq!(bytes(&prefix(LenWidth::L32Le), b"ab"), b"\x02\0\0\0ab");
        assert_eq!(bytes(&prefix(LenWidth::L64Le), b"ab"), b"\x02\0\0\0\0\0\0\0ab");
        assert_eq!(bytes(&prefix(LenWidth::Varint), &[1; 300])[..3], [0xac, 0x02, 1]);
    }

    #[test]
    fn contents_longer_than_their_length_can_say_are_refused() {
        let mut out = Vec::new();
        let too_long = Err(EncodeError::Length { found: 256 });
        assert_eq!(prefix(LenWidth::L8).encode(&[0; 256], &mut out), too_long);
        assert_eq!(prefix(LenWidth::L8).wrap(&mut out, |out| out.put(&[0; 256])), too_long);
        let too_long = Err(EncodeError::Length { found: 0x1_0000 });
        assert_eq!(prefix(LenWidth::L16).encode(&vec![0; 0x1_0000], &mut out), too_long);
        assert_eq!(prefix(LenWidth::L16Le).encode(&vec![0; 0x1_0000], &mut out), too_long);
    }

    #[test]
    fn a_length_beyond_the_input_is_short() {
        let short = |offset, missing| Err(DecodeError::new(offset, Fault::Short { missing }));
        assert_eq!(prefix(LenWidth::L16).extent(b"\x00\x05hell"), short(6, 1));
        assert_eq!(prefix(LenWidth::L16).extent(b"\x00"), short(1, 1));
        assert_eq!(prefix(LenWidth::L64).extent(&[0xff; 9]), short(9, usize::MAX - 9));
        assert_eq!(prefix(LenWidth::L64Le).extent(&[0xff; 8]), short(8, usize::MAX - 8));
        let longer = Err(DecodeError::new(1, Fault::NotShortest));
        assert_eq!(prefix(LenWidth::Varint).extent(&[0x80, 0]), longer);
        assert_eq!(
            prefix(LenWidth::L8).decode(b"\x01ab"),
            Err(DecodeError::new(2, Fault::Trailing { extra: 1 }))
        );
    }

    #[test]
    fn zeros_are_escaped() {
        assert_eq!(bytes(&Terminated, b"a\0b"), b"a\0\xffb\0\0");
        assert_eq!(bytes(&Escaped, b"a\0b"), b"a\0\xffb\0");
        assert_eq!(bytes(&Escaped, b"\0"), b"\0\xff\0");
        let fault = Fault::Byte { found: b'b', expected: Expected::Escape };
        assert_eq!(Terminated.extent(b"a\0b"), Err(DecodeError::new(2, fault)));
        assert_eq!(Terminated.extent(b"a\0"), Err(DecodeError::new(2, Fault::Short { missing: 1 })));
        assert_eq!(Terminated.extent(b"a"), Err(DecodeError::new(1, Fault::Short { missing: 2 })));
        assert_eq!(Escaped.decode(b"a\0b"), Err(DecodeError::new(2, Fault::Trailing { extra: 1 })));
    }

    #[test]
    fn groups_are_those_of_tidb() {
        assert_eq!(bytes(&Memcmp, &[]), [0, 0, 0, 0, 0, 0, 0, 0, 247]);
        assert_eq!(bytes(&Memcmp, &[1, 2, 3]), [1, 2, 3, 0, 0, 0, 0, 0, 250]);
        assert_eq!(bytes(&Memcmp, &[1, 2, 3, 0]), [1, 2, 3, 0, 0, 0, 0, 0, 251]);
        let full = [1, 2, 3, 4, 5, 6, 7, 8, 255, 0, 0, 0, 0, 0, 0, 0, 0, 247];
        assert_eq!(bytes(&Memcmp, &[1, 2, 3, 4, 5, 6, 7, 8]), full);
        let fault = Fault::Byte { found: 9, expected: Expected::Padding };
        assert_eq!(Memcmp.decode(&[1, 2, 3, 0, 9, 0, 0, 0, 250]), Err(DecodeError::new(4, fault)));
        let fault = Fault::Byte { found: 246, expected: Expected::GroupMarker };
        assert_eq!(Memcmp.extent(&[0, 0, 0, 0, 0, 0, 0, 0, 246]), Err(DecodeError::new(8, fault)));
        let short = DecodeError::new(9, Fault::Short { missing: 9 });
        assert_eq!(Memcmp.extent(&[1, 2, 3, 4, 5, 6, 7, 8, 255]), Err(short));
    }

    /// What `wrap` makes of `inner`, after something else.
    fn wrapped(wrap: impl FnOnce(&mut Vec<u8>) -> Result<(), EncodeError>) -> Vec<u8> {
        let mut out = b"\0front".to_vec();
        wrap(&mut out).unwrap();
        assert_eq!(out[..6], *b"\0front");
        out.split_off(6)
    }

    #[test]
    fn wrapping_in_place_gives_the_same_bytes() {
        let mut all = contents().to_vec();
        all.extend([vec![0; 40], (0..=255).collect(), vec![7; 129], vec![3; 16_384]]);
        for inner in all {
            let put = |out: &mut Vec<u8>| out.put(&inner);
            for width in [
                LenWidth::L16,
                LenWidth::L32,
                LenWidth::L64,
                LenWidth::L16Le,
                LenWidth::L32Le,
                LenWidth::L64Le,
                LenWidth::Varint,
            ] {
                let frame = prefix(width);
                assert_eq!(wrapped(|out| frame.wrap(out, put)), bytes(&frame, &inner), "{width:?}");
            }
            assert_eq!(wrapped(|out| Terminated.wrap(out, put)), bytes(&Terminated, &inner));
            assert_eq!(wrapped(|out| Escaped.wrap(out, put)), bytes(&Escaped, &inner));
            assert_eq!(wrapped(|out| Memcmp.wrap(out, put)), bytes(&Memcmp, &inner));
        }
    }

    #[test]
    fn frames_nest() {
        let nested = wrapped(|out| {
            prefix(LenWidth::L8).wrap(out, |out| Terminated.wrap(out, |out| Be::new().encode(1u16, out)))
        });
        assert_eq!(nested, [5, 0, 0xff, 1, 0, 0]);
    }

    #[test]
    fn wrapping_in_a_small_buffer_fails_without_a_panic() {
        type Wrap = fn(&mut Buffer<'_>, &[u8]) -> Result<(), EncodeError>;
        let inner = [0, 1, 0, 2, 3, 4, 5, 6, 7, 8];
        let frames: [Wrap; 5] = [
            |out, inner| prefix(LenWidth::Varint).wrap(out, |out| out.put(inner)),
            |out, inner| prefix(LenWidth::L32).wrap(out, |out| out.put(inner)),
            |out, inner| Terminated.wrap(out, |out| out.put(inner)),
            |out, inner| Escaped.wrap(out, |out| out.put(inner)),
            |out, inner| Memcmp.wrap(out, |out| out.put(inner)),
        ];
        for (frame, needed) in frames.into_iter().zip([11, 14, 14, 13, 18]) {
            for len in 0..needed {
                let mut room = vec![0; len];
                let result = frame(&mut Buffer::new(&mut room), &inner);
                let full =
                    matches!(result, Err(EncodeError::Full { needed: said }) if len < said && said <= needed);
                assert!(full, "{len} of {needed} bytes: {result:?}");
            }
            assert_eq!(frame(&mut Buffer::new(&mut vec![0; needed]), &inner), Ok(()));
        }
    }

    #[test]
    fn contents_in_one_piece_are_borrowed() {
        assert_eq!(Terminated.decode(b"ab\0\0").unwrap().as_slice(), Some(b"ab".as_slice()));
        assert_eq!(Terminated.decode(b"\0\0").unwrap().as_slice(), Some(b"".as_slice()));
        assert_eq!(Terminated.decode(b"ab\0\xff\0\0").unwrap().as_slice(), Some(b"ab\0".as_slice()));
        assert_eq!(Terminated.decode(b"\0\xffa\0\0").unwrap().as_slice(), None);
        let groups = bytes(&Memcmp, b"abcdefgh");
        assert_eq!(Memcmp.decode(&groups).unwrap().as_slice(), Some(b"abcdefgh".as_slice()));
        let groups = bytes(&Memcmp, b"abcdefghi");
        let view = Memcmp.decode(&groups).unwrap();
        assert_eq!((view.as_slice(), view.len()), (None, 9));
        assert_eq!(view, *b"abcdefghi");
    }
}
