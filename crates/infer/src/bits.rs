//! Description lengths in bits: what a draft costs to write down, and what keys cost under it.

/// What each segment of a layout costs.
pub(crate) const SEGMENT: f64 = 10.0;
/// What each family costs before its segments.
pub(crate) const FAMILY: f64 = 40.0;

/// A count as a float; counts here are far below 2³².
pub(crate) fn float(n: usize) -> f64 {
    f64::from(u32::try_from(n).unwrap_or(u32::MAX))
}

/// The bits of one of `n` choices.
pub(crate) fn choice(n: usize) -> f64 {
    float(n.max(1)).log2()
}

/// The binary logarithm of `n + 1`.
pub(crate) fn log2_next(n: u128) -> f64 {
    let bits = 128 - n.leading_zeros();
    if bits < 32 {
        return f64::from(u32::try_from(n).unwrap_or(u32::MAX) + 1).log2();
    }
    let top = u32::try_from(n >> (bits - 31)).unwrap_or(u32::MAX);
    f64::from(top).log2() + f64::from(bits - 31)
}

/// What a description costs: the plan once, and the keys.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Bits {
    pub(crate) plan: f64,
    pub(crate) keys: f64,
}

impl Bits {
    pub(crate) const fn new(plan: f64, keys: f64) -> Self {
        Self { plan, keys }
    }

    pub(crate) fn total(self) -> f64 {
        self.plan + self.keys
    }

    pub(crate) fn and(self, other: Self) -> Self {
        Self { plan: self.plan + other.plan, keys: self.keys + other.keys }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_of_large_numbers_are_those_of_small_ones() {
        assert!((log2_next(0) - 0.0).abs() < 1e-9);
        assert!((log2_next(255) - 8.0).abs() < 1e-9);
        assert!((log2_next(u128::from(u64::MAX)) - 64.0).abs() < 1e-6);
        assert!((log2_next(u128::MAX) - 128.0).abs() < 1e-6);
    }
}
