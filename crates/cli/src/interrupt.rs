//! Ctrl-C: the first is noticed by long work, which ends in order and says how to go on; the second ends at once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

static CAME: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// Whether an interrupt has come. The first call begins to listen: before it, an interrupt ends the process at once, as is
/// right for work that changes nothing.
pub(crate) fn came() -> bool {
    let flag = CAME.get_or_init(|| {
        let came = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            // Without a handler an interrupt still ends the process, only without a last word.
            drop(flag::register_conditional_shutdown(signal, 130, Arc::clone(&came)));
            drop(flag::register(signal, Arc::clone(&came)));
        }
        came
    });
    flag.load(Ordering::Relaxed)
}

/// Whether long work that only reads goes on.
pub(crate) fn goes_on() -> std::ops::ControlFlow<()> {
    if came() { std::ops::ControlFlow::Break(()) } else { std::ops::ControlFlow::Continue(()) }
}

/// The error of work that was interrupted and can only start again.
pub(crate) fn ended(error: impl std::fmt::Display) -> anyhow::Error {
    anyhow::anyhow!("interrupted: {error}; nothing was changed, and the same command starts again")
}
