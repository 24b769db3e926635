/// The lengths, in bytes, that an argument may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lengths<'l> {
    /// Every length from `min` to `max`, both included.
    Range {
        /// The least length.
        min: usize,
        /// The greatest length; `usize::MAX` stands for "no limit".
        max: usize,
    },
    /// Exactly these lengths, ascending.
    OneOf(&'l [usize]),
}

impl Lengths<'_> {
    /// Any length at all.
    pub const ANY: Self = Self::Range { min: 0, max: usize::MAX };

    /// Only `len`.
    pub const fn exactly(len: usize) -> Self {
        Self::Range { min: len, max: len }
    }

    /// Returns whether `len` is one of them.
    #[inline]
    pub fn admits(&self, len: usize) -> bool {
        match *self {
            Self::Range { min, max } => min <= len && len <= max,
            Self::OneOf(lengths) => lengths.contains(&len),
        }
    }

    /// The least length; 0 if there is none.
    pub fn min(&self) -> usize {
        match *self {
            Self::Range { min, .. } => min,
            Self::OneOf(lengths) => lengths.first().copied().unwrap_or(0),
        }
    }

    /// The greatest length; 0 if there is none.
    pub fn max(&self) -> usize {
        match *self {
            Self::Range { max, .. } => max,
            Self::OneOf(lengths) => lengths.last().copied().unwrap_or(0),
        }
    }

    /// The only length, if there is just one.
    #[inline]
    pub fn fixed(&self) -> Option<usize> {
        (self.min() == self.max()).then(|| self.min())
    }
}
