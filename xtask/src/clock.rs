//! What commands cost: by the clock, and by the time that processors spent on them.

use std::time::{Duration, Instant};

/// Runs from the moment when it is made.
pub(crate) struct Stopwatch {
    start: Instant,
    children: Option<Duration>,
}

impl Stopwatch {
    pub(crate) fn start() -> Self {
        Self { start: Instant::now(), children: time_of_children() }
    }

    /// The time by the clock.
    pub(crate) fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    /// The processor time of the commands that ended in the meantime, whatever else the machine was doing; `None` where there is no
    /// `/proc`.
    pub(crate) fn processor(&self) -> Option<Duration> {
        Some(time_of_children()?.saturating_sub(self.children?))
    }

    /// The processor time, or that of the clock.
    pub(crate) fn cost(&self) -> Duration {
        self.processor().unwrap_or_else(|| self.elapsed())
    }
}

/// Whether processor time can be told here.
pub(crate) fn counts_processor_time() -> bool {
    time_of_children().is_some()
}

/// The processor time of the processes that were waited for, and of those that they waited for.
fn time_of_children() -> Option<Duration> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the program, in parentheses, may have spaces; the times are the 16th and 17th of all fields.
    let (_, fields) = stat.rsplit_once(')')?;
    let ticks = fields.split_whitespace().skip(13).take(2).map(|field| field.parse::<u64>().ok());
    // Linux counts hundredths of a second here on every architecture.
    ticks.sum::<Option<u64>>().map(|ticks| Duration::from_millis(ticks * 10))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_command_counts_once_it_has_ended() {
        let watch = Stopwatch::start();
        let busy = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done";
        assert!(std::process::Command::new("sh").args(["-c", busy]).status().unwrap().success());
        if let Some(processor) = watch.processor() {
            assert!(processor > Duration::ZERO && processor == watch.cost(), "{processor:?}");
        }
    }
}
