use core::fmt;
use core::hash::{Hash, Hasher};

use keyplan_codec::{
    Case, DecodeError, EncodeError, Escaped, Fault, HexBytes, HexView, Lengths, Literal, Segment as _, Sink,
    Text, TupleBytes, TupleText, Unescaped,
};

use super::ShortBytes;

/// Bytes of any length that are in a key escaped, in groups or as hex: given as a slice, read back as a view.
#[derive(Clone, Copy)]
pub struct CodedBytes<'k>(Form<'k>);

#[derive(Clone, Copy)]
enum Form<'k> {
    Plain(&'k [u8]),
    Escaped(Unescaped<'k>),
    Hex(HexView<'k>),
}

impl<'k> CodedBytes<'k> {
    /// The bytes.
    pub fn bytes(&self) -> impl Iterator<Item = u8> + Clone + use<'k> {
        let (plain, escaped, hex) = match self.0 {
            Form::Plain(bytes) => (bytes, None, None),
            Form::Escaped(view) => ([].as_slice(), Some(view), None),
            Form::Hex(view) => ([].as_slice(), None, Some(view)),
        };
        let escaped = escaped.into_iter().flat_map(|view| view.bytes());
        let hex = hex.into_iter().flat_map(|view| view.bytes());
        plain.iter().copied().chain(escaped).chain(hex)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        match self.0 {
            Form::Plain(bytes) => bytes.len(),
            Form::Escaped(view) => view.len(),
            Form::Hex(view) => view.len(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes as a slice, if they are somewhere in one piece.
    pub fn as_slice(&self) -> Option<&'k [u8]> {
        match self.0 {
            Form::Plain(bytes) => Some(bytes),
            Form::Escaped(view) => view.as_slice(),
            Form::Hex(_) => None,
        }
    }

    /// Escaped bytes, if `lengths` admits them.
    pub fn escaped(
        view: Result<Unescaped<'k>, DecodeError>,
        lengths: &Lengths<'_>,
    ) -> Result<Self, DecodeError> {
        let view = view?;
        let found = view.len();
        if !lengths.admits(found) {
            return Err(DecodeError::new(0, Fault::Length { found }));
        }
        Ok(Self(Form::Escaped(view)))
    }

    /// Bytes in hex.
    pub fn hex(view: Result<HexView<'k>, DecodeError>) -> Result<Self, DecodeError> {
        view.map(|view| Self(Form::Hex(view)))
    }

    /// Appends the bytes as they are, if `lengths` admits them.
    pub fn put_raw<S: Sink + ?Sized>(&self, lengths: &Lengths<'_>, out: &mut S) -> Result<(), EncodeError> {
        if !lengths.admits(self.len()) {
            return Err(EncodeError::Length { found: self.len() });
        }
        self.blocks(|block| out.put(block))
    }

    /// Appends the bytes in hex.
    pub fn put_hex<S: Sink + ?Sized>(
        &self,
        case: Case,
        lengths: &Lengths<'_>,
        out: &mut S,
    ) -> Result<(), EncodeError> {
        if !lengths.admits(self.len()) {
            return Err(EncodeError::Length { found: self.len() });
        }
        self.blocks(|block| HexBytes { case, lengths: Lengths::ANY }.encode(block, out))
    }

    /// Appends the bytes as a tuple element.
    pub fn put_tuple<S: Sink + ?Sized>(&self, lengths: &Lengths<'_>, out: &mut S) -> Result<(), EncodeError> {
        let mut empty = ShortBytes::<2>::new();
        TupleBytes.encode(b"", &mut empty)?;
        Literal(empty.get(..1).unwrap_or_default()).encode((), out)?;
        Escaped.wrap(out, |out| self.put_raw(lengths, out))
    }

    /// Gives the bytes in pieces of at most 32, or in one piece.
    fn blocks(&self, mut each: impl FnMut(&[u8]) -> Result<(), EncodeError>) -> Result<(), EncodeError> {
        if let Form::Plain(bytes) = self.0 {
            return each(bytes);
        }
        let mut bytes = self.bytes().peekable();
        while bytes.peek().is_some() {
            let mut block = ShortBytes::<32>::new();
            for byte in bytes.by_ref().take(32) {
                block.put(&[byte])?;
            }
            each(&block)?;
        }
        Ok(())
    }
}

impl<'k> From<&'k [u8]> for CodedBytes<'k> {
    fn from(bytes: &'k [u8]) -> Self {
        Self(Form::Plain(bytes))
    }
}

impl PartialEq for CodedBytes<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.bytes().eq(other.bytes())
    }
}

impl Eq for CodedBytes<'_> {}

impl PartialOrd for CodedBytes<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<core::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for CodedBytes<'_> {
    fn cmp(&self, other: &Self) -> core::cmp::Ordering {
        self.bytes().cmp(other.bytes())
    }
}

impl Hash for CodedBytes<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.bytes().for_each(|byte| byte.hash(state));
        self.len().hash(state);
    }
}

impl fmt::Display for CodedBytes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("0x")?;
        self.bytes().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for CodedBytes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Text of any length that is in a key escaped: given as a `str`, read back as a view.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CodedText<'k>(CodedBytes<'k>);

impl<'k> CodedText<'k> {
    /// The text in pieces.
    pub fn pieces(&self) -> impl Iterator<Item = &'k str> + Clone + use<'k> {
        let (plain, escaped) = match self.0.0 {
            Form::Plain(bytes) => (Some(bytes), None),
            Form::Escaped(view) => (None, Some(view)),
            Form::Hex(_) => (None, None),
        };
        let escaped = escaped.into_iter().flat_map(|view| view.pieces());
        plain.into_iter().chain(escaped).filter_map(|piece| str::from_utf8(piece).ok())
    }

    /// The characters.
    pub fn chars(&self) -> impl Iterator<Item = char> + Clone + use<'k> {
        self.pieces().flat_map(str::chars)
    }

    /// How many bytes there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The text, if it is somewhere in one piece.
    pub fn as_str(&self) -> Option<&'k str> {
        self.0.as_slice().and_then(|bytes| str::from_utf8(bytes).ok())
    }

    /// Escaped text, if `text` admits it.
    pub fn escaped(view: Result<Unescaped<'k>, DecodeError>, text: &Text<'_>) -> Result<Self, DecodeError> {
        let coded = CodedBytes::escaped(view, &text.lengths)?;
        let Form::Escaped(view) = coded.0 else { return Ok(Self(coded)) };
        // A piece ends after a zero byte, which is a character of its own: each piece is text if the whole is.
        let mut at = 0;
        for piece in view.pieces() {
            let first = text.first.filter(|_| at == 0);
            Text { first, lengths: Lengths::ANY, ..*text }.decode(piece).map_err(|error| error.behind(at))?;
            at += piece.len();
        }
        Ok(Self(coded))
    }

    /// Appends the text as it is, if `text` admits it.
    pub fn put_raw<S: Sink + ?Sized>(&self, text: &Text<'_>, out: &mut S) -> Result<(), EncodeError> {
        if !text.lengths.admits(self.len()) {
            return Err(EncodeError::Length { found: self.len() });
        }
        let mut at = 0;
        for piece in self.pieces() {
            let first = text.first.filter(|_| at == 0);
            Text { first, lengths: Lengths::ANY, ..*text }.encode(piece, out).map_err(
                |error| match error {
                    EncodeError::Byte { offset, found, expected } => {
                        EncodeError::Byte { offset: offset + at, found, expected }
                    }
                    other => other,
                },
            )?;
            at += piece.len();
        }
        Ok(())
    }

    /// Appends the text as a tuple element.
    pub fn put_tuple<S: Sink + ?Sized>(&self, text: &Text<'_>, out: &mut S) -> Result<(), EncodeError> {
        let mut empty = ShortBytes::<2>::new();
        TupleText.encode("", &mut empty)?;
        Literal(empty.get(..1).unwrap_or_default()).encode((), out)?;
        Escaped.wrap(out, |out| self.put_raw(text, out))
    }
}

impl<'k> From<&'k str> for CodedText<'k> {
    fn from(text: &'k str) -> Self {
        Self(CodedBytes::from(text.as_bytes()))
    }
}

impl fmt::Display for CodedText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"")?;
        for character in self.chars() {
            // As in a string, where a single quote needs no escape.
            if character == '\'' {
                f.write_str("'")?;
            } else {
                character.escape_debug().try_for_each(|escaped| write!(f, "{escaped}"))?;
            }
        }
        f.write_str("\"")
    }
}

impl fmt::Debug for CodedText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
