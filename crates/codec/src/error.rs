use core::fmt;

/// Why bytes are not a segment, and at which of them that shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecodeError {
    /// The offset of the byte that breaks the segment; the length of the input if it ends too soon.
    pub offset: usize,
    /// What is wrong there.
    pub fault: Fault,
}

impl DecodeError {
    /// An error at `offset`.
    pub const fn new(offset: usize, fault: Fault) -> Self {
        Self { offset, fault }
    }

    /// The same error in a larger input, in which the segment begins at `base`.
    #[must_use]
    pub const fn behind(self, base: usize) -> Self {
        Self { offset: base.saturating_add(self.offset), fault: self.fault }
    }
}

/// What is wrong with the bytes of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// The input ends before the segment does.
    Short {
        /// How many more bytes are needed, at least.
        missing: usize,
    },
    /// Bytes are left over after the segment.
    Trailing {
        /// How many.
        extra: usize,
    },
    /// A byte that must be another one.
    Literal {
        /// The byte that belongs here.
        expected: u8,
        /// The byte that is here.
        found: u8,
    },
    /// A byte that cannot be here.
    Byte {
        /// The byte that is here.
        found: u8,
        /// What may be here.
        expected: Expected,
    },
    /// A length that the segment cannot have.
    Length {
        /// The length found, in bytes of the argument.
        found: usize,
    },
    /// A number with a leading zero.
    LeadingZero,
    /// A number outside of its range.
    OutOfRange,
    /// A sign byte that contradicts the number after it.
    Sign {
        /// The sign byte found.
        found: u8,
        /// The sign byte that the number after it calls for.
        expected: u8,
    },
    /// Text that is not UTF-8.
    Utf8,
    /// A number written longer than need be.
    NotShortest,
    /// A checksum, hash or derived value that does not match what it stands for.
    Mismatch,
    /// Text that is not bech32, or has mixed case.
    Bech32,
    /// A float that is not a number, or a negative zero.
    Float,
    /// A date or time that does not exist.
    Time,
    /// A second copy of an argument that differs from the first.
    Differs,
    /// A label, tag or type code that no alternative has.
    NoAlternative,
    /// A text that its domain leaves out.
    LeftOut,
}

/// What may be where a byte was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Expected {
    /// `0` to `9`.
    Digit,
    /// `0` to `9`, `a` to `f`.
    LowerHex,
    /// `0` to `9`, `A` to `F`.
    UpperHex,
    /// `00` or `01`.
    Bool,
    /// `05` or `06`.
    TickSign,
    /// A character of the text's alphabet.
    Alphabet,
    /// A character that may begin the text.
    First,
    /// `00` to `0f`.
    Nibble,
    /// `ff` or the end after an escaped `00`.
    Escape,
    /// The marker of a group of eight.
    GroupMarker,
    /// `00`, as padding.
    Padding,
    /// The type code of a tuple element.
    TypeCode,
    /// The first byte of a score, `00` or `01`.
    ScoreTag,
    /// A date or time in fixed-width text.
    Time,
    /// The first byte of a variable-length number.
    VarintHead,
    /// The first byte of a path in hex-prefix form, `00` or `10` to `1f`.
    HexPrefixHead,
    /// A character of bech32 data.
    Bech32,
    /// A character of base58 text.
    Base58,
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Digit => "a digit",
            Self::LowerHex => "a lower-case hex digit",
            Self::UpperHex => "an upper-case hex digit",
            Self::Bool => "00 or 01",
            Self::TickSign => "05 (negative) or 06",
            Self::Alphabet => "a character of its alphabet",
            Self::First => "a character that may come first",
            Self::Nibble => "00 to 0f",
            Self::Escape => "ff or the end after 00",
            Self::GroupMarker => "a group marker",
            Self::Padding => "00 as padding",
            Self::TypeCode => "its type code",
            Self::ScoreTag => "00 (confirmed) or 01 (unconfirmed)",
            Self::Time => "a date and time",
            Self::VarintHead => "the head of a number",
            Self::HexPrefixHead => "00 or 10 to 1f",
            Self::Bech32 => "a lower-case bech32 character",
            Self::Base58 => "a base58 character",
        })
    }
}

fn bytes(count: usize) -> &'static str {
    if count == 1 { "byte" } else { "bytes" }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Short { missing } => write!(f, "ends {missing} {} too soon", bytes(*missing)),
            Self::Trailing { extra } => write!(f, "{extra} {} too many", bytes(*extra)),
            Self::Literal { expected, found } => write!(f, "{found:02x} where {expected:02x} belongs"),
            Self::Byte { found, expected } => write!(f, "{found:02x} where {expected} belongs"),
            Self::Length { found } => write!(f, "a length of {found} is not allowed"),
            Self::LeadingZero => f.write_str("a leading zero"),
            Self::OutOfRange => f.write_str("a number out of its range"),
            Self::Sign { found, expected } => {
                write!(f, "sign byte {found:02x}, but the number after it calls for {expected:02x}")
            }
            Self::Utf8 => f.write_str("not UTF-8"),
            Self::NotShortest => f.write_str("a number written longer than it need be"),
            Self::Mismatch => f.write_str("does not match what it is computed from"),
            Self::Bech32 => f.write_str("not bech32 text with the right prefix, case and checksum"),
            Self::Float => f.write_str("not a number, or a negative zero"),
            Self::Time => f.write_str("no such date or time"),
            Self::Differs => f.write_str("differs from the first copy of the argument"),
            Self::NoAlternative => f.write_str("no alternative begins like this"),
            Self::LeftOut => f.write_str("a text that its domain leaves out"),
        }
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {}: {}", self.offset, self.fault)
    }
}

impl core::error::Error for DecodeError {}

/// Why an argument cannot be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EncodeError {
    /// The caller's buffer is too small.
    Full {
        /// The length that would have been enough for what was written so far and the piece that failed.
        needed: usize,
    },
    /// A number outside of its range.
    OutOfRange,
    /// An argument of a length that the segment does not allow.
    Length {
        /// The length found, in bytes.
        found: usize,
    },
    /// A byte that the argument may not contain.
    Byte {
        /// Its offset in the argument.
        offset: usize,
        /// The byte.
        found: u8,
        /// What may be there.
        expected: Expected,
    },
    /// A text that its domain leaves out.
    LeftOut,
    /// Text that is not UTF-8.
    Utf8,
    /// A float that is not a number.
    Nan,
    /// A number that the encoding cannot hold exactly.
    Inexact,
    /// A human-readable part that bech32 does not allow, or text too long for it.
    Bech32,
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full { needed } => write!(f, "the buffer is too small: at least {needed} bytes are needed"),
            Self::OutOfRange => f.write_str("the number is out of its range"),
            Self::Length { found } => write!(f, "a length of {found} is not allowed"),
            Self::Byte { offset, found, expected } => {
                write!(f, "byte {offset} is {found:02x} where {expected} belongs")
            }
            Self::LeftOut => f.write_str("the text is one that its domain leaves out"),
            Self::Utf8 => f.write_str("not UTF-8"),
            Self::Nan => f.write_str("not a number"),
            Self::Inexact => f.write_str("the encoding cannot hold this number exactly"),
            Self::Bech32 => f.write_str("bech32 cannot hold this"),
        }
    }
}

impl core::error::Error for EncodeError {}
