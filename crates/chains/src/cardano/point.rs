use std::cmp::Ordering;

use super::ChainPoint;

impl ChainPoint {
    /// The slot; none before the first block.
    pub const fn slot(&self) -> Option<u64> {
        match *self {
            Self::Origin => None,
            Self::Slot { slot } | Self::Specific { slot, .. } => Some(slot),
        }
    }

    /// The block's hash, where the point names a block.
    pub const fn hash(&self) -> Option<&[u8; 32]> {
        match self {
            Self::Origin | Self::Slot { .. } => None,
            Self::Specific { hash, .. } => Some(hash),
        }
    }
}

/// The origin comes first, then points by slot; of one slot, first the slot itself and then its blocks by hash.
///
/// Points are equal if they are the same point and in no other case. Dolos takes `Specific(5, h) == Slot(5)` for true
/// and `Slot(5) == Specific(5, h)` for false, and orders the origin as equal to slot 0.
impl Ord for ChainPoint {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.slot(), self.hash()).cmp(&(other.slot(), other.hash()))
    }
}

impl PartialOrd for ChainPoint {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_and_equality_agree_and_are_total() {
        let ascending = [
            ChainPoint::Origin,
            ChainPoint::Slot { slot: 0 },
            ChainPoint::Specific { slot: 0, hash: [0; 32] },
            ChainPoint::Specific { slot: 0, hash: [0xff; 32] },
            ChainPoint::Slot { slot: 5 },
            ChainPoint::Specific { slot: 5, hash: [1; 32] },
            ChainPoint::Slot { slot: u64::MAX },
        ];
        for (i, a) in ascending.iter().enumerate() {
            for (j, b) in ascending.iter().enumerate() {
                assert_eq!(a.cmp(b), i.cmp(&j), "{a} and {b}");
                assert_eq!(a == b, i == j, "{a} and {b}");
            }
        }
    }
}
