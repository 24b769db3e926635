//! Numbers that look random, the same on every machine.

/// A small generator of random numbers (`SplitMix64`), so that a failure can be run again from its seed.
///
/// ```
/// use keyplan_testkit::Random;
///
/// let (mut one, mut other) = (Random(7), Random(7));
/// assert_eq!(one.next(), other.next());
/// assert!(one.below(10) < 10 && one.index(10) < 10);
/// assert_eq!(one.bytes(3).len(), 3);
/// ```
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    /// A generator that begins at a seed.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `limit`, which is not 0.
    pub const fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    /// The same for places in a list of this length.
    pub fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).unwrap()
    }

    /// A number from `least` to `most`.
    pub const fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.below(most - least + 1)
    }

    /// True this often of a hundred times.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.index(100) < percent
    }

    /// True every other time.
    pub const fn coin(&mut self) -> bool {
        self.next().is_multiple_of(2)
    }

    /// One of a list.
    pub fn pick<'t, T>(&mut self, list: &'t [T]) -> &'t T {
        list.get(self.index(list.len())).unwrap()
    }

    /// One of a list, as a value.
    pub fn choose<T: Clone>(&mut self, list: &[T]) -> T {
        self.pick(list).clone()
    }

    /// A byte.
    pub const fn byte(&mut self) -> u8 {
        let [first, ..] = self.next().to_be_bytes();
        first
    }

    /// A byte below `limit`, which is at most 256 and not 0.
    pub fn byte_below(&mut self, limit: u64) -> u8 {
        u8::try_from(self.below(limit)).unwrap()
    }

    /// So many bytes.
    pub fn bytes(&mut self, length: usize) -> Vec<u8> {
        (0..length).map(|_| self.byte()).collect()
    }
}
