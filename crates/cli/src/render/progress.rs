//! How far long work has come, on standard error, and only on a terminal.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// A bar, or a count where the end is not known. It goes when it is dropped.
pub(crate) struct Progress(ProgressBar);

impl Progress {
    /// Counts rows of which nobody knows how many there are.
    pub(crate) fn rows(doing: &str) -> Self {
        Self::with(ProgressBar::new_spinner(), doing, "{spinner} {msg}  {human_pos} rows  {per_sec}")
    }

    /// Counts rows, up to about a number of them.
    pub(crate) fn rows_of(doing: &str, total: u64) -> Self {
        let style = "{msg}  {bar:30}  {human_pos} of {human_len} rows  {per_sec}  {eta} left";
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

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
