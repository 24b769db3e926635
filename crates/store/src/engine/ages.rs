use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::Error;

/// The snapshots that are open, by age.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ages(Arc<Mutex<Open>>);

#[derive(Debug, Default)]
struct Open {
    next: u64,
    // Numbers rise with time, so the first is the oldest.
    since: BTreeMap<u64, Instant>,
}

/// One open snapshot; dropping it ends the count.
#[derive(Debug)]
pub(crate) struct Ticket {
    ages: Ages,
    number: u64,
    since: Instant,
    limit: Option<Duration>,
}

impl Ages {
    pub(crate) fn open(&self, limit: Option<Duration>) -> Ticket {
        let since = Instant::now();
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let number = open.next;
        open.next += 1;
        open.since.insert(number, since);
        drop(open);
        Ticket { ages: self.clone(), number, since, limit }
    }

    /// How many are open, and the age of the oldest.
    pub(crate) fn oldest(&self) -> (u64, Option<Duration>) {
        let open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let oldest = open.since.first_key_value().map(|(_, since)| since.elapsed());
        (u64::try_from(open.since.len()).unwrap_or(u64::MAX), oldest)
    }
}

impl Ticket {
    pub(crate) fn age(&self) -> Duration {
        self.since.elapsed()
    }

    /// Refuses a snapshot that is over its age. Without a limit the clock is not read.
    #[inline]
    pub(crate) fn check(&self) -> Result<(), Error> {
        let Some(limit) = self.limit else { return Ok(()) };
        let age = self.age();
        if age > limit { Err(Error::SnapshotExpired { age, limit }) } else { Ok(()) }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.ages.0.lock().unwrap_or_else(PoisonError::into_inner).since.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_is_the_first_that_is_still_open() {
        let ages = Ages::default();
        assert_eq!(ages.oldest(), (0, None));
        let first = ages.open(None);
        let second = ages.open(Some(Duration::ZERO));
        assert!(ages.oldest().1 >= Some(second.age()));
        drop(first);
        assert_eq!(ages.oldest().0, 1);
        std::thread::sleep(Duration::from_millis(2));
        assert!(matches!(second.check(), Err(Error::SnapshotExpired { limit: Duration::ZERO, .. })));
        drop(second);
        assert_eq!(ages.oldest(), (0, None));
    }
}
