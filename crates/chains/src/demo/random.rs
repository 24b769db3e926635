//! Numbers that look random and are the same on every machine.

/// A generator of 64 bits at a time (`SplitMix64`).
pub(super) struct Random(u64);

impl Random {
    pub(super) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `limit`, which is not 0.
    pub(super) const fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    /// Bytes such as those of a hash or an address.
    pub(super) fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let mut out = [0; N];
        for chunk in out.chunks_mut(8) {
            let word = self.next().to_be_bytes();
            chunk.iter_mut().zip(word).for_each(|(to, from)| *to = from);
        }
        out
    }
}
