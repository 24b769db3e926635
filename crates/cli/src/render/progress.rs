//! How far long work has come, on standard error, and only on a terminal.

use std::fmt::Write;
use std::time::Duration;

use indicatif::{HumanDuration, ProgressBar, ProgressState, ProgressStyle};
use keyplan_plan::diag::grouped;

/// A bar, or a count where the end is not known. It goes when it is dropped.
pub(crate) struct Progress(ProgressBar);

impl Progress {
    /// Counts rows of which nobody knows how many there are.
    pub(crate) fn rows(doing: &str) -> Self {
        Self::with(ProgressBar::new_spinner(), doing, "{spinner} {msg}  {human_pos} rows{rate}")
    }

    /// Counts rows, up to about a number of them.
    pub(crate) fn rows_of(doing: &str, total: u64) -> Self {
        let style = "{msg}  {bar:30}  {human_pos} of {human_len} rows{rate}{left}";
        Self::with(ProgressBar::new(total), doing, style)
    }

    /// Counts bytes, up to a number if it is known.
    pub(crate) fn bytes(doing: &str, total: Option<u64>) -> Self {
        match total {
            Some(total) => {
                let style = "{msg}  {bar:30}  {binary_bytes} of {binary_total_bytes}  {binary_bytes_per_sec}  {eta} left";
                Self::with(ProgressBar::new(total), doing, style)
            }
            None => Self::with(
                ProgressBar::new_spinner(),
                doing,
                "{spinner} {msg}  {binary_bytes}  {binary_bytes_per_sec}",
            ),
        }
    }

    fn with(bar: ProgressBar, doing: &str, style: &str) -> Self {
        // The template is a constant of ours; were it wrong, the default would do.
        let style = ProgressStyle::with_template(style).unwrap_or_else(|_| ProgressStyle::default_bar());
        let style = style.with_key("rate", rate).with_key("left", left);
        bar.set_style(style.progress_chars("█▉▊▋▌▍▎▏ "));
        bar.set_message(doing.to_owned());
        bar.enable_steady_tick(Duration::from_millis(200));
        Self(bar)
    }

    /// How much is done by now.
    pub(crate) fn set(&self, done: u64) {
        self.0.set_position(done);
    }

    /// The work is done.
    pub(crate) fn end(self) {
        self.0.finish_and_clear();
    }
}

/// How many rows a second, once there is something to tell by.
fn rate(state: &ProgressState, out: &mut dyn Write) {
    let rate = state.per_sec().round();
    if rate >= 1.0 {
        // A rate of rows fits a number of 64 bits, and writing to the template does not fail.
        let _ = write!(out, "  {}/s", grouped(format!("{rate:.0}").parse().unwrap_or_default()));
    }
}

/// How much time is left, once there is something to tell by.
fn left(state: &ProgressState, out: &mut dyn Write) {
    if state.pos() > 0 && state.per_sec() >= 1.0 {
        // Writing to the template does not fail.
        let _ = write!(out, "  {:#} left", HumanDuration(state.eta()));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
