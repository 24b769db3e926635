use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use chrono::{DateTime, Utc};
use slatedb_common::clock::{SystemClock, SystemClockTicker};

/// A clock that tells the time and never strikes.
///
/// A reader of SlateDB looks for a newer state whenever its clock strikes, the first time right after it was opened. With
/// this one it stays at the state that it was opened at, which is what a snapshot is.
#[derive(Debug, Default)]
pub(crate) struct Still {
    never: Never,
}

/// A clock on which waiting does not end.
#[derive(Debug, Default)]
struct Never;

impl SystemClock for Still {
    fn now(&self) -> DateTime<Utc> {
        Utc::now()
    }

    fn sleep<'a>(&'a self, duration: Duration) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(tokio::time::sleep(duration))
    }

    fn ticker(&self, duration: Duration) -> SystemClockTicker<'_> {
        SystemClockTicker::new(&self.never, duration)
    }
}

impl SystemClock for Never {
    fn now(&self) -> DateTime<Utc> {
        Utc::now()
    }

    fn sleep<'a>(&'a self, _: Duration) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(std::future::pending())
    }

    fn ticker(&self, duration: Duration) -> SystemClockTicker<'_> {
        SystemClockTicker::new(self, duration)
    }
}
