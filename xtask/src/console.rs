//! Every byte that the chores print of their own.

use std::fmt::Display;
use std::io::Write as _;
use std::time::Duration;

/// Prints a line on standard output. A reader that has gone away is not a reason to stop the work.
pub(crate) fn line(text: impl Display) {
    let _ = writeln!(std::io::stdout().lock(), "{text}");
}

/// Says on standard error why a chore could not be done.
pub(crate) fn error(error: &anyhow::Error) {
    let _ = writeln!(std::io::stderr().lock(), "error: {error:#}");
}

/// A time as a person reads it.
pub(crate) fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}
