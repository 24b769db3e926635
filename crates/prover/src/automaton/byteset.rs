use std::fmt;

/// A set of byte values.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub(crate) struct ByteSet([u64; 4]);

impl ByteSet {
    pub(crate) const EMPTY: Self = Self([0; 4]);
    pub(crate) const FULL: Self = Self([u64::MAX; 4]);

    /// Every byte that occurs in UTF-8.
    pub(crate) fn utf8() -> Self {
        Self::FULL.minus(Self::range(0xc0, 0xc1)).minus(Self::range(0xf5, 0xff))
    }

    /// A set from its bits: bit `b % 64` of word `b / 64` for each member `b`.
    pub(crate) const fn from_bits(bits: [u64; 4]) -> Self {
        Self(bits)
    }

    pub(crate) fn of(byte: u8) -> Self {
        Self::range(byte, byte)
    }

    /// The bytes from `first` to `last`, both included; empty if `last` is below `first`.
    pub(crate) fn range(first: u8, last: u8) -> Self {
        // The bits from the first on, without those after the last.
        let from = |byte: u16| {
            let word = |base: u16| match byte.checked_sub(base) {
                None => u64::MAX,
                Some(skip) => u64::MAX.checked_shl(skip.into()).unwrap_or(0),
            };
            Self([word(0), word(64), word(128), word(192)])
        };
        if first > last { Self::EMPTY } else { from(first.into()).minus(from(u16::from(last) + 1)) }
    }

    pub(crate) fn with(mut self, byte: u8) -> Self {
        if let Some(word) = self.0.get_mut(usize::from(byte >> 6)) {
            *word |= 1 << (byte & 63);
        }
        self
    }

    pub(crate) fn contains(self, byte: u8) -> bool {
        self.0.get(usize::from(byte >> 6)).is_some_and(|word| word >> (byte & 63) & 1 == 1)
    }

    fn each(mut self, other: Self, of: impl Fn(u64, u64) -> u64) -> Self {
        for (word, other) in self.0.iter_mut().zip(other.0) {
            *word = of(*word, other);
        }
        self
    }

    pub(crate) fn and(self, other: Self) -> Self {
        self.each(other, |a, b| a & b)
    }

    pub(crate) fn or(self, other: Self) -> Self {
        self.each(other, |a, b| a | b)
    }

    pub(crate) fn complement(self) -> Self {
        let [a, b, c, d] = self.0;
        Self([!a, !b, !c, !d])
    }

    pub(crate) fn minus(self, other: Self) -> Self {
        self.and(other.complement())
    }

    /// The set of the members with all their bits flipped.
    pub(crate) fn flipped(self) -> Self {
        let [a, b, c, d] = self.0;
        Self([d.reverse_bits(), c.reverse_bits(), b.reverse_bits(), a.reverse_bits()])
    }

    /// The set itself, or its members with all their bits flipped.
    pub(crate) fn flipped_if(self, flip: bool) -> Self {
        if flip { self.flipped() } else { self }
    }

    pub(crate) fn is_empty(self) -> bool {
        self == Self::EMPTY
    }

    pub(crate) fn meets(self, other: Self) -> bool {
        !self.and(other).is_empty()
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = u8> {
        let words = self.0.into_iter().zip([0u8, 64, 128, 192]);
        words.flat_map(|(mut word, base)| {
            std::iter::from_fn(move || {
                let bit = u8::try_from(word.trailing_zeros()).ok().filter(|bit| *bit < 64)?;
                word &= word - 1;
                Some(base + bit)
            })
        })
    }

    pub(crate) fn min(self) -> Option<u8> {
        let mut base = 0u32;
        for word in self.0 {
            if word != 0 {
                return u8::try_from(base + word.trailing_zeros()).ok();
            }
            base += 64;
        }
        None
    }

    pub(crate) fn max(self) -> Option<u8> {
        self.flipped().min().map(|byte| !byte)
    }

    /// The runs of neighbouring members, ascending.
    pub(crate) fn runs(self) -> Vec<(u8, u8)> {
        let mut runs: Vec<(u8, u8)> = Vec::new();
        for byte in self.iter() {
            match runs.last_mut() {
                Some((_, last)) if last.checked_add(1) == Some(byte) => *last = byte,
                _ => runs.push((byte, byte)),
            }
        }
        runs
    }

    /// The member that is easiest to read: 0 where the bytes are those of a number, else a letter, a digit, another
    /// printable character or the least.
    pub(crate) fn simplest(self) -> Option<u8> {
        // All bytes up to a bound are a number's, but those of ASCII are more likely a character's.
        let last = self.max()?;
        if self == Self::range(0, last) && last != 0x7f {
            return Some(0);
        }
        let preferred = b"a0A1/".iter().copied().find(|&byte| self.contains(byte));
        preferred
            .or_else(|| self.and(Self::range(b'a', b'z')).min())
            .or_else(|| self.and(Self::range(b'0', b'9')).min())
            .or_else(|| self.and(Self::range(b'!', b'~')).min())
            .or_else(|| self.min())
    }
}

impl fmt::Debug for ByteSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (first, last) in self.runs() {
            if first == last { write!(f, "{first:02x} ")? } else { write!(f, "{first:02x}-{last:02x} ")? }
        }
        f.write_str("]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_agree_with_a_list_of_members() {
        let sets = [ByteSet::EMPTY, ByteSet::FULL, ByteSet::range(3, 70), ByteSet::of(0).with(255).with(64)];
        for a in sets {
            assert_eq!(a.min(), a.iter().min());
            assert_eq!(a.max(), a.iter().max());
            let mut flipped: Vec<u8> = a.iter().map(|byte| !byte).collect();
            flipped.sort_unstable();
            assert_eq!(a.flipped().iter().collect::<Vec<u8>>(), flipped);
            for b in sets {
                let both: Vec<u8> = a.iter().filter(|&byte| b.contains(byte)).collect();
                assert_eq!(a.and(b).iter().collect::<Vec<u8>>(), both);
                let without: Vec<u8> = a.iter().filter(|&byte| !b.contains(byte)).collect();
                assert_eq!(a.minus(b).iter().collect::<Vec<u8>>(), without);
                assert_eq!(a.meets(b), !both.is_empty());
            }
        }
        for first in 0..=255 {
            for last in 0..=255 {
                let members: Vec<u8> = (first..=last).collect();
                assert_eq!(ByteSet::range(first, last).iter().collect::<Vec<u8>>(), members);
            }
        }
        assert_eq!(ByteSet::of(9).with(10).with(12).runs(), [(9, 10), (12, 12)]);
    }

    #[test]
    fn the_simplest_member_is_printable_where_one_is() {
        assert_eq!(ByteSet::FULL.simplest(), Some(0));
        assert_eq!(ByteSet::range(0, 200).simplest(), Some(0));
        assert_eq!(ByteSet::range(0, 127).simplest(), Some(b'a'));
        assert_eq!(ByteSet::range(1, 200).simplest(), Some(b'a'));
        assert_eq!(ByteSet::utf8().simplest(), Some(b'a'));
        assert_eq!(ByteSet::of(200).with(7).simplest(), Some(7));
        assert_eq!(ByteSet::EMPTY.simplest(), None);
    }
}
