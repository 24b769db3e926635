use std::path::Path;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, Timespec, clock_gettime};

use crate::Result;

/// Processor time that this thread has used.
pub(crate) fn thread() -> Duration {
    duration(clock_gettime(ClockId::ThreadCPUTime))
}

/// Processor time that all threads have used, those that have ended included.
pub(crate) fn process() -> Duration {
    duration(clock_gettime(ClockId::ProcessCPUTime))
}

/// Adds the processor time that this thread uses for something.
pub(crate) fn of_thread<T>(sum: &mut Duration, work: impl FnOnce() -> T) -> T {
    let begun = thread();
    let done = work();
    *sum += thread().saturating_sub(begun);
    done
}

fn duration(time: Timespec) -> Duration {
    // A processor's clock is never negative.
    Duration::try_from(time).unwrap_or_default()
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
}

impl Span {
    pub(crate) fn begin() -> Self {
        Self { begun: Instant::now(), process: process() }
    }

    pub(crate) fn wall(&self) -> f64 {
        self.begun.elapsed().as_secs_f64()
    }

    pub(crate) fn process(&self) -> f64 {
        (process().saturating_sub(self.process)).as_secs_f64()
    }
}

/// Takes a gigabyte of memory and gives it back, so that a process that begins now finds pages that were in use.
///
/// A virtual machine may have to ask its host for a page that nobody has used for a while: seven times the cost of
/// another, and enough to double the processor time of a load.
pub(crate) fn touch_memory() {
    std::hint::black_box(vec![1_u8; 1 << 30]);
}

/// Waits until the threads of the engines have done what they had left to do.
pub(crate) fn settle() {
    // A minute at most: one that has not ended by then is not going to.
    for _ in 0..3_000 {
        let before = process();
        std::thread::sleep(Duration::from_millis(20));
        if process().saturating_sub(before) < Duration::from_millis(2) {
            break;
        }
    }
}
