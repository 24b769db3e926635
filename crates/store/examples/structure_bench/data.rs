use std::time::Instant;

use crate::Result;

/// How many members each structure has before anything is measured: as many as on the server that this is compared with.
pub(crate) const FILLED: usize = 500_000;

pub(crate) const HASH: &[u8] = b"h:sats";
pub(crate) const SET: &[u8] = b"s:list";
pub(crate) const ZSET: &[u8] = b"z:own";

/// What is measured one at a time. Writes are of new members, reads of those that are there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    HashSet,
    HashGet,
    SetAdd,
    SetContains,
    ZsetAdd,
}

impl Operation {
    pub(crate) const ALL: [Self; 5] =
        [Self::HashSet, Self::HashGet, Self::SetAdd, Self::SetContains, Self::ZsetAdd];
    pub(crate) const WRITES: [Self; 3] = [Self::HashSet, Self::SetAdd, Self::ZsetAdd];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::HashSet => "hash_set",
            Self::HashGet => "hash_get",
            Self::SetAdd => "set_add",
            Self::SetContains => "set_contains",
            Self::ZsetAdd => "zset_add",
        }
    }

    pub(crate) const fn name_100(self) -> &'static str {
        match self {
            Self::HashSet | Self::HashGet => "hash_set_100",
            Self::SetAdd | Self::SetContains => "set_add_100",
            Self::ZsetAdd => "zset_add_100",
        }
    }

    /// The member of the operation with this number.
    pub(crate) fn member(self, number: usize) -> [u8; 36] {
        match self {
            Self::HashGet | Self::SetContains => member(number.wrapping_mul(7919) % FILLED),
            _ => member(FILLED + number),
        }
    }
}

/// What both sides do.
pub(crate) trait Side {
    /// One operation.
    fn one(&mut self, operation: Operation, number: usize) -> Result<()>;
    /// A hundred writes from a member on, in one batch.
    fn batch(&mut self, operation: Operation, first: usize) -> Result<()>;
    /// A hundred members from a score on.
    fn range(&mut self, number: usize) -> Result<()>;
    /// Takes the first member.
    fn pop(&mut self) -> Result<()>;
}

/// A member of 36 bytes, as an outpoint has; no two numbers have the same.
pub(crate) fn member(number: usize) -> [u8; 36] {
    let mut member = [0; 36];
    let mut state = u64::try_from(number).unwrap_or_default();
    for chunk in member.chunks_mut(8) {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        for (slot, byte) in chunk.iter_mut().zip((mixed ^ (mixed >> 31)).to_be_bytes()) {
            *slot = byte;
        }
    }
    member
}

/// A score: heights in no order, some of them shared.
pub(crate) fn score(number: usize) -> f64 {
    let mixed = number.wrapping_mul(0x9e37_79b1) % 900_000;
    u32::try_from(mixed).map_or(0.0, f64::from)
}

/// Times `count` operations, and returns the microseconds of one.
pub(crate) fn timed(count: usize, work: impl FnOnce() -> Result<()>) -> Result<f64> {
    let begun = Instant::now();
    work()?;
    let count = u32::try_from(count.max(1)).map_or(f64::MAX, f64::from);
    Ok(begun.elapsed().as_secs_f64() * 1e6 / count)
}
