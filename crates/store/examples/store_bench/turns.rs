use crate::{Result, cpu};

/// One side of a comparison: what it does in a burst.
pub(crate) type Side<'s, T> = &'s mut dyn FnMut(&T) -> Result<()>;

/// How many bursts there are.
#[derive(Clone, Copy)]
pub(crate) struct Bursts {
    /// Those that warm caches, and do not count.
    pub(crate) warm: usize,
    pub(crate) timed: usize,
}

/// Lets sides take turns in short bursts, all of the same work, and says what a burst cost each of them: the median of
/// the thread's processor time, in seconds.
///
/// The sides are in one process, and who comes first changes from burst to burst: what disturbs the machine, and what a
/// side leaves in the processor's caches, meets all of them alike.
pub(crate) fn turns<T, const SIDES: usize>(
    bursts: Bursts,
    mut work: impl FnMut() -> T,
    mut sides: [Side<'_, T>; SIDES],
) -> Result<[f64; SIDES]> {
    let mut costs = [const { Vec::new() }; SIDES];
    for burst in 0..bursts.warm + bursts.timed {
        let work = work();
        for turn in 0..SIDES {
            let at = (burst + turn) % SIDES;
            let (Some(side), Some(costs)) = (sides.get_mut(at), costs.get_mut(at)) else { continue };
            let begun = cpu::thread();
            side(&work)?;
            if burst >= bursts.warm {
                costs.push(cpu::thread().saturating_sub(begun).as_secs_f64());
            }
        }
    }
    Ok(costs.map(median))
}

/// The middle one, or nothing of none.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}
