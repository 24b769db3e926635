//! Rows, and the ways in which they are read and changed; the same on every machine.

use std::collections::VecDeque;

/// The key of an output: the hash of a transaction and a number.
pub(crate) type Key = [u8; 36];

/// The bytes of an output.
const VALUE: usize = 150;

/// What a row takes, key and value.
pub(crate) const ROW_BYTES: u64 = 186;

/// Numbers that look random.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed(self.0)
    }

    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.next() % n.max(1)
    }

    fn fraction(&mut self) -> f64 {
        f64::from(u32::try_from(self.next() >> 32).unwrap_or(0)) / f64::from(u32::MAX)
    }
}

fn mixed(mut word: u64) -> u64 {
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

pub(crate) fn key(number: u64) -> Key {
    let mut key = [0; 36];
    for (at, bytes) in key[..32].chunks_mut(8).enumerate() {
        bytes.copy_from_slice(&mixed(number.wrapping_add((at as u64) << 56)).to_be_bytes());
    }
    key[35] = u8::try_from(number % 3).unwrap_or(0);
    key
}

pub(crate) fn value(number: u64) -> [u8; VALUE] {
    let mut value = [0; VALUE];
    let mut random = Random(number);
    for bytes in value.chunks_mut(8) {
        let word = random.next().to_be_bytes();
        bytes.copy_from_slice(&word[..bytes.len()]);
    }
    value
}

/// All rows, ascending.
pub(crate) fn sorted(rows: u64) -> Vec<(Key, u64)> {
    let mut all: Vec<(Key, u64)> = (0..rows).map(|number| (key(number), number)).collect();
    all.sort_unstable();
    all
}

/// Places 0 to n - 1, the first the likeliest.
pub(crate) struct Zipf {
    // The sums of what the places weigh.
    sums: Vec<f64>,
}

impl Zipf {
    pub(crate) fn new(places: u64, exponent: f64) -> Self {
        let mut sum = 0.0;
        let weight = |place: u64| f64::from(u32::try_from(place).unwrap_or(u32::MAX)).powf(-exponent);
        let sums = (1..=places).map(|place| {
            sum += weight(place);
            sum
        });
        Self { sums: sums.collect() }
    }

    pub(crate) fn sample(&self, random: &mut Random) -> u64 {
        let at = random.fraction() * self.sums.last().copied().unwrap_or_default();
        self.sums.partition_point(|sum| *sum < at) as u64
    }
}

/// What a block, or one that is taken back, reads and changes.
pub(crate) struct Change {
    pub(crate) read: Vec<Key>,
    pub(crate) put: Vec<u64>,
    pub(crate) delete: Vec<u64>,
}

/// A chain of blocks: 300 transactions, two inputs and 2.2 outputs each; 85 of 100 inputs are of the last 2,000 blocks.
pub(crate) struct Chain {
    random: Random,
    next: u64,
    recent: VecDeque<Vec<u64>>,
    old: Vec<u64>,
    done: VecDeque<(Vec<u64>, Vec<u64>)>,
}

impl Chain {
    pub(crate) fn new(rows: u64) -> Self {
        Self {
            random: Random(3),
            // Behind everything that other reads ask for.
            next: 8 * rows,
            recent: VecDeque::new(),
            old: (0..rows).collect(),
            done: VecDeque::new(),
        }
    }

    pub(crate) fn next_block(&mut self) -> Change {
        let mut spent = Vec::with_capacity(600);
        while spent.len() < 600 {
            let recent = self.random.below(100) < 85;
            // Most are of the last few hundred blocks.
            let age = self.random.below(2_000).min(self.random.below(600));
            let block = usize::try_from(age).unwrap_or(0);
            let of = self.recent.len().checked_sub(block + 1).and_then(|at| self.recent.get_mut(at));
            let from = match of {
                Some(block) if recent && !block.is_empty() => block,
                _ => &mut self.old,
            };
            let at = usize::try_from(self.random.below(from.len() as u64)).unwrap_or(0);
            spent.push(from.swap_remove(at));
        }
        let made: Vec<u64> = (self.next..self.next + 660).collect();
        self.next += 660;
        self.recent.push_back(made.clone());
        if self.recent.len() > 2_000
            && let Some(block) = self.recent.pop_front()
        {
            self.old.extend(block);
        }
        self.done.push_back((spent.clone(), made.clone()));
        if self.done.len() > 10 {
            self.done.pop_front();
        }
        Change { read: spent.iter().map(|number| key(*number)).collect(), put: made, delete: spent }
    }

    /// The last blocks, taken back one by one.
    pub(crate) fn taken_back(&mut self, count: usize) -> Vec<Change> {
        let mut changes = Vec::new();
        for _ in 0..count {
            let Some((spent, made)) = self.done.pop_back() else { break };
            let gone: std::collections::BTreeSet<u64> = made.iter().copied().collect();
            self.recent.pop_back();
            for block in &mut self.recent {
                block.retain(|number| !gone.contains(number));
            }
            self.old.retain(|number| !gone.contains(number));
            self.old.extend(&spent);
            changes.push(Change { read: Vec::new(), put: spent, delete: made });
        }
        changes
    }
}
