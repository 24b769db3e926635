//! A server, and the connections to it.

use std::fmt;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Instant;

use super::link::{Dial, Fault, Link};

/// A server, and the connections to it.
pub(super) struct Node {
    pub(super) host: String,
    pub(super) port: u16,
    dial: Arc<Dial>,
    pool: Mutex<Pool>,
    freed: Condvar,
}

#[derive(Default)]
struct Pool {
    idle: Vec<Link>,
    /// How many there are, those in use included.
    open: usize,
    /// How many threads wait for one: waking nobody costs as much as waking somebody.
    waiting: usize,
}

/// A connection in use. It goes back only when [`Lease::finish`] says so: one with answers under way must not.
pub(super) struct Lease {
    node: Arc<Node>,
    pub(super) link: Link,
    counted: Counted,
}

/// Gives its place in the pool free.
struct Counted(Option<Arc<Node>>);

impl Node {
    pub(super) fn new(dial: &Arc<Dial>, host: String, port: u16) -> Arc<Self> {
        let pool = Mutex::new(Pool::default());
        Arc::new(Self { host, port, dial: Arc::clone(dial), pool, freed: Condvar::new() })
    }

    /// A connection, made if none is idle.
    pub(super) fn lease(self: &Arc<Self>) -> Result<Lease, Fault> {
        let settings = &self.dial.settings;
        let mut start = None;
        let mut pool = self.pool.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            while let Some(link) = pool.idle.pop() {
                if link.is_usable() {
                    let counted = Counted(Some(Arc::clone(self)));
                    return Ok(Lease { node: Arc::clone(self), link, counted });
                }
                pool.open = pool.open.saturating_sub(1);
            }
            if pool.open < settings.connections {
                pool.open += 1;
                break;
            }
            let waited = start.get_or_insert_with(Instant::now).elapsed();
            let Some(left) = settings.timeout.checked_sub(waited) else {
                return Err(Fault::Unreachable(
                    format!("all {} connections to {self} are in use", settings.connections),
                    None,
                ));
            };
            pool.waiting += 1;
            let woken = self.freed.wait_timeout(pool, left);
            (pool, _) = woken.unwrap_or_else(PoisonError::into_inner);
            pool.waiting = pool.waiting.saturating_sub(1);
        }
        drop(pool);
        let counted = Counted(Some(Arc::clone(self)));
        let link = Link::connect(&self.dial, &self.host, self.port)?;
        Ok(Lease { node: Arc::clone(self), link, counted })
    }
}

impl Lease {
    /// Gives the connection back. Every answer on it was received.
    pub(super) fn finish(mut self) {
        self.counted.0 = None;
        self.link.rest();
        let mut pool = self.node.pool.lock().unwrap_or_else(PoisonError::into_inner);
        pool.idle.push(self.link);
        let awaited = pool.waiting > 0;
        drop(pool);
        if awaited {
            self.node.freed.notify_one();
        }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let Some(node) = self.0.take() else { return };
        let mut pool = node.pool.lock().unwrap_or_else(PoisonError::into_inner);
        pool.open = pool.open.saturating_sub(1);
        let awaited = pool.waiting > 0;
        drop(pool);
        if awaited {
            node.freed.notify_one();
        }
    }
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
