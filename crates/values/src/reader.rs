//! Bounded reads.

/// How much a value may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// How deep parts may lie in each other.
    pub depth: usize,
    /// How many parts there may be.
    pub nodes: usize,
    /// How many bytes a value may have.
    pub bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { depth: 64, nodes: 100_000, bytes: 16 << 20 }
    }
}

impl Limits {
    /// How much JSON may ask for of which a value is made: a dollar form takes more levels and parts than what it says.
    pub const fn of_json() -> Self {
        Self { depth: 4 * 64 + 2, nodes: 1 << 19, bytes: 64 << 20 }
    }
}

/// What is wrong with a value, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("byte {offset}: {what}")]
pub struct Fault {
    /// Where in the value.
    pub offset: usize,
    /// What is wrong there.
    pub what: &'static str,
}

const TOO_LONG: &str = "the value is longer than what is looked at";
const TOO_DEEP: &str = "parts are nested too deeply";
const TOO_MANY: &str = "there are too many parts";

impl Fault {
    /// Whether the value asks for more than [`Limits`] allow: nothing is known to be wrong with it.
    pub fn is_limit(&self) -> bool {
        [TOO_LONG, TOO_DEEP, TOO_MANY].contains(&self.what)
    }
}

/// Bytes of a value and a place in them.
#[derive(Debug)]
pub(crate) struct Reader<'v> {
    bytes: &'v [u8],
    at: usize,
    end: usize,
    depth: usize,
    nodes: usize,
    limits: Limits,
}

impl<'v> Reader<'v> {
    pub(crate) fn new(bytes: &'v [u8], limits: &Limits) -> Result<Self, Fault> {
        if bytes.len() > limits.bytes {
            return Err(Fault { offset: limits.bytes, what: TOO_LONG });
        }
        Ok(Self { bytes, at: 0, end: bytes.len(), depth: 0, nodes: 0, limits: *limits })
    }

    /// All the bytes of the value.
    pub(crate) const fn whole(&self) -> &'v [u8] {
        self.bytes
    }

    pub(crate) const fn at(&self) -> usize {
        self.at
    }

    pub(crate) const fn is_end(&self) -> bool {
        self.at >= self.end
    }

    pub(crate) const fn left(&self) -> usize {
        self.end - self.at
    }

    pub(crate) const fn fault<T>(&self, what: &'static str) -> Result<T, Fault> {
        Err(Fault { offset: self.at, what })
    }

    /// Counts a part, and one level of depth until [`Self::leave`].
    pub(crate) fn enter(&mut self) -> Result<(), Fault> {
        self.nodes += 1;
        self.depth += 1;
        if self.depth > self.limits.depth {
            return self.fault(TOO_DEEP);
        }
        if self.nodes > self.limits.nodes {
            return self.fault(TOO_MANY);
        }
        Ok(())
    }

    pub(crate) const fn leave(&mut self) {
        self.depth -= 1;
    }

    pub(crate) fn take(&mut self, len: usize) -> Result<&'v [u8], Fault> {
        let end = self.at.checked_add(len).filter(|end| *end <= self.end);
        let Some(taken) = end.and_then(|end| self.bytes.get(self.at..end)) else {
            return Err(Fault { offset: self.end, what: "it ends too soon" });
        };
        self.at += len;
        Ok(taken)
    }

    /// As [`Self::take`], of a length that the value claims.
    pub(crate) fn take_claimed(&mut self, len: u64) -> Result<&'v [u8], Fault> {
        self.take(usize::try_from(len).unwrap_or(usize::MAX))
    }

    pub(crate) fn byte(&mut self) -> Result<u8, Fault> {
        Ok(self.take(1)?.first().copied().unwrap_or_default())
    }

    pub(crate) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at..self.end)?.first().copied()
    }

    pub(crate) fn text(&mut self, len: u64) -> Result<String, Fault> {
        let from = self.at;
        let bytes = self.take_claimed(len)?;
        match str::from_utf8(bytes) {
            Ok(text) => Ok(text.to_owned()),
            Err(error) => Err(Fault { offset: from + error.valid_up_to(), what: "text that is not UTF-8" }),
        }
    }

    /// A big-endian number.
    pub(crate) fn big(&mut self, len: usize) -> Result<u128, Fault> {
        Ok(self.take(len)?.iter().fold(0, |n, byte| n << 8 | u128::from(*byte)))
    }

    /// A little-endian number.
    pub(crate) fn little(&mut self, len: usize) -> Result<u128, Fault> {
        Ok(self.take(len)?.iter().rev().fold(0, |n, byte| n << 8 | u128::from(*byte)))
    }

    /// A LEB128 number of up to 64 bits.
    pub(crate) fn varint(&mut self) -> Result<u64, Fault> {
        let start = self.at;
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let group = u64::from(byte & 0x7f);
            if shift == 63 && group > 1 {
                break;
            }
            number |= group << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(Fault { offset: start, what: "a number of more than 64 bits" })
    }

    /// Reads the next `len` bytes by a function that must use up all of them.
    pub(crate) fn within<T>(
        &mut self,
        len: u64,
        read: impl FnOnce(&mut Self) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let end = usize::try_from(len).ok().and_then(|len| self.at.checked_add(len));
        let Some(end) = end.filter(|end| *end <= self.end) else {
            return Err(Fault { offset: self.end, what: "it ends too soon" });
        };
        let outer = std::mem::replace(&mut self.end, end);
        let found = read(self)?;
        self.done()?;
        self.end = outer;
        Ok(found)
    }

    /// Refuses bytes after the end.
    pub(crate) fn done(&self) -> Result<(), Fault> {
        if self.is_end() { Ok(()) } else { self.fault("bytes follow the value") }
    }

    /// Forgets what was read since a place, for another attempt; what was counted stays counted.
    pub(crate) fn again(&mut self, at: usize, end: usize, depth: usize) {
        (self.at, self.end, self.depth) = (at, end, depth);
    }

    pub(crate) const fn state(&self) -> (usize, usize, usize) {
        (self.at, self.end, self.depth)
    }
}
