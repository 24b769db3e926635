use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::Error;

/// The snapshots that are open, by age.
///
/// Many are opened for one read each, so that this is on the way of every read: those that were opened within a moment
/// are counted together, and nothing is allocated for one.
#[derive(Clone, Debug, Default)]
pub struct Ages(Arc<Mutex<VecDeque<Moment>>>);

/// The snapshots that were opened within a moment, the oldest moment first. Moments without any are left out, but for
/// the last.
#[derive(Debug)]
struct Moment {
    since: Instant,
    open: u64,
}

/// How long a moment is: as exact as the age of the oldest needs to be.
const MOMENT: Duration = Duration::from_millis(50);

/// One open snapshot; dropping it ends the count.
#[derive(Debug)]
pub struct Ticket {
    ages: Ages,
    // Of the moment that it was counted in.
    moment: Instant,
    since: Instant,
    limit: Option<Duration>,
}

impl Ages {
    /// Counts a snapshot that is opened now and may be read until it is `limit` old.
    pub fn open(&self, limit: Option<Duration>) -> Ticket {
        let mut moments = self.lock();
        // Read under the lock, so that moments are in order.
        let since = Instant::now();
        let moment = match moments.back_mut() {
            Some(last) if since.duration_since(last.since) < MOMENT => {
                last.open += 1;
                last.since
            }
            _ => {
                while moments.back().is_some_and(|last| last.open == 0) {
                    moments.pop_back();
                }
                moments.push_back(Moment { since, open: 1 });
                since
            }
        };
        drop(moments);
        Ticket { ages: self.clone(), moment, since, limit }
    }

    /// How many are open, and the age of the oldest, to within a moment.
    pub fn oldest(&self) -> (u64, Option<Duration>) {
        let moments = self.lock();
        let oldest = moments.iter().find(|moment| moment.open > 0).map(|moment| moment.since.elapsed());
        (moments.iter().map(|moment| moment.open).sum(), oldest)
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Moment>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ticket {
    /// How long ago it was opened.
    pub fn age(&self) -> Duration {
        self.since.elapsed()
    }

    /// Refuses a snapshot that is over its age.
    #[inline]
    pub fn check(&self) -> Result<(), Error> {
        not_over(self.since, self.limit)
    }
}

/// Refuses a snapshot that is over its age. Without a limit the clock is not read.
#[inline]
pub(crate) fn not_over(since: Instant, limit: Option<Duration>) -> Result<(), Error> {
    let Some(limit) = limit else { return Ok(()) };
    let age = since.elapsed();
    if age > limit { Err(Error::SnapshotExpired { age, limit }) } else { Ok(()) }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut moments = self.ages.lock();
        // Mostly the last: a snapshot is seldom open for long.
        let found = match moments.back() {
            Some(last) if last.since == self.moment => moments.len().checked_sub(1),
            _ => moments.binary_search_by(|moment| moment.since.cmp(&self.moment)).ok(),
        };
        let Some(at) = found else { return };
        let Some(moment) = moments.get_mut(at) else { return };
        moment.open = moment.open.saturating_sub(1);
        if moment.open == 0 && at + 1 < moments.len() {
            moments.remove(at);
        }
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
        std::thread::sleep(2 * MOMENT);
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
