use std::time::Instant;

use crate::{Figures, Result};

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

/// Times `count` operations, and notes what one took in microseconds, by the clock and of this thread's processor.
pub(crate) fn timed(
    figures: &mut Figures,
    measure: &'static str,
    count: usize,
    mut work: impl FnMut() -> Result<()>,
) -> Result<()> {
    let (begun, processor) = (Instant::now(), processor_time()?);
    work()?;
    let count = u32::try_from(count.max(1)).map_or(f64::MAX, f64::from);
    let wall = begun.elapsed().as_secs_f64() * 1e6 / count;
    figures.insert(measure, (wall, (processor_time()? - processor) / 1e3 / count));
    Ok(())
}

/// Processor time that this thread has used, in nanoseconds.
fn processor_time() -> Result<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    Ok(text.split_whitespace().next().ok_or("no figure")?.parse()?)
}
