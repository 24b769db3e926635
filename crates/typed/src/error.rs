use core::fmt;

use keyplan_codec::{DecodeError, EncodeError, Fault};

use super::ShortText;

/// Why a key, value, field, member or score cannot be encoded or decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyError {
    /// The path of the family; empty if no family of a space comes into question.
    pub family: &'static str,
    /// The segment at fault, by the name of its argument or as a literal is spelled; empty if it is none of them.
    pub segment: &'static str,
    /// What is wrong there.
    pub fault: KeyFault,
}

/// What is wrong with a key or its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyFault {
    /// The bytes are not what the plan makes; the offset counts from the beginning of the key.
    Bytes(DecodeError),
    /// The argument cannot be written.
    Argument(EncodeError),
    /// A list of a length that is not allowed.
    Count {
        /// How many elements were given.
        found: usize,
    },
    /// The bytes that the arguments make are also those of something else, which the plan accepts as a flaw.
    OtherReading(OtherReading),
    /// The layout allows too many splits of the key to try them all.
    TooManySplits,
}

/// The other reading of a key, as text, cut where it is long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OtherReading(ShortText<62>);

impl OtherReading {
    /// A reading to name.
    pub fn new(reading: &dyn fmt::Display) -> Self {
        let mut text = ShortText::new();
        // What does not fit is left out; the text is for people.
        let _ = fmt::write(&mut text, format_args!("{reading}"));
        Self(text)
    }

    /// The reading, cut at 62 bytes.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

/// Whether two readings are shown by the same text.
pub fn shown_alike(a: &dyn fmt::Display, b: &dyn fmt::Display) -> bool {
    /// A sum of a text, which may be longer than any room.
    struct Sum(u64);
    impl fmt::Write for Sum {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            for byte in text.bytes() {
                self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            }
            Ok(())
        }
    }
    let sum = |shown: &dyn fmt::Display| {
        let mut sum = Sum(0xcbf2_9ce4_8422_2325);
        fmt::write(&mut sum, format_args!("{shown}")).map(|()| sum.0)
    };
    sum(a) == sum(b)
}

impl KeyError {
    /// The offset of the byte that is at fault, where bytes are.
    pub const fn offset(&self) -> Option<usize> {
        match self.fault {
            KeyFault::Bytes(error) => Some(error.offset),
            _ => None,
        }
    }
}

/// Why a segment cannot be encoded or decoded, before it is known which family it is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentError {
    /// The segment; empty if it is not known yet.
    pub segment: &'static str,
    /// What is wrong there.
    pub fault: KeyFault,
}

impl SegmentError {
    /// Bytes at fault, in a segment that begins at `base`.
    #[cold]
    pub const fn bytes(segment: &'static str, base: usize, error: DecodeError) -> Self {
        Self { segment, fault: KeyFault::Bytes(error.behind(base)) }
    }

    /// An argument at fault.
    #[cold]
    pub const fn argument(segment: &'static str, error: EncodeError) -> Self {
        Self { segment, fault: KeyFault::Argument(error) }
    }

    /// A list at fault.
    #[cold]
    pub const fn count(segment: &'static str, found: usize) -> Self {
        Self { segment, fault: KeyFault::Count { found } }
    }

    /// A second copy of an argument that is not like the first.
    #[cold]
    pub const fn differs(segment: &'static str, at: usize) -> Self {
        Self::bytes(segment, at, DecodeError::new(0, Fault::Differs))
    }

    /// A segment of a length that it cannot have.
    #[cold]
    pub const fn length(segment: &'static str, at: usize, found: usize) -> Self {
        Self::bytes(segment, at, DecodeError::new(0, Fault::Length { found }))
    }

    /// A derived part that does not match what it is derived from.
    #[cold]
    pub const fn mismatch(segment: &'static str, at: usize) -> Self {
        Self::bytes(segment, at, DecodeError::new(0, Fault::Mismatch))
    }

    /// The reading that a search must pass over, because it is the one that it started from.
    #[cold]
    pub const fn passed_over() -> Self {
        Self { segment: "", fault: KeyFault::TooManySplits }
    }

    /// The same error, inside of the segment called `segment` if it does not know a narrower one.
    #[must_use]
    pub const fn within(self, segment: &'static str) -> Self {
        if self.segment.is_empty() { Self { segment, ..self } } else { self }
    }

    /// The same error, in a family.
    #[cold]
    pub const fn of(self, family: &'static str) -> KeyError {
        KeyError { family, segment: self.segment, fault: self.fault }
    }

    /// The offset of the byte at fault; 0 where no byte is.
    pub const fn offset(&self) -> usize {
        match self.fault {
            KeyFault::Bytes(error) => error.offset,
            _ => 0,
        }
    }
}

impl From<EncodeError> for SegmentError {
    fn from(error: EncodeError) -> Self {
        Self::argument("", error)
    }
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.family.is_empty() {
            return f.write_str("no family of the space makes this key");
        }
        write!(f, "`{}`", self.family)?;
        if !self.segment.is_empty() {
            write!(f, ", in `{}`", self.segment)?;
        }
        write!(f, ": {}", self.fault)
    }
}

impl core::error::Error for KeyError {}

impl fmt::Display for KeyFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(error) => error.fmt(f),
            Self::Argument(error) => error.fmt(f),
            Self::Count { found } => write!(f, "{found} elements are not allowed"),
            Self::OtherReading(reading) => write!(f, "its bytes are also {}", reading.as_str()),
            Self::TooManySplits => f.write_str("the layout allows too many splits of this key"),
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::string::ToString;

    use super::*;

    #[test]
    fn an_error_says_family_segment_and_byte() {
        let fault = Fault::Sign { found: 6, expected: 5 };
        let error = SegmentError::bytes("tick", 9, DecodeError::new(0, fault)).of("cl.tick");
        assert_eq!(
            error.to_string(),
            "`cl.tick`, in `tick`: byte 9: sign byte 06, but the number after it calls for 05"
        );
        assert_eq!(error.offset(), Some(9));
    }

    #[test]
    fn a_long_reading_is_cut() {
        let reading = OtherReading::new(&"ä".repeat(60));
        assert_eq!(reading.as_str(), "ä".repeat(31));
    }

    #[test]
    fn an_error_is_small_enough_to_return() {
        assert!(size_of::<KeyError>() <= 112, "{}", size_of::<KeyError>());
    }
}
