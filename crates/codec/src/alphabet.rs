/// A set of bytes that a text may be made of.
///
/// An alphabet either lists ASCII characters, or holds all of UTF-8 but the ASCII characters left out. In the
/// second case the bytes from 0x80 up are members, and a text over the alphabet must also be valid UTF-8.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Alphabet {
    members: [u64; 4],
}

impl Alphabet {
    /// No byte at all.
    pub const EMPTY: Self = Self { members: [0; 4] };
    /// Every byte: any text that is valid UTF-8.
    pub const UTF8: Self = Self { members: [u64::MAX; 4] };

    /// An alphabet from its bits: bit `b % 64` of word `b / 64` is set for each member `b`.
    pub const fn from_bits(members: [u64; 4]) -> Self {
        Self { members }
    }

    /// The bits that [`Alphabet::from_bits`] takes.
    pub const fn bits(&self) -> [u64; 4] {
        self.members
    }

    /// Returns whether `byte` is a member.
    #[inline]
    #[expect(clippy::indexing_slicing, reason = "the upper two bits of a byte are below 4")]
    pub const fn contains(&self, byte: u8) -> bool {
        (self.members[(byte >> 6) as usize] >> (byte & 63)) & 1 == 1
    }

    /// This alphabet and the bytes from `first` to `last`, both included.
    #[must_use]
    pub const fn with_range(mut self, first: u8, last: u8) -> Self {
        let mut byte = first;
        while byte <= last {
            self = self.with(byte);
            if byte == u8::MAX {
                break;
            }
            byte += 1;
        }
        self
    }

    /// This alphabet and `byte`.
    #[must_use]
    pub const fn with(self, byte: u8) -> Self {
        let bit = 1u64 << (byte & 63);
        let [a, b, c, d] = self.members;
        Self::from_bits(match byte >> 6 {
            0 => [a | bit, b, c, d],
            1 => [a, b | bit, c, d],
            2 => [a, b, c | bit, d],
            _ => [a, b, c, d | bit],
        })
    }

    /// Every byte that is not in this alphabet.
    #[must_use]
    pub const fn complement(self) -> Self {
        let [a, b, c, d] = self.members;
        Self::from_bits([!a, !b, !c, !d])
    }

    /// Returns whether a text over this alphabet may hold characters beyond ASCII, so that its UTF-8 must be
    /// checked.
    #[inline]
    pub const fn beyond_ascii(&self) -> bool {
        let [_, _, c, d] = self.members;
        c | d != 0
    }

    /// Returns whether there is no member.
    pub const fn is_empty(&self) -> bool {
        let [a, b, c, d] = self.members;
        a | b | c | d == 0
    }

    /// Returns the length of the longest run of members at the front of `bytes`.
    #[inline]
    pub fn run(&self, bytes: &[u8]) -> usize {
        if self.members == [u64::MAX; 4] {
            return bytes.len();
        }
        bytes.iter().position(|&byte| !self.contains(byte)).unwrap_or(bytes.len())
    }
}

impl core::fmt::Debug for Alphabet {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Alphabet(")?;
        let mut byte = 0u8;
        loop {
            if self.contains(byte) {
                let first = byte;
                while byte < u8::MAX && self.contains(byte + 1) {
                    byte += 1;
                }
                write!(f, "{first:02x}-{byte:02x} ")?;
            }
            let Some(next) = byte.checked_add(1) else { break };
            byte = next;
        }
        f.write_str(")")
    }
}
