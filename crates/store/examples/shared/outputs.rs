//! Rows as outputs are, and how a measurement is told: what the benchmarks of engines elsewhere have in common.

use std::time::Instant;

pub(crate) type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Rows of one batch.
pub(crate) const BATCH: u64 = 1_000;

/// An outpoint.
pub(crate) fn key(number: u64) -> [u8; 36] {
    let mut key = [0; 36];
    for (at, bytes) in (0_u64..).zip(key.chunks_mut(8)) {
        let word = mixed(number.wrapping_add(at << 56)).to_be_bytes();
        bytes.iter_mut().zip(word).for_each(|(byte, from)| *byte = from);
    }
    key
}

/// An output of the length that is usual on Cardano.
pub(crate) fn value(number: u64) -> Vec<u8> {
    (0_u64..19).flat_map(|at| mixed(number ^ (at << 40)).to_be_bytes()).take(150).collect()
}

pub(crate) fn mixed(mut word: u64) -> u64 {
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

/// Prints a measurement.
pub(crate) fn told(name: &str, value: f64, goal: f64, bound: &str, compared_with: &str) {
    println!(
        "{{\"name\":\"{name}\",\"value\":{value:.3},\"goal\":{goal},\"bound\":\"{bound}\",\"compared_with\":\"{compared_with}\"}}"
    );
}

pub(crate) fn seconds(work: impl FnOnce() -> Result<()>) -> Result<f64> {
    let begun = Instant::now();
    work()?;
    Ok(begun.elapsed().as_secs_f64())
}

/// As a number that prints; exact up to what is measured here.
pub(crate) fn float(number: u64) -> f64 {
    f64::from(u32::try_from(number).unwrap_or(u32::MAX))
}
