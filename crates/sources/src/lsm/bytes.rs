//! Bounded reads of the integers that these formats are made of: little-endian, and varints of seven bits.

/// Bytes that are read from the front. A read that asks for more than there is gives `None` and takes nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bytes<'b> {
    rest: &'b [u8],
    whole: usize,
}

impl<'b> Bytes<'b> {
    pub(crate) const fn new(bytes: &'b [u8]) -> Self {
        Self { rest: bytes, whole: bytes.len() }
    }

    /// How many bytes were taken.
    pub(crate) const fn taken(&self) -> usize {
        self.whole - self.rest.len()
    }

    pub(crate) const fn rest(&self) -> &'b [u8] {
        self.rest
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub(crate) fn take(&mut self, length: usize) -> Option<&'b [u8]> {
        let (head, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(head)
    }

    pub(crate) fn byte(&mut self) -> Option<u8> {
        let (&first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(first)
    }

    pub(crate) fn fixed32(&mut self) -> Option<u32> {
        let (head, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(u32_le(*head))
    }

    pub(crate) fn fixed64(&mut self) -> Option<u64> {
        let (head, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(u64_le(*head))
    }

    /// An unsigned varint of at most ten bytes. One of a single byte, as nearly all are, is the fast way.
    #[inline]
    pub(crate) fn varint(&mut self) -> Option<u64> {
        let (&first, rest) = self.rest.split_first()?;
        if first < 0x80 {
            self.rest = rest;
            return Some(first.into());
        }
        self.long_varint()
    }

    fn long_varint(&mut self) -> Option<u64> {
        let mut value = 0_u64;
        for (place, &byte) in self.rest.iter().enumerate().take(10) {
            let bits = u64::from(byte & 0x7f);
            let shift = u32::try_from(place).ok()? * 7;
            // The tenth byte has room for one bit.
            if shift == 63 && bits > 1 {
                return None;
            }
            value |= bits << shift;
            if byte < 0x80 {
                self.rest = self.rest.get(place + 1..)?;
                return Some(value);
            }
        }
        None
    }

    pub(crate) fn varint32(&mut self) -> Option<u32> {
        u32::try_from(self.varint()?).ok()
    }

    /// A varint that is a length of something in memory.
    pub(crate) fn length(&mut self) -> Option<usize> {
        usize::try_from(self.varint()?).ok()
    }

    /// A zigzag varint.
    pub(crate) fn signed(&mut self) -> Option<i64> {
        let raw = self.varint()?;
        let half = i64::try_from(raw >> 1).ok()?;
        Some(if raw & 1 == 0 { half } else { !half })
    }

    /// Bytes with their length before them.
    pub(crate) fn prefixed(&mut self) -> Option<&'b [u8]> {
        let mut ahead = *self;
        let length = ahead.length()?;
        let bytes = ahead.take(length)?;
        *self = ahead;
        Some(bytes)
    }
}

/// Little-endian bytes of a number of at most eight bytes.
pub(crate) fn little(bytes: &[u8]) -> Option<u64> {
    let mut whole = [0; 8];
    whole.get_mut(..bytes.len())?.copy_from_slice(bytes);
    Some(u64_le(whole))
}

#[expect(clippy::little_endian_bytes, reason = "these formats write their fixed numbers so")]
pub(crate) const fn u32_le(bytes: [u8; 4]) -> u32 {
    u32::from_le_bytes(bytes)
}

#[expect(clippy::little_endian_bytes, reason = "these formats write their fixed numbers so")]
pub(crate) const fn u64_le(bytes: [u8; 8]) -> u64 {
    u64::from_le_bytes(bytes)
}

/// The low half of a number.
pub(crate) fn low32(value: u64) -> u32 {
    u32::try_from(value & u64::from(u32::MAX)).unwrap_or(0)
}

/// A length in memory as a place in a file.
pub(crate) fn wide(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn varints_end_within_ten_bytes() {
        let max = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
        assert_eq!(Bytes::new(&max).varint(), Some(u64::MAX));
        assert_eq!(Bytes::new(&[0xff; 12]).varint(), None);
        assert_eq!(Bytes::new(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02]).varint(), None);
        assert_eq!(Bytes::new(&[0x80]).varint(), None);
        assert_eq!(Bytes::new(&[0xac, 0x02]).varint(), Some(300));
    }

    #[test]
    fn signed_varints_are_zigzag() {
        let read = |bytes: &[u8]| Bytes::new(bytes).signed();
        assert_eq!([read(&[0]), read(&[1]), read(&[2]), read(&[3])], [Some(0), Some(-1), Some(1), Some(-2)]);
        let lowest = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
        assert_eq!(read(&lowest), Some(i64::MIN));
    }

    #[test]
    fn a_length_beyond_the_end_takes_nothing() {
        let mut bytes = Bytes::new(&[3, 1, 2]);
        assert_eq!(bytes.prefixed(), None);
        assert_eq!(bytes.taken(), 0);
        assert_eq!(
            Bytes::new(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 7]).prefixed(),
            None
        );
    }
}
