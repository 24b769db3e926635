use std::path::Path;
use std::time::{Duration, Instant};

use crate::Result;

/// Processor time that this thread has used.
pub(crate) fn thread() -> Result<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    Ok(Duration::from_nanos(text.split_whitespace().next().ok_or("no figure")?.parse()?))
}

/// Time that this thread was ready to run and had no processor: what other work on the machine costs.
pub(crate) fn delayed() -> Result<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    Ok(Duration::from_nanos(text.split_whitespace().nth(1).ok_or("no figure")?.parse()?))
}

/// Processor time that all threads have used, those that have ended included.
pub(crate) fn process() -> Result<Duration> {
    let text = std::fs::read_to_string("/proc/self/stat")?;
    let (_, fields) = text.rsplit_once(')').ok_or("no figure")?;
    // User and system time are fields 14 and 15; the third is the first behind the name. A tick is 10 ms on Linux.
    let ticks: u64 = fields
        .split_whitespace()
        .skip(11)
        .take(2)
        .map(str::parse::<u64>)
        .sum::<std::result::Result<u64, _>>()?;
    Ok(Duration::from_millis(ticks * 10))
}

/// Memory that the process holds, in MiB.
pub(crate) fn memory() -> Result<f64> {
    let text = std::fs::read_to_string("/proc/self/status")?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no figure")?;
    Ok(line.split_whitespace().next().ok_or("no figure")?.parse::<f64>()? / 1024.0)
}

/// Bytes that are really allocated below a directory, in MiB: journals are allocated ahead, and sparse.
pub(crate) fn disk(directory: &Path) -> Result<f64> {
    use std::os::unix::fs::MetadataExt as _;
    let mut sum = 0.0;
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        if metadata.is_dir() {
            sum += disk(&entry.path())?;
        } else {
            sum += f64::from(u32::try_from(metadata.blocks())?) * 512.0 / 1024.0 / 1024.0;
        }
    }
    Ok(sum)
}

/// Time on a clock and on the processors.
pub(crate) struct Span {
    begun: Instant,
    process: Duration,
    thread: Duration,
    delayed: Duration,
}

impl Span {
    pub(crate) fn begin() -> Result<Self> {
        Ok(Self { begun: Instant::now(), process: process()?, thread: thread()?, delayed: delayed()? })
    }

    pub(crate) fn wall(&self) -> f64 {
        self.begun.elapsed().as_secs_f64()
    }

    /// Time on a clock, without that for which this thread was ready and had no processor.
    pub(crate) fn own(&self) -> Result<f64> {
        Ok(self.wall() - delayed()?.saturating_sub(self.delayed).as_secs_f64())
    }

    pub(crate) fn process(&self) -> Result<f64> {
        Ok((process()?.saturating_sub(self.process)).as_secs_f64())
    }

    pub(crate) fn thread(&self) -> Result<f64> {
        Ok((thread()?.saturating_sub(self.thread)).as_secs_f64())
    }
}
